package source

import (
	"bytes"
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"math"
	"math/bits"
	"math/rand/v2"
	"os"
	"runtime"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/garner-go/garner"
	"github.com/garner-go/garner/internal/guard"
)

// tables returns arrays of every kind over the same 300 rows of 32 bytes of f32,
// and those bytes.
func tables(t testing.TB) (map[string]Array, []byte) {
	r := rand.New(rand.NewPCG(8, 8))
	const rows, size = 300, 32
	packed := make([]byte, rows*size/16*5)
	for i := range packed {
		packed[i] = byte(r.IntN(16))
	}
	want := make([]byte, rows*size)
	for i := 0; i < len(packed); i += 5 {
		for j := range 4 {
			v := float32(packed[i]) * float32(packed[i+1+j])
			binary.LittleEndian.PutUint32(want[(i/5*4+j)*4:], math.Float32bits(v))
		}
	}
	spec := garner.SpecOf(garner.F32, rows, 8)
	data, err := garner.FromBytes(garner.F32, want, rows, 8)
	if err != nil {
		t.Fatal(err)
	}
	path := write(t, "plain", append(noise(77), want...))
	rows2 := *scaled // which decodes rows of two blocks from their places
	rows2.Scattered = func(dst, src []byte, at []int64) {
		if len(dst) != len(at)*size {
			t.Errorf("%d rows into %d bytes", len(at), len(dst))
		}
		for i, at := range at {
			scaled.Decode(dst[i*size:(i+1)*size], src[at:at+10])
		}
	}
	return map[string]Array{
		"memory": Memory(data),
		"plain":  plain{Memory(data)},
		"file":   open(t, spec, nil, Segment{path, 77, int64(len(want))}),
		"cut":    open(t, spec, nil, cut(t, r, want, 4)...),
		"codec":  open(t, spec, scaled, Segment{write(t, "scaled", packed), 0, int64(len(packed))}),
		"rows":   open(t, spec, &rows2, Segment{write(t, "rows", append(noise(33), packed...)), 33, int64(len(packed))}),
	}, want
}

func TestLookup(t *testing.T) {
	arrays, want := tables(t)
	for name, a := range arrays {
		table, err := NewTable(a)
		if err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		if table.Len() != 300 || table.RowBytes() != 32 {
			t.Errorf("%s: %d rows of %d bytes", name, table.Len(), table.RowBytes())
		}
		var wait sync.WaitGroup
		for worker := range 4 {
			wait.Go(func() {
				r := rand.New(rand.NewPCG(uint64(worker), 4))
				for range 300 {
					if f, ok := a.(*File); ok && r.IntN(10) == 0 {
						for _, h := range f.files {
							guard.Forget(h.file)
						}
					}
					ids := make([]int32, r.IntN(20))
					for i := range ids {
						ids[i] = int32(r.IntN(300))
					}
					dst := make([]byte, len(ids)*32)
					if err := Lookup(t.Context(), table, ids, dst); err != nil {
						t.Errorf("%s: %v", name, err)
						return
					}
					values := make([]float32, len(ids)*8)
					if err := LookupValues(t.Context(), table, ids, values); err != nil {
						t.Errorf("%s: %v", name, err)
						return
					}
					for i, id := range ids {
						row := want[id*32:][:32]
						if !bytes.Equal(dst[i*32:][:32], row) || math.Float32bits(values[i*8]) != binary.LittleEndian.Uint32(row) {
							t.Errorf("%s: row %d is another", name, id)
							return
						}
					}
				}
			})
		}
		wait.Wait()
	}
}

