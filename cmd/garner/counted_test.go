package main

import (
	"bytes"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strconv"
	"sync"
	"testing"
)

// counting builds the command so that it counts how often each of its statements runs, in a
// file beside the tests' own garner, once for all tests.
var counting = sync.OnceValues(func() (string, error) {
	garner, err := exec.LookPath("garner")
	if err != nil {
		return "", err
	}
	path := filepath.Join(filepath.Dir(garner), "counting")
	if runtime.GOOS == "windows" {
		path += ".exe"
	}
	out, err := exec.Command("go", "build", "-cover", "-covermode=atomic", "-o", path, ".").CombinedOutput()
	if err != nil && len(out) > 0 {
		err = errors.New(string(out))
	}
	return path, err
})

// A work is what a command did, as counts that are the same on every machine.
type work struct {
	statements uint64 // of garner's packages, each as often as it ran
	status     int
	output     string // of standard output and standard error
}

// counted runs garner and counts its statements. The test ends where there is no go command
// to build it with.
func counted(t *testing.T, args ...string) (w work) {
	t.Helper()
	garner, err := counting()
	if errors.Is(err, exec.ErrNotFound) {
		t.Skip("this machine runs a test that was built elsewhere: ", err)
	} else if err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	run := exec.Command(garner, args...)
	run.Env = append(os.Environ(), "GOCOVERDIR="+dir)
	out, err := run.CombinedOutput()
	var failed *exec.ExitError
	if err != nil && !errors.As(err, &failed) {
		t.Fatal(err)
	}
	w.status, w.output = run.ProcessState.ExitCode(), string(out)
	profile := filepath.Join(dir, "profile")
	if out, err := exec.Command("go", "tool", "covdata", "textfmt", "-i="+dir, "-o="+profile).CombinedOutput(); err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	b, err := os.ReadFile(profile)
	if err != nil {
		t.Fatal(err)
	}
	for line := range bytes.Lines(b) {
		// FILE:LINE.COLUMN,LINE.COLUMN STATEMENTS COUNT for each block, behind a line "mode: atomic"
		fields := bytes.Fields(line)
		if len(fields) != 3 {
			continue
		}
		statements, err1 := strconv.ParseUint(string(fields[1]), 10, 64)
		count, err2 := strconv.ParseUint(string(fields[2]), 10, 64)
		if err := errors.Join(err1, err2); err != nil {
			t.Fatal(err)
		}
		w.statements += statements * count
	}
	return w
}
