package text

import (
	"bufio"
	"bytes"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"math/rand/v2"
	"os"
	"path/filepath"
	"reflect"
	"runtime"
	"strings"
	"testing"

	"github.com/garner-go/garner"
	"github.com/garner-go/garner/model"
	"github.com/garner-go/garner/operators"
)

// A recorded is a case of testdata/make.py.
type recorded struct {
	Name    string
	Inputs  []array
	Outputs []array
	Gathers []map[string]any
}

type array struct {
	DType string
	Shape []int
	Bytes string
}

func (a array) tensor(t *testing.T) garner.Tensor {
	t.Helper()
	b, err := hex.DecodeString(a.Bytes)
	if err != nil {
		t.Fatal(err)
	}
	dtype, err := garner.ParseDType(a.DType)
	if err != nil {
		t.Fatal(err)
	}
	made, err := garner.FromBytes(dtype, b, a.Shape...)
	if err != nil {
		t.Fatal(err)
	}
	return made
}

func cases(t *testing.T) []recorded {
	t.Helper()
	f, err := os.Open("testdata/recorded.jsonl")
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	var all []recorded
	for lines := bufio.NewScanner(f); lines.Scan(); {
		var r recorded
		if err := json.Unmarshal(lines.Bytes(), &r); err != nil {
			t.Fatal(err)
		}
		all = append(all, r)
	}
	if len(all) < 20 {
		t.Fatalf("only %d cases", len(all))
	}
	return all
}

// TestGathers holds the gathers of JAX's lowerings, in both syntaxes, against its jaxprs.
func TestGathers(t *testing.T) {
	total := 0
	for _, c := range cases(t) {
		for _, kind := range []string{".mlir", ".generic.mlir"} {
			m, err := Open("testdata/" + c.Name + kind)
			if errors.Is(err, fs.ErrNotExist) && kind == ".generic.mlir" {
				continue // of some alone
			}
			if err != nil {
				t.Errorf("%s%s: %v", c.Name, kind, err)
				continue
			}
			if len(m.Graph.Inputs) != len(c.Inputs) || len(m.Graph.Outputs) != len(c.Outputs) {
				t.Errorf("%s%s has %d inputs and %d outputs", c.Name, kind, len(m.Graph.Inputs), len(m.Graph.Outputs))
			}
			for i, v := range m.Graph.Inputs {
				if in := c.Inputs[i].tensor(t); v.Spec.String() != in.Spec().String() {
					t.Errorf("%s%s: input %d is %s, not %s", c.Name, kind, i, v.Spec, in.Spec())
				}
			}
			i := 0
			for n := range m.Gathers() {
				if i >= len(c.Gathers) {
					t.Errorf("%s%s has more gathers than the %d of its jaxpr", c.Name, kind, len(c.Gathers))
					break
				}
				want := c.Gathers[i]
				for name, w := range want {
					got := n.Attributes[name]
					if name == "shape" {
						got = nil
						if shape, ok := n.Outputs[0].Spec.Shape(); ok {
							got = []int(shape)
						}
					}
					if name == "index_vector_dim" && got == nil {
						got = 0
					}
					if list, ok := w.([]any); ok && len(list) == 0 && (got == nil || reflect.ValueOf(got).Len() == 0) {
						continue
					}
					a, _ := json.Marshal(got)
					b, _ := json.Marshal(w)
					if !bytes.Equal(a, b) {
						t.Errorf("%s%s: gather %d has %s %s, not %s", c.Name, kind, i, name, a, b)
					}
				}
				if _, _, err := operators.OfNode(n); err != nil {
					t.Errorf("%s%s: %v", c.Name, kind, err)
				}
				i++
				total++
			}
			if i != len(c.Gathers) {
				t.Errorf("%s%s has %d gathers, not %d", c.Name, kind, i, len(c.Gathers))
			}
			if err := m.Close(); err != nil {
				t.Error(err)
			}
		}
	}
	if total < 25 {
		t.Errorf("only %d gathers", total)
	}
}

