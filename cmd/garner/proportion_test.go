package main

import (
	"bytes"
	"fmt"
	"io"
	"math"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/garner-go/garner"
	"github.com/garner-go/garner/format/npy"
	"google.golang.org/protobuf/encoding/protowire"
)

// field encodes a field of a protobuf message: a string, bytes, or a number.
func field(number protowire.Number, value any) []byte {
	switch v := value.(type) {
	case string:
		return protowire.AppendString(protowire.AppendTag(nil, number, protowire.BytesType), v)
	case []byte:
		return protowire.AppendBytes(protowire.AppendTag(nil, number, protowire.BytesType), v)
	case int:
		return protowire.AppendVarint(protowire.AppendTag(nil, number, protowire.VarintType), uint64(v))
	}
	panic(fmt.Sprintf("%T", value))
}

// joined concatenates fields.
func joined(fields ...[]byte) []byte { return bytes.Join(fields, nil) }

// onnxNode encodes a NodeProto in a graph. Inputs and outputs are names with
// spaces between them.
func onnxNode(op, inputs, outputs string, more ...[]byte) []byte {
	var b []byte
	for name := range strings.FieldsSeq(inputs) {
		b = append(b, field(1, name)...)
	}
	for name := range strings.FieldsSeq(outputs) {
		b = append(b, field(2, name)...)
	}
	return field(1, joined(append([][]byte{b, field(4, op)}, more...)...))
}

// inFunction makes a node of a graph one of a function, and inFunctions one whose
// operator is a function.
func inFunction(node []byte) []byte {
	return field(7, node[1+protowire.SizeVarint(uint64(len(node))):])
}

var ofFunctions = field(7, "d") // the domain of a node

// onnxValue encodes a ValueInfoProto: a tensor with dims, which are numbers and
// names.
func onnxValue(name string, elem int, dims ...any) []byte {
	var shape []byte
	for _, d := range dims {
		if n, ok := d.(int); ok {
			shape = append(shape, field(1, field(1, n))...)
		} else {
			shape = append(shape, field(1, field(2, d))...)
		}
	}
	return joined(field(1, name), field(2, field(1, joined(field(1, elem), field(2, shape)))))
}

// onnxModel encodes a ModelProto of a graph with an input x f32[n], an input i
// i64[n] and an output y.
func onnxModel(graph []byte, functions ...[]byte) []byte {
	graph = joined(graph, field(11, onnxValue("x", 1, "n")), field(11, onnxValue("i", 7, "n")), field(12, onnxValue("y", 1)))
	m := joined(field(1, 8), field(7, graph), field(8, joined(field(1, ""), field(2, 13))), field(8, joined(field(1, "d"), field(2, 1))))
	for _, f := range functions {
		m = append(m, field(25, f)...)
	}
	return m
}

// filled appends parts of a graph until they have size bytes.
func filled(size int, part func(i int) []byte) []byte {
	var b []byte
	for i := 0; len(b) < size; i++ {
		b = append(b, part(i)...)
	}
	return b
}

// functions encodes a function f0 that calls width times f1, which calls width
// times f2, and so on; the last has the given nodes.
func functions(levels, width int, more []byte, nodes ...[]byte) [][]byte {
	var all [][]byte
	for level := range levels {
		f := joined(field(1, fmt.Sprint("f", level)), field(10, "d"), field(4, "a"), field(4, "i"), field(5, "b"), more, field(9, joined(field(1, ""), field(2, 13))), field(9, joined(field(1, "d"), field(2, 1))))
		if level == levels-1 {
			f = append(f, joined(nodes...)...)
		} else {
			from := "a"
			for k := range width {
				to := fmt.Sprint("t", k)
				if k == width-1 {
					to = "b"
				}
				f = append(f, inFunction(onnxNode(fmt.Sprint("f", level+1), from+" i", to, ofFunctions))...)
				from = to
			}
		}
		all = append(all, f)
	}
	return all
}

