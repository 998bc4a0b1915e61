package files

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/garner-go/garner"
	"github.com/garner-go/garner/format/layout"
	"github.com/garner-go/garner/format/raw"
	"github.com/garner-go/garner/source"
)

// restore takes back what a test registers.
func restore(t *testing.T) {
	t.Helper()
	formats, schemes := registry.formats, registry.schemes
	t.Cleanup(func() {
		registry.Lock()
		defer registry.Unlock()
		registry.formats, registry.schemes = formats, schemes
	})
}

// lines is a toy format: one array of u8, a line of decimal numbers, "name: 1 2
// 3", for each name. It has no layout.
var lines = Format{
	Name: "lines", Extensions: []string{".lines", ".ln"}, Named: true, Result: "result",
	Open: func(_ context.Context, path, name string, o Options) (*Input, error) {
		all, err := readLines(path)
		if err != nil {
			return nil, err
		}
		values, ok := all[name]
		if !ok {
			return nil, garner.Errorf(fs.ErrNotExist, "%s: it has no line %s", path, name)
		}
		if o.InPlace {
			return nil, garner.Errorf(ErrMemory, "%s: its numbers are text", path)
		}
		in := Hold(garner.Of(values, len(values)))
		in.Paths = []string{path}
		return in, nil
	},
	List: func(path string, _ Options) (list []Info, err error) {
		all, err := readLines(path)
		for name, values := range all {
			list = append(list, Info{Name: name, Kind: "text", DType: garner.U8, Shape: garner.Shape{len(values)}, Bytes: -1, Path: path})
		}
		slices.SortFunc(list, func(a, b Info) int { return strings.Compare(a.Name, b.Name) })
		return list, err
	},
	NewWriter: func(w io.Writer, name string, spec garner.Spec) (io.WriteCloser, error) {
		if spec.DType != garner.U8 {
			return nil, garner.Errorf(garner.ErrDType, "a line holds u8, not %s", spec)
		}
		return &lineWriter{w, name + ":"}, nil
	},
}

func readLines(path string) (map[string][]uint8, error) {
	b, err := os.ReadFile(path)
	if err != nil {
		return nil, garner.Errorf(err, "there is no file %s", path)
	}
	all := map[string][]uint8{}
	for line := range strings.Lines(string(b)) {
		name, rest, _ := strings.Cut(line, ":")
		values := []uint8{}
		for field := range strings.FieldsSeq(rest) {
			var v uint8
			if _, err := fmt.Sscan(field, &v); err != nil {
				return nil, garner.Errorf(err, "%s: %q is no number", path, field)
			}
			values = append(values, v)
		}
		all[name] = values
	}
	return all, nil
}

type lineWriter struct {
	w      io.Writer
	prefix string
}

func (l *lineWriter) Write(b []byte) (int, error) {
	for i, v := range b {
		if _, err := fmt.Fprintf(l.w, "%s %d", l.prefix, v); err != nil {
			return i, err
		}
		l.prefix = ""
	}
	return len(b), nil
}

func (l *lineWriter) Close() error {
	_, err := fmt.Fprintln(l.w, l.prefix)
	return err
}

// TestRegister opens, lists and writes files of a format that this package does
// not have.
func TestRegister(t *testing.T) {
	restore(t)
	t.Chdir(t.TempDir())
	if _, err := Parse("a.lines#x"); err == nil {
		t.Fatal("the format is there already")
	}
	Register(lines)
	save(t, "a.lines", []byte("x: 1 2 3\ny: 4\n"))
	save(t, "b.ln", []byte("z: 9\n"))
	a := must(Open(t.Context(), "a.lines#x", Options{}))
	if x := must(layout.Read(t.Context(), a)); x.Text() != "[1, 2, 3]" || a.Close() != nil {
		t.Error(x)
	}
	for operand, want := range map[string]string{"a.lines#y": "[4]", "b.ln": "[9]"} {
		if x, done, err := Tensor(t.Context(), operand, Options{}); err != nil || x.Text() != want || done() != nil {
			t.Error(operand, x, err)
		}
	}
	if list := must(List(t.Context(), "a.lines", Options{})); len(list) != 2 || list[1].Name != "y" {
		t.Errorf("%+v", list)
	}
	for operand, want := range map[string]string{
		"a.lines":    "a.lines names no array: write a.lines#NAME; it has x, y",
		"a.lines#w":  "a.lines: it has no line w",
		"[a-b].l*#x": "is of no format",
		"*.lines#x":  "",
		"c.lines#x":  "there is no file c.lines",
	} {
		if _, err := Open(t.Context(), operand, Options{}); want == "" && err != nil || want != "" && (err == nil || !strings.Contains(err.Error(), want)) {
			t.Errorf("%s: %v; want %s", operand, err, want)
		}
	}
	save(t, "c.lines", []byte("x: 5\n"))
	_, err := Open(t.Context(), "*.lines#x", Options{})
	refused(t, err, garner.ErrAttribute, "*.lines#x matches 2 files, and those of format lines are read one at a time; name one of them")
	_, err = Open(t.Context(), "a.lines#x", Options{InPlace: true})
	refused(t, err, ErrMemory, "a.lines")

	if err := Save(t.Context(), "out.lines", garner.Of([]uint8{7, 8}, 2), CreateOptions{}); err != nil || string(must(os.ReadFile("out.lines"))) != "result: 7 8\n" {
		t.Error(err)
	}
	refused(t, Save(t.Context(), "out.lines", garner.Of([]int8{7}, 1), CreateOptions{}), garner.ErrDType, "a line holds u8")
	if f, ok := FormatByName("lines"); !ok || !f.Writes() || !strings.HasSuffix(Readable(), ", .lines#NAME, .ln#NAME") || !strings.HasSuffix(Writable(), ".raw and .lines") {
		t.Error(Readable(), Writable())
	}
}

