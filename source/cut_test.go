package source

import (
	"bytes"
	"errors"
	"io"
	"os"
	"testing"
	"time"

	"github.com/garner-go/garner"
	"github.com/garner-go/garner/internal/guard"
	"github.com/garner-go/garner/onnx"
	"github.com/garner-go/garner/strict"
)

// TestCutInsideAPage cuts a mapped file inside a page, whose rest then reads as zeros:
// what wants bytes behind the cut is an ErrFault, in every way of reading, wherever in
// the file the cut is; and what wants none gives the right bytes.
func TestCutInsideAPage(t *testing.T) {
	guard.Faults(t)
	const rows, size = 700, 100 // 17 pages and 368 bytes
	want := bytes.Repeat([]byte{7}, rows*size)
	spec := garner.SpecOf(garner.U8, rows, size)
	same := &Codec{Elements: 1, Bytes: 1, Decode: func(dst, src []byte) { copy(dst, src) }}
	type opened struct {
		array Array
		path  string
	}
	arrays := map[string]func() opened{
		"file": func() opened {
			path := write(t, "x", want)
			return opened{open(t, spec, nil, Segment{path, 0, rows * size}), path}
		},
		"codec": func() opened {
			path := write(t, "x", want)
			return opened{open(t, spec, same, Segment{path, 0, rows * size}), path}
		},
		"segments": func() opened {
			path := write(t, "x", want)
			return opened{open(t, spec, nil, Segment{path, 0, 30 * size}, Segment{path, 30 * size, (rows - 30) * size}), path}
		},
		"memory": func() opened {
			a, m := mappedMemory(t, want, rows, size)
			return opened{a, m.Path()}
		},
	}
	for name, make1 := range arrays {
		for _, cut := range []int{50*size + 50, 650 * size, 699*size + 1} {
			o := make1()
			a := o.array
			table, err := NewTable(a)
			if err != nil {
				t.Fatal(err)
			}
			behind := []int64{3, int64(cut / size)} // a row before the cut, and the one that it is in
			before := []int64{3, 4}
			dst := make([]byte, 2*size)
			if err := Lookup(t.Context(), table, behind, dst); err != nil || !bytes.Equal(dst, want[:2*size]) {
				t.Fatalf("%s: before the cut: %v", name, err)
			}
			view, viewed := a.(interface{ Tensor() (garner.Tensor, bool) }).Tensor()
			if err := os.Truncate(o.path, int64(cut)); err != nil {
				mayNotChange(t, err)
			}
			reads := map[string]func(ids []int64, dst []byte) error{
				"Lookup": func(ids []int64, dst []byte) error { return Lookup(t.Context(), table, ids, dst) },
				"FetchRows": func(ids []int64, dst []byte) error {
					return FetchRows(t.Context(), a, []int64{ids[0] * size, ids[1] * size}, size, dst)
				},
				"Gather": func(ids []int64, dst []byte) error {
					return Gather(t.Context(), onnx.Gather13{}, a, Memory(garner.Of(ids, 2)), &into{dst}, Options{})
				},
				"GatherInto": func(ids []int64, dst []byte) error {
					out, _ := garner.FromBytes(garner.U8, dst, 2, size)
					return GatherInto(t.Context(), onnx.Gather13{}, a, Memory(garner.Of(ids, 2)), out, Options{})
				},
				"a budget": func(ids []int64, dst []byte) error {
					return Gather(t.Context(), onnx.Gather13{}, a, Memory(garner.Of(ids, 2)), &into{dst}, Options{Memory: 5000})
				},
			}
			if f, ok := a.(*File); ok {
				for _, way := range f.Ways() {
					reads[way.String()] = func(ids []int64, dst []byte) error {
						return f.FetchBy(t.Context(), way, Rows{At: []int64{ids[0] * size, ids[1] * size}, Size: size, Dst: dst})
					}
				}
			}
			if viewed {
				reads["a view"] = func(ids []int64, dst []byte) error {
					out, _ := garner.FromBytes(garner.U8, dst, 2, size)
					return garner.GatherInto(t.Context(), strict.Gather{}, view, garner.Of(ids, 2), out)
				}
				reads["a clone"] = func(ids []int64, dst []byte) error {
					_, err := view.Clone()
					return err
				}
			}
			for how, read := range reads {
				if err := read(behind, dst); !errors.Is(err, garner.ErrFault) {
					t.Errorf("%s of %s, cut at %d: %v, want an ErrFault", how, name, cut, err)
				}
				clear(dst)
				if err := read(before, dst); err == nil && !bytes.Equal(dst, want[:2*size]) {
					t.Errorf("%s of %s, cut at %d: other bytes before the cut", how, name, cut)
				} else if err != nil && !errors.Is(err, garner.ErrFault) {
					t.Errorf("%s of %s, cut at %d: before the cut: %v", how, name, cut, err)
				}
			}
		}
	}
}

