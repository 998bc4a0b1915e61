package source

import (
	"bytes"
	"context"
	"errors"
	"io"
	"io/fs"
	"math/rand/v2"
	"runtime"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/garner-go/garner"
	"github.com/garner-go/garner/internal/mapped"
	"github.com/garner-go/garner/onnx"
	"github.com/garner-go/garner/strict"
)

// mappedMemory is the Array over a tensor of a mapped file, and that file.
func mappedMemory(t testing.TB, b []byte, shape ...int) (Array, *mapped.File) {
	t.Helper()
	m, err := mapped.Open(write(t, "mapped", b))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { m.Close() })
	x, err := garner.FromBytes(garner.U8, m.Bytes(), shape...)
	if err != nil {
		t.Fatal(err)
	}
	return Memory(m.View(x)), m
}

// TestCloseWhileRead closes arrays while eight goroutines read them in every way:
// each call ends with the right bytes or is an ErrClosed, and later ones are an
// ErrClosed.
func TestCloseWhileRead(t *testing.T) {
	const rows, size = 512, 256
	want := noise(rows * size)
	twice := &Codec{Elements: 1, Bytes: 2, Decode: func(dst, src []byte) {
		for i := range dst {
			dst[i] = src[2*i]
		}
	}}
	doubled := make([]byte, 2*len(want))
	for i, v := range want {
		doubled[2*i] = v
	}
	spec := garner.SpecOf(garner.U8, rows, size)
	path, wide := write(t, "plain", want), write(t, "doubled", doubled)
	// Each opens one array, and says how it is closed.
	arrays := map[string]func() (Array, func() error){
		"file": func() (Array, func() error) {
			f, err := Open(spec, nil, Segment{path, 0, rows * size})
			if err != nil {
				t.Fatal(err)
			}
			return f, f.Close
		},
		"segments": func() (Array, func() error) {
			f, err := Open(spec, nil, Segment{path, 0, 100 * size}, Segment{path, 100 * size, (rows - 100) * size})
			if err != nil {
				t.Fatal(err)
			}
			return f, f.Close
		},
		"codec": func() (Array, func() error) {
			f, err := Open(spec, twice, Segment{wide, 0, 2 * rows * size})
			if err != nil {
				t.Fatal(err)
			}
			return f, f.Close
		},
		"memory": func() (Array, func() error) {
			a, m := mappedMemory(t, want, rows, size)
			return a, m.Close
		},
	}
	// Each makes a call that reads the rows ids to dst.
	reads := map[string]func(a Array) (func(ids []int64, dst []byte) error, error){
		"Table": func(a Array) (func([]int64, []byte) error, error) {
			table, err := NewTable(a)
			return func(ids []int64, dst []byte) error { return Lookup(t.Context(), table, ids, dst) }, err
		},
		"FetchRows": func(a Array) (func([]int64, []byte) error, error) {
			return func(ids []int64, dst []byte) error {
				at := make([]int64, len(ids))
				for i, id := range ids {
					at[i] = id * size
				}
				return FetchRows(t.Context(), a, at, size, dst)
			}, nil
		},
		"Gather": func(a Array) (func([]int64, []byte) error, error) {
			return func(ids []int64, dst []byte) error {
				return Gather(t.Context(), onnx.Gather13{}, a, Memory(garner.Of(ids, len(ids))), &into{dst}, Options{})
			}, nil
		},
		"Gather with a budget": func(a Array) (func([]int64, []byte) error, error) {
			return func(ids []int64, dst []byte) error {
				return Gather(t.Context(), onnx.Gather13{}, a, Memory(garner.Of(ids, len(ids))), &into{dst}, Options{Memory: 4000})
			}, nil
		},
		"GatherInto": func(a Array) (func([]int64, []byte) error, error) {
			return func(ids []int64, dst []byte) error {
				out, _ := garner.FromBytes(garner.U8, dst, len(ids), size)
				return GatherInto(t.Context(), onnx.Gather13{}, a, Memory(garner.Of(ids, len(ids))), out, Options{})
			}, nil
		},
		"Tensor": func(a Array) (func([]int64, []byte) error, error) {
			x, ok := a.(interface{ Tensor() (garner.Tensor, bool) }).Tensor()
			if !ok {
				return nil, nil
			}
			return func(ids []int64, dst []byte) error {
				out, _ := garner.FromBytes(garner.U8, dst, len(ids), size)
				return garner.GatherInto(t.Context(), strict.Gather{}, x, garner.Of(ids, len(ids)), out)
			}, nil
		},
		"indices": func(a Array) (func([]int64, []byte) error, error) {
			// The rows are the indices: they select themselves from 0 … 255.
			each := garner.Of(make([]byte, 256), 256)
			for i := range 256 {
				if err := each.SetText(i, garner.Index{Bits: uint64(i)}.String()); err != nil {
					return nil, err
				}
			}
			plan, err := garner.NewPlan(onnx.Gather13{}, each.Spec(), a.Spec())
			if err != nil {
				return nil, err
			}
			r, err := NewResolver(plan, a, 0)
			return func(ids []int64, dst []byte) error {
				at := make([]int64, size)
				for i, id := range ids {
					if _, err := r.Rows(t.Context(), at, int(id)*size); err != nil {
						return err
					}
					for j, v := range at {
						dst[i*size+j] = byte(v)
					}
				}
				return nil
			}, err
		},
	}
	for array, open := range arrays {
		for name, makeRead := range reads {
			t.Run(name+" of "+array, func(t *testing.T) {
				for round := range 2 {
					a, closes := open()
					read, err := makeRead(a)
					if err != nil {
						t.Fatal(err)
					}
					if read == nil {
						t.Skip("it has no view")
					}
					var begun sync.WaitGroup
					var all sync.WaitGroup
					var closed atomic.Bool
					for g := range 8 {
						begun.Add(1)
						all.Go(func() {
							r := rand.New(rand.NewPCG(uint64(g), uint64(round)))
							ids, dst := make([]int64, 16), make([]byte, 16*size)
							for turn := 0; ; turn++ {
								for i := range ids {
									ids[i] = r.Int64N(rows)
								}
								late := closed.Load()
								err := read(ids, dst)
								if turn == 0 {
									begun.Done()
								}
								if late && !errors.Is(err, fs.ErrClosed) {
									t.Errorf("after Close: %v, want an ErrClosed", err)
								}
								if errors.Is(err, fs.ErrClosed) && turn > 0 {
									return
								}
								if err != nil {
									t.Error(err)
									return
								}
								runtime.Gosched() // the goroutine that closes waits for a core
								for i, id := range ids {
									if !bytes.Equal(dst[i*size:][:size], want[id*size:][:size]) {
										t.Errorf("row %d is another", id)
										return
									}
								}
							}
						})
					}
					begun.Wait()
					if err := closes(); err != nil {
						t.Error(err)
					}
					closed.Store(true)
					all.Wait()
				}
			})
		}
	}
}

