package kernel

import "unsafe"

// Columns are tuples of index values, one value for each of neighbouring
// columns. Places and steps are in bytes.
type Columns struct {
	Values     // of all tuples
	First  int // where the first tuple's values stand in Bytes
	From   int // from one tuple's to the next's
	At     int // where the first tuple goes in dst
	To     int // from one to the next
	Tuples int
	Wide   int // columns
	Stride int // from a row of src to the next, in elements: Wide or more
}

// StripPad is how many bytes behind a strip may be read, where they are there,
// which makes elements of 1 and 2 bytes faster.
const StripPad = 3

// A stripFunc is a form of Strip: n columns, and it returns how many tuples
// came before one that has a value outside.
type stripFunc func(dst, src, values *byte, n, tuples, dim, fromEnd, stride, from, to, ahead int) int

// Strip gathers tuples of neighbours, each from a row of its own: with the j-th
// value v of the t-th tuple,
//
//	dst[At + t·To + j·size : +size] = src[(v·Stride + j)·size : +size]
//
// for elements of size bytes, 1, 2, 4 or 8, of values that are aligned. It
// returns how many tuples came before the first that has a value outside; what
// stands in the places of those from there on is anything. src has Dim rows;
// Ahead counts tuples. A place outside dst panics before anything is moved.
func Strip(dst, src []byte, size int, c Columns) (moved int) {
	if c.Tuples == 0 || c.Wide == 0 {
		return c.Tuples
	}
	last := c.At + (c.Tuples-1)*c.To
	_, _ = dst[min(c.At, last):][:c.Wide*size], dst[max(c.At, last):][:c.Wide*size]
	last = c.First + (c.Tuples-1)*c.From
	_, _ = c.Bytes[min(c.First, last):][:c.Wide*c.Width], c.Bytes[max(c.First, last):][:c.Wide*c.Width]
	strip := src[:c.Dim*c.Stride*size]
	moved, whole := c.Tuples, 0
	if move, stream := stripForm(size, c.Width, c.Dim, c.Stride); move != nil && c.Wide >= 8 && (size > 2 || len(src)-len(strip) >= StripPad) {
		to, from, values := &dst[c.At], unsafe.SliceData(src), &c.Bytes[c.First]
		if c.Stream && stream != nil && uintptr(unsafe.Pointer(to))%64 == 0 && c.To%64 == 0 {
			move = stream
		}
		add := 0
		if c.FromEnd {
			add = c.Dim
		}
		whole = c.Wide &^ 7
		moved = move(to, from, values, whole, c.Tuples, c.Dim, add, c.Stride, c.From, c.To, c.Ahead)
	}
	if whole == c.Wide {
		return moved
	}
	for t := range moved {
		values := unsafe.Pointer(&c.Bytes[c.First+t*c.From])
		ok := false
		if c.Width == 4 {
			ok = stripTuple(dst[c.At+t*c.To:], strip, size, c, whole, unsafe.Slice((*int32)(values), c.Wide))
		} else {
			ok = stripTuple(dst[c.At+t*c.To:], strip, size, c, whole, unsafe.Slice((*int64)(values), c.Wide))
		}
		if !ok {
			return t
		}
	}
	return moved
}

// stripTuple gathers the columns of one tuple from column first on.
func stripTuple[V int32 | int64](dst, strip []byte, size int, c Columns, first int, values []V) bool {
	switch size {
	case 1:
		return stripOf[[1]byte](dst, strip, c, first, values)
	case 2:
		return stripOf[[2]byte](dst, strip, c, first, values)
	case 4:
		return stripOf[[4]byte](dst, strip, c, first, values)
	}
	return stripOf[[8]byte](dst, strip, c, first, values)
}

func stripOf[E [1]byte | [2]byte | [4]byte | [8]byte, V int32 | int64](dst, strip []byte, c Columns, first int, values []V) bool {
	var e E
	to := unsafe.Slice((*E)(unsafe.Pointer(unsafe.SliceData(dst))), c.Wide)
	from := unsafe.Slice((*E)(unsafe.Pointer(unsafe.SliceData(strip))), len(strip)/len(e))
	add := int64(0)
	if c.FromEnd {
		add = int64(c.Dim)
	}
	for j := first; j < len(values); j++ {
		v := int64(values[j])
		v += v >> 63 & add
		if uint64(v) >= uint64(c.Dim) {
			return false
		}
		to[j] = from[int(v)*c.Stride+j]
	}
	return true
}
