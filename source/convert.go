package source

import (
	"context"
	"io"
	"runtime"
	"slices"
	"sync"

	"github.com/garner-go/garner"
	"github.com/garner-go/garner/internal/convert"
	"github.com/garner-go/garner/internal/mapped"
)

// Convert returns a view of an array whose elements are converted as they are
// fetched: from any float dtype (f64, f32, f16, bf16, the 8-bit floats, f4e2m1,
// nf4) to f32, f16, bf16 or f64. It reads nothing.
//
// A value that the new dtype has is exact. Others round to the nearest, of two as
// near the even one, and beyond the greatest finite value to infinity. A NaN becomes
// quiet, and keeps its sign and what fits of its payload.
//
// The view has the dims and the strides of the array, in elements. That of a File is
// a File, in the same ways and as fast: each row is converted from the mapping, or
// from the buffer that it was read into, to its place. So are the rows of an Array of
// Memory; those of another Array are fetched into scratch of up to 4 MiB. The
// view's Changed and Close are the array's: to close either closes both. An array
// that has the dtype already is returned itself.
//
// A dtype that cannot be converted is an ErrDType, as is a dtype to which none can;
// more bytes than an int counts and a nil Array are an ErrShape, and a closed File is
// an fs.ErrClosed.
func Convert(a Array, to garner.DType) (Array, error) {
	h, err := held(a)
	if err != nil {
		return nil, err
	}
	defer h.Release()
	spec := a.Spec()
	if spec.DType == to {
		return a, nil
	}
	run, ok := convert.Between(spec.DType, to)
	if !ok {
		return nil, garner.Errorf(garner.ErrDType, "%s cannot be converted to %s; f64, f32, f16, bf16, the 8-bit floats, f4e2m1 and nf4 can be, to f32, f16, bf16 and f64", spec.DType, to)
	}
	from := spec.DType
	spec.DType = to
	size, err := sizeOf(spec)
	if err != nil {
		return nil, err
	}
	switch a := a.(type) {
	case *File:
		return a.converted(spec, size, then(a.codec, from, run)), nil
	case *converted:
		return newConverted(a.of, spec, size, then(a.codec, from, run)), nil
	}
	return newConverted(a, spec, size, then(nil, from, run)), nil
}

// then returns the codec of what codec stores, elements of a dtype, converted by r.
// A nil codec stores the elements as they are.
func then(codec *Codec, from garner.DType, r convert.Run) *Codec {
	if codec == nil {
		return &Codec{Elements: r.Elements, Bytes: r.From, Decode: r.Convert}
	}
	const piece = 16 << 10
	block := codec.Elements * from.Bits() / 8
	most := max(1, piece/block) // blocks
	return &Codec{Elements: codec.Elements, Bytes: codec.Bytes, Decode: func(dst, src []byte) {
		s := scratches.Get().(*[]byte)
		defer scratches.Put(s) // also where the codec panics
		blocks := len(src) / codec.Bytes
		to := len(dst) / max(blocks, 1) // bytes of a converted block
		for ; blocks > 0; blocks -= most {
			n := min(most, blocks)
			decoded := room(s, n*block)
			codec.Decode(decoded, src[:n*codec.Bytes])
			r.Convert(dst[:n*to], decoded)
			dst, src = dst[n*to:], src[n*codec.Bytes:]
		}
	}}
}

// scratches is the free list of what is converted on the way.
var scratches = sync.Pool{New: func() any { return new([]byte) }}

// room returns n bytes of s.
func room(s *[]byte, n int) []byte {
	if n > cap(*s) {
		*s = make([]byte, n)
	}
	return (*s)[:n]
}

// converted returns a view of f, of another dtype, whose blocks codec decodes. They
// are the blocks of f, or those of codec where f stores elements as they are.
func (f *File) converted(spec garner.Spec, size int64, codec *Codec) *File {
	v := &File{
		spec: spec, size: size, rowSize: rowSize(spec, size), storage: storageOf(codec, spec.DType),
		files: f.files, of: f.opened(), from: append(slices.Clone(f.from), f.spec.DType),
	}
	at := int64(0)
	for _, p := range f.parts {
		blocks := f.at(p.to-p.from) / v.stored
		p.from, p.to = at, at+blocks*v.block
		v.parts = append(v.parts, p)
		at = p.to
	}
	return v
}

// opened returns the File that has the files open: f, or the one that f is a view
// of.
func (f *File) opened() *File {
	if f.of != nil {
		return f.of
	}
	return f
}

// ConvertedFrom returns the dtypes that Convert has converted from to make f, the
// stored one first; nil of a File that Open returned.
func (f *File) ConvertedFrom() []garner.DType { return slices.Clone(f.from) }

// A converted Array is the view of one that is no File.
type converted struct {
	storage // in of
	of      Array
	spec    garner.Spec
	size    int64 // bytes of the array
}

func newConverted(of Array, spec garner.Spec, size int64, codec *Codec) *converted {
	return &converted{storage: storageOf(codec, spec.DType), of: of, spec: spec, size: size}
}

// Spec returns the dtype that the elements are converted to, and the array's dims and
// strides.
func (c *converted) Spec() garner.Spec { return c.spec }

// Close closes the array.
func (c *converted) Close() error {
	if closer, ok := c.of.(io.Closer); ok {
		return closer.Close()
	}
	return nil
}

