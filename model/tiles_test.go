package model_test

import (
	"bytes"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/garner-go/garner"
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
