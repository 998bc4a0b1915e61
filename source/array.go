// Package source gathers from arrays that need not be in memory: files of any
// size, files cut into many, rows that are quantised where they lie.
//
// An [Array] is a dtype, a shape and a way to fetch rows. [Gather] runs the
// same plan over it that garner.Gather runs over memory, within a budget; a
// [Table] serves batches of rows to many goroutines.
package source

import (
	"context"

	"github.com/garner-go/garner"
)

// An Array is data that need not be in memory: a dtype, a shape and a way to
// fetch rows. It is safe for concurrent use.
//
// Its elements are numbered as they are stored: dense, in an order of its own,
// which the strides of Spec tell. What is between is no part of it; an array
// whose elements are stored otherwise (compressed, quantised, of another byte
// order) fetches them as if they were.
type Array interface {
	// Spec is the dtype, the dims, all of them known, and the strides in
	// elements: nil where the order of storage is row-major. It is the same for
	// as long as the Array lives.
	Spec() garner.Spec

	// Fetch reads rows into rows.Dst. It waits until all are there, the context
	// is done, or one cannot be read, which is a *ReadError; after an error Dst
	// is unspecified. No goroutine outlives the call.
	Fetch(ctx context.Context, rows Rows) error
}

// Rows are pieces of an Array, equally long, each asked for once.
type Rows struct {
	At   []int64 // where each begins, in bytes from the array's first element; ascending
	Size int     // bytes of each; they may overlap
	Dst  []byte  // len(At)*Size bytes, for the rows in the order of At
}