func TestLookupRefuses(t *testing.T) {
	arrays, _ := tables(t)
	for name, a := range arrays {
		table, err := NewTable(a)
		if err != nil {
			t.Fatal(err)
		}
		dst := make([]byte, 4*32)
		var bad *garner.IndexError
		for about, err := range map[string]error{
			"garner: indices[1] = -1 is outside axis 0 of data, which has 0…299 (1 more of 4 indices are outside)":                   Lookup(t.Context(), table, []int8{3, -1, 4, -128}, dst),
			"garner: indices[3] = 300 is outside axis 0 of data, which has 0…299":                                                    Lookup(t.Context(), table, []uint16{3, 0, 299, 300}, dst),
			"garner: indices[0] = 18446744073709551615 is outside axis 0 of data, which has 0…299 (3 more of 4 indices are outside)": Lookup(t.Context(), table, []uint64{math.MaxUint64, 1 << 63, 300, math.MaxUint32}, dst),
		} {
			about = strings.Replace(about, "(1 more of 4 indices are", "(1 more of 4 indices is", 1)
			if !errors.As(err, &bad) || err.Error() != about {
				t.Errorf("%s: %v", name, err)
			}
		}
		for _, n := range []int{0, 127, 129} {
			if err := Lookup(t.Context(), table, []int{1, 2, 3, 4}, make([]byte, n)); !errors.Is(err, garner.ErrShape) {
				t.Errorf("%s: into %d bytes: %v", name, n, err)
			}
		}
		if err := Lookup(t.Context(), table, []int{}, nil); err != nil {
			t.Error(err)
		}
		if err := LookupValues(t.Context(), table, []int{1}, make([]int32, 8)); !errors.Is(err, garner.ErrDType) {
			t.Error(err)
		}
		ctx, cancel := context.WithCancelCause(t.Context())
		cause := errors.New("enough")
		cancel(cause)
		if err := Lookup(ctx, table, []int{1, 2, 3, 4}, dst); err != cause {
			t.Error(err)
		}
	}
	fortran := garner.SpecOf(garner.F32, 5, 5)
	fortran.Strides = []int{1, 5}
	path := write(t, "x", noise(100))
	for _, a := range []Array{
		open(t, fortran, nil, Segment{path, 0, 100}),
		open(t, garner.SpecOf(garner.F32), nil, Segment{path, 0, 4}),
		open(t, garner.SpecOf(garner.F32, 3, 0), nil),
		open(t, garner.SpecOf(garner.U4, 4, 3), nil, Segment{path, 0, 6}),
		Memory(garner.Of([]string{"a"}, 1)),
	} {
		if _, err := NewTable(a); err == nil || !strings.HasPrefix(err.Error(), "garner: ") {
			t.Errorf("%v is a table: %v", a.Spec(), err)
		}
	}
	none, err := NewTable(open(t, garner.SpecOf(garner.F32, 0, 6), nil))
	if err != nil {
		t.Fatal(err)
	}
	var bad *garner.IndexError
	if err := Lookup(t.Context(), none, []int{0}, nil); !errors.As(err, &bad) || bad.Dim != 0 {
		t.Error(err)
	}
}

// TestLookupCutShort truncates a table's file while it is open.
func TestLookupCutShort(t *testing.T) {
	guard.Faults(t)
	path := write(t, "table", noise(100*4096))
	f := open(t, garner.SpecOf(garner.U8, 100, 4096), nil, Segment{path, 0, 100 * 4096})
	table, err := NewTable(f)
	if err != nil {
		t.Fatal(err)
	}
	dst := make([]byte, 3*4096)
	ids := []int{1, 99, 2}
	if err := Lookup(t.Context(), table, ids, dst); err != nil {
		t.Fatal(err)
	}
	if err := os.Truncate(path, 50*4096); err != nil {
		mayNotChange(t, err)
	}
	var lost *ReadError
	if err := Lookup(t.Context(), table, ids, dst); !errors.As(err, &lost) || lost.Row != 99 || lost.Path != path || lost.From != 99*4096 || lost.To != 100*4096 {
		t.Errorf("%v, %#v", err, lost)
	}
	// Rows before the cut are right, until a look at the file finds that it changed.
	if err := Lookup(t.Context(), table, []int{1, 49, 2}, dst); err != nil && !errors.Is(err, ErrChanged) {
		t.Error(err)
	}
}

