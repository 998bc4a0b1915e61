package garner_test

import (
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"unsafe"

	"github.com/garner-go/garner"
)

// TestSharesMemory makes a tensor of every element type, reads it back, and
// holds that both slices share memory.
func TestSharesMemory(t *testing.T) {
	wide, unsignedWide := garner.I64, garner.U64
	if math.MaxInt == math.MaxInt32 {
		wide, unsignedWide = garner.I32, garner.U32
	}
	sharesMemory(t, garner.Bool, false, true)
	sharesMemory[int8](t, garner.I8, -1, 2)
	sharesMemory[int16](t, garner.I16, -1, 2)
	sharesMemory[int32](t, garner.I32, -1, 2)
	sharesMemory[int64](t, garner.I64, -1, 2)
	sharesMemory(t, wide, -1, 2)
	sharesMemory[uint8](t, garner.U8, 1, 2)
	sharesMemory[uint16](t, garner.U16, 1, 2)
	sharesMemory[uint32](t, garner.U32, 1, 2)
	sharesMemory[uint64](t, garner.U64, 1, 2)
	sharesMemory[uint](t, unsignedWide, 1, 2)
	sharesMemory[float32](t, garner.F32, 1, 2)
	sharesMemory[float64](t, garner.F64, 1, 2)
	sharesMemory[complex64](t, garner.Complex64, 1, 2i)
	sharesMemory[complex128](t, garner.Complex128, 1, 2i)
	sharesMemory(t, garner.String, "a", "b")
	sharesMemory[garner.Float16](t, garner.F16, 1, 2)
	sharesMemory[garner.BFloat16](t, garner.BF16, 1, 2)
	sharesMemory[garner.Float8E4M3FN](t, garner.F8E4M3FN, 1, 2)
	sharesMemory[garner.Float8E5M2](t, garner.F8E5M2, 1, 2)
	sharesMemory[garner.Float8E4M3FNUZ](t, garner.F8E4M3FNUZ, 1, 2)
	sharesMemory[garner.Float8E5M2FNUZ](t, garner.F8E5M2FNUZ, 1, 2)
	sharesMemory[garner.Float8E8M0](t, garner.F8E8M0, 1, 2)
}

func sharesMemory[T garner.Element](t *testing.T, d garner.DType, a, b T) {
	t.Helper()
	if got := garner.DTypeOf[T](); got != d {
		t.Errorf("%T is %s, want %s", a, got, d)
	}
	values := []T{a, a, a, a, a, b}
	x, err := garner.FromSlice(values, 2, 3)
	if err != nil {
		t.Fatal(err)
	}
	if x.DType() != d || x.Rank() != 2 || x.Len() != 6 || !x.Shape().Equal(garner.Shape{2, 3}) || !slices.Equal(x.Strides(), []int{3, 1}) || x.Offset() != 0 || !x.Contiguous() {
		t.Errorf("a slice of %T became %s", a, x)
	}
	back, err := garner.Values[T](x)
	if err != nil {
		t.Fatal(err)
	}
	if len(back) != 6 || unsafe.SliceData(back) != unsafe.SliceData(values) {
		t.Errorf("%s is not read back in place", d)
	}
	back[0] = b
	if values[0] != b {
		t.Errorf("%s does not share memory", d)
	}
	if d != garner.String {
		bytes, err := x.Bytes()
		if err != nil || len(bytes) != 6*d.Bits()/8 || cap(bytes) != len(bytes) || unsafe.Pointer(unsafe.SliceData(bytes)) != unsafe.Pointer(unsafe.SliceData(values)) {
			t.Errorf("%s: %d bytes (%v)", d, len(bytes), err)
		}
	}

	// A view that begins further in, an empty one, and a clone.
	tail, err := x.Slice(0, 1, 2, 1)
	if err != nil {
		t.Fatal(err)
	}
	if back, err = garner.Values[T](tail); err != nil || len(back) != 3 || back[2] != b || &back[0] != &values[3] {
		t.Errorf("%s: the second row is %v (%v)", d, back, err)
	}
	empty, err := garner.FromSlice([]T(nil), 0, 3)
	if err != nil {
		t.Fatal(err)
	}
	if back, err = garner.Values[T](empty); err != nil || back == nil && d != garner.String || len(back) != 0 {
		t.Errorf("%s: an empty tensor reads back as %v (%v)", d, back, err)
	}
	column, err := x.Slice(1, 2, 3, 1)
	if err != nil {
		t.Fatal(err)
	}
	_, err = garner.Values[T](column)
	checkShapeError(t, err, garner.KindMismatch, "garner: a view with strides [3 1] is not contiguous; Clone it first")
	clone, err := column.Clone()
	if err != nil {
		t.Fatal(err)
	}
	if back, err = garner.Values[T](clone); err != nil || !slices.Equal(back, []T{a, b}) {
		t.Errorf("%s: the clone of a column is %v (%v)", d, back, err)
	}
	back[1] = a
	if values[5] != b {
		t.Errorf("%s: the clone shares memory", d)
	}

	if d != garner.Bool {
		_, err = garner.Values[bool](x)
		if want := fmt.Sprintf("garner: a tensor of %s does not read back as bool", d); !errors.Is(err, garner.ErrDType) || err.Error() != want {
			t.Errorf("%v, want %s", err, want)
		}
	}
}

