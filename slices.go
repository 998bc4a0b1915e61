package garner

import (
	"context"
	"iter"

	"github.com/garner-go/garner/internal/exec"
	"github.com/garner-go/garner/internal/kernel"
)

// Lookup copies rows of a table that lies contiguous in a slice, as an
// embedding does:
//
//	out[i·width : (i+1)·width] = table[ids[i]·width : (ids[i]+1)·width]
//
// table must hold a whole number of rows of width elements, and out exactly
// len(ids) rows; other lengths are an ErrShape. out must not share memory with
// table or ids (ErrOverlap). An id outside 0 … rows-1 is an *IndexError; the
// contents of out are then unspecified.
//
// Lookup copies up to 512 KiB of rows on the caller's core, without allocating.
// A larger result is a Gather on all cores.
func Lookup[T Element, I Integer](table []T, width int, ids []I, out []T) error {
	switch {
	case width <= 0:
		return shapeError(KindMismatch, "rows of %d elements; a row has one or more", width)
	case len(table)%width != 0:
		return shapeError(KindMismatch, "a table of %d elements holds no whole number of rows of %d", len(table), width)
	case len(out)%width != 0 || len(out)/width != len(ids):
		return shapeError(KindMismatch, "%d ids ask for as many rows of %d elements, and out holds %d elements", len(ids), width, len(out))
	case sharesMemory(out, table): // R.17
		return errorf(ErrOverlap, "the output shares memory with an input, table; look up into memory of its own")
	case sharesMemory(out, ids): // R.17
		return errorf(ErrOverlap, "the output shares memory with an input, ids; look up into memory of its own")
	}
	rows := len(table) / width
	size := DTypeOf[T]().Bits() / 8
	if size == 0 {
		size = 16 // a string's header
	}
	if len(out) <= exec.Tuned.AloneBytes/size {
		prefetched, ahead := len(ids), 0 // prefetch distance in rows, for a table larger than NearBytes
		if len(table) > exec.Tuned.NearBytes/size {
			prefetched, ahead = 0, max(2, kernel.BurstLines*64/max(64, width*size))
		}
		for i, id := range ids {
			if uint64(id) >= uint64(rows) {
				return refusedID(ids, rows)
			}
			for ; prefetched < min(i+ahead+1, len(ids)); prefetched++ {
				if next := ids[prefetched]; uint64(next) < uint64(rows) {
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

// lookup is the gather of Lookup: slices along the first axis.
type lookup struct{}

func (lookup) Lower(l *Lowering) {
	l.Gather()
	l.Tuples()
	l.Copy()
}

// LookupRows copies rows of a table whose rows are separate slices:
//
//	out[i] = table[ids[i]]
//
// The rows of out lie one after another in one new allocation. They share no
// memory with the table, and two rows of one id share none with each other;
// appending to a row does not write into the next. Rows of the table may differ
// in length. An id outside 0 … len(table)-1 is an *IndexError; rows whose
// lengths overflow an int are an ErrShape. LookupRows runs on the caller's
// core.
func LookupRows[S ~[]T, T any, I Integer](table []S, ids []I) (out []S, err error) {
	n := 0
	for _, id := range ids {
		if uint64(id) >= uint64(len(table)) {
			return nil, refusedID(ids, len(table))
		}
		sum := n + len(table[id])
		if sum < n { // many ids of one long row can overflow
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

// refusedID returns the error of the first id that is not below n.
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

// Rows returns an iterator over the rows of a tensor, which lie along its last
// dimension, in row-major order of the other dimensions. Rows are numbered from
// 0: a tensor of rank 1 is one row, and one of rank 3 has shape[0]·shape[1]
// rows. A row shares the tensor's memory: writing to it writes to the tensor,
// appending to it does not.
//
// T must be exactly the element type (ErrDType). The last dimension must be
// contiguous; the others may have any strides. A tensor of rank 0, a last
// dimension with gaps and memory that is not aligned for T are an ErrShape;
// Clone mends the last two. A row of Volatile memory that vanishes ends the
// process; Clone such a tensor first.
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
	// The memory from the lowest element to the highest.
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

// ToRows copies a tensor into slices, one per row as Rows defines them. They
// lie one after another in one new allocation, and appending to one does not
// write into the next. t may be any view of rank 1 or more (ErrShape); if its
// rows have no elements, it may have up to 2^24 rows (ErrShape). T must be
// exactly the element type (ErrDType). Volatile memory that has vanished is an
// ErrFault.
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
		// A file header of a few bytes can declare any number of rows without elements.
		return nil, shapeError(KindMismatch, "shape %s has %d rows, and none of them an element; Reshape it", t.shape, n)
	}
	out := make([][]T, 0, n)
	for _, row := range rows {
		out = append(out, row)
	}
	return out, nil
}

// FromRows copies slices of one length into a new matrix of shape [len(rows),
// length]; no rows give [0, 0]. A row of another length is an ErrShape that
// names it.
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

// FromMatrix returns a tensor [rows, cols] that shares the memory of a matrix
// in BLAS form: element (i, j) is data[i·stride+j], with stride ≥ cols. A
// gather neither reads nor writes the elements between the rows. The arguments
// are the fields of gonum's blas64.General, which RawMatrix of a mat.Dense
// returns, and of its counterparts for float32 and complex numbers; with cols =
// 1, those of a vector.
//
// Negative extents, a stride below cols, and data that ends before the last row
// are an ErrShape.
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
