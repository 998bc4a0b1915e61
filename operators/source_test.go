package operators_test

import (
	"bytes"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"testing"

	"github.com/garner-go/garner"
	"github.com/garner-go/garner/operators"
	"github.com/garner-go/garner/source"
)

// FuzzSource throws random attributes and operands at every operator, over
// arrays that need not be in memory and with budgets of a few bytes. What
// source.Gather writes, or says, is what garner.Gather gives.
func FuzzSource(f *testing.F) {
	for seed := range uint64(100) {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, seed uint64) { throwAtSource(t, seed) })
}

// TestSourceOnRandomWords is a short run of FuzzSource, in which every operator
// must have gathered something and refused an index.
func TestSourceOnRandomWords(t *testing.T) {
	gathered := map[string]int{}
	seeds := uint64(12000)
	if testing.Short() {
		seeds = 4000
	}
	for seed := range seeds {
		if name, ran := throwAtSource(t, seed); ran {
			gathered[name]++
		}
	}
	for _, o := range operators.All() {
		if gathered[o.Name] == 0 {
			t.Errorf("%s gathered nothing; the words are badly chosen", o.Name)
		}
	}
}

func throwAtSource(t *testing.T, seed uint64) (name string, ran bool) {
	w := words{rand.New(rand.NewPCG(seed, 78))}
	all := operators.All()
	o := all[w.IntN(len(all))]
	if decodes(o) {
		return o.Name, throwStored(t, w, o, fmt.Sprintf("seed %d: %s", seed, o.Name))
	}
	if len(o.Further()) > 0 {
		return o.Name, throwBags(t, w, o, fmt.Sprintf("seed %d: %s", seed, o.Name))
	}
	ds, is, numbers := w.operands(o)
	about := fmt.Sprintf("seed %d: %s data %v indices %v attributes %v", seed, o.Name, garner.Shape(ds), garner.Shape(is), numbers)
	known, _ := w.inputs(o, numbers)
	op, err := o.Bind(numbers, known...)
	if err != nil {
		return o.Name, false
	}
	types := garner.DTypes()
	dtype, index := types[w.IntN(len(types))], garner.I64
	if w.IntN(3) == 0 {
		index = types[w.IntN(len(types))]
	}
	if dtype == garner.String || index == garner.String {
		return o.Name, false // it has no bytes, and source refuses it as such
	}
	op = w.policy(dtype)(op)
	data, indices := w.tensor(dtype, ds), w.tensor(index, is)
	for i := range indices.Len() {
		if index.IsInteger() && w.IntN(50) > 0 {
			_ = indices.SetText(i, fmt.Sprint(w.IntN(3))) // one that does not fit stays random
		}
	}
	if static, err := garner.Infer(op, data.Spec(), indices.Spec()); err == nil {
		if shape, ok := static.Shape(); ok {
			if n, _ := shape.Len(); n > 4000 {
				return o.Name, false
			}
		}
	}
	want, wantErr := garner.Gather(op, data, indices)
	var all0 []byte
	if wantErr == nil {
		if all0, err = want.Bytes(); err != nil {
			t.Fatal(err)
		}
	}
	d, i := source.Memory(data), source.Memory(indices)
	if w.IntN(20) == 0 {
		// The shapes as they are, however they lie in memory.
		fd, fi := filed(t, data), filed(t, indices)
		defer fd.Close()
		defer fi.Close()
		d, i = fd, fi
	}
	budgets := []int64{0, 1, 1 + w.Int64N(300), 1 + w.Int64N(5000)}
	for _, budget := range budgets {
		var out bytes.Buffer
		o, from := source.Options{Memory: budget}, 0
		if wantErr == nil {
			per := max(1, 8/want.DType().Bits()) // elements that begin with a byte
			first := w.IntN(want.Len()/per+1) * per
			o.Range, from = &source.Range{First: int64(first), End: int64(want.Len())}, first*want.DType().Bits()/8
		}
		err := source.Gather(t.Context(), op, d, i, &out, o)
		switch {
		case wantErr != nil:
			if err == nil || err.Error() != wantErr.Error() {
				t.Errorf("%s, budget %d: %v, want %v", about, budget, err, wantErr)
			}
		case err != nil:
			t.Errorf("%s, budget %d: %v", about, budget, err)
		case !bytes.Equal(out.Bytes(), all0[from:]):
			t.Errorf("%s, budget %d: %x, want %x", about, budget, out.Bytes(), all0[from:])
		}
	}
	return o.Name, wantErr == nil && len(all0) > 0
}

// filed is a tensor's elements in a file, row-major.
func filed(t *testing.T, v garner.Tensor) *source.File {
	t.Helper()
	c, err := v.Clone()
	if err != nil {
		t.Fatal(err)
	}
	b, err := c.Bytes()
	if err != nil {
		t.Fatal(err)
	}
	path := filepath.Join(t.TempDir(), "array")
	if err := os.WriteFile(path, b, 0o666); err != nil {
		t.Fatal(err)
	}
	f, err := source.Open(c.Spec(), nil, source.Segment{Path: path, Bytes: int64(len(b))})
	if err != nil {
		t.Fatal(err)
	}
	return f
}
