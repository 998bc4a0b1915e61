package blocks

import (
	"bytes"
	"errors"
	"math"
	"testing"

	"github.com/garner-go/garner"
)

func must[T any](v T, err error) T {
	if err != nil {
		panic(err)
	}
	return v
}

// TestEach visits views whose blocks split rows, hold many rows and hold one row,
// and reassembles the blocks.
func TestEach(t *testing.T) {
	for _, d := range []garner.DType{garner.U8, garner.U64} {
		for _, shape := range [][]int{{}, {0, 3}, {5}, {3, 4, 5}, {2, 1 << 21}, {1 << 21, 2}, {3, 1 << 10, 1 << 11}} {
			if n, _ := garner.Shape(shape).Len(); d == garner.U64 && n > 1<<22 {
				continue
			}
			x := must(garner.New(d, shape...))
			b := must(x.Bytes())
			for i := range b {
				b[i] = byte(i*i>>9 + i)
			}
			for name, view := range map[string]garner.Tensor{"whole": x, "transposed": must(x.Transpose())} {
				var got []byte
				if err := Each(view, func(block garner.Tensor) error {
					b, err := block.Bytes()
					if len(b) > size || len(b) == 0 {
						t.Errorf("a block of %d bytes", len(b))
					}
					got = append(got, b...)
					return err
				}); err != nil {
					t.Fatal(err)
				}
				if want := must(must(view.Clone()).Bytes()); !bytes.Equal(got, want) {
					t.Errorf("%s %s: other elements", name, view.Spec())
				}
			}
		}
	}
}

// TestEachPacked begins a view inside a byte.
func TestEachPacked(t *testing.T) {
	x := must(garner.FromBytes(garner.U4, []byte{0x21, 0x43}, 4))
	var got []byte
	if err := Each(must(x.Slice(0, 1, 4, 1)), func(block garner.Tensor) error {
		b, err := block.Bytes()
		got = append(got, b...)
		return err
	}); err != nil || !bytes.Equal(got, []byte{0x32, 0x04}) {
		t.Errorf("%x, %v", got, err)
	}
}

// TestEachStrings counts a string as 16 bytes.
func TestEachStrings(t *testing.T) {
	x := must(garner.New(garner.String, size/16+1))
	var sizes []int
	if err := Each(x, func(block garner.Tensor) error {
		sizes = append(sizes, block.Len())
		return nil
	}); err != nil || len(sizes) != 2 || sizes[0] != size/16 || sizes[1] != 1 {
		t.Errorf("blocks of %d strings, %v", sizes, err)
	}
}

// TestEachStops stops at an error, of f and in a tensor far larger than memory.
func TestEachStops(t *testing.T) {
	broken := errors.New("broken")
	x := must(garner.FromStrided(garner.F64, make([]byte, 8), 0, []int{math.MaxInt / 8, 1}, []int{0, 0}))
	n := 0
	if err := Each(x, func(block garner.Tensor) error {
		if n++; n == 3 {
			return broken
		}
		return nil
	}); err != broken || n != 3 {
		t.Errorf("%v after %d blocks", err, n)
	}
}