func TestDynamicGather(t *testing.T) {
	m, err := Open("testdata/dynamic.mlir")
	if err != nil {
		t.Fatal(err)
	}
	defer m.Close()
	var all []string
	for n := range m.Gathers() {
		all = append(all, fmt.Sprint(n.Name, " ", n.Operator, " ", n.Inputs[0].Type(), " ", n.Inputs[1].Type(), " ", n.Inputs[2].Type(), " ", n.Outputs[0].Type(), " ", n.Attributes))
	}
	want := "_wrapped_jax_export_main/9 stablehlo.dynamic_gather f32[?,?] i32[3,2,1] i32[2] f32[3,2,?] map[collapsed_slice_dims:[0] index_vector_dim:2 offset_dims:[2] start_index_map:[0]]"
	if got := strings.Join(all, "\n"); got != want {
		t.Errorf("got  %s\nwant %s", got, want)
	}
}

// TestSyntaxes holds operators, types and constants in pretty syntax against those in generic syntax, in
// which alone a reduce by one operator has a region.
func TestSyntaxes(t *testing.T) {
	read := func(path string) (all []string) {
		m, err := Open(path)
		if err != nil {
			t.Fatal(err)
		}
		defer m.Close()
		var walk func(g *model.Graph)
		walk = func(g *model.Graph) {
			for _, v := range g.Constants {
				c, err := v.Constant.Tensor()
				if err != nil {
					t.Errorf("%s: %v", path, err)
				}
				all = append(all, "constant "+c.String())
			}
			for _, n := range g.Nodes {
				line := n.Domain + "." + n.Op
				for _, v := range n.Inputs {
					line += " " + v.Type()
				}
				line += " ->"
				for _, v := range n.Outputs {
					line += " " + v.Type()
				}
				for _, name := range []string{"dimension", "broadcast_dimensions", "permutation", "start_indices", "limit_indices", "strides", "slice_sizes", "edge_padding_low", "interior_padding", "iota_dimension", "dimensions", "comparison_direction", "compare_type", "index_vector_dim"} {
					if v := n.Attributes[name]; v != nil && fmt.Sprint(v) != "[]" {
						line += fmt.Sprint(" ", name, " ", v)
					}
				}
				all = append(all, line)
				for _, s := range n.Graphs {
					if n.Op != "reduce" {
						walk(s.Graph)
					}
				}
			}
		}
		walk(m.Graph)
		return all
	}
	total := 0
	for _, name := range []string{"zoo", "take", "along", "vmap", "scan", "cond", "embedding"} {
		pretty, generic := read("testdata/"+name+".mlir"), read("testdata/"+name+".generic.mlir")
		total += len(pretty)
		for i, line := range pretty {
			if i >= len(generic) || generic[i] != line {
				t.Errorf("%s: %s\nis in generic syntax %s", name, line, generic[min(i, len(generic)-1)])
				break
			}
		}
		if len(pretty) != len(generic) {
			t.Errorf("%s has %d parts, and %d in generic syntax", name, len(pretty), len(generic))
		}
	}
	if total < 300 {
		t.Errorf("only %d parts", total)
	}
}

// older is the syntax of StableHLO before 0.14, with an alias.
const older = `
#dims = #stablehlo.gather<offset_dims = [2], collapsed_slice_dims = [0], start_index_map = [0], index_vector_dim = 2> // the last dim
module {
  func.func @main(%arg0: tensor<5x4xf32> loc("x"), %arg1: tensor<3x2x1xi32>) -> tensor<3x2x4xf32> {
    %0 = "stablehlo.gather"(%arg0, %arg1) ({}) {dimension_numbers = #dims, indices_are_sorted = true, slice_sizes = dense<[1, 4]> : tensor<2xi64>} : (tensor<5x4xf32>, tensor<3x2x1xi32>) -> tensor<3x2x4xf32> loc("here"("a.py":1:2))
    func.return %0 : tensor<3x2x4xf32>
  }
}
`

