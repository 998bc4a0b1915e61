package main

import (
	"slices"
	"strings"

	"github.com/garner-go/garner/files"
	"github.com/garner-go/garner/internal/limits"
	"github.com/garner-go/garner/internal/units"
)

// memoryBound says how much memory the process can have; a test sets another.
var memoryBound = limits.Memory

// A budget is the memory that a command may take for its inputs and results together.
type budget struct {
	most  limits.Bound
	taken int64    // bytes that inputs take that were read whole
	of    []string // what they are
}

// budget returns the budget of a command, before it opens anything.
func (s *sizeFlag) budget() *budget { return &budget{most: s.bound()} }

// take counts an input that is open.
func (b *budget) take(what string, in *files.Input) {
	size := in.Memory()
	if b.taken += size; size > 0 && !slices.Contains(b.of, what) {
		b.of = append(b.of, what)
	}
}

// all returns what the inputs that are taken, and all else, may take.
func (b *budget) all() limits.Bound {
	// Mapped inputs take address space.
	if now := memoryBound(); now.Bytes+b.taken < b.most.Bytes {
		b.most = limits.Bound{Bytes: now.Bytes + b.taken, By: now.By}
	}
	return b.most
}

// left returns what may be taken beside the inputs that are taken.
func (b *budget) left() limits.Bound {
	most := b.all()
	most.Bytes = max(most.Bytes-b.taken, 1)
	if b.taken > most.Bytes/100 { // less is not worth a word
		most.By = "beside the " + units.Bytes(b.taken) + " of " + strings.Join(b.of, " and ") + " " + most.By
	}
	return most
}

// blocks returns the memory in bytes for the blocks of a gather that is not given any,
// beside which the runtime needs some; 0 where there is enough for the fastest.
func blocks(left limits.Bound) int64 {
	if left.Bytes >= unbudgeted {
		return 0
	}
	return max(left.Bytes/4, leastMemory)
}
