package main

import (
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/garner-go/garner"
	"github.com/garner-go/garner/internal/cmdline"
	"github.com/garner-go/garner/internal/linuxtest"
)

// TestProgress runs gathers with a slow reader: a terminal shows a progress
// line, which disappears when the run ends or is interrupted; another standard
// error shows none.
func TestProgress(t *testing.T) {
	if emulated {
		t.Skip("an emulator knows too little of terminals")
	}
	dir := t.TempDir()
	row, err := garner.New(garner.U8, 1, 1<<20)
	if err != nil {
		t.Fatal(err)
	}
	writeNpy(t, filepath.Join(dir, "row.npy"), row)
	writeNpy(t, filepath.Join(dir, "ids.npy"), garner.Of(make([]int64, 4), 4))
	for _, tt := range []struct {
		name      string
		env       string
		shows     bool
		interrupt bool
	}{
		{"done", "TERM=xterm", true, false},
		{"interrupted", "TERM=xterm", true, true},
		{"dumb", "TERM=dumb", false, false},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			screen := linuxtest.NewScreen(t, 0)
			stdout, w, err := os.Pipe()
			if err != nil {
				t.Fatal(err)
			}
			defer stdout.Close()
			p := start(t, dir, func(cmd *exec.Cmd) {
				cmd.Stdout, cmd.Stderr, cmd.Env = w, screen.TTY, append(os.Environ(), tt.env)
			}, "gather", "row.npy", "ids.npy", "-o", "-")
			w.Close()
			if tt.shows {
				screen.Shows(t, `\rgathering +[0-9]+ %  [0-3]\.[0-9] of 4\.0 MiB  `)
			} else {
				time.Sleep(2500 * time.Millisecond)
			}
			if tt.interrupt {
				if err := p.cmd.Process.Signal(syscall.SIGINT); err != nil {
					t.Fatal(err)
				}
				if got := p.status(t); got != cmdline.StatusInterrupted {
					t.Errorf("status %d", got)
				}
			} else {
				if n, err := io.Copy(io.Discard, stdout); err != nil || n != 4<<20+128 {
					t.Errorf("%d bytes, %v", n, err)
				}
				if got := p.status(t); got != cmdline.StatusDone {
					t.Errorf("status %d", got)
				}
			}
			// The last bytes arrive with a delay.
			want := map[bool]string{false: " \r", true: " \rgarner: interrupted; no file was written\r\n"}[tt.interrupt]
			for deadline := time.Now().Add(patience); tt.shows && !strings.HasSuffix(screen.String(), want); time.Sleep(time.Millisecond) {
				if time.Now().After(deadline) {
					t.Fatalf("the terminal ends with %q", screen.String())
				}
			}
			if !tt.shows && screen.String() != "" {
				t.Errorf("the terminal shows %q", screen.String())
			}
		})
	}
}
