package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/garner-go/garner"
	"github.com/garner-go/garner/format/gguf"
	"github.com/garner-go/garner/format/npz"
	"github.com/garner-go/garner/format/safetensors"
	"github.com/garner-go/garner/internal/cmdline"
	"github.com/garner-go/garner/internal/terminal"
	"google.golang.org/protobuf/encoding/protowire"
)

// hostileNames are names that would give a terminal commands, turn the text around
// them, or look like a second line. None is longer than evilBytes.
var hostileNames = []string{
	"\x1b]0;PWNED\a", "\x1b[31m", "\u009b31m", "\x9b31m", "\x7f\b\x00", "\u202ea\u2066", "\u2028\u2029", "a\nerror: b", "a\rb\vc", "a\tb", "\xff\xc0", "\U000e0041",
}

// harmless fails where text holds what a terminal obeys.
func harmless(t *testing.T, about, text string) {
	t.Helper()
	for line := range strings.Lines(text) {
		if line = strings.TrimSuffix(line, "\n"); terminal.Printable(strings.ReplaceAll(line, "\t", "")) != strings.ReplaceAll(line, "\t", "") {
			t.Errorf("%s: %q", about, line)
		}
	}
}

// hostileRun runs a command line on a hostile file, and holds what must hold of all
// output, whatever the status. It returns standard output.
func hostileRun(t *testing.T, args ...string) string {
	t.Helper()
	status, stdout, stderr := garnerRun(args...)
	harmless(t, fmt.Sprintf("%q prints", args), stdout)
	harmless(t, fmt.Sprintf("%q says", args), stderr)
	if status != cmdline.StatusDone {
		if err := refusal(stderr); err != nil {
			t.Errorf("%q: %v", args, err)
		}
	}
	if last := args[len(args)-1]; stdout != "" && (last == "--json" || last == "json" || last == "sarif") {
		for line := range strings.SplitAfterSeq(strings.TrimSpace(stdout), "\n{") {
			if line = strings.TrimSuffix(line, "\n{"); line[0] != '{' {
				line = "{" + line
			}
			if !json.Valid([]byte(line)) {
				t.Errorf("%q prints %s, which is no JSON", args, line)
			}
		}
	}
	return stdout
}

