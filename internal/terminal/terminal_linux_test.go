package terminal

import (
	"fmt"
	"os"
	"testing"
	"time"

	"golang.org/x/sys/unix"
)

// pty opens a pseudo-terminal: other reads what is written to tty.
func pty(t *testing.T, columns uint16) (other, tty *os.File) {
	t.Helper()
	other, err := os.OpenFile("/dev/ptmx", os.O_RDWR|unix.O_NOCTTY, 0)
	if err != nil {
		t.Skip("this system lends no terminals: ", err)
	}
	t.Cleanup(func() { other.Close() })
	fd := int(other.Fd())
	n, err := unix.IoctlGetInt(fd, unix.TIOCGPTN)
	if err == nil {
		err = unix.IoctlSetPointerInt(fd, unix.TIOCSPTLCK, 0)
	}
	if err == nil {
		err = unix.IoctlSetWinsize(fd, unix.TIOCSWINSZ, &unix.Winsize{Row: 24, Col: columns})
	}
	if err == nil {
		tty, err = os.OpenFile(fmt.Sprintf("/dev/pts/%d", n), os.O_RDWR|unix.O_NOCTTY, 0)
	}
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { tty.Close() })
	return other, tty
}

func TestTerminal(t *testing.T) {
	t.Setenv("TERM", "xterm")
	for columns, want := range map[uint16]int{100: 100, 0: 80} {
		_, tty := pty(t, columns)
		if got, ok := Width(tty); !ok || got != want {
			t.Errorf("a terminal of %d columns: %d, %t", columns, got, ok)
		}
		m := NewMeter(tty, "gathering", 100)
		if m == nil || m.patience != 2*time.Second {
			t.Fatalf("%+v", m)
		}
		m.Stop()
		t.Setenv("TERM", "dumb")
		if m := NewMeter(tty, "gathering", 100); m != nil {
			t.Error("there is a meter on a dumb terminal")
		}
		t.Setenv("TERM", "xterm")
	}
}
