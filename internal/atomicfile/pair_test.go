package atomicfile

import (
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"sync"
	"testing"
)

// usesBin says that a model refers to the .bin of its name, if its text says so.
func usesBin(path string) []string {
	if b, err := os.ReadFile(path); err != nil || !strings.Contains(string(b), "model") {
		return nil
	}
	return []string{path, strings.TrimSuffix(path, ".xml") + ".bin"}
}

func pairOf(dir string) (*Pair, error) {
	return NewPair(filepath.Join(dir, "m.xml"), filepath.Join(dir, "m.bin"), PairOptions{Uses: usesBin})
}

// write writes both files, or the first alone where bin is "".
func write(p *Pair, xml, bin string) error {
	for i, text := range []string{xml, bin} {
		if text == "" {
			continue
		}
		w, err := p.Writer(i)
		if err != nil {
			return err
		}
		if _, err := w.Write([]byte(text)); err != nil {
			return err
		}
		if path, err := w.Written(); err != nil || path != p.Temporary(i) {
			return fmt.Errorf("%s, %w", path, err)
		}
	}
	return nil
}

func putPair(dir, xml, bin string) error {
	p, err := pairOf(dir)
	if err != nil {
		return err
	}
	defer p.Abort()
	if err := write(p, xml, bin); err != nil {
		return err
	}
	return p.Put()
}

// state is what a folder holds, by name.
func state(t *testing.T, dir string) string {
	t.Helper()
	var list []string
	for name := range strings.FieldsSeq(entries(t, dir)) {
		if info, err := os.Stat(filepath.Join(dir, name)); err != nil || info.IsDir() {
			list = append(list, name)
			continue
		}
		b, err := os.ReadFile(filepath.Join(dir, name))
		if err != nil {
			t.Fatal(err)
		}
		list = append(list, name+"="+string(b))
	}
	return strings.Join(list, " ")
}

func TestPair(t *testing.T) {
	dir := t.TempDir()
	for _, tt := range []struct{ xml, bin, want string }{
		{"model1", "one", "m.bin=one m.xml=model1"},
		{"model2", "two", "m.bin=two m.xml=model2"},
		{"model3", "", "m.xml=model3"}, // the old one beside goes with the old file
		{"model4", "four", "m.bin=four m.xml=model4"},
	} {
		if err := putPair(dir, tt.xml, tt.bin); err != nil {
			t.Fatal(err)
		}
		if got := state(t, dir); got != tt.want {
			t.Errorf("%s; want %s", got, tt.want)
		}
	}
	p, err := pairOf(dir)
	if err != nil {
		t.Fatal(err)
	}
	if err := write(p, "model5", "five"); err != nil {
		t.Fatal(err)
	}
	p.Abort()
	p.Abort()
	if got := state(t, dir); got != "m.bin=four m.xml=model4" {
		t.Errorf("after Abort: %s", got)
	}
}

// TestPairAlone holds that a file without one beside follows a link, and is written in the folder
// of its place.
func TestPairAlone(t *testing.T) {
	dir := t.TempDir()
	path := filepath.Join(dir, strings.Repeat("x", 250))
	plain(t, path, "before")
	link := filepath.Join(dir, "link")
	if err := os.Symlink(path, link); err != nil {
		if runtime.GOOS != "windows" {
			t.Fatal(err)
		}
		t.Skipf("Windows lets only some users make links: %v", err)
	}
	p, err := NewPair(link, "", PairOptions{})
	if err != nil {
		t.Fatal(err)
	}
	if filepath.Dir(p.Temporary(0)) != dir {
		t.Error(p.Temporary(0))
	}
	if err := write(p, "after", ""); err != nil {
		t.Fatal(err)
	}
	if err := p.Put(); err != nil {
		t.Fatal(err)
	}
	holds(t, path, "after")
	if got := entries(t, dir); got != "link "+filepath.Base(path) {
		t.Error(got)
	}
}

