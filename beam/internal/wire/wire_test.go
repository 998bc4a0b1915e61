package wire

import (
	"bytes"
	"compress/flate"
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
		q := Request{Shard: rng.Int64(), Rows: r}
		for form, b := range [][]byte{q.Append(nil, base), q.AppendPacked([]byte("before"), base)[6:]} {
			if got, err := ParseRequest(b, base, end); err != nil || got.Shard != q.Shard || got.Derived || !equal(got.Rows, r) {
				t.Fatalf("form %d, %+v: %+v, %v", form, q, got, err)
			}
		}
		q.Rows.At, q.Derived = nil, true
		if got, err := ParseRequest(q.Append(nil, base), base, end); err != nil || got.Shard != q.Shard || !got.Derived || !equal(got.Rows, q.Rows) {
			t.Fatalf("%+v: %+v, %v", q, got, err)
		}
		p := Piece{Unit{rng.IntN(maxOperands), rng.Int64N(1 << 40)}, r.Size + 1, rng.IntN(1 << 30), rng.Uint32(), make([]byte, (r.Size+1)*(1+len(r.At)))}
		for i := range p.Data {
			p.Data[i] = byte(rng.Uint32())
		}
		got2, err := ParsePiece(append([]byte(nil), p.Append(nil)...))
		if err != nil || !samePiece(got2, p) {
			t.Fatalf("%+v: %+v, %v", p, got2, err)
		}
	}
}

func samePiece(a, b Piece) bool {
	return a.Unit == b.Unit && a.Size == b.Size && a.First == b.First && a.Check == b.Check && bytes.Equal(a.Data, b.Data)
}

// TestPacked holds that positions that repeat take few bytes, that those that do not are left as
// they are, and that what unpacks to more than it may is refused.
func TestPacked(t *testing.T) {
	at := make([]int64, 0, 1<<20)
	for row := range int64(1 << 10) {
		for column := range int64(1 << 10) {
			at = append(at, row<<13+column*8+column*column%8)
		}
	}
	q := Request{Shard: 7, Rows: Rows{1, at}}
	plain, packed := q.Append(nil, 0), q.AppendPacked(nil, 0)
	if len(packed) > len(plain)/64 {
		t.Errorf("%d bytes of %d", len(packed), len(plain))
	}
	if got, err := ParseRequest(packed, 0, 1<<40); err != nil || !equal(got.Rows, q.Rows) {
		t.Errorf("%d rows come back: %v", len(got.Rows.At), err)
	}
	q.Rows.At = []int64{3, 700, 1 << 20}
	if plain, packed := q.Append(nil, 0), q.AppendPacked(nil, 0); !bytes.Equal(plain, packed) {
		t.Errorf("%d bytes are packed as %d", len(plain), len(packed))
	}
	large := make([]int64, 3<<20)
	for i := range large {
		large[i] = int64(i) << 8
	}
	if b := (Request{Rows: Rows{1, large}}).AppendPacked(nil, 0); b[1] != formPlain {
		t.Error("more is packed than a reader takes")
	}
}