// TestForget clears a table's bits, by age and after idle time.
func TestForget(t *testing.T) {
	arrays, _ := tables(t)
	table, err := NewTable(arrays["file"])
	if err != nil {
		t.Fatal(err)
	}
	if table.file == nil {
		if runtime.GOOS == "linux" || runtime.GOOS == "darwin" || runtime.GOOS == "windows" {
			t.Fatal("the table is not mapped")
		}
		t.Skip("garner maps no files on this system, so that there are no pages to forget")
	}
	ids, dst := []int{1}, make([]byte, 32)
	look := func() {
		if err := Lookup(t.Context(), table, ids, dst); err != nil {
			t.Fatal(err)
		}
	}
	for look(); table.seen[0] == 0; look() {
	}
	table.used.Store(time.Now().UnixNano() - 2*idle)
	table.seen[0] |= 1 << 63
	look()
	if table.seen[0]>>63 != 0 || table.seen[0] == 0 {
		t.Errorf("after a while: %x", table.seen)
	}
	b := new(batch)
	for range forgetEach * len(table.seen) {
		table.age(b)
	}
	if !slices.Equal(table.seen, make([]uint64, len(table.seen))) {
		t.Errorf("after many batches: %x", table.seen)
	}
}

// TestLookupMany looks up a batch that is large enough for all cores.
func TestLookupMany(t *testing.T) {
	arrays, want := tables(t)
	ids := make([]uint32, 200000)
	r := rand.New(rand.NewPCG(1, 9))
	for i := range ids {
		ids[i] = uint32(r.IntN(300))
	}
	dst := make([]byte, len(ids)*32)
	for name, a := range arrays {
		table, err := NewTable(a)
		if err != nil {
			t.Fatal(err)
		}
		for round := range 4 {
			clear(dst)
			if round > 0 {
				clear(table.seen) // all units leave their rows until the pages have been looked at
			}
			if f, ok := a.(*File); ok && round == 3 {
				for _, h := range f.files {
					guard.Forget(h.file)
				}
			}
			if err := Lookup(t.Context(), table, ids, dst); err != nil {
				t.Fatalf("%s: %v", name, err)
			}
			for i, id := range ids {
				if !bytes.Equal(dst[i*32:][:32], want[id*32:][:32]) {
					t.Fatalf("%s: row %d is another", name, id)
				}
			}
		}
	}
}

func TestLookupAllocates(t *testing.T) {
	arrays, _ := tables(t)
	for name, a := range arrays {
		if name == "plain" || name == "cut" {
			continue // their rows are read, which allocates
		}
		table, err := NewTable(a)
		if err != nil {
			t.Fatal(err)
		}
		ids, dst, values := []int64{5, 299, 3, 5}, make([]byte, 4*32), make([]float32, 32)
		n := testing.AllocsPerRun(200, func() {
			if err := errors.Join(Lookup(context.Background(), table, ids, dst), LookupValues(context.Background(), table, ids, values)); err != nil {
				t.Fatal(err)
			}
		})
		if n != 0 && !raceEnabled {
			t.Errorf("%s: %v allocations", name, n)
		}
	}
}

// wide is a table of 64 MiB in rows of 1 KiB, in the page cache.
func wide(b *testing.B) *Table {
	const rows = 64 << 10
	path := write(b, "wide", make([]byte, rows<<10))
	table, err := NewTable(open(b, garner.SpecOf(garner.F32, rows, 256), nil, Segment{path, 0, rows << 10}))
	if err != nil {
		b.Fatal(err)
	}
	return table
}

// batches returns so many batches that few of their rows are in the CPU's caches.
func batches(table *Table, seed uint64) [][]int64 {
	r := rand.New(rand.NewPCG(seed, 3))
	batches := make([][]int64, 4096)
	for i := range batches {
		batches[i] = make([]int64, 16)
		for j := range batches[i] {
			batches[i][j] = r.Int64N(int64(table.Len()))
		}
	}
	return batches
}