func TestOfPanics(t *testing.T) {
	defer func() {
		err, _ := recover().(error)
		checkShapeError(t, err, garner.KindMismatch, "garner: a slice of 3 elements is no tensor of shape [2,2], which holds 4")
	}()
	garner.Of([]int64{1, 2, 3}, 2, 2)
}

func TestShapesRefused(t *testing.T) {
	overflowing := []int{math.MaxInt, 2} // the product does not fit an int
	deep := slices.Repeat([]int{1}, garner.MaxRank+1)
	overflows := fmt.Sprintf("garner: shape [%d,2] holds more elements than an int can count", math.MaxInt)
	for _, tt := range []struct {
		shape   []int
		kind    garner.ShapeKind
		message string
	}{
		{deep, garner.KindRank, "garner: a tensor of 65 dimensions; there may be 64"},
		{[]int{2, -1}, garner.KindMismatch, "garner: dimension 1 of shape [2,-1] is negative"},
		{[]int{0, -1}, garner.KindMismatch, "garner: dimension 1 of shape [0,-1] is negative"},
		{overflowing, garner.KindMismatch, overflows},
	} {
		_, err := garner.FromSlice([]int8{1}, tt.shape...)
		checkShapeError(t, err, tt.kind, tt.message)
		_, err = garner.FromBytes(garner.I8, []byte{1}, tt.shape...)
		checkShapeError(t, err, tt.kind, tt.message)
		_, err = garner.FromStrided(garner.I8, []byte{1}, 0, tt.shape, make([]int, len(tt.shape)))
		checkShapeError(t, err, tt.kind, tt.message)
		_, err = garner.New(garner.I8, tt.shape...)
		checkShapeError(t, err, tt.kind, tt.message)
		_, err = garner.Of([]int8{1}).Reshape(tt.shape...)
		checkShapeError(t, err, tt.kind, tt.message)
	}
	// The number of elements fits an int, their size in bytes or bits does not.
	for _, d := range []garner.DType{garner.I16, garner.Complex128, garner.I4} {
		_, err := garner.New(d, math.MaxInt)
		checkShapeError(t, err, garner.KindMismatch, fmt.Sprintf("garner: a tensor %s[%d] has more bytes than an int can count", d, math.MaxInt))
		if _, err = garner.FromBytes(d, []byte{1}, math.MaxInt); !errors.Is(err, garner.ErrShape) {
			t.Errorf("%d elements of %s from one byte: %v", math.MaxInt, d, err)
		}
	}
	// An extent of zero keeps every product small.
	if x, err := garner.New(garner.F64, math.MaxInt, math.MaxInt, 0); err != nil || x.Len() != 0 || !x.Contiguous() {
		t.Errorf("a large empty tensor: %s (%v)", x, err)
	}
	if n, ok := garner.Shape([]int{3, -1}).Len(); ok || n != 0 {
		t.Errorf("shape [3,-1] holds %d", n)
	}
	if n, ok := garner.Shape(overflowing).Len(); ok || n != 0 {
		t.Errorf("an overflowing shape holds %d", n)
	}
	if (garner.Shape{1, 2}).Equal(garner.Shape{1, 3}) || (garner.Shape{1}).Equal(garner.Shape{1, 1}) || !(garner.Shape{}).Equal(nil) {
		t.Error("shapes compare wrongly")
	}
}

