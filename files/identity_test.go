package files

import (
	"errors"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
	"time"

	"github.com/garner-go/garner"
	"github.com/garner-go/garner/model"
	"github.com/garner-go/garner/source"
)

// TestIdentify tells arrays apart that differ in anything, and those that do not
// alike.
func TestIdentify(t *testing.T) {
	t.Chdir(t.TempDir())
	saveNpy(t, "a.npy", garner.Of([]int16{1, 2}, 2))
	fact := func() string {
		a := must(Open(t.Context(), "a.npy", Options{}))
		defer a.Close()
		f, ok, err := Identify(a)
		if !ok || err != nil {
			t.Fatal(ok, err)
		}
		return f
	}
	first := fact()
	if again := fact(); again != first {
		t.Errorf("%s, and again %s", first, again)
	}
	if err := os.Chtimes("a.npy", time.Now(), time.Now().Add(time.Hour)); err != nil {
		t.Fatal(err)
	}
	if later := fact(); later == first {
		t.Error("a file that was written to has the same identity: " + later)
	}
	if runtime.GOOS == "js" || runtime.GOOS == "wasip1" || runtime.GOOS == "plan9" {
		t.Skip("this system has no inodes")
	}
	// Contents of the same size, with the time of modification of those before.
	info := must(os.Stat("a.npy"))
	for name, change := range map[string]func(b []byte) error{
		"rewritten": func(b []byte) error {
			f, err := os.OpenFile("a.npy", os.O_WRONLY, 0)
			if err != nil {
				return err
			}
			defer f.Close()
			_, err = f.WriteAt(b, 0)
			return err
		},
		"replaced": func(b []byte) error {
			if err := os.WriteFile("b.npy", b, 0o666); err != nil {
				return err
			}
			return os.Rename("b.npy", "a.npy")
		},
	} {
		before := fact()
		time.Sleep(50 * time.Millisecond) // a file system's clock may be that coarse
		b := must(os.ReadFile("a.npy"))
		b[len(b)-1]++
		if err := change(b); err != nil {
			t.Fatal(err)
		}
		if err := os.Chtimes("a.npy", info.ModTime(), info.ModTime()); err != nil {
			t.Fatal(err)
		}
		if after := fact(); after == before {
			t.Errorf("a file that was %s has the same identity: %s", name, after)
		}
	}
	// A view that converts is told apart as what lies beneath it is.
	single := func(v float32, to garner.DType) string {
		a := must(source.Convert(source.Memory(garner.Of([]float32{1, v}, 2)), to))
		f, ok, err := Identify(a)
		if !ok || err != nil {
			t.Error(to, ok, err)
		}
		return f
	}
	if a := single(2, garner.F16); a != single(2, garner.F16) || a == single(3, garner.F16) || a == single(2, garner.BF16) || a == single(2, garner.F32) {
		t.Error("converted arrays are not told apart: " + a)
	}
	one, _, _ := Identify(source.Memory(garner.Of([]int16{1, 2}, 2)))
	same, _, _ := Identify(source.Memory(garner.Of([]int16{1, 2}, 2)))
	other, ok, err := Identify(source.Memory(garner.Of([]int16{1, 3}, 2)))
	shaped, _, _ := Identify(source.Memory(garner.Of([]int16{1, 2}, 1, 2)))
	if one != same || one == other || one == shaped || !ok || err != nil {
		t.Error(one, same, other, shaped, ok, err)
	}
	if f, ok, err := Identify(nil); ok || err != nil {
		t.Error(f, ok, err)
	}
}

// TestIdentifyOpened holds that an array's identity is that of the file that it has
// open, and not of another that has its name by now.
func TestIdentifyOpened(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("Windows does not let an open file be replaced")
	}
	t.Chdir(t.TempDir())
	saveNpy(t, "a.npy", garner.Of([]int16{1, 2}, 2))
	a := must(Open(t.Context(), "a.npy", Options{}))
	defer a.Close()
	saveNpy(t, "b.npy", garner.Of([]int16{3, 4, 5}, 3))
	if err := os.Rename("b.npy", "a.npy"); err != nil {
		t.Fatal(err)
	}
	before, _, err := Identify(a)
	if err != nil {
		t.Fatal(err)
	}
	b := must(Open(t.Context(), "a.npy", Options{}))
	defer b.Close()
	after, _, err := Identify(b)
	_, size, _ := strings.Cut(before, " of ")
	if err != nil || before == after || !strings.HasPrefix(size, "132 bytes") {
		t.Errorf("%s and %s, %v", before, after, err)
	}
}

// TestIdentifyTiles tells two arrays of the same files apart whose tiles change places.
func TestIdentifyTiles(t *testing.T) {
	dir := t.TempDir()
	var tiles []*model.Constant
	for _, name := range []string{"left", "right"} {
		c := model.NewConstant(name, garner.SpecOf(garner.U8, 2, 1), nil)
		c.File, c.Size = filepath.Join(dir, name), 2
		if err := os.WriteFile(c.File, []byte(name[:2]), 0o666); err != nil {
			t.Fatal(err)
		}
		tiles = append(tiles, c)
	}
	var facts []string
	for _, at := range [][2]int{{0, 1}, {1, 0}, {0, 1}} {
		c := model.NewConstant("whole", garner.SpecOf(garner.U8, 2, 2), nil)
		c.SetTiles([]model.Tile{{At: []int{0, at[0]}, Constant: tiles[0]}, {At: []int{0, at[1]}, Constant: tiles[1]}})
		a, err := c.Open()
		if err != nil {
			t.Fatal(err)
		}
		fact, ok, err := Identify(a)
		if a.Close(); err != nil || !ok {
			t.Fatal(fact, ok, err)
		}
		facts = append(facts, fact)
	}
	if facts[0] == facts[1] || facts[0] != facts[2] {
		t.Error(facts)
	}
}

