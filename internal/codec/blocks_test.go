package codec

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/garner-go/garner/internal/float"
	"github.com/garner-go/garner/internal/guard"
	"github.com/garner-go/garner/internal/kernel"
)

// A table is random Blocks and their operands.
type table struct {
	*Blocks
	codes, scales, zeros []byte
	elements             int
}

// randomTable returns a table of up to four axes, with blocks of every length along each
// of them, and scales and zero points that are broadcast along some.
func randomTable(random *rand.Rand) table {
	pick := func(n ...Number) Number { return n[random.IntN(len(n))] }
	b := &Blocks{
		Codes:  pick(I2, U2, I4, U4, NF4, F4E2M1, I8, U8, F8E4M3FN, F8E5M2, F8E4M3FNUZ, F8E5M2FNUZ),
		Scales: pick(F32, F16, BF16, F8E8M0),
		Out:    pick(F32, F16, BF16),
		Zero:   float32(random.IntN(3)),
	}
	if random.IntN(2) == 0 {
		b.Zeros = pick(b.Codes, U8, F16, F32)
	}
	t := table{Blocks: b, elements: 1}
	b.Axes = make([]Axis, random.IntN(5))
	long := random.IntN(3) == 0
	if long {
		b.Axes = b.Axes[:min(len(b.Axes), 2)]
	}
	scales, zeros := 1, 1
	for k := len(b.Axes) - 1; k >= 0; k-- {
		a := Axis{Extent: 1 + random.IntN(9), Block: 1}
		if random.IntN(2) == 0 {
			a.Block = 1 + random.IntN(5)
		}
		if k == len(b.Axes)-1 && long {
			a.Extent = 1 + random.IntN(2500) // long enough for a kernel
			a.Block = 1 + random.IntN(100)
			if random.IntN(4) > 0 {
				a.Block = 16 << random.IntN(5)
				a.Extent = (a.Extent + a.Block) &^ (a.Block - 1)
			}
		}
		blocks := (a.Extent + a.Block - 1) / a.Block
		if random.IntN(3) > 0 {
			a.Scale = scales
			scales *= blocks
		}
		if random.IntN(3) > 0 {
			a.Zero = zeros
			zeros *= blocks + random.IntN(2) // a row of packed zero points may end with some to spare
		}
		b.Axes[k] = a
		t.elements *= a.Extent
	}
	fill := func(bytes int) []byte {
		p := make([]byte, bytes)
		for i := range p {
			p[i] = byte(random.Uint32())
		}
		return p
	}
	t.codes = fill((t.elements*b.Codes.Bits() + 7) / 8)
	t.scales = fill((scales*b.Scales.Bits() + 7) / 8)
	t.zeros = fill((zeros*b.Zeros.Bits() + 7) / 8)
	specials(random, b.Scales, t.scales)
	specials(random, b.Zeros, t.zeros)
	return t
}

// specials makes every fourth value of an operand of floats infinite, a NaN, a −0, a
// subnormal or 0.
func specials(random *rand.Rand, n Number, b []byte) {
	all := map[Number][]uint32{
		F32:  {0x7f800000, 0xff800000, 0x7fc00001, 0xff800001, 0x80000000, 1, 0x807fffff, 0},
		F16:  {0x7c00, 0xfc00, 0x7e01, 0xfd00, 0x8000, 1, 0x83ff, 0},
		BF16: {0x7f80, 0xff80, 0x7fc1, 0xff81, 0x8000, 1, 0x807f, 0},
	}[n]
	for i := 0; all != nil && i < len(b); i += n.Bits() / 8 {
		if v := all[random.IntN(len(all))]; random.IntN(4) > 0 {
			continue
		} else if n == F32 {
			binary.LittleEndian.PutUint32(b[i:], v)
		} else {
			binary.LittleEndian.PutUint16(b[i:], uint16(v))
		}
	}
}

