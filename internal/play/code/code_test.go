package code_test

import (
	"fmt"
	"go/parser"
	"go/token"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"runtime"
	"slices"
	"strings"
	"testing"

	"github.com/garner-go/garner"
	"github.com/garner-go/garner/internal/literal"
	"github.com/garner-go/garner/internal/play/calls"
	"github.com/garner-go/garner/internal/play/code"
	"github.com/garner-go/garner/operators"
)

// some picks calls so that each operator and each form is among them.
func some(t *testing.T) []calls.Call {
	t.Helper()
	all, err := calls.All()
	if err != nil {
		t.Fatal(err)
	}
	var list []calls.Call
	operator, title := map[string]bool{}, map[string]bool{}
	for _, c := range all {
		if !operator[c.Operator.Name] || !title[c.Title] {
			list = append(list, c)
		}
		operator[c.Operator.Name], title[c.Title] = true, true
	}
	if len(operator) != len(operators.All()) || len(title) < 50 {
		t.Fatalf("%d operators and %d forms", len(operator), len(title))
	}
	return list
}

// run runs a command in a folder and returns what it printed.
func run(t *testing.T, folder, name string, args ...string) (stdout, stderr string, failed bool) {
	t.Helper()
	cmd := exec.Command(name, args...)
	var out, said strings.Builder
	cmd.Dir, cmd.Stdout, cmd.Stderr = folder, &out, &said
	// What go builds must run here, also where this test runs under an emulator.
	cmd.Env = slices.DeleteFunc(os.Environ(), func(v string) bool { return strings.HasPrefix(v, "GOARCH=") || strings.HasPrefix(v, "GOOS=") })
	err := cmd.Run()
	if _, exited := err.(*exec.ExitError); err != nil && !exited {
		t.Fatal(err)
	}
	return out.String(), said.String(), err != nil
}

// ownMachine skips a test of processes that are the same whatever this test was built for:
// the go command builds them for its own machine.
func ownMachine(t *testing.T) {
	t.Helper()
	out, said, failed := run(t, ".", "go", "env", "GOHOSTARCH")
	switch {
	case failed:
		t.Fatal(said)
	case raceDetector:
		t.Skip("the race detector sees nothing of other processes; runs without it have this test")
	case strings.TrimSpace(out) != runtime.GOARCH:
		t.Skipf("this test is built for %s, and its processes for %s, whose own run has them", runtime.GOARCH, strings.TrimSpace(out))
	}
}