func TestOlderSyntax(t *testing.T) {
	for _, text := range []string{older, strings.Replace(older, "({}) ", "", 1)} {
		m, err := FromBytes([]byte(text))
		if err != nil {
			t.Fatal(err)
		}
		for n := range m.Gathers() {
			if got := fmt.Sprint(n.Attributes); got != "map[collapsed_slice_dims:[0] index_vector_dim:2 indices_are_sorted:true offset_dims:[2] slice_sizes:[1 4] start_index_map:[0]]" || n.At != "line 5" {
				t.Error(got, n.At)
			}
		}
		if in := m.Graph.Inputs[0]; in.Name != "arg0" || fmt.Sprint(in.Aliases) != "[x]" {
			t.Error(in.Name, in.Aliases)
		}
	}
}

// TestConstants decodes elements of every type in every way that MLIR prints them.
func TestConstants(t *testing.T) {
	for _, c := range []struct{ text, typed, want string }{
		{"<[[1, -2], [3, 4]]>", "2x2xi32", "i32[2,2] [[1, -2], [3, 4]]"},
		{"<7>", "3xi64", "i64[3] [7, 7, 7]"},
		{"<7>", "i64", "i64[] 7"},
		{"<>", "0x3xi8", "i8[0,3]"},
		{"<[true, false]>", "2xi1", "bool[2] [true, false]"},
		{"<true>", "2xi1", "bool[2] [true, true]"},
		{`<"0x0100000002000000">`, "2xi32", "i32[2] [1, 2]"},
		{`<"0x01000000">`, "2xi32", "i32[2] [1, 1]"},
		{`<"0x05">`, "3xi1", "bool[3] [true, true, true]"}, // one byte for all
		{`<"0x010001">`, "3xi1", "bool[3] [true, false, true]"},
		{`<"0x0501">`, "9xi1", "bool[9] [true, false, true, false, false, false, false, false, true]"},
		{"<[1.5, 0x7F800000, -0.0]>", "3xf32", "f32[3] [1.5, Infinity, -0.0]"},
		{"<1.000000e+00>", "f16", "f16[] 1"},
		{"<0x7E00>", "f16", "f16[] NaN"},
		{"<[-3.000000e+00, 1.0e-2]>", "2xbf16", "bf16[2] [-3.0, 0.01]"},
		{"<2.5>", "f64", "f64[] 2.5"},
		{"<[1.25, -448.0]>", "2xf8E4M3FN", "f8e4m3fn[2] [1.2, -448.0]"},
		{"<[1.5, -6.0, 0.0]>", "3xf4E2M1FN", "f4e2m1[3] [1.5, -6.0, 0.0]"},
		{"<[-8, 7, 1]>", "3xi4", "i4[3] [-8, 7, 1]"},
		{`<"0x0F0701">`, "3xi4", "i4[3] [-1, 7, 1]"},
		{"<[255, 0]>", "2xui8", "u8[2] [255, 0]"},
		{"<18446744073709551615>", "ui64", "u64[] 18446744073709551615"},
		{"<[(1.0, 2.0), (0.0, -1.0)]>", "2xcomplex<f32>", "complex64[2] [1.0+2.0i, 0.0-1.0i]"},
		{"_resource<blob>", "2xi16", "i16[2] [1, -1]"},

		{"<[1, 2]>", "3xi32", "must come"},
		{"<[1, 2, 3]>", "2xi32", "must come"},
		{"<[1, 2]>", "40000x4xi32", "cannot have the 160000 elements"},
		{"<[300]>", "1xi8", "no i8"},
		{"<[1.5]>", "1xi8", "no i8"},
		{"<nan>", "f32", "no f32"},
		{"<[500.0]>", "1xf8E4M3FN", "no f8e4m3fn"},
		{`<"0x010203">`, "2xi32", "it has 3 bytes; i32[2] takes 8"},
		{`<"0x01">`, "1000xi32", "it has 1 bytes"},
		{`<"0x">`, "1000xi4", "it has 0 bytes"},
		{`<"0xZZ000000">`, "1xi32", "no byte"},
		{"_resource<other>", "2xi16", "the text has no such"},
		{"<1>", "2x!quant.uniform<i8:f32, 0.5>", "a type that garner lacks"},
	} {
		text := "func.func @f() -> tensor<" + c.typed + "> {\n %c = stablehlo.constant dense" + c.text + " : tensor<" + c.typed + ">\n return %c : tensor<" + c.typed + ">\n}\n" +
			`{-# dialect_resources: { builtin: { blob: "0x040000000100FFFF" } } #-}`
		got := ""
		if m, err := FromBytes([]byte(text)); err != nil {
			got = err.Error()
		} else if tensor, err := m.Graph.Outputs[0].Value.Constant.Tensor(); err != nil {
			got = err.Error()
		} else {
			got = tensor.String()
		}
		if !strings.Contains(got, c.want) {
			t.Errorf("dense%s of %s is %s, not %s", c.text, c.typed, got, c.want)
		}
	}
}

