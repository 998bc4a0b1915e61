package terminal

import (
	"fmt"
	"io"
	"strings"
	"sync"
	"sync/atomic"
	"time"
	"unicode/utf8"

	"github.com/garner-go/garner/internal/units"
)

// A Meter shows the progress of work on one line of a terminal, once the work
// has taken two seconds:
//
//	gathering  43 %  1.2 of 2.8 GiB  310 MiB/s  5 s left
//
// A nil Meter shows nothing; it is what NewMeter returns where there is no
// terminal. Set and Add store a number and cost no more. Any goroutine may call
// them.
type Meter struct {
	w        io.Writer
	what     string
	columns  int
	patience time.Duration // shorter work shows nothing
	interval time.Duration // time between two writes of the line
	began    time.Time
	total    int64
	before   atomic.Int64 // bytes that were done before the work began
	done     atomic.Int64
	end      sync.Once
	ending   chan struct{}
	ended    chan struct{}
	shown    int // characters on the line
}

// NewMeter starts a Meter for work of total bytes: 0 where the number is not
// known, and -1 for work that does not count bytes, of which it shows the name alone. It returns nil where w is no terminal. End every Meter with Stop.
func NewMeter(w io.Writer, what string, total int64) *Meter {
	columns, ok := Width(w)
	if !ok {
		return nil
	}
	m := &Meter{w: Raw(w), what: what, columns: columns, patience: 2 * time.Second, interval: 200 * time.Millisecond}
	m.begin(total)
	return m
}

func (m *Meter) begin(total int64) {
	m.total, m.began, m.ending, m.ended = total, time.Now(), make(chan struct{}), make(chan struct{})
	go m.show()
}

// From sets how many bytes an earlier run has done. They count to what is done, and
// not to the rate or the time left.
func (m *Meter) From(before int64) {
	if m != nil {
		m.before.Store(before)
		m.done.Store(before)
	}
}

// Set sets how many bytes are done.
func (m *Meter) Set(done int64) {
	if m != nil {
		m.done.Store(done)
	}
}

// Add adds to the bytes that are done.
func (m *Meter) Add(n int64) {
	if m != nil {
		m.done.Add(n)
	}
}

// Stop removes the line. The next output to the terminal is in its place. A
// second Stop does nothing.
func (m *Meter) Stop() {
	if m != nil {
		m.end.Do(func() { close(m.ending) })
		<-m.ended
	}
}

func (m *Meter) show() {
	defer close(m.ended)
	next := time.NewTimer(m.patience)
	defer next.Stop()
	for {
		select {
		case <-m.ending:
			if m.shown > 0 {
				fmt.Fprintf(m.w, "\r%s\r", strings.Repeat(" ", m.shown))
			}
			return
		case <-next.C:
			m.write(line(m.what, m.before.Load(), m.done.Load(), m.total, time.Since(m.began)))
			next.Reset(m.interval)
		}
	}
}

// write overwrites the line. It leaves the last column free, because some
// terminals wrap after it.
func (m *Meter) write(text string) {
	n := utf8.RuneCountInString(text)
	if n >= m.columns {
		n = max(m.columns-1, 0)
		text = string([]rune(text)[:n])
	}
	fmt.Fprintf(m.w, "\r%s%s", text, strings.Repeat(" ", max(m.shown-n, 0)))
	m.shown = max(m.shown, n)
}

// line returns the text of the line. The bytes before are a part of those done.
func line(what string, before, done, total int64, took time.Duration) string {
	if total < 0 {
		return what
	}
	rate := float64(max(done-before, 0)) / took.Seconds()
	var b strings.Builder
	b.WriteString(what)
	if total > 0 {
		done = min(done, total)
		unit := unitOf(float64(total))
		fmt.Fprintf(&b, "  %2d %%  %.1f of %.1f %s", int64(100*(float64(done)/float64(total))), float64(done)/unit.Bytes, float64(total)/unit.Bytes, unit.Name)
	} else {
		b.WriteString("  " + amount(float64(done)))
	}
	b.WriteString("  " + amount(rate) + "/s")
	if total > 0 && rate > 0 {
		b.WriteString("  " + units.Seconds(float64(total-done)/rate) + " left")
	}
	return b.String()
}

// amount keeps its decimal, or the line would jump as it grows.
func amount(bytes float64) string {
	unit := unitOf(bytes)
	return fmt.Sprintf("%.1f %s", bytes/unit.Bytes, unit.Name)
}

// unitOf is the unit of a number of bytes, KiB at least.
func unitOf(bytes float64) units.Unit { return units.Of(max(bytes, units.KiB.Bytes)) }
