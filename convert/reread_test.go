package convert

import (
	"bytes"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/garner-go/garner/model"
	"github.com/garner-go/garner/onnx/modelproto"
	"github.com/garner-go/garner/source"
)

// TestReread changes what was written, and holds that the comparison sees it: every byte of the text of an IR
// that means something, and every byte of constants.
func TestReread(t *testing.T) {
	m, err := modelproto.Open("../testdata/onnx/gather_13_table/model.onnx")
	if err != nil {
		t.Fatal(err)
	}
	defer m.Close()
	for _, extension := range Extensions() {
		out := filepath.Join(t.TempDir(), "out"+extension)
		p, err := read(m, out, Options{})
		if err != nil {
			t.Fatal(err)
		}
		if _, err := p.write(t.Context(), m, out); err != nil {
			t.Fatal(err)
		}
		// The names of the program are those that were written.
		var layers []*layer
		for _, n := range p.nodes {
			l := p.target.layer(p, n)
			layers = append(layers, l)
		}
		names := func(m *model.Model) {
			for i, l := range layers {
				l.name = m.Graph.Nodes[i].Name
			}
		}
		check := func() error {
			again, err := p.target.open(out)
			if err != nil {
				return err
			}
			defer again.Close()
			return p.compare(t.Context(), again, layers)
		}
		made, err := p.target.open(out)
		if err != nil {
			t.Fatal(err)
		}
		names(made)
		made.Close()
		if err := check(); err != nil {
			t.Fatalf("unchanged: %v", err)
		}
		paths := []string{out}
		if extension == ".xml" {
			paths = []string{p.target.beside(out)}
		}
		seen, all := 0, 0
		for _, path := range paths {
			was, err := os.ReadFile(path)
			if err != nil {
				t.Fatal(err)
			}
			for i := range was {
				b := bytes.Clone(was)
				b[i] ^= 1
				if err := os.WriteFile(path, b, 0o644); err != nil {
					t.Fatal(err)
				}
				all++
				if check() != nil {
					seen++
				}
			}
			if err := os.WriteFile(path, was, 0o644); err != nil {
				t.Fatal(err)
			}
		}
		// Padding between constants, and the producer's name, mean nothing.
		least := int64(all - 40)
		if extension == ".xml" {
			least = 0
			for _, v := range p.constants(layers) {
				least += v.size()
			}
		}
		if int64(seen) < least || least < 50 {
			t.Errorf("%s: %d of %d changes were seen; %d mean something", extension, seen, all, least)
		}
		if extension != ".xml" {
			continue
		}
		was, err := os.ReadFile(out)
		if err != nil {
			t.Fatal(err)
		}
		for from, to := range map[string]string{
			`type="Gather"`: `type="GatherElements"`, `batch_dims="0"`: `batch_dims="1"`, `version="opset8"`: `version="opset7"`, `output_names="` + p.outputs[0].name: `output_names="z`,
			`axis="0"`: `axis="1"`, `type="Add"`: `type="Subtract"`, `special_zero="false"`: `special_zero="true"`, `destination_type="i64"`: `destination_type="i32"`, `names="indices"`: `names="index"`,
		} {
			if !bytes.Contains(was, []byte(from)) {
				t.Errorf("%s is not in the text", from)
			}
			if err := os.WriteFile(out, []byte(strings.Replace(string(was), from, to, 1)), 0o644); err != nil {
				t.Fatal(err)
			}
			if check() == nil {
				t.Errorf("%s in the place of %s was not seen", to, from)
			}
		}
	}
}

// TestDamaged makes programs of models with one byte changed, for either target and in every way. Each is refused, or laid out
// as a file.
func TestDamaged(t *testing.T) {
	made := 0
	for _, name := range []string{"gather_13_table", "gathernd_13_batch1", "gatherelements_13_smaller", "gather_1_negative_axis"} {
		was, err := os.ReadFile("../testdata/onnx/" + name + "/model.onnx")
		if err != nil {
			t.Fatal(err)
		}
		for i := range was {
			for _, with := range []byte{1, 4, 0x80, 0xff} {
				b := bytes.Clone(was)
				b[i] ^= with
				m, err := modelproto.FromBytes(b)
				if err != nil {
					continue
				}
				for way := range byte(6) {
					p, err := read(m, "out"+Extensions()[way&1], Options{Outside: Outside(way >> 1), Lossy: true})
					if err != nil {
						continue
					}
					layers, err := p.layers()
					if err != nil {
						continue
					}
					if p.target == onnxTarget {
						_, _, err = p.onnxFile(layers, "data")
					} else {
						_, _, err = p.irFile(layers)
					}
					if err != nil {
						t.Errorf("%s, byte %d ^ %d: %v", name, i, with, err)
					}
					made++
				}
			}
		}
	}
	if made < 1000 {
		t.Errorf("only %d programs were made", made)
	}
}

// FuzzFile converts damaged models. What is converted was read back equal; nothing else is left.
func FuzzFile(f *testing.F) {
	for _, name := range []string{"gather_13_table", "gathernd_13_elements", "gatherelements_13_smaller"} {
		b, err := os.ReadFile("../testdata/onnx/" + name + "/model.onnx")
		if err != nil {
			f.Fatal(err)
		}
		f.Add(b, byte(0))
	}
	for _, name := range []string{"hash.onnx", "last13.onnx"} {
		b, err := os.ReadFile("../testdata/models/" + name)
		if err != nil {
			f.Fatal(err)
		}
		f.Add(b, byte(1))
	}
	f.Fuzz(func(t *testing.T, b []byte, way byte) {
		m, err := modelproto.FromBytes(b)
		if err != nil || m.Graph == nil || len(m.Graph.Nodes) > 200 {
			return
		}
		dir := t.TempDir()
		out := filepath.Join(dir, "out"+Extensions()[way&1])
		_, err = File(t.Context(), m, out, Options{Outside: Outside(way >> 1 % 3), Lossy: way&8 != 0})
		left, _ := os.ReadDir(dir)
		if err != nil {
			if len(left) > 0 {
				t.Fatalf("%v, and %v is left", err, left)
			}
			if strings.Contains(err.Error(), ErrReread.Error()) || strings.Contains(err.Error(), "report this with the model") {
				t.Fatalf("%v", err)
			}
			return
		}
		if len(left) == 0 || len(left) > 2 {
			t.Fatalf("%v", left)
		}
	})
}

// TestSourceWritten writes to a model behind the look at it: that is said as what it is, and nothing is put in place.
func TestSourceWritten(t *testing.T) {
	b, err := os.ReadFile("../testdata/onnx/gather_13_table/model.onnx")
	if err != nil {
		t.Fatal(err)
	}
	from, to := filepath.Join(t.TempDir(), "model.onnx"), t.TempDir()
	if err := os.WriteFile(from, b, 0o666); err != nil {
		t.Fatal(err)
	}
	m, err := modelproto.Open(from)
	if err != nil {
		t.Fatal(err)
	}
	defer m.Close()
	out := filepath.Join(to, "out.xml")
	p, err := read(m, out, Options{})
	if err != nil {
		t.Fatal(err)
	}
	if err := os.Chtimes(from, time.Time{}, time.Now().Add(time.Hour)); err != nil {
		t.Fatal(err)
	}
	if _, err := p.write(t.Context(), m, out); !errors.Is(err, source.ErrChanged) || errors.Is(err, ErrReread) {
		t.Errorf("%v", err)
	}
	if left, err := os.ReadDir(to); err != nil || len(left) > 0 {
		t.Errorf("%v, %v", left, err)
	}
}
