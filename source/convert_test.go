package source

import (
	"bytes"
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"math"
	"math/rand/v2"
	"os"
	"runtime"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/garner-go/garner"
	"github.com/garner-go/garner/gathertest"
	"github.com/garner-go/garner/internal/convert"
	"github.com/garner-go/garner/internal/exec"
	"github.com/garner-go/garner/internal/guard"
	"github.com/garner-go/garner/internal/mapped"
	"github.com/garner-go/garner/onnx"
)

var convertible = []garner.DType{garner.F32, garner.F16, garner.BF16, garner.F64}

func mustConvert(t testing.TB, a Array, to garner.DType) Array {
	t.Helper()
	v, err := Convert(a, to)
	if err != nil {
		t.Fatal(err)
	}
	return v
}

// widened converts the elements of b by package convert; n is how many there are.
func widened(t testing.TB, from, to garner.DType, b []byte, n int) []byte {
	t.Helper()
	run, ok := convert.Between(from, to)
	if !ok {
		t.Fatalf("%s is not converted to %s", from, to)
	}
	dst := make([]byte, n*to.Bits()/8)
	run.Into(dst, b)
	return dst
}

// segmented is the File over a tensor's elements in segments of several files.
func segmented(t testing.TB, r *rand.Rand, v garner.Tensor) *File {
	t.Helper()
	m := Memory(v).(*memory)
	b, err := m.bytes()
	if err != nil {
		t.Fatal(err)
	}
	return open(t, m.Spec(), nil, cut(t, r, b, max(1, v.DType().Bits()/8))...)
}

// FuzzConvert gathers over converted views of files, of segments, of memory and of
// Arrays that only fetch, by random operators, with random budgets, and compares with
// the definition over data that is converted whole.
func FuzzConvert(f *testing.F) {
	for seed := range uint64(400) {
		f.Add(seed, uint8(seed))
	}
	f.Fuzz(func(t *testing.T, seed uint64, pick uint8) {
		c := gathertest.RandomElements(seed)
		to := convertible[int(pick)%len(convertible)]
		whole, ok := c.Converted(to)
		if !ok {
			if c.Data.DType() == garner.String || c.Data.DType() == to {
				return
			}
			if _, err := Convert(Memory(c.Data), to); !errors.Is(err, garner.ErrDType) {
				t.Fatalf("%s to %s: %v", c.Data.DType(), to, err)
			}
			return
		}
		r := rand.New(rand.NewPCG(seed, uint64(pick)))
		want, wantErr := garner.Reference(whole.Op, whole.Data, whole.Indices)
		at := Memory(c.Indices)
		for name, data := range map[string]Array{
			"file": stored(t, c.Data), "segments": segmented(t, r, c.Data), "memory": Memory(c.Data), "plain": plain{Memory(c.Data)},
		} {
			view := mustConvert(t, data, to)
			for _, budget := range []int64{0, 1 + r.Int64N(3000)} {
				about := fmt.Sprintf("seed %d: %s, %s, budget %d", seed, whole.About, name, budget)
				gatherInto(t, about, whole.Op, [2]Array{view, at}, Options{Memory: budget}, want, wantErr)
				var out bytes.Buffer
				err := Gather(t.Context(), whole.Op, view, at, &out, Options{Memory: budget})
				switch {
				case wantErr != nil && (err == nil || err.Error() != wantErr.Error()):
					t.Fatalf("%s: %v, want %v", about, err, wantErr)
				case wantErr == nil && err != nil:
					t.Fatalf("%s: %v", about, err)
				case wantErr == nil && !bytes.Equal(out.Bytes(), bytesOf(t, want)):
					t.Fatalf("%s: differs from the definition", about)
				}
			}
		}
	})
}

