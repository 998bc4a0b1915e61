package corpus

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"hash"

	"github.com/garner-go/garner"
	"github.com/garner-go/garner/source"
)

// pieceLen is the number of elements of a piece, a multiple of 8, so that those
// of packed types fill bytes. sampling is how many pieces there are for each that
// is also held against the definition, which takes some 25 ns an element: 2 s for
// one piece in 32 of 46341 × 46341 elements.
const (
	pieceLen = 1 << 20
	sampling = 32
)

// pieces is a case whose result is compared piece by piece, as package source
// makes it, so that no memory holds the whole.
type pieces struct {
	op            garner.Op
	data, indices garner.Tensor
	n             int // elements of the result
	piece         int // elements of a piece
}

// refused returns the error of the gather, without a row moved.
func (p *pieces) refused() error {
	plan, err := garner.NewPlan(p.op, p.data.Spec(), p.indices.Spec())
	if err != nil {
		return err
	}
	return plan.Check(context.Background(), p.indices)
}

// hold returns the error of the gather, or the first difference between its
// result and the expectation.
func (p *pieces) hold(w *want) error {
	if w.part == nil && w.sum == nil {
		return errors.New("no case: its result is too large to be listed")
	}
	define, err := garner.ReferenceParts(p.op, p.data, p.indices)
	if err != nil {
		return fmt.Errorf("the definition: %w", err)
	}
	to := &judge{pieces: p, want: w, define: define}
	if w.sum != nil {
		to.sum = w.sum.new()
	}
	if err := source.Gather(context.Background(), p.op, source.Memory(p.data), source.Memory(p.indices), to, source.Options{}); err != nil {
		return err
	}
	if err := to.compare(); err != nil { // the last one may be short
		return err
	}
	if to.done != p.n {
		return fmt.Errorf("answered %d elements; want %d", to.done, p.n)
	}
	if w.sum != nil {
		return w.sum.compare(to.sum, to.written)
	}
	return nil
}

// A judge compares what is written to it with the expectation.
type judge struct {
	*pieces
	want    *want
	define  func(first, n int) (garner.Tensor, error)
	sum     hash.Hash
	written int64  // bytes
	done    int    // elements that were compared
	held    []byte // the bytes behind those
}

// Write takes the next bytes of the result.
func (j *judge) Write(b []byte) (int, error) {
	j.written += int64(len(b))
	if j.sum != nil {
		j.sum.Write(b)
	}
	size := j.piece * j.data.DType().Bits() / 8
	for left := b; len(left) > 0; {
		n := min(len(left), size-len(j.held))
		j.held, left = append(j.held, left[:n]...), left[n:]
		if len(j.held) == size {
			if err := j.compare(); err != nil {
				return 0, err
			}
		}
	}
	return len(b), nil
}

// compare compares the bytes that are held, a piece of the result.
func (j *judge) compare() error {
	first, n := j.done, min(j.piece, j.n-j.done)
	if n == 0 && len(j.held) == 0 {
		return nil
	}
	got, err := garner.FromBytes(j.data.DType(), j.held, n)
	if err != nil {
		return err
	}
	if j.want.part != nil {
		value, err := j.want.part(first, n)
		if err != nil {
			return fmt.Errorf("no case: the output: %w", err)
		}
		if err := same(got, value, false); err != nil {
			return fmt.Errorf("from element %d on: %w", first, err)
		}
	}
	// The first, the last, those around 2^31 elements, and some between.
	if at := first / j.piece; at%sampling == 0 || first+n == j.n || int64(first+n) == 1<<31 {
		defined, err := j.define(first, n)
		if err != nil {
			return err
		}
		a, err := defined.Bytes()
		if err == nil && !bytes.Equal(a, j.held) {
			err = same(got, defined, true)
			err = fmt.Errorf("from element %d on, against the definition: %w", first, err)
		}
		if err != nil {
			return err
		}
	}
	j.done, j.held = first+n, j.held[:0]
	return nil
}
