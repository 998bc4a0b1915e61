package graphdef

import (
	"bytes"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"testing"

	"google.golang.org/protobuf/proto"

	"github.com/garner-go/garner"
	"github.com/garner-go/garner/internal/run"
	"github.com/garner-go/garner/model"
	"github.com/garner-go/garner/source"
	"github.com/garner-go/garner/tensorflow/graphdef/internal/bundle"
	"github.com/garner-go/garner/tensorflow/graphdef/internal/tfpb"
)

func contents(t testing.TB, path string) []byte {
	t.Helper()
	b, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	return b
}

// folder makes a SavedModel's folder.
func folder(t testing.TB, files map[string][]byte) string {
	t.Helper()
	dir := t.TempDir()
	for name, b := range files {
		path := filepath.Join(dir, name)
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, b, 0o644); err != nil {
			t.Fatal(err)
		}
	}
	return dir
}

// parts has the files of a SavedModel in testdata.
func parts(t testing.TB, name string) map[string][]byte {
	t.Helper()
	all := map[string][]byte{}
	for _, file := range []string{SavedModel, "variables/variables.index", "variables/variables.data-00000-of-00001"} {
		all[file] = contents(t, filepath.Join("testdata", name, file))
	}
	return all
}

// use reads all that a model has, whatever comes of it.
func use(t *testing.T, m *model.Model) (good bool) {
	t.Helper()
	good = true
	for _, c := range m.Constants() {
		if _, err := c.Tensor(); err != nil {
			good = false
		}
	}
	for n := range m.Nodes() {
		for _, v := range n.Outputs {
			if v != nil {
				_ = v.String()
			}
		}
	}
	return good
}

// TestCutShort opens models that are cut short at every byte: of the small files all, of
// saved_model.pb some.
func TestCutShort(t *testing.T) {
	frozen := contents(t, "testdata/frozen.pb")
	for n := range frozen {
		// A graph may end where a node ends: then the nodes that follow are missing.
		if m, err := FromBytes(frozen[:n], false, Options{}); err == nil {
			use(t, m)
		}
	}
	saved := contents(t, "testdata/gathers/"+SavedModel)
	for n := 0; n < len(saved); n += 997 {
		if _, err := FromBytes(saved[:n], false, Options{}); err == nil {
			t.Errorf("the first %d of %d bytes are a model", n, len(saved))
		}
	}
	all := parts(t, "old")
	for name, b := range all {
		if name == SavedModel {
			continue
		}
		dir := folder(t, all)
		for n := 0; n < len(b); n++ {
			if err := os.Truncate(filepath.Join(dir, name), int64(n)); err != nil {
				t.Fatal(err)
			}
			m, err := Open(dir, Options{})
			if err == nil {
				t.Errorf("%s of %d bytes is read", name, n)
				m.Close()
			} else if !errors.As(err, new(*model.Error)) {
				t.Fatalf("%s of %d bytes: %T %v", name, n, err, err)
			}
			if err := os.WriteFile(filepath.Join(dir, name), b, 0o644); err != nil {
				t.Fatal(err)
			}
		}
	}
}

// TestChangedBytes changes each byte of the elements of a checkpoint, and some of another with
// strings and a graph of objects: some checksum tells.
func TestChangedBytes(t *testing.T) {
	changedBytes(t, "old", 1)
	changedBytes(t, "gathers", 17)
}

func changedBytes(t *testing.T, name string, step int) {
	all := parts(t, name)
	const data = "variables/variables.data-00000-of-00001"
	dir := folder(t, all)
	for i := 0; i < len(all[data]); i += step {
		changed := bytes.Clone(all[data])
		changed[i] ^= 0x10
		if err := os.WriteFile(filepath.Join(dir, data), changed, 0o644); err != nil {
			t.Fatal(err)
		}
		m, err := Open(dir, Options{})
		if err != nil { // in the graph of objects
			if !strings.Contains(err.Error(), "checksum") {
				t.Errorf("byte %d: %v", i, err)
			}
			continue
		}
		if use(t, m) {
			t.Errorf("byte %d may be changed", i)
		}
		m.Close()
	}
	frozen := contents(t, "testdata/frozen.pb")
	for i := range frozen {
		for _, flip := range []byte{1, 0x80} {
			changed := bytes.Clone(frozen)
			changed[i] ^= flip
			if m, err := FromBytes(changed, false, Options{}); err == nil {
				use(t, m)
			}
		}
	}
}