// TestCutIndices cuts the file of the indices inside a page: the rest would be zeros,
// and those an index.
func TestCutIndices(t *testing.T) {
	const n = 1000
	ones := garner.Of(bytes.Repeat([]byte{1}, n), n)
	data := garner.Of([]int64{5, 6}, 2)
	for _, memory := range []int64{0, 5000} {
		at := stored(t, ones)
		plan, err := garner.NewPlan(onnx.Gather13{}, data.Spec(), at.Spec())
		if err != nil {
			t.Fatal(err)
		}
		r, err := NewResolver(plan, at, memory)
		if err != nil {
			t.Fatal(err)
		}
		view, viewed := at.Tensor()
		if err := os.Truncate(at.files[0].path, n/2); err != nil {
			mayNotChange(t, err)
		}
		out := garner.Of(make([]int64, n), n)
		_, rows := r.Rows(t.Context(), make([]int64, n), 0)
		_, survey := r.Survey(t.Context())
		errs := map[string]error{
			"Rows":       rows,
			"Survey":     survey,
			"Gather":     Gather(t.Context(), onnx.Gather13{}, Memory(data), at, io.Discard, Options{Memory: memory}),
			"GatherInto": GatherInto(t.Context(), onnx.Gather13{}, Memory(data), at, out, Options{Memory: memory}),
		}
		if viewed {
			errs["a view"] = garner.GatherInto(t.Context(), strict.Gather{}, data, view, out)
			errs["Check"] = plan.Check(t.Context(), view)
		}
		for name, err := range errs {
			if !errors.Is(err, garner.ErrFault) {
				t.Errorf("%s, %d: %v, want an ErrFault", name, memory, err)
			}
		}
	}
}

// TestLookupRewritten holds that a Table whose file was written to, extended or cut
// since it was opened says so, though no row that is asked for lies behind its end.
func TestLookupRewritten(t *testing.T) {
	swap := &Codec{Elements: 1, Bytes: 1, Decode: func(dst, src []byte) { copy(dst, src) }}
	for name, change := range map[string]func(path string) error{
		"written":   touch,
		"rewritten": rewrite,
		"extended":  func(path string) error { return os.Truncate(path, 5000) },
		"cut":       func(path string) error { return os.Truncate(path, 2000) },
	} {
		for _, codec := range []*Codec{nil, swap} {
			path := write(t, "x", noise(4000))
			table, err := NewTable(open(t, garner.SpecOf(garner.U8, 40, 100), codec, Segment{path, 0, 4000}))
			if err != nil {
				t.Fatal(err)
			}
			dst := make([]byte, 200)
			if err := Lookup(t.Context(), table, []int{1, 2}, dst); err != nil {
				t.Fatal(err)
			}
			if err := change(path); err != nil {
				mayNotChange(t, err)
			}
			time.Sleep(time.Duration(2 * lookEach))
			for range 2 {
				if err := Lookup(t.Context(), table, []int{1, 2}, dst); !errors.Is(err, ErrChanged) {
					t.Errorf("%s: %v, want an ErrChanged", name, err)
				}
			}
		}
	}
}
