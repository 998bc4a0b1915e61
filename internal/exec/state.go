package exec

import (
	"context"
	"sync/atomic"
)

// A state is the run in progress: its operands, and the findings of its
// workers, which share it.
type state struct {
	// From is the memory of data whose elements a Decoder makes; data then only says
	// whether that memory is Volatile. The caller sets it before a run.
	From Stored

	program *Program
	ctx     context.Context
	src     Memory
	at      Memory
	dst     Memory
	way     Way     // the way that units move: the program's way or its byRows
	shared  []int64 // every tuple's row, or position, if several turns use it
	folded  []int64 // positions of many turns, see moveFolded
	stop    atomic.Bool
	refused atomic.Bool // an index was refused
	outside atomic.Bool // a tuple in shared is outside and filled
	fault   atomic.Bool // memory vanished

	bags          *Bags // of a run of bags
	ends, weights Memory
}

// A worker is the scratch of one goroutine.
type worker struct {
	rows, values []int64
	strip        []byte
	ends         []int64  // of bags
	whole        [2]int64 // the ends of one bag, for reduceRows
	weights      []byte   // of terms
	decoded      []byte   // the parts of stored rows that bags reduce
	places       []int64  // where those lie
}

// stopped reports whether the run has ended early. It ends the run if the
// context has ended.
func (u *state) stopped() bool {
	if u.stop.Load() {
		return true
	}
	if u.ctx.Err() != nil {
		u.stop.Store(true)
		return true
	}
	return false
}

// refuse ends the run: an index is outside.
func (u *state) refuse() {
	u.refused.Store(true)
	u.stop.Store(true)
}
