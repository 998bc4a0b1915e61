package wire

import (
	"bytes"
	"encoding/binary"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
)

func TestRowsAreShort(t *testing.T) {
	for _, c := range []struct {
		name string
		base int64
		rows Rows
		want []byte
	}{
		{"none", 0, Rows{Size: 4}, []byte{9, 0}},
		{"in units of the size", 1024, Rows{256, []int64{1024, 1280, 2048}}, []byte{0x81, 4, 3, 0, 0, 2}},
		{"in bytes, for one position", 0, Rows{4, []int64{0, 4, 9}}, []byte{8, 3, 0, 3, 4}},
		{"in units of the size, from within one", 1, Rows{4, []int64{4, 12}}, []byte{9, 2, 0, 1}},
		{"bytes", 0, Rows{1, []int64{7, 8}}, []byte{2, 2, 7, 0}},
		{"rows that overlap", 0, Rows{4, []int64{1, 2, 3}}, []byte{8, 3, 1, 0, 0}},
		{"empty rows", 0, Rows{0, []int64{0, 5}}, []byte{0, 2, 0, 4}},
	} {
		if got := c.rows.Append(nil, c.base); !bytes.Equal(got, c.want) {
			t.Errorf("%s: % x, want % x", c.name, got, c.want)
		}
	}
}

// equal reports whether both are the same rows; without rows, nil is empty.
func equal(a, b Rows) bool { return a.Size == b.Size && slices.Equal(a.At, b.At) }

func TestMessagesComeBack(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 2))
	for range 2000 {
		base := rng.Int64N(1 << 40)
		end := base + rng.Int64N(1<<30) + 4096
		r := Rows{Size: rng.IntN(3) * rng.IntN(300)}
		step := int64(1)
		if r.Size > 0 && rng.IntN(2) == 0 {
			step = int64(r.Size)
		}
		for range rng.IntN(20) {
			if at := up(base, step) + rng.Int64N((end-base)/step+1)*step; at <= end-int64(r.Size) {
				r.At = append(r.At, at)
			}
		}
		slices.Sort(r.At)
		r.At = slices.Compact(r.At)

		b := r.Append([]byte("before"), base)[6:]
		got, left, err := ParseRows(append(slices.Clone(b), "behind"...), base, end)
		if err != nil || !equal(got, r) || string(left) != "behind" {
			t.Fatalf("%+v from %d: %+v, %q behind, %v", r, base, got, left, err)
		}
		q := Request{rng.Int64(), r}
		if got, err := ParseRequest(q.Append(nil, base), base, end); err != nil || got.Shard != q.Shard || !equal(got.Rows, r) {
			t.Fatalf("%+v: %+v, %v", q, got, err)
		}
		p := Piece{rng.IntN(maxOperands), r, make([]byte, r.Size*len(r.At))}
		for i := range p.Data {
			p.Data[i] = byte(rng.Uint32())
		}
		if len(r.At) == 0 {
			p = Piece{} // a shard that wants nothing
		}
		if got, err := ParsePiece(p.Append(nil), func(int) int64 { return end }); err != nil ||
			got.Operand != p.Operand || !equal(got.Rows, p.Rows) || !bytes.Equal(got.Data, p.Data) {
			t.Fatalf("%+v: %+v, %v", p, got, err)
		}
	}
}

func TestRowsThatReachTheLastByte(t *testing.T) {
	for _, r := range []Rows{
		{0, []int64{math.MaxInt64}},
		{0, []int64{math.MaxInt64 - 1, math.MaxInt64}},
		{1, []int64{math.MaxInt64 - 1}},
		{255, []int64{0, math.MaxInt64 - 255}},
		{math.MaxInt, nil},
	} {
		got, _, err := ParseRows(r.Append(nil, 0), 0, math.MaxInt64)
		if err != nil || !equal(got, r) {
			t.Errorf("%+v: %+v, %v", r, got, err)
		}
	}
}

