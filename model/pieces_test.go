package model_test

import (
	"bytes"
	"context"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/garner-go/garner"
	"github.com/garner-go/garner/model"
	"github.com/garner-go/garner/source"
)

// elementsOf joins the pieces of a constant.
func elementsOf(t *testing.T, c *model.Constant) (made []byte, err error) {
	t.Helper()
	err = c.Pieces(t.Context(), func(at int64, b []byte) error {
		if at != int64(len(made)) || len(b) == 0 || len(b) > 1<<20 {
			t.Errorf("a piece of %d bytes at %d; %d were before", len(b), at, len(made))
		}
		made = append(made, b...)
		return nil
	})
	return made, err
}

// TestPieces reads constants of every kind piece by piece, and compares each with each.
func TestPieces(t *testing.T) {
	const n = 1<<20 + 5
	numbers := make([]int16, n)
	for i := range numbers {
		numbers[i] = int16(i * 31)
	}
	table := garner.Of(numbers, n)
	want, err := table.Bytes()
	if err != nil {
		t.Fatal(err)
	}
	tensor := func() (garner.Tensor, error) { return table, nil }
	path := filepath.Join(t.TempDir(), "weights")
	if err := os.WriteFile(path, append([]byte("head"), want...), 0o666); err != nil {
		t.Fatal(err)
	}
	state, err := stateOf(path)
	if err != nil {
		t.Fatal(err)
	}
	inFile := func() *model.Constant {
		c := model.NewConstant("c", table.Spec(), nil)
		whole := model.NewConstant("c", table.Spec(), nil)
		whole.File, whole.Offset, whole.Size, whole.State = path, 4, 2*n, state
		c.Append(whole, 0, n-1)
		c.Append(whole, n-1, n+1)
		return c
	}
	backwards, err := table.Slice(0, n-1, -1, -1)
	if err != nil {
		t.Fatal(err)
	}
	var reversed []byte
	for i := n - 1; i >= 0; i-- {
		reversed = append(reversed, want[2*i:2*i+2]...)
	}
	constants := map[string]*model.Constant{
		"in memory": model.NewConstant("c", table.Spec(), tensor),
		"in a file": inFile(),
		"encoded": model.NewEncoded("c", table.Spec(), tensor, func(do func(b []byte) error) error {
			for at := 0; at < len(want); at += 1000 {
				if err := do(want[at:min(at+1000, len(want))]); err != nil {
					return err
				}
			}
			return nil
		}),
	}
	for name, c := range constants {
		if got, err := elementsOf(t, c); err != nil || !bytes.Equal(got, want) {
			t.Errorf("%s: %d bytes, %v", name, len(got), err)
		}
		for also, other := range constants {
			if equal, err := model.EqualPieces(t.Context(), c, other); err != nil || !equal {
				t.Errorf("%s and %s: %v, %v", name, also, equal, err)
			}
		}
		end := errors.New("the end")
		if err := c.Pieces(t.Context(), func(int64, []byte) error { return end }); err != end {
			t.Errorf("%s: %v", name, err)
		}
		ctx, cancel := context.WithCancel(t.Context())
		cancel()
		if err := c.Pieces(ctx, func(int64, []byte) error { return nil }); !errors.Is(err, context.Canceled) {
			t.Errorf("%s: %v", name, err)
		}
		short := model.NewConstant("c", garner.SpecOf(garner.I16, 2), func() (garner.Tensor, error) { return table.Slice(0, 0, 2, 1) })
		for _, pair := range [][2]*model.Constant{{short, c}, {c, short}} {
			if equal, err := model.EqualPieces(t.Context(), pair[0], pair[1]); err != nil || equal {
				t.Errorf("%s and two elements of it: %v, %v", name, equal, err)
			}
		}
	}
	decoded := 0
	held := model.NewEncoded("c", table.Spec(), func() (garner.Tensor, error) { decoded++; return table, nil }, nil)
	for range 2 {
		release, err := held.Hold()
		if err != nil {
			t.Fatal(err)
		}
		for range 3 {
			if got, err := elementsOf(t, held); err != nil || !bytes.Equal(got, want) {
				t.Errorf("held: %d bytes, %v", len(got), err)
			}
		}
		release()
	}
	if decoded != 2 {
		t.Errorf("it was decoded %d times", decoded)
	}
	if release, err := constants["in memory"].Hold(); err != nil {
		t.Error(err)
	} else {
		release()
	}
	view := model.NewConstant("c", table.Spec(), func() (garner.Tensor, error) { return backwards, nil })
	if got, err := elementsOf(t, view); err != nil || !bytes.Equal(got, reversed) {
		t.Errorf("%d bytes of a view, %v", len(got), err)
	}
	if equal, err := model.EqualPieces(t.Context(), view, constants["in memory"]); err != nil || equal {
		t.Errorf("it equals what is backwards: %v", err)
	}
	words := model.NewConstant("c", garner.SpecOf(garner.String, 1), nil)
	if _, err := elementsOf(t, words); !errors.Is(err, garner.ErrDType) {
		t.Error(err)
	}
	bad := errors.New("it is sparse")
	broken := model.NewConstant("c", table.Spec(), func() (garner.Tensor, error) { return garner.Tensor{}, bad })
	for _, pair := range [][2]*model.Constant{{broken, constants["encoded"]}, {constants["encoded"], broken}} {
		if _, err := model.EqualPieces(t.Context(), pair[0], pair[1]); !errors.Is(err, bad) {
			t.Error(err)
		}
	}
	if err := os.Truncate(path, n); err != nil {
		t.Fatal(err)
	}
	c := inFile()
	if _, err := elementsOf(t, c); !errors.Is(err, source.ErrChanged) {
		t.Error(err)
	}
	c.State, c.More = source.FileState{}, nil // of a reader that does not know it
	c.Size = 2 * n
	if _, err := elementsOf(t, c); !errors.Is(err, source.ErrChanged) {
		t.Error(err)
	}
	if err := os.Remove(path); err != nil {
		t.Fatal(err)
	}
	if _, err := elementsOf(t, c); !errors.Is(err, fs.ErrNotExist) {
		t.Error(err)
	}
}

// TestPiecesWritten writes to a file behind the first piece of a constant: the second one may be of another state, so that
// there is an error at the end, whichever way the elements lie in files.
func TestPiecesWritten(t *testing.T) {
	for _, way := range []string{"a range", "tiles"} {
		c := tile(t, make([]byte, 3<<19), 3<<19, 1)
		state, err := stateOf(c.File)
		if err != nil {
			t.Fatal(err)
		}
		c.State = state
		path := c.File
		if way == "tiles" {
			whole := model.NewConstant("whole", c.Spec, nil)
			whole.SetTiles([]model.Tile{{At: []int{0, 0}, Constant: c}})
			c = whole
		}
		seen := 0
		err = c.Pieces(t.Context(), func(at int64, b []byte) error {
			if seen += len(b); at > 0 {
				return nil
			}
			return errors.Join(os.WriteFile(path, bytes.Repeat([]byte{1}, 3<<19), 0o666), os.Chtimes(path, time.Time{}, time.Now().Add(time.Hour)))
		})
		if seen != 3<<19 || !errors.Is(err, source.ErrChanged) || !strings.Contains(err.Error(), path) {
			t.Errorf("%s: %d bytes, %v", way, seen, err)
		}
	}
}