// TestRegisterTwice holds that nothing takes the place of what is registered.
func TestRegisterTwice(t *testing.T) {
	restore(t)
	Register(lines)
	open := func(context.Context, string, string, Options) (*Input, error) {
		return nil, errors.New("it opens nothing")
	}
	RegisterScheme(Scheme{Name: "toy", Open: open})
	with := func(change func(*Format)) Format {
		f := lines
		f.Name, f.Extensions = "other", []string{".other"}
		change(&f)
		return f
	}
	for want, register := range map[string]func(){
		"format lines is registered twice":                            func() { Register(with(func(f *Format) { f.Name = "lines" })) },
		"extension .ln belongs to format lines":                       func() { Register(with(func(f *Format) { f.Extensions = []string{".other", ".ln"} })) },
		"extension .npy belongs to format npy":                        func() { Register(with(func(f *Format) { f.Indexes = []string{".npy"} })) },
		"extension .other is given twice":                             func() { Register(with(func(f *Format) { f.Indexes = []string{".other"} })) },
		".CSV is no extension":                                        func() { Register(with(func(f *Format) { f.Extensions = []string{".CSV"} })) },
		"a folder with manifest.json belongs to format shards":        func() { Register(with(func(f *Format) { f.Folder = "manifest.json" })) },
		"a/b is no name of a file in a folder":                        func() { Register(with(func(f *Format) { f.Folder = "a/b" })) },
		"csv is no extension":                                         func() { Register(with(func(f *Format) { f.Extensions = []string{"csv"} })) },
		"a format needs a Name, Extensions, Layout or Open, and List": func() { Register(with(func(f *Format) { f.Open = nil })) },
		"scheme toy is registered twice":                              func() { RegisterScheme(Scheme{Name: "toy", Open: open}) },
		"a scheme needs Open and a Name":                              func() { RegisterScheme(Scheme{Name: "Toy", Open: open}) },
	} {
		func() {
			defer func() {
				if got := fmt.Sprint(recover()); !strings.HasPrefix(got, "files: ") || !strings.Contains(got, want) {
					t.Errorf("it panics with %s; want %s", got, want)
				}
			}()
			register()
		}()
	}
	if n := len(Formats()); n != len(builtin)+1 {
		t.Errorf("%d formats are there", n)
	}
}

// TestRegisterConcurrently registers while other goroutines parse.
func TestRegisterConcurrently(t *testing.T) {
	restore(t)
	var all sync.WaitGroup
	for i := range 8 {
		all.Go(func() {
			f := lines
			f.Name, f.Extensions = fmt.Sprint("f", i), []string{fmt.Sprint(".f", i)}
			Register(f)
			RegisterScheme(Scheme{Name: fmt.Sprint("s", i), Open: func(context.Context, string, string, Options) (*Input, error) { return nil, fs.ErrInvalid }})
		})
		all.Go(func() {
			for range 100 {
				if p, err := Parse("a.npz#b"); err != nil || p.Format.Name != "npz" {
					t.Error(p, err)
				}
				Parse("s1://a")
			}
		})
	}
	all.Wait()
	for i := range 8 {
		if p, err := Parse(fmt.Sprintf("a.f%d#b", i)); err != nil || p.Name != "b" {
			t.Error(p, err)
		}
		if p, err := Parse(fmt.Sprintf("S%d://a#b", i)); err != nil || !p.IsURL() || p.Name != "b" || p.IsPattern() || p.NeedsName() {
			t.Error(p, err)
		}
	}
}

// shelf is a toy store of objects, reached as shelf://NAME.
type shelf struct {
	mu      sync.Mutex
	objects map[string][]byte
}

func (s *shelf) get(url string) ([]byte, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	b, ok := s.objects[url]
	if !ok {
		return nil, garner.Errorf(fs.ErrNotExist, "there is no object %s", url)
	}
	return b, nil
}