// FuzzConvertFetch fetches random ranges of bytes of converted views, those that begin
// and end inside an element too, in every way; views of views, and of quantised
// arrays, too.
func FuzzConvertFetch(f *testing.F) {
	for seed := range uint64(60) {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, seed uint64) {
		r := rand.New(rand.NewPCG(seed, 9))
		floats := slices.DeleteFunc(garner.DTypes(), func(d garner.DType) bool { return !d.IsFloat() })
		from, to := floats[r.IntN(len(floats))], convertible[r.IntN(len(convertible))]
		n := 1 + r.IntN(1<<(1+r.IntN(15)))
		data := tensor(r, from, n)
		stored, _ := data.Bytes()
		arrays := map[string]Array{"segments": segmented(t, r, data), "memory": Memory(data), "plain": plain{Memory(data)}}
		want := stored
		if r.IntN(4) == 0 { // blocks of 4 f32 in 5 bytes
			from = garner.F32
			b := noise((n + 3) / 4 * 5)
			n = len(b) / 5 * 4
			arrays = map[string]Array{"codec": open(t, garner.SpecOf(from, n), scaled, cut(t, r, b, 5)...)}
			want = make([]byte, 4*n)
			scaled.Decode(want, b)
		}
		chain := []garner.DType{to}
		if r.IntN(2) == 0 {
			chain = append(chain, convertible[r.IntN(len(convertible))])
		}
		for _, to := range chain {
			for name, a := range arrays {
				arrays[name] = mustConvert(t, a, to)
			}
			if from != to {
				want = widened(t, from, to, want, n)
			}
			from = to
		}
		for name, a := range arrays {
			if spec := a.Spec(); spec.DType != from || spec.Dims[0].Min != n {
				t.Fatalf("seed %d: %s: %v", seed, name, spec)
			}
			for range 4 {
				rows := someRows(r, len(want))
				err := a.Fetch(t.Context(), rows)
				if err != nil {
					t.Fatalf("seed %d: %s: %v", seed, name, err)
				}
				holds(t, fmt.Sprint("seed ", seed, " ", name), rows, want)
				file, ok := a.(*File)
				if !ok {
					continue
				}
				for _, way := range file.Ways() {
					clear(rows.Dst)
					if err := file.FetchBy(t.Context(), way, rows); err != nil {
						t.Fatalf("seed %d: %v: %v", seed, way, err)
					}
					holds(t, fmt.Sprint("seed ", seed, " ", way), rows, want)
				}
			}
		}
	})
}

// TestConvertLongRows fetches rows that are longer than the scratch of an Array that
// only fetches.
func TestConvertLongRows(t *testing.T) {
	data := tensor(rand.New(rand.NewPCG(1, 2)), garner.F4E2M1, 5<<20)
	b, _ := data.Bytes()
	want := widened(t, garner.F4E2M1, garner.F64, b, 5<<20)
	for name, a := range map[string]Array{"plain": plain{Memory(data)}, "memory": Memory(data)} {
		rows := Rows{At: []int64{3, 8, 17}, Size: len(want) - 20}
		rows.Dst = make([]byte, len(rows.At)*rows.Size)
		if err := mustConvert(t, a, garner.F64).Fetch(t.Context(), rows); err != nil {
			t.Fatal(err)
		}
		holds(t, name, rows, want)
	}
}

// TestLookupConverted looks rows up in converted tables, short and long batches, by
// several goroutines: rows that end inside a byte too.
func TestLookupConverted(t *testing.T) {
	r := rand.New(rand.NewPCG(3, 3))
	const count = 300
	for _, from := range garner.DTypes() {
		if !from.IsFloat() {
			continue
		}
		for _, width := range []int{3, 64} {
			data := tensor(r, from, count, width)
			b, _ := data.Bytes()
			for _, to := range convertible {
				if from == to {
					continue
				}
				want, size := widened(t, from, to, b, count*width), width*to.Bits()/8
				arrays := map[string]Array{"file": stored(t, data), "segments": segmented(t, r, data), "memory": Memory(data), "plain": plain{Memory(data)}}
				for name, a := range arrays {
					table, err := NewTable(mustConvert(t, a, to))
					if err != nil {
						t.Fatal(err)
					}
					if table.Len() != count || table.RowBytes() != size {
						t.Fatalf("%s to %s: %d rows of %d bytes", from, to, table.Len(), table.RowBytes())
					}
					var wait sync.WaitGroup
					lengths := []int{0, 1, 7, 40}
					if width == 64 && to == garner.F32 {
						lengths = append(lengths, exec.Tuned.AloneBytes/size+3) // on all cores
					}
					for _, n := range lengths {
						wait.Go(func() {
							r := rand.New(rand.NewPCG(uint64(n), 4))
							ids := make([]uint16, n)
							for i := range ids {
								ids[i] = uint16(r.IntN(count))
							}
							dst := make([]byte, n*size)
							for range 2 {
								if err := Lookup(t.Context(), table, ids, dst); err != nil {
									t.Errorf("%s to %s, %s: %v", from, to, name, err)
									return
								}
								for i, id := range ids {
									if !bytes.Equal(dst[i*size:][:size], want[int(id)*size:][:size]) {
										t.Errorf("%s to %s, %s, %d of %d: row %d is another", from, to, name, i, n, id)
										return
									}
								}
							}
						})
					}
					wait.Wait()
				}
			}
		}
	}
}