// TestCheck holds that other rows have another check.
func TestCheck(t *testing.T) {
	seen := make(map[uint32]bool)
	at := []int64{}
	for i := range 2000 {
		at = append(at, int64(3*i))
		seen[Rows{1, at}.Check()] = true
		at[i/2]++
		seen[Rows{1, at}.Check()] = true
	}
	if len(seen) != 4000 {
		t.Errorf("%d checks of 4000", len(seen))
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
	packed := func(rows []byte, n uint64) []byte {
		var out bytes.Buffer
		w, _ := flate.NewWriter(&out, flate.BestSpeed)
		w.Write(rows)
		w.Close()
		return append(u(3, formPacked, n), out.Bytes()...)
	}
	for _, c := range []struct {
		b    []byte
		want string
	}{
		{u(math.MaxUint64, formPlain, 8, 0), "shard 18446744073709551615"},
		{u(3), "ends in the form"},
		{u(3, 9, 8, 0), "form 9"},
		{u(3, formPlain, 8, 0, 5), "1 bytes behind a request of 0 rows"},
		{u(3, formDerived), "ends in the size of rows"},
		{u(3, formDerived, math.MaxUint64), "rows of 18446744073709551615 bytes"},
		{u(3, formDerived, 8, 0), "1 bytes behind a request of derived rows"},
		{u(3, formPacked), "ends in the bytes of compressed rows"},
		{u(3, formPacked, unpackedBytes+1), "4194305 bytes of compressed rows"},
		{u(3, formPacked, 3, 0xff), "compressed rows: "},
		{packed(u(8, 1, 0), 4), "compressed rows: unexpected EOF"},
		{packed(u(8, 1, 0), 2), "more than 2 bytes"},
		{append(packed(u(8, 1, 0), 3), 0), "more than 3 bytes"},
		{packed(make([]byte, 8<<20), unpackedBytes), "more than 4194304 bytes"},
		{packed(u(8, 1, 997), 4), "outside bytes 100…1099"},
	} {
		_, err := ParseRequest(c.b, base, end)
		if err == nil || !strings.Contains(err.Error(), c.want) || !strings.Contains(err.Error(), "one build") {
			t.Errorf("%.20x: %v, want %q", c.b, err, c.want)
		}
	}
	for _, c := range []struct {
		b    []byte
		want string
	}{
		{nil, "ends in the key"},
		{u(0, 4, 0, 1, 1, 1), "ends in the check"},
		{u(math.MaxUint64, 4, 0, 1, 1, 1, 1, 1, 1, 1, 1), "the key of a unit is 18446744073709551615"},
		{u(0, 4, 0, 1, 1, 1, 1), "0 bytes of rows of 4"},
		{u(0, 4, 0, 1, 1, 1, 1, 1, 1, 1), "3 bytes of rows of 4"},
		{u(0, 0, 0, 1, 1, 1, 1, 1), "1 bytes of rows of 0"},
		{u(0, 1, math.MaxInt64, 1, 1, 1, 1, 1), "row 9223372036854775807"},
	} {
		if _, err := ParsePiece(c.b); err == nil || !strings.Contains(err.Error(), c.want) || !strings.Contains(err.Error(), "one build") {
			t.Errorf("% x: %v, want %q", c.b, err, c.want)
		}
	}
	if _, err := UnitOf(-1); err == nil {
		t.Error("a negative key is a unit")
	}
}

func TestUnitBytes(t *testing.T) {
	for _, c := range []struct{ array, rows, request, want int64 }{
		{0, 0, RequestRows, 16 << 20},
		{4_000_000 * 256, 131072, RequestRows, 16 << 20},
		{1 << 40, 1 << 20, RequestRows, 16 << 20},
		{1<<40 + 1<<20, 1 << 20, RequestRows, 32 << 20},
		{10_000_000_000 * 256, 131072, RequestRows, 256 << 20},
		{math.MaxInt64, 0, RequestRows, 256 << 20},
		{1 << 30, 1 << 20, 1 << 15, 32 << 20},
	} {
		if got := UnitBytes(c.array, c.rows, c.request); got != c.want {
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
	for range (Rows{Size: 3}).Units(10) {
		t.Error("no rows have a unit")
	}
	for size, want := range map[int]int{1: PieceBytes, 3: PieceBytes / 3, PieceBytes: 1, PieceBytes + 1: 1} {
		if got := PerPiece(size); got != want {
			t.Errorf("%d rows of %d bytes are a piece, want %d", got, size, want)
		}
	}
}

// FuzzParse holds that what a Parse accepts lies in its range, ascends, and is
// what Append writes for it.
func FuzzParse(f *testing.F) {
	f.Add([]byte{0x81, 4, 3, 0, 0, 2}, int64(1024), int64(1<<20))
	f.Add([]byte{5, 0, 8, 3, 0, 3, 4}, int64(0), int64(100))
	f.Add((Request{Shard: 5, Rows: Rows{1, []int64{0, 3, 6, 9, 12, 15, 18, 21, 24, 27, 30, 33, 36, 39}}}).AppendPacked(nil, 0), int64(0), int64(100))
	f.Add([]byte{5, 2, 8}, int64(0), int64(100))
	f.Add([]byte{0, 4, 2, 0, 1, 0, 0, 'a', 'b', 'c', 'd', 'e', 'f', 'g', 'h'}, int64(0), int64(math.MaxInt64))
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
			for _, b := range [][]byte{q.Append(nil, base), q.AppendPacked(nil, base)} {
				if again, err := ParseRequest(b, base, end); err != nil || again.Shard != q.Shard || again.Derived != q.Derived || !equal(again.Rows, q.Rows) {
					t.Fatalf("%+v again: %+v, %v", q, again, err)
				}
			}
		}
		if p, err := ParsePiece(b); err == nil {
			if len(p.Data) == 0 || len(p.Data)%p.Size != 0 {
				t.Fatalf("%+v", p)
			}
			if again, err := ParsePiece(p.Append(nil)); err != nil || !samePiece(again, p) {
				t.Fatalf("%+v again: %+v, %v", p, again, err)
			}
		}
	})
}
