package garner_test

import (
	"errors"
	"fmt"
	"maps"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/garner-go/garner"
	"github.com/garner-go/garner/strict"
)

// refused holds an error against its class and part of its message.
func refused(t *testing.T, err, class error, message string) {
	t.Helper()
	if err == nil || !errors.Is(err, class) || !strings.HasPrefix(err.Error(), "garner: ") || !strings.Contains(err.Error(), message) {
		t.Errorf("%v\nwant an error of class %q with %q", err, class, message)
	}
}

func TestRows(t *testing.T) {
	x := garner.Of([]int32{0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11}, 2, 3, 2)
	turned, err := x.Transpose(1, 0, 2)
	if err != nil {
		t.Fatal(err)
	}
	back, err := x.Slice(1, 2, -1, -2)
	if err != nil {
		t.Fatal(err)
	}
	one, err := x.Slice(2, 1, 2, 1)
	if err != nil {
		t.Fatal(err)
	}
	vector, err := x.Reshape(12)
	if err != nil {
		t.Fatal(err)
	}
	still, err := garner.FromStrided(garner.I32, make([]byte, 8), 0, []int{3, 2}, []int{0, 1})
	if err != nil {
		t.Fatal(err)
	}
	for _, tt := range []struct {
		name string
		t    garner.Tensor
		want string
	}{
		{"rank 3", x, "map[0:[0 1] 1:[2 3] 2:[4 5] 3:[6 7] 4:[8 9] 5:[10 11]]"},
		{"transposed", turned, "map[0:[0 1] 1:[6 7] 2:[2 3] 3:[8 9] 4:[4 5] 5:[10 11]]"},
		{"backwards", back, "map[0:[4 5] 1:[0 1] 2:[10 11] 3:[6 7]]"},
		{"one element", one, "map[0:[1] 1:[3] 2:[5] 3:[7] 4:[9] 5:[11]]"},
		{"vector", vector, "map[0:[0 1 2 3 4 5 6 7 8 9 10 11]]"},
		{"broadcast", still, "map[0:[0 0] 1:[0 0] 2:[0 0]]"},
		{"no rows", garner.Of([]int32{}, 0, 3), "map[]"},
		{"empty rows", garner.Of([]int32{}, 2, 0), "map[0:[] 1:[]]"},
	} {
		rows, err := garner.Rows[int32](tt.t)
		if err != nil {
			t.Errorf("%s: %v", tt.name, err)
			continue
		}
		for range 2 { // it may be walked again
			if got := fmt.Sprint(maps.Collect(rows)); got != tt.want {
				t.Errorf("%s: %s, want %s", tt.name, got, tt.want)
			}
		}
		copied, err := garner.ToRows[int32](tt.t)
		if err != nil {
			t.Errorf("%s: %v", tt.name, err)
			continue
		}
		if got := fmt.Sprint(maps.Collect(slices.All(copied))); got != tt.want {
			t.Errorf("%s: ToRows is %s, want %s", tt.name, got, tt.want)
		}
	}
	rows, err := garner.Rows[int32](x)
	if err != nil {
		t.Fatal(err)
	}
	for i := range rows {
		if i > 1 {
			t.Fatal("the walk goes on behind a break")
		}
		if i == 1 {
			break
		}
	}
	words, err := garner.Rows[string](garner.Of([]string{"a", "b", "c", "d"}, 2, 2))
	if err != nil {
		t.Fatal(err)
	}
	if got := fmt.Sprint(maps.Collect(words)); got != "map[0:[a b] 1:[c d]]" {
		t.Error(got)
	}
}

// TestRowsShare holds which memory rows share: those of Rows the tensor's, up
// to the row's end; those of ToRows and FromRows none.
func TestRowsShare(t *testing.T) {
	values := []float32{1, 2, 3, 4}
	x := garner.Of(values, 2, 2)
	rows, err := garner.Rows[float32](x)
	if err != nil {
		t.Fatal(err)
	}
	for _, row := range rows {
		row[0] = 9
		_ = append(row, 7)
	}
	if got := fmt.Sprint(values); got != "[9 2 9 4]" {
		t.Error(got)
	}

	copied, err := garner.ToRows[float32](x)
	if err != nil {
		t.Fatal(err)
	}
	copied[0][0] = 5
	_ = append(copied[0], 7)
	if fmt.Sprint(values) != "[9 2 9 4]" || fmt.Sprint(copied) != "[[5 2] [9 4]]" {
		t.Error(values, copied)
	}

	type vector []float32
	from := []vector{{1, 2}, {3, 4}}
	made, err := garner.FromRows(from)
	if err != nil {
		t.Fatal(err)
	}
	from[0][0] = 5
	if made.String() != "f32[2,2] [[1.0, 2.0], [3.0, 4.0]]" {
		t.Error(made)
	}
}