func (s *shelf) open(_ context.Context, url, name string, o Options) (*Input, error) {
	b, err := s.get(url)
	if err != nil {
		return nil, err
	}
	in, err := Read(strings.NewReader(string(b)), o)
	if err == nil && name != "" {
		return nil, garner.Errorf(fs.ErrNotExist, "%s has no array %s", url, name)
	}
	return in, err
}

func (s *shelf) list(_ context.Context, url string, _ Options) ([]Info, error) {
	b, err := s.get(url)
	return []Info{{Path: url, Bytes: int64(len(b))}}, err
}

type shelfSink struct {
	s    *shelf
	url  string
	b    []byte
	done bool
}

func (s *shelf) create(_ context.Context, url string) (Sink, error) {
	return &shelfSink{s: s, url: url}, nil
}

func (k *shelfSink) Write(b []byte) (int, error) {
	k.b = append(k.b, b...)
	return len(b), nil
}

func (k *shelfSink) Commit() error {
	k.s.mu.Lock()
	defer k.s.mu.Unlock()
	k.done, k.s.objects[k.url] = true, k.b
	return nil
}

func (k *shelfSink) Abort() {
	if !k.done {
		k.b = nil
	}
}

// TestRegisterScheme reads and writes URLs.
func TestRegisterScheme(t *testing.T) {
	restore(t)
	s := &shelf{objects: map[string][]byte{}}
	RegisterScheme(Scheme{Name: "shelf", Open: s.open, List: s.list, Create: s.create})
	RegisterScheme(Scheme{Name: "sealed", Open: s.open})
	x := garner.Of([]int16{1, 2, 3, 4}, 2, 2)
	w := must(Create(t.Context(), "shelf://a/t.npy", x.Spec(), CreateOptions{}))
	must(w.Write(bytesOf(x)[:4]))
	w.Abort()
	if len(s.objects) > 0 {
		t.Error("an object that was aborted is there")
	}
	if err := Save(t.Context(), "shelf://a/t.npy", x, CreateOptions{}); err != nil {
		t.Fatal(err)
	}
	a := must(Open(t.Context(), "shelf://a/t.npy", Options{}))
	var _ source.Array = a
	if got := must(layout.Read(t.Context(), a)); got.Text() != x.Text() || a.Close() != nil {
		t.Error(got)
	}
	if list := must(List(t.Context(), "shelf://a/t.npy", Options{})); len(list) != 1 || list[0].Bytes != int64(len(s.objects["shelf://a/t.npy"])) {
		t.Errorf("%+v", list)
	}
	_, err := Open(t.Context(), "shelf://a/t.npy#x", Options{})
	refused(t, err, fs.ErrNotExist, "has no array x")
	_, err = Open(t.Context(), "shelf://none", Options{})
	refused(t, err, fs.ErrNotExist, "there is no object shelf://none")
	_, err = List(t.Context(), "sealed://x", Options{})
	refused(t, err, garner.ErrAttribute, "sealed://x cannot be listed")
	refused(t, Save(t.Context(), "sealed://x.npy", x, CreateOptions{}), garner.ErrAttribute, "cannot write sealed://x.npy: scheme sealed:// only reads")
	_, err = Create(t.Context(), "shelf://x.npy", x.Spec(), CreateOptions{Identity: []Fact{}, Resume: true})
	refused(t, err, ErrNoResume, "shelf://x.npy is no file on a disk")
	if _, err := os.Stat(filepath.Join(".", "shelf:")); err == nil {
		t.Error("a URL was taken for a path")
	}
}

// TestRegisteredShortName lists an array of a format that takes another name than it lists: the
// bytes are those of the array that it opens.
func TestRegisteredShortName(t *testing.T) {
	restore(t)
	t.Chdir(t.TempDir())
	Register(Format{
		Name: "cells", Extensions: []string{".cells"}, Named: true,
		Layout: func(path, name string, _ Options) (layout.Array, error) {
			if name != "long/name" && name != "name" {
				return layout.Array{}, garner.Errorf(fs.ErrNotExist, "%s: it has no cells %s", path, name)
			}
			return raw.Layout(path, raw.Options{DType: garner.I32})
		},
		List: func(path string, _ Options) ([]Info, error) {
			return []Info{{Name: "long/name", DType: garner.I32, Shape: garner.Shape{3}, Bytes: 12, Path: path}}, nil
		},
	})
	save(t, "a.cells", make([]byte, 12))
	for _, name := range []string{"name", "long/name"} {
		list := must(List(t.Context(), "a.cells#"+name, Options{}))
		if want := (Info{Name: name, DType: garner.I32, Shape: garner.Shape{3}, Bytes: 12, Path: "a.cells"}); len(list) != 1 || !reflect.DeepEqual(list[0], want) {
			t.Errorf("%+v; want %+v", list, want)
		}
	}
}
