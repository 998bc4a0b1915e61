package cmdline

import (
	"errors"
	"math"
	"slices"
	"strconv"
	"strings"

	"github.com/garner-go/garner"
	"github.com/garner-go/garner/files"
	"github.com/garner-go/garner/internal/limits"
	"github.com/garner-go/garner/internal/units"
)

// MemoryBound says how much memory the process can have; a test sets another.
var MemoryBound = limits.Memory

// A Budget is the memory that a command may take for its inputs and results together.
type Budget struct {
	Most  limits.Bound
	Taken int64    // bytes that inputs take that were read whole
	Of    []string // what they are
}

// Budget returns the budget of a command, before it opens anything.
func (s *SizeFlag) Budget() *Budget { return &Budget{Most: s.bound()} }

// Take counts an input that is open.
func (b *Budget) Take(what string, in *files.Input) {
	size := in.Memory()
	if b.Taken += size; size > 0 && !slices.Contains(b.Of, what) {
		b.Of = append(b.Of, what)
	}
}

// All returns what the inputs that are taken, and all else, may take.
func (b *Budget) All() limits.Bound {
	// Mapped inputs take address space.
	if now := MemoryBound(); now.Bytes+b.Taken < b.Most.Bytes {
		b.Most = limits.Bound{Bytes: now.Bytes + b.Taken, By: now.By}
	}
	return b.Most
}

// Left returns what may be taken beside the inputs that are taken.
func (b *Budget) Left() limits.Bound {
	most := b.All()
	most.Bytes = max(most.Bytes-b.Taken, 1)
	if b.Taken > most.Bytes/100 { // less is not worth a word
		most.By = "beside the " + units.Bytes(b.Taken) + " of " + strings.Join(b.Of, " and ") + " " + most.By
	}
	return most
}

// Blocks returns the memory in bytes for the blocks of a gather that is not given any,
// beside which the runtime needs some; 0 where there is enough for the fastest.
func Blocks(left limits.Bound) int64 {
	if left.Bytes >= Unbudgeted {
		return 0
	}
	return max(left.Bytes/4, LeastMemory)
}

const (
	// LeastMemory is the smallest --memory, in bytes: with less, a block has only a
	// few rows.
	LeastMemory = 1 << 20

	// Unbudgeted is the memory in bytes that lets a gather do without a budget of its
	// own. Package source then takes up to 192 MiB beside the indices, or holds a result of up
	// to 256 MiB whole.
	Unbudgeted = 384 << 20
)

// A SizeFlag is the value of a flag that takes a number of bytes.
type SizeFlag struct {
	Given bool
	Bytes int64
	Text  string
}

// String is the value as it was given; "" where none is.
func (s *SizeFlag) String() string { return s.Text }

// Type names the value in a help.
func (s *SizeFlag) Type() string { return "SIZE" }

// sizeUnits lists the suffixes of a size, in bytes.
var sizeUnits = map[string]int64{
	"": 1, "B": 1,
	"K": 1 << 10, "M": 1 << 20, "G": 1 << 30, "T": 1 << 40,
	"KIB": 1 << 10, "MIB": 1 << 20, "GIB": 1 << 30, "TIB": 1 << 40,
	"KB": 1e3, "MB": 1e6, "GB": 1e9, "TB": 1e12,
}

// Set parses a value.
func (s *SizeFlag) Set(text string) error {
	text = strings.TrimSpace(text)
	number := strings.TrimRightFunc(text, func(r rune) bool { return r != '.' && (r < '0' || r > '9') })
	unit, ok := sizeUnits[strings.ToUpper(strings.TrimSpace(text[len(number):]))]
	n, err := strconv.ParseFloat(number, 64)
	if !ok || err != nil || strings.Trim(number, "0123456789.") != "" {
		return errors.New("give a number of bytes, such as 512M, 2G, 64MiB or 100000000")
	}
	if n *= float64(unit); n >= math.MaxInt64 {
		return errors.New("no machine has so much; give a smaller number")
	}
	if n < LeastMemory {
		return errors.New("it is too little to work with; give 1M or more")
	}
	*s = SizeFlag{true, int64(n), text}
	return nil
}

// bound returns what limits the memory of a command: the flag, or what the process may
// have where that is less.
func (s *SizeFlag) bound() limits.Bound {
	most := MemoryBound()
	if s.Given && s.Bytes < most.Bytes {
		return limits.Bound{Bytes: s.Bytes, By: "--memory " + s.Text + " allows"}
	}
	return most
}

// Beside refuses operands that take so much memory that --memory leaves too little.
func (s *SizeFlag) Beside(what string, held int64, remedy string) error {
	if !s.Given || held <= s.Bytes/2 {
		return nil
	}
	return garner.Errorf(nil, "%s take %s of memory, and --memory %s leaves too little beside them; %s", what, units.Bytes(held), s.Text, remedy)
}
