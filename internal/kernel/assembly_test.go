package kernel

import (
	"bytes"
	"os"
	"path/filepath"
	"reflect"
	"regexp"
	"runtime"
	"slices"
	"strings"
	"testing"

	"github.com/garner-go/garner/internal/pages"
)

// assembled are the functions in assembly that this build has.
func assembled(t *testing.T) []string {
	t.Helper()
	if len(Forms()) == 1 {
		return nil // of another machine, or left out
	}
	files, err := filepath.Glob("*_" + runtime.GOARCH + ".s")
	if err != nil || len(files) == 0 {
		t.Fatalf("no assembly for %s: %v", runtime.GOARCH, err)
	}
	var names []string
	for _, file := range files {
		text, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		for _, m := range regexp.MustCompile(`(?m)^TEXT\s+·(\w+)\(SB\)`).FindAllSubmatch(text, -1) {
			names = append(names, string(m[1]))
		}
	}
	return names
}

// nameOf is the name of a function, "" of none.
func nameOf(function any) string {
	v := reflect.ValueOf(function)
	if v.IsNil() {
		return ""
	}
	name := runtime.FuncForPC(v.Pointer()).Name()
	return strings.TrimSuffix(name[strings.LastIndexByte(name, '.')+1:], ".abi0")
}

// TestAssemblyIsTried holds every function in assembly against its definition
// on memory that it may choose freely, and that there is no other: what no size
// chooses would be tried by no fuzz test either.
func TestAssemblyIsTried(t *testing.T) {
	tried := map[string]bool{"": true}
	each(t, func(t *testing.T, form string) {
		for _, size := range sizes[1:] {
			move, ahead, stream := rowsForm(size)
			for _, f := range []rowsFunc{move, ahead, stream} {
				tried[nameOf(f)] = true
			}
			for _, m := range []Move{{}, {Stream: true}} {
				for _, asked := range []int{0, 5, 10} {
					m.Size, m.Elem, m.Step = size, 1, (size+63)&^63
					m.Ahead.Rows = make([]int64, asked)
					tryRows(t, form, m)
				}
			}
		}
		for _, size := range []int{1, 2, 4, 8} {
			for _, width := range []int{4, 8} {
				move, ahead := elementsForm(size, width)
				tried[nameOf(move)], tried[nameOf(ahead)] = true, true
				for _, ahead := range []int{0, 3} {
					tryElements(t, form, size, width, ahead)
				}
			}
		}
	})
	names := assembled(t)
	for _, name := range names {
		if !tried[name] {
			t.Errorf("no size is moved by %s", name)
		}
	}
	for name := range tried {
		if name != "" && !slices.Contains(names, name) {
			t.Errorf("%s is in no file of assembly", name)
		}
	}
}

// tryRows moves ten rows into memory that is aligned to pages, as streams want
// it.
func tryRows(t *testing.T, form string, m Move) {
	t.Helper()
	rows := []int64{3, 0, 9, 9, 1, 2, 8, 4, 7, 0}
	src := make([]byte, 10*m.Size)
	for i := range src {
		src[i] = byte(i * 7)
	}
	for j := range rows {
		rows[j] *= int64(m.Size)
	}
	got, err := pages.Alloc(10 * m.Step)
	if err != nil {
		t.Fatal(err)
	}
	defer pages.Free(got)
	want := make([]byte, len(got))
	Rows(got, src, rows, m, nil)
	RowsGeneric(want, src, rows, m, nil)
	if !bytes.Equal(got, want) {
		t.Errorf("%s: %+v: differs from the definition", form, m)
	}
}

func tryElements(t *testing.T, form string, size, width, ahead int) {
	t.Helper()
	const n = 10
	src, values := make([]byte, n*size), make([]byte, n*width)
	for i := range src {
		src[i] = byte(i * 7)
	}
	var want []byte
	for j := range n {
		v := (j*3 + 2) % n
		values[j*width] = byte(v)
		want = append(want, src[v*size:(v+1)*size]...)
	}
	got := make([]byte, n*size)
	if moved := Elements(got, src, values, n, size, width, n, false, ahead); moved != n || !bytes.Equal(got, want) {
		t.Errorf("%s: size %d, index of %d bytes, %d ahead: %d of %d moved, or differs", form, size, width, ahead, moved, n)
	}
}