func TestSplatTakesNoMemory(t *testing.T) {
	m, err := FromBytes([]byte("func.func @f() {\n %c = stablehlo.constant dense<1> : tensor<40000x40000xi8>\n return\n}"))
	if err != nil {
		t.Fatal(err)
	}
	c := m.Graph.Constants[0].Constant
	tensor, err := c.Tensor()
	if err != nil || tensor.Len() != 1600000000 {
		t.Error(tensor.Shape(), err)
	}
}

// TestOverflow reads elements in hexadecimal whose bits are more than an int64 counts.
func TestOverflow(t *testing.T) {
	for _, typed := range []string{"4611686018427387904xi4", "9223372036854775807xi2", "2305843009213693953xi4", "9223372036854775807xi1", "9223372036854775807xf64"} {
		for _, text := range []string{`"0x"`, `"0x00"`, "[0]", "0"} {
			m, err := FromBytes([]byte("func.func @f() {\n %c = stablehlo.constant dense<" + text + "> : tensor<" + typed + ">\n return\n}"))
			if err != nil {
				continue
			}
			if c, err := m.Graph.Constants[0].Constant.Tensor(); err == nil && c.Strides()[0] != 0 {
				t.Errorf("%s of %s is read", text, typed)
			}
		}
	}
}

func TestRefuses(t *testing.T) {
	for _, c := range []struct{ text, want string }{
		{"", "the file is empty"},
		{"ML\xefR\x0d", "MLIR bytecode"},
		{"// nothing", "no function"},
		{"module {\n}", "no function"},
		{"func.func private @f()", "none of its functions has a body"},
		{"func.func @f() {\n call @f() : () -> ()\n return\n}", "calls itself"},
		{"func.func @f() {\n call @g() : () -> ()\n return\n}", "does not have"},
		{"func.func @f() {\n %0 = stablehlo.add %a, %a : tensor<f32>\n return\n}", "line 2"},
		{"func.func @f() {\n return\n}\nfunc.func @f() {\n return\n}", "two functions"},
		{"func.func @f() {\n return\n", "ends where"},
		{strings.Replace(older, "slice_sizes = dense<[1, 4]> : tensor<2xi64>", "x", 1), "no slice_sizes"},
		{strings.Replace(older, "#dims,", "#other,", 1), "are not #stablehlo.gather"},
		{strings.Replace(older, "offset_dims = [2]", "offset_dims = [a]", 1), "no list of integers"},
		{strings.Replace(older, "(%arg0, %arg1)", "(%arg0)", 1), "it has 1 inputs"},
		{"func.func @f(%a: tensor<" + strings.Repeat("1x", 100) + "f32>) {\n return\n}", "more than"},
		{"func.func @f() attributes " + strings.Repeat("{a = ", 1000), "nested"},
		{"func.func @f() {\n x.y " + strings.Repeat("({", 1000), ""},
		{strings.Repeat("module {\n", 1000), "nested"},
	} {
		_, err := FromBytes([]byte(c.text))
		if err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%.60q gives %v, not %s", c.text, err, c.want)
		}
		if _, ok := err.(*model.Error); err != nil && !ok {
			t.Errorf("%T", err)
		}
	}
	if _, err := Open("testdata/bytecode.mlir"); err == nil || !strings.Contains(err.Error(), "str(exported.mlir_module())") {
		t.Error(err)
	}
}

