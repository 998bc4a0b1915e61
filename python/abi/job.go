package main

/*
#include "garner.h"
*/
import "C"

import (
	"context"
	"sync"
	"sync/atomic"
	"time"
)

// A job is a call that runs on a goroutine of its own.
type job struct {
	ctx         context.Context
	cancel      context.CancelCauseFunc
	started     atomic.Bool
	ended       chan struct{} // closed once text and err are set
	text        string
	err         error
	done, total atomic.Int64

	alone bool // its call reads and writes no memory of the caller: garner_release need not wait for its end
	mutex sync.Mutex
	table int64 // that it opened, until garner_job_adopt
	left  bool  // released: nobody will ask for the table
}

// opened keeps the table that the call opened for the caller, and closes it where the caller has gone.
func (j *job) opened(number int64) {
	j.mutex.Lock()
	defer j.mutex.Unlock()
	if j.table = number; j.left {
		release(number)
	}
}

func (j *job) isAlone() bool {
	j.mutex.Lock()
	defer j.mutex.Unlock()
	return j.alone
}

//export garner_job_adopt
func garner_job_adopt(number C.int64_t) C.int64_t {
	return tell(safely("garner_job_adopt", func() error {
		j, err := get[*job](int64(number))
		if err == nil {
			j.mutex.Lock()
			j.table = 0
			j.mutex.Unlock()
		}
		return err
	}))
}

// leave closes a table that nobody asked for.
func (j *job) leave() {
	j.mutex.Lock()
	defer j.mutex.Unlock()
	j.left = true
	if j.table != 0 {
		release(j.table)
		j.table = 0
	}
}

// begin runs f: at once and to its end where there is no job, else on a goroutine. text gets
// the answer of a call without a job.
func begin(export string, number C.int64_t, text **C.char, f func(context.Context, *job) (string, error)) C.int64_t {
	return start(export, number, text, false, f)
}

// start is begin; alone says that f reads and writes no memory of the caller.
func start(export string, number C.int64_t, text **C.char, alone bool, f func(context.Context, *job) (string, error)) C.int64_t {
	if number == 0 {
		return tell(safely(export, func() error {
			guard() // a lookup asks for its error
			answer, err := f(context.Background(), nil)
			if err == nil && text != nil {
				*text = C.CString(answer)
			}
			return err
		}))
	}
	j, err := get[*job](int64(number))
	if err == nil && j.started.Swap(true) {
		err = argumentf("job %d has a call; make one job for each", number)
	}
	if err != nil {
		return tell(err)
	}
	guard()
	j.mutex.Lock()
	j.alone = alone
	j.mutex.Unlock()
	go func() {
		defer close(j.ended)
		j.err = safely(export, func() (err error) {
			j.text, err = f(j.ctx, j)
			return err
		})
	}()
	return 0
}

//export garner_job
func garner_job() (number C.int64_t) {
	safely("garner_job", func() error {
		ctx, cancel := context.WithCancelCause(context.Background())
		number = C.int64_t(put(&job{ctx: ctx, cancel: cancel, ended: make(chan struct{})}))
		return nil
	})
	return number
}

//export garner_job_wait
func garner_job_wait(number C.int64_t, milliseconds C.int32_t, failed *C.int64_t, text **C.char) (done C.int32_t) {
	err := safely("garner_job_wait", func() (err error) {
		done, err = wait(number, milliseconds, text)
		return err
	})
	switch {
	case err != nil && failed == nil:
		return -1
	case err != nil:
		*failed = tell(err)
		return 1
	case done == 1 && failed != nil:
		*failed = 0
	}
	return done
}

// wait returns 1, or the error of the job, once it is done.
func wait(number C.int64_t, milliseconds C.int32_t, text **C.char) (C.int32_t, error) {
	j, err := get[*job](int64(number))
	if err != nil {
		return 0, err
	}
	if !j.started.Load() {
		return 0, argumentf("job %d has no call", number)
	}
	timer := time.NewTimer(time.Duration(milliseconds) * time.Millisecond)
	defer timer.Stop()
	select {
	case <-j.ended:
	case <-timer.C:
		guard() // a handler of the caller's may be another than when the job began
		return 0, nil
	}
	if j.err == nil && text != nil {
		*text = C.CString(j.text)
	}
	return 1, j.err
}

//export garner_job_cancel
func garner_job_cancel(number C.int64_t) {
	safely("garner_job_cancel", func() error {
		j, err := get[*job](int64(number))
		if err == nil {
			j.cancel(errCancelled)
		}
		return err
	})
}

//export garner_job_progress
func garner_job_progress(number C.int64_t, done, total *C.int64_t) {
	safely("garner_job_progress", func() error {
		j, err := get[*job](int64(number))
		if err == nil && done != nil && total != nil {
			*done, *total = C.int64_t(j.done.Load()), C.int64_t(j.total.Load())
		}
		return err
	})
}