func lookups(b *testing.B, table *Table, batches [][]int64, next func() bool) {
	dst := make([]byte, 16<<10)
	for i := 0; next(); i++ {
		if err := Lookup(context.Background(), table, batches[i%len(batches)], dst); err != nil {
			b.Fatal(err)
		}
	}
}

func BenchmarkTable16x1K(b *testing.B) {
	table := wide(b)
	ids, n := batches(table, 1), 0
	lookups(b, table, ids, func() bool { n++; return n <= len(ids) }) // every page is seen, and mapped
	b.SetBytes(16 << 10)
	b.ReportAllocs()
	lookups(b, table, ids, b.Loop)
}

func BenchmarkTable16x1KParallel(b *testing.B) {
	table := wide(b)
	ids, n := batches(table, 1), 0
	lookups(b, table, ids, func() bool { n++; return n <= len(ids) })
	b.SetBytes(16 << 10)
	b.ReportAllocs()
	b.SetParallelism(8)
	b.ResetTimer()
	b.RunParallel(func(pb *testing.PB) { lookups(b, table, ids, pb.Next) })
}

func ExampleLookup() {
	table, err := NewTable(Memory(garner.Of([]float32{1, 2, 3, 4, 5, 6}, 3, 2)))
	if err != nil {
		fmt.Println(err)
		return
	}
	rows := make([]float32, 4)
	fmt.Println(LookupValues(context.Background(), table, []int{2, 0}, rows), rows)
	fmt.Println(LookupValues(context.Background(), table, []int{3, 0}, rows))
	// Output:
	// <nil> [5 6 1 2]
	// garner: indices[0] = 3 is outside axis 0 of data, which has 0…2
}

// TestLookupClosed holds that a Table whose File was closed says so, however the
// file stores its rows.
func TestLookupClosed(t *testing.T) {
	path := write(t, "table", noise(4000))
	swap := &Codec{Elements: 1, Bytes: 2, Decode: func(dst, src []byte) { copy(dst, src) }}
	for name, file := range map[string]*File{
		"plain":    open(t, garner.SpecOf(garner.U8, 4, 1000), nil, Segment{path, 0, 4000}),
		"codec":    open(t, garner.SpecOf(garner.I16, 4, 500), swap, Segment{path, 0, 4000}),
		"segments": open(t, garner.SpecOf(garner.U8, 4, 1000), nil, Segment{path, 0, 2000}, Segment{path, 2000, 2000}),
	} {
		table, err := NewTable(file)
		if err != nil {
			t.Fatal(err)
		}
		if err := Lookup(t.Context(), table, []int{1}, make([]byte, 1000)); err != nil {
			t.Fatal(err)
		}
		if err := file.Close(); err != nil {
			t.Fatal(err)
		}
		if err := Lookup(t.Context(), table, []int{1, 2}, make([]byte, 2000)); !errors.Is(err, os.ErrClosed) {
			t.Errorf("%s: %v, want an ErrClosed", name, err)
		}
	}
}

// BenchmarkTableSmall looks up one to eight rows of 128 bytes and of 1 KiB: of a table
// of 64 MiB, most of whose rows are in no cache of the processor.
func BenchmarkTableSmall(b *testing.B) {
	for _, width := range []int{128, 1024} {
		rows := 64 << 20 / width
		path := write(b, "small", make([]byte, rows*width))
		table, err := NewTable(open(b, garner.SpecOf(garner.U8, rows, width), nil, Segment{path, 0, int64(rows * width)}))
		if err != nil {
			b.Fatal(err)
		}
		each, n := batches(table, 1), 0
		all := make([]byte, 16*width)
		for ; n < 2*len(each); n++ {
			if err := Lookup(context.Background(), table, each[n%len(each)], all); err != nil {
				b.Fatal(err)
			}
		}
		for _, k := range []int{1, 4, 8} {
			b.Run(fmt.Sprintf("%dx%d", k, width), func(b *testing.B) {
				for n := 0; b.Loop(); n++ {
					if err := Lookup(context.Background(), table, each[n%len(each)][:k], all[:k*width]); err != nil {
						b.Fatal(err)
					}
				}
			})
		}
	}
}