// TestFolders opens folders that lack files, or have others.
func TestFolders(t *testing.T) {
	const index, data = "variables/variables.index", "variables/variables.data-00000-of-00001"
	for _, tt := range []struct {
		about  string
		change func(all map[string][]byte)
		want   string
	}{
		{"no index", func(all map[string][]byte) { delete(all, index) }, "variables/variables.index, and there is no such file"},
		{"no elements", func(all map[string][]byte) { delete(all, data) }, "variables.data-00000-of-00001, and there is no such file"},
		{"no graph", func(all map[string][]byte) { delete(all, SavedModel) }, "there is no file"},
		{"an empty graph", func(all map[string][]byte) { all[SavedModel] = nil }, "the file is empty"},
		{"a text", func(all map[string][]byte) { all[SavedModel] = []byte("saved_model_schema_version: 1\n") }, "saved_model.pb"},
		{"the index of another", func(all map[string][]byte) {
			all[index], all[data] = contents(t, "testdata/keras/"+index), contents(t, "testdata/keras/"+data)
		}, "the checkpoint"},
		{"an old index", func(all map[string][]byte) {
			all[index], all[data] = contents(t, "testdata/old/"+index), contents(t, "testdata/old/"+data)
		}, "does not have it"},
	} {
		all := parts(t, "gathers")
		tt.change(all)
		m, err := Open(folder(t, all), Options{})
		if err == nil || !strings.Contains(err.Error(), tt.want) || !strings.HasPrefix(err.Error(), "garner: ") {
			t.Errorf("%s: %v; want %q", tt.about, err, tt.want)
		}
		if missing := strings.HasPrefix(tt.about, "no "); errors.Is(err, fs.ErrNotExist) != missing {
			t.Errorf("%s: %v; an fs.ErrNotExist: %v", tt.about, err, missing)
		}
		if err == nil {
			m.Close()
		}
	}
	// A model of TensorFlow 1 has no objects: its nodes are the variables.
	for _, constants := range []bool{false, true} {
		_, err := Open(folder(t, map[string][]byte{SavedModel: contents(t, "testdata/old/"+SavedModel)}), Options{Constants: constants})
		if !errors.Is(err, fs.ErrNotExist) || !strings.HasSuffix(err.Error(), `node "words" (graph_def.node[2]): its elements are in a checkpoint, variables/variables.index, and there is no such file; get the whole folder`) {
			t.Errorf("%v", err)
		}
	}
	if _, err := Open(filepath.Join(t.TempDir(), "none.index"), Options{}); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("%v", err)
	}
	// A link out of the folder is none of its files.
	all := parts(t, "gathers")
	delete(all, data)
	dir := folder(t, all)
	outside := filepath.Join(t.TempDir(), "elements")
	if err := os.WriteFile(outside, contents(t, "testdata/gathers/"+data), 0o644); err != nil {
		t.Fatal(err)
	}
	if os.Symlink(outside, filepath.Join(dir, data)) == nil {
		if _, err := Open(dir, Options{}); err == nil || !strings.Contains(err.Error(), "not a link to another") {
			t.Errorf("%v", err)
		}
	}
	// A file that another takes the place of.
	dir = folder(t, parts(t, "gathers"))
	m, err := Open(dir, Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer m.Close()
	c, err := m.Constant("first/.ATTRIBUTES/VARIABLE_VALUE")
	if err != nil {
		t.Fatal(err)
	}
	if err := os.Remove(filepath.Join(dir, data)); err != nil {
		t.Skip(err) // where an open file cannot be removed
	}
	if err := os.WriteFile(filepath.Join(dir, data), contents(t, "testdata/gathers/"+data), 0o644); err != nil {
		t.Fatal(err)
	}
	if _, err := c.Open(); !errors.Is(err, source.ErrChanged) {
		t.Errorf("%v", err)
	}
}

