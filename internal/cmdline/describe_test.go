package cmdline

import (
	"encoding/json"
	"io"
	"os"
	"path/filepath"
	"reflect"
	"runtime"
	"strconv"
	"strings"
	"testing"

	"github.com/garner-go/garner"
	"github.com/garner-go/garner/files"
	"github.com/garner-go/garner/source"
	"github.com/spf13/cobra"
)

// ask parses a command line: a kind of gather, its flags and operands.
func ask(t *testing.T, line ...string) (*Request, *Flags, error) {
	t.Helper()
	var command Command
	for _, c := range Commands {
		if string(c.Kind) == line[0] {
			command = c
		}
	}
	f, cmd := &Flags{}, &cobra.Command{Use: line[0]}
	f.Add(cmd, command)
	f.AddTo(cmd)
	if err := cmd.ParseFlags(line[1:]); err != nil {
		t.Fatal(err)
	}
	c := NewConsole("garner", strings.NewReader(""), io.Discard, io.Discard)
	r, err := c.Ask(t.Context(), command.Kind, f, cmd.Flags().Args(), (&SizeFlag{}).Budget(), nil)
	return r, f, err
}

// describe is the description of a command line, by way of JSON.
func describe(t *testing.T, line ...string) (Description, error) {
	t.Helper()
	r, f, err := ask(t, line...)
	if err != nil {
		return Description{}, err
	}
	d, err := r.Describe(f)
	if err != nil {
		return d, err
	}
	text, err := json.Marshal(d)
	if err != nil {
		t.Fatal(err)
	}
	var again Description
	if err := json.Unmarshal(text, &again); err != nil {
		t.Fatalf("%s: %v", text, err)
	}
	if !reflect.DeepEqual(d, again) {
		t.Errorf("%q: %s is\n%#v\nand was\n%#v", line, text, again, d)
	}
	return again, nil
}

func save(t *testing.T, path string, x garner.Tensor) {
	t.Helper()
	w, err := files.Create(t.Context(), path, x.Spec(), files.CreateOptions{})
	if err == nil {
		defer w.Abort()
		if err = w.Put(x); err == nil {
			err = w.Commit()
		}
	}
	if err != nil {
		t.Fatal(err)
	}
}