func TestFromBytes(t *testing.T) {
	for _, tt := range []struct {
		d     garner.DType
		bytes int
		shape []int
	}{
		{garner.F32, 24, []int{2, 3}},
		{garner.Complex128, 16, nil},
		{garner.U8, 0, []int{3, 0}},
		{garner.U1, 1, []int{8}},
		{garner.U1, 2, []int{3, 3}},
		{garner.I2, 2, []int{5}},
		{garner.NF4, 2, []int{3}},
	} {
		b := make([]byte, tt.bytes, tt.bytes+1)
		x, err := garner.FromBytes(tt.d, b, tt.shape...)
		if err != nil {
			t.Errorf("%s%v of %d bytes: %v", tt.d, tt.shape, tt.bytes, err)
			continue
		}
		back, err := x.Bytes()
		if err != nil || len(back) != len(b) || len(b) > 0 && &back[0] != &b[0] {
			t.Errorf("%s%v: %d bytes come back as %d (%v)", tt.d, tt.shape, len(b), len(back), err)
		}
		for _, wrong := range [][]byte{b[:max(tt.bytes-1, 0)], b[:tt.bytes+1]} {
			if len(wrong) == tt.bytes {
				continue
			}
			_, err := garner.FromBytes(tt.d, wrong, tt.shape...)
			checkShapeError(t, err, garner.KindMismatch, fmt.Sprintf("garner: %d bytes are no %s%s, which takes %d", len(wrong), tt.d, garner.Shape(tt.shape), tt.bytes))
		}
	}
	for _, d := range []garner.DType{garner.String, garner.Invalid, 200} {
		want := fmt.Sprintf("garner: a tensor of %s cannot be made from bytes", d)
		if _, err := garner.FromBytes(d, nil, 0); !errors.Is(err, garner.ErrDType) || err.Error() != want {
			t.Errorf("%v, want %s", err, want)
		}
		if _, err := garner.FromStrided(d, nil, 0, []int{0}, []int{1}); !errors.Is(err, garner.ErrDType) || err.Error() != want {
			t.Errorf("%v, want %s", err, want)
		}
	}
	for _, d := range []garner.DType{garner.Invalid, 200} {
		if _, err := garner.New(d, 1); !errors.Is(err, garner.ErrDType) {
			t.Errorf("New(%s): %v", d, err)
		}
	}
}

func TestOver(t *testing.T) {
	x, err := garner.FromStrided(garner.I8, []byte{1, 2, 3, 4}, 3, []int{2}, []int{-2})
	if err != nil {
		t.Fatal(err)
	}
	b := []byte{5, 6, 7, 8}
	y, err := x.Volatile().Over(b)
	if err != nil || y.Text() != "[8, 6]" || !y.CanVanish() || y.Offset() != 3 {
		t.Errorf("%s, %v", y.Text(), err)
	}
	if b[3] = 9; y.Text() != "[9, 6]" || x.Text() != "[4, 2]" {
		t.Errorf("%s over the memory that was given, %s over its own", y.Text(), x.Text())
	}
	if _, err := x.Over(b[:3]); !errors.Is(err, garner.ErrShape) {
		t.Errorf("3 bytes for 4: %v", err)
	}
	words := garner.Of([]string{"a"}, 1)
	if _, err := words.Over(nil); !errors.Is(err, garner.ErrDType) {
		t.Errorf("strings: %v", err)
	}
}

