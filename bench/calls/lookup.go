package main

import (
	"context"
	"fmt"
	"hash/crc32"
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
	"github.com/garner-go/garner/source"
)

// A lookup is the times of looking up the same rows again and again, in nanoseconds:
// into one output, and into one that each call allocates.
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

// lookups times rows of a file of stored rows, one after the other without a header, in
// the page cache.
func lookups(kind string, columns int, seconds float64, path, indices string) (*lookup, error) {
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
	rows, closeRows, err := storedRows(kind, columns, path)
	if err != nil {
		return nil, err
	}
	defer closeRows()

	l := new(lookup)
	var spent [2][]int64
	reused := make([]float32, len(ids)*columns)
	for end := time.Now().Add(time.Duration(seconds * float64(time.Second))); time.Now().Before(end) || len(spent[1]) < 4; {
		for way := range 2 {
			dst := reused
			begin := time.Now()
			if way == 1 {
				dst = make([]float32, len(ids)*columns)
			}
			if err := rows(ctx, ids, dst); err != nil {
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
	return l, nil
}

// storedRows returns the function that looks rows up: of a kind of GGUF, of rows8 or
// rows4 of FBGEMM by a Table; of int4:BLOCK, codes and then all scales as f32, by
// package codec on one goroutine.
func storedRows(kind string, columns int, path string) (rows func(context.Context, []int64, []float32) error, close func() error, err error) {
	info, err := os.Stat(path)
	if err != nil {
		return nil, nil, err
	}
	if block, ok := strings.CutPrefix(kind, "int4:"); ok {
		size, err := strconv.Atoi(block)
		if err != nil || size < 1 || columns%size > 0 {
			return nil, nil, fmt.Errorf("%s: blocks of %q do not divide %d columns", kind, block, columns)
		}
		all, err := os.ReadFile(path)
		if err != nil {
			return nil, nil, err
		}
		each := columns / size
		n := len(all) / (columns/2 + 4*each)
		b := &codec.Blocks{Codes: codec.U4, Scales: codec.F32, Zero: 8, Out: codec.F32, Axes: []codec.Axis{{Extent: n, Block: 1, Scale: each}, {Extent: columns, Block: size, Scale: 1}}}
		codes, scales := codec.Part{Bytes: all[:n*columns/2]}, codec.Part{Bytes: all[n*columns/2:]}
		return func(_ context.Context, ids []int64, dst []float32) error {
			to := mapped.BytesOf(dst)
			for i, id := range ids {
				if id < 0 || id >= int64(n) {
					return fmt.Errorf("row %d of %d", id, n)
				}
				b.Decode(to[4*i*columns:], codes, scales, codec.Part{}, int(id)*columns, columns)
			}
			return nil
		}, func() error { return nil }, nil
	}
	c, ok := codec.GGUF(kind)
	if bits, row := strings.CutPrefix(kind, "rows"); row {
		n, _ := strconv.Atoi(bits)
		c, ok = codec.Rows(n, columns)
	}
	if !ok || columns%c.Elements > 0 {
		return nil, nil, fmt.Errorf("%s: no codec for rows of %d columns", kind, columns)
	}
	size := int64(columns / c.Elements * c.Bytes)
	n := info.Size() / size
	if n > math.MaxInt32 {
		return nil, nil, fmt.Errorf("%s: %d rows", path, n)
	}
	f, err := source.Open(garner.SpecOf(garner.F32, int(n), columns), &source.Codec{Elements: c.Elements, Bytes: c.Bytes, Decode: c.Decode, Scattered: c.Scattered}, source.Segment{Path: path, Bytes: n * size})
	if err != nil {
		return nil, nil, err
	}
	table, err := source.NewTable(f)
	if err != nil {
		return nil, nil, err
	}
	return func(ctx context.Context, ids []int64, dst []float32) error {
		return source.LookupValues(ctx, table, ids, dst)
	}, f.Close, nil
}