// costlyONNX lists models of about size bytes that cost much to a reader that
// walks, copies or names anything once too often.
func costlyONNX(size int) map[string][]byte {
	identity := func(from, to string) []byte { return onnxNode("Identity", from, to) }
	last := identity("x", "y")
	chain := func(size int) (nodes []byte, end string) {
		end = "x"
		nodes = filled(size, func(i int) []byte {
			from := end
			end = fmt.Sprint("c", i)
			return identity(from, end)
		})
		return nodes, end
	}
	half, end := chain(size / 2)
	whole, _ := chain(size)
	long := strings.Repeat("n", size/2)
	body := func(name string, nodes []byte) []byte {
		return field(5, joined(field(1, name), field(20, 5), field(6, joined(nodes, field(12, field(1, "o"))))))
	}
	nest := func(depth int, inner []byte) []byte {
		for range depth {
			inner = onnxNode("If", "x", "o", body("then_branch", inner))
		}
		return inner
	}
	imports := func(n int) []byte {
		return filled(n, func(i int) []byte { return field(9, joined(field(1, fmt.Sprint("z", i)), field(2, 1))) })
	}
	gathers := func(size int, data, at string) []byte {
		return filled(size, func(i int) []byte { return onnxNode("Gather", data+" "+at, fmt.Sprint("g", i)) })
	}
	all := map[string][]byte{
		"chain":                         onnxModel(joined(whole, last)),
		"gathers of the end of a chain": onnxModel(joined(half, gathers(size/2, end, "i"), last)),
		"gathers at the end of a chain": onnxModel(joined(half, gathers(size/2, "x", end), last)),
		"gathers along a chain": onnxModel(joined(half, filled(size/2, func(i int) []byte {
			return onnxNode("Gather", fmt.Sprintf("c%d c%d", i, i), fmt.Sprint("g", i))
		}), last)),
		"a chain of gathers": onnxModel(joined(filled(size, func(i int) []byte {
			return onnxNode("Gather", "x "+map[bool]string{true: "i", false: fmt.Sprint("g", i-1)}[i == 0], fmt.Sprint("g", i))
		}), last)),
		"gathers":                     onnxModel(joined(gathers(size, "x", "i"), last)),
		"gathers of one long name":    onnxModel(joined(onnxNode("Op", "x", "v", field(3, long)), identity("v", "w"), gathers(size/2, "w", "i"), last)),
		"gathers of a long argument":  onnxModel(joined(identity("x", long), onnxNode("f0", long+" i", "y", ofFunctions)), functions(1, 1, nil, filled(size/4, func(i int) []byte { return inFunction(onnxNode("Gather", "a i", fmt.Sprint("g", i))) }), inFunction(identity("a", "b")))...),
		"gathers of one long dim":     onnxModel(joined(field(11, onnxValue("w", 1, long)), gathers(size/2, "w", "i"), last)),
		"functions":                   onnxModel(onnxNode("f0", "x i", "y", ofFunctions), functions(7, 7, nil, inFunction(identity("a", "b")))...),
		"functions that do nothing":   onnxModel(onnxNode("f0", "x i", "y", ofFunctions), append(functions(7, 7, nil)[:6], joined(field(1, "f6"), field(10, "d"), field(4, "b"), field(5, "b")))...),
		"functions of gathers":        onnxModel(onnxNode("f0", "x i", "y", ofFunctions), functions(7, 7, nil, inFunction(onnxNode("Gather", "a i", "g")), inFunction(identity("a", "b")))...),
		"functions in a file":         onnxModel(joined(filled(size, func(i int) []byte { return onnxNode("f0", "x i", fmt.Sprint("y", i), ofFunctions) }), last), functions(3, 7, nil, inFunction(identity("a", "b")))...),
		"functions with many imports": onnxModel(onnxNode("f0", "x i", "y", ofFunctions), functions(5, 7, imports(size/5), inFunction(identity("a", "b")))...),
		"functions with long names":   onnxModel(onnxNode("f0", "x i", "y", ofFunctions), functions(7, 7, nil, inFunction(onnxNode("Identity", "a", "b", field(3, long))))...),
		"functions of a long operator": onnxModel(onnxNode("f0", "x i", "y", ofFunctions),
			functions(7, 7, nil, inFunction(onnxNode(long, "a", "b", field(3, "n"))))...),
		"functions of a long list": onnxModel(onnxNode("f0", "x i", "y", ofFunctions),
			functions(7, 7, nil, inFunction(onnxNode("Gather", "a i", "b", field(5, joined(field(1, "axis"), field(20, 7), field(8, make([]byte, size/2)))))))...),
		"nested bodies": onnxModel(joined(nest(60, joined(filled(size, func(i int) []byte { return identity("x", fmt.Sprint("o", i)) }), identity("x", "o"))), last)),
		"nested bodies that read": onnxModel(joined(half, nest(60, joined(filled(size/2, func(i int) []byte {
			return identity(fmt.Sprint("c", i), fmt.Sprint("o", i))
		}), identity("x", "o"))), last)),
		"one node of many inputs in nested bodies": onnxModel(joined(identity("x", "w"), nest(60, onnxNode("Sum", strings.Repeat("x w ", size/6), "o")), last)),
		"many bodies": onnxModel(joined(filled(size, func(i int) []byte {
			return onnxNode("If", "x", fmt.Sprint("b", i), body("then_branch", identity("x", "o")))
		}), last)),
		"many values": onnxModel(joined(filled(size, func(i int) []byte { return field(13, onnxValue(fmt.Sprint("v", i), 1, 1)) }), last)),
		"many dims":   onnxModel(joined(field(13, onnxValue("v", 1)), field(13, joined(field(1, "x"), field(2, field(1, joined(field(1, 1), field(2, bytes.Repeat([]byte{10, 0}, size/2))))))), last)),
		"many inputs": onnxModel(joined(filled(size, func(i int) []byte { return field(11, onnxValue(fmt.Sprint("p", i), 1)) }), last)),
		"many outputs": onnxModel(joined(filled(size/2, func(i int) []byte {
			return joined(identity("x", fmt.Sprint("r", i)), field(12, field(1, fmt.Sprint("r", i))))
		}), last)),
		"empty nodes":   onnxModel(bytes.Repeat([]byte{10, 0}, size/2)),
		"empty tensors": onnxModel(bytes.Repeat([]byte{42, 0}, size/2)),
		"empty inputs":  onnxModel(joined(field(1, joined(bytes.Repeat([]byte{10, 0}, size/2), field(4, "Sum"))), last)),
		"attributes":    onnxModel(joined(onnxNode("Op", "x", "a", filled(size, func(i int) []byte { return field(5, joined(field(1, fmt.Sprint("a", i)), field(20, 2), field(3, 1))) })), last)),
		"a list":        onnxModel(joined(onnxNode("Op", "x", "a", field(5, joined(field(1, "a"), field(20, 7), field(8, make([]byte, size))))), last)),
		"strings":       onnxModel(joined(onnxNode("Op", "x", "a", field(5, joined(field(1, "a"), field(20, 8), bytes.Repeat([]byte{74, 0}, size/2)))), last)),
		"initializers":  onnxModel(joined(filled(size, func(i int) []byte { return field(5, joined(field(1, 0), field(2, 1), field(8, fmt.Sprint("t", i)))) }), last)),
		"huge tensors": onnxModel(joined(filled(size, func(i int) []byte {
			return field(5, joined(field(1, 1<<30), field(1, 0), field(1, 1<<30), field(2, 1), field(8, fmt.Sprint("t", i))))
		}), last)),
		"gathers at one constant": onnxModel(joined(
			field(5, joined(field(1, size/2), field(2, 3), field(8, "k"), field(9, append(make([]byte, size/2-1), 99)))),
			filled(size/2, func(i int) []byte {
				return joined(field(11, onnxValue(fmt.Sprint("p", i), 1, i%50+1, i/50)), onnxNode("Gather", fmt.Sprintf("p%d k", i), fmt.Sprint("g", i)))
			}), last)),
	}
	at := "i"
	// Each list has as many dims as lint allows, or would have more.
	axes := func(n int) []byte {
		list := make([]byte, n)
		for i := range list {
			list[i] = byte(i)
		}
		return field(5, joined(field(1, "axes"), field(20, 7), field(8, list)))
	}
	constant := field(5, joined(field(1, 60), field(2, 7), field(8, "sixty"), field(9, slices.Concat(slices.Collect(func(yield func([]byte) bool) {
		for i := range 60 {
			if !yield([]byte{byte(i), 0, 0, 0, 0, 0, 0, 0}) {
				return
			}
		}
	})...))))
	steps := func(size int, before []byte, first string, node func(from, to string) []byte) []byte {
		from := first
		nodes := filled(size, func(i int) []byte {
			at := from
			from = fmt.Sprint("r", i)
			return node(at, from)
		})
		return onnxModel(joined(before, nodes, onnxNode("GatherND", "x "+from, "y")))
	}
	pairs := field(11, onnxValue("p", 7, 2, 2))
	deep := joined(field(5, joined(field(2, 1), field(8, "one"), field(2, 7), field(9, []byte{1, 0, 0, 0, 0, 0, 0, 0}))), onnxNode("Unsqueeze", "i", "deep", axes(garner.MaxRank-1)))
	all["gathers that double a rank"] = steps(size, pairs, "p", func(from, to string) []byte { return onnxNode("Gather", from+" "+from, to) })
	all["gathers that raise a rank"] = steps(size, pairs, "p", func(from, to string) []byte { return onnxNode("Gather", from+" p", to) })
	all["gathers of ranks by constants"] = steps(size, constant, "i", func(from, to string) []byte { return onnxNode("Unsqueeze", from+" sixty", to) })
	all["gathers of the greatest rank"] = steps(size, deep, "deep", func(from, to string) []byte { return onnxNode("Abs", from, to) })
	all["gathers of dims that differ"] = steps(size, deep, "deep", func(from, to string) []byte {
		return onnxNode("Concat", from+" deep", to, field(5, joined(field(1, "axis"), field(20, 2), field(3, 0))))
	})
	many := filled(size/2, func(i int) []byte { return field(2, fmt.Sprint("o", i)) })
	n := bytes.Count(many, []byte("o"))
	all["gathers of results of many inputs"] = onnxModel(joined(field(1, joined(bytes.Repeat(field(1, "i"), n), many, field(4, "Add"))), filled(size/2, func(i int) []byte {
		return onnxNode("GatherND", fmt.Sprint("x o", i%n), fmt.Sprint("g", i))
	}), last))
	all["gathers at the end of diamonds"] = onnxModel(joined(filled(size/2, func(i int) []byte {
		from := at
		at = fmt.Sprint("a", i)
		return onnxNode("Add", from+" "+from, at)
	}), gathers(size/2, "x", at), last))
	return all
}

