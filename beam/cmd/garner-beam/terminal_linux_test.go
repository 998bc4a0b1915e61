package main

import (
	"bytes"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"sync"
	"syscall"
	"testing"

	"github.com/garner-go/garner/internal/cmdline"
	"golang.org/x/sys/unix"
)

// A screen is a pseudo-terminal, and the text written to it.
type screen struct {
	tty   *os.File
	other *os.File // what is written to it is typed
	mu    sync.Mutex
	text  bytes.Buffer
}

func newScreen(t *testing.T) *screen {
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
	if err == nil {
		err = unix.IoctlSetWinsize(fd, unix.TIOCSWINSZ, &unix.Winsize{Row: 24, Col: 200})
	}
	s := &screen{other: other}
	if err == nil {
		s.tty, err = os.OpenFile(fmt.Sprintf("/dev/pts/%d", n), os.O_RDWR|unix.O_NOCTTY, 0)
	}
	if err != nil {
		t.Fatal(err)
	}
	read := make(chan struct{})
	go func() {
		defer close(read)
		b := make([]byte, 4096)
		for {
			n, err := other.Read(b)
			s.mu.Lock()
			s.text.Write(b[:n])
			s.mu.Unlock()
			if err != nil {
				return
			}
		}
	}()
	t.Cleanup(func() {
		s.tty.Close() // ends the read
		<-read
		other.Close()
	})
	return s
}

func (s *screen) String() string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.text.String()
}

// shows waits until the terminal has shown a text, and forgets it with all before it.
func (s *screen) shows(t *testing.T, want string) {
	t.Helper()
	at := regexp.MustCompile(want)
	defer func() {
		if t.Failed() {
			t.Logf("the terminal shows %q, want %s", s, want)
		}
	}()
	waitFor(t, want, func() bool {
		s.mu.Lock()
		defer s.mu.Unlock()
		found := at.FindIndex(s.text.Bytes())
		if found != nil {
			s.text.Next(found[1])
		}
		return found != nil
	})
}

// TestTerminal runs a job whose workers wait for a file: a terminal shows the stage, Ctrl-C
// asks, and the answer counts.
func TestTerminal(t *testing.T) {
	t.Setenv("TERM", "xterm")
	dir := inputs(t)
	for _, tt := range []struct {
		answer string
		status int
	}{
		{"n\n", 0},
		{"y\n", cmdline.StatusInterrupted},
		{"d\n", 0},
		{"\x03", -1}, // a second Ctrl-C
	} {
		t.Run(fmt.Sprintf("%q", tt.answer), func(t *testing.T) {
			out, begins := filepath.Join(t.TempDir(), "rows"), filepath.Join(t.TempDir(), "begins")
			s := newScreen(t)
			p := start(t, dir, func(cmd *exec.Cmd) {
				cmd.Stdin, cmd.Stderr = s.tty, s.tty
				cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true, Setctty: true}
			}, "gather", "table.npy", "ids.npy", "-o", out, "--shard", "8M", "--runner", "flink", "--endpoint", engine(), "--worker", held(t, begins))
			s.shows(t, `^garner-beam: job job-\d+\S*: 8 shards, 64 MiB\r\n`)
			s.shows(t, `garner-beam: without --flink HOST:8081 nobody tells how far it is\r\n`)
			s.shows(t, `\r1/4 checking indices`)
			io.WriteString(s.other, "\x03")
			s.shows(t, `\r\nCancel job job-\d+\S*\? y cancels; d leaves it running and ends this command; anything else waits on: `)
			io.WriteString(s.other, tt.answer)
			if tt.status == 0 {
				if tt.answer == "d\n" {
					s.shows(t, `garner-beam: the job runs on; "garner-beam status job-`)
					if got := p.status(); got != 0 || !regexp.MustCompile(`^job-\d+\S*\n$`).MatchString(p.stdout.String()) {
						t.Errorf("status %d, %q", got, p.stdout.String())
					}
				} else {
					s.shows(t, `\r1/4 checking indices`) // again
				}
				if err := os.WriteFile(begins, nil, 0o666); err != nil {
					t.Fatal(err)
				}
				waitFor(t, "result", func() bool { _, done := placed(out); return done })
			}
			if got := p.status(); got != tt.status {
				t.Errorf("status %d, want %d; the terminal shows %q", got, tt.status, s)
			}
			switch {
			case tt.status == cmdline.StatusInterrupted:
				s.shows(t, `garner-beam: interrupted; what is made of \S+ stays, and the same command goes on; the job server calls job job-\S+ cancelled`)
			case tt.status == 0:
				if err := same(out, filepath.Join(dir, "want.npy")); err != nil {
					t.Error(err)
				}
			}
			if n, done := placed(out); tt.status != 0 && (n > 0 || done) {
				t.Errorf("a job that is cancelled has made %d shards", n)
			}
		})
	}
}

// TestPrismAsks cancels a job of Prism, which says that the job ends with the process.
func TestPrismAsks(t *testing.T) {
	t.Setenv("TERM", "xterm")
	dir := inputs(t)
	s := newScreen(t)
	p := start(t, dir, func(cmd *exec.Cmd) {
		cmd.Stdin, cmd.Stderr = s.tty, s.tty
		cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true, Setctty: true}
	}, "gather", "table.npy", "ids.npy", "-o", "rows", "--shard", "1M")
	waitFor(t, "shard", func() bool { n, _ := placed(filepath.Join(dir, "rows")); return n > 0 })
	io.WriteString(s.other, "\x03")
	s.shows(t, `\r\nThe job runs in this process and ends with it. Cancel it\? y cancels; anything else goes on: `)
	io.WriteString(s.other, "y\n")
	s.shows(t, `garner-beam: interrupted; what is made of rows stays, and the same command goes on\r\n`)
	if got := p.status(); got != cmdline.StatusInterrupted || p.stdout.Len() > 0 {
		t.Errorf("status %d, %q", got, p.stdout.String())
	}
}