// TestLost reads a SavedModel whose checkpoint lacks a variable, and checkpoints that lack a
// file: whoever asks for the constants alone has the others, and which are missing.
func TestLost(t *testing.T) {
	const index = "variables/variables.index"
	lacking := func(t *testing.T, name, key string) string {
		all := parts(t, name)
		had, err := bundle.Read(all[index])
		if err != nil {
			t.Fatal(err)
		}
		entries := map[string]proto.Message{"": &tfpb.BundleHeaderProto{NumShards: 1}}
		for _, e := range had.Entries {
			if e.Key != key && len(e.Slices) == 0 {
				entries[e.Key] = &tfpb.BundleEntryProto{Dtype: e.DType, Shape: dimsOf(e.Shape...), Offset: e.Offset, Size: e.Size, Crc32C: e.Sum}
			}
		}
		all[index] = indexOf(t, entries)
		return folder(t, all)
	}
	checkpoint := func(t *testing.T, drop string) string {
		dir := t.TempDir()
		if err := os.CopyFS(dir, os.DirFS("testdata/checkpoint")); err != nil {
			t.Fatal(err)
		}
		if err := os.Remove(filepath.Join(dir, drop)); err != nil {
			t.Fatal(err)
		}
		return filepath.Join(dir, "old.ckpt.index")
	}
	for _, tt := range []struct {
		path           string
		missing, there string
		refused        string // what another reading says; "" where there is no graph, and as of the constant
	}{
		{lacking(t, "gathers", "second/.ATTRIBUTES/VARIABLE_VALUE"), "second/.ATTRIBUTES/VARIABLE_VALUE", "first", "has no such tensor: the model and the checkpoint do not belong together"},
		{lacking(t, "old", "other"), "other", "words", "has no such tensor"},
		{checkpoint(t, "old.ckpt.data-00001-of-00002"), "small", "words", "data-00001-of-00002, and there is no such file"},
		{checkpoint(t, "old.ckpt.data-00000-of-00002"), "parts", "small", "data-00000-of-00002, and there is no such file"},
	} {
		m, err := Open(tt.path, Options{Constants: true})
		if err != nil {
			t.Errorf("%s: %v", tt.missing, err)
			continue
		}
		defer m.Close()
		c, err := m.Constant(tt.missing)
		if err != nil {
			t.Fatal(err)
		}
		if short, ok := strings.CutSuffix(tt.missing, "/.ATTRIBUTES/VARIABLE_VALUE"); ok { // its other names stay taken
			if of, err := m.Constant(short); err != nil || of != c {
				t.Errorf("%s: %v, %v", short, of, err)
			}
		}
		if _, err := c.Tensor(); !c.Unread() || !errors.Is(err, fs.ErrNotExist) || !strings.Contains(err.Error(), tt.refused) || c.Spec.DType == garner.Invalid {
			t.Errorf("%s: %s, %v", tt.missing, c.Spec, err)
		}
		if c, err = m.Constant(tt.there); err != nil {
			t.Fatal(err)
		}
		if a, err := c.Open(); err != nil {
			t.Errorf("%s: %v", tt.there, err)
		} else {
			a.Close()
		}
		if _, err := Open(tt.path, Options{}); err == nil || !strings.Contains(err.Error(), tt.refused) {
			t.Errorf("%s: %v", tt.missing, err)
		}
	}
	all := parts(t, "old")
	delete(all, "variables/variables.data-00000-of-00001")
	m, err := Open(folder(t, all), Options{Constants: true})
	if err != nil {
		t.Fatal(err)
	}
	defer m.Close()
	lost := 0
	for name, c := range m.Constants() {
		_, err := c.Tensor()
		if !errors.Is(err, fs.ErrNotExist) {
			continue
		}
		if lost++; strings.Count(err.Error(), "garner: ") != 1 || !strings.Contains(err.Error(), ": its elements are in ") {
			t.Errorf("%s: %v", name, err)
		}
	}
	if lost < 3 {
		t.Errorf("%d variables are lost", lost)
	}
}

