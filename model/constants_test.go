package model_test

import (
	"bytes"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/garner-go/garner"
	"github.com/garner-go/garner/model"
	"github.com/garner-go/garner/source"
	"github.com/garner-go/garner/strict"
)

// shared is a model whose constants share names, and one that two nodes read.
func shared() *model.Model {
	value := func(name, constant string, aliases ...string) *model.Value {
		c := model.NewConstant(constant, garner.SpecOf(garner.I8, 1), func() (garner.Tensor, error) { return garner.Of([]int8{1}, 1), nil })
		return &model.Value{Name: name, Aliases: aliases, Spec: c.Spec, Constant: c}
	}
	table := value("emb.weight", "emb.weight")
	inner := &model.Graph{Nodes: []*model.Node{{Inputs: []*model.Value{table, value("b", "x")}}}, Outputs: []model.Result{{Value: value("c", "x")}}}
	return &model.Model{Path: "m.onnx", Graph: &model.Graph{
		Inputs: []*model.Value{value("in", "default"), {Name: "given"}},
		Nodes: []*model.Node{
			{Inputs: []*model.Value{table, nil, value("val_0", "Constant#3", "other", "emb.weight#0")}},
			{Graphs: []model.Subgraph{{Graph: inner}, {}}},
		},
		Outputs: []model.Result{{Value: table}},
	}}
}

func TestConstants(t *testing.T) {
	m := shared()
	var all []string
	for name, c := range m.Constants() {
		all = append(all, name)
		if found, err := m.Constant(name); err != nil || found != c {
			t.Errorf("%s: %v, %v", name, found, err)
		}
	}
	if got := strings.Join(all, " "); got != "default emb.weight Constant#3 x#0 x#1" {
		t.Error(got)
	}
	for range m.Constants() {
		break
	}
	for name, constant := range map[string]string{"val_0": "Constant#3", "other": "Constant#3", "b": "x", "emb.weight#0": "Constant#3"} {
		if c, err := m.Constant(name); err != nil || c.Name != constant {
			t.Errorf("%s: %v, %v", name, c, err)
		}
	}
	for name, want := range map[string]struct {
		class error
		text  string
	}{
		"x":   {garner.ErrAttribute, `m.onnx has 2 constants named "x"; name one of them as x#0 to x#1`},
		"x#2": {fs.ErrNotExist, `m.onnx: it has no constant "x#2"; it has 5 of other names`},
		"":    {fs.ErrNotExist, "it has no constant"},
	} {
		if _, err := m.Constant(name); !errors.Is(err, want.class) || !strings.Contains(err.Error(), want.text) {
			t.Errorf("%s: %v; want %s", name, err, want.text)
		}
	}
	if _, err := (&model.Model{}).Constant("x"); !errors.Is(err, fs.ErrNotExist) {
		t.Error(err)
	}
}

// TestConstantsReached reaches constants whose made names others have as their own, as
// the name of a value, and those that nothing reads.
func TestConstantsReached(t *testing.T) {
	value := func(name, constant string) *model.Value {
		return &model.Value{Name: name, Constant: model.NewConstant(constant, garner.SpecOf(garner.I8), nil)}
	}
	read := value("a", "a")
	inner := &model.Graph{Nodes: []*model.Node{{Inputs: []*model.Value{value("x#1", "x"), value("y", "x")}}}, Constants: []*model.Value{value("x", "x")}}
	m := &model.Model{Path: "m.onnx", Graph: &model.Graph{
		Nodes:     []*model.Node{{Graphs: []model.Subgraph{{Graph: inner}}}, {Inputs: []*model.Value{read}}},
		Constants: []*model.Value{value("x#0", "x#0"), value("x#2", "x#2"), value("x#2", "x#2"), read, value("unread", "unread")},
	}}
	var all []string
	reached := map[*model.Constant]bool{}
	for name, c := range m.Constants() {
		all = append(all, name)
		if found, err := m.Constant(name); err != nil || found != c {
			t.Errorf("%s: %v, %v", name, found, err)
		}
		reached[c] = true
	}
	if got := strings.Join(all, " "); got != "x#1 x#3 x#4 a x#0 x#2#0 x#2#1 unread" || len(reached) != len(all) {
		t.Error(got)
	}
	if _, err := m.Constant("x"); err == nil || !strings.Contains(err.Error(), "name one of them as x#1 to x#4") {
		t.Error(err)
	}
}