func TestDamagedMessages(t *testing.T) {
	u := func(numbers ...uint64) []byte {
		var b []byte
		for _, n := range numbers {
			b = binary.AppendUvarint(b, n)
		}
		return b
	}
	const base, end = 100, 1100
	for _, c := range []struct {
		b    []byte
		want string
	}{
		{nil, "ends in the size of rows"},
		{[]byte{0x80}, "ends in the size of rows"},
		{bytes.Repeat([]byte{0xff}, 11), "the size of rows has more than 64 bits"},
		{u(8), "ends in the number of rows"},
		{u(8, 2, 0), "2 rows in 1 bytes"},
		{u(8, math.MaxUint64, 0), "18446744073709551615 rows in 1 bytes"},
		{u(1, 1, 0), "positions in units of 0 bytes"},
		{u(8, 2, 0, 0x80)[:4], "ends in the position of a row"},
		{u(8, 1, 997), "row 0 of 1, of 4 bytes, outside bytes 100…1099"},
		{u(9, 1, 250), "row 0 of 1, of 4 bytes, outside"},
		{u(9, 2, 249, 0), "row 1 of 2, of 4 bytes, outside"},
		{u(9, 1, math.MaxUint64), "outside"},
		{u(math.MaxUint64, 1, math.MaxUint64), "outside"},
		{u(2*1001, 1, 0), "of 1001 bytes, outside"},
		{u(0, 2, 1000, 0), "row 1 of 2, of 0 bytes, outside"},
	} {
		_, _, err := ParseRows(c.b, base, end)
		if err == nil || !strings.Contains(err.Error(), c.want) || !strings.Contains(err.Error(), "one build") {
			t.Errorf("% x: %v, want %q", c.b, err, c.want)
		}
	}
	if _, _, err := ParseRows(u(0, 2, math.MaxInt64, 0), 0, math.MaxInt64); err == nil || !strings.Contains(err.Error(), "behind byte 9223372036854775807") {
		t.Errorf("a row behind the last: %v", err)
	}
	if _, err := ParseRequest(u(math.MaxUint64, 8, 0), base, end); err == nil || !strings.Contains(err.Error(), "shard 18446744073709551615") {
		t.Errorf("a shard of 64 bits: %v", err)
	}
	if _, err := ParseRequest(u(3, 8, 0, 5), base, end); err == nil || !strings.Contains(err.Error(), "1 bytes behind a request of 0 rows") {
		t.Errorf("bytes behind a request: %v", err)
	}
	two := func(operand int) int64 { return []int64{end, end, -1, -1, -1, -1, -1, -1}[operand] }
	for _, operand := range []uint64{2, maxOperands, math.MaxUint64} {
		if _, err := ParsePiece(u(operand, 8, 0), two); err == nil || !strings.Contains(err.Error(), ": operand ") {
			t.Errorf("operand %d: %v", operand, err)
		}
	}
	for _, data := range []int{0, 3, 5, 8} {
		if _, err := ParsePiece(append(u(0, 8, 1, 0), make([]byte, data)...), two); err == nil || !strings.Contains(err.Error(), "with 1 rows of 4") {
			t.Errorf("%d bytes for a row of 4: %v", data, err)
		}
	}
	if _, err := UnitOf(-1); err == nil {
		t.Error("a negative key is a unit")
	}
}

func TestUnitBytes(t *testing.T) {
	for _, c := range []struct{ array, rows, want int64 }{
		{0, 0, 16 << 20},
		{4_000_000 * 256, 131072, 16 << 20},
		{1 << 40, 1 << 20, 16 << 20},
		{1<<40 + 1<<20, 1 << 20, 32 << 20},
		{10_000_000_000 * 256, 131072, 256 << 20},
		{math.MaxInt64, 0, 256 << 20},
	} {
		if got := UnitBytes(c.array, c.rows); got != c.want {
			t.Errorf("%d bytes, %d rows: %d, want %d", c.array, c.rows, got, c.want)
		}
	}
}

func TestKeys(t *testing.T) {
	for _, u := range []Unit{{}, {2, 0}, {7, 152587}, {7, math.MaxInt64 / maxOperands}} {
		if got, err := UnitOf(u.Key()); err != nil || got != u {
			t.Errorf("%+v: %+v, %v", u, got, err)
		}
	}
	for _, u := range []Unit{{8, 0}, {-1, 0}, {0, -1}, {0, math.MaxInt64/maxOperands + 1}} {
		func() {
			defer func() {
				if recover() == nil {
					t.Errorf("%+v has a key", u)
				}
			}()
			u.Key()
		}()
	}
}