func TestRowsRefused(t *testing.T) {
	x := garner.Of([]int32{0, 1, 2, 3, 4, 5}, 2, 3)
	turned, err := x.Transpose()
	if err != nil {
		t.Fatal(err)
	}
	packed, err := garner.New(garner.I4, 2, 2)
	if err != nil {
		t.Fatal(err)
	}
	// Of four neighbouring addresses one is aligned for an int32.
	bytes, aligned := make([]byte, 11), 0
	for i := range 4 {
		x, err := garner.FromBytes(garner.I32, bytes[i:i+8], 1, 2)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := garner.Rows[int32](x); err == nil {
			aligned++
		} else {
			refused(t, err, garner.ErrShape, "not aligned for i32; Clone it first")
		}
		if rows, err := garner.ToRows[int32](x); err != nil || fmt.Sprint(rows) != "[[0 0]]" {
			t.Errorf("%v, %v", rows, err)
		}
	}
	if aligned != 1 {
		t.Errorf("%d of 4 places are aligned", aligned)
	}
	_, err = garner.Rows[float32](x)
	refused(t, err, garner.ErrDType, "a tensor of i32 has no rows of f32")
	_, err = garner.Rows[int8](packed)
	refused(t, err, garner.ErrDType, "a tensor of i4 has no rows of i8")
	_, err = garner.Rows[int32](garner.Tensor{})
	refused(t, err, garner.ErrDType, "a tensor of invalid has no rows of i32")
	_, err = garner.Rows[int32](garner.Of([]int32{1}))
	refused(t, err, garner.ErrShape, "a tensor of rank 0 has no rows")
	_, err = garner.Rows[int32](turned)
	refused(t, err, garner.ErrShape, "the rows of a view with strides [1 3] have gaps; Clone it first")
	_, err = garner.Rows[int32](garner.Of([]int32{}, math.MaxInt, math.MaxInt, 0))
	refused(t, err, garner.ErrShape, "more rows than an int can count")

	_, err = garner.ToRows[float32](x)
	refused(t, err, garner.ErrDType, "a tensor of i32 has no rows of f32")
	_, err = garner.ToRows[int32](garner.Of([]int32{1}))
	refused(t, err, garner.ErrShape, "a tensor of rank 0 has no rows")
	_, err = garner.ToRows[int32](garner.Of([]int32{}, math.MaxInt, 0))
	refused(t, err, garner.ErrShape, "none of them an element")
	if rows, err := garner.ToRows[int32](turned); err != nil || fmt.Sprint(rows) != "[[0 3] [1 4] [2 5]]" {
		t.Errorf("%v, %v", rows, err)
	}

	_, err = garner.FromRows([][]float32{{1, 2}, {3, 4}, {5}})
	refused(t, err, garner.ErrShape, "row 2 has 1 elements and row 0 has 2")
	if x, err := garner.FromRows([][]float32{}); err != nil || x.String() != "f32[0,0] []" {
		t.Errorf("%v, %v", x, err)
	}
	if x, err := garner.FromRows([][]string{{}, {}}); err != nil || x.String() != "string[2,0] [[], []]" {
		t.Errorf("%v, %v", x, err)
	}
}