// TestSignatures asks for signatures and functions, those that are there and others.
func TestSignatures(t *testing.T) {
	for name, want := range map[string]string{
		"": "", "serving_default": "", "branches": "", "inner": "", "serve": "",
		"nix": `it has no signature and no function "nix"; it has "branches", "serving_default"`,
	} {
		m, err := Open("testdata/gathers", Options{Signature: name})
		if (err == nil) != (want == "") || err != nil && (!strings.Contains(err.Error(), want) || !errors.Is(err, garner.ErrAttribute)) {
			t.Errorf("%s: %v", name, err)
		}
		if err == nil {
			m.Close()
		}
	}
	var p tfpb.SavedModel
	if err := proto.Unmarshal(contents(t, "testdata/gathers/"+SavedModel), &p); err != nil {
		t.Fatal(err)
	}
	version := []byte{8, 1} // saved_model_schema_version, which is not read
	p.MetaGraphs[0].SignatureDef["other"] = p.MetaGraphs[0].SignatureDef["serving_default"]
	delete(p.MetaGraphs[0].SignatureDef, "serving_default")
	b := append(version, marshaled(t, &p)...)
	if _, err := FromBytes(b, false, Options{}); !errors.Is(err, model.ErrSignature) || !errors.Is(err, garner.ErrAttribute) || !strings.Contains(err.Error(), "2 signatures and none is serving_default") {
		t.Errorf("%v", err)
	}
	if m, err := FromBytes(b, false, Options{Constants: true}); err != nil || len(m.Graph.Nodes) > 0 {
		t.Errorf("%v", err)
	} else {
		listed := 0
		for _, f := range p.MetaGraphs[0].GraphDef.Library.Function {
			for _, n := range f.NodeDef {
				if n.Op != "Const" {
					continue
				}
				listed++
				name := f.Signature.Name + "/" + n.Name
				if c, err := m.Constant(name); err != nil || c.Name != name {
					t.Errorf("%s: %v", name, err)
				} else if _, err := c.Tensor(); err != nil {
					t.Errorf("%s: %v", name, err)
				}
			}
		}
		if listed == 0 {
			t.Error("no function has a constant")
		}
	}
	delete(p.MetaGraphs[0].SignatureDef, "other")
	if m, err := FromBytes(append(version, marshaled(t, &p)...), false, Options{}); err != nil || len(m.Graph.Outputs) != 2 {
		t.Errorf("%v", err)
	}
	delete(p.MetaGraphs[0].SignatureDef, "branches")
	if _, err := FromBytes(append(version, marshaled(t, &p)...), false, Options{}); !errors.Is(err, model.ErrSignature) || !strings.Contains(err.Error(), "name one of its functions with Options.Signature; it has branches, inner, serve") {
		t.Errorf("%v", err)
	}
	p.MetaGraphs[0].MetaInfoDef.Tags = nil
	p.MetaGraphs = append(p.MetaGraphs, p.MetaGraphs[0])
	if _, err := FromBytes(append(version, marshaled(t, &p)...), false, Options{}); err == nil || !strings.Contains(err.Error(), "2 graphs and none with the tag serve") {
		t.Errorf("%v", err)
	}
}

func marshaled(t testing.TB, p proto.Message) []byte {
	t.Helper()
	b, err := proto.MarshalOptions{Deterministic: true}.Marshal(p)
	if err != nil {
		t.Fatal(err)
	}
	return b
}

// def makes a node; attributes are pairs of names and values.
func def(name, op string, inputs []string, attributes ...any) *tfpb.NodeDef {
	n := &tfpb.NodeDef{Name: name, Op: op, Input: inputs, Attr: map[string]*tfpb.AttrValue{}}
	for i := 0; i < len(attributes); i += 2 {
		a := &tfpb.AttrValue{}
		switch v := attributes[i+1].(type) {
		case string:
			a.Value = &tfpb.AttrValue_Func{Func: &tfpb.NameAttrList{Name: v}}
		case tfpb.DataType:
			a.Value = &tfpb.AttrValue_Type{Type: v}
		case *tfpb.TensorProto:
			a.Value = &tfpb.AttrValue_Tensor{Tensor: v}
		case int:
			a.Value = &tfpb.AttrValue_I{I: int64(v)}
		}
		n.Attr[attributes[i].(string)] = a
	}
	return n
}

