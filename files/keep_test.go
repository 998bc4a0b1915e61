package files

import (
	"bytes"
	"errors"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/garner-go/garner"
	"github.com/garner-go/garner/format/npy"
	"github.com/garner-go/garner/format/npz"
	"github.com/garner-go/garner/format/safetensors"
	"github.com/garner-go/garner/internal/guard"
	"github.com/garner-go/garner/model"
	"github.com/garner-go/garner/onnx"
	"github.com/garner-go/garner/source"
	"github.com/garner-go/garner/strict"
)

// A view is an array in a mapped file that something keeps open.
type view struct {
	path   string // the file of the elements
	close  func() error
	array  source.Array
	tensor garner.Tensor
}

// views opens views of every reader over a table of 90 rows of 30 elements.
func views(t *testing.T, x garner.Tensor) map[string]func() view {
	t.Helper()
	dir := t.TempDir()
	at := func(name string) string { return filepath.Join(dir, name) }
	saved := func(name string) string { // a file of its own for each view
		t.Helper()
		o := CreateOptions{Name: "x"}
		if filepath.Ext(name) == ".npy" {
			o.Name = ""
		}
		if err := Save(t.Context(), at(name), x, o); err != nil {
			t.Fatal(err)
		}
		return at(name)
	}
	plain := func(path string, c io.Closer, x garner.Tensor) view { return view{path, c.Close, source.Memory(x), x} }
	opened := func(path, operand string) view {
		a := must(Open(t.Context(), operand, Options{}))
		v := view{path: path, close: a.Close, array: a}
		v.tensor, _ = a.(interface{ Tensor() (garner.Tensor, bool) }).Tensor()
		return v
	}
	constant := func(path, elements string) view {
		m := must(OpenModel(path, ModelOptions{}))
		c := table(t, m)
		return view{at(elements), m.Close, must(c.Array()), must(c.Tensor())}
	}
	copied := func(from, to string) {
		t.Helper()
		save(t, at(to), must(os.ReadFile(from)))
	}
	return map[string]func() view{
		"npy": func() view {
			p := saved("a.npy")
			f := must(npy.Open(p, npy.Options{}))
			return plain(p, f, f.Tensor())
		},
		"npz": func() view {
			p := saved("a.npz")
			f := must(npz.Open(p, npz.Options{}))
			return plain(p, f, must(f.Tensor("x")))
		},
		"safetensors": func() view {
			p := saved("a.safetensors")
			f := must(safetensors.Open(p))
			return plain(p, f, must(f.Tensor("x")))
		},
		"files.Open npy":         func() view { p := saved("b.npy"); return opened(p, p) },
		"files.Open npz":         func() view { p := saved("b.npz"); return opened(p, p+"#x") },
		"files.Open safetensors": func() view { p := saved("b.safetensors"); return opened(p, p+"#x") },
		"files.Open gguf":        func() view { p := saved("b.gguf"); return opened(p, p+"#x") },
		"files.Tensor": func() view {
			p := saved("c.npy")
			x, done, err := Tensor(t.Context(), p, Options{})
			if err != nil {
				t.Fatal(err)
			}
			return view{p, done, source.Memory(x), x}
		},
		"ONNX": func() view {
			copied("../onnx/modelproto/testdata/torch_embedding.onnx", "a.onnx")
			return constant(at("a.onnx"), "a.onnx")
		},
		"ONNX, beside": func() view {
			copied("../onnx/modelproto/testdata/torch_embedding_external.onnx", "b.onnx")
			copied("../onnx/modelproto/testdata/torch_embedding_external.data", "torch_embedding_external.data")
			return constant(at("b.onnx"), "torch_embedding_external.data")
		},
		"OpenVINO": func() view {
			copied("../openvino/ir/testdata/embedding.xml", "a.xml")
			copied("../openvino/ir/testdata/embedding.bin", "a.bin")
			return constant(at("a.xml"), "a.bin")
		},
	}
}

// table is the largest constant of a model that lies in a file.
func table(t *testing.T, m *model.Model) *model.Constant {
	t.Helper()
	var found *model.Constant
	for n := range m.Nodes() {
		for _, v := range n.Inputs {
			if v != nil && v.Constant != nil && v.Constant.File != "" && (found == nil || v.Constant.Size > found.Size) {
				found = v.Constant
			}
		}
	}
	if found == nil {
		t.Fatalf("%s has no constant in a file", m.Path)
	}
	return found
}

