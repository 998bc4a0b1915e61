package main

import (
	"context"
	"fmt"
	"hash/crc32"
	"io"
	"math"
	"os"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/garner-go/garner"
	"github.com/garner-go/garner/files"
	"github.com/garner-go/garner/internal/codec"
	"github.com/garner-go/garner/internal/mapped"
	"github.com/garner-go/garner/internal/pages"
	"github.com/garner-go/garner/operators"
	"github.com/garner-go/garner/source"
)

// A lookup is the times of looking up the same rows, or of adding the same bags, again
// and again, in nanoseconds: into one output, and into one that each call allocates.
type lookup struct {
	Reused timing `json:"reused"`
	Fresh  timing `json:"fresh"`
	CRC32  uint32 `json:"crc32"`
}

type timing struct {
	Median int64 `json:"median_ns"`
	Least  int64 `json:"min_ns"`
	Calls  int   `json:"calls"`
}

// A stored is a file of rows, one after the other without a header, and how they are
// asked for.
type stored struct {
	kind    string // what storedRows knows, or bags: and what bagsOf knows
	path    string
	columns int
	tables  int // of bags, one after the other in the file
	length  int // indices of each bag
}

// An ask is the call that is timed: it fills dst, whose length is floats.
type ask struct {
	run    func(ctx context.Context, dst []float32) error
	floats int
	close  func() error
}

// lookups times an ask. If result is not empty, it writes what the ask gives there, as
// little-endian bytes without a header.
func lookups(s stored, seconds float64, indices, result string) (*lookup, error) {
	ctx := context.Background()
	t, closeIDs, err := files.Tensor(ctx, indices, files.Options{})
	if err != nil {
		return nil, err
	}
	defer closeIDs()
	if t, err = t.Clone(); err != nil {
		return nil, err
	}
	ids, err := garner.Values[int64](t)
	if err != nil {
		return nil, err
	}
	a, err := s.ask(ids)
	if err != nil {
		return nil, err
	}
	defer a.close()

	l := new(lookup)
	var spent [2][]int64
	reused := make([]float32, a.floats)
	for end := time.Now().Add(time.Duration(seconds * float64(time.Second))); time.Now().Before(end) || len(spent[1]) < 4; {
		for way := range 2 {
			dst := reused
			begin := time.Now()
			if way == 1 {
				dst = make([]float32, a.floats)
			}
			if err := a.run(ctx, dst); err != nil {
				return nil, err
			}
			spent[way] = append(spent[way], time.Since(begin).Nanoseconds())
			if l.CRC32 == 0 {
				l.CRC32 = crc32.ChecksumIEEE(mapped.BytesOf(dst))
			}
		}
	}
	for way, t := range []*timing{&l.Reused, &l.Fresh} {
		all := spent[way][1:] // the first reads the pages
		slices.Sort(all)
		*t = timing{all[len(all)/2], all[0], len(all)}
	}
	if result != "" {
		return l, os.WriteFile(result, mapped.BytesOf(reused), 0o666)
	}
	return l, nil
}

// ask returns the call for rows or bags at ids.
func (s stored) ask(ids []int64) (*ask, error) {
	if kind, ok := strings.CutPrefix(s.kind, "bags:"); ok {
		return s.bagsOf(kind, ids)
	}
	if block, ok := strings.CutPrefix(s.kind, "int4:"); ok {
		return s.blocksOf(block, ids)
	}
	return s.storedRows(ids)
}

// read reads the file into huge pages where the system has them, as NumPy, from which the
// peers have their tables, does for arrays of 4 MiB and more. They stay until the program ends.
func (s stored) read() ([]byte, error) {
	f, err := os.Open(s.path)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	info, err := f.Stat()
	if err != nil {
		return nil, err
	}
	all, err := pages.Alloc(int(info.Size()))
	if err != nil {
		return nil, err
	}
	_, err = io.ReadFull(f, all)
	return all, err
}

