package model

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"testing"

	"github.com/garner-go/garner"
	"github.com/garner-go/garner/source"
)

// TestManyTiles reads rows of a constant in 2 tiles and in 1200, cut along two axes. It looks at the lines that each
// tile has, and not at all lines for each tile. It ends when its context does.
func TestManyTiles(t *testing.T) {
	const high, side, wide = 100, 600, 2
	dir, want := t.TempDir(), make([]byte, high*side*wide)
	for i := range want {
		want[i] = byte(i * 7 / 3)
	}
	for _, each := range []int{side, 1} { // of so many along the second axis
		path := filepath.Join(dir, fmt.Sprint(each))
		var stored []byte
		var tiles []Tile
		for from := 0; from < side; from += each {
			for column := range wide {
				c := NewConstant("tile", garner.SpecOf(garner.U8, high, each, 1), nil)
				c.File, c.Offset, c.Size = path, int64(len(stored)), int64(high*each)
				tiles = append(tiles, Tile{At: []int{0, from, column}, Constant: c})
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
		c := NewConstant("whole", garner.SpecOf(garner.U8, high, side, wide), nil)
		c.SetTiles(tiles)
		open, err := c.Open()
		if err != nil {
			t.Fatal(err)
		}
		a := open.(*tiled)
		all := source.Rows{At: []int64{0}, Size: len(want), Dst: make([]byte, len(want))}
		some := source.Rows{Size: wide} // every third line
		for i := 0; i < len(want); i += 3 * wide {
			some.At = append(some.At, int64(i))
		}
		some.Dst = make([]byte, len(some.At)*wide)
		for _, ask := range []source.Rows{all, some} {
			var b parts
			if err := a.fetch(t.Context(), ask, &b); err != nil {
				t.Fatal(err)
			}
			// Each line of a tile once, and one behind the last of each row that the tile has a part of.
			if most := 2*high*side*wide + 2*len(tiles); b.lines > most {
				t.Errorf("%d lines are looked at in %d tiles, which have %d", b.lines, len(tiles), high*side*wide)
			}
		}
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
		a.Close()
	}
}
