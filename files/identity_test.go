package files

import (
	"os"
	"runtime"
	"strings"
	"testing"
	"time"

	"github.com/garner-go/garner"
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
