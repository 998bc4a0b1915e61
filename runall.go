package garner

import (
	"context"
	"fmt"
	"strings"
)

// A Call is one run of a Prepared.
type Call struct {
	Prepared *Prepared
	Data     Tensor
	Indices  Tensor
	Out      Tensor
	More     []Tensor // the further operands
}

// RunAll runs calls in order, such as the tables of a recommender, each on the cores
// of its Prepared. It ends with the first error, which names the call by its number,
// from 0, and wraps that of Prepared.Run. It allocates nothing where the runs do not.
func RunAll(ctx context.Context, calls []Call) error {
	for i := range calls {
		c := &calls[i]
		if c.Prepared == nil {
			return errorf(ErrAttribute, "call %d has no Prepared; make one by Prepare", i)
		}
		if err := c.Prepared.Run(ctx, c.Data, c.Indices, c.Out, c.More...); err != nil {
			return &callError{i, len(calls), err}
		}
	}
	return nil
}

// A callError is the error of one of several calls.
type callError struct {
	number, of int
	err        error
}

func (e *callError) Error() string {
	return fmt.Sprintf("garner: call %d of %d: %s", e.number, e.of, strings.TrimPrefix(e.err.Error(), "garner: "))
}

func (e *callError) Unwrap() error { return e.err }