// value returns the value that stands at a place of an operand, by the package float.
func value(n Number, b []byte, at int) float32 {
	switch n {
	case F32:
		return math.Float32frombits(binary.LittleEndian.Uint32(b[4*at:]))
	case F16, BF16:
		return formats[n].Decode(uint64(binary.LittleEndian.Uint16(b[2*at:])))
	}
	code := uint64(b[at*n.Bits()/8]) >> (at * n.Bits() % 8) & (1<<n.Bits() - 1)
	switch n {
	case I2, I4, I8:
		if code >= 1<<(n.Bits()-1) {
			return float32(int(code) - 1<<n.Bits())
		}
		return float32(code)
	case U2, U4, U8:
		return float32(code)
	case NF4:
		return float.NF4[code]
	case F8E8M0:
		return float32(float.DecodeE8M0(code))
	}
	return formats[n].Decode(code)
}

// plain is the definition of an element (QB.7), of NF4 too (QB.8), from its coordinates
// (QB.9).
func (t table) plain(element int) float32 {
	scale, zero, rest := 0, 0, element
	for k := len(t.Axes) - 1; k >= 0; k-- {
		a := t.Axes[k]
		scale += rest % a.Extent / a.Block * a.Scale
		zero += rest % a.Extent / a.Block * a.Zero
		rest /= a.Extent
	}
	v := value(t.Codes, t.codes, element)
	if f := formats[t.Scales]; t.Codes == NF4 && f != nil {
		v = f.Decode(f.Round(v))
	}
	z := t.Zero
	if t.Zeros != None {
		z = value(t.Zeros, t.zeros, zero)
	}
	v = float32(v - z)
	v = float32(v * value(t.Scales, t.scales, scale))
	if f := formats[t.Out]; f != nil {
		v = f.Decode(f.Round(v))
	}
	return v
}

// guardedCopy returns a copy of a part of an operand that ends at a page without access.
func guardedCopy(t testing.TB, b []byte, s Span) Part {
	p := guard.Bytes(t, int(s.To-s.From))
	copy(p, b[s.From:s.To])
	return Part{Bytes: p, From: s.From}
}

// FuzzBlocks decodes runs of random tables from the parts of the operands that Spans
// names, each at the end of a page, and holds every element against the definition.
func FuzzBlocks(f *testing.F) {
	for seed := range uint64(300) {
		f.Add(seed, uint16(seed*7), uint16(seed*13))
	}
	f.Fuzz(func(t *testing.T, seed uint64, from, length uint16) {
		tab := randomTable(rand.New(rand.NewPCG(seed, 1)))
		first := int(from) % (tab.elements + 1)
		n := int(length) % (tab.elements - first + 1)
		codes, scales, zeros := tab.Spans(first, n)
		dst := guard.Bytes(t, n*tab.Out.Bits()/8)
		parts := [3]Part{guardedCopy(t, tab.codes, codes), guardedCopy(t, tab.scales, scales), guardedCopy(t, tab.zeros, zeros)}
		for _, form := range slices.Backward(decoding()) { // the definition last
			restore := kernel.Use(form)
			before := bytes.Clone(dst)
			tab.Decode(dst, parts[0], parts[1], parts[2], first, n)
			restore()
			if form != decoding()[len(decoding())-1] && !bytes.Equal(dst, before) {
				t.Errorf("%+v: elements %d … %d in form %s are not those of the form above", *tab.Blocks, first, first+n-1, form)
			}
		}
		for i := range n {
			if got, want := value(tab.Out, dst, i), tab.plain(first+i); math.Float32bits(got) != math.Float32bits(want) && (got == got || want == want) {
				t.Fatalf("%+v: element %d is %v, want %v", *tab.Blocks, first+i, got, want)
			}
		}
		whole := make([]byte, len(dst))
		tab.Decode(whole, Part{Bytes: tab.codes}, Part{Bytes: tab.scales}, Part{Bytes: tab.zeros}, first, n)
		if !bytes.Equal(whole, dst) {
			t.Errorf("%+v: elements %d … %d differ between whole operands and parts", *tab.Blocks, first, first+n-1)
		}
	})
}

// FuzzBlockRows holds rows that are decoded many at a time against Decode of each, from
// operands at the end of a page. Rows are whole lines of some of the inner axes.
func FuzzBlockRows(f *testing.F) {
	for seed := range uint64(300) {
		f.Add(seed, uint16(seed*7), uint16(seed*13))
	}
	f.Fuzz(func(t *testing.T, seed uint64, rows, from uint16) { blockRows(t, seed, int(rows), int(from)) })
}

