package terminal

import (
	"testing"
	"time"

	"github.com/garner-go/garner/internal/linuxtest"
)

func TestTerminal(t *testing.T) {
	t.Setenv("TERM", "xterm")
	for columns, want := range map[uint16]int{100: 100, 0: 80} {
		tty := linuxtest.NewScreen(t, columns).TTY
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
