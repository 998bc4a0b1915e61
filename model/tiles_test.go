package model_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/garner-go/garner"
	"github.com/garner-go/garner/internal/cputime"
	"github.com/garner-go/garner/model"
	"github.com/garner-go/garner/source"
)

// tile writes a file of bytes, and gives a constant u8 of a shape that it holds.
func tile(t *testing.T, b []byte, shape ...int) *model.Constant {
	t.Helper()
	path := filepath.Join(t.TempDir(), "tile")
	if err := os.WriteFile(path, b, 0o666); err != nil {
		t.Fatal(err)
	}
	c := model.NewConstant("tile", garner.SpecOf(garner.U8, shape...), nil)
	c.File, c.Size = path, int64(len(b))
	return c
}

// TestTiles reads rows of a constant in three tiles, all of it in pieces, and says which file was changed.
func TestTiles(t *testing.T) {
	left, right, below := tile(t, []byte{0, 1, 5, 6}, 2, 2), tile(t, []byte{2, 3, 4, 7, 8, 9}, 2, 3), tile(t, []byte{10, 11, 12, 13, 14}, 1, 5)
	c := model.NewConstant("whole", garner.SpecOf(garner.U8, 3, 5), nil)
	c.SetTiles([]model.Tile{{At: []int{0, 0}, Constant: left}, {At: []int{0, 2}, Constant: right}, {At: []int{2, 0}, Constant: below}, {At: []int{0, 0}, Constant: tile(t, nil, 0, 5)}})
	a, err := c.Open()
	if err != nil {
		t.Fatal(err)
	}
	dst := make([]byte, 9)
	if err := a.Fetch(t.Context(), source.Rows{At: []int64{0, 6, 8}, Size: 3, Dst: dst}); err != nil || !bytes.Equal(dst, []byte{0, 1, 2, 6, 7, 8, 8, 9, 10}) {
		t.Errorf("%v, %v", dst, err)
	}
	if err := a.Fetch(t.Context(), source.Rows{}); err != nil {
		t.Error(err)
	}
	if err := a.Fetch(t.Context(), source.Rows{At: []int64{13}, Size: 3, Dst: dst[:3]}); !errors.Is(err, garner.ErrShape) {
		t.Errorf("%v", err)
	}
	var all []byte
	if err := c.Pieces(t.Context(), func(_ int64, b []byte) error { all = append(all, b...); return nil }); err != nil || len(all) != 15 || all[9] != 9 || all[14] != 14 {
		t.Errorf("%v, %v", all, err)
	}
	stop := errors.New("stop")
	if err := c.Pieces(t.Context(), func(int64, []byte) error { return stop }); err != stop {
		t.Errorf("%v", err)
	}
	files := a.(interface{ Files() []*source.File }).Files()
	if len(files) != 3 || a.Spec().String() != "u8[3,5]" {
		t.Errorf("%v of %s", files, a.Spec())
	}
	changed := a.(interface{ Changed() error }).Changed
	if err := changed(); err != nil {
		t.Error(err)
	}
	if err := os.WriteFile(right.File, make([]byte, 7), 0o666); err != nil {
		t.Fatal(err)
	}
	if err := changed(); !errors.Is(err, source.ErrChanged) || !strings.Contains(err.Error(), right.File) {
		t.Errorf("%v", err)
	}
	if err := a.Close(); err != nil {
		t.Error(err)
	}
	if err := a.Fetch(t.Context(), source.Rows{At: []int64{0}, Size: 1, Dst: dst[:1]}); !errors.Is(err, fs.ErrClosed) {
		t.Errorf("%v", err)
	}
}