// A lookedAt is a context that ends at its count'th look.
type lookedAt struct {
	context.Context
	left atomic.Int64
}

func (c *lookedAt) Err() error {
	if c.left.Add(-1) < 0 {
		return context.Canceled
	}
	return nil
}

func (c *lookedAt) Value(any) any { return nil }

// A warmOnly is a context of a caller that does not wait for reads.
type warmOnly struct{ context.Context }

var errReads = errors.New("rows are to be read")

func (warmOnly) Reads() error { return errReads }

// TestLookupLooksAtItsContext asks the kernel for the pages of many rows, and copies rows for a
// caller that does not wait for reads.
func TestLookupLooksAtItsContext(t *testing.T) {
	const rows, size = 3000, pageBytes
	want := noise(rows * size)
	f := open(t, garner.SpecOf(garner.U8, rows, size), nil, Segment{write(t, "pages", want), 0, rows * size})
	table, err := NewTable(f)
	if err != nil {
		t.Fatal(err)
	}
	if table.file == nil {
		t.Skip("garner maps no files on this system")
	}
	ids, dst := make([]int64, rows), make([]byte, rows*size)
	for i := range ids {
		ids[i] = int64(i*7) % rows
	}
	c := &lookedAt{Context: t.Context()}
	c.left.Store(3)
	if err := Lookup(c, table, ids, dst); !errors.Is(err, context.Canceled) {
		t.Errorf("at the fourth look: %v", err)
	}
	asked := 0
	for _, w := range table.seen {
		asked += bits.OnesCount64(w)
	}
	if asked > 3*lookRows {
		t.Errorf("the kernel was asked for %d pages until the fourth look", asked)
	}
	for _, h := range f.files {
		h.file.Sync()
		guard.Forget(h.file)
	}
	clear(table.seen)
	in, known := f.files[0].mapping().Resident(0, len(want))
	if err := Lookup(warmOnly{t.Context()}, table, ids, dst); known && !in && !errors.Is(err, errReads) {
		t.Errorf("of rows that are not in the page cache: %v", err)
	}
	for range 2 {
		if err := Lookup(t.Context(), table, ids, dst); err != nil {
			t.Fatal(err)
		}
	}
	clear(dst)
	if err := Lookup(warmOnly{t.Context()}, table, ids, dst); err != nil {
		t.Errorf("of rows in the page cache: %v", err)
	}
	for i, id := range ids {
		if !bytes.Equal(dst[i*size:][:size], want[id*size:][:size]) {
			t.Fatalf("row %d is another", id)
		}
	}
}

// TestLookupInLine looks up rows that lie one behind the other, almost so, and not at all,
// with all bits of seen set and with one that is not.
func TestLookupInLine(t *testing.T) {
	arrays, want := tables(t)
	for name, a := range arrays {
		table, err := NewTable(a)
		if err != nil {
			t.Fatal(err)
		}
		for first := range 3 {
			for _, n := range []int{1, 2, 9, 40, 297} {
				for _, odd := range []int{-1, 0, 1, n - 1} {
					ids := make([]int64, n)
					for i := range ids {
						ids[i] = int64(first + i)
					}
					if odd >= 0 && odd < n {
						ids[odd] = 299
					}
					dst := make([]byte, n*32)
					if len(table.seen) > 0 && odd == 1 {
						table.seen[len(table.seen)-1] &^= 2
					}
					if err := Lookup(t.Context(), table, ids, dst); err != nil {
						t.Fatalf("%s: %v", name, err)
					}
					for i, id := range ids {
						if !bytes.Equal(dst[i*32:][:32], want[id*32:][:32]) {
							t.Fatalf("%s: %d rows from %d, odd %d: row %d is another", name, n, first, odd, id)
						}
					}
				}
			}
		}
	}
}