func TestFromStrided(t *testing.T) {
	b := []byte{0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11}
	for _, tt := range []struct {
		d              garner.DType
		offset         int
		shape, strides []int
		want           string
		contiguous     bool
	}{
		{garner.U8, 0, []int{3, 4}, []int{4, 1}, "[[0, 1, 2, 3], [4, 5, 6, 7], [8, 9, 10, 11]]", true},
		{garner.U8, 0, []int{4, 3}, []int{1, 4}, "[[0, 4, 8], [1, 5, 9], [2, 6, 10], [3, 7, 11]]", false},
		{garner.U8, 11, []int{4}, []int{-3}, "[11, 8, 5, 2]", false},
		{garner.U8, 5, []int{2, 3}, []int{0, 1}, "[[5, 6, 7], [5, 6, 7]]", false},
		{garner.U8, 5, nil, nil, "5", true},
		{garner.U8, 11, []int{1}, []int{1000}, "[11]", true},
		{garner.U16, 5, []int{2}, []int{-5}, "[2826, 256]", false},
		{garner.U4, 2, []int{2, 3}, []int{3, 2}, "[[1, 2, 3], [0, 0, 0]]", false},
		{garner.U4, 23, []int{2}, []int{-1}, "[0, 11]", false},
		{garner.U1, 8, []int{4}, []int{8}, "[1, 0, 1, 0]", false},
		{garner.U8, -99, []int{0, 3}, []int{math.MaxInt, math.MinInt}, "[]", true},
	} {
		x, err := garner.FromStrided(tt.d, b, tt.offset, tt.shape, tt.strides)
		if err != nil {
			t.Errorf("%v by %v: %v", tt.shape, tt.strides, err)
			continue
		}
		if x.Text() != tt.want || x.Contiguous() != tt.contiguous {
			t.Errorf("%v by %v from %d is %s, contiguous %v; want %s, %v", tt.shape, tt.strides, tt.offset, x.Text(), x.Contiguous(), tt.want, tt.contiguous)
		}
	}
	for _, tt := range []struct {
		d              garner.DType
		offset         int
		shape, strides []int
	}{
		{garner.U8, 0, []int{13}, []int{1}},
		{garner.U8, 1, []int{3, 4}, []int{4, 1}},
		{garner.U8, 0, []int{2}, []int{-1}},
		{garner.U8, -1, nil, nil},
		{garner.U8, 12, nil, nil},
		{garner.U16, 6, nil, nil},
		{garner.U4, 24, nil, nil},
		{garner.U1, 95, []int{2}, []int{1}},
		{garner.U8, 0, []int{3}, []int{math.MaxInt}},
		{garner.U8, 0, []int{3}, []int{math.MinInt}},
		{garner.U8, 0, []int{2}, []int{math.MinInt}},
		{garner.U8, math.MaxInt, []int{2}, []int{1}},
		{garner.U8, math.MinInt, []int{2}, []int{-1}},
		{garner.U4, 0, []int{3}, []int{math.MaxInt}},
		{garner.U4, 0, []int{2}, []int{math.MinInt}},
		{garner.U1, math.MaxInt, []int{2}, []int{1}},
	} {
		_, err := garner.FromStrided(tt.d, b, tt.offset, tt.shape, tt.strides)
		checkShapeError(t, err, garner.KindMismatch, fmt.Sprintf("garner: shape %s with strides %v from offset %d reaches outside the 12 bytes given",
			garner.Shape(tt.shape), tt.strides, tt.offset))
	}
	_, err := garner.FromStrided(garner.U8, b, 0, []int{2, 2}, []int{1})
	checkShapeError(t, err, garner.KindRank, "garner: 1 strides for shape [2,2]")
}

// TestDescriptionIsCopied holds that a later change to the shape that a caller
// passed does not change the tensor.
func TestDescriptionIsCopied(t *testing.T) {
	shape, strides := []int{2, 2}, []int{2, 1}
	fromSlice, err := garner.FromSlice([]int8{1, 2, 3, 4}, shape...)
	if err != nil {
		t.Fatal(err)
	}
	strided, err := garner.FromStrided(garner.I8, []byte{1, 2, 3, 4}, 0, shape, strides)
	if err != nil {
		t.Fatal(err)
	}
	reshaped, err := garner.Of([]int8{1, 2, 3, 4}, 4).Reshape(shape...)
	if err != nil {
		t.Fatal(err)
	}
	shape[0], strides[0] = 9, 9
	for _, x := range []garner.Tensor{fromSlice, strided, reshaped} {
		if x.Text() != "[[1, 2], [3, 4]]" {
			t.Errorf("the tensor became %s", x)
		}
	}
}

