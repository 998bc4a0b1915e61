package main

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"syscall"
	"testing"

	"github.com/garner-go/garner/internal/cmdline"
	"github.com/garner-go/garner/internal/linuxtest"
)

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
			s := linuxtest.NewScreen(t, 200)
			p := start(t, dir, func(cmd *exec.Cmd) {
				cmd.Stdin, cmd.Stderr = s.TTY, s.TTY
				cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true, Setctty: true}
			}, "gather", "table.npy", "ids.npy", "-o", out, "--shard", "8M", "--runner", "flink", "--endpoint", engine(), "--worker", held(t, begins))
			s.Shows(t, `^garner-beam: job job-\d+\S*: 8 shards, 64 MiB\r\n`)
			s.Shows(t, `\r1/4 checking indices`)
			s.Type(t, "\x03")
			s.Shows(t, `\r\nCancel job job-\d+\S*\? y cancels; d leaves it running and ends this command; anything else waits on: `)
			s.Type(t, tt.answer)
			if tt.status == 0 {
				if tt.answer == "d\n" {
					s.Shows(t, `garner-beam: the job runs on; "garner-beam status job-`)
					if got := p.status(); got != 0 || !regexp.MustCompile(`^job-\d+\S*\n$`).MatchString(p.stdout.String()) {
						t.Errorf("status %d, %q", got, p.stdout.String())
					}
				} else {
					s.Shows(t, `\r1/4 checking indices`) // again
				}
				if err := os.WriteFile(begins, nil, 0o666); err != nil {
					t.Fatal(err)
				}
				waitFor(t, "result", func() bool { // and the end of the job, whose command may be gone
					_, done := placed(out)
					_, err := os.Stat(filepath.Join(out, "_garner"))
					return done && os.IsNotExist(err)
				})
			}
			if got := p.status(); got != tt.status {
				t.Errorf("status %d, want %d; the terminal shows %q", got, tt.status, s)
			}
			switch {
			case tt.status == cmdline.StatusInterrupted:
				s.Shows(t, `garner-beam: interrupted; what is made of \S+ stays, and the same command goes on; the job server calls job job-\S+ cancelled`)
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
	for try := 1; ; try++ {
		name := fmt.Sprintf("rows%d", try)
		out := filepath.Join(dir, name)
		s := linuxtest.NewScreen(t, 200)
		p := start(t, dir, func(cmd *exec.Cmd) {
			cmd.Stdin, cmd.Stderr = s.TTY, s.TTY
			cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true, Setctty: true}
		}, "gather", "table.npy", "ids.npy", "-o", name, "--shard", "1M")
		waitFor(t, "shard", func() bool { n, _ := placed(out); return n > 0 })
		s.Type(t, "\x03")
		const asks = "\r\nThe job runs in this process and ends with it. Cancel it? y cancels; anything else goes on: "
		waitFor(t, "question or end", func() bool {
			_, done := placed(out)
			return done || strings.Contains(s.String(), asks)
		})
		s.Type(t, "y\n")
		got := p.status()
		if _, done := placed(out); done && try < tries { // the job ended before the answer, which no test can keep it from
			continue
		}
		s.Shows(t, regexp.QuoteMeta(asks))
		s.Shows(t, fmt.Sprintf(`garner-beam: interrupted; what is made of %s stays, and the same command goes on\r\n`, name))
		if got != cmdline.StatusInterrupted || p.stdout.Len() > 0 {
			t.Errorf("status %d, %q", got, p.stdout.String())
		}
		return
	}
}