// TestCloseInside closes data and indices from inside a Gather that reads them: the
// run ends right.
func TestCloseInside(t *testing.T) {
	const rows = 70000 // several blocks
	want := noise(rows * 100)
	for _, memory := range []int64{0, 100000} {
		file := open(t, garner.SpecOf(garner.U8, rows, 100), nil, Segment{write(t, "table", want), 0, rows * 100})
		inMemory, m := mappedMemory(t, want, rows, 100)
		at := stored(t, every(rows))
		ids, _ := garner.Values[int64](every(rows))
		for name, data := range map[string]Array{"file": file, "memory": inMemory} {
			var out bytes.Buffer
			if err := Gather(t.Context(), onnx.Gather13{}, data, at, &out, Options{Memory: memory, Progress: func(done, total int64) {
				if done > 0 && data == Array(file) {
					file.Close()
				} else if done > 0 {
					m.Close()
				}
			}}); err != nil {
				t.Errorf("%s, %d: %v", name, memory, err)
				continue
			}
			for i, id := range ids {
				if !bytes.Equal(out.Bytes()[i*100:][:100], want[id*100:][:100]) {
					t.Fatalf("%s, %d: row %d is another", name, memory, id)
				}
			}
			if err := Gather(t.Context(), onnx.Gather13{}, data, at, io.Discard, Options{Memory: memory}); !errors.Is(err, fs.ErrClosed) {
				t.Errorf("%s, %d, once more: %v, want an ErrClosed", name, memory, err)
			}
		}
	}
}

