package main

import (
	"encoding/binary"
	"fmt"
	"hash/crc32"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"google.golang.org/protobuf/encoding/protowire"
)

// A costly is a hostile model of TensorFlow: its files by their names, which of them is
// opened, and the arguments beside.
type costly struct {
	files map[string][]byte
	open  string
	args  []string
}

// write writes the files of a model into a folder, and returns how many bytes they have.
func (c costly) write(t *testing.T, dir string) (bytes int) {
	t.Helper()
	for file, b := range c.files {
		bytes += len(b)
		if err := os.MkdirAll(filepath.Dir(filepath.Join(dir, file)), 0o777); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(filepath.Join(dir, file), b, 0o666); err != nil {
			t.Fatal(err)
		}
	}
	return bytes
}

// sumOf is the checksum of bytes as files of TensorFlow have it.
func sumOf(b []byte) uint32 {
	sum := crc32.Checksum(b, crc32.MakeTable(crc32.Castagnoli))
	return (sum>>15 | sum<<17) + 0xa282ead8
}

// checkpointIndex writes the index of a checkpoint of one file of elements: a table of LevelDB of one block.
func checkpointIndex(keys []string, entries [][]byte) []byte {
	var file []byte
	block := func(keys []string, values [][]byte) (handle []byte) {
		var b []byte
		for i, key := range keys {
			b = binary.AppendUvarint(append(b, 0), uint64(len(key)))
			b = binary.AppendUvarint(b, uint64(len(values[i])))
			b = append(append(b, key...), values[i]...)
		}
		b = append(b, 0, 0, 0, 0, 1, 0, 0, 0) // one restart, at 0
		handle = binary.AppendUvarint(binary.AppendUvarint(nil, uint64(len(file))), uint64(len(b)))
		b = append(b, 0) // not compressed
		file = append(file, binary.LittleEndian.AppendUint32(b, sumOf(b))...)
		return handle
	}
	first := block(append([]string{""}, keys...), append([][]byte{field(1, 1)}, entries...))
	footer := append(block(nil, nil), block([]string{keys[len(keys)-1]}, [][]byte{first})...)
	file = append(append(file, footer...), make([]byte, 40-len(footer))...)
	return binary.LittleEndian.AppendUint64(file, 0xdb4775248b80fb57)
}

// fixed32 encodes a field of 32 bits.
func fixed32(number protowire.Number, v uint32) []byte {
	return protowire.AppendFixed32(protowire.AppendTag(nil, number, protowire.Fixed32Type), v)
}