func TestPairRefused(t *testing.T) {
	dir := t.TempDir()
	at := func(name string) string { return filepath.Join(dir, name) }
	// A file beside that the old one does not refer to, and one with no old one.
	plain(t, at("m.bin"), "another's")
	refused(t, putPair(dir, "model", "elements"), "which is there, and no old m.xml refers to it; name another file")
	plain(t, at("m.xml"), "a text")
	refused(t, putPair(dir, "model", "elements"), "no old m.xml refers to it")
	if got := state(t, dir); got != "m.bin=another's m.xml=a text" {
		t.Error(got)
	}
	// One without elements leaves it alone, and so does one that keeps it.
	if err := putPair(dir, "a text again", ""); err != nil {
		t.Fatal(err)
	}
	p, err := NewPair(at("m.xml"), at("m.bin"), PairOptions{Inputs: []string{at("m.bin")}, Uses: usesBin, Keeps: func(string) (bool, error) { return true, nil }})
	if err != nil || !p.Kept() {
		t.Fatal(err)
	}
	if err := write(p, "model", ""); err != nil {
		t.Fatal(err)
	}
	if err := p.Put(); err != nil {
		t.Fatal(err)
	}
	if got := state(t, dir); got != "m.bin=another's m.xml=model" {
		t.Error(got)
	}
	_, err = NewPair(at("m.xml"), at("m.bin"), PairOptions{Keeps: func(string) (bool, error) { return false, fs.ErrPermission }})
	if err != fs.ErrPermission {
		t.Error(err)
	}
	_, err = NewPair(at("m.xml"), at("m.bin"), PairOptions{Inputs: []string{at("m.bin")}})
	refused(t, err, "it is the input")
	_, err = NewPair(at("none/m.xml"), "", PairOptions{})
	refused(t, err, "make it first")
	_, err = NewPair(dir, "", PairOptions{})
	refused(t, err, "it is a folder")
	if os.Symlink(at("m.xml"), at("l.xml")) == nil {
		_, err = NewPair(at("l.xml"), at("l.bin"), PairOptions{})
		refused(t, err, "it is a link, or no regular file, and a model has a file beside it; name a file")
	}
	_, err = NewPair(os.DevNull, "", PairOptions{})
	refused(t, err, "and it is read back before it is put in place; name a file")
	// A file, or a link, where the folder would be.
	if err := os.Remove(at("m.xml")); err != nil {
		t.Fatal(err)
	}
	plain(t, at(".garner-m.xml.tmp"), "")
	refused(t, putPair(dir, "model", "elements"), "is there and is no folder of this user; remove it")
}

// TestPairLocked holds that of two that write to one place at a time one is refused.
func TestPairLocked(t *testing.T) {
	dir := t.TempDir()
	p, err := pairOf(dir)
	if err != nil {
		t.Fatal(err)
	}
	refused(t, putPair(dir, "model", "elements"), "another garner is writing it; wait for that one, or write to another file")
	p.Abort()
	if err := putPair(dir, "model", "elements"); err != nil {
		t.Fatal(err)
	}
	var all sync.WaitGroup
	for i := range 8 {
		all.Go(func() {
			for range 20 {
				err := putPair(dir, fmt.Sprint("model", i), fmt.Sprint("bin", i))
				if err != nil && !strings.Contains(err.Error(), "another garner") {
					t.Error(err)
				}
			}
		})
	}
	all.Wait()
	var a, b int
	got := state(t, dir)
	if n, err := fmt.Sscanf(got, "m.bin=bin%d m.xml=model%d", &a, &b); n != 2 || err != nil || a != b {
		t.Errorf("%s", got)
	}
}

// TestPairKilled leaves a pair as a process that is killed after each of its steps does. The
// next one that writes to the place, and ends without, leaves the old pair, or the new one
// where all steps were done.
func TestPairKilled(t *testing.T) {
	for _, tt := range []struct{ name, xml, bin, want string }{
		{"a pair", "model1", "one", "m.bin=one m.xml=model1"},
		{"nothing", "", "", ""},
		{"a model alone", "model1", "", "m.xml=model1"},
	} {
		for _, beside := range []bool{true, false} {
			for killed := 0; ; killed++ {
				dir := t.TempDir()
				if tt.xml != "" {
					if err := putPair(dir, tt.xml, tt.bin); err != nil {
						t.Fatal(err)
					}
				}
				p, err := pairOf(dir)
				if err != nil {
					t.Fatal(err)
				}
				bin := ""
				if beside {
					bin = "two"
				}
				if err := write(p, "model2", bin); err != nil {
					t.Fatal(err)
				}
				for _, f := range p.files {
					if f != nil {
						f.Close()
					}
				}
				moves := p.moves(beside)
				if killed > 0 {
					stamp := ""
					if info, err := os.Stat(p.Temporary(1)); err == nil {
						stamp = stampOf(info)
					}
					plain(t, filepath.Join(p.folder, readyName), stamp)
				}
				for _, m := range moves[:max(killed-1, 0)] {
					if err := os.Rename(m.from, m.to); err != nil && !m.old {
						t.Fatal(err)
					}
				}
				p.lock.Close() // as the end of the process does
				again, err := pairOf(dir)
				if err != nil {
					t.Fatal(err)
				}
				again.Abort()
				want := tt.want
				if killed > len(moves) {
					want = "m.xml=model2"
					if beside {
						want = "m.bin=two " + want
					}
				}
				if got := state(t, dir); got != want {
					t.Errorf("%s, beside %v, killed after step %d: %s; want %s", tt.name, beside, killed, got, want)
				}
				if killed > len(moves) {
					break
				}
			}
		}
	}
}