// TestIdentifyConverted tells the same elements of a file apart by what they are
// converted to, and by way of what.
func TestIdentifyConverted(t *testing.T) {
	t.Chdir(t.TempDir())
	saveNpy(t, "a.npy", garner.Of([]garner.Float16{0x3c00, 0x4000}, 2))
	facts := map[string][]garner.DType{}
	for _, chain := range [][]garner.DType{nil, {garner.F32}, {garner.BF16}, {garner.BF16, garner.F32}, {garner.F64, garner.F32}} {
		a, err := must(Parse("a.npy")).Open(t.Context(), Options{})
		if err != nil {
			t.Fatal(err)
		}
		for _, to := range chain {
			if err := a.Convert(to); err != nil {
				t.Fatal(err)
			}
		}
		fact, ok, err := Identify(a.Array)
		if !ok || err != nil {
			t.Fatal(ok, err)
		}
		if other, twice := facts[fact]; twice {
			t.Errorf("%v and %v are the same: %s", chain, other, fact)
		}
		facts[fact] = chain
		if err := a.Close(); err != nil {
			t.Error(err)
		}
		if err := a.Changed(); err == nil {
			t.Error("the Close of a converted Input left the file open")
		}
	}
}

// TestInputConvert converts Inputs that are read in place, that are in memory and that
// are strings.
func TestInputConvert(t *testing.T) {
	t.Chdir(t.TempDir())
	half := garner.Of([]garner.Float16{0x3c00, 0xc000, 0x7c00}, 3)
	saveNpy(t, "a.npy", half)
	for name, in := range map[string]*Input{"file": must(must(Parse("a.npy")).Open(t.Context(), Options{})), "memory": Hold(half)} {
		if err := in.Convert(garner.F16); err != nil || in.Spec().DType != garner.F16 {
			t.Errorf("%s: to the same: %v, %v", name, in.Spec(), err)
		}
		if err := in.Convert(garner.F32); err != nil {
			t.Fatal(err)
		}
		if _, ok := in.View(); ok || in.Spec().DType != garner.F32 {
			t.Errorf("%s: it is %v, and a view %v", name, in.Spec(), ok)
		}
		x, err := in.Tensor(t.Context())
		if err != nil || x.Text() != "[1.0, -2.0, Infinity]" {
			t.Errorf("%s: %v, %v", name, x, err)
		}
		if err := in.Close(); err != nil {
			t.Error(err)
		}
	}
	for _, in := range []*Input{Hold(garner.Of([]string{"a"}, 1)), Hold(garner.Of([]int8{1}, 1))} {
		if err := in.Convert(garner.F32); !errors.Is(err, garner.ErrDType) {
			t.Errorf("%v: %v", in.Spec(), err)
		}
	}
}

// TestIdentifyContents holds that another mode or link is no other file, and that a write is one.
func TestIdentifyContents(t *testing.T) {
	if runtime.GOOS == "windows" || runtime.GOOS == "js" || runtime.GOOS == "wasip1" || runtime.GOOS == "plan9" {
		t.Skip("this system has no times of change that a mode sets")
	}
	t.Chdir(t.TempDir())
	saveNpy(t, "a.npy", garner.Of([]int16{1, 2}, 2))
	saveNpy(t, "b.npy", garner.Of([]int16{3, 4}, 2))
	for _, name := range []string{"a.npy", "[ab].npy"} {
		facts := func() [2]string {
			a := must(Open(t.Context(), name, Options{}))
			defer a.Close()
			whole, ok, err := Identify(a)
			contents, too, of := IdentifyContents(a)
			if !ok || !too || err != nil || of != nil {
				t.Fatal(ok, too, err, of)
			}
			return [2]string{whole, contents}
		}
		for what, change := range map[string]func() error{
			"mode": func() error { return os.Chmod("a.npy", 0o600) },
			"link": func() error { return errors.Join(os.Link("a.npy", "c"), os.Remove("c")) },
		} {
			before := facts()
			time.Sleep(50 * time.Millisecond) // a file system's clock may be that coarse
			if err := change(); err != nil {
				t.Fatal(err)
			}
			if after := facts(); after[1] != before[1] || after[0] == before[0] {
				t.Errorf("%s: %q, and then %q", what, before, after)
			}
		}
		before := facts()
		if err := os.Chtimes("a.npy", time.Now(), time.Now().Add(time.Hour)); err != nil {
			t.Fatal(err)
		}
		if after := facts(); after[1] == before[1] {
			t.Error("a file that was written to is the same: " + after[1])
		}
		saveNpy(t, "a.npy", garner.Of([]int16{1, 2}, 2))
	}
}