func numbered() garner.Tensor {
	values := make([]float32, 90*30)
	for i := range values {
		values[i] = float32(i + 1)
	}
	return garner.Of(values, 90, 30)
}

// reads are calls that read a view whole, and return its bytes. A call that reads
// nothing else is nil.
func (v view) reads(t *testing.T) map[string]func() ([]byte, error) {
	t.Helper()
	shape, _ := v.array.Spec().Shape()
	size := v.tensor.Len() * v.tensor.DType().Bits() / 8
	all := make([]int64, shape[0])
	for i := range all {
		all[i] = int64(i)
	}
	ids := garner.Of(all, len(all))
	rows := must(source.NewTable(v.array))
	return map[string]func() ([]byte, error){
		"Clone": func() ([]byte, error) {
			x, err := v.tensor.Clone()
			if err != nil {
				return nil, err
			}
			return x.Bytes()
		},
		"Gather": func() ([]byte, error) {
			x, err := garner.Gather(strict.Gather{}, v.tensor, ids)
			if err != nil {
				return nil, err
			}
			return x.Bytes()
		},
		"source.Gather": func() ([]byte, error) {
			var out bytes.Buffer
			err := source.Gather(t.Context(), onnx.Gather13{}, v.array, source.Memory(ids), &out, source.Options{})
			return out.Bytes(), err
		},
		"Lookup": func() ([]byte, error) {
			dst := make([]byte, size)
			return dst, source.Lookup(t.Context(), rows, all, dst)
		},
		"written": func() ([]byte, error) {
			var out bytes.Buffer
			err := npy.Write(&out, v.tensor)
			if err != nil {
				return nil, err
			}
			return out.Bytes()[out.Len()-size:], nil
		},
	}
}

// TestCutInsideAPage cuts the last byte of each reader's file: the page reads as a zero
// there, and every call is an ErrFault.
func TestCutInsideAPage(t *testing.T) {
	guard.Faults(t)
	if runtime.GOOS == "windows" {
		t.Skip("Windows keeps a mapped file from being cut short")
	}
	for name, open := range views(t, numbered()) {
		v := open()
		reads := v.reads(t)
		want := bytesOf(v.tensor)
		for how, read := range reads {
			if got, err := read(); err != nil || !bytes.Equal(got, want) {
				t.Errorf("%s, %s: %v, or other bytes", name, how, err)
			}
		}
		at := bytes.Index(must(os.ReadFile(v.path)), want)
		if at < 0 {
			t.Fatalf("%s: its elements are not in %s", name, v.path)
		}
		if err := os.Truncate(v.path, int64(at+len(want)-1)); err != nil {
			t.Fatal(err)
		}
		for how, read := range reads {
			if _, err := read(); !errors.Is(err, garner.ErrFault) {
				t.Errorf("%s, %s: %v, want an ErrFault", name, how, err)
			}
		}
		if err := v.close(); err != nil {
			t.Error(err)
		}
	}
}

// TestCloseWhileRead closes each reader while eight goroutines read its array.
func TestCloseWhileRead(t *testing.T) {
	for name, open := range views(t, numbered()) {
		for round := range 3 {
			v := open()
			reads, want := v.reads(t), bytesOf(v.tensor)
			var all, begun sync.WaitGroup
			var closed atomic.Bool
			for how, read := range reads {
				for range 2 {
					begun.Add(1)
					all.Go(func() {
						for turn := 0; ; turn++ {
							late := closed.Load()
							got, err := read()
							if turn == 0 {
								begun.Done()
							}
							runtime.Gosched() // the goroutine that closes waits for a core
							switch {
							case errors.Is(err, fs.ErrClosed) && turn > 0:
								return
							case err != nil || late || !bytes.Equal(got, want):
								t.Errorf("%s, %s, %d: %v, after Close: %t, or other bytes", name, how, round, err, late)
								return
							}
						}
					})
				}
			}
			begun.Wait()
			if err := v.close(); err != nil {
				t.Error(err)
			}
			closed.Store(true)
			all.Wait()
		}
	}
}
