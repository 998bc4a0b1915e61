package files_test

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"testing"

	"github.com/garner-go/garner"
	"github.com/garner-go/garner/files"
	"github.com/garner-go/garner/format/shards"
	"github.com/garner-go/garner/source"
)

// spreadTable writes an array of shards of random lengths, every third of which another
// node has. elsewhere gives rows of those, and counts how often it is asked.
func spreadTable(t *testing.T, r *rand.Rand, dtype garner.DType, shape ...int) (dir string, whole []byte, elsewhere func(context.Context, *shards.Manifest, int, source.Rows) error, asked *int) {
	t.Helper()
	t.Setenv("GARNER_NODE", "here")
	dir = t.TempDir()
	x, err := garner.New(dtype, shape...)
	if err != nil {
		t.Fatal(err)
	}
	if whole, err = x.Bytes(); err != nil {
		t.Fatal(err)
	}
	for i := range whole {
		whole[i] = byte(r.Uint32())
	}
	m := &shards.Manifest{DType: dtype, Shape: shape}
	var begins []int
	per := max(1, 8/dtype.Bits())
	for first, n := 0, 0; first < x.Len(); first += n {
		n = min((r.IntN(x.Len()/3)/per+1)*per, x.Len()-first)
		name := fmt.Sprintf("shard-%d.raw", len(m.Shards))
		from, to := first*dtype.Bits()/8, ((first+n)*dtype.Bits()+7)/8
		s := shards.Shard{File: name, Elements: int64(n)}
		if len(m.Shards)%3 == 1 {
			s.Node = "there"
		} else if err := os.WriteFile(filepath.Join(dir, name), whole[from:to], 0o666); err != nil {
			t.Fatal(err)
		}
		m.Shards, begins = append(m.Shards, s), append(begins, from)
	}
	if err := shards.Write(dir, m); err != nil {
		t.Fatal(err)
	}
	if err := shards.Finish(dir); err != nil {
		t.Fatal(err)
	}
	asked = new(int)
	return dir, whole, func(_ context.Context, m *shards.Manifest, shard int, rows source.Rows) error {
		*asked++
		if m.Shards[shard].Node != "there" {
			return fmt.Errorf("shard %d is here", shard)
		}
		for i, at := range rows.At {
			copy(rows.Dst[i*rows.Size:(i+1)*rows.Size], whole[begins[shard]+int(at):])
		}
		return nil
	}, asked
}

// TestSpread holds that rows of an array some of whose shards others read are those of
// the whole array, wherever its shards end.
func TestSpread(t *testing.T) {
	for seed := range uint64(60) {
		t.Run(fmt.Sprint(seed), func(t *testing.T) {
			r := rand.New(rand.NewPCG(seed, 29))
			dtype := []garner.DType{garner.F32, garner.U8, garner.U4, garner.I64}[r.IntN(4)]
			dir, whole, elsewhere, asked := spreadTable(t, r, dtype, 20+r.IntN(30), 10+r.IntN(9))
			if _, err := files.Open(t.Context(), dir, files.Options{}); !errors.Is(err, shards.ErrNode) {
				t.Fatalf("it opens whole: %v", err)
			}
			a, err := files.Open(t.Context(), dir, files.Options{Elsewhere: elsewhere})
			if err != nil {
				t.Fatal(err)
			}
			defer a.Close()
			if _, is := a.(*files.Spread); !is {
				t.Fatalf("it opens as %T", a)
			}
			for range 20 {
				rows := source.Rows{Size: r.IntN(len(whole) + 1)}
				for range r.IntN(20) {
					rows.At = append(rows.At, r.Int64N(int64(len(whole)-rows.Size)+1))
				}
				slices.Sort(rows.At)
				rows.At = slices.Compact(rows.At)
				rows.Dst = make([]byte, len(rows.At)*rows.Size)
				if err := a.Fetch(t.Context(), rows); err != nil {
					t.Fatal(err)
				}
				for i, at := range rows.At {
					if got, want := rows.Dst[i*rows.Size:(i+1)*rows.Size], whole[at:int(at)+rows.Size]; !slices.Equal(got, want) {
						t.Fatalf("the %d bytes from byte %d on are %x, want %x", rows.Size, at, got, want)
					}
				}
			}
			if *asked == 0 {
				t.Error("nobody was asked for rows")
			}
			fact, ok, err := files.Identify(a)
			if err != nil || !ok || fact == "" {
				t.Errorf("its identity is %q, %v, %v", fact, ok, err)
			}
		})
	}
}

// TestSpreadRefused holds what a Spread says of rows that it cannot give.
func TestSpreadRefused(t *testing.T) {
	dir, whole, elsewhere, _ := spreadTable(t, rand.New(rand.NewPCG(1, 2)), garner.F32, 40, 10)
	open := func(o files.Options) *files.Spread {
		t.Helper()
		a, err := files.Open(t.Context(), dir, o)
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { a.Close() })
		return a.(*files.Spread)
	}
	s := open(files.Options{Elsewhere: elsewhere, DType: garner.F32})
	if _, err := files.Open(t.Context(), dir, files.Options{Elsewhere: elsewhere, DType: garner.I32}); !errors.Is(err, garner.ErrDType) {
		t.Errorf("as i32: %v", err)
	}
	fetch := func(s *files.Spread, at int64, size int) error {
		return s.Fetch(t.Context(), source.Rows{At: []int64{at}, Size: size, Dst: make([]byte, size)})
	}
	for _, at := range []int64{-4, int64(len(whole)), int64(len(whole)) - 4} {
		if err := fetch(s, at, 8); !errors.Is(err, garner.ErrShape) {
			t.Errorf("a row at byte %d: %v", at, err)
		}
	}
	if err := s.FetchShard(t.Context(), 99, source.Rows{}); !errors.Is(err, garner.ErrShape) {
		t.Errorf("shard 99: %v", err)
	}
	gone := errors.New("it is gone")
	failing := open(files.Options{Elsewhere: func(context.Context, *shards.Manifest, int, source.Rows) error { return gone }})
	if err := fetch(failing, 0, len(whole)); !errors.Is(err, gone) {
		t.Errorf("a node that is gone: %v", err)
	}

	missing := open(files.Options{Elsewhere: elsewhere})
	if err := fetch(s, 0, 4); err != nil {
		t.Fatal(err)
	}
	if err := s.Changed(); err != nil {
		t.Errorf("it has changed: %v", err)
	}
	if err := os.WriteFile(filepath.Join(dir, "shard-0.raw"), []byte("another"), 0o666); err != nil {
		t.Fatal(err)
	}
	if err := s.Changed(); !errors.Is(err, source.ErrChanged) {
		t.Errorf("a shard that was written to: %v", err)
	}
	if err := os.Remove(filepath.Join(dir, "shard-0.raw")); err != nil {
		t.Fatal(err)
	}
	if err := fetch(missing, 0, 4); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("a shard that is not there: %v", err)
	}
	if err := s.Close(); err != nil {
		t.Error(err)
	}
	if err := fetch(s, 0, 4); !errors.Is(err, fs.ErrClosed) {
		t.Errorf("a closed array: %v", err)
	}
}
