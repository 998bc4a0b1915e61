package fix

import (
	"bytes"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"

	"github.com/garner-go/garner/lint"
	"github.com/garner-go/garner/model"
	"github.com/garner-go/garner/onnx/modelproto"
	"github.com/garner-go/garner/openvino/ir"
)

// TestDamagedCopies changes bytes of mended models, and holds that compare sees it, but for what means
// nothing: the length of a name that is not there, the text of a comment.
func TestDamagedCopies(t *testing.T) {
	for _, name := range []string{"rows-18.onnx", "in-if.onnx", "strings.onnx", "tuples-batch.onnx", "flipped.onnx", "function.onnx", "ir-rows-7.xml", "ir-zeros-batch.xml", "ir-in-if.xml"} {
		path := "testdata/" + name
		m := open(t, path)
		out := filepath.Join(t.TempDir(), "out"+filepath.Ext(path))
		var f format
		var err error
		if filepath.Ext(path) == ".onnx" {
			f, err = openONNX(m, out)
		} else {
			f, err = openIR(m, out)
		}
		if err != nil {
			t.Fatal(err)
		}
		findings, err := lint.Model(t.Context(), m, lint.Options{})
		if err != nil {
			t.Fatal(err)
		}
		mends, _, err := lint.Mends(t.Context(), m, findings)
		if err != nil {
			t.Fatal(err)
		}
		var mended bytes.Buffer
		made, err := f.write(&mended, mends)
		if err != nil {
			t.Fatal(err)
		}
		var bin []byte
		if f.beside() != "" {
			bin = read(t, binOf(path))
		}
		again := func(b, bin []byte) (*model.Model, error) {
			if filepath.Ext(path) == ".onnx" {
				return modelproto.FromBytes(b)
			}
			return ir.Read("out.xml", bytes.NewReader(b), bin, ir.Options{})
		}
		back, err := again(mended.Bytes(), bin)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := compare(t.Context(), m, back, mends, made); err != nil {
			t.Fatalf("%s: unchanged: %v", name, err)
		}
		all, seen := 0, 0
		what := map[string]bool{}
		try := func(b, bin []byte) {
			all++
			back, err := again(b, bin)
			if err == nil {
				if _, err = compare(t.Context(), m, back, mends, made); err != nil {
					what[err.Error()] = true
				}
			}
			if err != nil {
				seen++
			}
		}
		for i := range mended.Bytes() {
			for _, with := range []byte{1, 2, 0x10} {
				b := bytes.Clone(mended.Bytes())
				b[i] ^= with
				try(b, bin)
			}
		}
		constants := 0
		for i := range bin {
			b := bytes.Clone(bin)
			b[i] ^= 1
			was := seen
			if try(mended.Bytes(), b); seen > was {
				constants++
			}
		}
		if seen < all/2 || len(what) < 10 || len(bin) > 0 && constants < len(bin)/2 {
			t.Errorf("%s: %d of %d changes were seen, %d of %d of constants, with %d messages", name, seen, all, constants, len(bin), len(what))
		}
		if err := f.close(); err != nil {
			t.Error(err)
		}
	}
}