// TestHostileNames writes files of every format with hostile names, and lists and
// reads them.
func TestHostileNames(t *testing.T) {
	x := garner.Of([]float32{1, 2}, 2)
	for i, name := range hostileNames {
		dir := t.TempDir()
		write := map[string]func(w io.Writer) error{
			"a.npz": func(w io.Writer) error {
				return npz.Write(w, []npz.Named{{Name: name, Tensor: x}, {Name: "b", Tensor: x}})
			},
			"a.safetensors": func(w io.Writer) error {
				return safetensors.Write(w, []safetensors.Named{{Name: name, Tensor: x}, {Name: "b", Tensor: x}}, nil)
			},
			"a.gguf": func(w io.Writer) error {
				return gguf.Write(w, name, x)
			},
			"object.npy": func(w io.Writer) error {
				head := fmt.Sprintf("{'descr': '%s', 'fortran_order': False, 'shape': (1,), }\n", name)
				_, err := w.Write(append([]byte{0x93, 'N', 'U', 'M', 'P', 'Y', 1, 0, byte(len(head)), 0}, head...))
				return err
			},
			"dtype.safetensors": func(w io.Writer) error {
				head, err := json.Marshal(map[string]any{"a": map[string]any{"dtype": name, "shape": []int{1}, "data_offsets": []int{0, 4}}})
				fmt.Fprintf(w, "%c\x00\x00\x00\x00\x00\x00\x00%s\x00\x00\x00\x00", rune(len(head)), head)
				return err
			},
			"header.safetensors": func(w io.Writer) error {
				head, err := json.Marshal(map[string]any{"a": name})
				fmt.Fprintf(w, "%c\x00\x00\x00\x00\x00\x00\x00%s", rune(len(head)), head)
				return err
			},
			"a.safetensors.index.json": func(w io.Writer) error {
				return json.NewEncoder(w).Encode(map[string]any{"weight_map": map[string]string{"a": name + ".safetensors", name: "a.safetensors"}})
			},
			"b.safetensors.index.json": func(w io.Writer) error { return json.NewEncoder(w).Encode(map[string]any{"weight_map": name}) },
			"a.txt":                    func(w io.Writer) error { _, err := io.WriteString(w, "1\n"+name+"\n"); return err },
			"literal.csv":              func(w io.Writer) error { _, err := io.WriteString(w, "["+name+"]\n"); return err },
			"unknown":                  func(w io.Writer) error { _, err := io.WriteString(w, "[1,"+name+"]\n"); return err },
			"a.jsonl": func(w io.Writer) error {
				return json.NewEncoder(w).Encode(map[string]any{"name": name, "op": "onnx." + name, name: 1})
			},
			"a.onnx":        func(w io.Writer) error { _, err := w.Write(controlONNX(name, false)); return err },
			"external.onnx": func(w io.Writer) error { _, err := w.Write(controlONNX(name, true)); return err },
			"a.xml": func(w io.Writer) error {
				var quoted strings.Builder
				for _, r := range name {
					if r < ' ' && r != '\n' && r != '\t' && r != '\r' || r == utf8.RuneError {
						r = '\u009b' // XML has no such character, not even by number
					}
					fmt.Fprintf(&quoted, "&#%d;", r)
				}
				_, err := io.WriteString(w, strings.ReplaceAll(hostileXML, "NAME", quoted.String()))
				return err
			},
		}
		for file, to := range write {
			var b bytes.Buffer
			if err := to(&b); err != nil {
				t.Logf("%s cannot have %q: %v", file, name, err) // the format refuses it
				continue
			}
			path := filepath.Join(dir, file)
			writeFile(t, path, b.Bytes())
			if listed := hostileRun(t, "info", path); listed != "" && !strings.HasSuffix(file, ".npy") {
				if lines := strings.Count(listed, "\n"); lines > 4 {
					t.Errorf("%s lists %q in %d lines:\n%s", file, name, lines, listed)
				}
			}
			hostileRun(t, "info", path, "--json")
			for _, data := range []string{path, path + "#" + name, path + "#c", path + "#"} {
				hostileRun(t, "gather", data, "[0]")
				hostileRun(t, "gather", "[0]", data)
			}
			hostileRun(t, "gather", path+"#"+name, "[0]", "-o", os.DevNull)
			hostileRun(t, "explain", "gather", path+"#"+name, "[7]")
			hostileRun(t, "probe", path+"#c")
			hostileRun(t, "__complete", "gather", path+"#")
			if out := hostileRun(t, "verify", path); strings.Count(out, "\n") > 2 {
				t.Errorf("%q prints %q", name, out)
			}
			hostileRun(t, "verify", path, "--json")
			hostileRun(t, "model", path)
			hostileRun(t, "model", path, "--json")
			hostileRun(t, "model", path, "--extract", name, "-o", filepath.Join(dir, "table.npy"))
			for line := range strings.Lines(hostileRun(t, "lint", path)) {
				if !strings.HasPrefix(line, path) && line[0] != '\t' {
					t.Errorf("%q prints %q", name, line)
				}
			}
			hostileRun(t, "lint", path, "--format", "json")
			hostileRun(t, "lint", path, "--format", "sarif")
			hostileRun(t, "run", path)
			hostileRun(t, "run", path, "--input", name+"=[0]", "--result", name)
			hostileRun(t, "run", path, "--node", name)
		}
		// Names on the command line, and those of files.
		for _, args := range [][]string{
			{name}, {"help", name}, {"gather", name, name}, {"gather", "[1]", "[0]", "--as", name}, {"gather", "[1]", "[0]", "--attr", name + "=" + name},
			{"gather", "[1]", "[0]", "-o", name}, {"gather", "[1]", "[0]", "--outside", name}, {"info", name + ".npy"}, {"model", name + ".onnx"}, {"ops", name},
			{"shape", "--as", "onnx.Gather", "--data", name, "--indices", name}, {"gather", "[\"" + name + "\"]", "[0]"}, {"gather", "https://" + name + "/a.npy", "[0]"},
			{"gather", "[1]", "[0]", "--" + name},
		} {
			hostileRun(t, args...)
		}
		if runtime.GOOS == "windows" || strings.ContainsAny(name, "\x00/") {
			continue // no file has the name
		}
		path := filepath.Join(dir, name+".npy")
		writeNpy(t, path, x)
		if out := hostileRun(t, "info", path); !strings.Contains(out, "f32") {
			t.Errorf("%d: %q", i, out)
		}
		hostileRun(t, "info", path, "--json")
		hostileRun(t, "info", filepath.Join(dir, "*.npy"))
		hostileRun(t, "gather", path, "[7]")
		hostileRun(t, "probe", path, "--seconds", "0.01")
		hostileRun(t, "probe", path, "--seconds", "0.01", "--json")
		hostileRun(t, "probe", path, "--seconds", "0.01", "-o", "-")
	}
}

// TestBinaryUntouched writes an array of bytes that would command a terminal to
// standard output: an array is no text.
func TestBinaryUntouched(t *testing.T) {
	path := filepath.Join(t.TempDir(), "x.npy")
	x := garner.Of([]uint8("\x1b[31m\u009b\xff\r\n"), 10)
	writeNpy(t, path, x)
	want, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if status, out, message := garnerRun("gather", path, "0:10", "-o", "-"); status != cmdline.StatusDone || out != string(want) {
		t.Errorf("status %d, %q, %s; want %q", status, out, message, want)
	}
	// Its text is quoted: a string as JSON has it, and no name is offered to a shell
	// that it cannot be given.
	if _, out, _ := garnerRun("gather", `["\u001b[31m\u202e"]`, "[0]"); out != `["\u001b[31m\u202e"]`+"\n" {
		t.Errorf("%q", out)
	}
	var b bytes.Buffer
	if err := safetensors.Write(&b, []safetensors.Named{{Name: "a\x1b", Tensor: x}, {Name: "b", Tensor: x}}, nil); err != nil {
		t.Fatal(err)
	}
	names := filepath.Join(t.TempDir(), "x.safetensors")
	writeFile(t, names, b.Bytes())
	if _, out, _ := garnerRun("__complete", "gather", names+"#"); !strings.Contains(out, "#b\n") || strings.Contains(out, "#a") {
		t.Errorf("%q", out)
	}
}