// blockRows reports whether a form decodes the rows many at a time.
func blockRows(t *testing.T, seed uint64, count, from int) (fast bool) {
	random := rand.New(rand.NewPCG(seed, 2))
	tab := randomTable(random)
	if random.IntN(2) == 0 { // values that follow each other as the elements do
		scales, zeros := 1, 1
		for k := len(tab.Axes) - 1; k >= 0; k-- {
			a := &tab.Axes[k]
			if k < len(tab.Axes)-1 {
				a.Block = 1
			} else if a.Extent = 16 * (1 + a.Extent%150); random.IntN(3) > 0 {
				a.Block = 16
			} else {
				a.Block = a.Extent
			}
			a.Scale, a.Zero = scales, zeros
			scales, zeros = scales*(a.Extent/a.Block), zeros*(a.Extent/a.Block)
		}
		tab.elements = 1
		for _, a := range tab.Axes {
			tab.elements *= a.Extent
		}
		fill := func(n Number, values int) []byte {
			b := make([]byte, (values*n.Bits()+7)/8)
			for i := range b {
				b[i] = byte(random.Uint32())
			}
			specials(random, n, b)
			return b
		}
		tab.codes, tab.scales, tab.zeros = fill(tab.Codes, tab.elements), fill(tab.Scales, scales), fill(tab.Zeros, zeros)
	}
	row := 1
	for k := len(tab.Axes) - 1; k >= 0 && (row < 16 || from>>k&1 == 0); k-- {
		row *= tab.Axes[k].Extent
	}
	n, width := row, tab.Out.Bits()/8
	if from%5 == 0 {
		n -= n / 16 * (from % 16) &^ 15
	}
	places, bias := make([]int64, 1+count%40), 0
	if n < row && from%2 == 0 {
		bias = (row - n) * width
	}
	var want []byte
	for j := range places {
		first := random.IntN(tab.elements/row) * row
		places[j] = int64(first * width)
		one := make([]byte, n*width)
		tab.Decode(one, Part{Bytes: tab.codes}, Part{Bytes: tab.scales}, Part{Bytes: tab.zeros}, first+bias/width, n)
		want = append(want, one...)
	}
	var operands [3][]byte
	for k, b := range [3][]byte{tab.codes, tab.scales, tab.zeros} {
		operands[k] = guard.Bytes(t, len(b))
		copy(operands[k], b)
	}
	for _, form := range decoding() {
		restore := kernel.Use(form)
		got := guard.Bytes(t, len(want))
		done := tab.DecodeRows(got, operands[0], operands[1], operands[2], places, bias, n)
		restore()
		if done && !bytes.Equal(got, want) {
			t.Errorf("%+v: %d rows of %d elements in form %s are not those of Decode", *tab.Blocks, len(places), n, form)
		}
		fast = fast || done
	}
	return fast
}

// TestBlockRows holds that rows of the usual forms are decoded many at a time, that those
// of others are not, and that half of random ones are.
func TestBlockRows(t *testing.T) {
	forms := len(decoding()) > 1
	const rows, columns = 5, 128
	table := func(block int, scales, zeros, out Number) *Blocks {
		return &Blocks{Codes: U4, Scales: scales, Zeros: zeros, Out: out, Axes: []Axis{{Extent: rows, Block: 1, Scale: columns / block, Zero: columns / block}, {Extent: columns, Block: block, Scale: 1, Zero: 1}}}
	}
	groups := &Blocks{Codes: U8, Scales: F16, Zeros: U8, Out: F16, Axes: []Axis{{Extent: rows, Block: 1, Scale: 4, Zero: 4}, {Extent: 4, Block: 1, Scale: 1, Zero: 1}, {Extent: 32, Block: 1}}}
	one := &Blocks{Codes: I8, Scales: F32, Out: F32, Axes: []Axis{{Extent: rows, Block: 1}, {Extent: columns, Block: 1}}}
	byColumn := &Blocks{Codes: I8, Scales: F32, Out: F32, Axes: []Axis{{Extent: rows, Block: 1}, {Extent: columns, Block: 1, Scale: 1}}}
	padded := table(32, F32, U4, F32)
	padded.Axes[0].Zero++
	for _, tt := range []struct {
		b    *Blocks
		n    int
		fast bool
	}{
		{table(32, F32, None, F32), columns, true},
		{table(128, F32, None, F32), columns, true},
		{table(16, F32, None, F32), columns, true},
		{table(32, F16, U4, F32), columns, true},
		{table(64, BF16, U8, F16), columns, true},
		{table(32, F32, F32, F32), columns, true},
		{table(32, F32, None, F32), 32, true},
		{groups, columns, true},
		{one, columns, true},
		{table(32, F32, None, F32), 48, false},
		{table(32, F32, None, BF16), columns, false},
		{byColumn, columns, false},
		{padded, columns, false},
	} {
		scales := kernel.Bytes(make([]int64, 8*rows*columns))
		dst := make([]byte, 2*tt.n*tt.b.Out.Bits()/8)
		places := []int64{0, int64(3 * columns * tt.b.Out.Bits() / 8)}
		if fast := tt.b.DecodeRows(dst, make([]byte, rows*columns), scales, scales, places, 0, tt.n); fast != (tt.fast && forms) {
			t.Errorf("%+v: rows of %d elements are decoded many at a time: %v", *tt.b, tt.n, fast)
		}
	}
	fast := 0
	for seed := range uint64(300) {
		if blockRows(t, seed, int(seed), int(seed*13)) {
			fast++
		}
	}
	if fast < 40 && forms {
		t.Errorf("%d of 300 tables are decoded many rows at a time", fast)
	}
}