// costlyIR lists models as costlyONNX does, as the text of an .xml.
func costlyIR(size int) map[string][]byte {
	text := func(layers, edges string) []byte {
		return []byte(`<net name="n" version="11"><layers>` + layers + `</layers><edges>` + edges + `</edges></net>`)
	}
	const (
		parameters = `<layer id="0" name="x" type="Parameter" version="opset1"><data element_type="f32" shape="?,?"/><output><port id="0"><dim>-1</dim></port></output></layer>` +
			`<layer id="1" name="i" type="Parameter" version="opset1"><data element_type="i64" shape="?"/><output><port id="0"><dim>-1</dim></port></output></layer>` +
			`<layer id="2" name="a" type="Parameter" version="opset1"><data element_type="i64" shape=""/><output><port id="0"/></output></layer>`
		in  = `<input><port id="0"/></input>`
		out = `<output><port id="1"/></output>`
	)
	edge := func(from, port, to, into int) string {
		return fmt.Sprintf(`<edge from-layer="%d" from-port="%d" to-layer="%d" to-port="%d"/>`, from, port, to, into)
	}
	repeated := func(size int, part func(i int) string) string {
		return string(filled(size, func(i int) []byte { return []byte(part(i)) }))
	}
	// chain is a chain of layers from layer 0 on; their numbers begin at 10.
	chain := func(size int) (layers, edges string, end int) {
		n := size / 180
		var l, e strings.Builder
		for i := range n {
			fmt.Fprintf(&l, `<layer id="%d" type="Convert" version="opset1">%s%s</layer>`, 10+i, in, out)
			from, port := 9+i, 1
			if i == 0 {
				from, port = 0, 0
			}
			e.WriteString(edge(from, port, 10+i, 0))
		}
		return l.String(), e.String(), 9 + n
	}
	gathers := func(size, from, data, port, at, atPort int) (layers, edges string) {
		n := size / 330
		var l, e strings.Builder
		for i := range n {
			fmt.Fprintf(&l, `<layer id="%d" type="Gather" version="opset8"><input><port id="0"/><port id="1"/><port id="2"/></input><output><port id="3"/></output></layer>`, from+i)
			e.WriteString(edge(data, port, from+i, 0) + edge(at, atPort, from+i, 1) + edge(2, 0, from+i, 2))
		}
		return l.String(), e.String()
	}
	long := strings.Repeat("n", size/2)
	layers, edges, _ := chain(size)
	halfLayers, halfEdges, end := chain(size / 2)
	dataLayers, dataEdges := gathers(size/2, 1<<20, end, 1, 1, 0)
	atLayers, atEdges := gathers(size/2, 1<<20, 0, 0, end, 1)
	manyLayers, manyEdges := gathers(size, 1<<20, 0, 0, 1, 0)
	someLayers, someEdges := gathers(size/2, 1<<20, 0, 0, 1, 0)
	results := func(part func(i int) string) string {
		var b strings.Builder
		for i := range size / 400 {
			b.WriteString(part(i))
		}
		return b.String()
	}
	ports := repeated(size/2, func(i int) string { return fmt.Sprintf(`<port id="%d"/>`, i) })
	nest := func(depth int, inner string) string {
		for range depth {
			inner = `<layer id="9" type="TensorIterator" version="opset1"><body><layers>` + inner + `</layers></body></layer>`
		}
		return inner
	}
	return map[string][]byte{
		"chain":                         text(parameters+layers, edges),
		"gathers of the end of a chain": text(parameters+halfLayers+dataLayers, halfEdges+dataEdges),
		"gathers at the end of a chain": text(parameters+halfLayers+atLayers, halfEdges+atEdges),
		"gathers":                       text(parameters+manyLayers, manyEdges),
		"ports of a long name":          text(`<layer id="0" name="`+long+`" type="Op" version="opset1"><input>`+ports+`</input></layer>`, ""),
		"outputs of a long name":        text(`<layer id="0" name="`+long+`" type="Op" version="opset1"><output>`+ports+`</output></layer>`, ""),
		"gathers of a long name":        text(strings.Replace(parameters, `name="x"`, `name="`+long+`"`, 1)+someLayers, someEdges),
		"ports":                         text(`<layer id="0" name="n" type="Op" version="opset1"><input>`+ports+`</input><output>`+ports+`</output></layer>`, ""),
		"results of many names": text(`<layer id="0" name="p" type="Parameter" version="opset1"><data element_type="f32" shape="1"/><output><port id="0" names="`+
			repeated(size/2, func(i int) string { return fmt.Sprintf("%d,", i) })+`"><dim>1</dim></port></output></layer>`+
			results(func(i int) string {
				return fmt.Sprintf(`<layer id="%d" type="Result" version="opset1">%s</layer>`, i+1, in)
			}), results(func(i int) string { return edge(0, 0, i+1, 0) })),
		"parameters": text(repeated(size, func(i int) string {
			return fmt.Sprintf(`<layer id="%d" type="Parameter" version="opset1"><data element_type="f32" shape=""/><output><port id="0"/></output></layer>`, i)
		}), ""),
		"layers":        text(repeated(size, func(i int) string { return fmt.Sprintf(`<layer id="%d" type="A" version="a"/>`, i) }), ""),
		"deep":          text(nest(5000, ""), ""),
		"nested bodies": text(nest(60, repeated(size, func(i int) string { return fmt.Sprintf(`<layer id="%d" type="A" version="a"/>`, i) })), ""),
		"many bodies": text(repeated(size, func(i int) string {
			return fmt.Sprintf(`<layer id="%d" type="TensorIterator" version="opset1"><body/></layer>`, i)
		}), ""),
		"elements":      text(strings.Repeat("<a/>", size/4), ""),
		"deep elements": text(strings.Repeat("<a>", size/4), ""),
		"attributes":    text(`<layer id="0" type="A" version="a"><data `+repeated(size, func(i int) string { return fmt.Sprintf(`a%d="" `, i) })+`/></layer>`, ""),
		"edges":         text(parameters+`<layer id="3" type="A" version="a">`+in+`</layer>`, strings.Repeat(edge(0, 0, 3, 0), size/60)),
		"dims": text(`<layer id="0" type="A" version="a"><output>`+repeated(size, func(i int) string {
			return fmt.Sprintf(`<port id="%d">%s</port>`, i, strings.Repeat("<dim>1</dim>", 32))
		})+`</output></layer>`, ""),
		"a comment":       text("<!--"+strings.Repeat("-x", size/2)+"-->", ""),
		"names of a port": text(`<layer id="0" type="A" version="a"><output><port id="0" names="`+strings.Repeat("a,", size/2)+`"/></output></layer>`, ""),
	}
}

