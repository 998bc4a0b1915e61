package main

import (
	"bytes"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/garner-go/garner"
	"github.com/garner-go/garner/internal/cmdline"
	"golang.org/x/sys/unix"
)

// A console is a pseudo-terminal, and the text written to it.
type console struct {
	tty   *os.File
	other *os.File // what is written to it is typed
	mu    sync.Mutex
	text  bytes.Buffer
}

func newConsole(t *testing.T) *console {
	t.Helper()
	other, err := os.OpenFile("/dev/ptmx", os.O_RDWR|unix.O_NOCTTY, 0)
	if err != nil {
		t.Skip("this system lends no terminals: ", err)
	}
	fd := int(other.Fd())
	n, err := unix.IoctlGetInt(fd, unix.TIOCGPTN)
	if err == nil {
		err = unix.IoctlSetPointerInt(fd, unix.TIOCSPTLCK, 0)
	}
	if err != nil {
		t.Fatal(err)
	}
	c := &console{other: other}
	if c.tty, err = os.OpenFile(fmt.Sprintf("/dev/pts/%d", n), os.O_RDWR|unix.O_NOCTTY, 0); err != nil {
		t.Fatal(err)
	}
	read := make(chan struct{})
	go func() {
		defer close(read)
		b := make([]byte, 4096)
		for {
			n, err := other.Read(b)
			c.mu.Lock()
			c.text.Write(b[:n])
			c.mu.Unlock()
			if err != nil {
				return
			}
		}
	}()
	t.Cleanup(func() {
		c.tty.Close() // ends the read
		<-read
		other.Close()
	})
	return c
}

func (c *console) String() string {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.text.String()
}

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
			screen := newConsole(t)
			stdout, w, err := os.Pipe()
			if err != nil {
				t.Fatal(err)
			}
			defer stdout.Close()
			p := start(t, dir, func(cmd *exec.Cmd) {
				cmd.Stdout, cmd.Stderr, cmd.Env = w, screen.tty, append(os.Environ(), tt.env)
			}, "gather", "row.npy", "ids.npy", "-o", "-")
			w.Close()
			line := regexp.MustCompile(`\rgathering +[0-9]+ %  [0-3]\.[0-9] of 4\.0 MiB  `)
			if tt.shows {
				for deadline := time.Now().Add(patience); !line.MatchString(screen.String()); time.Sleep(time.Millisecond) {
					if time.Now().After(deadline) {
						t.Fatalf("the terminal shows %q", screen.String())
					}
				}
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
