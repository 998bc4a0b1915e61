package garner

import (
	"context"
	"iter"

	"github.com/garner-go/garner/internal/exec"
	"github.com/garner-go/garner/internal/kernel"
)

// An Integer is a Go type whose slices are indices without copying, a type of
// one's own such as TokenID too.
type Integer interface {
	~int8 | ~int16 | ~int32 | ~int64 | ~int | ~uint8 | ~uint16 | ~uint32 | ~uint64 | ~uint
}

// Lookup copies rows of a table that lies flat in a slice, as an embedding does:
//
//	out[i·width : (i+1)·width] = table[ids[i]·width : (ids[i]+1)·width]
//
// table holds any whole number of rows of width elements, and out exactly
// len(ids) rows; other lengths are an ErrShape. out may share no memory with
// table or ids (ErrOverlap). An id that the table does not have, a negative one
// too, is an *IndexError, and the contents of out are then unspecified.
//
// Up to 512 KiB of rows are copied on the caller's core, without an allocation;
// more are a Gather on all of them.
func Lookup[T Element, I Integer](table []T, width int, ids []I, out []T) error {
	switch {
	case width <= 0:
		return shapeError(KindMismatch, "rows of %d elements; a row has one or more", width)
	case len(table)%width != 0:
		return shapeError(KindMismatch, "a table of %d elements holds no whole number of rows of %d", len(table), width)
	case len(out)%width != 0 || len(out)/width != len(ids):
		return shapeError(KindMismatch, "%d ids ask for as many rows of %d elements, and out holds %d elements", len(ids), width, len(out))
	case sharesMemory(out, table) || sharesMemory(out, ids): // R.17
		return errorf(ErrOverlap, "the output shares memory with an input; look up into memory of its own")
	}
	rows := len(table) / width
	size := DTypeOf[T]().Bits() / 8
	if size == 0 {
		size = 16 // a string's header
	}
	if len(out) <= exec.Tuned.AloneBytes/size {
		asked, ahead := len(ids), 0 // a far row is asked for so many rows before its turn
		if len(table) > exec.Tuned.NearBytes/size {
			asked, ahead = 0, max(2, kernel.BurstLines*64/max(64, width*size))
		}
		for i, id := range ids {
			if uint64(id) >= uint64(rows) {
				return refusedID(ids, rows)
			}
			for ; asked < min(i+ahead+1, len(ids)); asked++ {
				if next := ids[asked]; uint64(next) < uint64(rows) {
					kernel.Prefetch(table[int(next)*width:][:width])
				}
			}
			from := int(id) * width
			copy(out[i*width:][:width], table[from:])
		}
		return nil
	}
	return GatherInto(context.Background(), lookup{}, Of(table, rows, width), ofIntegers(ids), Of(out, len(ids), width))
}

// lookup is the gather that Lookup is: slices along the first axis.
type lookup struct{}

func (lookup) Lower(l *Lowering) {
	l.Gather()
	l.Tuples()
	l.Copy()
}

// LookupRows copies rows of a table whose rows are slices of their own:
//
//	out[i] = table[ids[i]]
//
// The rows of out stand one after the other in one new piece of memory, so that
// they share none with the table and two of the same id none with each other;
// appending to one does not write into the next. Rows of the table may differ in
// length. An id that the table does not have, a negative one too, is an
// *IndexError. It runs on the caller's core.
func LookupRows[S ~[]T, T any, I Integer](table []S, ids []I) (out []S, err error) {
	n := 0
	for _, id := range ids {
		if uint64(id) >= uint64(len(table)) {
			return nil, refusedID(ids, len(table))
		}
		sum := n + len(table[id])
		if sum < n { // as rows that are one and the same slice can
			return nil, shapeError(KindMismatch, "the rows of %d ids hold more elements than an int can count; look up fewer at a time", len(ids))
		}
		n = sum
	}
	memory := make(S, 0, n)
	out = make([]S, len(ids))
	for i, id := range ids {
		from := len(memory)
		memory = append(memory, table[id]...)
		out[i] = memory[from:len(memory):len(memory)]
	}
	return out, nil
}

// refusedID is the error of the first id that is not below n.
func refusedID[I Integer](ids []I, n int) error {
	var bad *IndexError
	for i, id := range ids {
		if uint64(id) < uint64(n) {
			continue
		}
		if bad == nil {
			bad = &IndexError{Position: []int{i}, Value: Index{Bits: uint64(id), Unsigned: ^I(0) > 0}, Dim: n, Total: len(ids)}
		} else {
			bad.Others++
		}
	}
	return bad
}