// Changed is what the array says.
func (c *converted) Changed() error {
	if changer, ok := c.of.(changer); ok {
		return changer.Changed()
	}
	return nil
}

// Converted returns the array of which this is a view: what tells it from others is that array's.
func (c *converted) Converted() Array { return c.of }

// Fetch fetches rows of the array, and converts them to their places.
func (c *converted) Fetch(ctx context.Context, rows Rows) error {
	h, err := held(c.of)
	if err != nil {
		return err
	}
	defer h.Release()
	return c.fetch(ctx, fetches(c.of, false, runtime.GOMAXPROCS(0)), rows)
}

// A heldConverted is a converted whose callers hold the array; reads is the array for
// them.
type heldConverted struct {
	*converted
	reads Array
}

// Fetch fetches and converts rows.
func (c heldConverted) Fetch(ctx context.Context, rows Rows) error {
	return c.fetch(ctx, c.reads, rows)
}

// fetch is Fetch for callers that hold the array.
func (c *converted) fetch(ctx context.Context, reads Array, rows Rows) error {
	if err := checkRows(rows, c.size); err != nil || len(rows.At) == 0 || rows.Size == 0 {
		return err
	}
	if m, ok := c.of.(*memory); ok {
		return c.fetchMemory(ctx, m, rows)
	}
	const most = readers * readBytes
	blocks := c.blocks(rows)
	if blocks*c.stored > most {
		return c.fetchLong(ctx, reads, rows, max(1, most/c.stored-1)*c.block)
	}
	each := int(max(1, most/(blocks*c.stored))) // rows
	for from := 0; from < len(rows.At); from += each {
		to := min(from+each, len(rows.At))
		part := Rows{At: rows.At[from:to], Size: rows.Size, Dst: rows.Dst[from*rows.Size : to*rows.Size]}
		if err := c.fetchPart(ctx, reads, part, blocks); err != nil {
			return err
		}
	}
	return nil
}

// blocks returns the most blocks that a row overlaps.
func (c *converted) blocks(rows Rows) int64 {
	n := (int64(rows.Size) + c.block - 1) / c.block
	for _, at := range rows.At {
		n = max(n, (at+int64(rows.Size)+c.block-1)/c.block-at/c.block)
	}
	return n
}

// fetchLong fetches rows that are longer than scratch, in pieces of up to most bytes.
func (c *converted) fetchLong(ctx context.Context, reads Array, rows Rows, most int64) error {
	var at [1]int64
	for i, row := range rows.At {
		dst := rows.Dst[i*rows.Size : (i+1)*rows.Size]
		for at[0] = row; len(dst) > 0; {
			n := min(len(dst), int(most))
			part := Rows{At: at[:], Size: n, Dst: dst[:n]}
			if err := c.fetchPart(ctx, reads, part, c.blocks(part)); err != nil {
				return err
			}
			dst, at[0] = dst[n:], at[0]+int64(n)
		}
	}
	return nil
}

// fetchPart fetches rows of up to so many blocks into scratch, each stored byte once
// where rows begin in the same block, and converts them.
func (c *converted) fetchPart(ctx context.Context, reads Array, rows Rows, blocks int64) error {
	s := stages.Get().(*stage)
	defer stages.Put(s)
	size := int(blocks * c.stored)
	last := c.end(c.size) - int64(size) // where the last such row begins
	s.at, s.places = s.at[:0], s.places[:0]
	for _, row := range rows.At {
		if at := min(c.at(row), last); len(s.at) == 0 || s.at[len(s.at)-1] < at {
			s.at = append(s.at, at)
		}
		s.places = append(s.places, len(s.at)-1)
	}
	b := room(&s.bytes, len(s.at)*size)
	if err := reads.Fetch(ctx, Rows{At: s.at, Size: size, Dst: b}); err != nil {
		return err
	}
	for i, row := range rows.At {
		place := s.places[i]
		src := b[place*size : (place+1)*size][c.at(row)-s.at[place]:]
		c.decode(rows.Dst[i*rows.Size:(i+1)*rows.Size], src, row)
	}
	return nil
}

// A stage holds rows as they are stored.
type stage struct {
	bytes  []byte
	at     []int64 // where each begins
	places []int   // the number in at of each row of a Fetch
}

// stages is the free list of stages.
var stages = sync.Pool{New: func() any { return new(stage) }}

// fetchMemory converts rows of memory that the caller holds.
func (c *converted) fetchMemory(ctx context.Context, m *memory, rows Rows) error {
	b, err := m.bytes()
	if err != nil {
		return err
	}
	err = mapped.Guard(func() error {
		const piece = 1 << 20 // bytes between two looks at the context
		since := 0
		for i, row := range rows.At {
			for to := rows.Dst[i*rows.Size : (i+1)*rows.Size]; len(to) > 0; {
				if since <= 0 {
					if ctx.Err() != nil {
						return context.Cause(ctx)
					}
					since = piece
				}
				n := min(len(to), piece)
				c.decode(to[:n], b[c.at(row):], row)
				to, row, since = to[n:], row+int64(n), since-n-64
			}
		}
		return nil
	})
	if err != nil {
		return err
	}
	return m.check(int(c.end(rows.At[len(rows.At)-1] + int64(rows.Size))))
}
