package terminal

import (
	"bytes"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"sync"
	"testing"
	"time"
)

func TestLine(t *testing.T) {
	for _, tt := range []struct {
		before, done, total int64
		took                time.Duration
		want                string
	}{
		{0, 512 << 20, 2 << 30, 4 * time.Second, "gathering  25 %  0.5 of 2.0 GiB  128.0 MiB/s  12 s left"},
		{0, 0, 2 << 30, 4 * time.Second, "gathering   0 %  0.0 of 2.0 GiB  0.0 KiB/s"},
		{0, 1 << 10, 1 << 30, 2 * time.Second, "gathering   0 %  0.0 of 1.0 GiB  0.5 KiB/s  583 h left"},
		{0, 10 << 20, 1 << 30, 2 * time.Second, "gathering   0 %  0.0 of 1.0 GiB  5.0 MiB/s  3 min left"},
		{0, 2 << 30, 2 << 30, 4 * time.Second, "gathering  100 %  2.0 of 2.0 GiB  512.0 MiB/s  0 s left"},
		{0, 3 << 30, 2 << 30, 4 * time.Second, "gathering  100 %  2.0 of 2.0 GiB  768.0 MiB/s  0 s left"}, // total left out a header
		{0, 3 << 20, 0, 3 * time.Second, "gathering  3.0 MiB  1.0 MiB/s"},
		{0, 3 << 20, -1, 3 * time.Second, "gathering"},
		{0, 1 << 62, 1<<63 - 1, 3 * time.Second, "gathering  50 %  4194304.0 of 8388608.0 TiB  1398101.3 TiB/s  3 s left"},
		// What an earlier run did is done, and says nothing of this run's rate.
		{1 << 30, 3 << 29, 2 << 30, 4 * time.Second, "gathering  75 %  1.5 of 2.0 GiB  128.0 MiB/s  4 s left"},
		{1 << 30, 1 << 30, 2 << 30, 4 * time.Second, "gathering  50 %  1.0 of 2.0 GiB  0.0 KiB/s"},
		{1 << 30, 1 << 29, 2 << 30, 4 * time.Second, "gathering  25 %  0.5 of 2.0 GiB  0.0 KiB/s"},
	} {
		if got := line("gathering", tt.before, tt.done, tt.total, tt.took); got != tt.want {
			t.Errorf("%q, want %q", got, tt.want)
		}
	}
}

// A screen is a terminal of one line: its text, and all texts that it has
// shown.
type screen struct {
	mu   sync.Mutex
	all  bytes.Buffer
	line []rune
	at   int
}

func (s *screen) Write(b []byte) (int, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.all.Write(b)
	for _, r := range string(b) {
		if r == '\r' {
			s.at = 0
			continue
		}
		if s.at == len(s.line) {
			s.line = append(s.line, ' ')
		}
		s.line[s.at] = r
		s.at++
	}
	return len(b), nil
}

func (s *screen) shows() string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return strings.TrimRight(string(s.line), " ")
}

func (s *screen) waitFor(t *testing.T, want string) {
	t.Helper()
	for deadline := time.Now().Add(time.Minute); !regexp.MustCompile(want).MatchString(s.shows()); time.Sleep(time.Millisecond) {
		if time.Now().After(deadline) {
			t.Fatalf("the line is %q, want %q", s.shows(), want)
		}
	}
}

func TestMeter(t *testing.T) {
	s := &screen{}
	m := &Meter{w: s, what: "gathering", columns: 80, interval: time.Millisecond}
	m.begin(1 << 30)
	m.Set(1 << 29)
	s.waitFor(t, `^gathering  50 %  0\.5 of 1\.0 GiB  [0-9.]+ [KMGT]iB/s  \d+ \w+ left$`)
	m.Add(1 << 28)
	s.waitFor(t, `^gathering  75 %  0\.8 of 1\.0 GiB  `)
	m.From(1 << 29) // so that nothing was done since
	s.waitFor(t, `^gathering  50 %  0\.5 of 1\.0 GiB  0\.0 KiB/s$`)
	m.Stop()
	m.Stop()
	if got := s.shows(); got != "" || s.at != 0 {
		t.Errorf("%q is left, and the cursor is at %d", got, s.at)
	}

	// On a narrow terminal the last column stays free.
	s = &screen{}
	m = &Meter{w: s, what: "gathering", columns: 14, interval: time.Millisecond}
	m.begin(0)
	m.Set(1 << 29)
	s.waitFor(t, `^gathering  51$`)
	m.Stop()
	if len(s.line) > 13 {
		t.Errorf("it wrote %d columns of 14", len(s.line))
	}
}

// TestMeterShort holds that short work writes nothing.
func TestMeterShort(t *testing.T) {
	s := &screen{}
	m := &Meter{w: s, what: "gathering", columns: 80, patience: time.Hour, interval: time.Millisecond}
	m.begin(100)
	m.Set(50)
	m.Stop()
	if s.all.Len() > 0 {
		t.Errorf("it wrote %q", s.all.String())
	}
}

// TestNoTerminal holds that there is no Meter on files, pipes and other
// writers.
func TestNoTerminal(t *testing.T) {
	file, err := os.Create(filepath.Join(t.TempDir(), "x"))
	if err != nil {
		t.Fatal(err)
	}
	defer file.Close()
	r, w, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	defer w.Close()
	null, err := os.OpenFile(os.DevNull, os.O_WRONLY, 0)
	if err != nil {
		t.Fatal(err)
	}
	defer null.Close()
	if m := NewMeter(&bytes.Buffer{}, "gathering", 100); m != nil {
		t.Error("a buffer is a terminal")
	}
	for _, f := range []*os.File{file, w, null} {
		m := NewMeter(f, "gathering", 100)
		if m != nil {
			t.Errorf("%s is a terminal", f.Name())
		}
		m.Set(1)
		m.Add(1)
		m.Stop()
	}
}