// allocated is how many bytes f allocates in all, and how long it takes.
func allocated(f func()) (bytes uint64, took time.Duration) {
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	begin := time.Now()
	f()
	took = time.Since(begin)
	runtime.ReadMemStats(&after)
	return after.TotalAlloc - before.TotalAlloc, took
}

// TestModelsInProportion lists models of an eighth of a megabyte whose shapes cost much, and
// models of a quarter of that. It holds the bytes that this allocates in all, which
// are more than it ever has at a time: less than 75 MB, and in proportion to the
// file. To refuse a model is fine, if it is soon.
func TestModelsInProportion(t *testing.T) {
	const size, times, most, free = 120 << 10, 4, 75e6, 8 << 20
	for _, of := range []struct {
		extension string
		models    func(size int) map[string][]byte
	}{{".onnx", costlyONNX}, {".xml", costlyIR}, {".tflite", costlyTFLite}, {".mlir", costlyMLIR}} {
		small := of.models(size / times)
		for name, large := range of.models(size) {
			t.Run(of.extension[1:]+" "+name, func(t *testing.T) {
				path := filepath.Join(t.TempDir(), "m"+of.extension)
				listed := func(b []byte, args ...string) uint64 {
					if err := os.WriteFile(path, b, 0o666); err != nil {
						t.Fatal(err)
					}
					var stderr strings.Builder
					p := newProgram(strings.NewReader(""), io.Discard, &stderr)
					bytes, took := allocated(func() { p.run(t.Context(), append(args, path)) })
					t.Logf("%v: %d bytes, %d MiB, %v %.250s", args, len(b), bytes>>20, took, stderr.String())
					return bytes
				}
				for _, args := range [][]string{{"model"}, {"lint", "--fail-on", "never"}, {"model", "--json"}, {"lint", "--fail-on", "never", "--format", "sarif"}} {
					if len(args)%2 == 0 && !strings.Contains(name, "gathers") {
						continue
					}
					few, many := listed(small[name], args...), listed(large, args...)
					if many > most || many > times*few*5/4+free {
						t.Errorf("%v: %d bytes are allocated for a file of %d, %d for one of %d", args, many, len(large), few, len(small[name]))
					}
				}
			})
		}
	}
}