// TestClosed holds that every method says that the array was closed.
func TestClosed(t *testing.T) {
	file := open(t, garner.SpecOf(garner.I64, 100), nil, Segment{write(t, "x", make([]byte, 800)), 0, 800})
	plan, err := garner.NewPlan(onnx.Gather13{}, garner.SpecOf(garner.U8, 5), file.Spec())
	if err != nil {
		t.Fatal(err)
	}
	resolver, err := NewResolver(plan, file, 0)
	if err != nil {
		t.Fatal(err)
	}
	view, ok := file.Tensor()
	if err := file.Close(); err != nil {
		t.Fatal(err)
	}
	one := Memory(garner.Of([]int64{0}, 1))
	out := garner.Of(make([]int64, 1), 1)
	_, survey := resolver.Survey(t.Context())
	_, rows := resolver.Rows(t.Context(), make([]int64, 1), 0)
	_, table := NewTable(file)
	_, made := NewResolver(plan, file, 0)
	_, clone := view.Clone()
	_, element := view.Int(0)
	for name, err := range map[string]error{
		"Fetch":       file.Fetch(t.Context(), Rows{At: []int64{0}, Size: 1, Dst: make([]byte, 1)}),
		"Changed":     file.Changed(),
		"Gather":      Gather(t.Context(), onnx.Gather13{}, file, one, io.Discard, Options{}),
		"indices":     Gather(t.Context(), onnx.Gather13{}, one, file, io.Discard, Options{}),
		"GatherInto":  GatherInto(t.Context(), onnx.Gather13{}, file, one, out, Options{}),
		"FetchRows":   FetchRows(t.Context(), file, []int64{0}, 1, make([]byte, 1)),
		"NewTable":    table,
		"NewResolver": made,
		"Survey":      survey,
		"Rows":        rows,
		"Clone":       clone,
		"Int":         element,
	} {
		if !errors.Is(err, fs.ErrClosed) && (ok || name != "Clone" && name != "Int") {
			t.Errorf("%s: %v, want an ErrClosed", name, err)
		}
	}
	if _, ok := file.Tensor(); ok || file.Ways() != nil || file.Way(Rows{At: []int64{0}, Size: 1}) != Pread {
		t.Error("a closed file is mapped")
	}
}

// TestNil holds that a nil Array and zero values are errors.
func TestNil(t *testing.T) {
	one := Memory(garner.Of([]int64{0}, 1))
	plan, err := garner.NewPlan(onnx.Gather13{}, one.Spec(), one.Spec())
	if err != nil {
		t.Fatal(err)
	}
	_, table := NewTable(nil)
	_, resolver := NewResolver(plan, nil, 0)
	_, rows := new(Resolver).Rows(t.Context(), make([]int64, 1), 0)
	_, survey := new(Resolver).Survey(t.Context())
	for name, err := range map[string]error{
		"data":        Gather(t.Context(), onnx.Gather13{}, nil, one, io.Discard, Options{}),
		"indices":     Gather(t.Context(), onnx.Gather13{}, one, nil, io.Discard, Options{}),
		"GatherInto":  GatherInto(t.Context(), onnx.Gather13{}, nil, nil, garner.Tensor{}, Options{}),
		"FetchRows":   FetchRows(t.Context(), nil, []int64{0}, 1, make([]byte, 1)),
		"NewTable":    table,
		"NewResolver": resolver,
		"Rows":        rows,
		"Survey":      survey,
		"Table":       Lookup(t.Context(), new(Table), []int{0}, nil),
		"File":        new(File).Fetch(t.Context(), Rows{At: []int64{0}, Size: 1, Dst: make([]byte, 1)}),
	} {
		if !errors.Is(err, garner.ErrShape) {
			t.Errorf("%s: %v, want an ErrShape", name, err)
		}
	}
}

// panicky is an Array whose Fetch panics.
type panicky struct{ Array }

func (panicky) Fetch(context.Context, Rows) error { panic("Fetch, on purpose") }

