package files

import (
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/garner-go/garner"
)

// checkpoints copies the checkpoints of testdata to a folder of their own.
func checkpoints(t *testing.T) string {
	t.Helper()
	dir := t.TempDir()
	if err := os.CopyFS(dir, os.DirFS("../tensorflow/graphdef/testdata/checkpoint")); err != nil {
		t.Fatal(err)
	}
	return dir
}

// TestPrefix opens checkpoints as tf.train.load_checkpoint does, by their prefix and by their
// folder, and as models.
func TestPrefix(t *testing.T) {
	dir := checkpoints(t)
	state := filepath.Join(dir, "checkpoint")
	// A path of the folder is none outside of it.
	absolute, err := filepath.Abs(filepath.Join(dir, "old.ckpt"))
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(state, fmt.Appendf(nil, "model_checkpoint_path: %q\n", absolute), 0o666); err != nil {
		t.Fatal(err)
	}
	if p, err := Parse(dir + "#parts"); err != nil || p.Path != filepath.Join(dir, "old.ckpt.index") {
		t.Errorf("%+v, %v", p, err)
	}
	if err := os.WriteFile(state, []byte("all_model_checkpoint_paths: \"new\"\nmodel_checkpoint_path: \"old.ckpt\"\n"), 0o666); err != nil {
		t.Fatal(err)
	}
	for _, operand := range []string{"/old.ckpt#parts", "/old.ckpt.index#parts", "#parts", "/#parts"} {
		p, err := Parse(dir + operand)
		if err != nil || p.Path != filepath.Join(dir, "old.ckpt.index") || p.Name != "parts" || p.Format.Name != "tensorflow" {
			t.Errorf("%s: %+v, %v", operand, p, err)
			continue
		}
		a, done, err := Tensor(t.Context(), dir+operand, Options{})
		if err != nil {
			t.Errorf("%s: %v", operand, err)
			continue
		}
		if got := a.Spec().String(); got != "f32[6,4]" {
			t.Errorf("%s is %s", operand, got)
		}
		if err := done(); err != nil {
			t.Error(err)
		}
	}
	for path, n := range map[string]int{"/old.ckpt": 3, "": 3, "/new": 6} {
		list, err := List(t.Context(), dir+path, Options{})
		if err != nil || len(list) != n {
			t.Errorf("%s: %d arrays, %v", path, len(list), err)
		}
		m, err := OpenModel(dir+path, ModelOptions{})
		if err != nil {
			t.Errorf("%s: %v", path, err)
			continue
		}
		if graph := path != "/new"; graph != (len(m.Graph.Nodes) > 0) || len(m.Files) < 2 || graph != strings.HasSuffix(m.Files[0], ".meta") {
			t.Errorf("%s: %v, %d nodes", path, m.Files, len(m.Graph.Nodes))
		}
		if err := m.Close(); err != nil {
			t.Error(err)
		}
	}
	// A file of the name of a prefix is itself, and a prefix without an index is nothing.
	if err := os.WriteFile(filepath.Join(dir, "new"), []byte("1 2 3"), 0o666); err != nil {
		t.Fatal(err)
	}
	if p, err := Parse(filepath.Join(dir, "new")); err != nil || p.Format.Name != "text" {
		t.Errorf("%+v, %v", p, err)
	}
	for _, path := range []string{"/newer", "/newer#words", "/old.ckpt.data-00000-of-00002"} {
		_, err := Parse(dir + path)
		refused(t, err, ErrUnknown, "of no format that garner reads")
	}
	_, err = ModelFormatOf(dir + "/newer")
	refused(t, err, fs.ErrNotExist, "there is no file "+dir+"/newer; check the name and the folder")
	// What the state of a folder says of other folders, and what is no state.
	outside := filepath.Join(checkpoints(t), "old.ckpt")
	for text, fault := range map[string]string{
		"": `its file checkpoint has no line model_checkpoint_path: "PREFIX"`, "\x00\xff": `its file checkpoint has no line model_checkpoint_path: "PREFIX"`,
		"# newest\nmodel_checkpoint_path: old.ckpt":                                           `line 2 of its file checkpoint is no model_checkpoint_path: "PREFIX"`,
		"model_checkpoint_path: \"../" + filepath.Base(filepath.Dir(outside)) + "/old.ckpt\"": "/old.ckpt\", outside the folder",
		"model_checkpoint_path: \"" + filepath.ToSlash(outside) + "\"":                        "/old.ckpt\", outside the folder",
		"model_checkpoint_path: \"none\"":                                                     `its file checkpoint names the checkpoint "none", of which there is no .index`,
	} {
		if err := os.WriteFile(state, []byte(text), 0o666); err != nil {
			t.Fatal(err)
		}
		_, err := Parse(dir + "#parts")
		refused(t, err, garner.ErrAttribute, fault+"; it holds new.index: name "+dir+"/new.index#parts")
		_, err = OpenModel(dir, ModelOptions{})
		refused(t, err, garner.ErrAttribute, fault+"; it holds old.ckpt.meta: name "+filepath.Join(dir, "old.ckpt.meta"))
	}
}

// TestSlicedInPlace gathers from a variable that TensorFlow 1 stored in slices of its first axis, where
// they lie.
func TestSlicedInPlace(t *testing.T) {
	const operand = "../tensorflow/graphdef/testdata/old#parts"
	a, err := Open(t.Context(), operand, Options{InPlace: true})
	if err != nil {
		t.Fatal(err)
	}
	defer a.Close()
	if a.Spec().String() != "f32[7,2]" {
		t.Errorf("%s", a.Spec())
	}
	list, err := List(t.Context(), operand, Options{})
	if err != nil || len(list) != 1 || list[0].Note != "joined from 3 slices" || list[0].Bytes != 56 {
		t.Errorf("%+v, %v", list, err)
	}
}