// TestLookup holds both paths of Lookup, and LookupRows, against the equivalent
// gather.
func TestLookup(t *testing.T) {
	r := rand.New(rand.NewPCG(3, 4))
	for _, size := range []struct{ rows, width, ids int }{{5, 3, 7}, {1000, 16, 20000}, {3, 1, 0}, {1, 1, 1}} {
		table := make([]float32, size.rows*size.width)
		for i := range table {
			table[i] = r.Float32()
		}
		ids := make([]uint16, size.ids)
		for i := range ids {
			ids[i] = uint16(r.IntN(size.rows))
		}
		data, at := garner.Of(table, size.rows, size.width), garner.Of(ids, len(ids))
		result, err := garner.Gather(strict.Gather{}, data, at)
		if err != nil {
			t.Fatal(err)
		}
		want, err := garner.Values[float32](result)
		if err != nil {
			t.Fatal(err)
		}
		got := make([]float32, len(want))
		if err := garner.Lookup(table, size.width, ids, got); err != nil {
			t.Fatal(err)
		}
		if !slices.Equal(got, want) {
			t.Errorf("%v: Lookup differs from the gather", size)
		}
		rows, err := garner.LookupRows(slices.Collect(slices.Chunk(table, size.width)), ids)
		if err != nil {
			t.Fatal(err)
		}
		if !slices.Equal(slices.Concat(rows...), want) || len(rows) != len(ids) {
			t.Errorf("%v: LookupRows differs from the gather", size)
		}
	}

	words := make([]string, 2)
	if err := garner.Lookup([]string{"a", "b", "c"}, 1, []int8{2, 0}, words); err != nil || fmt.Sprint(words) != "[c a]" {
		t.Error(words, err)
	}
}

// TestLookupNamedIDs looks up ids of types of their own, in few and in many rows.
func TestLookupNamedIDs(t *testing.T) {
	type token int32
	type user uint64
	type byteID uint8
	type short int16
	lookupNamed[token](t)
	lookupNamed[user](t)
	lookupNamed[byteID](t)
	lookupNamed[short](t)
}

func lookupNamed[I garner.Integer](t *testing.T) {
	t.Helper()
	const width = 3
	table := make([]float32, 50*width)
	for i := range table {
		table[i] = float32(i)
	}
	for _, n := range []int{0, 4, 300_000} {
		ids, out := make([]I, n), make([]float32, n*width)
		for i := range ids {
			ids[i] = I(i * 7 % 50)
		}
		if err := garner.Lookup(table, width, ids, out); err != nil {
			t.Fatal(err)
		}
		for i := range out {
			if want := table[i/width*7%50*width+i%width]; out[i] != want {
				t.Fatalf("%T: out[%d] is %v, want %v", ids, i, out[i], want)
			}
		}
		if n > 0 {
			ids[n-1] = 50
			var bad *garner.IndexError
			if err := garner.Lookup(table, width, ids, out); !errors.As(err, &bad) || bad.Position[0] != n-1 {
				t.Errorf("%T: %v", ids, err)
			}
		}
	}
}

// TestLookupBadIDs holds Lookup's error against the gather's, for few and for many rows, which run on all cores.
func TestLookupBadIDs(t *testing.T) {
	table := make([]float32, 40)
	for _, n := range []int{10, 100000} {
		ids := make([]int64, n)
		ids[3], ids[5], ids[7] = -1, 10, math.MinInt64
		_, want := garner.Gather(strict.Gather{}, garner.Of(table, 10, 4), garner.Of(ids, n))
		err := garner.Lookup(table, 4, ids, make([]float32, 4*n))
		refused(t, err, garner.ErrIndex, fmt.Sprintf("indices[3] = -1 is outside axis 0 of data, which has 0…9 (2 more of %d indices are outside)", n))
		if err == nil || want == nil || err.Error() != want.Error() {
			t.Errorf("%v\nthe gather says %v", err, want)
		}
		_, err = garner.LookupRows(slices.Collect(slices.Chunk(table, 4)), ids)
		if err == nil || err.Error() != want.Error() {
			t.Errorf("%v\nthe gather says %v", err, want)
		}
	}
	err := garner.Lookup(table, 4, []uint64{math.MaxUint64}, make([]float32, 4))
	refused(t, err, garner.ErrIndex, "indices[0] = 18446744073709551615 is outside")
	err = garner.Lookup([]float32{}, 4, []int64{0}, make([]float32, 4))
	refused(t, err, garner.ErrIndex, "indices[0] = 0 is outside axis 0 of data, which is empty")
	_, err = garner.LookupRows([][]int{}, []int{0})
	refused(t, err, garner.ErrIndex, "which is empty")
}