// TestTilesRefused holds what is said of tiles that are no boxes, and of files that are missing.
func TestTilesRefused(t *testing.T) {
	gone := tile(t, []byte{1}, 1, 1)
	if err := os.Remove(gone.File); err != nil {
		t.Fatal(err)
	}
	for _, tt := range []struct {
		spec garner.Spec
		tile model.Tile
		want error
	}{
		{garner.SpecOf(garner.U8, 2), model.Tile{At: []int{0, 0}, Constant: gone}, garner.ErrShape},
		{garner.SpecOf(garner.U8), model.Tile{Constant: tile(t, []byte{1})}, garner.ErrShape},
		{garner.SpecOf(garner.U4, 1, 1), model.Tile{At: []int{0, 0}, Constant: gone}, garner.ErrShape},
		{garner.SpecOf(garner.U8, 1, 1), model.Tile{At: []int{0, 0}, Constant: gone}, fs.ErrNotExist},
	} {
		c := model.NewConstant("whole", tt.spec, nil)
		c.SetTiles([]model.Tile{tt.tile})
		if _, err := c.Open(); !errors.Is(err, tt.want) {
			t.Errorf("%s: %v", tt.spec, err)
		}
		if err := c.Pieces(t.Context(), func(int64, []byte) error { return nil }); !errors.Is(err, tt.want) {
			t.Errorf("%s: %v", tt.spec, err)
		}
	}
}

// TestManyTiles reads rows of a constant in 2 tiles and in 1200, cut along two axes, which have as many parts: the time
// is in proportion to those, and not to all lines for each tile. It ends when its context does.
func TestManyTiles(t *testing.T) {
	const high, side, wide = 100, 600, 2
	dir, want := t.TempDir(), make([]byte, high*side*wide)
	for i := range want {
		want[i] = byte(i * 7 / 3)
	}
	fetch := func(each int) time.Duration { // of so many along the second axis
		path := filepath.Join(dir, fmt.Sprint(each))
		var stored []byte
		var tiles []model.Tile
		for from := 0; from < side; from += each {
			for column := range wide {
				c := model.NewConstant("tile", garner.SpecOf(garner.U8, high, each, 1), nil)
				c.File, c.Offset, c.Size = path, int64(len(stored)), int64(high*each)
				tiles = append(tiles, model.Tile{At: []int{0, from, column}, Constant: c})
				for i := range high {
					for k := range each {
						stored = append(stored, want[(i*side+from+k)*wide+column])
					}
				}
			}
		}
		if err := os.WriteFile(path, stored, 0o666); err != nil {
			t.Fatal(err)
		}
		c := model.NewConstant("whole", garner.SpecOf(garner.U8, high, side, wide), nil)
		c.SetTiles(tiles)
		a, err := c.Open()
		if err != nil {
			t.Fatal(err)
		}
		defer a.Close()
		all := source.Rows{At: []int64{0}, Size: len(want), Dst: make([]byte, len(want))}
		some := source.Rows{Size: wide} // every third line
		for i := 0; i < len(want); i += 3 * wide {
			some.At = append(some.At, int64(i))
		}
		some.Dst = make([]byte, len(some.At)*wide)
		took := cputime.Of(func() {
			for _, ask := range []source.Rows{all, some} {
				if err := a.Fetch(t.Context(), ask); err != nil {
					t.Fatal(err)
				}
			}
		})
		if !bytes.Equal(all.Dst, want) {
			t.Errorf("%d tiles: the whole is another", len(tiles))
		}
		for i, at := range some.At {
			if !bytes.Equal(some.Dst[i*wide:][:wide], want[at:at+wide]) {
				t.Fatalf("%d tiles: row %d is another", len(tiles), i)
			}
		}
		ctx, cancel := context.WithCancel(t.Context())
		cancel()
		if err := a.Fetch(ctx, all); !errors.Is(err, context.Canceled) {
			t.Errorf("%v", err)
		}
		return took
	}
	few, many := fetch(side), fetch(1)
	if t.Logf("%v and %v", few, many); many > 10*few+200*time.Millisecond {
		t.Errorf("2 tiles take %v, and %d take %v", few, side*wide, many)
	}
}