// costlyTensorFlow lists models as costlyONNX does.
func costlyTensorFlow(size int) map[string]costly {
	node := func(name, op, inputs string, more ...[]byte) []byte {
		b := joined(field(1, name), field(2, op))
		for in := range strings.FieldsSeq(inputs) {
			b = append(b, field(3, in)...)
		}
		return append(b, joined(more...)...)
	}
	attribute := func(key string, value []byte) []byte { return field(5, joined(field(1, key), field(2, value))) }
	inGraph := func(n []byte) []byte { return field(1, n) }
	placeholder := inGraph(node("x", "Placeholder", "", attribute("dtype", field(6, 3))))
	all := map[string]costly{}

	// A SavedModel of objects, without a signature or with one of the checkpoint's objects.
	saved := func(graph, info, objects []byte) []byte {
		meta := joined(field(1, joined(field(4, "serve"), info)), field(2, graph), field(7, objects))
		return joined(field(1, 1), field(2, meta))
	}
	object := func(children ...[]byte) []byte { return joined(children...) }
	child := func(id int, name string) []byte { return field(1, joined(field(1, id), field(2, name))) }
	user := field(4, field(1, "u"))
	n := size / 60
	root, leaf, top := filled(0, nil), filled(0, nil), filled(0, nil)
	var others []byte
	for i := range n {
		name := fmt.Sprintf("%x", i)
		root = append(root, child(1+i, name)...)
		top, leaf = append(top, child(1, name)...), append(leaf, child(0, name)...)
		others = append(others, field(1, user)...)
	}
	text := joined(field(1, top), field(1, leaf))
	length := binary.AppendUvarint(nil, uint64(len(text)))
	sum := binary.LittleEndian.AppendUint32(nil, sumOf(binary.LittleEndian.AppendUint32(nil, uint32(len(text)))))
	elements := append(append(length, sum...), text...)
	whole := sumOf(append(append(binary.LittleEndian.AppendUint32(nil, uint32(len(text))), sum...), text...))
	all["objects that are all one in the checkpoint"] = costly{map[string][]byte{
		"saved_model.pb":                          saved(placeholder, nil, joined(field(1, object(root)), others)),
		"variables/variables.index":               checkpointIndex([]string{"_CHECKPOINTABLE_OBJECT_GRAPH"}, [][]byte{joined(field(1, 7), field(5, len(elements)), fixed32(6, whole))}),
		"variables/variables.data-00000-of-00001": elements,
	}, ".", nil}

	var many, called []byte
	for i := range size / 100 {
		many = append(many, child(2+i, fmt.Sprintf("%x", i))...)
		called = append(called, field(1, field(6, field(1, "f")))...)
	}
	function := field(2, field(1, field(1, field(1, "f"))))
	all["functions below one long name"] = costly{map[string][]byte{
		"saved_model.pb": saved(joined(placeholder, function), nil, joined(field(1, child(1, strings.Repeat("n", size/2))), field(1, joined(many, user)), called)),
	}, ".", []string{"--signature", "nix"}}

	var arguments []byte
	reads := "w:0"
	for i := range size / 30 {
		arguments = append(arguments, field(3, joined(field(1, fmt.Sprintf("o%x", i)), field(3, 3)))...)
		reads += fmt.Sprint(" w:", i)
	}
	all["outputs of one operator"] = costly{map[string][]byte{
		"saved_model.pb": saved(joined(placeholder, inGraph(node("w", "Foo", "")), inGraph(node("z", "Bar", reads))), field(2, field(1, joined(field(1, "Foo"), arguments))), nil),
	}, ".", nil}
	lists := field(2, field(1, joined(field(1, "Foo"), arguments, field(3, joined(field(1, "l"), field(5, "N"))))))
	all["nodes of an operator of many lists"] = costly{map[string][]byte{
		"saved_model.pb": saved(joined(placeholder, filled(size/2, func(i int) []byte { return inGraph(node(fmt.Sprint("w", i), "Foo", "")) })), lists, nil),
	}, ".", nil}

	// A loop whose values all come from the end of one chain of Identity.
	var body, cond, ret []byte
	given := ""
	n = size / 130
	for i := range n {
		at := joined(field(1, fmt.Sprintf("a%x", i)), field(3, 3))
		body, cond = append(body, field(2, at)...), append(cond, field(2, at)...)
		body = append(body, field(3, joined(field(1, fmt.Sprintf("o%x", i)), field(3, 3)))...)
		ret = append(ret, field(4, joined(field(1, fmt.Sprintf("o%x", i)), field(2, "i0:output:0")))...)
		given += " x"
	}
	chain := filled(0, nil)
	for i := range n {
		from := "q:o:0"
		if i < n-1 {
			from = fmt.Sprintf("i%x:output:0", i+1)
		}
		chain = append(chain, field(3, node(fmt.Sprintf("i%x", i), "Identity", from))...)
	}
	called2 := func(key, name string) []byte { return attribute(key, field(10, field(1, name))) }
	library := field(2, joined(
		field(1, joined(field(1, joined(field(1, "b"), body)), chain, field(3, node("q", "Foo", "")), ret)),
		field(1, joined(field(1, joined(field(1, "c"), cond, field(3, joined(field(1, "o"), field(3, 10))))), field(3, node("k", "Foo", "")), field(4, joined(field(1, "o"), field(2, "k:o:0"))))),
	))
	all["a loop of values of one chain"] = costly{map[string][]byte{
		"m.pb": joined(placeholder, inGraph(node("w", "StatelessWhile", given, called2("body", "b"), called2("cond", "c"))), library),
	}, "m.pb", nil}

	// Graphs of TensorFlow 1 beside a checkpoint.
	old := func(graph []byte, restore string) []byte {
		return joined(field(1, field(5, "1.15")), field(2, graph), field(3, field(3, restore)))
	}
	entry := func(at int) []byte { return joined(field(1, 1), field(4, at), field(5, 4)) }
	variable := func(name string) []byte {
		return inGraph(node(name, "VariableV2", "", attribute("dtype", field(6, 1))))
	}
	var assigned []byte
	restores := ""
	n = size / 100
	for i := range n {
		from := "x"
		if i < n-1 {
			from = fmt.Sprintf("i%x", i+1)
		}
		assigned = append(assigned, inGraph(node(fmt.Sprintf("a%x", i), "Assign", "v i0"))...)
		assigned = append(assigned, inGraph(node(fmt.Sprintf("i%x", i), "Identity", from))...)
		restores += fmt.Sprintf(" ^a%x", i)
	}
	all["assignments at the end of a chain"] = costly{map[string][]byte{
		"m.meta":                old(joined(placeholder, variable("v"), inGraph(node("R", "NoOp", restores)), assigned), "R"),
		"m.index":               checkpointIndex([]string{"v"}, [][]byte{entry(0)}),
		"m.data-00000-of-00001": make([]byte, 4),
	}, "m.meta", nil}

	assigned, restores = nil, ""
	n = size / 160
	for i := range n {
		assigned = append(assigned, inGraph(node(fmt.Sprintf("a%x", i), "Assign", fmt.Sprintf("v r%x", i)))...)
		assigned = append(assigned, inGraph(node(fmt.Sprintf("r%x", i), "RestoreV2", "x c c"))...)
		restores += fmt.Sprintf(" ^a%x", i)
	}
	splat := joined(field(1, 7), field(2, field(2, field(1, size/4))), field(8, ""))
	all["lists of one string restored again and again"] = costly{map[string][]byte{
		"m.meta": old(joined(placeholder, variable("v"), inGraph(node("R", "NoOp", restores)), assigned,
			inGraph(node("c", "Const", "", attribute("dtype", field(6, 7)), attribute("value", field(8, splat))))), "R"),
		"m.index":               checkpointIndex([]string{"v"}, [][]byte{entry(0)}),
		"m.data-00000-of-00001": make([]byte, 4),
	}, "m.meta", nil}

	var held []byte
	var keys []string
	var entries [][]byte
	changes := ""
	for i := range size / 200 {
		name := fmt.Sprintf("v%06x", i)
		held = append(held, variable(name)...)
		keys, entries = append(keys, name), append(entries, entry(4*i))
		changes += " " + name
	}
	rest := filled(size/2, func(i int) []byte { return inGraph(node(fmt.Sprintf("b%x", i), "Bar", "")) })
	all["variables that are changed beside many nodes"] = costly{map[string][]byte{
		"m.meta":                old(joined(placeholder, held, rest, inGraph(node("a", "AssignX", changes)), inGraph(node("z", "Bar", "^a"))), ""),
		"m.index":               checkpointIndex(keys, entries),
		"m.data-00000-of-00001": make([]byte, 4*len(keys)),
	}, "m.meta", nil}

	// Slices of a tensor that are one slice.
	extents := field(7, field(1, joined(field(1, 0), field(2, size))))
	key := "\x00v\x00\x01\x01\x01\x80"
	key += string([]byte{0xe0 | byte(size>>16), byte(size >> 8), byte(size)}) // the ordered code of size, which is less than 2²⁰
	all["one slice again and again"] = costly{map[string][]byte{
		"m.index": checkpointIndex([]string{key, "v"}, [][]byte{
			joined(field(1, 1), field(2, field(2, field(1, size))), field(5, 4*size)),
			joined(field(1, 1), field(2, field(2, field(1, size*(size/20)))), filled(size/20*len(extents), func(int) []byte { return extents })),
		}),
		"m.data-00000-of-00001": make([]byte, 4*size),
	}, "m.index", nil}

	for name, b := range costlyTFLite(size) { // whose allocations TestModelsInProportion holds
		all["tflite "+name] = costly{map[string][]byte{"m.tflite": b}, "m.tflite", nil}
	}
	return all
}