// TestNoConstant reads the constant of a value that has none, and finds the one behind the nodes
// that pass it on.
func TestNoConstant(t *testing.T) {
	c := model.NewConstant("table", garner.SpecOf(garner.I8, 1), func() (garner.Tensor, error) { return garner.Of([]int8{1}, 1), nil })
	table := &model.Value{Name: "table", Constant: c}
	behind := func(v *model.Value, ops ...string) *model.Value {
		for _, op := range ops {
			v = &model.Value{From: &model.Node{Op: op, Inputs: []*model.Value{v}}}
		}
		return v
	}
	for _, tt := range []struct {
		v    *model.Value
		want *model.Constant
	}{
		{nil, nil}, {table, c}, {behind(table, "ReadVariableOp"), c}, {behind(table, "ReadVariableOp", "Identity"), c},
		{behind(table, "Neg"), nil}, {behind(table, "Neg", "Identity"), nil}, {behind(nil, "Identity"), nil},
		{behind(&model.Value{Constant: c, Default: true}, "Identity"), nil}, {&model.Value{Name: "input"}, nil},
		{&model.Value{From: &model.Node{Op: "Identity"}}, nil},
	} {
		if got := tt.v.Held(); got != tt.want {
			t.Errorf("%v: %v; want %v", tt.v, got, tt.want)
		}
	}
	none := behind(table, "ReadVariableOp").Constant
	for name, read := range map[string]func() error{
		"Tensor": func() error { _, err := none.Tensor(); return err },
		"Array":  func() error { _, err := none.Array(); return err },
		"Open":   func() error { _, err := none.Open(); return err },
		"OpenAs": func() error { _, err := none.OpenAs(c.Spec); return err },
		"Hold":   func() error { _, err := none.Hold(); return err },
		"Pieces": func() error { return none.Pieces(t.Context(), nil) },
	} {
		var at *model.Error
		if err := read(); !errors.As(err, &at) || !errors.Is(err, garner.ErrAttribute) || !strings.Contains(err.Error(), "take Value.Held") {
			t.Errorf("%s: %v", name, err)
		}
	}
	if n, ok := none.Bytes(); n != 0 || ok || none.Unread() {
		t.Errorf("%d bytes, %v", n, ok)
	}
}