// TestLookupValuesConverts looks rows of every float dtype up into float32, without
// allocating once the table is warm.
func TestLookupValuesConverts(t *testing.T) {
	r := rand.New(rand.NewPCG(5, 3))
	for _, from := range garner.DTypes() {
		if !from.IsFloat() {
			continue
		}
		const count, width = 50, 64
		data := tensor(r, from, count, width)
		b, _ := data.Bytes()
		want := b
		if from != garner.F32 {
			want = widened(t, from, garner.F32, b, count*width)
		}
		for name, a := range map[string]Array{"file": stored(t, data), "memory": Memory(data), "plain": plain{Memory(data)}} {
			table, err := NewTable(a)
			if err != nil {
				t.Fatal(err)
			}
			ids, dst := []int64{7, 49, 0, 7}, make([]float32, 4*width)
			look := func() {
				if err := LookupValues(context.Background(), table, ids, dst); err != nil {
					t.Fatal(err)
				}
			}
			look()
			for i, id := range ids {
				if !bytes.Equal(mapped.BytesOf(dst[i*width:(i+1)*width]), want[id*4*width:][:4*width]) {
					t.Errorf("%s, %s: row %d is another", from, name, id)
				}
			}
			if n := testing.AllocsPerRun(100, look); n != 0 && !raceEnabled && name != "plain" {
				t.Errorf("%s, %s: %v allocations", from, name, n)
			}
			// A large batch, on all cores.
			many, rows := make([]int64, 10000), make([]float32, 10000*width)
			for range 3 {
				if err := LookupValues(context.Background(), table, many, rows); err != nil {
					t.Fatal(err)
				}
			}
			if n := testing.AllocsPerRun(10, func() { LookupValues(context.Background(), table, many, rows) }); n > 1 && !raceEnabled && name != "plain" {
				t.Errorf("%s, %s: %v allocations for many rows", from, name, n)
			}
			if err := LookupValues(context.Background(), table, ids, dst[:3]); !errors.Is(err, garner.ErrShape) {
				t.Errorf("%s, %s: too few values: %v", from, name, err)
			}
			var bad *garner.IndexError
			if err := LookupValues(context.Background(), table, []int{0, 50}, dst[:2*width]); !errors.As(err, &bad) || bad.Position[0] != 1 {
				t.Errorf("%s, %s: %v", from, name, err)
			}
			if from != garner.F64 {
				if err := LookupValues(context.Background(), table, ids, make([]float64, 4*width)); !errors.Is(err, garner.ErrDType) {
					t.Errorf("%s, %s: into float64: %v", from, name, err)
				}
			}
		}
	}
	// A table that a codec stores: big-endian, 1, 2 and 0.5.
	swappedHalves := open(t, garner.SpecOf(garner.F16, 3, 1), swapped, Segment{write(t, "big", []byte{0x3c, 0, 0x40, 0, 0x38, 0}), 0, 6})
	table, err := NewTable(swappedHalves)
	if err != nil {
		t.Fatal(err)
	}
	dst := make([]float32, 3)
	if err := LookupValues(t.Context(), table, []int{2, 1, 0}, dst); err != nil || !slices.Equal(dst, []float32{0.5, 2, 1}) {
		t.Errorf("big-endian f16: %v, %v", dst, err)
	}
	integers, err := NewTable(Memory(garner.Of([]int32{1, 2}, 2)))
	if err != nil {
		t.Fatal(err)
	}
	if err := LookupValues(t.Context(), integers, []int{1}, make([]float32, 1)); !errors.Is(err, garner.ErrDType) {
		t.Error(err)
	}
	if err := LookupValues(t.Context(), new(Table), []int{1}, make([]float32, 1)); !errors.Is(err, garner.ErrShape) {
		t.Error(err)
	}
}

