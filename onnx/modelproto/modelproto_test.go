package modelproto

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/garner-go/garner"
	"github.com/garner-go/garner/model"
)

// want is what the package onnx reads in a model of testdata, see make.py.
type want struct {
	Loads           bool
	Inputs, Outputs []string
	Gathers         []string
	Initializers    map[string]struct {
		DType  string
		Shape  []int
		Values any // strings, bytes in hex, or their SHA-256
	}
}

func wants(t testing.TB) map[string]want {
	t.Helper()
	b, err := os.ReadFile("testdata/want.json")
	if err != nil {
		t.Fatal(err)
	}
	var list map[string]want
	if err := json.Unmarshal(b, &list); err != nil {
		t.Fatal(err)
	}
	return list
}

func open(t testing.TB, name string) *model.Model {
	t.Helper()
	m, err := Open(filepath.Join("testdata", name))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := m.Close(); err != nil {
			t.Error(err)
		}
	})
	return m
}

// values are all values of a model, by their names.
func values(m *model.Model) map[string]*model.Value {
	all := map[string]*model.Value{}
	add := func(v *model.Value) {
		if v != nil {
			all[v.Name] = v
		}
	}
	for _, v := range m.Graph.Inputs {
		add(v)
	}
	for n := range m.Nodes() {
		for _, v := range append(slices.Clone(n.Inputs), n.Outputs...) {
			add(v)
		}
	}
	for _, r := range m.Graph.Outputs {
		add(r.Value)
	}
	return all
}

// TestReal holds the models of testdata against what the package onnx says of
// them.
func TestReal(t *testing.T) {
	files, err := filepath.Glob("testdata/*.onnx")
	if err != nil {
		t.Fatal(err)
	}
	all := wants(t)
	if len(files) != len(all) || len(files) < 15 {
		t.Fatalf("%d files, %d in want.json", len(files), len(all))
	}
	for name, w := range all {
		t.Run(name, func(t *testing.T) {
			if !w.Loads {
				t.Error("ONNX Runtime did not load it")
			}
			m := open(t, name)
			var inputs, outputs, gathers []string
			for _, v := range m.Graph.Inputs {
				inputs = append(inputs, v.Name)
			}
			for _, r := range m.Graph.Outputs {
				outputs = append(outputs, r.Name)
			}
			for n := range m.Gathers() {
				gathers = append(gathers, n.Operator)
			}
			slices.Sort(gathers)
			if !slices.Equal(inputs, w.Inputs) || !slices.Equal(outputs, w.Outputs) || !slices.Equal(gathers, w.Gathers) {
				t.Errorf("%q %q %q; want %q %q %q", inputs, outputs, gathers, w.Inputs, w.Outputs, w.Gathers)
			}
			used := values(m)
			for name, init := range w.Initializers {
				v, ok := used[name]
				if !ok {
					continue // no node reads it; TestElements has these
				}
				checkInitializer(t, v.Constant, init.DType, init.Shape, init.Values)
			}
		})
	}
}

func checkInitializer(t *testing.T, c *model.Constant, dtype string, shape []int, want any) {
	t.Helper()
	d, err := garner.ParseDType(strings.Replace(strings.ToLower(dtype), "double", "float64", 1))
	if err != nil {
		t.Fatal(err)
	}
	if got, want := c.Spec.String(), garner.SpecOf(d, shape...).String(); got != want {
		t.Errorf("%s is %s; want %s", c.Name, got, want)
	}
	made, err := c.Tensor()
	if err != nil {
		t.Error(err)
		return
	}
	if d == garner.String {
		var list []string
		for _, s := range want.([]any) {
			list = append(list, s.(string))
		}
		if got, err := garner.Values[string](made); err != nil || !slices.Equal(got, list) {
			t.Errorf("%s is %q, %v; want %q", c.Name, got, err, list)
		}
		return
	}
	if c.File != "" {
		file, err := os.ReadFile(c.File)
		if err != nil {
			t.Fatal(err)
		}
		same, err := garner.FromBytes(d, file[c.Offset:c.Offset+c.Size], shape...)
		if err != nil || !d.Packed() && same.Text() != made.Text() {
			t.Errorf("%s: what lies at %d of %s is %v, %v; want %v", c.Name, c.Offset, c.File, same, err, made)
		}
	}
	b, err := unpacked(made)
	if err != nil {
		t.Fatal(err)
	}
	got := hex.EncodeToString(b)
	if len(b) >= 64 {
		sum := sha256.Sum256(b)
		got = hex.EncodeToString(sum[:])
	}
	if got != want {
		t.Errorf("%s is %s; want %s", c.Name, got, want)
	}
}

// unpacked is the bytes of a tensor as numpy has them: a packed element in a
// byte of its own, its sign extended.
func unpacked(made garner.Tensor) ([]byte, error) {
	d := made.DType()
	if !d.Packed() {
		return made.Bytes()
	}
	packed, err := made.Bytes()
	if err != nil {
		return nil, err
	}
	bits := d.Bits()
	b := make([]byte, made.Len())
	for i := range b {
		at := i * bits
		v := packed[at/8] >> (at % 8) & (1<<bits - 1)
		if d == garner.I4 || d == garner.I2 {
			v = byte(int8(v<<(8-bits)) >> (8 - bits))
		}
		b[i] = v
	}
	return b, nil
}