func TestTranspose(t *testing.T) {
	x := garner.Of([]int32{0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11}, 2, 3, 2)
	for _, tt := range []struct {
		perm []int
		want string
	}{
		{nil, "i32[2,3,2] [[[0, 6], [2, 8], [4, 10]], [[1, 7], [3, 9], [5, 11]]]"},
		{[]int{0, 1, 2}, "i32[2,3,2] [[[0, 1], [2, 3], [4, 5]], [[6, 7], [8, 9], [10, 11]]]"},
		{[]int{1, 0, 2}, "i32[3,2,2] [[[0, 1], [6, 7]], [[2, 3], [8, 9]], [[4, 5], [10, 11]]]"},
	} {
		if got, err := x.Transpose(tt.perm...); err != nil || got.String() != tt.want {
			t.Errorf("transposed by %v: %s (%v), want %s", tt.perm, got, err, tt.want)
		}
	}
	for _, perm := range [][]int{{0, 1, 3}, {0, 1, -1}, {0, 1, 1}} {
		_, err := x.Transpose(perm...)
		checkShapeError(t, err, garner.KindAxis, fmt.Sprintf("garner: %v is no permutation of 3 dimensions", perm))
	}
	_, err := x.Transpose(0)
	checkShapeError(t, err, garner.KindRank, "garner: a permutation of 1 dimensions for a tensor of rank 3")
	if got, err := garner.Of([]int32{7}).Transpose(); err != nil || got.Text() != "7" {
		t.Errorf("a transposed scalar is %s (%v)", got, err)
	}
	// Empty, so in any order at once.
	if got, err := garner.Of([]int32{}, 0, 2, 3).Transpose(0, 2, 1); err != nil || !got.Contiguous() {
		t.Errorf("%s with strides %v is not contiguous (%v)", got, got.Strides(), err)
	} else if b, err := got.Bytes(); err != nil || len(b) != 0 {
		t.Errorf("an empty view has bytes %v (%v)", b, err)
	}
}

func TestSlice(t *testing.T) {
	x := garner.Of([]int8{0, 1, 2, 3, 4, 5, 6}, 7)
	for _, tt := range []struct {
		start, stop, step int
		want              string
	}{
		{0, 7, 1, "[0, 1, 2, 3, 4, 5, 6]"},
		{2, 5, 1, "[2, 3, 4]"},
		{0, 7, 3, "[0, 3, 6]"},
		{1, 7, 3, "[1, 4]"},
		{0, 7, math.MaxInt, "[0]"},
		{3, 3, 1, "[]"},
		{7, 7, 1, "[]"},
		{6, -1, -1, "[6, 5, 4, 3, 2, 1, 0]"},
		{6, -1, -4, "[6, 2]"},
		{5, 1, -2, "[5, 3]"},
		{4, 4, -1, "[]"},
		{6, -1, -math.MaxInt, "[6]"},
	} {
		got, err := x.Slice(0, tt.start, tt.stop, tt.step)
		if err != nil || got.Text() != tt.want {
			t.Errorf("[%d:%d:%d] is %s (%v), want %s", tt.start, tt.stop, tt.step, got.Text(), err, tt.want)
		}
	}
	for _, s := range [][3]int{{0, 8, 1}, {-1, 3, 1}, {3, 2, 1}, {0, 7, 0}, {7, 0, -1}, {2, 3, -1}, {3, -2, -1}, {6, -1, math.MinInt}, {8, 8, 1}} {
		_, err := x.Slice(0, s[0], s[1], s[2])
		checkShapeError(t, err, garner.KindMismatch, fmt.Sprintf("garner: [%d:%d:%d] is no slice of an axis of 7", s[0], s[1], s[2]))
	}
	for _, axis := range []int{-1, 1} {
		_, err := x.Slice(axis, 0, 1, 1)
		checkShapeError(t, err, garner.KindAxis, fmt.Sprintf("garner: axis %d of a tensor of rank 1", axis))
	}

	// A slice of a slice, over two axes, backwards and packed.
	y, err := garner.FromBytes(garner.U4, []byte{0x10, 0x32, 0x54, 0x76, 0x98, 0xba, 0xdc, 0xfe}, 4, 4)
	if err != nil {
		t.Fatal(err)
	}
	y = slicedTwice(t, y)
	if y.Text() != "[[15, 13], [7, 5]]" || y.Offset() != 15 || !slices.Equal(y.Strides(), []int{-8, -2}) {
		t.Errorf("the slice is %s, from %d by %v", y.Text(), y.Offset(), y.Strides())
	}
	row, err := y.Slice(0, 1, 2, 1)
	if err != nil {
		t.Fatal(err)
	}
	again, err := row.Slice(1, 1, -1, -1)
	if err != nil || again.Text() != "[[5, 7]]" {
		t.Errorf("the slice of the slice is %s (%v)", again, err)
	}
}

