package beam

import (
	"encoding/json"
	"errors"
	"os"
	"path/filepath"
	"reflect"
	"runtime"
	"strings"
	"testing"

	"github.com/garner-go/garner"
	"github.com/garner-go/garner/internal/cmdline"
)

// jobOf is a job of literals whose result goes to a folder.
func jobOf(out string) Job {
	return Job{Description: Description{Operator: "garner.Gather", Data: Operand{Text: "[1,2,3]"}, Indices: Operand{Text: "[2]"}}, Out: out}
}

func write(t *testing.T, path, text string) {
	t.Helper()
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
		t.Fatal(err)
	}
}

func TestJobIsJSON(t *testing.T) {
	j := jobOf("/rows")
	j.Attributes = map[string]any{"axis": int64(1<<60 + 1)}
	j.Further = map[string]Operand{"offsets": {Text: "/o.npy", To: "f32"}}
	j.Memory, j.ShardBytes = 1<<40, 1<<20
	text, err := json.Marshal(j)
	if err != nil {
		t.Fatal(err)
	}
	var again Job
	if err := json.Unmarshal(text, &again); err != nil || !reflect.DeepEqual(j, again) {
		t.Errorf("%s is %+v, %v; it was %+v", text, again, err, j)
	}
}

// TestDescription holds that workers open what a Job describes, field by field.
func TestDescription(t *testing.T) {
	o := Operand{Text: "/t.raw", DType: "u8", Shape: garner.Shape{2, -1}, Offset: 7, Raw: true, To: "f16", Lenient: true}
	d := Description{Operator: "garner.Gather", Attributes: Attributes{"axis": int64(1), "list": []int64{}, "none": nil}, Negative: "reject", Outside: "fill=1",
		Data: o, Indices: Operand{Text: "[1]"}, Further: map[string]Operand{"offsets": o}}
	for at, v := range []any{d, o} {
		for i, v := 0, reflect.ValueOf(v); i < v.NumField(); i++ {
			if v.Field(i).IsZero() {
				t.Errorf("type %d: this test leaves out %s", at, v.Type().Field(i).Name)
			}
		}
	}
	want, err := json.Marshal(d)
	if err != nil {
		t.Fatal(err)
	}
	if is, err := json.Marshal(d.line()); err != nil || string(is) != string(want) {
		t.Errorf("%s, %v; want %s", is, err, want)
	}
	if a, b := reflect.TypeFor[Description]().NumField(), reflect.TypeFor[cmdline.Description]().NumField(); a != b {
		t.Errorf("%d fields, and a command line has %d", a, b)
	}
}

func TestOut(t *testing.T) {
	ours, other := `{"garner": 1, "operator": {"name": "numpy.take"}}`, `{"garner": 1, "shards": []}`
	for _, tt := range []struct {
		name  string
		files map[string]string // by path in the folder
		want  string            // "": it is accepted
	}{
		{"empty", nil, ""},
		{"earlier run", map[string]string{"part-00001-of-00002.npy": "", "part-123456-of-123456.npy": "", "manifest.json": ours, "_SUCCESS": "", "_garner/part-00002-of-00002.npy.tmp": ""}, ""},
		{"another file", map[string]string{"notes.txt": "", "_SUCCESS": ""}, "has notes.txt, which no earlier run has left"},
		{"others", map[string]string{"a": "", "b": "", "c": ""}, "has a and 2 more, which no earlier run has left"},
		{"a table's manifest", map[string]string{"manifest.json": other}, "has manifest.json, which"},
		{"a broken manifest", map[string]string{"manifest.json": "{"}, "has manifest.json, which"},
		{"a folder of a shard's name", map[string]string{"part-00001-of-00001.npy/x": ""}, "has part-00001-of-00001.npy, which"},
		{"a file of a folder's name", map[string]string{"_garner": ""}, "has _garner, which"},
		{"parts of garner", map[string]string{"part-1-of-2.npy": ""}, "has part-1-of-2.npy, which"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			out := t.TempDir()
			for name, text := range tt.files {
				write(t, filepath.Join(out, name), text)
			}
			err := jobOf(out).CheckOut()
			if tt.want == "" && err != nil || tt.want != "" && (err == nil || !strings.Contains(err.Error(), tt.want) || !errors.Is(err, garner.ErrAttribute)) {
				t.Errorf("%v; want %q", err, tt.want)
			}
		})
	}
	dir := t.TempDir()
	if err := jobOf(filepath.Join(dir, "absent", "rows")).CheckOut(); err != nil {
		t.Error(err)
	}
	write(t, filepath.Join(dir, "file"), "")
	for out, want := range map[string]string{
		filepath.Join(dir, "file"): "is a file; name a folder",
		"rows":                     "is no absolute path",
		dir + "/\xff":              "is not UTF-8",
	} {
		if err := jobOf(out).CheckOut(); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%q: %v; want %q", out, err, want)
		}
	}
}

