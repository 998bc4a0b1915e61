package graphdef

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"math"
	"slices"

	"github.com/garner-go/garner"
	"github.com/garner-go/garner/internal/protofile"
	"github.com/garner-go/garner/model"
	"github.com/garner-go/garner/tensorflow/graphdef/internal/bundle"
)

// A piece is a slice of a tensor as it is stored.
type piece struct {
	slice    bundle.Slice
	constant *model.Constant
}

// joined makes the constant of a tensor that is stored in slices. Those that cut the first
// axis alone follow each other in the tensor; of any others, each row is read where its parts lie.
func (r *reader) joined(e *bundle.Entry, name string, spec garner.Spec) (*model.Constant, error) {
	c := r.checkpoint
	shape, _ := spec.Shape()
	if _, ok := dtypeOf(e.DType); !ok || spec.DType == garner.String {
		made := unreadable(c.path, name, spec, "it is stored in slices of %s, which garner does not read; save it whole", e.DType)
		made.Slices = len(e.Slices)
		return made, nil
	}
	var pieces []piece
	for _, s := range e.Slices {
		if err := r.Spend(protofile.ConstantBytes); err != nil {
			return nil, err
		}
		p, err := r.sliceOf(e, s, name)
		if err != nil {
			return nil, err
		}
		pieces = append(pieces, piece{s, p})
	}
	if size, ok := spec.Bytes(); !ok || size > math.MaxInt {
		return nil, fmt.Errorf("its shape %s takes more bytes than garner can count", shape)
	}
	made := model.NewConstant(name, spec, func() (garner.Tensor, error) {
		t, err := garner.New(spec.DType, shape...)
		if err != nil {
			return t, err
		}
		for _, p := range pieces {
			from, err := p.constant.Tensor()
			if err != nil {
				return garner.Tensor{}, err
			}
			to, err := cut(t, p.slice)
			if err == nil {
				err = garner.Copy(to, from)
			}
			if err != nil {
				return garner.Tensor{}, atConstant(c.path, name, err)
			}
		}
		return t, nil
	})
	made.Encoded, made.Slices = true, len(pieces)
	made.Verify = func(ctx context.Context) error {
		for _, p := range pieces {
			if err := p.constant.Verify(ctx); err != nil {
				return err
			}
		}
		return nil
	}
	rows := true
	for _, p := range pieces {
		rows = rows && ofRows(p.slice, e.Shape)
	}
	if rows && len(shape) > 0 {
		slices.SortStableFunc(pieces, func(a, b piece) int { return cmp.Compare(a.slice.Start[0], b.slice.Start[0]) })
	}
	for _, p := range pieces {
		switch {
		case rows:
			made.Append(p.constant, 0, p.constant.Size)
		case spec.DType.Bits()%8 == 0:
			if err := r.Spend(rangeBytes); err != nil {
				return nil, err
			}
			at := make([]int, len(shape))
			for axis, start := range p.slice.Start {
				at[axis] = int(start)
			}
			made.SetTiles(append(made.Tiles, model.Tile{At: at, Constant: p.constant}))
		}
	}
	return made, nil
}

// ofRows reports whether a slice cuts the first axis of a tensor alone.
func ofRows(s bundle.Slice, shape []int64) bool {
	for axis := 1; axis < len(shape); axis++ {
		if n := s.Length[axis]; n != bundle.Whole && n != shape[axis] {
			return false
		}
	}
	return true
}

// rangeBytes is what a range of a file takes in a constant, and while it is copied.
const rangeBytes = 250

// cut is a slice of a tensor, as a view.
func cut(t garner.Tensor, s bundle.Slice) (garner.Tensor, error) {
	for axis, length := range s.Length {
		if length == bundle.Whole {
			continue
		}
		var err error
		if t, err = t.Slice(axis, int(s.Start[axis]), int(s.Start[axis]+length), 1); err != nil {
			return t, err
		}
	}
	return t, nil
}

// sliceOf makes the constant of a slice as it is stored.
func (r *reader) sliceOf(e *bundle.Entry, s bundle.Slice, name string) (*model.Constant, error) {
	stored := r.checkpoint.index.Slice(e.Key, s)
	if stored == nil {
		return nil, errors.New("one of its slices is not in the index: it is corrupt; get it again")
	}
	want := slices.Clone(e.Shape)
	for axis, length := range s.Length {
		if length != bundle.Whole {
			want[axis] = length
		}
	}
	if stored.DType != e.DType || !slices.Equal(stored.Shape, want) || len(stored.Slices) > 0 {
		return nil, fmt.Errorf("one of its slices is %s%v in the index, and %s%v of the whole: it is corrupt; get it again", stored.DType, stored.Shape, e.DType, want)
	}
	return r.constantOf(stored, name)
}

// part makes the constant of a variable that is a slice of a tensor of the checkpoint, as
// TensorFlow 1 partitions them: in place where it is stored as that slice.
func (r *reader) part(e *bundle.Entry, s bundle.Slice, name string) (*model.Constant, error) {
	if err := r.Spend(protofile.ConstantBytes); err != nil {
		return nil, err
	}
	if r.checkpoint.index.Slice(e.Key, s) != nil {
		return r.sliceOf(e, s, name)
	}
	whole, err := r.stored(e)
	if err != nil {
		return nil, err
	}
	shape, _ := whole.Spec.Shape()
	shape = slices.Clone(shape)
	for axis, length := range s.Length {
		if length != bundle.Whole {
			if s.Start[axis] > int64(shape[axis]) || length > int64(shape[axis])-s.Start[axis] {
				return nil, fmt.Errorf("it is elements %d … of axis %d of tensor %.200q, which has %d: the graph and the checkpoint do not belong together", s.Start[axis]+length-1, axis, e.Key, shape[axis])
			}
			shape[axis] = int(length)
		}
	}
	made := model.NewConstant(name, garner.SpecOf(whole.Spec.DType, shape...), func() (garner.Tensor, error) {
		t, err := whole.Tensor()
		if err != nil {
			return t, err
		}
		return cut(t, s)
	})
	made.Encoded, made.Verify = whole.Encoded, whole.Verify
	if size, _ := made.Spec.Bytes(); whole.File != "" && size > 0 && len(shape) > 0 && ofRows(s, e.Shape) {
		if err := r.Spend(rangeBytes * (1 + len(whole.More))); err != nil {
			return nil, err
		}
		made.Append(whole, s.Start[0]*(size/int64(shape[0])), size)
	}
	return made, nil
}