func TestConvertRefuses(t *testing.T) {
	file := open(t, garner.SpecOf(garner.F16, 4), nil, Segment{write(t, "x", noise(8)), 0, 8})
	for _, tt := range []struct {
		a    Array
		to   garner.DType
		want error
		says string
	}{
		{nil, garner.F32, garner.ErrShape, "nil"},
		{new(File), garner.F32, garner.ErrShape, ""},
		{Memory(garner.Of([]int32{1}, 1)), garner.F32, garner.ErrDType, "i32 cannot be converted to f32; f64, f32, f16"},
		{Memory(garner.Of([]string{"a"}, 1)), garner.F32, garner.ErrDType, "string cannot be converted"},
		{Memory(garner.Of([]complex64{1}, 1)), garner.F32, garner.ErrDType, "complex64 cannot be converted"},
		{Memory(garner.Of([]bool{true}, 1)), garner.F32, garner.ErrDType, "bool cannot be converted"},
		{file, garner.I32, garner.ErrDType, "to f32, f16, bf16 and f64"},
		{file, garner.F8E5M2, garner.ErrDType, "f16 cannot be converted to f8e5m2"},
		{file, garner.Invalid, garner.ErrDType, "cannot be converted"},
	} {
		_, err := Convert(tt.a, tt.to)
		if tt.says == "" {
			if err == nil {
				t.Error("the zero File is converted")
			}
			continue
		}
		if !errors.Is(err, tt.want) || !strings.Contains(err.Error(), tt.says) || !strings.HasPrefix(err.Error(), "garner: ") {
			t.Errorf("%v to %s: %v", tt.a, tt.to, err)
		}
	}
	if a, err := Convert(file, garner.F16); a != Array(file) || err != nil {
		t.Errorf("to the same dtype: %v, %v", a, err)
	}
}

// TestConvertKeeps holds that a view's Spec has the strides, its errors the rows, its
// segments the places and its history the dtypes of the file.
func TestConvertKeeps(t *testing.T) {
	spec := garner.SpecOf(garner.F16, 10, 50)
	spec.Strides = []int{1, 10}
	path := write(t, "x", noise(4+1000))
	file := open(t, spec, nil, Segment{path, 4, 1000})
	view := mustConvert(t, file, garner.BF16).(*File)
	view = mustConvert(t, view, garner.F32).(*File)
	if got := view.Spec(); got.DType != garner.F32 || !slices.Equal(got.Strides, spec.Strides) {
		t.Errorf("%v", got)
	}
	if got := view.Segments(); !slices.Equal(got, file.Segments()) {
		t.Errorf("%v, want %v", got, file.Segments())
	}
	if got := view.ConvertedFrom(); !slices.Equal(got, []garner.DType{garner.F16, garner.BF16}) || file.ConvertedFrom() != nil {
		t.Errorf("%v, %v", got, file.ConvertedFrom())
	}
	if _, ok := view.Tensor(); ok {
		t.Error("a converted file is a tensor")
	}
}

// TestConvertClosed holds that the Close of a view is the file's, and the other way
// round, and what the mapped memory of a tensor says.
func TestConvertClosed(t *testing.T) {
	b := noise(1000)
	for _, closeView := range []bool{false, true} {
		for _, inMemory := range []bool{false, true} {
			var a Array
			var closes func() error
			if inMemory {
				m, err := mapped.Open(write(t, "mapped", b))
				if err != nil {
					t.Fatal(err)
				}
				x, err := garner.FromBytes(garner.F16, m.Bytes(), 10, 50)
				if err != nil {
					t.Fatal(err)
				}
				a, closes = Memory(m.View(x)), m.Close
			} else {
				file := open(t, garner.SpecOf(garner.F16, 10, 50), nil, Segment{write(t, "x", b), 0, 1000})
				a, closes = file, file.Close
			}
			view := mustConvert(t, a, garner.F32)
			plainTable, err := NewTable(a)
			if err != nil {
				t.Fatal(err)
			}
			table, err := NewTable(view)
			if err != nil {
				t.Fatal(err)
			}
			dst := make([]float32, 50)
			look := func(table *Table) error { return LookupValues(t.Context(), table, []int{3}, dst) }
			if err := errors.Join(look(table), look(plainTable)); err != nil {
				t.Fatal(err)
			}
			if closeView && !inMemory { // the Close of an Array of Memory does nothing
				closes = view.(io.Closer).Close
			}
			if err := closes(); err != nil {
				t.Fatal(err)
			}
			_, converted := Convert(a, garner.F32)
			at := Memory(garner.Of([]int64{0}, 1))
			for name, err := range map[string]error{
				"Lookup": look(table), "LookupValues": look(plainTable), "Convert": converted,
				"Fetch":  view.Fetch(t.Context(), Rows{At: []int64{4}, Size: 8, Dst: make([]byte, 8)}),
				"Gather": Gather(t.Context(), onnx.Gather13{}, view, at, io.Discard, Options{}),
				"budget": Gather(t.Context(), onnx.Gather13{}, view, at, io.Discard, Options{Memory: 5000}),
			} {
				if !errors.Is(err, fs.ErrClosed) {
					t.Errorf("%s, in memory %v: %v, want an ErrClosed", name, inMemory, err)
				}
			}
		}
	}
}