// TestGo compiles and runs calls as programs of Go.
func TestGo(t *testing.T) {
	ownMachine(t)
	root, err := filepath.Abs("../../..")
	if err != nil {
		t.Fatal(err)
	}
	list, dir := some(t), t.TempDir()
	// A module of its own, as a reader's would be, with this one in the place of a release.
	sums, err := os.ReadFile(filepath.Join(root, "go.sum"))
	if err != nil {
		t.Fatal(err)
	}
	own, err := os.ReadFile(filepath.Join(root, "go.mod"))
	if err != nil {
		t.Fatal(err)
	}
	module := regexp.MustCompile(`(?m)^module .*`).ReplaceAllString(string(own), "module example.com/calls")
	module += fmt.Sprintf("\nrequire github.com/garner-go/garner v0.0.0\nreplace github.com/garner-go/garner => %q\n", root)
	write(t, filepath.Join(dir, "go.mod"), module)
	write(t, filepath.Join(dir, "go.sum"), string(sums))
	// One program runs them all, because linking is what takes time: each text is a package of
	// its own, which differs from what a reader gets in two words.
	var imports, table strings.Builder
	for i, c := range list {
		text, err := code.Of(c.Operator, c.Call, code.Go)
		if err != nil {
			t.Fatalf("%s, %s: %v", c.Operator.Name, c.Title, err)
		}
		name := fmt.Sprintf("call%03d", i)
		if i == 0 {
			write(t, filepath.Join(dir, "whole", "main.go"), text)
		}
		text = strings.Replace(text, "package main\n", "package "+name+"\n", 1)
		write(t, filepath.Join(dir, name, "call.go"), strings.Replace(text, "\nfunc main() {\n", "\nfunc Main() {\n", 1))
		fmt.Fprintf(&imports, "\t\"example.com/calls/%s\"\n", name)
		fmt.Fprintf(&table, "\t%q: %s.Main,\n", name, name)
	}
	write(t, filepath.Join(dir, "all", "main.go"), "package main\n\nimport (\n\t\"os\"\n\n"+imports.String()+")\n\nvar table = map[string]func(){\n"+table.String()+"}\n\nfunc main() { table[os.Args[1]]() }\n")
	bin := filepath.Join(dir, "bin") + string(filepath.Separator)
	if err := os.Mkdir(bin, 0o777); err != nil {
		t.Fatal(err)
	}
	if _, said, failed := run(t, dir, "go", "build", "-ldflags=-s -w", "-o", bin, "./all", "./whole"); failed {
		t.Fatalf("the texts do not compile: %s", said)
	}
	if out, _, _ := run(t, dir, "gofmt", "-d", "."); out != "" {
		t.Errorf("gofmt would change a text: %s", out)
	}
	check := func(c calls.Call, program string, args ...string) {
		out, said, failed := run(t, dir, filepath.Join(bin, program), args...)
		switch {
		case failed != (c.Err != nil):
			t.Errorf("%s, %s: failed %v: %s; garner: %v", c.Operator.Name, c.Title, failed, said, c.Err)
		case c.Err != nil && !strings.Contains(said, c.Err.Error()):
			t.Errorf("%s, %s: it says %q; want %q", c.Operator.Name, c.Title, said, c.Err)
		case c.Err == nil && out != fmt.Sprintln(c.Want.DType(), c.Want.Shape(), c.Want.Text()):
			t.Errorf("%s, %s: it prints %q; want %s", c.Operator.Name, c.Title, out, c.Want.Text())
		}
	}
	check(list[0], "whole")
	for i, c := range list {
		check(c, "all", fmt.Sprintf("call%03d", i))
	}
}

func write(t *testing.T, name, text string) {
	t.Helper()
	if err := os.MkdirAll(filepath.Dir(name), 0o777); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(name, []byte(text), 0o666); err != nil {
		t.Fatal(err)
	}
}

// TestCommand runs calls as commands in a shell.
func TestCommand(t *testing.T) {
	if _, err := exec.LookPath("sh"); err != nil {
		t.Skip("there is no sh, for which the commands are quoted")
	}
	ownMachine(t)
	bin := t.TempDir()
	if _, said, failed := run(t, "../../..", "go", "build", "-o", bin+string(filepath.Separator), "./cmd/garner"); failed {
		t.Fatal(said)
	}
	t.Setenv("PATH", bin+string(os.PathListSeparator)+os.Getenv("PATH"))
	for _, c := range some(t) {
		text, err := code.Of(c.Operator, c.Call, code.Garner)
		if err != nil {
			t.Errorf("%s, %s: %v", c.Operator.Name, c.Title, err)
			continue
		}
		out, said, failed := run(t, bin, "sh", "-c", text)
		switch {
		case failed != (c.Err != nil):
			t.Errorf("%s, %s: failed %v: %s; garner: %v\n%s", c.Operator.Name, c.Title, failed, said, c.Err, text)
		case c.Err == nil && out != c.Want.Text()+"\n":
			t.Errorf("%s, %s: it prints %q; want %s\n%s", c.Operator.Name, c.Title, out, c.Want.Text(), text)
		}
	}
}

// hostile are strings that would break out of a text that quoted them badly.
var hostile = []string{
	`"); panic("out`, `'; touch out; '`, "`touch out`", "$(touch out)", "\\", "\\\"", "\n}\nfunc init() {}", "\"\"\"", "'''", "${x}", "%s%d", "\x00\x01\x7f", "世界\U0001f600\u2028",
}