// TestLookupLate holds that units of stored rows whose pages were not seen are decoded
// after the others, and each row once.
func TestLookupLate(t *testing.T) {
	const rows, size, stored = 20000, 32, 10
	packed := make([]byte, rows*stored)
	for i := range packed {
		packed[i] = byte(i * i >> 7)
	}
	want := make([]byte, rows*size)
	scaled.Decode(want, packed)
	var decoded atomic.Int64
	codec := *scaled
	codec.Scattered = func(dst, src []byte, at []int64) {
		decoded.Add(int64(len(at)))
		for i, at := range at {
			scaled.Decode(dst[i*size:(i+1)*size], src[at:at+stored])
		}
	}
	table, err := NewTable(open(t, garner.SpecOf(garner.F32, rows, size/4), &codec, Segment{write(t, "packed", packed), 0, int64(len(packed))}))
	if err != nil {
		t.Fatal(err)
	}
	ids := make([]int64, 3*rows)
	for i := range ids {
		ids[i] = int64(i / 3) // so that a unit reads few pages
	}
	dst := make([]byte, len(ids)*size)
	for _, unseen := range []uint64{0, 1 << 2, 1<<3 | 1<<4 | 1<<40, math.MaxUint64} {
		if unseen > 0 && table.seen != nil {
			table.seen[0] &^= unseen
		}
		clear(dst)
		decoded.Store(0)
		if err := Lookup(t.Context(), table, ids, dst); err != nil {
			t.Fatal(err)
		}
		for i, id := range ids {
			if !bytes.Equal(dst[i*size:(i+1)*size], want[id*size:][:size]) {
				t.Fatalf("unseen %x: row %d is another", unseen, id)
			}
		}
		if n := decoded.Load(); table.seen != nil && unseen > 0 && n != int64(len(ids)) {
			t.Errorf("unseen %x: %d of %d rows are decoded from their places", unseen, n, len(ids))
		}
	}
}

// TestPlaceRows holds the places of rows, and the first number without one, of every
// integer type: near both ends of the table, and of the type.
func TestPlaceRows(t *testing.T) {
	placeRowsOf[int8](t)
	placeRowsOf[int16](t)
	placeRowsOf[int32](t)
	placeRowsOf[int64](t)
	placeRowsOf[int](t)
	placeRowsOf[uint8](t)
	placeRowsOf[uint16](t)
	placeRowsOf[uint32](t)
	placeRowsOf[uint64](t)
	placeRowsOf[uint](t)
}

func placeRowsOf[I garner.Integer](t *testing.T) {
	random := rand.New(rand.NewPCG(1, 2))
	for _, count := range []int{0, 1, 100, math.MaxInt32, min(1<<33, math.MaxInt)} {
		for n := range 40 {
			ids := make([]I, n)
			for i := range ids {
				ids[i] = I(random.IntN(min(max(count, 1), 100)))
			}
			want := n
			if count == 0 {
				want = 0
			} else if n > 2 {
				ids[n/2] = []I{0, I(count - 1), I(count), ^I(0), ^I(0) << 7, ^I(0) ^ ^I(0)<<7}[n%6]
				if id := ids[n/2]; id < 0 || uint64(id) >= uint64(count) {
					want = n / 2
				}
			}
			at := make([]int64, n)
			if got := placeRows(at, ids, count, 24); got != want {
				t.Errorf("%T: %d of %d numbers are rows of %d, want %d: %v", ids, got, n, count, want, ids)
			}
			for i, at := range at[:want] {
				if at != 24*int64(ids[i]) {
					t.Errorf("%T: row %d is at %d", ids, ids[i], at)
				}
			}
		}
	}
}
