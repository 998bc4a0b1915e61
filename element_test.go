package garner_test

import (
	"errors"
	"math"
	"os"
	"path/filepath"
	"runtime"
	"strconv"
	"strings"
	"testing"

	"github.com/garner-go/garner"
	"github.com/garner-go/garner/internal/guard"
	"github.com/garner-go/garner/internal/mapped"
)

// TestElementAccess reads and writes through a strided view and refuses what
// lies outside.
func TestElementAccess(t *testing.T) {
	base, err := garner.FromBytes(garner.I4, []byte{0x10, 0x32, 0x54}, 2, 3)
	if err != nil {
		t.Fatal(err)
	}
	v, err := base.Transpose()
	if err != nil {
		t.Fatal(err)
	}
	if got := v.Text(); got != "[[0, 3], [1, 4], [2, 5]]" {
		t.Fatalf("the view holds %s", got)
	}
	if got, err := v.At(2, 1); err != nil || got != "5" {
		t.Errorf("element [2,1] is %s (%v)", got, err)
	}
	if err := v.SetText(3, "-8"); err != nil {
		t.Error(err)
	}
	if got := base.Text(); got != "[[0, 1, 2], [3, -8, 5]]" {
		t.Errorf("after writing through the view, the base holds %s", got)
	}
	if got, err := v.Int(3); err != nil || got != (garner.Index{Bits: 1<<64 - 8}) {
		t.Errorf("element 3 is %v (%v)", got, err)
	}

	_, err = v.At(1)
	checkShapeError(t, err, garner.KindRank, "garner: 1 coordinates for a tensor of shape [3,2]; give 2")
	_, err = v.At(1, 2)
	checkShapeError(t, err, garner.KindMismatch, "garner: coordinates [1,2] are outside shape [3,2]: dimension 1 has no position 2")
	_, err = v.At(-1, 0)
	checkShapeError(t, err, garner.KindMismatch, "garner: coordinates [-1,0] are outside shape [3,2]: dimension 0 has no position -1")
	for _, i := range []int{-1, 6, math.MaxInt, math.MinInt} {
		want := "garner: element " + strconv.Itoa(i) + " of a tensor of 6"
		checkShapeError(t, v.SetText(i, "1"), garner.KindMismatch, want)
		_, err = v.Float64(i)
		checkShapeError(t, err, garner.KindMismatch, want)
		_, err = v.Int(i)
		checkShapeError(t, err, garner.KindMismatch, want)
	}

	var none garner.Tensor
	if _, err := none.At(); !errors.Is(err, garner.ErrDType) {
		t.Errorf("At of the zero Tensor: %v", err)
	}
	if err := none.SetText(0, "1"); !errors.Is(err, garner.ErrDType) {
		t.Errorf("SetText of the zero Tensor: %v", err)
	}
	for _, s := range []garner.Tensor{garner.Of([]bool{true}), garner.Of([]string{"1"}), garner.Of([]complex64{1})} {
		if _, err := s.Float64(0); !errors.Is(err, garner.ErrDType) {
			t.Errorf("Float64 of %s: %v", s, err)
		}
		if _, err := s.Int(0); !errors.Is(err, garner.ErrDType) {
			t.Errorf("Int of %s: %v", s, err)
		}
	}
	if _, err := garner.Of([]float32{1}).Int(0); !errors.Is(err, garner.ErrDType) {
		t.Errorf("Int of a float: %v", err)
	}
}

// TestVolatileElements looks at elements of a file that was cut short.
func TestVolatileElements(t *testing.T) {
	guard.Faults(t)
	if runtime.GOOS == "windows" {
		t.Skip("Windows keeps a mapped file from being cut short")
	}
	path := filepath.Join(t.TempDir(), "x")
	if err := os.WriteFile(path, make([]byte, 1<<16), 0o600); err != nil {
		t.Fatal(err)
	}
	file, err := mapped.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	defer file.Close()
	base, err := garner.FromBytes(garner.I32, file.Bytes(), 1<<14)
	if err != nil {
		t.Fatal(err)
	}
	x := base.Volatile()
	if err := x.SetText(0, "1"); !errors.Is(err, garner.ErrFault) || !strings.Contains(err.Error(), "; run again when") {
		t.Errorf("writing what is only to be read: %v", err)
	}
	if got, err := x.Int(5); err != nil || got.Bits != 0 {
		t.Errorf("element 5 is %s (%v)", got, err)
	}
	if err := os.Truncate(path, 0); err != nil {
		t.Fatal(err)
	}
	if got, err := x.At(5); !errors.Is(err, garner.ErrFault) {
		t.Errorf("At gave %q (%v)", got, err)
	}
	if got, err := x.Int(5); !errors.Is(err, garner.ErrFault) {
		t.Errorf("Int gave %s (%v)", got, err)
	}
	if got, err := x.Float64(5); !errors.Is(err, garner.ErrFault) {
		t.Errorf("Float64 gave %v (%v)", got, err)
	}
}

func checkShapeError(t *testing.T, err error, kind garner.ShapeKind, message string) {
	t.Helper()
	var shape *garner.ShapeError
	if !errors.As(err, &shape) || !errors.Is(err, garner.ErrShape) || shape.Kind != kind || err.Error() != message {
		t.Errorf("%v, want a ShapeError of kind %s: %s", err, kind, message)
	}
}