// TestSpans holds that a row, and a run inside one, reads no more than its own bytes.
func TestSpans(t *testing.T) {
	// int4 [3,17] in blocks of 16, two scales and two zero points of 4 bits a row.
	rows := &Blocks{Codes: I4, Scales: F16, Zeros: U4, Out: F16, Axes: []Axis{{Extent: 3, Block: 1, Scale: 2, Zero: 2}, {Extent: 17, Block: 16, Scale: 1, Zero: 1}}}
	// [2,3,4] with a scale for each of the innermost, and one zero point.
	inner := &Blocks{Codes: U8, Scales: F32, Zeros: U8, Out: F32, Axes: []Axis{{Extent: 2, Block: 1}, {Extent: 3, Block: 1}, {Extent: 4, Block: 1, Scale: 1}}}
	for _, tt := range []struct {
		b                    *Blocks
		first, n             int
		codes, scales, zeros Span
	}{
		{rows, 0, 17, Span{From: 0, To: 9}, Span{From: 0, To: 4}, Span{From: 0, To: 1}},
		{rows, 17, 17, Span{From: 8, To: 17}, Span{From: 4, To: 8}, Span{From: 1, To: 2}},
		{rows, 18, 3, Span{From: 9, To: 11}, Span{From: 4, To: 6}, Span{From: 1, To: 2}},
		{rows, 33, 1, Span{From: 16, To: 17}, Span{From: 6, To: 8}, Span{From: 1, To: 2}},
		{rows, 0, 51, Span{From: 0, To: 26}, Span{From: 0, To: 12}, Span{From: 0, To: 3}},
		{rows, 51, 0, Span{}, Span{}, Span{}},
		{inner, 4, 8, Span{From: 4, To: 12}, Span{From: 0, To: 16}, Span{From: 0, To: 1}},
		{inner, 13, 2, Span{From: 13, To: 15}, Span{From: 4, To: 12}, Span{From: 0, To: 1}},
	} {
		codes, scales, zeros := tt.b.Spans(tt.first, tt.n)
		if codes != tt.codes || scales != tt.scales || zeros != tt.zeros {
			t.Errorf("%d elements from %d on: %v, %v and %v, want %v, %v and %v", tt.n, tt.first, codes, scales, zeros, tt.codes, tt.scales, tt.zeros)
		}
	}
}

// TestBlocksAllocateNothing holds that a run decodes without an allocation.
func TestBlocksAllocateNothing(t *testing.T) { each(t, testBlocksAllocateNothing) }