// TestTensorFlowInProportion lists models of TensorFlow as TestModelsInProportion does. What
// walks without allocating is in [TestWorkInProportion].
func TestTensorFlowInProportion(t *testing.T) {
	const size, times, most, free = 240 << 10, 4, 150e6, 16 << 20
	small := costlyTensorFlow(size / times)
	for name, large := range costlyTensorFlow(size) {
		t.Run(name, func(t *testing.T) {
			listed := func(c costly, lint bool) uint64 {
				dir := t.TempDir()
				length := c.write(t, dir)
				args := append([]string{"model", filepath.Join(dir, c.open)}, c.args...)
				if lint {
					args[0] = "lint"
					args = append(args, "--fail-on", "never")
				}
				var stderr strings.Builder
				p := newProgram(strings.NewReader(""), io.Discard, &stderr)
				bytes, took := allocated(func() { p.run(t.Context(), args) })
				t.Logf("%d bytes, %d MiB, %v %.250s", length, bytes>>20, took, stderr.String())
				return bytes
			}
			for _, lint := range []bool{false, true} {
				few, many := listed(small[name], lint), listed(large, lint)
				if many > most || many > times*few*5/4+free {
					t.Errorf("%d bytes are allocated for a file of about %d, %d for one of %d", many, size, few, size/times)
				}
			}
		})
	}
}