// Rows walks over the rows of a tensor, those along its last dimension, in
// row-major order of the others: i counts from 0, a tensor of rank 1 is one row,
// and one of rank 3 has shape[0]·shape[1] of them. Nothing is copied: a row
// shares the tensor's memory up to its own end, so that writing to it writes to
// the tensor and appending to it does not.
//
// T must be the element type exactly (ErrDType). The last dimension must lie
// without gaps, the others may have any strides; a tensor of rank 0, one with
// such gaps and memory that T cannot be aligned to are an ErrShape. Clone mends
// the last two. Rows of Volatile memory end the process where it vanishes; Clone
// mends that too.
func Rows[T Element](t Tensor) (iter.Seq2[int, []T], error) {
	rank := len(t.shape)
	if DTypeOf[T]() != t.dtype {
		return nil, errorf(ErrDType, "a tensor of %s has no rows of %s", t.dtype, DTypeOf[T]())
	}
	if rank == 0 {
		return nil, shapeError(KindRank, "a tensor of rank 0 has no rows; Reshape it")
	}
	outer, width := t.shape[:rank-1], t.shape[rank-1]
	if width > 1 && t.strides[rank-1] != 1 {
		return nil, shapeError(KindMismatch, "the rows of a view with strides %v have gaps; Clone it first", t.strides)
	}
	count, ok := outer.Len()
	if !ok {
		return nil, shapeError(KindMismatch, "shape %s has more rows than an int can count", t.shape)
	}
	// All that lies between the first element and the last.
	var all []T
	lo, hi, _ := t.extent()
	if t.Len() > 0 {
		span := t
		span.mem.Offset, span.shape, span.strides = lo, Shape{hi - lo + 1}, []int{1}
		var err error
		if all, err = Values[T](span); err != nil {
			return nil, err
		}
	}
	return func(yield func(int, []T) bool) {
		var c [MaxRank]int
		at := t.mem.Offset - lo
		for i := range count {
			row := all[:0:0]
			if len(all) > 0 {
				row = all[at : at+width : at+width]
			}
			if !yield(i, row) {
				return
			}
			for axis := len(outer) - 1; axis >= 0; axis-- {
				at += t.strides[axis]
				if c[axis]++; c[axis] < outer[axis] {
					break
				}
				at -= c[axis] * t.strides[axis]
				c[axis] = 0
			}
		}
	}, nil
}

// ToRows copies a tensor into slices, one for each of its rows as Rows has them.
// They stand one after the other in one new piece of memory, and appending to
// one does not write into the next. Any view will do, of rank 1 or more
// (ErrShape), with up to 2^24 rows where these have no elements (ErrShape too);
// T must be the element type exactly (ErrDType). Volatile memory that has
// vanished is an ErrFault.
func ToRows[T Element](t Tensor) ([][]T, error) {
	if DTypeOf[T]() == t.dtype && len(t.shape) > 0 {
		var err error
		if t, err = t.Clone(); err != nil {
			return nil, err
		}
	}
	rows, err := Rows[T](t)
	if err != nil {
		return nil, err
	}
	n, _ := t.shape[:len(t.shape)-1].Len()
	const mostEmpty = 1 << 24
	if t.Len() == 0 && n > mostEmpty {
		// A header of some bytes can ask for any number of rows without elements.
		return nil, shapeError(KindMismatch, "shape %s has %d rows, and none of them an element; Reshape it", t.shape, n)
	}
	out := make([][]T, 0, n)
	for _, row := range rows {
		out = append(out, row)
	}
	return out, nil
}

// FromRows copies slices of one length into a matrix [len(rows), that length];
// no rows make [0, 0]. A row of another length is an ErrShape that names it.
func FromRows[S ~[]T, T Element](rows []S) (Tensor, error) {
	width := 0
	for i, row := range rows {
		if i == 0 {
			width = len(row)
		}
		if len(row) != width {
			return Tensor{}, shapeError(KindMismatch, "row %d has %d elements and row 0 has %d; a matrix has rows of one length", i, len(row), width)
		}
	}
	t, err := New(DTypeOf[T](), len(rows), width)
	if err != nil {
		return Tensor{}, err
	}
	to, err := Rows[T](t)
	if err != nil {
		return Tensor{}, err
	}
	for i, row := range to {
		copy(row, rows[i])
	}
	return t, nil
}

// FromMatrix makes a tensor [rows, cols] of a matrix as the BLAS keep it,
// without copying: element (i, j) stands at data[i·stride+j], stride being cols
// or more. What lies between the rows is never looked at, nor written to where
// the tensor is the output of a gather. The arguments are the fields of gonum's
// blas64.General, which RawMatrix of a mat.Dense answers, and of its kin for
// float32 and complex numbers; with cols 1, those of a vector.
//
// Negative extents, a stride below cols and data that ends before the last row
// does are an ErrShape.
func FromMatrix[T Element](data []T, rows, cols, stride int) (Tensor, error) {
	if rows > 0 && cols > 0 {
		last, ok := mul(rows-1, max(stride, 0))
		if stride < cols || !ok || last > len(data)-cols {
			return Tensor{}, shapeError(KindMismatch, "%d elements are no matrix of %d rows and %d columns with a stride of %d: the stride is the columns or more, and the last row ends in the elements", len(data), rows, cols, stride)
		}
	}
	t, err := FromSlice(data, len(data))
	if err != nil {
		return Tensor{}, err
	}
	t.shape, t.strides = Shape{rows, cols}, []int{stride, 1}
	_, err = t.checkShape()
	if err != nil {
		return Tensor{}, err
	}
	return t, nil
}