// inputs writes files of all formats that tests name, and makes their folder the current one.
func inputs(t *testing.T) (folder string) {
	t.Helper()
	folder = t.TempDir()
	t.Chdir(folder)
	save(t, "table.npy", garner.Of([]float32{1, 2, 3, 4, 5, 6}, 3, 2))
	save(t, "part-2.npy", garner.Of([]float32{3, 4, 5, 6}, 2, 2))
	save(t, "part-10.npy", garner.Of([]float32{7, 8}, 1, 2))
	save(t, "half.npy", garner.Of([]float64{0.5, 1.5}, 2))
	save(t, "ids.npy", garner.Of([]int32{2, 0}, 2))
	save(t, "b.npz", garner.Of([]int16{5, 6}, 2))
	save(t, "a.safetensors", garner.Of([]int64{7, 8, 9}, 3))
	for name, text := range map[string]string{
		"i.csv":     "1\n",
		"ids.txt":   "1\n0\n",
		"table.raw": "head\x01\x00\x02\x00\x03\x00\x04\x00",
		"ids.raw":   "\x01\x00",
		"loose.xml": `<net name="n" version="11"><layers><layer id=0 type="Const" name="t" version="opset1"><data element_type="i64" shape="2" offset="0" size="16"/><output><port id="0" precision="I64"><dim>2</dim></port></output></layer></layers><edges/></net>`,
		"loose.bin": strings.Repeat("\x00", 16),
		"q8.gguf":   gguf(),
	} {
		if err := os.WriteFile(name, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	return folder
}

// gguf is a file whose tensor t has one row of Q8_0: 32 numbers 0.5.
func gguf() string {
	u32 := func(n byte) string { return string([]byte{n, 0, 0, 0}) }
	u64 := func(n byte) string { return u32(n) + u32(0) }
	head := "GGUF" + u32(3) + u64(1) + u64(0) + u64(1) + "t" + u32(2) + u64(32) + u64(1) + u32(8) + u64(0)
	head += strings.Repeat("\x00", (32-len(head)%32)%32)
	return head + "\x00\x38" + strings.Repeat("\x01", 32) // f16 0.5, then codes 1
}

func TestDescriptions(t *testing.T) {
	for i, tt := range []struct {
		line string // words apart by one space
		want string // the result, or its beginning; "": it is refused
	}{
		{"gather [[1,2],[3,4],[5,6]] [2,0]", "i64[2,2] [[5, 6], [1, 2]]"},
		{"gather [[1,2],[3,4],[5,6]] [1] --axis 1", "i64[3,1] [[2], [4], [6]]"},
		{"gather [1,2,3] -1 --negative from-end", "i64[] 3"},
		{"gather table.npy ids.npy", "f32[2,2] [[5.0, 6.0], [1.0, 2.0]]"},
		{"gather ./../*/table.npy ids.npy", "f32[2,2] [[5.0, 6.0], [1.0, 2.0]]"},
		{"gather part-*.npy 0:3:2", "f32[2,2] [[3.0, 4.0], [7.0, 8.0]]"},
		{"gather a.safetensors#output ids.txt", "i64[2] [8, 7]"},
		{"gather a*.safetensors#output ids.txt", "i64[2] [8, 7]"},
		{"gather b.npz#arr_0 i.csv", "i16[1] [6]"},
		{"gather a.safetensors ids.npy --negative reject --outside zero", "i64[2] [9, 7]"},
		{"gather table.raw ids.raw --dtype i16 --shape ?,2 --offset 4 --indices-dtype u16", "i16[1,2] [[3, 4]]"},
		{"gather table.raw [0] --dtype i16 --shape 2,2 --offset 4 --to f32", ""},
		{"gather half.npy [1,5] --outside fill=NaN --to f32", "f32[2] [1.5, NaN]"},
		{"gather half.npy [1,5] --as openvino.Gather-8", "f64[2] [1.5, 0.0]"},
		{"gather q8.gguf#t [0] --axis 0 --to f16", "f16[1,32] [[0.5, 0.5, "},
		{"gather q8.gguf#t [0] --raw", "u8[1,34] [[0, 56, 1, 1, "},
		{"gather loose.xml#t [1] --lenient", "i64[1] [0]"},
		{"gather q8.gguf#t [0] --as gguf.get_rows", "f32[1,32] [[0.5, 0.5, "},
		{"gather q8.gguf#t --as gguf.dequantize", "f32[1,32] [[0.5, 0.5, "},
		{"gather [9,8,7] [4,-4] --as numpy.take --attr mode=wrap", "i64[2] [8, 7]"},
		{"gather f32[[1,2],[3,4],[5,6]] [2,0,1] --as torch.embedding_bag --operand offsets=[0,2] --attr mode=sum", "f32[2,2] [[6.0, 8.0], [3.0, 4.0]]"},
		{"gather table.npy [2,0,1] --as torch.embedding_bag --operand offsets=half.npy --attr mode=sum", ""},
		{"gather table.npy [2,0] --as torch.embedding_bag --operand offsets=[0] --operand per_sample_weights=half.npy --to per_sample_weights=f32 --attr mode=sum", "f32[1,2] [[4.0, 6.0]]"},
		{"gathernd [[1,2],[3,4]] [[0,0],[1,0]]", "i64[2] [1, 3]"},
		{"gathernd [[1,2],[3,4]] [[1],[0]] --as openvino.GatherND-8 --batch-dims 1", "i64[2] [2, 3]"},
		{"gathernd i8[[1,2],[3,4]] [[1]] --as stablehlo.gather --attr offset_dims=[1] --attr collapsed_slice_dims=[0] --attr start_index_map=[0] --attr index_vector_dim=1 --attr slice_sizes=[1,2] --attr indices_are_sorted=true", "i8[1,2] [[3, 4]]"},
		{"elements [[1,2],[3,4]] [[0,0],[1,0]] --axis 1", "i64[2,2] [[1, 1], [4, 3]]"},
	} {
		t.Run(strconv.Itoa(i), func(t *testing.T) {
			inputs(t)
			line := strings.Split(tt.line, " ")
			t.Log(tt.line)
			for i := range line {
				if i > 0 && line[i] == "-1" {
					line[i] = " -1" // as Execute shields it
				}
			}
			d, err := describe(t, line...)
			if err != nil {
				t.Fatal(err)
			}
			t.Chdir(t.TempDir()) // another process has another folder
			o, err := d.Open(t.Context())
			if tt.want == "" {
				if err == nil {
					o.Close()
					t.Fatal("it is opened")
				}
				return
			}
			if err != nil {
				t.Fatal(err)
			}
			defer o.Close()
			out, err := garner.New(o.Plan.DType, o.Plan.Out...)
			if err != nil {
				t.Fatal(err)
			}
			if err := source.GatherInto(t.Context(), o.Op, o.Data, o.Indices, out, source.Options{Further: o.Further}); err != nil {
				t.Fatal(err)
			}
			if got := out.String(); !strings.HasPrefix(got, tt.want) {
				t.Errorf("it is %s; want %s", got, tt.want)
			}
			if err := o.Changed(); err != nil {
				t.Error(err)
			}
		})
	}
}

// TestDescriptionKeepsNumbers holds that JSON changes no number: not even those that no
// float64 is.
func TestDescriptionKeepsNumbers(t *testing.T) {
	was := Attributes{"i": int64(1<<62 + 1), "list": []int64{-1, 1<<53 + 1}, "none": []int64{}, "null": nil, "yes": true, "text": "1"}
	text, err := json.Marshal(was)
	if err != nil {
		t.Fatal(err)
	}
	var is Attributes
	if err := json.Unmarshal(text, &is); err != nil || !reflect.DeepEqual(is, was) {
		t.Errorf("%s is %#v, %v", text, is, err)
	}
	for _, text := range []string{`{"a":1.5}`, `{"a":9223372036854775808}`, `{"a":[1,"x"]}`, `{"a":{}}`, `{"a":[1e9]}`} {
		if err := json.Unmarshal([]byte(text), &is); err == nil {
			t.Errorf("%s is %#v", text, is)
		}
	}
}

func TestWhatIsNotDescribed(t *testing.T) {
	folder := inputs(t)
	odd := filepath.Join(folder, "a.npz#b")
	if err := os.Mkdir(odd, 0o755); err != nil {
		t.Fatal(err)
	}
	for _, tt := range []struct {
		line, want string
	}{
		{"gather - [0]", "DATA -: other processes"},
		{"gather [1] -", "INDICES -: other processes"},
		{"gather table.npy /dev/fd/9.npy", "INDICES /dev/fd/9.npy is of this process"},
		{"gather table.npy [2] --as torch.embedding_bag --operand offsets=/proc/self/fd/0.npy", "--operand offsets /proc/self/fd/0.npy is of this process"},
		{"gather \xff.npy [0]", "is not UTF-8"},
		{"gather [1] [0] --outside fill=\xff", "is not UTF-8"},
		{"gather [1] [0] --as numpy.take --attr mode=\xff", ""},
	} {
		if _, err := describe(t, strings.Split(tt.line, " ")...); err == nil || !strings.Contains(err.Error(), tt.want) {
			t.Errorf("%q: %v; want %q", tt.line, err, tt.want)
		}
	}
	t.Chdir(odd)
	save(t, "x.npy", garner.Of([]int64{1}, 1))
	if _, err := describe(t, "gather", "x.npy", "[0]"); err == nil || !strings.Contains(err.Error(), "cannot stand before it") {
		t.Error(err)
	}
	if runtime.GOOS == "windows" {
		return // a name has no such letters
	}
	pattern := filepath.Join(folder, "[x]*?")
	if err := os.Mkdir(pattern, 0o755); err != nil {
		t.Fatal(err)
	}
	t.Chdir(pattern)
	save(t, "x-1.npy", garner.Of([]int64{1, 2}, 2))
	d, err := describe(t, "gather", "x-*.npy", "[1]")
	if err != nil {
		t.Fatal(err)
	}
	o, err := d.Open(t.Context())
	if err != nil {
		t.Fatalf("%+v: %v", d, err)
	}
	o.Close()
}

// TestOpenRefuses holds that a description is refused as the command line is that it says.
func TestOpenRefuses(t *testing.T) {
	inputs(t)
	data, at := Described{Text: "[1,2]"}, Described{Text: "[0]"}
	for _, tt := range []struct {
		d    Description
		want string
	}{
		{Description{Operator: "onnx.Gathr", Data: data, Indices: at}, "onnx.Gathr"},
		{Description{Operator: "garner.Gather", Data: data}, "garner.Gather takes DATA and INDICES"},
		{Description{Operator: "gguf.dequantize", Data: data, Indices: at}, "gguf.dequantize takes DATA alone"},
		{Description{Operator: "garner.Gather", Data: data, Indices: Described{Text: "-"}}, "INDICES -: other processes"},
		{Description{Operator: "garner.Gather", Data: data, Indices: Described{Text: "none.npy"}}, "INDICES: there is no file none.npy here"},
		{Description{Operator: "garner.Gather", Attributes: Attributes{"axs": int64(1)}, Data: data, Indices: at}, "axs"},
		{Description{Operator: "garner.Gather", Attributes: Attributes{"axis": int64(4)}, Data: data, Indices: at}, "axis"},
		{Description{Operator: "garner.Gather", Outside: "fill", Data: data, Indices: at}, `--outside "fill": a fill needs its value`},
		{Description{Operator: "garner.Gather", Outside: "fill=x", Data: data, Indices: at}, "--outside fill=x: data is i64"},
		{Description{Operator: "garner.Gather", Negative: "x", Data: data, Indices: at}, `--negative "x": give reject or from-end`},
		{Description{Operator: "garner.Gather", Data: Described{Text: "[1]", DType: "f33"}, Indices: at}, `--dtype "f33"`},
		{Description{Operator: "garner.Gather", Data: Described{Text: "[1]", To: "i8"}, Indices: at}, `--to "i8": give f32`},
		{Description{Operator: "garner.Gather", Data: data, Indices: Described{Text: "[0]", To: "f32"}}, "INDICES are neither read as blocks nor converted"},
		{Description{Operator: "garner.Gather", Data: data, Indices: at, Further: map[string]Described{"offsets": {Text: "[0]"}}}, "--operand offsets: garner.Gather takes no operand"},
		{Description{Operator: "torch.embedding_bag", Data: Described{Text: "f32[[1]]"}, Indices: at, Further: map[string]Described{"offsets": {Text: "[0]", DType: "i32"}}}, "--operand offsets: no flag says"},
		{Description{Operator: "torch.embedding_bag", Data: Described{Text: "f32[[1]]"}, Indices: at}, "offsets are not given"},
	} {
		o, err := tt.d.Open(t.Context())
		if err == nil {
			o.Close()
		}
		if err == nil || !strings.Contains(err.Error(), tt.want) {
			t.Errorf("%+v: %v; want %q", tt.d, err, tt.want)
		}
	}
}