func testBlocksAllocateNothing(t *testing.T) {
	random := rand.New(rand.NewPCG(7, 7))
	for range 20 {
		tab := randomTable(random)
		dst := make([]byte, 4*tab.elements)
		tab.Decode(dst, Part{Bytes: tab.codes}, Part{Bytes: tab.scales}, Part{Bytes: tab.zeros}, 0, tab.elements)
		if n := testing.AllocsPerRun(5, func() {
			tab.Decode(dst, Part{Bytes: tab.codes}, Part{Bytes: tab.scales}, Part{Bytes: tab.zeros}, 0, tab.elements)
			tab.Spans(0, tab.elements)
		}); n != 0 {
			t.Errorf("%+v: %v allocations", *tab.Blocks, n)
		}
	}
}

// TestNumbers holds the names and the widths of the forms.
func TestNumbers(t *testing.T) {
	for name, bits := range map[string]int{
		"i2": 2, "u2": 2, "i4": 4, "u4": 4, "nf4": 4, "f4e2m1": 4, "i8": 8, "u8": 8, "f8e4m3fn": 8, "f8e5m2": 8, "f8e4m3fnuz": 8, "f8e5m2fnuz": 8, "f8e8m0": 8, "f16": 16, "bf16": 16, "f32": 32,
	} {
		if n, ok := NumberOf(name); !ok || n.String() != name || n.Bits() != bits {
			t.Errorf("%s is %s of %d bits", name, n, n.Bits())
		}
	}
	for _, name := range []string{"", "none", "u1", "i16", "f64", "F32", "string"} {
		if n, ok := NumberOf(name); ok {
			t.Errorf("%q is %s", name, n)
		}
	}
	if s := Number(200).String(); s != "number(200)" {
		t.Errorf("%s", s)
	}
}

// BenchmarkBlocks decodes one row at a time, of a table of one row or of 64 MiB of
// codes.
func BenchmarkBlocks(b *testing.B) {
	for _, c := range []struct {
		codes, scales, zeros, out Number
		block                     int
	}{
		{I4, F32, None, F32, 32}, {U4, F32, U4, F32, 32}, {U4, F16, U4, F32, 32}, {U4, F16, U4, F16, 32},
		{I4, F32, None, F32, 128}, {U4, F32, U4, F32, 128}, {U4, F16, U4, F16, 128}, {U8, F32, U8, F32, 128},
	} {
		for _, elements := range []int{64, 256, 1024, 4096} {
			size := elements * c.codes.Bits() / 8
			for where, total := range map[string]int{"near": size, "far": 64 << 20} {
				rows, each := total/size, max(elements/c.block, 1)
				t := &Blocks{Codes: c.codes, Scales: c.scales, Zeros: c.zeros, Out: c.out, Axes: []Axis{{Extent: rows, Block: 1, Scale: each, Zero: each}, {Extent: elements, Block: min(c.block, elements), Scale: 1, Zero: 1}}}
				name := fmt.Sprintf("codes=%s/scales=%s/zeros=%s/out=%s/block=%d/row=%d/data=%s", c.codes, c.scales, c.zeros, c.out, c.block, elements, where)
				b.Run(name, func(b *testing.B) {
					codes, dst := bytes.Repeat(noise(1, size), rows), make([]byte, 4*elements)
					one := []byte{0, 0x3c}
					if c.scales == F32 {
						one = []byte{0, 0, 0x80, 0x3f}
					}
					scales := bytes.Repeat(one, rows*each)
					for _, form := range decoding() {
						b.Run("form="+form, func(b *testing.B) {
							defer kernel.Use(form)()
							b.SetBytes(int64(4 * elements))
							for k := 0; b.Loop(); k++ {
								i := another(k) % rows
								t.Decode(dst, Part{Bytes: codes}, Part{Bytes: scales}, Part{Bytes: codes}, i*elements, elements)
							}
						})
					}
				})
			}
		}
	}
}

// TestSpansOfNothing holds that codes without rows have no bytes, whatever a program that
// is made before its indices are known asks for.
func TestSpansOfNothing(t *testing.T) {
	b := Blocks{Codes: U8, Scales: F32, Zeros: U8, Out: F32, Axes: []Axis{{Extent: 0, Block: 1, Scale: 2, Zero: 2}, {Extent: 64, Block: 32, Scale: 1, Zero: 1}}}
	for _, s := range spansOf(b.Spans(0, 64)) {
		if s != (Span{}) {
			t.Errorf("%v", s)
		}
	}
}

func spansOf(codes, scales, zeros Span) [3]Span { return [3]Span{codes, scales, zeros} }
