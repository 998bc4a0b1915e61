package main

/*
#include <pthread.h>
#include <stdint.h>
#include "garner.h"

static inline int32_t garner_look_now(garner_look f) { return f(); }
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
	begun   time.Time
	last    atomic.Int64 // look, in nanoseconds since begun
	stopped atomic.Bool
}

func newLooking(look C.garner_look) *looking {
	return &looking{look: look, thread: C.garner_thread(), begun: time.Now()}
}

func (l *looking) Err() error {
	if l.stopped.Load() {
		return errCancelled
	}
	now := int64(time.Since(l.begun))
	if now-l.last.Load() < int64(lookEvery) || C.garner_thread() != l.thread {
		return nil
	}
	if C.garner_look_now(l.look) != 0 {
		l.stopped.Store(true)
		return errCancelled
	}
	l.last.Store(int64(time.Since(l.begun)))
	return nil
}

func (l *looking) Deadline() (deadline time.Time, ok bool) { return }
func (l *looking) Done() <-chan struct{}                   { return nil }
func (l *looking) Value(any) any                           { return nil }