// TestConvertCloseWhileRead closes a file while goroutines convert its rows: each call
// ends right, or is an ErrClosed.
func TestConvertCloseWhileRead(t *testing.T) {
	const rows, width = 512, 128
	data := tensor(rand.New(rand.NewPCG(6, 6)), garner.BF16, rows, width)
	b, _ := data.Bytes()
	want := widened(t, garner.BF16, garner.F32, b, rows*width)
	for range 5 {
		file := stored(t, data)
		table, err := NewTable(file)
		if err != nil {
			t.Fatal(err)
		}
		var all, begun sync.WaitGroup
		for g := range 8 {
			begun.Add(1)
			all.Go(func() {
				r := rand.New(rand.NewPCG(uint64(g), 1))
				ids, dst := make([]int, 16), make([]float32, 16*width)
				for turn := 0; ; turn++ {
					for i := range ids {
						ids[i] = r.IntN(rows)
					}
					err := LookupValues(t.Context(), table, ids, dst)
					if turn == 0 {
						begun.Done()
					}
					if errors.Is(err, fs.ErrClosed) {
						return
					}
					if err != nil {
						t.Error(err)
						return
					}
					for i, id := range ids {
						if !bytes.Equal(mapped.BytesOf(dst[i*width:][:width]), want[id*4*width:][:4*width]) {
							t.Errorf("row %d is another", id)
							return
						}
					}
				}
			})
		}
		begun.Wait()
		if err := file.Close(); err != nil {
			t.Error(err)
		}
		all.Wait()
	}
}

// TestConvertCut cuts a file short under its converted views: a row behind the cut is
// an ErrFault, never zeros, and names the file and the row; so is memory.
func TestConvertCut(t *testing.T) {
	guard.Faults(t)
	const rows, width = 700, 50
	b := bytes.Repeat([]byte{0, 0x3c}, rows*width) // ones
	spec := garner.SpecOf(garner.F16, rows, width)
	for _, cutAt := range []int64{50*2*width + 50, 650 * 2 * width, 699*2*width + 1} {
		for name, make1 := range map[string]func() (Array, string){
			"file": func() (Array, string) {
				path := write(t, "x", b)
				return open(t, spec, nil, Segment{path, 0, int64(len(b))}), path
			},
			"memory": func() (Array, string) {
				m, err := mapped.Open(write(t, "mapped", b))
				if err != nil {
					t.Fatal(err)
				}
				t.Cleanup(func() { m.Close() })
				x, err := garner.FromBytes(garner.F16, m.Bytes(), rows, width)
				if err != nil {
					t.Fatal(err)
				}
				return Memory(m.View(x)), m.Path()
			},
		} {
			a, path := make1()
			view := mustConvert(t, a, garner.F32)
			table, err := NewTable(a)
			if err != nil {
				t.Fatal(err)
			}
			dst := make([]float32, 2*width)
			ids := []int64{3, cutAt / (2 * width)}
			if err := LookupValues(t.Context(), table, ids, dst); err != nil || dst[2*width-1] != 1 {
				t.Fatalf("%s: before the cut: %v, %v", name, err, dst)
			}
			if err := os.Truncate(path, cutAt); err != nil {
				mayNotChange(t, err)
			}
			at := Memory(garner.Of(ids, 2))
			out := garner.Of(make([]float32, 2*width), 2, width)
			for how, err := range map[string]error{
				"LookupValues": LookupValues(t.Context(), table, ids, dst),
				"Fetch":        view.Fetch(t.Context(), Rows{At: []int64{ids[0] * 4 * width, ids[1] * 4 * width}, Size: 4 * width, Dst: make([]byte, 8*width)}),
				"Gather":       Gather(t.Context(), onnx.Gather13{}, view, at, io.Discard, Options{}),
				"GatherInto":   GatherInto(t.Context(), onnx.Gather13{}, view, at, out, Options{}),
				"a budget":     Gather(t.Context(), onnx.Gather13{}, view, at, io.Discard, Options{Memory: 5000}),
			} {
				if !errors.Is(err, garner.ErrFault) {
					t.Errorf("%s of %s, cut at %d: %v, want an ErrFault", how, name, cutAt, err)
				}
				var lost *ReadError
				if name == "file" && (!errors.As(err, &lost) || lost.Path != path || lost.Row < ids[0] || lost.To <= cutAt) {
					t.Errorf("%s, cut at %d: it does not name the bytes: %v", how, cutAt, err)
				}
			}
		}
	}
}

