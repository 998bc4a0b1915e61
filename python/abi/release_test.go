package main

import (
	"context"
	"sync/atomic"
	"testing"
	"time"
)

// A caller frees the memory of a job after garner_release: nothing may run then.
func TestReleaseWaitsForTheJob(t *testing.T) {
	var ended atomic.Bool
	n := garner_job()
	running := make(chan struct{})
	if failed := begin("test", n, nil, func(ctx context.Context, _ *job) (string, error) {
		close(running)
		<-ctx.Done()
		time.Sleep(50 * time.Millisecond) // a block that is on its way
		ended.Store(true)
		return "", context.Cause(ctx)
	}); failed != 0 {
		t.Fatal("the job did not begin")
	}
	<-running
	garner_release(n)
	if !ended.Load() {
		t.Error("garner_release returned while the job ran")
	}
	if failed := begin("test", n, nil, func(context.Context, *job) (string, error) { return "", nil }); failed == 0 {
		t.Error("a released job took a call")
	}
	garner_release(n)
}

// A job that was never begun, and one whose call panics, have no end to wait for but their own.
func TestReleaseOfOtherJobs(t *testing.T) {
	garner_release(garner_job())
	n := garner_job()
	begin("test", n, nil, func(context.Context, *job) (string, error) { panic("in a job") })
	j, err := get[*job](int64(n))
	if err != nil {
		t.Fatal(err)
	}
	<-j.ended
	if j.err == nil {
		t.Error("the panic is no error")
	}
	garner_release(n)
}
