package lint

import (
	"context"
	"encoding/binary"
	"fmt"
	"math"

	"github.com/garner-go/garner"
	"github.com/garner-go/garner/internal/mapped"
	"github.com/garner-go/garner/internal/units"
	"github.com/garner-go/garner/model"
)

// pieceElements is the number of elements of a constant read at a time. 64 Ki
// elements of 8 bytes are half a MB, so the cost of starting a piece is negligible.
const pieceElements = 1 << 16

// pieces calls look with a constant's elements, one piece at a time, copied out of
// the file. from is the row-major number of the piece's first element. pieces
// stops when look returns false.
func (l *linter) pieces(c *model.Constant, look func(t garner.Tensor, from int64) (more bool, err error)) error {
	return mapped.Guard(func() error {
		t, err := c.Tensor()
		if err != nil {
			return err
		}
		n := t.Len()
		flat, err := t.Reshape(n)
		if err != nil {
			return err
		}
		for from := 0; from < n; from += pieceElements {
			if l.ctx.Err() != nil {
				return context.Cause(l.ctx)
			}
			piece, err := flat.Slice(0, from, min(from+pieceElements, n), 1)
			if err != nil {
				return err
			}
			if err := l.spend(c, piece); err != nil {
				return err
			}
			// A mapped file may be truncated meanwhile; Clone then returns an error.
			if piece, err = piece.Clone(); err != nil {
				return err
			}
			if more, err := look(piece, int64(from)); err != nil || !more {
				return err
			}
		}
		return nil
	})
}

// freeBytes is how much of its constants lint reads beside four times the file that
// has them.
const freeBytes = 64 << 20

// spend refuses a piece of a constant where the constants have together been read far
// beyond the size of their file: then many constants share bytes, or many gathers read
// one constant for axes of other lengths, and a small file would cost hours.
func (l *linter) spend(c *model.Constant, piece garner.Tensor) error {
	limit := freeBytes + 4*c.State.Size // no size where the elements are in memory
	n, _ := piece.Spec().Bytes()
	if l.read[c.File] += int64(n); l.read[c.File] > limit {
		return garner.Errorf(nil, "the constants of indices share bytes: lint has read %s of them, which is more than four times their file; give each gather a constant of its own, or one to gathers of equal axes", units.Bytes(limit))
	}
	return nil
}

// stored tells constants apart by what lint reads of them: two of the same bytes of a
// file are one.
func stored(c *model.Constant) any {
	if c.File == "" {
		return c
	}
	type place struct {
		file         string
		offset, size int64
		spec         string
	}
	return place{c.File, c.Offset, c.Size, c.Spec.String()}
}

// A tally counts indices of one kind and keeps the first.
type tally struct {
	count int64
	at    int64 // row-major number of the first
	value garner.Index
	axis  int // the component of the tuple that the first is: addressed()[axis] is its dim
}

func (t *tally) add(at int64, v garner.Index, axis int) {
	if t.count == 0 {
		*t = tally{at: at, value: v, axis: axis}
	}
	t.count++
}

// others gives the words for the indices after the first.
func (t *tally) others(total int64) string {
	if t.count < 2 {
		return ""
	}
	return fmt.Sprintf(" (and %d more of %d)", t.count-1, total)
}

// An indexScan counts the indices of a constant that some runtime refuses.
type indexScan struct {
	total    int64
	negative tally // below 0, and inside where negatives count from the end
	outside  tally // outside the axis either way
}

// A scanKey is what a scan depends on: the constant, as stored, and the axes.
type scanKey struct {
	constant any
	dims     string
}

// scan reads the index constant of a gather; nil where there is none, or where the
// axes that it addresses are unknown.
func (s *subject) scan() (*indexScan, error) {
	c, dims := s.constant(s.indices), s.addressed()
	if c == nil || dims == nil || !c.Spec.DType.IsInteger() {
		return nil, nil
	}
	key := scanKey{stored(c), fmt.Sprint(dims)}
	if done, ok := s.linter.indices[key]; ok {
		return done, nil
	}
	scan := &indexScan{}
	s.linter.indices[key] = scan
	if len(dims) == 0 {
		return scan, nil // empty tuples address no axis
	}
	err := s.pieces(c, func(t garner.Tensor, from int64) (bool, error) {
		scan.total = from + int64(t.Len())
		return true, integers(t, func(i int, v garner.Index) bool {
			at := from + int64(i)
			axis := int(at % int64(len(dims)))
			below, beyond := judge(v, dims[axis])
			switch {
			case beyond:
				scan.outside.add(at, v, axis)
			case below:
				scan.negative.add(at, v, axis)
			}
			return true
		})
	})
	return scan, err
}

// judge reports whether an index is negative (below), and whether it is outside
// its axis both as it stands and counted from the end (beyond). For an unknown
// extent, an index is beyond where it is outside every extent.
func judge(v garner.Index, d garner.Dim) (below, beyond bool) {
	if v.Unsigned && v.Bits > math.MaxInt64 {
		return false, true
	}
	n := int64(v.Bits)
	if d.Max == garner.Unbounded {
		return n < 0, false
	}
	most := int64(d.Max)
	return n < 0, n >= most || n < -most
}

// integers calls look with every element of a contiguous tensor of an integer
// dtype, until look returns false.
func integers(t garner.Tensor, look func(i int, v garner.Index) bool) error {
	if d := t.DType(); d == garner.I64 || d == garner.U64 || d == garner.I32 {
		b, err := t.Bytes()
		if err != nil {
			return err
		}
		for i := range t.Len() {
			v := garner.Index{Unsigned: d == garner.U64}
			if d == garner.I32 {
				v.Bits = uint64(int32(binary.LittleEndian.Uint32(b[4*i:])))
			} else {
				v.Bits = binary.LittleEndian.Uint64(b[8*i:])
			}
			if !look(i, v) {
				return nil
			}
		}
		return nil
	}
	for i := range t.Len() {
		v, err := t.Int(i)
		if err != nil || !look(i, v) {
			return err
		}
	}
	return nil
}

// A loss is the first element of a table that does not fit 32 bits.
type loss struct {
	found bool
	at    int64
	text  string
}

// loss finds the first element of a 64-bit table that changes in i32, or in f32
// for f64.
func (l *linter) loss(c *model.Constant) (*loss, error) {
	if done, ok := l.tables[stored(c)]; ok {
		return done, nil
	}
	first := &loss{}
	l.tables[stored(c)] = first
	err := l.pieces(c, func(t garner.Tensor, from int64) (bool, error) {
		b, err := t.Bytes()
		if err != nil {
			return false, err
		}
		for i := range t.Len() {
			if fits32(t.DType(), binary.LittleEndian.Uint64(b[8*i:])) {
				continue
			}
			text, err := t.At(i)
			*first = loss{true, from + int64(i), text}
			return false, err
		}
		return true, nil
	})
	return first, err
}

// fits32 reports whether an element of a 64-bit dtype keeps its value in 32 bits. A
// NaN stays a NaN.
func fits32(d garner.DType, bits uint64) bool {
	switch d {
	case garner.F64:
		v := math.Float64frombits(bits)
		return v != v || float64(float32(v)) == v
	case garner.U64:
		return bits <= math.MaxInt32
	}
	return int64(bits) == int64(int32(bits))
}