// TestEmptyData gathers from data without elements whose rows are 16 GiB long. No
// index is inside, and that is said before memory or disk is taken for the result.
func TestEmptyData(t *testing.T) {
	if math.MaxInt == math.MaxInt32 {
		return // such a row is larger than an int can count
	}
	dir := t.TempDir()
	data, narrow := filepath.Join(dir, "data.npy"), filepath.Join(dir, "narrow.npy")
	for path, columns := range map[string]int{data: math.MaxInt32, narrow: 3} {
		header := fmt.Sprintf("%-117s\n", fmt.Sprintf("{'descr': '<f8', 'fortran_order': False, 'shape': (0, %d), }", columns))
		if err := os.WriteFile(path, []byte("\x93NUMPY\x01\x00\x76\x00"+header), 0o666); err != nil {
			t.Fatal(err)
		}
	}
	for _, args := range [][]string{
		{"gather", data, "[0]"},
		{"gather", data, "[0]", "-o", filepath.Join(dir, "out.npy")},
		{"gather", data, "[0]", "-o", filepath.Join(dir, "out.npy"), "--memory", "1M"},
		{"gathernd", data, "[[0]]"},
		{"gathernd", data, "[[0]]", "-o", filepath.Join(dir, "out.safetensors")},
		{"elements", narrow, "[[0,1,0]]"},
	} {
		var stderr strings.Builder
		p := newProgram(strings.NewReader(""), io.Discard, &stderr)
		status := 0
		took, _ := allocated(func() { status = p.run(t.Context(), args) })
		if status != 1 || !strings.Contains(stderr.String(), "= 0 is outside axis 0 of data, which is empty") || took > 16<<20 {
			t.Errorf("%v: status %d, %d bytes allocated, %s", args, status, took, stderr.String())
		}
		if left, err := filepath.Glob(filepath.Join(dir, "*out*")); err != nil || len(left) > 0 {
			t.Errorf("%v: %v, %v", args, left, err)
		}
	}
}

