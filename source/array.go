// Package source gathers from arrays that need not fit in memory: files of any
// size, arrays in segments of many files, quantised rows.
//
// An [Array] is a dtype, a shape and a method that fetches rows; [File] and
// [Memory] are Arrays, and [Convert] views one as another float dtype. [Gather] and
// [GatherInto] run any operator over Arrays within a budget of memory. A [Table]
// serves batches of rows to many goroutines.
// Executors elsewhere, such as a cluster or a server, use a [Resolver] for the
// rows of a plan and [FetchRows] for their bytes.
package source

import (
	"context"

	"github.com/garner-go/garner"
)

// An Array is data that need not be in memory: a dtype, a shape and a method that
// fetches rows. It is safe for concurrent use.
//
// Its elements are dense and stored in any order of the dims, which the strides of
// Spec give. An array that stores elements differently (compressed, quantised, in
// another byte order) fetches them as little-endian elements in that order.
type Array interface {
	// Spec returns the dtype, the dims, all of them known, and the strides in
	// elements: nil where the elements are stored row-major. It never changes.
	Spec() garner.Spec

	// Fetch reads rows into rows.Dst. It returns when all are read, when the
	// context is done, or with a *ReadError when one cannot be read. After an
	// error Dst is unspecified. No goroutine outlives the call.
	Fetch(ctx context.Context, rows Rows) error
}

// Rows are the rows that one Fetch reads: equally long ranges of an Array. For rows
// in any order, with repeats, see FetchRows.
type Rows struct {
	At   []int64 // where each row begins, in bytes from the array's first element; strictly ascending
	Size int     // bytes of each row; rows may overlap
	Dst  []byte  // len(At)·Size bytes: the rows in the order of At
}