// TestGrowth holds functions that call each other twice, which is exponential, to memory in proportion.
func TestGrowth(t *testing.T) {
	var b strings.Builder
	b.WriteString("func.func @main(%a: tensor<f32>) {\n call @f40(%a) : (tensor<f32>) -> ()\n return\n}\nfunc.func private @f0(%a: tensor<f32>) {\n %0 = stablehlo.add %a, %a : tensor<f32>\n return\n}\n")
	for i := range 40 {
		fmt.Fprintf(&b, "func.func private @f%d(%%a: tensor<f32>) {\n call @f%d(%%a) : (tensor<f32>) -> ()\n call @f%d(%%a) : (tensor<f32>) -> ()\n return\n}\n", i+1, i, i)
	}
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	_, err := FromBytes([]byte(b.String()))
	runtime.ReadMemStats(&after)
	if err == nil || !strings.Contains(err.Error(), "at every call") {
		t.Error(err)
	}
	if took := after.TotalAlloc - before.TotalAlloc; took > 64<<20 {
		t.Errorf("it takes %d MiB", took>>20)
	}
	b.Reset()
	b.WriteString("func.func @main() {\n call @f1000() : () -> ()\n return\n}\nfunc.func private @f0() {\n return\n}\n")
	for i := range 1000 {
		fmt.Fprintf(&b, "func.func private @f%d() {\n call @f%d() : () -> ()\n return\n}\n", i+1, i)
	}
	if _, err := FromBytes([]byte(b.String())); err == nil || !strings.Contains(err.Error(), "deep") {
		t.Error(err)
	}
}

// look reads all that a model has.
func look(b []byte) {
	m, err := FromBytes(b)
	if err != nil {
		_ = err.Error()
		return
	}
	for n := range m.Gathers() {
		_, _, _ = operators.OfNode(n)
	}
	for _, c := range m.Constants() {
		if size, ok := c.Bytes(); ok && size < 1<<20 {
			_, _ = c.Tensor()
		}
	}
}

// TestDamaged reads files that end anywhere, and whose bytes are changed.
func TestDamaged(t *testing.T) {
	all, err := filepath.Glob("testdata/*.mlir")
	if err != nil || len(all) < 20 {
		t.Fatal(all, err)
	}
	rng := rand.New(rand.NewPCG(1, 2))
	for _, path := range all {
		whole, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		if len(whole) > 3000 && testing.Short() {
			continue
		}
		end := bytes.LastIndexByte(bytes.TrimRight(whole, "\n"), '}')
		for n := 0; n < len(whole); n += 1 + len(whole)/1500 {
			look(whole[:n:n])
			if n > 0 && n <= end && !strings.Contains(path, "dynamic") && !strings.Contains(path, "bytecode") && !strings.Contains(path, "generic") {
				if _, err := FromBytes(whole[:n]); err == nil {
					t.Fatalf("%s of %d bytes is read", path, n)
				}
			}
		}
		for range 300 {
			b := bytes.Clone(whole)
			for range 1 + rng.IntN(3) {
				at := rng.IntN(len(b))
				switch rng.IntN(3) {
				case 0:
					b[at] = byte(rng.IntN(256))
				case 1:
					b[at] = "{}[]()<>%#@!:=,\"x0-"[rng.IntN(19)]
				default:
					to := min(len(b), at+rng.IntN(20))
					b = append(b[:at], b[to:]...)
				}
				if len(b) == 0 {
					break
				}
			}
			look(b)
		}
	}
}

func FuzzRead(f *testing.F) {
	all, err := filepath.Glob("testdata/*.mlir")
	if err != nil {
		f.Fatal(err)
	}
	for _, path := range all {
		b, err := os.ReadFile(path)
		if err != nil {
			f.Fatal(err)
		}
		f.Add(b)
	}
	f.Add([]byte(older))
	f.Fuzz(func(_ *testing.T, b []byte) { look(b) })
}