// TestConvertChanged holds that a view says, as the array does, that a file was written
// to since it was opened.
func TestConvertChanged(t *testing.T) {
	b := noise(2000)
	path := write(t, "table", b)
	file := open(t, garner.SpecOf(garner.F16, 10, 100), nil, Segment{path, 0, 2000})
	views := map[string]Array{"file": mustConvert(t, file, garner.F32), "an Array": mustConvert(t, inverted{file}, garner.F32)}
	if err := touch(path); err != nil {
		mayNotChange(t, err)
	}
	for name, view := range views {
		if err := view.(changer).Changed(); !errors.Is(err, ErrChanged) {
			t.Errorf("%s: %v", name, err)
		}
		for _, memory := range []int64{0, 5000} {
			if err := Gather(t.Context(), onnx.Gather13{}, view, Memory(every(10)), io.Discard, Options{Memory: memory}); !errors.Is(err, ErrChanged) {
				t.Errorf("%s, %d: %v, want an ErrChanged", name, memory, err)
			}
		}
	}
	if err := views["an Array"].(io.Closer).Close(); err != nil {
		t.Error(err)
	}
	if err := file.Changed(); !errors.Is(err, fs.ErrClosed) {
		t.Errorf("the Close of a view left the array open: %v", err)
	}
	if err := mustConvert(t, plain{Memory(garner.Of([]float32{1}, 1))}, garner.F16).(io.Closer).Close(); err != nil {
		t.Error(err)
	}
}

// TestConvertOverlap holds that an output is no memory that is converted into it.
func TestConvertOverlap(t *testing.T) {
	values := make([]float32, 100)
	data, err := garner.FromBytes(garner.F16, mapped.BytesOf(values)[:200], 100)
	if err != nil {
		t.Fatal(err)
	}
	out := garner.Of(values[:10], 10)
	if err := GatherInto(t.Context(), onnx.Gather13{}, mustConvert(t, Memory(data), garner.F32), Memory(every(10)), out, Options{}); !errors.Is(err, garner.ErrOverlap) {
		t.Errorf("%v, want an ErrOverlap", err)
	}
}

// TestConvertLarge refuses a view of more bytes than an int counts.
func TestConvertLarge(t *testing.T) {
	_, err := Convert(huge{}, garner.F64)
	if !errors.Is(err, garner.ErrShape) || !strings.Contains(err.Error(), "more bytes than") {
		t.Error(err)
	}
}

// huge is an Array of 2^62 elements of 4 bits, or 2^30 where an int has 32 bits.
type huge struct{}

func (huge) Spec() garner.Spec                 { return garner.SpecOf(garner.NF4, math.MaxInt/2+1) }
func (huge) Fetch(context.Context, Rows) error { return errors.ErrUnsupported }

func ExampleConvert() {
	half := garner.Of([]garner.Float16{0x3c00, 0x4000, 0x7c00, 0xc248}, 2, 2)
	view, err := Convert(Memory(half), garner.F32)
	if err != nil {
		fmt.Println(err)
		return
	}
	out := garner.Of(make([]float32, 2), 1, 2)
	fmt.Println(GatherInto(context.Background(), onnx.Gather13{}, view, Memory(garner.Of([]int64{1}, 1)), out, Options{}), out)
	// Output: <nil> f32[1,2] [[Infinity, -3.140625]]
}