// TestWeights holds the three ways in which the file beside a mended IR is made, and when it is kept
// or refused.
func TestWeights(t *testing.T) {
	dir := t.TempDir()
	at := func(name string) string { return filepath.Join(dir, name) }
	for _, name := range []string{"ir-rows-7", "ir-rows-1"} {
		for _, extension := range []string{".xml", ".bin"} {
			put(t, at(name+extension), read(t, "testdata/"+name+extension))
		}
	}
	mend := func(in, out string) (string, error) {
		report, err := File(t.Context(), in, out, Options{})
		if err != nil {
			return "", err
		}
		return report.Weights, nil
	}
	how, err := mend(at("ir-rows-7.xml"), at("out.xml"))
	if err != nil || !strings.Contains(how, " is a") {
		t.Fatal(how, err)
	}
	if how, err := mend(at("ir-rows-7.xml"), at("out.xml")); err != nil || how != at("out.bin")+" has the model's weights already" {
		t.Error(how, err)
	}
	// An old model of other weights is replaced with them; weights that no old model refers to are not.
	put(t, at("ir-rows-1.bin"), append(read(t, at("ir-rows-1.bin")), 7))
	if how, err := mend(at("ir-rows-1.xml"), at("out.xml")); err != nil || !strings.Contains(how, " is a") {
		t.Error(how, err)
	}
	if !bytes.Equal(read(t, at("out.bin")), read(t, at("ir-rows-1.bin"))) {
		t.Error("out.bin has other weights")
	}
	put(t, at("own.bin"), []byte("a letter"))
	if _, err := mend(at("ir-rows-1.xml"), at("own.xml")); err == nil || !strings.Contains(err.Error(), "no old own.xml refers to it") {
		t.Error(err)
	}
	if string(read(t, at("own.bin"))) != "a letter" {
		t.Error("own.bin was changed")
	}
	// A copy, where there is no other name to be had: on another file system.
	shared, err := os.MkdirTemp("/dev/shm", "garner")
	if err == nil {
		defer os.RemoveAll(shared)
		how, err := mend(at("ir-rows-1.xml"), filepath.Join(shared, "out.xml"))
		if err != nil || !strings.Contains(how, " is a") && !strings.Contains(how, "another name") {
			t.Error(how, err)
		}
		if !bytes.Equal(read(t, filepath.Join(shared, "out.bin")), read(t, at("ir-rows-1.bin"))) {
			t.Error("the copy has other weights")
		}
	}
	left, err := filepath.Glob(at(".garner-*"))
	if err != nil || len(left) > 0 {
		t.Errorf("%v, %v", left, err)
	}
}

// TestRanges compares and copies files with holes.
func TestRanges(t *testing.T) {
	dir := t.TempDir()
	at := func(name string) string { return filepath.Join(dir, name) }
	const size = 5*pieceBytes + 3
	for name, place := range map[string]int64{"a": 3*pieceBytes + 5, "b": 3*pieceBytes + 5, "c": 3*pieceBytes + 6} {
		f, err := os.Create(at(name))
		if err != nil {
			t.Fatal(err)
		}
		if _, err := f.WriteAt([]byte{1}, place); err != nil {
			t.Fatal(err)
		}
		if err := f.Truncate(size); err != nil {
			t.Fatal(err)
		}
		if err := f.Close(); err != nil {
			t.Fatal(err)
		}
	}
	for other, want := range map[string]bool{"a": true, "b": true, "c": false} {
		if equal, err := equalFiles(at("a"), at(other)); err != nil || equal != want {
			t.Errorf("a and %s: %v, %v", other, equal, err)
		}
	}
	for _, pair := range [][2]string{{"none", "a"}, {"a", "none"}} {
		if _, err := equalFiles(at(pair[0]), at(pair[1])); err == nil || !strings.Contains(err.Error(), "none cannot be read") {
			t.Errorf("%v: %v", pair, err)
		}
	}
	put(t, at("short"), []byte("short"))
	if _, err := equalFiles(at("a"), at("short")); err == nil {
		t.Error("a shorter file is equal")
	}
	in, err := os.Open(at("a"))
	if err != nil {
		t.Fatal(err)
	}
	defer in.Close()
	var all bytes.Buffer
	if err := copyRange(&all, in, 1, size); err != nil || !bytes.Equal(all.Bytes(), read(t, at("a"))[1:]) {
		t.Error(err)
	}
	holes := &holer1{}
	if err := copyRange(holes, in, 0, size); err != nil || runtime.GOOS == "linux" && holes.holes == 0 || !bytes.Equal(holes.Bytes(), read(t, at("a"))) {
		t.Errorf("%v, %d bytes in holes", err, holes.holes)
	}
	if err := copyRange(&all, in, 0, size+1); err == nil || !strings.Contains(err.Error(), "cannot be read") {
		t.Error(err)
	}
}

// holer1 counts the bytes of holes.
type holer1 struct {
	bytes.Buffer
	holes int64
}

func (h *holer1) Hole(n int64) error {
	h.holes += n
	h.Write(make([]byte, n))
	return nil
}