// TestHostile runs calls of such strings, of every language that this machine has.
func TestHostile(t *testing.T) {
	o, err := operators.Find("numpy.take", 0)
	if err != nil {
		t.Fatal(err)
	}
	c := code.Call{Data: garner.Of(hostile, len(hostile)), Indices: garner.Of([]int64{1, 0}, 2)}
	text, err := code.Of(o, c, code.Python)
	if err != nil {
		t.Fatal(err)
	}
	if strings.Count(text, "\n") != 6 {
		t.Errorf("a string breaks a line:\n%s", text)
	}
	for _, language := range code.Languages() {
		text, err := code.Of(o, c, language)
		if err != nil {
			t.Fatal(err)
		}
		for _, r := range text {
			if r < ' ' && r != '\n' && r != '\t' || r == 0x7f || language != code.Garner && r > 0x7f {
				t.Errorf("%s has %q as it is", language, r)
			}
		}
	}
	// An attribute is a word of the user's too.
	o, err = operators.Find("gguf.dequantize", 0)
	if err != nil {
		t.Fatal(err)
	}
	for _, s := range hostile {
		c := code.Call{Data: garner.Of([]uint8{0, 60}, 1, 2), Values: map[string]any{"type": s}}
		for language, quoted := range map[string]string{code.Go: "Type: \"", code.Python: "[\"", code.Garner: "--attr '"} {
			text, err := code.Of(o, c, language)
			if err != nil {
				continue // refused, in words
			}
			if !strings.Contains(text, quoted) && !regexp.MustCompile(`^[\w$=.-]*$`).MatchString(s) {
				t.Errorf("%s: %q is not quoted:\n%s", language, s, text)
			}
		}
	}
}

// TestRefused holds what has no text, and that the message says why.
func TestRefused(t *testing.T) {
	f32, at := garner.Of([]float32{1, 2}, 2), garner.Of([]int64{0}, 1)
	empty, err := garner.New(garner.F32, 0, 3)
	if err != nil {
		t.Fatal(err)
	}
	i4, err := garner.New(garner.I4, 2)
	if err != nil {
		t.Fatal(err)
	}
	nf4, err := garner.New(garner.NF4, 2)
	if err != nil {
		t.Fatal(err)
	}
	for _, tt := range []struct {
		operator, language string
		call               code.Call
		want               string
	}{
		{"webnn.gather", code.Python, code.Call{Data: f32, Indices: at}, "has no Python"},
		{"garner.Gather", code.Python, code.Call{Data: f32, Indices: at}, "no Python framework"},
		{"gguf.get_rows", code.Python, code.Call{Data: garner.Of([]uint8{0, 60}, 1, 2), Indices: at, Values: map[string]any{"type": "F16"}}, "in C"},
		{"torch.quantized_embedding", code.Python, code.Call{Data: garner.Of([]uint8{1, 2}, 1, 2), Indices: at, Values: map[string]any{"bits": 8}}, "packed object"},
		{"torch.take", code.Python, code.Call{Data: f32, Indices: garner.Of([]uint8{0}, 1)}, "indices of u8"},
		{"onnx.Gather-13", code.Python, code.Call{Data: i4, Indices: at}, "data of i4"},
		{"numpy.take", code.Python, code.Call{Data: nf4, Indices: at}, "NumPy has no type"},
		{"numpy.take", code.Python, code.Call{Data: garner.Of([]string{"\xff"}, 1), Indices: at}, "not UTF-8"},
		{"jax.numpy.take", code.Python, code.Call{Data: garner.Of([]string{"a"}, 1), Indices: at}, "no strings"},
		{"onnx.Gather-13", code.Garner, code.Call{Data: empty, Indices: at}, "nested lists"},
		{"onnx.Gather-13", code.Go, code.Call{Data: f32}, "takes indices"},
		{"onnx.Gather-13", code.Go, code.Call{Indices: at}, "no data"},
		{"onnx.Gather-13", code.Go, code.Call{Data: f32, Indices: at, Operands: []garner.Tensor{at}}, "0 operands"},
		{"onnx.Gather-13", code.Go, code.Call{Data: f32, Indices: at, Values: map[string]any{"mode": "clip"}}, "no attribute mode"},
		{"onnx.Gather-13", "fortran", code.Call{Data: f32, Indices: at}, `no language "fortran"`},
		{"jax.numpy.take_along_axis", code.Python, code.Call{Data: f32, Indices: at, Values: map[string]any{"mode": "wrap"}}, `mode "wrap"; there are`},
		{"jax.numpy.take", code.Go, code.Call{Data: f32, Indices: at, Values: map[string]any{"mode": "promise_in_bounds"}}, `mode "promise_in_bounds"; there are`},
		{"jax.numpy.take", code.Garner, code.Call{Data: f32, Indices: at, Values: map[string]any{"mode": "raise"}}, `mode "raise"; there are`},
		{"torch.embedding_bag", code.Python, code.Call{Data: garner.Of([]int64{1, 2}, 2, 1), Indices: at, Values: map[string]any{"mode": "sum"}, Operands: []garner.Tensor{at}}, "data of i64"},
		{"openvino.EmbeddingBagOffsetsSum-3", code.Python, code.Call{Data: garner.Of([]float32{1, 2}, 2, 1), Indices: at, Operands: []garner.Tensor{garner.Of([]int32{0}, 1)}}, "of the type of the indices alone"},
		{"stablehlo.gather", code.Python, code.Call{Data: f32, Indices: at, Values: map[string]any{"index_vector_dim": 5}}, "index_vector_dim 5"},
	} {
		o, err := operators.Find(tt.operator, 0)
		if err != nil {
			t.Fatal(err)
		}
		if text, err := code.Of(o, tt.call, tt.language); err == nil || !strings.Contains(err.Error(), tt.want) {
			t.Errorf("%s in %s: %q, %v; want %q", tt.operator, tt.language, text, err, tt.want)
		}
	}
}

