package main

import (
	"context"
	"os"
	"path/filepath"
	"sync/atomic"
	"syscall"
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

// An open that the system does not end is left behind, and its table is closed when it does end.
func TestReleaseOfAnOpenThatWaits(t *testing.T) {
	path := filepath.Join(t.TempDir(), "waits.npy")
	if err := syscall.Mkfifo(path, 0o600); err != nil {
		t.Skipf("no FIFO here: %v", err)
	}
	before := knownHandles()
	request, length := chars(`{"file": "` + path + `"}`)
	n := garner_job()
	j, err := get[*job](int64(n))
	if err != nil {
		t.Fatal(err)
	}
	if failed := garner_open(request, length, n, nil, nil); failed != 0 {
		t.Fatal(read(t, failed))
	}
	var failed _Ctype_int64_t
	if got := garner_job_wait(n, 10, &failed, nil); got != 0 {
		t.Fatalf("an open of a FIFO without a writer is done: %d", got)
	}
	garner_release(n) // returns
	w, err := os.OpenFile(path, os.O_RDWR, 0)
	if err != nil {
		t.Fatal(err)
	}
	w.Close()
	<-j.ended
	if after := knownHandles(); after != before {
		t.Errorf("%d handles before, %d after", before, after)
	}
}

// A table that was opened for a caller who is gone is closed, whichever comes first.
func TestTablesThatNobodyTakes(t *testing.T) {
	for _, first := range []string{"open", "release"} {
		table := opened(t)
		j := &job{}
		if first == "open" {
			j.opened(int64(table))
			j.leave()
		} else {
			j.leave()
			j.opened(int64(table))
		}
		want(t, garner_lookup_now(table, nil, 0, -64, nil, 0, 0), closedClass, "closed")
	}
	table, n := opened(t), garner_job()
	j, err := get[*job](int64(n))
	if err != nil {
		t.Fatal(err)
	}
	j.opened(int64(table))
	garner_job_adopt(n)
	garner_release(n)
	if failed := garner_lookup_now(table, nil, 0, -64, nil, 0, 0); failed != 0 {
		t.Error(read(t, failed))
	}
	garner_release(table)
}