// TestOutIsNoInput refuses the folders of operands, by any of their names.
func TestOutIsNoInput(t *testing.T) {
	dir := t.TempDir()
	rows := filepath.Join(dir, "rows")
	part := filepath.Join(rows, "part-00001-of-00001.npy")
	write(t, part, "")
	texts := []string{part, rows + "/../rows/part-00001-of-00001.npy", filepath.Join(rows, "part-*.npy")}
	if runtime.GOOS != "windows" {
		link := filepath.Join(dir, "link.npy")
		if err := os.Symlink(part, link); err != nil {
			t.Fatal(err)
		}
		if err := os.Symlink(rows, filepath.Join(dir, "alias")); err != nil {
			t.Fatal(err)
		}
		texts = append(texts, link, filepath.Join(dir, "alias", "part-00001-of-00001.npy"))
	}
	for _, text := range texts {
		for _, place := range []func(*Job){
			func(j *Job) { j.Data.Text = text },
			func(j *Job) { j.Indices.Text = text },
			func(j *Job) { j.Further = map[string]Operand{"offsets": {Text: text}} },
		} {
			j := jobOf(rows)
			place(&j)
			if err := j.CheckOut(); err == nil || !strings.Contains(err.Error(), "has the operand") {
				t.Errorf("%s: %v", text, err)
			}
		}
	}
	// A literal names no file, also where the folder is the current one.
	empty := t.TempDir()
	t.Chdir(empty)
	if err := jobOf(empty).CheckOut(); err != nil {
		t.Error(err)
	}
}

func TestJobCheck(t *testing.T) {
	for _, tt := range []struct {
		change func(*Job)
		want   string
	}{
		{func(*Job) {}, ""},
		{func(j *Job) { j.ShardBytes = MostShardBytes + 1 }, "shards of 33554433 bytes"},
		{func(j *Job) { j.ShardBytes = 1 }, "give at least 1048576"},
		{func(j *Job) { j.Memory = -1 }, "give at least 1048576"},
		{func(j *Job) { j.Operator = "x" }, "x"},
		{func(j *Job) { j.Indices.Text = "[0.5]" }, "f64"},
	} {
		j := jobOf(filepath.Join(t.TempDir(), "rows"))
		tt.change(&j)
		err := j.Check()
		if err == nil {
			var o *cmdline.Opened
			if o, err = j.line().Open(t.Context()); err == nil {
				err = o.Close()
			}
		}
		if (tt.want == "") != (err == nil) || err != nil && !strings.Contains(err.Error(), tt.want) {
			t.Errorf("%+v: %v; want %q", j, err, tt.want)
		}
		if _, err := os.Stat(j.Out); err == nil {
			t.Error("the check makes the folder")
		}
	}
}

func TestRunner(t *testing.T) {
	for _, tt := range []struct {
		runner Runner
		want   string
	}{
		{Runner{}, ""},
		{Runner{Name: PrismRunner, Workers: 7}, ""},
		{Runner{Name: FlinkRunner, Endpoint: "localhost:8099", FlinkREST: "localhost:8081", Worker: "/opt/garner-beam"}, ""},
		{Runner{Name: "spark"}, `no runner "spark"; give prism or flink`},
		{Runner{Name: FlinkRunner}, "needs the endpoint"},
		{Runner{Name: FlinkRunner, Endpoint: "localhost"}, `endpoint "localhost"; give the HOST:PORT`},
		{Runner{Name: FlinkRunner, Endpoint: ":8099"}, "give the HOST:PORT"},
		{Runner{Endpoint: "localhost:8099"}, "has no endpoint"},
		{Runner{Worker: "/opt/garner-beam"}, "neither path nor image"},
		{Runner{Workers: -1}, "-1 workers"},
	} {
		err := tt.runner.Check()
		if (tt.want == "") != (err == nil) || err != nil && (!strings.Contains(err.Error(), tt.want) || !errors.Is(err, garner.ErrAttribute)) {
			t.Errorf("%+v: %v; want %q", tt.runner, err, tt.want)
		}
	}
}
