package files

import (
	"os"
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
