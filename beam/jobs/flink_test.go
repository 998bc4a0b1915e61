//go:build flink

package jobs_test

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/garner-go/garner/beam/flink"
	"github.com/garner-go/garner/beam/jobs"
)

// TestFlink needs the cluster of beam/test-flink.
func TestFlink(t *testing.T) {
	client, cluster := dial(t)
	t.Run("done", func(t *testing.T) {
		id := run(t, client, process(t, client, 4))
		job := look(t, cluster, id)
		if job.State != "FINISHED" || len(job.Stages) < 2 {
			t.Errorf("Flink's job: %+v", job)
		}
		read, written := int64(0), int64(0)
		for _, s := range job.Stages {
			if s.State != "FINISHED" || s.Tasks["finished"] != s.Parallelism || !s.Complete {
				t.Errorf("stage %+v", s)
			}
			read, written = read+s.ReadRecords, written+s.WriteRecords
		}
		if written < 16 || read < 16 { // the groups cross the network
			t.Errorf("stages read %d records and wrote %d", read, written)
		}
		counters, err := cluster.Counters(t.Context(), job.ID)
		if err != nil || !slices.Equal(counters, []jobs.Counter{{Namespace: "test", Name: "pairs", Value: 1000}}) {
			t.Errorf("counters %v, %v", counters, err)
		}
	})
	t.Run("again", func(t *testing.T) { run(t, client, process(t, client, 4)) })
	t.Run("cancelled", func(t *testing.T) {
		id := cancelled(t, client, process(t, client, 4), func(id string) error {
			return flink.Cancel(t.Context(), client, cluster, id)
		})
		// What the test is for: the job server alone leaves the job running.
		if job := look(t, cluster, id); job.State != "CANCELED" {
			t.Errorf("Flink's job is %s, want CANCELED", job.State)
		}
		waitFor(t, "end of the workers of a cancelled job", func() bool { return len(workers(t)) == 0 })
	})
	t.Run("cancelled early", func(t *testing.T) {
		id, err := process(t, client, 4)(sums(10, 2, t.TempDir(), "/dev/null/never"))
		if err != nil {
			t.Fatal(err)
		}
		time.Sleep(time.Second) // Flink knows no job yet
		if err := flink.Cancel(t.Context(), client, cluster, id); err != nil {
			t.Fatal(err)
		}
		for range 20 {
			if job, err := cluster.Find(t.Context(), id); err == nil && !job.State.Ended() {
				t.Fatalf("Flink's job is %s after it was cancelled", job.State)
			}
			time.Sleep(500 * time.Millisecond)
		}
	})
	t.Run("failed", func(t *testing.T) { failed(t, client, process(t, client, 2)) })
	waitFor(t, "end of the workers of ended jobs", func() bool { return len(workers(t)) == 0 })
}

// TestFlinkLoses kills a task manager while its workers hold groups: the job is
// right, and the killed one leaves no worker.
func TestFlinkLoses(t *testing.T) {
	client, cluster := dial(t)
	const n, groups = 1000, 16
	dir := t.TempDir()
	hold := filepath.Join(dir, "go")
	id, err := process(t, client, 4)(sums(n, groups, dir, hold))
	if err != nil {
		t.Fatal(err)
	}
	waitFor(t, "held group", func() bool { return len(glob(t, dir, "held-*")) > 1 })
	before := workers(t)
	waitFor(t, "counter of a running job", func() bool {
		counters, err := cluster.Counters(t.Context(), look(t, cluster, id).ID)
		return err == nil && slices.Equal(counters, []jobs.Counter{{Namespace: "test", Name: "pairs", Value: n}})
	})
	victim := taskManager(t, 1)
	if err := syscall.Kill(victim, syscall.SIGKILL); err != nil {
		t.Fatal(err)
	}
	from := time.Now()
	orphans := 0
	for pid, parent := range before {
		if parent != victim {
			continue
		}
		orphans++
		waitFor(t, "end of the worker of a killed task manager", func() bool { return workers(t)[pid] == 0 })
	}
	if orphans == 0 {
		t.Errorf("task manager %d had no worker of %v", victim, before)
	}
	t.Logf("%d workers of the killed task manager ended in %v", orphans, time.Since(from).Round(time.Millisecond))
	if err := os.WriteFile(hold, nil, 0o666); err != nil {
		t.Fatal(err)
	}
	if err := client.Wait(t.Context(), id, func(text string) { t.Log(text) }); err != nil {
		t.Fatal(err)
	}
	t.Logf("done %v after the loss, written by %v", time.Since(from).Round(time.Millisecond), check(t, n, groups, dir))
	waitFor(t, "end of the workers", func() bool { return len(workers(t)) == 0 })
	waitFor(t, "new task manager", func() bool { return taskManager(t, 1) != victim })
}

// look returns Flink's job of a job of the job server.
func look(t *testing.T, cluster *flink.Client, id string) flink.Job {
	t.Helper()
	job, err := cluster.Find(t.Context(), id)
	if err == nil {
		job, err = cluster.Job(t.Context(), job.ID)
	}
	if err != nil {
		t.Fatal(err)
	}
	return job
}

func dial(t *testing.T) (*jobs.Client, *flink.Client) {
	t.Helper()
	endpoint, rest := os.Getenv("BEAM_ENDPOINT"), os.Getenv("FLINK_REST")
	if endpoint == "" || rest == "" {
		t.Fatal("BEAM_ENDPOINT or FLINK_REST is not set: run beam/test-flink")
	}
	cluster, err := flink.New(rest)
	if err != nil {
		t.Fatal(err)
	}
	client, err := jobs.Dial(t.Context(), endpoint)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { client.Close() })
	return client, cluster
}

// taskManager returns the process id that a task manager has now.
func taskManager(t *testing.T, n int) int {
	t.Helper()
	text, err := os.ReadFile(filepath.Join(os.Getenv("FLINK_PIDS"), fmt.Sprintf("taskmanager-%d", n)))
	if err != nil {
		t.Fatal(err)
	}
	pid, err := strconv.Atoi(strings.TrimSpace(string(text)))
	if err != nil {
		t.Fatal(err)
	}
	return pid
}

// workers returns the processes that run this binary as workers, and the parent
// of each.
func workers(t *testing.T) map[int]int {
	t.Helper()
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	found := map[int]int{}
	for _, dir := range glob(t, "/proc", "[0-9]*") {
		line, err := os.ReadFile(filepath.Join(dir, "cmdline"))
		if err != nil || !strings.HasPrefix(string(line), self+"\x00") || !strings.Contains(string(line), "--provision_endpoint") {
			continue
		}
		status, err := os.ReadFile(filepath.Join(dir, "status"))
		if err != nil {
			continue
		}
		var parent int
		for field := range strings.Lines(string(status)) {
			if value, ok := strings.CutPrefix(field, "PPid:"); ok {
				parent, _ = strconv.Atoi(strings.TrimSpace(value))
			}
		}
		pid, _ := strconv.Atoi(filepath.Base(dir))
		found[pid] = parent
	}
	return found
}
