package kernel

import (
	"runtime"
	"unsafe"
)

// Columns are tuples of index values, one value for each of neighbouring
// columns. Places and steps are in bytes, but for Stride and Lane.
type Columns struct {
	Values     // of all tuples; Ahead is not looked at
	First  int // where the first tuple's values stand in Bytes
	From   int // from one tuple's to the next's
	At     int // where the first tuple goes in dst
	To     int // from one to the next
	Data   int // from what one tuple counts from in src to what the next does
	Tuples int
	Wide   int // columns
	Stride int // from one position to the next in src, in elements
	Lane   int // from one column to the next in src, in elements
	Asked  int // how many tuples before its turn a tuple's values are asked for
	Lines  int // how many lines of src are asked for with each tuple, in order
	Next   int // from what the first tuple counts from to the first of its lines
	Skip   int // from a tuple's first line to the next's
}

// A columnsFunc is a form of Gather: it returns how many elements came before
// the eight columns that have a value outside. With each eight columns, per
// lines of those that are asked for are. The last 4 bytes of src that may be
// read begin at limit.
type columnsFunc func(dst, src, values *byte, n, tuples, dim, fromEnd, stride, lane, from, to, data, later, next, step, lines, per, limit int) int

// Gather moves tuples of neighbours straight from their index values: with the
// j-th value v of the t-th tuple,
//
//	dst[At + t·To + j·size : +size] = src[t·Data + (v·Stride + j·Lane)·size : +size]
//
// for elements of size bytes, 1, 2, 4 or 8, of values that are aligned. It
// returns how many tuples came before the first that has a value outside; what
// stands in the places of those from there on is anything. A place outside dst,
// or an element that could lie outside src, panics before anything is moved.
func Gather(dst, src []byte, size int, c Columns) (moved int) {
	if c.Tuples == 0 || c.Wide == 0 {
		return c.Tuples
	}
	last := c.At + (c.Tuples-1)*c.To
	_, _ = dst[min(c.At, last):][:c.Wide*size], dst[max(c.At, last):][:c.Wide*size]
	last = c.First + (c.Tuples-1)*c.From
	_, _ = c.Bytes[min(c.First, last):][:c.Wide*c.Width], c.Bytes[max(c.First, last):][:c.Wide*c.Width]
	if c.Dim == 0 {
		return 0
	}
	_, _ = src[(c.Tuples-1)*c.Data:][:((c.Dim-1)*c.Stride+(c.Wide-1)*c.Lane+1)*size], src[min(c.Data, c.Stride, c.Lane, 0):] // none is below zero
	move, stream := columnsForm(size, c.Width, c.Dim, c.Stride)
	if c.Stride == 1 && c.Lane == 0 && c.Lines == 0 {
		move, _, stream = flatForm(size, c.Width)
	}
	if move == nil || len(src) < 4 {
		if c.Width == 4 {
			return gather[int32](dst, src, size, c)
		}
		return gather[int64](dst, src, size, c)
	}
	to := &dst[c.At]
	if c.Stream && stream != nil && uintptr(unsafe.Pointer(to))%64 == 0 && c.To%64 == 0 {
		move = stream
	}
	add, turns := 0, c.Wide/8
	if c.FromEnd {
		add = c.Dim
	}
	per := 0
	if turns > 0 {
		per = (c.Lines + turns - 1) / turns
	}
	lines := c.Lines
	if per == 0 {
		lines = 0
	}
	return move(to, unsafe.SliceData(src), &c.Bytes[c.First], c.Wide, c.Tuples, c.Dim, add, c.Stride, c.Lane,
		c.From, c.To, c.Data, c.Asked*c.From, c.Next, c.Skip, lines, per, len(src)-4) / c.Wide
}

// gather is the definition of Gather.
func gather[V int32 | int64](dst, src []byte, size int, c Columns) int {
	switch size {
	case 1:
		return gatherOf[[1]byte, V](dst, src, c)
	case 2:
		return gatherOf[[2]byte, V](dst, src, c)
	case 4:
		return gatherOf[[4]byte, V](dst, src, c)
	}
	return gatherOf[[8]byte, V](dst, src, c)
}

func gatherOf[E [1]byte | [2]byte | [4]byte | [8]byte, V int32 | int64](dst, src []byte, c Columns) int {
	var e E
	size, add, reach := len(e), int64(0), (c.Dim-1)*c.Stride+(c.Wide-1)*c.Lane+1
	if c.FromEnd {
		add = int64(c.Dim)
	}
	flat := c.Stride == 1 && c.Lane == 0 && (c.To|c.Data|c.At)%size == 0 && Aligned(dst, size) && Aligned(src, size)
	piece := c.Wide
	if form >= formAMD64 && c.Lines > BurstLines {
		piece = max(8, c.Wide*BurstLines/c.Lines)
	}
	for t := range c.Tuples {
		to := dst[c.At+t*c.To:][:c.Wide*size]
		from := unsafe.Slice((*E)(unsafe.Pointer(&src[t*c.Data])), reach)
		values := unsafe.Slice((*V)(unsafe.Pointer(&c.Bytes[c.First+t*c.From])), c.Wide)
		for first := 0; first < c.Wide; first += piece {
			last := min(first+piece, c.Wide)
			if c.Lines > 0 {
				line := max(0, c.Next+t*c.Skip) // the first of this tuple's
				ask(src[min(line+c.Lines*first/c.Wide*64, len(src)):min(line+c.Lines*last/c.Wide*64, len(src))])
			}
			place := unsafe.Pointer(&to[first*size])
			if flat {
				if elementsOf(values[first:last], place, unsafe.Pointer(&from[0]), size, c.Dim, add) < last-first {
					return t
				}
			} else if !columnsOf(unsafe.Slice((*E)(place), last-first), from[first*c.Lane:], values[first:last], c, add) {
				return t
			}
		}
	}
	return c.Tuples
}

// BurstLines is how many lines are asked for at once: what comes behind a longer
// burst waits. What is read is best read all in order.
const BurstLines = 32

func columnsOf[E [1]byte | [2]byte | [4]byte | [8]byte, V int32 | int64](to, from []E, values []V, c Columns, add int64) bool {
	to, stride, lane, column := to[:len(values)], c.Stride, c.Lane, 0
	for j, value := range values {
		v := int64(value)
		v += v >> 63 & add
		if uint64(v) >= uint64(c.Dim) {
			return false
		}
		to[j] = from[int(v)*stride+column]
		column += lane
	}
	return true
}

// ask asks the memory for b, or, where that cannot be said, reads it.
func ask(b []byte) {
	if form >= formAMD64 {
		Prefetch(b)
	} else {
		touch(b)
	}
}

// touch reads a byte of every line of b, which is read soon: a processor need
// not wait for what nobody uses, and sees that the lines come in order.
func touch(b []byte) {
	var x byte
	for i := 0; i < len(b); i += 64 {
		x ^= b[i]
	}
	runtime.KeepAlive(x)
}

// Bytes is integers as they lie in memory.
func Bytes(v []int64) []byte {
	return unsafe.Slice((*byte)(unsafe.Pointer(unsafe.SliceData(v))), 8*len(v))
}