// TestConvertWhole converts a file of every code of 16 bits.
func TestConvertWhole(t *testing.T) {
	b := make([]byte, 2<<16)
	for i := range 1 << 16 {
		binary.LittleEndian.PutUint16(b[2*i:], uint16(i))
	}
	for _, from := range []garner.DType{garner.F16, garner.BF16} {
		file := open(t, garner.SpecOf(from, 256, 256), nil, Segment{write(t, "x", b), 0, int64(len(b))})
		var out bytes.Buffer
		if err := Gather(t.Context(), onnx.Gather13{}, mustConvert(t, file, garner.F32), Memory(garner.Of(sequence(256), 256)), &out, Options{}); err != nil {
			t.Fatal(err)
		}
		if !bytes.Equal(out.Bytes(), widened(t, from, garner.F32, b, 1<<16)) {
			t.Errorf("%s: differs", from)
		}
	}
}

func sequence(n int) []int64 {
	ids := make([]int64, n)
	for i := range ids {
		ids[i] = int64(i)
	}
	return ids
}

// TestGatherDirect gathers many rows of quantised and converted arrays in the page
// cache and in memory, on several cores, with repeats and fills, and of segments that
// divide rows; and after their pages have left the cache.
func TestGatherDirect(t *testing.T) {
	const rows, width = 3000, 96
	r := rand.New(rand.NewPCG(11, 1))
	var decoded atomic.Int64
	counted := &Codec{Elements: scaled.Elements, Bytes: scaled.Bytes, Decode: func(dst, src []byte) {
		decoded.Add(int64(len(src) / scaled.Bytes))
		scaled.Decode(dst, src)
	}}
	b := noise(rows * width / 4 * 5)
	want := make([]byte, rows*width*4)
	scaled.Decode(want, b)
	spec := garner.SpecOf(garner.F32, rows, width)
	half := tensor(r, garner.F16, rows, width)
	halves, _ := half.Bytes()
	ids := make([]int32, 5000)
	for i := range ids {
		ids[i] = int32(r.IntN(rows + 20)) // the last ones are outside
	}
	at := garner.Of(ids, 50, 100)
	one := open(t, spec, counted, Segment{write(t, "scaled", b), 0, int64(len(b))})
	if newDirect(one) == nil && runtime.GOOS == "linux" {
		t.Error("the rows of a quantised file are not decoded from its mapping")
	}
	defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(4))
	for _, op := range []garner.Op{
		garner.WithOutside(onnx.Gather13{}, garner.Zero), garner.WithOutside(onnx.Gather13{}, garner.Clamp),
		garner.WithFill(onnx.Gather13{}, garner.Of([]float32{0.25})),
	} {
		for name, tt := range map[string]struct {
			data Array
			want []byte
		}{
			"codec": {one, want}, "segments": {open(t, spec, scaled, cut(t, r, b, 5)...), want},
			"converted": {mustConvert(t, stored(t, half), garner.F32), widened(t, garner.F16, garner.F32, halves, rows*width)},
			"memory":    {mustConvert(t, Memory(half), garner.F32), widened(t, garner.F16, garner.F32, halves, rows*width)},
		} {
			whole, err := garner.FromBytes(garner.F32, tt.want, rows, width)
			if err != nil {
				t.Fatal(err)
			}
			result, err := garner.Gather(op, whole, at)
			if err != nil {
				t.Fatal(err)
			}
			for turn := range 3 {
				if f, ok := tt.data.(*File); ok && turn == 2 {
					for _, h := range f.files {
						guard.Forget(h.file)
					}
				}
				decoded.Store(0)
				var out bytes.Buffer
				if err := Gather(t.Context(), op, tt.data, Memory(at), &out, Options{}); err != nil || !bytes.Equal(out.Bytes(), bytesOf(t, result)) {
					t.Errorf("Gather of %s, turn %d: %v, or it differs", name, turn, err)
				}
				if most := int64(len(ids) * width / 4); name == "codec" && decoded.Load() > most {
					t.Errorf("%d blocks were decoded, of %d rows", decoded.Load(), len(ids))
				}
				gatherInto(t, name, op, [2]Array{tt.data, Memory(at)}, Options{}, result, nil)
			}
		}
	}
}