// TestUnsaid holds for which calls of which dialects there is no Python, and that the
// message says why.
func TestUnsaid(t *testing.T) {
	reasons := map[string]string{ // dialects by words of the message
		"JAX has no strings":                  "jax.numpy",
		"ONNX Runtime has no complex numbers": "onnx",
		"has no attribute batch_dims":         "com.microsoft",
		"OpenVINO has no complex numbers":     "openvino",
		"PyTorch has no type for data of":     "torch",
		"a packed object":                     "torch",
		"PyTorch's take has no kernel for":    "torch",
		"takes no tensor without elements":    "tflite",
		"TensorFlow gathers no data of":       "tensorflow",
		"TensorFlow's converter makes no":     "tflite",
		"WebNN is an interface of browsers":   "webnn",
		"is an operator of this module":       "garner",
		"is a function of ggml":               "gguf",
		"does not take data of":               "onnx",
		"does not take indices of":            "onnx tensorflow tflite torch",
	}
	all, err := calls.All()
	if err != nil {
		t.Fatal(err)
	}
	got := map[string]map[string]bool{}
	for _, c := range all {
		_, err := code.Of(c.Operator, c.Call, code.Python)
		if err == nil {
			continue
		}
		known := false
		for words := range reasons {
			if strings.Contains(err.Error(), words) {
				if known = true; got[words] == nil {
					got[words] = map[string]bool{}
				}
				got[words][c.Operator.Name[:strings.LastIndexByte(c.Operator.Name, '.')]] = true
			}
		}
		if !known {
			t.Errorf("%s, %s: %v", c.Operator.Name, c.Title, err)
		}
	}
	for words, want := range reasons {
		if dialects := strings.Join(slices.Sorted(maps.Keys(got[words])), " "); dialects != want {
			t.Errorf("%q is said of %s, not of %s", words, dialects, want)
		}
	}
}