// TestConstantOpen opens constants in a file, also as another shape, and those in
// memory, and refuses a file that is not the one that the model was read from.
func TestConstantOpen(t *testing.T) {
	table := garner.Of([]float32{0, 1, 10, 11, 20, 21}, 3, 2)
	b, err := table.Bytes()
	if err != nil {
		t.Fatal(err)
	}
	path := filepath.Join(t.TempDir(), "weights")
	if err := os.WriteFile(path, append([]byte("head"), b...), 0o666); err != nil {
		t.Fatal(err)
	}
	inMemory := model.NewConstant("c", table.Spec(), func() (garner.Tensor, error) { return table, nil })
	inFile := model.NewConstant("c", table.Spec(), func() (garner.Tensor, error) { return garner.Tensor{}, errors.New("the mapping is not read") })
	inFile.File, inFile.Offset, inFile.Size = path, 4, 24
	if inFile.State, err = stateOf(path); err != nil {
		t.Fatal(err)
	}
	gather := func(a source.Array) string {
		out, err := garner.New(garner.F32, 2, 2)
		if err == nil {
			err = source.GatherInto(t.Context(), strict.Gather{}, a, source.Memory(garner.Of([]int64{2, 0}, 2)), out, source.Options{})
		}
		if err != nil {
			t.Fatal(err)
		}
		return out.Text()
	}
	for _, c := range []*model.Constant{inMemory, inFile} {
		a, err := c.Open()
		if err != nil {
			t.Fatal(err)
		}
		if got := gather(a); got != "[[20.0, 21.0], [0.0, 1.0]]" {
			t.Error(got)
		}
		if _, ok := a.(*source.File); ok != (c == inFile) {
			t.Errorf("it is a %T", a)
		}
		if err := a.Close(); err != nil {
			t.Error(err)
		}
	}
	turned := garner.SpecOf(garner.F32, 2, 3)
	turned.Strides = []int{1, 2}
	f, err := inFile.OpenAs(turned)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	if view, ok := f.Tensor(); ok && view.Text() != "[[0.0, 10.0, 20.0], [1.0, 11.0, 21.0]]" {
		t.Error(view.Text())
	}
	if _, err := inFile.OpenAs(garner.SpecOf(garner.F32, 4, 2)); !errors.Is(err, garner.ErrShape) {
		t.Error(err)
	}
	empty := model.NewConstant("c", garner.SpecOf(garner.F32, 0), func() (garner.Tensor, error) { return garner.New(garner.F32, 0) })
	empty.File = "nosuch"
	if a, err := empty.Open(); err != nil || a.Close() != nil {
		t.Error(err)
	}
	words := model.NewConstant("c", garner.SpecOf(garner.String, 1), nil)
	if _, err := words.Open(); !errors.Is(err, garner.ErrDType) {
		t.Error(err)
	}
	for name, change := range map[string]func() error{
		"rewritten": func() error {
			info, err := os.Stat(path)
			time.Sleep(50 * time.Millisecond) // a file system's clock may be that coarse
			return errors.Join(err, os.WriteFile(path, bytes.Repeat([]byte("x"), 28), 0o666), os.Chtimes(path, info.ModTime(), info.ModTime()))
		},
		"touched": func() error { return os.Chtimes(path, time.Time{}, time.Unix(1, 0)) },
		"replaced": func() error {
			return errors.Join(os.Remove(path), os.WriteFile(path, bytes.Repeat([]byte("x"), 28), 0o666))
		},
		"gone": func() error { return os.Remove(path) },
	} {
		if err := os.WriteFile(path, append([]byte("head"), b...), 0o666); err != nil {
			t.Fatal(err)
		}
		if inFile.State, err = stateOf(path); err != nil {
			t.Fatal(err)
		}
		if err := change(); err != nil {
			t.Fatal(err)
		}
		if _, err := inFile.Open(); err == nil || name != "gone" && !errors.Is(err, source.ErrChanged) {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// stateOf is the state of a file, as readers give it.
func stateOf(path string) (source.FileState, error) {
	f, err := source.Open(garner.SpecOf(garner.U8, 1), nil, source.Segment{Path: path, Bytes: 1})
	if err != nil {
		return source.FileState{}, err
	}
	defer f.Close()
	states, err := f.States()
	return states[0], err
}

// TestChanged writes to a file of a constant and to one of a tile, and removes one: the model is changed. What has no
// state was never looked at.
func TestChanged(t *testing.T) {
	later := func(path string) error { return os.Chtimes(path, time.Time{}, time.Now().Add(time.Hour)) }
	for _, tt := range []struct {
		about string
		do    func(path string) error
		want  error
	}{
		{"untouched", func(string) error { return nil }, nil},
		{"written to", later, source.ErrChanged},
		{"removed", os.Remove, fs.ErrNotExist},
	} {
		for _, tiles := range []bool{false, true} {
			c, unknown := tile(t, []byte{1, 2}, 2), tile(t, []byte{1, 2}, 2)
			state, err := stateOf(c.File)
			if err != nil {
				t.Fatal(err)
			}
			c.State = state
			if err := errors.Join(tt.do(c.File), later(unknown.File)); err != nil {
				t.Fatal(err)
			}
			if tiles {
				whole := model.NewConstant("whole", c.Spec, nil)
				whole.SetTiles([]model.Tile{{At: []int{0}, Constant: c}})
				c = whole
			}
			m := &model.Model{Graph: &model.Graph{Constants: []*model.Value{{Constant: unknown}, {Constant: c}}}}
			if err := m.Changed(); !errors.Is(err, tt.want) {
				t.Errorf("%s, in tiles %v: %v", tt.about, tiles, err)
			}
		}
	}
}