// bagsOf adds bags, as many in each table, of rows of f32, or of rows8 or rows4 of
// FBGEMM: all tables by one RunAll.
func (s stored) bagsOf(kind string, ids []int64) (*ask, error) {
	name, attributes := "torch.embedding_bag", map[string]any{"mode": "sum"}
	dtype, width := garner.F32, s.columns // of a row, in elements of data
	switch kind {
	case "f32":
	case "rows8", "rows4":
		bits := int(kind[4] - '0')
		name, attributes = "torch.quantized_embedding_bag", map[string]any{"bits": bits}
		c, _ := codec.Rows(bits, s.columns)
		dtype, width = garner.U8, c.Bytes
	default:
		return nil, fmt.Errorf("%s: bags are of f32, rows8 or rows4", s.kind)
	}
	op, err := operators.Parse(name, attributes)
	if err != nil {
		return nil, err
	}
	all, err := s.read()
	if err != nil {
		return nil, err
	}
	size := width * dtype.Bits() / 8
	rows := len(all) / s.tables / size
	bags := len(ids) / s.tables / s.length
	if rows*size*s.tables != len(all) || bags*s.length*s.tables != len(ids) {
		return nil, fmt.Errorf("%s: %d bytes and %d indices are no %d tables of rows of %d bytes, with bags of %d", s.path, len(all), len(ids), s.tables, size, s.length)
	}
	offsets := make([]int64, bags)
	for b := range offsets {
		offsets[b] = int64(b * s.length)
	}
	ends := garner.Of(offsets, bags)
	calls := make([]garner.Call, s.tables)
	for i := range calls {
		n := bags * s.length
		c := garner.Call{Indices: garner.Of(ids[i*n:(i+1)*n], n), Further: []garner.Tensor{ends}}
		if c.Data, err = garner.FromBytes(dtype, all[i*rows*size:(i+1)*rows*size], rows, width); err != nil {
			return nil, err
		}
		if c.Prepared, err = garner.Prepare(op, c.Data.Spec(), c.Indices.Spec(), garner.Further(ends.Spec())); err != nil {
			return nil, err
		}
		calls[i] = c
	}
	each := bags * s.columns
	return &ask{run: func(ctx context.Context, dst []float32) error {
		for i := range calls {
			calls[i].Out = garner.Of(dst[i*each:(i+1)*each], bags, s.columns)
		}
		return garner.RunAll(ctx, calls)
	}, floats: s.tables * each, close: func() error { return nil }}, nil
}

// blocksOf looks up rows of codes of 4 bits, behind which the file has all scales as
// f32, by a Prepared of GatherBlockQuantized.
func (s stored) blocksOf(block string, ids []int64) (*ask, error) {
	size, err := strconv.Atoi(block)
	if err != nil || size < 16 || s.columns%size > 0 {
		return nil, fmt.Errorf("%s: blocks of %q do not divide %d columns", s.kind, block, s.columns)
	}
	all, err := s.read()
	if err != nil {
		return nil, err
	}
	each := s.columns / size
	n := len(all) / (s.columns/2 + 4*each)
	data, err := garner.FromBytes(garner.U8, all[:n*s.columns/2], n, s.columns/2)
	if err != nil {
		return nil, err
	}
	scales, err := garner.FromBytes(garner.F32, all[n*s.columns/2:][:4*n*each], n, each)
	if err != nil {
		return nil, err
	}
	at := garner.Of(ids, len(ids))
	op, err := operators.Parse("com.microsoft.GatherBlockQuantized-1", map[string]any{"block_size": size})
	if err != nil {
		return nil, err
	}
	p, err := garner.Prepare(op, data.Spec(), at.Spec(), garner.Further(scales.Spec()))
	if err != nil {
		return nil, err
	}
	return &ask{run: func(ctx context.Context, dst []float32) error {
		return p.Run(ctx, data, at, garner.Of(dst, len(ids), s.columns), scales)
	}, floats: len(ids) * s.columns, close: func() error { return nil }}, nil
}

// storedRows looks up rows of a kind of GGUF, or of rows8 or rows4 of FBGEMM, by a Table.
func (s stored) storedRows(ids []int64) (*ask, error) {
	info, err := os.Stat(s.path)
	if err != nil {
		return nil, err
	}
	c, ok := codec.GGUF(s.kind)
	if bits, row := strings.CutPrefix(s.kind, "rows"); row {
		n, _ := strconv.Atoi(bits)
		c, ok = codec.Rows(n, s.columns)
	}
	if !ok || s.columns%c.Elements > 0 {
		return nil, fmt.Errorf("%s: no codec for rows of %d columns", s.kind, s.columns)
	}
	var rows func(dst, src []byte, at []int64)
	if c.DecodeRows != nil {
		rows = func(dst, src []byte, at []int64) { c.DecodeRows(dst, src, at, s.columns/c.Elements) }
	}
	size := int64(s.columns / c.Elements * c.Bytes)
	n := info.Size() / size
	if n > math.MaxInt32 {
		return nil, fmt.Errorf("%s: %d rows", s.path, n)
	}
	f, err := source.Open(garner.SpecOf(garner.F32, int(n), s.columns), &source.Codec{Elements: c.Elements, Bytes: c.Bytes, Decode: c.Decode, Scattered: rows}, source.Segment{Path: s.path, Bytes: n * size})
	if err != nil {
		return nil, err
	}
	table, err := source.NewTable(f)
	if err != nil {
		return nil, err
	}
	return &ask{run: func(ctx context.Context, dst []float32) error {
		return source.LookupValues(ctx, table, ids, dst)
	}, floats: len(ids) * s.columns, close: f.Close}, nil
}