// TestWhole writes every call in Go and as a command, of which TestGo and TestCommand run
// some.
func TestWhole(t *testing.T) {
	all, err := calls.All()
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range all {
		text, err := code.Of(c.Operator, c.Call, code.Go)
		if _, wrong := parser.ParseFile(token.NewFileSet(), "", text, parser.AllErrors); err != nil || wrong != nil {
			t.Errorf("%s, %s: %v, %v", c.Operator.Name, c.Title, err, wrong)
		}
		text, err = code.Of(c.Operator, c.Call, code.Garner)
		if err != nil || !strings.HasPrefix(text, "garner "+string(c.Operator.Kind)+" ") || !strings.Contains(text, " --as "+c.Operator.Name) {
			t.Errorf("%s, %s: %v, %s", c.Operator.Name, c.Title, err, text)
		}
		long := c.Err == nil && literal.Lists(c.Want.Shape(), literal.Printed) > literal.Printed
		if strings.HasSuffix(text, " --all\n") != long {
			t.Errorf("%s, %s: a result of shape %v, and the command is %s", c.Operator.Name, c.Title, c.Want.Shape(), text)
		}
	}
}

// TestTypes writes every dtype in Go and as a command, so that each has a name there.
func TestTypes(t *testing.T) {
	o, err := operators.Find("garner.Gather", 0)
	if err != nil {
		t.Fatal(err)
	}
	for _, d := range garner.DTypes() {
		data, err := garner.New(d, 2)
		if err != nil {
			t.Fatal(err)
		}
		c := code.Call{Data: data, Indices: garner.Of([]int64{1}, 1)}
		text, err := code.Of(o, c, code.Garner)
		if err != nil || !strings.Contains(text, " '"+d.String()+"[") {
			t.Errorf("%s: %s, %v", d, text, err)
		}
		text, err = code.Of(o, c, code.Go)
		if err != nil || !strings.Contains(text, "data := garner.Of([]") && !strings.Contains(text, "garner.FromBytes(garner."+strings.ToUpper(d.String())+",") {
			t.Errorf("%s: %s, %v", d, text, err)
		}
	}
}

// TestPython shows one text of each framework whole.
func TestPython(t *testing.T) {
	data, at := garner.Of([]float32{1, 2, 3, 4, 5, 6}, 3, 2), garner.Of([]int64{0, -1}, 2)
	for operator, want := range map[string]string{
		"numpy.take": `import numpy as np

data = np.array([[1.0, 2.0], [3.0, 4.0], [5.0, 6.0]], dtype=np.float32)
indices = np.array([0, -1], dtype=np.int64)
result = np.take(data, indices, axis=1)
print(result.dtype, tuple(result.shape), result.tolist())
`,
		"torch.index_select": `import torch

data = torch.tensor([[1.0, 2.0], [3.0, 4.0], [5.0, 6.0]], dtype=torch.float32)
indices = torch.tensor([0, -1], dtype=torch.int64)
result = torch.index_select(data, 1, indices)
print(result.dtype, tuple(result.shape), result.tolist())
`,
		"tensorflow.gather": `import tensorflow as tf
import numpy as np

data = np.array([[1.0, 2.0], [3.0, 4.0], [5.0, 6.0]], dtype=np.float32)
indices = np.array([0, -1], dtype=np.int64)
data, indices = tf.constant(data), tf.constant(indices)
result = tf.gather(data, indices, axis=1, batch_dims=0)
print(result.dtype.name, tuple(result.shape), result.numpy().tolist())
`,
	} {
		o, err := operators.Find(operator, 0)
		if err != nil {
			t.Fatal(err)
		}
		got, err := code.Of(o, code.Call{Data: data, Indices: at, Values: map[string]any{"axis": 1}}, code.Python)
		if err != nil || got != want {
			t.Errorf("%s: %v\n%s", operator, err, got)
		}
	}
}