const i32 = tfpb.DataType_DT_INT32

// ints is a constant of integers.
func ints(values ...int32) *tfpb.TensorProto {
	return &tfpb.TensorProto{Dtype: i32, IntVal: values, TensorShape: &tfpb.TensorShapeProto{Dim: []*tfpb.TensorShapeProto_Dim{{Size: int64(len(values))}}}}
}

// function makes a function of one argument x and one result y.
func function(name, result string, nodes ...*tfpb.NodeDef) *tfpb.FunctionDef {
	return &tfpb.FunctionDef{
		Signature: &tfpb.OpDef{Name: name, InputArg: []*tfpb.OpDef_ArgDef{{Name: "x", Type: i32}}, OutputArg: []*tfpb.OpDef_ArgDef{{Name: "y", Type: i32}}},
		NodeDef:   nodes, Ret: map[string]string{"y": result},
	}
}

func graph(functions []*tfpb.FunctionDef, nodes ...*tfpb.NodeDef) *tfpb.GraphDef {
	return &tfpb.GraphDef{Node: append([]*tfpb.NodeDef{def("in", "Placeholder", nil, "dtype", i32)}, nodes...), Library: &tfpb.FunctionDefLibrary{Function: functions}}
}

// TestGraphs reads graphs that contradict themselves, and some that are odd and right.
func TestGraphs(t *testing.T) {
	call := func(name, f string, inputs ...string) *tfpb.NodeDef {
		return def(name, "PartitionedCall", inputs, "f", f)
	}
	one := []*tfpb.FunctionDef{function("F", "x")}
	gather := def("g", "GatherV2", []string{"c", "in", "axis"}, "batch_dims", 0)
	c, axis := def("c", "Const", nil, "value", ints(5, 6, 7)), def("axis", "Const", nil, "value", &tfpb.TensorProto{Dtype: i32})
	huge := &tfpb.TensorProto{Dtype: i32, IntVal: []int32{7}, TensorShape: &tfpb.TensorShapeProto{Dim: []*tfpb.TensorShapeProto_Dim{{Size: 1 << 40}}}}
	ofHuge := ""
	if strconv.IntSize == 32 {
		ofHuge = "more than this 32-bit build of garner can count"
	}
	for _, tt := range []struct {
		about string
		g     *tfpb.GraphDef
		want  string
	}{
		{"a gather", graph(nil, c, axis, gather), ""},
		{"a call that gives back what it takes", graph(one, call("a", "F", "in"), def("b", "Identity", []string{"a:0"})), ""},
		{"a huge constant of one number", graph(nil, def("c", "Const", nil, "value", huge), def("s", "Shape", []string{"c"})), ofHuge},
		{"a loop of TensorFlow 1", graph(nil, def("e", "Enter", []string{"in"}), def("m", "Merge", []string{"e", "n"}), def("n", "NextIteration", []string{"m"}), def("x", "Exit", []string{"m"})), ""},
		{"an empty graph", &tfpb.GraphDef{}, "the file is empty"},
		{"no name", graph(nil, def("", "Identity", []string{"in"})), "no name or no operator"},
		{"no operator", graph(nil, def("a", "", nil)), "no name or no operator"},
		{"two of a name", graph(nil, def("in", "Identity", nil)), `two nodes are named "in"`},
		{"no such input", graph(nil, def("a", "Identity", []string{"b"})), `its input "b" is made by no node`},
		{"no such number", graph(nil, def("a", "Identity", []string{"in:x"})), "is no NODE:OUTPUT:NUMBER"},
		{"a vast number", graph(nil, def("a", "Identity", []string{"in:99999999"})), "is no NODE:OUTPUT:NUMBER"},
		{"a constant without value", graph(nil, def("a", "Const", nil), def("b", "Identity", []string{"a"})), "it has no value"},
		{"a circle", graph(nil, def("a", "Identity", []string{"b"}), def("b", "Identity", []string{"a"}), def("c", "Identity", []string{"a"})), "in a circle"},
		{"a circle of calls", graph(one, call("a", "F", "b"), call("b", "F", "a"), def("c", "Identity", []string{"a"})), "made of itself"},
		{"a call of itself", graph([]*tfpb.FunctionDef{function("F", "a:output:0", call("a", "F", "x"))}, call("b", "F", "in")), `function "F" calls itself`},
		{"no such function", graph(nil, call("a", "F", "in")), `function "F", which the file does not have`},
		{"no function", graph(one, def("a", "PartitionedCall", []string{"in"})), "names no function"},
		{"too many inputs", graph(one, call("a", "F", "in", "in")), "2 inputs; it takes 1"},
		{"a result that nothing makes", graph([]*tfpb.FunctionDef{function("F", "z:output:0")}, call("a", "F", "in")), `its input "z:output:0" is made by no node`},
		{"a second result", graph(one, call("a", "F", "in"), def("b", "Identity", []string{"a:1"})), "result 1 is read of function"},
		{"a second result of a constant", graph(nil, c, def("b", "Identity", []string{"c:1"})), "output 1 is read of it, and it has one"},
		{"two functions of a name", graph([]*tfpb.FunctionDef{one[0], one[0]}, call("a", "F", "in")), "that another has"},
		{"a gather without an axis", graph(nil, c, def("g", "GatherV2", []string{"c", "in"})), "lacks one of its inputs"},
		{"a gather of four", graph(nil, c, axis, def("g", "GatherV2", []string{"c", "in", "axis", "axis"})), "it has 4 inputs"},
		{"batch_dims of a variable", graph(nil, c, def("g", "ResourceGather", []string{"c", "in"}, "batch_dims", -1)), "batch_dims is -1"},
		{"If of nothing", graph(one, def("a", "If", nil, "then_branch", "F", "else_branch", "F")), "no input to choose by"},
		{"If without a branch", graph(one, def("a", "If", []string{"in", "in"}, "then_branch", "F")), "else_branch names no function"},
		{"While without a body", graph(one, def("a", "While", []string{"in"}, "cond", "F")), "body names no function"},
		{"more numbers than elements", graph(nil, def("c", "Const", nil, "value", &tfpb.TensorProto{Dtype: i32, IntVal: []int32{1, 2}}), def("b", "Identity", []string{"c"})), "it has 2 numbers in int_val"},
		{"bytes that do not fit", graph(nil, def("c", "Const", nil, "value", &tfpb.TensorProto{Dtype: i32, TensorContent: []byte{1}}), def("b", "Identity", []string{"c"})), "it has 1 bytes"},
		{"both", graph(nil, def("c", "Const", nil, "value", &tfpb.TensorProto{Dtype: i32, TensorContent: []byte{1, 2, 3, 4}, IntVal: []int32{1}}), def("b", "Identity", []string{"c"})), "leave one"},
		{"a negative dim", graph(nil, def("c", "Const", nil, "value", &tfpb.TensorProto{Dtype: i32, TensorShape: &tfpb.TensorShapeProto{Dim: []*tfpb.TensorShapeProto_Dim{{Size: -2}}}}), def("b", "Identity", []string{"c"})), "its dim 0 is -2"},
	} {
		m, err := FromBytes(marshaled(t, tt.g), false, Options{})
		if tt.want == "" && err != nil || tt.want != "" && (err == nil || !strings.Contains(err.Error(), tt.want)) {
			t.Errorf("%s: %v; want %q", tt.about, err, tt.want)
		}
		if err == nil {
			for _, r := range m.Graph.Outputs { // which a hostile one may refuse, within its memory
				_, _ = run.Values(t.Context(), m, []*model.Value{r.Value}, map[*model.Value]garner.Tensor{m.Graph.Inputs[0]: garner.Of([]int32{1})}, 1<<20)
			}
		}
	}
}