func slicedTwice(t *testing.T, x garner.Tensor) garner.Tensor {
	t.Helper()
	for axis := range 2 {
		var err error
		if x, err = x.Slice(axis, 3, -1, -2); err != nil {
			t.Fatal(err)
		}
	}
	return x
}

func TestReshape(t *testing.T) {
	x := garner.Of([]int8{0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11}, 3, 4)
	reversed, err := x.Slice(0, 2, -1, -1)
	if err != nil {
		t.Fatal(err)
	}
	transposed, err := x.Transpose()
	if err != nil {
		t.Fatal(err)
	}
	broadcast, err := garner.FromStrided(garner.I8, []byte{7}, 0, []int{2, 3}, []int{0, 0})
	if err != nil {
		t.Fatal(err)
	}
	for _, tt := range []struct {
		x     garner.Tensor
		shape []int
		want  string // "": only with a copy
	}{
		{x, []int{12}, "[0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11]"},
		{x, []int{2, 1, 6}, "[[[0, 1, 2, 3, 4, 5]], [[6, 7, 8, 9, 10, 11]]]"},
		{x, []int{1, 3, 4, 1}, "[[[[0], [1], [2], [3]], [[4], [5], [6], [7]], [[8], [9], [10], [11]]]]"},
		{reversed, []int{3, 2, 2}, "[[[8, 9], [10, 11]], [[4, 5], [6, 7]], [[0, 1], [2, 3]]]"},
		{reversed, []int{12}, ""},
		{reversed, []int{6, 2}, ""},
		{transposed, []int{2, 2, 3}, "[[[0, 4, 8], [1, 5, 9]], [[2, 6, 10], [3, 7, 11]]]"},
		{transposed, []int{3, 4}, ""},
		{broadcast, []int{6}, "[7, 7, 7, 7, 7, 7]"},
		{garner.Of([]int8{5}), []int{1, 1}, "[[5]]"},
		{garner.Of([]int8{5}, 1, 1), nil, "5"},
		{garner.Of([]int8{}, 0, 4), []int{2, 0, 3}, "[[], []]"},
	} {
		got, err := tt.x.Reshape(tt.shape...)
		if tt.want == "" {
			checkShapeError(t, err, garner.KindMismatch, fmt.Sprintf("garner: strides %v of shape %s do not allow a view of shape %s; Clone it first",
				tt.x.Strides(), tt.x.Shape(), garner.Shape(tt.shape)))
			continue
		}
		if err != nil || got.Text() != tt.want {
			t.Errorf("%s as %v is %s (%v), want %s", tt.x, tt.shape, got.Text(), err, tt.want)
		}
	}
	_, err = x.Reshape(3, 5)
	checkShapeError(t, err, garner.KindMismatch, "garner: [3,4] holds 12 elements, [3,5] 15")
}

