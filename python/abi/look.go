package main

/*
#include <pthread.h>
#include <stdint.h>
#ifndef _WIN32
#include <unistd.h>
#endif
#include "garner.h"

// A look may fork. The threads that would end the run are not in the child, and Go's runtime does not work there: it ends
// here, before it comes back to Go.
static inline int32_t garner_look_now(garner_look f) {
#ifdef _WIN32
	return f();
#else
	static const char told[] = "garner: a handler of a signal forked during a call and came back in the child, which cannot end that call: it exits\n";
	pid_t process = getpid();
	int32_t end = f();
	if (getpid() != process) {
		if (write(2, told, sizeof told - 1) < 0) {
			// nobody hears it
		}
		_exit(70);
	}
	return end;
#endif
}
static inline uint64_t garner_thread(void) { return (uint64_t)pthread_self(); }
*/
import "C"

import (
	"sync/atomic"
	"time"
)

// lookEvery is the time between two looks of a run.
const lookEvery = 25 * time.Millisecond

// A looking is the context of a run on the caller's thread. The engine asks it between units of
// some 20 to 60 µs whether the run shall end, and on that thread alone it asks the caller's
// function. So a signal ends a run, and no other thread has to be woken for a run to begin.
type looking struct {
	look    C.garner_look
	thread  C.uint64_t
	asked   atomic.Int32 // until it is quiet
	last    atomic.Int64 // look, in nanoseconds since loaded; 0: none
	stopped atomic.Bool
	mapped  bool // an operand may be a mapped file: guard at each look
}

// quiet is how often a looking is asked before it reads the clock.
const quiet = 8

var loaded = time.Now()

func (l *looking) Err() error {
	if l.stopped.Load() {
		return errCancelled
	}
	if l.asked.Load() < quiet {
		l.asked.Add(1)
		return nil
	}
	now, last := int64(time.Since(loaded)), l.last.Load()
	if last == 0 {
		l.last.Store(now)
		return nil
	}
	if now-last < int64(lookEvery) || C.garner_thread() != l.thread {
		return nil
	}
	if l.mapped {
		guard() // another may have taken the signal since the run began
	}
	if l.look == nil {
		l.last.Store(now)
		return nil
	}
	if C.garner_look_now(l.look) != 0 {
		l.stopped.Store(true)
		return errCancelled
	}
	l.last.Store(int64(time.Since(loaded)))
	return nil
}

func (l *looking) Deadline() (deadline time.Time, ok bool) { return }
func (l *looking) Done() <-chan struct{}                   { return nil }
func (l *looking) Value(any) any                           { return nil }