func TestLookupRefused(t *testing.T) {
	table, ids := make([]int32, 12), []int32{0, 1}
	err := garner.Lookup(table, 0, ids, nil)
	refused(t, err, garner.ErrShape, "rows of 0 elements")
	err = garner.Lookup(table, -3, ids, nil)
	refused(t, err, garner.ErrShape, "rows of -3 elements")
	err = garner.Lookup(table, 5, ids, make([]int32, 10))
	refused(t, err, garner.ErrShape, "a table of 12 elements holds no whole number of rows of 5")
	for _, n := range []int{0, 7, 4, 12} {
		err = garner.Lookup(table, 4, ids, make([]int32, n))
		refused(t, err, garner.ErrShape, fmt.Sprintf("2 ids ask for as many rows of 4 elements, and out holds %d elements", n))
	}
	err = garner.Lookup(table, 4, ids, table[4:])
	refused(t, err, garner.ErrOverlap, "shares memory")
	err = garner.Lookup(table, 1, ids, ids)
	refused(t, err, garner.ErrOverlap, "shares memory")
	// Neighbours in one array do not overlap.
	if err := garner.Lookup(table[:8], 4, ids[:1], table[8:]); err != nil {
		t.Error(err)
	}

	// Rows that share memory can hold more elements than memory does.
	empty := make([]struct{}, math.MaxInt)
	_, err = garner.LookupRows([][]struct{}{empty}, []int{0, 0})
	refused(t, err, garner.ErrShape, "more elements than an int can count")
}

// TestLookupRowsShare holds that the rows of the result share no memory.
func TestLookupRowsShare(t *testing.T) {
	table := [][]int{{1, 2}, {3}, {}}
	out, err := garner.LookupRows(table, []uint8{1, 0, 2, 1})
	if err != nil || fmt.Sprint(out) != "[[3] [1 2] [] [3]]" {
		t.Fatal(out, err)
	}
	out[0][0] = 9
	_ = append(out[0], 7)
	if fmt.Sprint(table, out) != "[[1 2] [3] []] [[9] [1 2] [] [3]]" {
		t.Error(table, out)
	}
}

func TestLookupAllocatesNothing(t *testing.T) {
	table, ids, out := make([]float32, 1000*384), []int32{5, 999, 0, 5}, make([]float32, 4*384)
	if n := testing.AllocsPerRun(50, func() {
		if err := garner.Lookup(table, 384, ids, out); err != nil {
			t.Fatal(err)
		}
	}); n != 0 {
		t.Errorf("%v allocations", n)
	}
}

func TestFromMatrix(t *testing.T) {
	data := []float64{1, 2, -1, 3, 4, -1, 5, 6} // the last row has no gap behind it
	m, err := garner.FromMatrix(data, 3, 2, 3)
	if err != nil || m.String() != "f64[3,2] [[1.0, 2.0], [3.0, 4.0], [5.0, 6.0]]" {
		t.Fatal(m, err)
	}
	// A gather into a part of a matrix leaves the rest unchanged.
	out := slices.Repeat([]float64{7}, 8)
	part, err := garner.FromMatrix(out[1:], 2, 2, 4)
	if err != nil {
		t.Fatal(err)
	}
	if err := garner.GatherInto(t.Context(), strict.Gather{}, m, garner.Of([]int{2, 0}, 2), part); err != nil {
		t.Fatal(err)
	}
	if got := fmt.Sprint(out); got != "[7 5 6 7 7 1 2 7]" {
		t.Error(got)
	}

	for _, tt := range []struct{ rows, cols, stride int }{{0, 0, 0}, {0, 5, 0}, {3, 0, 0}, {8, 1, 1}, {1, 8, 8}, {2, 4, 4}, {1, 8, 1 << 30}} {
		m, err := garner.FromMatrix(data, tt.rows, tt.cols, tt.stride)
		if err != nil || !m.Shape().Equal(garner.Shape{tt.rows, tt.cols}) {
			t.Errorf("%v: %v, %v", tt, m, err)
			continue
		}
		if _, err := m.Clone(); err != nil {
			t.Errorf("%v: %v", tt, err)
		}
	}
	for _, tt := range []struct {
		rows, cols, stride int
		message            string
	}{
		{3, 3, 3, "8 elements are no matrix of 3 rows and 3 columns with a stride of 3"},
		{3, 2, 1, "with a stride of 1: the stride is the columns or more"},
		{2, 2, -2, "with a stride of -2"},
		{1, 9, 9, "8 elements are no matrix of 1 rows"},
		{2, 1, math.MaxInt, "8 elements are no matrix"},
		{3, 1, math.MaxInt, "8 elements are no matrix"},
		{-1, 2, 2, "dimension 0 of shape [-1,2] is negative"},
		{2, -2, 2, "dimension 1 of shape [2,-2] is negative"},
	} {
		_, err := garner.FromMatrix(data, tt.rows, tt.cols, tt.stride)
		refused(t, err, garner.ErrShape, tt.message)
	}
}