// TestViewsAgainstCopies walks at random through views, and holds each against
// the same steps on a plain list of elements.
func TestViewsAgainstCopies(t *testing.T) {
	for seed := range uint64(300) {
		rng := rand.New(rand.NewPCG(seed, 0))
		d := []garner.DType{garner.U1, garner.I2, garner.U4, garner.I8, garner.U16, garner.F32, garner.Complex128, garner.String}[rng.IntN(8)]
		shape := make([]int, 1+rng.IntN(4))
		for i := range shape {
			shape[i] = rng.IntN(5)
			if rng.IntN(3) > 0 {
				shape[i]++
			}
		}
		x, err := garner.New(d, shape...)
		if err != nil {
			t.Fatal(err)
		}
		for i := range x.Len() {
			text := fmt.Sprint(rng.IntN(100))
			if d.Packed() {
				text = fmt.Sprint(rng.IntN(2))
				if d == garner.I2 {
					text = "-" + text
				}
			}
			if err := x.SetText(i, text); err != nil {
				t.Fatal(err)
			}
		}
		for range 4 {
			before := x
			var want []string
			switch axis := rng.IntN(max(x.Rank(), 1)); {
			case x.Rank() > 0 && rng.IntN(3) > 0:
				n := x.Shape()[axis]
				from, to, step := 0, n, 1+rng.IntN(3)
				if n > 0 {
					from, to = rng.IntN(n), rng.IntN(n)
					if from > to {
						step = -step
					}
				}
				x, err = x.Slice(axis, from, to, step)
				want = elements(t, before, func(at []int) { at[axis] = from + at[axis]*step }, x.Shape())
			case rng.IntN(2) == 0:
				perm := rng.Perm(x.Rank())
				x, err = x.Transpose(perm...)
				want = elements(t, before, func(at []int) {
					moved := slices.Clone(at)
					for i, p := range perm {
						at[p] = moved[i]
					}
				}, x.Shape())
			default:
				view, refused := x.Reshape(x.Len(), 1)
				if refused != nil {
					if x.Contiguous() {
						t.Fatalf("seed %d: %v", seed, refused)
					}
					if x, err = x.Clone(); err != nil {
						t.Fatal(err)
					}
					if view, err = x.Reshape(x.Len(), 1); err != nil {
						t.Fatal(err)
					}
				}
				x, want = view, elements(t, before, func([]int) {}, before.Shape())
			}
			if err != nil {
				t.Fatalf("seed %d: %v", seed, err)
			}
			if got := elements(t, x, func([]int) {}, x.Shape()); !slices.Equal(got, want) {
				t.Fatalf("seed %d: %s became %s, want %v", seed, before, x, want)
			}
			clone, err := x.Clone()
			if err != nil || !clone.Contiguous() || clone.Text() != x.Text() {
				t.Fatalf("seed %d: %s is cloned to %s (%v)", seed, x, clone, err)
			}
		}
	}
}

// elements are the texts of x at the mapped coordinates of every position of
// shape, in row-major order.
func elements(t *testing.T, x garner.Tensor, mapped func([]int), shape garner.Shape) []string {
	t.Helper()
	n, _ := shape.Len()
	all := make([]string, n)
	for i := range n {
		at := make([]int, len(shape))
		for axis, rest := len(shape)-1, i; axis >= 0; axis-- {
			at[axis], rest = rest%shape[axis], rest/shape[axis]
		}
		mapped(at)
		text, err := x.At(at...)
		if err != nil {
			t.Fatal(err)
		}
		all[i] = text
	}
	return all
}

func TestBytesOfViews(t *testing.T) {
	x, err := garner.FromBytes(garner.U4, []byte{0x10, 0x32, 0x54, 0x76}, 8)
	if err != nil {
		t.Fatal(err)
	}
	even, err := x.Slice(0, 2, 6, 1)
	if err != nil {
		t.Fatal(err)
	}
	if b, err := even.Bytes(); err != nil || !slices.Equal(b, []byte{0x32, 0x54}) {
		t.Errorf("the bytes of a packed view are %x (%v)", b, err)
	}
	odd, err := x.Slice(0, 1, 5, 1)
	if err != nil {
		t.Fatal(err)
	}
	_, err = odd.Bytes()
	checkShapeError(t, err, garner.KindMismatch, "garner: the view begins inside a byte; Clone it first")
	clone, err := odd.Clone()
	if err != nil {
		t.Fatal(err)
	}
	if b, err := clone.Bytes(); err != nil || !slices.Equal(b, []byte{0x21, 0x43}) {
		t.Errorf("the bytes of its clone are %x (%v)", b, err)
	}
	// Bits that belong to no element are zero in new memory.
	odd, err = x.Slice(0, 1, 4, 1)
	if err != nil {
		t.Fatal(err)
	}
	if clone, err = odd.Clone(); err != nil {
		t.Fatal(err)
	}
	if b, err := clone.Bytes(); err != nil || !slices.Equal(b, []byte{0x21, 0x03}) {
		t.Errorf("the bytes of three cloned elements are %x (%v)", b, err)
	}

	var none garner.Tensor
	for _, x := range []garner.Tensor{none, garner.Of([]string{"a"})} {
		if _, err := x.Bytes(); !errors.Is(err, garner.ErrDType) || err.Error() != fmt.Sprintf("garner: a tensor of %s has no bytes", x.DType()) {
			t.Errorf("bytes of %s: %v", x, err)
		}
	}
	if _, err := none.Clone(); !errors.Is(err, garner.ErrDType) {
		t.Errorf("a clone of the zero Tensor: %v", err)
	}

	memory := garner.Of([]uint64{0, 0}, 2)
	b, err := memory.Bytes()
	if err != nil {
		t.Fatal(err)
	}
	skewed, err := garner.FromBytes(garner.F32, b[1:13], 3)
	if err != nil {
		t.Fatal(err)
	}
	_, err = garner.Values[float32](skewed)
	checkShapeError(t, err, garner.KindMismatch, "garner: the memory is not aligned for f32; Clone it first")
	mended, err := skewed.Clone()
	if err != nil {
		t.Fatal(err)
	}
	if v, err := garner.Values[float32](mended); err != nil || len(v) != 3 {
		t.Errorf("the clone reads back as %v (%v)", v, err)
	}
}

