package linuxtest

import (
	"bytes"
	"fmt"
	"io"
	"os"
	"regexp"
	"sync"
	"testing"
	"time"

	"golang.org/x/sys/unix"
)

// patience is how long a Screen waits for text.
const patience = time.Minute

// A Screen is a pseudo-terminal of 24 rows, and the text written to it.
type Screen struct {
	TTY  *os.File // for the standard streams of a process
	keys *os.File
	mu   sync.Mutex
	text bytes.Buffer
}

// NewScreen opens a pseudo-terminal until the test ends. 0 columns are a terminal that
// does not know its size. It skips the test if the system lends none.
func NewScreen(t testing.TB, columns uint16) *Screen {
	t.Helper()
	keys, err := os.OpenFile("/dev/ptmx", os.O_RDWR|unix.O_NOCTTY, 0)
	if err != nil {
		t.Skip("this system lends no terminals: ", err)
	}
	fd := int(keys.Fd())
	n, err := unix.IoctlGetInt(fd, unix.TIOCGPTN)
	if err == nil {
		err = unix.IoctlSetPointerInt(fd, unix.TIOCSPTLCK, 0)
	}
	if err == nil {
		err = unix.IoctlSetWinsize(fd, unix.TIOCSWINSZ, &unix.Winsize{Row: 24, Col: columns})
	}
	s := &Screen{keys: keys}
	if err == nil {
		s.TTY, err = os.OpenFile(fmt.Sprintf("/dev/pts/%d", n), os.O_RDWR|unix.O_NOCTTY, 0)
	}
	if err != nil {
		keys.Close()
		t.Fatal(err)
	}
	read := make(chan struct{})
	go func() {
		defer close(read)
		b := make([]byte, 4096)
		for {
			n, err := keys.Read(b)
			s.mu.Lock()
			s.text.Write(b[:n])
			s.mu.Unlock()
			if err != nil {
				return
			}
		}
	}()
	t.Cleanup(func() {
		s.TTY.Close() // ends the read
		<-read
		keys.Close()
	})
	return s
}

// Type types a text: "\x03" is Ctrl-C.
func (s *Screen) Type(t testing.TB, text string) {
	t.Helper()
	if _, err := io.WriteString(s.keys, text); err != nil {
		t.Fatal(err)
	}
}

// String returns the text that no Shows has taken.
func (s *Screen) String() string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.text.String()
}

// Shows waits until the terminal shows a text that matches a regular expression. It
// takes that text, and all text before it.
func (s *Screen) Shows(t testing.TB, want string) {
	t.Helper()
	at := regexp.MustCompile(want)
	take := func() bool {
		s.mu.Lock()
		defer s.mu.Unlock()
		found := at.FindIndex(s.text.Bytes())
		if found != nil {
			s.text.Next(found[1])
		}
		return found != nil
	}
	for until := time.Now().Add(patience); !take(); time.Sleep(time.Millisecond) {
		if time.Now().After(until) {
			t.Fatalf("the terminal shows %q, want %s", s, want)
		}
	}
}