func TestRowsThatDoNotAscendPanic(t *testing.T) {
	for _, at := range [][]int64{{3}, {8, 8}, {12, 8}, {8, 12, 10}} {
		func() {
			defer func() {
				if recover() == nil {
					t.Errorf("%d from 4 was written", at)
				}
			}()
			Rows{4, at}.Append(nil, 4)
		}()
	}
}

func TestCuts(t *testing.T) {
	r := Rows{3, []int64{0, 7, 9, 10, 20, 35, 39}}
	var units []int64
	var at []int64
	for unit, rows := range r.Units(10) {
		units = append(units, unit)
		at = append(at, rows.At...)
		for _, a := range rows.At {
			if a/10 != unit || rows.Size != 3 {
				t.Errorf("unit %d has %+v", unit, rows)
			}
		}
	}
	if !slices.Equal(units, []int64{0, 1, 2, 3}) || !slices.Equal(at, r.At) {
		t.Errorf("units %d of rows at %d", units, at)
	}
	data := []byte("aaabbbcccdddeeefffggg")
	for limit, want := range map[int]int{1: 7, 3: 7, 5: 7, 6: 4, 8: 4, 20: 2, 21: 1, 1 << 20: 1} {
		var at []int64
		var b []byte
		pieces := 0
		for rows, piece := range r.Pieces(data, limit) {
			if len(piece) != 3*len(rows.At) || len(piece) > max(3, limit) {
				t.Errorf("limit %d: %d rows, %q", limit, len(rows.At), piece)
			}
			at, b, pieces = append(at, rows.At...), append(b, piece...), pieces+1
		}
		if pieces != want || !slices.Equal(at, r.At) || !bytes.Equal(b, data) {
			t.Errorf("limit %d: %d pieces, want %d; rows at %d, %q", limit, pieces, want, at, b)
		}
	}
	for rows, piece := range r.Pieces(nil, 6) {
		if piece != nil || len(rows.At) > 2 {
			t.Errorf("without payload: %d rows, %q", len(rows.At), piece)
		}
	}
	for range (Rows{Size: 3}).Units(10) {
		t.Error("no rows have a unit")
	}
	for range (Rows{Size: 3}).Pieces(nil, 10) {
		t.Error("no rows have a piece")
	}
}

// FuzzParse holds that what a Parse accepts lies in its range, ascends, and is
// what Append writes for it.
func FuzzParse(f *testing.F) {
	f.Add([]byte{0x81, 4, 3, 0, 0, 2}, int64(1024), int64(1<<20))
	f.Add([]byte{5, 8, 3, 0, 3, 4}, int64(0), int64(100))
	f.Add([]byte{0, 9, 2, 0, 1, 'a', 'b', 'c', 'd', 'e', 'f', 'g', 'h'}, int64(0), int64(math.MaxInt64))
	f.Fuzz(func(t *testing.T, b []byte, base, end int64) {
		base, end = max(base, 0), max(end, 0)
		hold := func(r Rows, base int64) {
			last := int64(-1)
			for _, at := range r.At {
				if at < base || at > end-int64(r.Size) || at <= last {
					t.Fatalf("%+v of bytes %d…%d", r, base, end-1)
				}
				last = at
			}
		}
		if r, left, err := ParseRows(b, base, end); err == nil {
			hold(r, base)
			if again, _, err := ParseRows(append(r.Append(nil, base), left...), base, end); err != nil || !equal(again, r) {
				t.Fatalf("%+v again: %+v, %v", r, again, err)
			}
		}
		if q, err := ParseRequest(b, base, end); err == nil {
			hold(q.Rows, base)
			if again, err := ParseRequest(q.Append(nil, base), base, end); err != nil || again.Shard != q.Shard || !equal(again.Rows, q.Rows) {
				t.Fatalf("%+v again: %+v, %v", q, again, err)
			}
		}
		ends := func(int) int64 { return end }
		if p, err := ParsePiece(b, ends); err == nil {
			hold(p.Rows, 0)
			if len(p.Data) != p.Rows.Size*len(p.Rows.At) {
				t.Fatalf("%+v", p)
			}
			if len(p.Rows.At) > 0 {
				if again, err := ParsePiece(p.Append(nil), ends); err != nil || again.Operand != p.Operand || !equal(again.Rows, p.Rows) || !bytes.Equal(again.Data, p.Data) {
					t.Fatalf("%+v again: %+v, %v", p, again, err)
				}
			}
		}
	})
}