// TestPairFails holds that the old pair is back where a rename fails, and that it stays in the
// folder where it cannot be.
func TestPairFails(t *testing.T) {
	for _, remove := range []int{0, 1} {
		dir := t.TempDir()
		if err := putPair(dir, "model1", "one"); err != nil {
			t.Fatal(err)
		}
		p, err := pairOf(dir)
		if err != nil {
			t.Fatal(err)
		}
		if err := write(p, "model2", "two"); err != nil {
			t.Fatal(err)
		}
		info, err := os.Stat(p.Temporary(1))
		if err != nil {
			t.Fatal(err)
		}
		if err := os.Remove(p.Temporary(remove)); err != nil { // its rename fails then
			t.Fatal(err)
		}
		at, err := p.putBoth(info)
		if err == nil || at != remove {
			t.Fatalf("%d, %v", at, err)
		}
		if err := p.restore(); err != nil {
			t.Fatal(err)
		}
		p.Abort()
		if got := state(t, dir); got != "m.bin=one m.xml=model1" {
			t.Errorf("without file %d: %s", remove, got)
		}
	}
	dir := t.TempDir()
	if err := putPair(dir, "model1", "one"); err != nil {
		t.Fatal(err)
	}
	p, err := pairOf(dir)
	if err != nil {
		t.Fatal(err)
	}
	if err := write(p, "model2", "two"); err != nil {
		t.Fatal(err)
	}
	if err := os.Remove(p.Temporary(0)); err != nil {
		t.Fatal(err)
	}
	info, err := os.Stat(p.Temporary(1))
	if err != nil {
		t.Fatal(err)
	}
	if _, err := p.putBoth(info); err == nil {
		t.Fatal("a file that is not there was put in place")
	}
	// A folder in the place of the file beside cannot be replaced.
	if err := os.Remove(filepath.Join(dir, "m.bin")); err != nil {
		t.Fatal(err)
	}
	if err := os.MkdirAll(filepath.Join(dir, "m.bin", "in it"), 0o777); err != nil {
		t.Fatal(err)
	}
	refused(t, p.restore(), "and cannot be put back")
	p.Abort()
	holds(t, p.old(0), "model1")
	holds(t, p.old(1), "one")
	if err := os.RemoveAll(filepath.Join(dir, "m.bin")); err != nil {
		t.Fatal(err)
	}
	again, err := pairOf(dir)
	if err != nil {
		t.Fatal(err)
	}
	again.Abort()
	if got := state(t, dir); got != "m.bin=one m.xml=model1" {
		t.Error(got)
	}
}

// TestPairMeanwhile holds that a file beside that another program writes meanwhile stays.
func TestPairMeanwhile(t *testing.T) {
	dir := t.TempDir()
	p, err := pairOf(dir)
	if err != nil {
		t.Fatal(err)
	}
	if err := write(p, "model", "one"); err != nil {
		t.Fatal(err)
	}
	plain(t, filepath.Join(dir, "m.bin"), "another's")
	refused(t, p.Put(), "another program has written "+filepath.Join(dir, "m.bin")+" since")
	if got := state(t, dir); got != "m.bin=another's" {
		t.Error(got)
	}
}