// TestHostileBytes puts hostile names into the places of files that hold text, one
// after the other, whatever that makes of the file.
func TestHostileBytes(t *testing.T) {
	dir := t.TempDir()
	for _, from := range []string{
		"testdata/models/mlp.onnx", "testdata/models/half.xml", "format/gguf/testdata/split-00002-of-00003.gguf", "format/safetensors/testdata/model.safetensors.index.json",
		"format/npz/testdata/lzma.npz", "onnx/modelproto/testdata/functions.onnx", "onnx/modelproto/testdata/torch_embedding_external.onnx",
	} {
		b, err := os.ReadFile(filepath.Join("../..", filepath.FromSlash(from)))
		if err != nil {
			t.Fatal(err)
		}
		path := filepath.Join(dir, filepath.Base(from))
		step, turn := max(1, len(b)/40), 0
		for at := 0; at < len(b); at += step {
			// The next three characters of text.
			for at < len(b)-12 && !printableBytes(b[at:at+3]) {
				at++
			}
			spoilt := bytes.Clone(b)
			copy(spoilt[at:], hostileNames[turn%len(hostileNames)])
			turn++
			writeFile(t, path, spoilt[:len(b)])
			hostileRun(t, "info", path)
			hostileRun(t, "gather", path+"#a", "[0]")
			if ext := filepath.Ext(path); ext == ".onnx" || ext == ".xml" {
				hostileRun(t, "model", path)
				hostileRun(t, "model", path, "--json")
				hostileRun(t, "lint", path)
				hostileRun(t, "lint", path, "--format", "sarif")
				hostileRun(t, "run", path)
			}
		}
	}
}

func printableBytes(b []byte) bool {
	for _, c := range b {
		if c < ' ' || c > '~' {
			return false
		}
	}
	return true
}

// controlONNX is a model whose every name is hostile: a gather of a constant, which
// may be in an external file, and a node of an operator that there is not.
func controlONNX(name string, external bool) []byte {
	field := func(number protowire.Number, value any) []byte {
		switch v := value.(type) {
		case int:
			return protowire.AppendVarint(protowire.AppendTag(nil, number, protowire.VarintType), uint64(v))
		case string:
			return protowire.AppendString(protowire.AppendTag(nil, number, protowire.BytesType), v)
		case []byte:
			return protowire.AppendBytes(protowire.AppendTag(nil, number, protowire.BytesType), v)
		}
		panic("no such field")
	}
	message := func(fields ...[]byte) []byte { return bytes.Join(fields, nil) }
	value := func(name, dim string, dtype int) []byte {
		dims := message(field(1, field(2, dim)), field(1, field(1, 2)))
		return message(field(1, name), field(2, field(1, message(field(1, dtype), field(2, dims)))))
	}
	node := func(op, domain string, inputs ...string) []byte {
		var all []byte
		for _, in := range inputs {
			all = append(all, field(1, in)...)
		}
		made := message(all, field(2, op+name+"out"), field(3, name), field(4, op), field(7, domain), field(6, name))
		if op != name {
			return made
		}
		return message(made, field(5, message(field(1, name), field(4, name), field(20, 3))))
	}
	elements := field(9, "\x00\x00\x80?\x00\x00\x80?")
	if external {
		elements = message(field(13, message(field(1, "location"), field(2, name))), field(14, 1))
	}
	tensor := message(field(1, 2), field(2, 1), field(8, name), elements)
	graph := message(
		field(1, node("Gather", "", name, name+"i")), field(1, node(name, name, name)),
		field(2, name), field(5, tensor), field(11, value(name+"i", name, 7)), field(12, value("Gather"+name+"out", name, 1)))
	return message(field(1, 8), field(2, name), field(3, name), field(8, message(field(1, name), field(2, 1))), field(8, message(field(1, ""), field(2, 13))), field(7, graph))
}

const hostileXML = `<net name="NAME" version="11"><layers>
  <layer id="0" name="NAME" type="Parameter" version="opset1"><data shape="3" element_type="f32"/>
    <output><port id="0" precision="FP32" names="NAME"><dim>3</dim></port></output></layer>
  <layer id="1" name="NAMEi" type="Parameter" version="opset1"><data shape="?" element_type="i64"/>
    <output><port id="0" precision="I64" names="NAMEi"><dim>-1</dim></port></output></layer>
  <layer id="2" name="NAMEp" type="NAME" version="NAME"><data at="NAME"/>
    <input><port id="0" precision="FP32"><dim>3</dim></port></input><output><port id="1" precision="NAME" names="NAME"><dim>3</dim></port></output></layer>
</layers><edges><edge from-layer="0" from-port="0" to-layer="2" to-port="0"/></edges></net>
`
