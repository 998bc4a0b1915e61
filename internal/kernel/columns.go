package kernel

import (
	"runtime"
	"unsafe"
)

// Columns are index tuples with one value per column, where the columns are
// adjacent in dst. Offsets and distances are in bytes, except Stride and Lane,
// which are in elements of src.
type Columns struct {
	Values     // of all tuples; Gather ignores Ahead
	First  int // offset of the first tuple's values in Bytes
	From   int // bytes in Bytes between two tuples
	At     int // offset of the first tuple's elements in dst
	To     int // bytes in dst between two tuples
	Data   int // bytes in src between the bases of two tuples
	Tuples int // number of tuples
	Wide   int // columns per tuple
	Stride int // elements of src between two positions
	Lane   int // elements of src between two columns
	Asked  int // prefetch distance of the values, in tuples
	Lines  int // cache lines of src that are prefetched with each tuple, in memory order
	Next   int // bytes from src to the first line that is prefetched with the first tuple
	Skip   int // bytes between the first prefetched lines of two tuples
}

// columnsArgs are the arguments of a columnsFunc. Distances are in bytes, except
// stride and lane, which are in elements of src.
type columnsArgs struct {
	dst, src, values *byte // of the first tuple
	n                int   // columns per tuple
	tuples           int   // at least 1
	dim              int   // the valid values are 0 … dim-1
	fromEnd          int   // added to negative values: dim, or 0
	stride           int   // between two positions in src
	lane             int   // between two columns in src
	from             int   // between two tuples in values
	to               int   // between two tuples in dst
	data             int   // between the bases of two tuples in src
	ahead            int   // prefetch distance of the values, or, in a flat Ahead form, of the elements, in bytes of values
	line             int   // from src to the first line that is prefetched with the first tuple
	lineStep         int   // between the first prefetched lines of two tuples
	lines            int   // lines to prefetch with each tuple
	perEight         int   // lines to prefetch with each eight columns
	limit            int   // largest offset in src at which 4 bytes may be read
}

// A columnsFunc is a form of Gather in assembly, for one size of element and one
// width of value. It processes eight columns at a time, stops before the eight
// that contain an invalid value, and returns how many elements it has moved.
type columnsFunc func(*columnsArgs) (moved int)

// call runs the form.
func (f columnsFunc) call(a *columnsArgs) int { return f(noescape(a)) }

// Gather moves the elements of adjacent columns, selected by index values: for
// the j-th value v of the t-th tuple,
//
//	dst[At + t·To + j·size : +size] = src[t·Data + (v·Stride + j·Lane)·size : +size]
//
// An element has size bytes: 1, 2, 4 or 8. Gather stops at the first tuple with an
// invalid value and returns how many tuples come before it; the contents of the
// later tuples' places in dst are then undefined. Gather panics, before it moves
// anything, if a place lies outside dst or a valid value could address an element
// outside src. It allocates nothing.
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
	_, _ = src[(c.Tuples-1)*c.Data:][:((c.Dim-1)*c.Stride+(c.Wide-1)*c.Lane+1)*size], src[min(c.Data, c.Stride, c.Lane, 0):] // panics for a negative one
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
	return move.call(&columnsArgs{
		dst: to, src: unsafe.SliceData(src), values: &c.Bytes[c.First], n: c.Wide, tuples: c.Tuples,
		dim: c.Dim, fromEnd: add, stride: c.Stride, lane: c.Lane, from: c.From, to: c.To, data: c.Data,
		ahead: c.Asked * c.From, line: c.Next, lineStep: c.Skip, lines: lines, perEight: per, limit: len(src) - 4,
	}) / c.Wide
}

// gather is the definition of Gather, against which its forms are tested.
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
				line := max(0, c.Next+t*c.Skip) // the tuple's first line to prefetch
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

// BurstLines is how many cache lines are prefetched at once. A core has a few
// dozen line fill buffers: loads behind a longer burst wait for a free one.
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

// ask prefetches b; the generic form, which has no prefetch, reads it.
func ask(b []byte) {
	if form >= formAMD64 {
		Prefetch(b)
	} else {
		touch(b)
	}
}

// touch loads one byte of every cache line of b. No later instruction depends on
// the values, so the loads overlap; their order trains the hardware prefetcher.
func touch(b []byte) {
	var x byte
	for i := 0; i < len(b); i += 64 {
		x ^= b[i]
	}
	runtime.KeepAlive(x)
}

// Bytes returns the memory of v, without a copy.
func Bytes[T int64 | float32](v []T) []byte {
	return unsafe.Slice((*byte)(unsafe.Pointer(unsafe.SliceData(v))), len(v)*int(unsafe.Sizeof(*new(T))))
}

// Integers returns the first n integers of b, which begins at a multiple of 8 bytes,
// without a copy.
func Integers(b []byte, n int) []int64 {
	return unsafe.Slice((*int64)(unsafe.Pointer(unsafe.SliceData(b[:n*8]))), n)
}