// TestAwaited holds which nodes control edges lead from, in a graph and in a function of it.
func TestAwaited(t *testing.T) {
	nodes := func(in string) []*tfpb.NodeDef {
		return []*tfpb.NodeDef{def("before", "Identity", []string{in}), def("alone", "Identity", []string{in}), def("wait", "NoOp", []string{"^before"}), def("after", "Identity", []string{in, "^wait"})}
	}
	list := append(nodes("in"), def("call", "PartitionedCall", []string{"in"}, "f", "F"), def("end", "Identity", []string{"call", "^alone", "^call"}))
	m, err := FromBytes(marshaled(t, graph([]*tfpb.FunctionDef{function("F", "after:output:0", nodes("x")...)}, list...)), false, Options{})
	if err != nil {
		t.Fatal(err)
	}
	var awaited []string
	for n := range m.Nodes() {
		if n.Awaited {
			awaited = append(awaited, n.Name)
		}
	}
	if slices.Sort(awaited); !slices.Equal(awaited, []string{"alone", "before", "call/before"}) {
		t.Errorf("%q", awaited)
	}
}

// TestChanged reads a variable that the graph changes: it is no constant of its nodes.
func TestChanged(t *testing.T) {
	var p tfpb.SavedModel
	if err := proto.Unmarshal(contents(t, "testdata/old/"+SavedModel), &p); err != nil {
		t.Fatal(err)
	}
	g := p.MetaGraphs[0].GraphDef
	g.Node = append(g.Node, def("one", "Const", nil, "value", &tfpb.TensorProto{Dtype: tfpb.DataType_DT_FLOAT}), def("change", "AssignAdd", []string{"words", "one"}))
	for _, n := range g.Node {
		if n.Name == "words/read" {
			n.Input = append(n.Input, "^change")
		}
	}
	all := parts(t, "old")
	all[SavedModel] = append([]byte{8, 1}, marshaled(t, &p)...)
	m, err := Open(folder(t, all), Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer m.Close()
	for n := range m.Gathers() {
		if n.Name == "GatherV2" {
			from := n.Inputs[0].From.Inputs[0]
			if from.Constant != nil || from.From == nil || from.From.Op != "VariableV2" {
				t.Errorf("%s: %v", n.Name, from)
			}
		}
	}
	ids := map[*model.Value]garner.Tensor{m.Graph.Inputs[0]: garner.Of([]int32{1}, 1)}
	for _, r := range m.Graph.Outputs {
		_, err := run.Values(t.Context(), m, []*model.Value{r.Value}, ids, 1<<20)
		if r.Name == "x" && (err == nil || !strings.Contains(err.Error(), "does not run VariableV2")) || r.Name == "y" && err != nil {
			t.Errorf("%s: %v", r.Name, err)
		}
	}
	if c, err := m.Constant("words"); err != nil || c.File == "" {
		t.Errorf("%v", err)
	}
}

// TestCost holds that small files cost little: calls that multiply, chains, long lists.
func TestCost(t *testing.T) {
	double := []*tfpb.FunctionDef{function("F0", "x")}
	for i := range 40 {
		f := fmt.Sprintf("F%d", i)
		double = append(double, function(fmt.Sprintf("F%d", i+1), "b:output:0", def("a", "PartitionedCall", []string{"x"}, "f", f), def("b", "PartitionedCall", []string{"a:output:0"}, "f", f)))
	}
	var chain []*tfpb.FunctionDef
	for i := range 100 {
		chain = append(chain, function(fmt.Sprintf("F%d", i), "a:output:0", def("a", "PartitionedCall", []string{"x"}, "f", fmt.Sprintf("F%d", i+1))))
	}
	var long []*tfpb.NodeDef
	last := "in"
	for i := range 20000 {
		name := fmt.Sprint("n", i)
		long = append(long, def(name, "Identity", []string{last}))
		last = name
	}
	var calls []*tfpb.NodeDef
	last = "in"
	for i := range 5000 {
		name := fmt.Sprint("n", i)
		calls = append(calls, def(name, "PartitionedCall", []string{last}, "f", "F"))
		last = name + ":0"
	}
	calls = append(calls, def("end", "Identity", []string{last}))
	var wide []*tfpb.NodeDef
	for i := range 2000 {
		wide = append(wide, def(fmt.Sprint("n", i), "Unknown", []string{"in"}), def(fmt.Sprint("m", i), "Identity", []string{fmt.Sprintf("n%d:65535", i)}))
	}
	for _, tt := range []struct {
		about string
		g     *tfpb.GraphDef
		want  string
		most  uint64 // MiB allocated
	}{
		{"calls that double", graph(double, def("a", "PartitionedCall", []string{"in"}, "f", "F40")), "MiB of nodes", 64},
		{"a chain of calls", graph(chain, def("a", "PartitionedCall", []string{"in"}, "f", "F0")), "more than 64 deep", 16},
		{"a chain of nodes", graph(nil, long...), "", 64},
		{"a chain of calls that follow each other", graph([]*tfpb.FunctionDef{function("F", "x")}, calls...), "", 64},
		{"outputs of large numbers", graph(nil, wide...), "MiB of nodes", 64},
	} {
		b := marshaled(t, tt.g)
		var before, after runtime.MemStats
		runtime.ReadMemStats(&before)
		_, err := FromBytes(b, false, Options{})
		runtime.ReadMemStats(&after)
		if tt.want == "" && err != nil || tt.want != "" && (err == nil || !strings.Contains(err.Error(), tt.want)) {
			t.Errorf("%s: %.300v; want %q", tt.about, err, tt.want)
		}
		if took := (after.TotalAlloc - before.TotalAlloc) >> 20; took > tt.most {
			t.Errorf("%s: %d MiB for a file of %d bytes", tt.about, took, len(b))
		}
	}
}

// FuzzModel holds that no bytes make the reader panic, and that what it reads can be used.
func FuzzModel(f *testing.F) {
	f.Add(contents(f, "testdata/frozen.pb"))
	f.Add(contents(f, "testdata/gathers/"+SavedModel))
	f.Add(contents(f, "testdata/old/"+SavedModel))
	f.Add(marshaled(f, graph([]*tfpb.FunctionDef{function("F", "a:y:0", def("a", "Identity", []string{"x"}))}, def("a", "If", []string{"in", "in"}, "then_branch", "F", "else_branch", "F"), def("b", "While", []string{"a"}, "cond", "F", "body", "F"))))
	f.Fuzz(func(t *testing.T, b []byte) {
		for _, meta := range []bool{false, true} {
			m, err := FromBytes(b, meta, Options{})
			if err != nil {
				if !strings.HasPrefix(err.Error(), "garner: ") {
					t.Errorf("%v", err)
				}
				continue
			}
			for _, c := range m.Constants() {
				if size, ok := c.Bytes(); ok && size < 1<<20 && len(c.Spec.Dims) < 8 {
					_, _ = c.Tensor() // which may be an error
				}
			}
			for n := range m.Nodes() {
				if n.Name == "" || n.At == "" {
					t.Errorf("a node without a name or place: %+v", n)
				}
			}
		}
	})
}

// TestNamedOutput reads the second output of an operator alone, in a function of a graph that does not describe its
// operators.
func TestNamedOutput(t *testing.T) {
	n := def("n", "StringNGrams", []string{"x", "x"})
	b, err := proto.Marshal(graph([]*tfpb.FunctionDef{function("F", "n:ngrams_splits:0", n)}, def("a", "PartitionedCall", []string{"in"}, "f", "F")))
	if err != nil {
		t.Fatal(err)
	}
	m, err := FromBytes(b, false, Options{})
	if err != nil {
		t.Fatal(err)
	}
	if v := m.Graph.Outputs[0].Value; v.Name != "a/n:1" || len(v.From.Outputs) != 2 {
		t.Errorf("%s, of %d outputs", v.Name, len(v.From.Outputs))
	}
}