// TestPanics holds that a panic of user code, on whichever goroutine, is one of the
// caller, and leaves no goroutine and no read in flight.
func TestPanics(t *testing.T) {
	const rows = 4000
	b := noise(rows * 1000)
	bad := &Codec{Elements: 1, Bytes: 2, Decode: func(dst, src []byte) {
		time.Sleep(time.Microsecond)
		panic("Decode, on purpose")
	}}
	coded := func() *File {
		return open(t, garner.SpecOf(garner.I16, rows, 500), bad, Segment{write(t, "coded", b), 0, int64(len(b))})
	}
	data := Memory(garner.Of(b, rows, 1000))
	whole := Rows{Size: 1000, Dst: make([]byte, rows*1000)}
	for i := range rows {
		whole.At = append(whole.At, int64(i)*1000)
	}
	calls := map[string]func() error{
		"Array": func() error {
			return Gather(t.Context(), onnx.Gather13{}, panicky{data}, Memory(every(rows)), io.Discard, Options{})
		},
		"indices": func() error {
			return Gather(t.Context(), onnx.Gather13{}, data, panicky{Memory(every(rows))}, io.Discard, Options{Memory: 1000})
		},
		"codec": func() error {
			return Gather(t.Context(), onnx.Gather13{}, coded(), Memory(every(rows)), io.Discard, Options{})
		},
		"budget": func() error {
			return Gather(t.Context(), onnx.Gather13{}, coded(), Memory(every(rows)), io.Discard, Options{Memory: 50000})
		},
		"Writer": func() error {
			return Gather(t.Context(), onnx.Gather13{}, data, Memory(every(rows)), panickyWriter{}, Options{})
		},
		"Progress": func() error {
			return Gather(t.Context(), onnx.Gather13{}, data, Memory(every(rows)), io.Discard, Options{Progress: func(int64, int64) { panic("Progress, on purpose") }})
		},
		"Table": func() error {
			table, err := NewTable(coded())
			if err != nil {
				return err
			}
			return Lookup(t.Context(), table, []int{1, 2, 3, rows - 1}, make([]byte, 4000))
		},
	}
	for _, way := range coded().Ways() {
		calls[way.String()] = func() error { return coded().FetchBy(t.Context(), way, whole) }
	}
	for name, call := range calls {
		t.Run(name, func(t *testing.T) {
			noLeak(t)
			defer func() {
				if r, _ := recover().(string); len(r) < 12 || r[len(r)-12:] != ", on purpose" {
					t.Errorf("recovered %q", r)
				}
			}()
			t.Error("no panic: ", call())
		})
	}
}

type panickyWriter struct{}

func (panickyWriter) Write([]byte) (int, error) { panic("Write, on purpose") }

// TestGoexit holds that no call returns where user code ends the goroutine that it
// runs on, as t.FailNow does: its result would lack rows.
func TestGoexit(t *testing.T) {
	const rows = 4000
	b := noise(rows * 1000)
	leaves := &Codec{Elements: 1, Bytes: 2, Decode: func(dst, src []byte) { runtime.Goexit() }}
	f := open(t, garner.SpecOf(garner.I16, rows, 500), leaves, Segment{write(t, "coded", b), 0, int64(len(b))})
	whole := Rows{Size: 1000, Dst: make([]byte, rows*1000)}
	for i := range rows {
		whole.At = append(whole.At, int64(i)*1000)
	}
	calls := map[string]func() error{
		"Gather": func() error {
			return Gather(t.Context(), onnx.Gather13{}, f, Memory(every(rows)), io.Discard, Options{})
		},
	}
	// Stored rows, and scales that lie apart, are fetched on goroutines of their own.
	leave := func(context.Context, int, Rows) error { runtime.Goexit(); return nil }
	for name, c := range storedTables(t, 3000) {
		calls[name] = func() error {
			return Gather(t.Context(), c.op, &watched{Array: Memory(c.data), before: leave}, Memory(every(3000)), io.Discard, Options{})
		}
	}
	op, operands, indices, _ := scaledRows(t, func(_ context.Context, _, _ int) error { runtime.Goexit(); return nil })
	calls["scales"] = func() error {
		return Gather(t.Context(), op, operands[0], Memory(indices), io.Discard, Options{Further: operands[1:]})
	}
	for _, way := range f.Ways() {
		calls[way.String()] = func() error { return f.FetchBy(t.Context(), way, whole) }
	}
	for name, call := range calls {
		noLeak(t)
		done := make(chan struct{})
		go func() {
			defer close(done)
			t.Errorf("%s returns: %v", name, call())
		}()
		<-done
	}
}