// TestBagsInProportion prints bags over a table that is converted, and one of quantised
// blocks. Their rows are decoded, and not the table.
func TestBagsInProportion(t *testing.T) {
	const rows, columns = 40_000, 256
	dir := t.TempDir()
	table, quantised := filepath.Join(dir, "table.npy"), filepath.Join(dir, "table.gguf")
	var file bytes.Buffer
	values := make([]float32, rows*columns)
	for i := range values {
		values[i] = float32(i / columns)
	}
	if err := npy.Write(&file, garner.Of(values, rows, columns)); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(table, file.Bytes(), 0o666); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(quantised, quantisedTable(rows), 0o666); err != nil {
		t.Fatal(err)
	}
	bags := []string{"--as", "torch.embedding_bag", "--operand", "offsets=[0,2]", "--attr", "mode=sum"}
	weighted := append(slices.Clone(bags), "--operand", "per_sample_weights=[2,2,0]")
	printed := func(first, second string) string {
		row := func(v string) string { return "[" + strings.Repeat(v+", ", columns-1) + v + "]" }
		return "[" + row(first) + ", " + row(second) + "]\n"
	}
	for _, tt := range []struct {
		args []string
		want string
	}{
		{append([]string{table, "[3,5,39999]", "--to", "f64"}, bags...), printed("8.0", "39999.0")},
		{append([]string{table, "[3,5,1024]", "--to", "f16"}, bags...), printed("8.0", "1024.0")},
		{append([]string{quantised, "[2,39999,9]", "--all"}, weighted...), printed("15.0", "0.0")},
		{append([]string{quantised, "[2,39999,9]", "--to", "f64"}, weighted...), printed("15.0", "0.0")},
	} {
		var stdout, stderr strings.Builder
		p := newProgram(strings.NewReader(""), &stdout, &stderr)
		status := 0
		took, _ := allocated(func() { status = p.run(t.Context(), append([]string{"gather"}, tt.args...)) })
		if got := strings.ReplaceAll(stdout.String(), "\n ", " "); status != 0 || got != tt.want || took > 4<<20 {
			t.Errorf("%v: status %d, %d bytes allocated, %.80s %s", tt.args, status, took, got, stderr.String())
		}
	}
}
