//go:build unix

package main

import (
	"bytes"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/garner-go/garner"
	"github.com/garner-go/garner/internal/cmdline"
)

const (
	patience = 3 * time.Minute // for what must happen
	tries    = 20              // of what must come in the middle of a job, which may have ended
)

// inputs are a table, indices, and their result as garner makes it, of 64 shards of 1 MiB.
func inputs(t *testing.T) (dir string) {
	t.Helper()
	dir = t.TempDir()
	for _, each := range []struct {
		name  string
		d     garner.DType
		below int
		shape []int
	}{{"table.npy", garner.F32, 1000, []int{20000, 256}}, {"ids.npy", garner.I64, 20000, []int{65536}}} {
		if err := random(filepath.Join(dir, each.name), each.d, each.below, each.shape...); err != nil {
			t.Fatal(err)
		}
	}
	cmd := exec.Command("garner", "gather", "table.npy", "ids.npy", "-o", "want.npy")
	cmd.Dir = dir
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	return dir
}

// A process is a running garner-beam.
type process struct {
	cmd            *exec.Cmd
	stdout, stderr bytes.Buffer
}

func start(t *testing.T, dir string, set func(*exec.Cmd), args ...string) *process {
	t.Helper()
	p := &process{cmd: exec.Command("garner-beam", args...)}
	p.cmd.Dir, p.cmd.Stdout, p.cmd.Stderr = dir, &p.stdout, &p.stderr
	if set != nil {
		set(p.cmd)
	}
	if err := p.cmd.Start(); err != nil {
		t.Fatal(err)
	}
	kill := time.AfterFunc(2*patience, func() { p.cmd.Process.Kill() })
	t.Cleanup(func() { kill.Stop(); p.cmd.Process.Kill(); p.cmd.Wait() })
	return p
}

// status waits for the end. It is -1 where a signal ended the process.
func (p *process) status() int {
	p.cmd.Wait()
	return p.cmd.ProcessState.ExitCode()
}

func waitFor(t *testing.T, what string, holds func() bool) {
	t.Helper()
	for until := time.Now().Add(patience); !holds(); time.Sleep(time.Millisecond) {
		if time.Now().After(until) {
			t.Fatalf("no %s after %v", what, patience)
		}
	}
}

// held returns the path of a worker that begins when a file exists.
func held(t *testing.T, file string) string {
	t.Helper()
	self, err := exec.LookPath("garner-beam")
	if err != nil {
		t.Fatal(err)
	}
	path := filepath.Join(t.TempDir(), "worker")
	script := fmt.Sprintf("#!/bin/sh\nwhile [ ! -e '%s' ]; do [ -d '%s' ] || exit 1; sleep 0.1; done\nexec '%s' \"$@\"\n", file, filepath.Dir(file), self)
	if err := os.WriteFile(path, []byte(script), 0o777); err != nil {
		t.Fatal(err)
	}
	return path
}

// placed are the shards in a folder, and whether its job is done.
func placed(folder string) (n int, done bool) {
	for _, name := range listed(folder) {
		if strings.HasPrefix(name, "part-") {
			n++
		}
		done = done || name == "_SUCCESS"
	}
	return n, done
}

// TestStopped stops jobs when their first shard is in place, and runs them again: shards
// that are whole stay, the result is that of one run, and nothing else is left.
func TestStopped(t *testing.T) {
	dir := inputs(t)
	for _, tt := range []struct {
		name   string
		signal syscall.Signal
		status int
		says   string
	}{
		{"SIGKILL", syscall.SIGKILL, -1, ""},
		{"SIGINT", syscall.SIGINT, cmdline.StatusInterrupted, "garner-beam: interrupted; what is made of SIGINT stays, and the same command goes on\n"},
		{"SIGTERM", syscall.SIGTERM, cmdline.StatusInterrupted, "garner-beam: interrupted; what is made of SIGTERM stays, and the same command goes on\n"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			out := filepath.Join(dir, tt.name)
			args := []string{"gather", "table.npy", "ids.npy", "-o", tt.name, "--shard", "1M"}
			for try := 1; ; try++ {
				p := start(t, dir, nil, args...)
				waitFor(t, "shard", func() bool { n, _ := placed(out); return n > 0 })
				if err := p.cmd.Process.Signal(tt.signal); err != nil {
					t.Fatal(err)
				}
				got := p.status()
				n, done := placed(out)
				if done && try < tries { // the job ended before the signal, which no test can keep it from
					if err := os.RemoveAll(out); err != nil {
						t.Fatal(err)
					}
					continue
				}
				if got != tt.status || p.stderr.String() != tt.says || p.stdout.Len() > 0 {
					t.Fatalf("status %d, %q, %q; want %d, %q", got, p.stdout.String(), p.stderr.String(), tt.status, tt.says)
				}
				if done || n == 0 {
					t.Fatalf("%d shards are in place, done: %v; the job was to be stopped in the middle", n, done)
				}
				t.Logf("%d of 64 shards were in place, at try %d", n, try)
				break
			}
			first := filepath.Join(out, "part-00001-of-00064.npy")
			before, errBefore := os.Stat(first)
			p := start(t, dir, nil, args...)
			if got := p.status(); got != 0 || p.stderr.Len()+p.stdout.Len() > 0 {
				t.Fatalf("again: status %d, %q, %q", got, p.stdout.String(), p.stderr.String())
			}
			if err := same(out, filepath.Join(dir, "want.npy")); err != nil {
				t.Error(err)
			}
			if after, err := os.Stat(first); errBefore == nil && (err != nil || !os.SameFile(before, after)) {
				t.Errorf("a shard that was whole is written again: %v", err)
			}
		})
	}
}
