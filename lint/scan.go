package lint

import (
	"cmp"
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"math"
	"slices"

	"github.com/garner-go/garner"
	"github.com/garner-go/garner/internal/mapped"
	"github.com/garner-go/garner/internal/names"
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
	if size := int64(c.Spec.DType.Bits() / 8); c.Encoded && size > 0 { // decoded a piece at a time
		err := c.Pieces(l.ctx, func(at int64, b []byte) error {
			t, err := garner.FromBytes(c.Spec.DType, b, len(b)/int(size))
			if err != nil {
				return err
			}
			if more, err := look(t, at/size); err != nil || !more {
				return cmp.Or(err, errSeen)
			}
			return nil
		})
		if err == errSeen {
			return nil
		}
		return err
	}
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

// errSeen ends pieces.
var errSeen = errors.New("enough is seen")

// mostRead is how many bytes lint reads of the constants that the gathers of a model
// have as indices and as tables, together: 64 MiB take a tenth of a second, and the pages
// of a mapped file stay in memory. A sparse file of a few KB can hold more than any
// machine reads.
const mostRead = 64 << 20

// spareRead is how many bytes lint reads at least of the other constants, which indices
// are computed from, where those of the gathers take all of mostRead.
const spareRead = 8 << 20

// An allowance says which constants lint reads. What it says of a constant once holds for
// the whole model.
type allowance struct {
	left  int64
	reads map[any]bool // by stored
}

// allowanceOf allows the indices of the gathers of a model, the ends of their bags, and
// their tables of 64-bit elements, the smallest first, as long as all of them take no more
// than mostRead.
func allowanceOf(m *model.Model, constant func(*model.Value) *model.Constant) *allowance {
	var direct []*model.Constant
	for n := range m.Gathers() {
		if c := constant(input(n, 1)); c != nil {
			direct = append(direct, c)
		}
		if c := tableOf(n, constant); c != nil {
			direct = append(direct, c)
		}
		ends, _ := endsOf(n)
		if c := constant(ends); c != nil {
			direct = append(direct, c)
		}
	}
	slices.SortStableFunc(direct, func(a, b *model.Constant) int { return cmp.Compare(bytesOf(a), bytesOf(b)) })
	a := &allowance{mostRead, map[any]bool{}}
	for _, c := range direct {
		a.allows(c)
	}
	a.left = max(a.left, spareRead)
	return a
}

// allows reports whether lint reads a constant.
func (a *allowance) allows(c *model.Constant) bool {
	at := stored(c)
	if said, ok := a.reads[at]; ok {
		return said
	}
	size := bytesOf(c)
	ok := size <= a.left
	if ok {
		a.left -= size
	}
	a.reads[at] = ok
	return ok
}

// bytesOf gives the size of a constant in bytes; the greatest where that overflows.
func bytesOf(c *model.Constant) int64 {
	if size, ok := c.Bytes(); ok {
		return size
	}
	return math.MaxInt64
}

// tableOf gives the constant of 64-bit elements that a gather has as its table; nil where
// it has none.
func tableOf(n *model.Node, constant func(*model.Value) *model.Constant) *model.Constant {
	data := input(n, 0)
	if c := constant(data); c != nil && c.Spec.DType == data.Spec.DType && is64Bit(c.Spec.DType) {
		return c
	}
	return nil
}

// stored tells constants apart by what lint reads of them: two of the same bytes of a
// file are one.
func stored(c *model.Constant) any {
	if c.File == "" || len(c.More) > 0 {
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

// add adds the indices of another tally.
func (t *tally) add(other tally) {
	n := t.count + other.count
	if t.count == 0 || other.count > 0 && other.at < t.at {
		*t = other
	}
	t.count = n
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

// A constantScan is what one reading of an index constant found for every gather that
// has it, by the length of the gather's tuples.
type constantScan struct {
	total int64
	by    map[int][]axisScan
}

// An axisScan counts the indices that are one component of a tuple. The gathers of the
// constant address axes of some extents, which are sorted. The other lists have a tally
// for each.
type axisScan struct {
	extents  []uint64
	negative []tally // from -extent to -1
	below    []tally // below -extent
	beyond   []tally // at the extent or beyond
}

// anyExtent stands for an unknown extent, which has every index of 64 bits with a sign.
const anyExtent = 1 << 63

func extentOf(d garner.Dim) uint64 {
	if d.Max == garner.Unbounded {
		return anyExtent
	}
	return uint64(d.Max)
}

// add counts an index. sum completes the counts.
func (a *axisScan) add(v garner.Index, at int64, component int) {
	one := tally{1, at, v, component}
	if v.Unsigned || int64(v.Bits) >= 0 {
		if v.Bits >= a.extents[0] {
			i, exactly := slices.BinarySearch(a.extents, v.Bits)
			if !exactly {
				i--
			}
			a.beyond[i].add(one)
		}
		return
	}
	i, _ := slices.BinarySearch(a.extents, -v.Bits)
	if i > 0 {
		a.below[i-1].add(one)
	}
	if i < len(a.extents) {
		a.negative[i].add(one)
	}
}

// sum adds to the tallies of each extent those that count for it too.
func (a *axisScan) sum() {
	for i := 1; i < len(a.extents); i++ {
		a.negative[i].add(a.negative[i-1])
	}
	for i := len(a.extents) - 1; i > 0; i-- {
		a.below[i-1].add(a.below[i])
		a.beyond[i-1].add(a.beyond[i])
	}
}

// unreadText names a constant that lint does not read, and says so.
func unreadText(c *model.Constant) string {
	return fmt.Sprintf("the constant %s, whose %s lint does not read,", names.Quote(c.Name), units.Bytes(bytesOf(c)))
}

// scanned gives the constant that scan reads, and the extents of the axes that its
// components address; false where there is none, or where the axes are unknown.
func (s *subject) scanned() (c *model.Constant, extents []uint64, ok bool) {
	c = s.constant(s.indices)
	dims := s.addressed()
	if c == nil || dims == nil || !c.Spec.DType.IsInteger() || !s.allowed.allows(c) {
		return nil, nil, false
	}
	for _, d := range dims {
		extents = append(extents, extentOf(d))
	}
	return c, extents, true
}

// scan counts the indices of a gather whose indices are a constant; nil where scanned
// gives none. It reads the constant once for all gathers of the model.
func (s *subject) scan() (*indexScan, error) {
	c, extents, ok := s.scanned()
	if !ok {
		return nil, nil
	}
	read := s.indexConstants()[stored(c)]
	if read.total == 0 {
		if err := s.readIndices(c, read); err != nil {
			return nil, err
		}
	}
	scan := &indexScan{total: read.total}
	for i, e := range extents {
		a := &read.by[len(extents)][i]
		j, _ := slices.BinarySearch(a.extents, e)
		scan.negative.add(a.negative[j])
		scan.outside.add(a.below[j])
		scan.outside.add(a.beyond[j])
	}
	return scan, nil
}

// indexConstants lists the index constants of the model, as stored, with the extents
// that all gathers address by them.
func (l *linter) indexConstants() map[any]*constantScan {
	if l.indices != nil {
		return l.indices
	}
	l.indices = map[any]*constantScan{}
	for n := range l.model.Gathers() {
		s, err := l.subject(n)
		if err != nil {
			continue // Model says it
		}
		c, extents, ok := s.scanned()
		if !ok {
			continue
		}
		read := l.indices[stored(c)]
		if read == nil {
			read = &constantScan{by: map[int][]axisScan{}}
			l.indices[stored(c)] = read
		}
		if read.by[len(extents)] == nil {
			read.by[len(extents)] = make([]axisScan, len(extents))
		}
		for i, e := range extents {
			a := &read.by[len(extents)][i]
			a.extents = append(a.extents, e)
		}
	}
	for _, read := range l.indices {
		for _, axes := range read.by {
			for i := range axes {
				a := &axes[i]
				slices.Sort(a.extents)
				a.extents = slices.Compact(a.extents)
			}
		}
	}
	return l.indices
}

// readIndices counts the indices of a constant.
func (l *linter) readIndices(c *model.Constant, read *constantScan) error {
	for _, axes := range read.by {
		for i := range axes {
			a := &axes[i]
			n := len(a.extents)
			a.negative, a.below, a.beyond = make([]tally, n), make([]tally, n), make([]tally, n)
		}
	}
	err := l.pieces(c, func(t garner.Tensor, from int64) (bool, error) {
		read.total = from + int64(t.Len())
		for k, axes := range read.by {
			if k == 0 {
				continue // empty tuples address no axis
			}
			err := integers(t, func(i int, v garner.Index) bool {
				at := from + int64(i)
				component := int(at % int64(k))
				axes[component].add(v, at, component)
				return true
			})
			if err != nil {
				return false, err
			}
		}
		return true, nil
	})
	for _, axes := range read.by {
		for i := range axes {
			axes[i].sum()
		}
	}
	return err
}

// wideIntegers read an element of a byte or more, many times as fast as Tensor.Int.
var wideIntegers = map[garner.DType]func(b []byte) uint64{
	garner.I8:  func(b []byte) uint64 { return uint64(int8(b[0])) },
	garner.U8:  func(b []byte) uint64 { return uint64(b[0]) },
	garner.I16: func(b []byte) uint64 { return uint64(int16(binary.LittleEndian.Uint16(b))) },
	garner.U16: func(b []byte) uint64 { return uint64(binary.LittleEndian.Uint16(b)) },
	garner.I32: func(b []byte) uint64 { return uint64(int32(binary.LittleEndian.Uint32(b))) },
	garner.U32: func(b []byte) uint64 { return uint64(binary.LittleEndian.Uint32(b)) },
	garner.I64: binary.LittleEndian.Uint64,
	garner.U64: binary.LittleEndian.Uint64,
}

// integers calls look with every element of a contiguous tensor of an integer
// dtype, until look returns false.
func integers(t garner.Tensor, look func(i int, v garner.Index) bool) error {
	if wide := wideIntegers[t.DType()]; wide != nil {
		b, err := t.Bytes()
		if err != nil {
			return err
		}
		width, unsigned := t.DType().Bits()/8, t.DType().IsUnsigned()
		for i := range t.Len() {
			if !look(i, garner.Index{Bits: wide(b[i*width:]), Unsigned: unsigned}) {
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