func TestNewIsZero(t *testing.T) {
	for _, d := range garner.DTypes() {
		x, err := garner.New(d, 3, 2)
		if err != nil {
			t.Fatal(err)
		}
		zero := map[garner.DType]string{
			garner.Bool: "false", garner.String: `""`, garner.NF4: "-1.0", garner.F8E8M0: "5.877472e-39",
			garner.Complex64: "0.0+0.0i", garner.Complex128: "0.0+0.0i",
		}[d]
		if zero == "" {
			zero = "0"
			if d.IsFloat() {
				zero = "0.0"
			}
		}
		pair := "[" + zero + ", " + zero + "]"
		if want := "[" + pair + ", " + pair + ", " + pair + "]"; x.Text() != want {
			t.Errorf("a new tensor of %s is %s, want %s", d, x.Text(), want)
		}
	}
}

func TestTensorString(t *testing.T) {
	small, err := garner.New(garner.U8, 8, 8)
	if err != nil {
		t.Fatal(err)
	}
	large, err := garner.New(garner.U8, 5, 13)
	if err != nil {
		t.Fatal(err)
	}
	row := "[" + strings.Repeat("0, ", 7) + "0]"
	for _, tt := range []struct {
		x    garner.Tensor
		want string
	}{
		{garner.Tensor{}, "no tensor"},
		{garner.Of([]float32{1.5}), "f32[] 1.5"},
		{garner.Of([]int64{1, 2}, 2), "i64[2] [1, 2]"},
		{small, "u8[8,8] [" + strings.Repeat(row+", ", 7) + row + "]"},
		{large, "u8[5,13]"},
	} {
		if got := tt.x.String(); got != tt.want {
			t.Errorf("prints as %s, want %s", got, tt.want)
		}
	}
	if got := (garner.Tensor{}).Text(); got != "" {
		t.Errorf("the zero Tensor has text %q", got)
	}
}

func TestErrorf(t *testing.T) {
	err := garner.Errorf(garner.ErrAttribute, "no attribute %q", "axes")
	if !errors.Is(err, garner.ErrAttribute) || errors.Is(err, garner.ErrShape) || err.Error() != `garner: no attribute "axes"` {
		t.Error(err)
	}
}

// TestStringOfNothing holds that String summarises a tensor without elements
// that would print as many empty lists.
func TestStringOfNothing(t *testing.T) {
	for _, tt := range []struct {
		shape []int
		want  string
	}{
		{[]int{0}, "f32[0] []"},
		{[]int{2, 0}, "f32[2,0] [[], []]"},
		{[]int{64, 0, 5}, "f32[64,0,5] [" + strings.Repeat("[], ", 63) + "[]]"},
		{[]int{65, 0}, "f32[65,0]"},
		{[]int{1 << 30, 1, 0}, "f32[1073741824,1,0]"},
		{[]int{0, 1 << 30}, "f32[0,1073741824] []"},
	} {
		empty, err := garner.New(garner.F32, tt.shape...)
		if err != nil {
			t.Fatal(err)
		}
		if got := empty.String(); got != tt.want {
			t.Errorf("%v is %.80s, want %.80s", tt.shape, got, tt.want)
		}
	}
}