// TestPairShared holds that a file beside to which another file refers, in the folder, below it or above
// it, is neither replaced nor removed, and one of which another has a hard link is.
func TestPairShared(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "models")
	if err := os.MkdirAll(filepath.Join(dir, "below"), 0o777); err != nil {
		t.Fatal(err)
	}
	at := func(name string) string { return filepath.Join(dir, name) }
	uses := func(path string) []string {
		b, err := os.ReadFile(path)
		if err != nil {
			return nil
		}
		name, _, _ := strings.Cut(strings.TrimPrefix(string(b), "<"), "\x00")
		return []string{path, at(name)}
	}
	put := func(xml, bin string) error {
		p, err := NewPair(at("m.xml"), at("m.bin"), PairOptions{Uses: uses})
		if err != nil {
			return err
		}
		defer p.Abort()
		if err := write(p, xml, bin); err != nil {
			return err
		}
		return p.Put()
	}
	set := func(name, text string) {
		if err := os.WriteFile(at(name), []byte(text), 0o666); err != nil {
			t.Fatal(err)
		}
	}
	set("m.bin", "old")
	set("m.xml", "m.bin")
	for name, text := range map[string]string{
		"plain": "<m.bin", "below/copy.XML": "m.bin", "below/plain": "<m.bin", "../copy.xml": "m.bin", "../plain": "<m.bin",
		"other.model": "<m.bin", "large": "<m.bin" + strings.Repeat("\x00", 5<<20),
	} {
		set(name, text)
		if err := put("m.bin", "new"); err == nil || !strings.Contains(err.Error(), at("m.bin")+", to which "+at(name)+" refers too; name another file") {
			t.Errorf("%s: %v", name, err)
		}
		if err := os.Remove(at(name)); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.Remove(at("below")); err != nil {
		t.Fatal(err)
	}
	other := at("other")
	set("other", "m.bin") // it begins as no model, and is not read
	if err := put("m.bin", "new"); err != nil {
		t.Error(err)
	}
	if err := os.Remove(other); err != nil {
		t.Fatal(err)
	}
	set("m.bin", "old")
	set("copy.xml", "m.bin")
	set("other.txt", "m.bin") // of another extension
	want := "copy.xml=m.bin m.bin=old m.xml=m.bin other.txt=m.bin"
	if err := put("m.bin", "new"); err == nil || !strings.Contains(err.Error(), at("m.bin")+", to which "+at("copy.xml")+" refers too; name another file") || state(t, dir) != want {
		t.Errorf("%v, %s", err, state(t, dir))
	}
	if err := put("alone", ""); err != nil || state(t, dir) != strings.Replace(want, "m.xml=m.bin", "m.xml=alone", 1) {
		t.Errorf("%v, %s", err, state(t, dir))
	}
	set("m.xml", "m.bin")
	if err := os.Link(at("m.bin"), at("copy.bin")); err != nil {
		t.Fatal(err)
	}
	set("copy.xml", "copy.bin")
	if err := put("m.bin", "new"); err != nil || state(t, dir) != "copy.bin=old copy.xml=copy.bin m.bin=new m.xml=m.bin other.txt=m.bin" {
		t.Errorf("%v, %s", err, state(t, dir))
	}
}

// TestOnnxBegins tells the first bytes of a model of ONNX from others.
func TestOnnxBegins(t *testing.T) {
	for _, tt := range []struct {
		head string
		size int64
		want bool
	}{
		{"\x08\x08\x12\x02me:\x80\x80\x80\x08", 1 << 30, true}, // ir_version, producer_name, a graph of 16 MiB
		{"\x08\x08\x12\x02me:\x80\x80\x80\x08", 1 << 20, false},
		{"B\x04\x0a\x00\x10\x0d\x08\x08", 8, true}, // opset_import, ir_version
		{":\x04graphs", 8, false},
		{"\xca\x01\x02of\xa2\x01\x00", 8, true},
		{"\x0a\x02of\x08\x08", 6, false}, // TensorFlow's GraphDef
		{"\x93NUMPY\x01\x00", 1 << 20, false},
		{"<?xml version", 1 << 20, false},
		{"\x00\x00\x00\x00", 1 << 20, false},
		{"\x08", 1, false},
		{"", 0, false},
	} {
		if got := onnxBegins([]byte(tt.head), tt.size); got != tt.want {
			t.Errorf("%q of %d bytes: %v", tt.head, tt.size, got)
		}
	}
}
