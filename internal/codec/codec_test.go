package codec

import (
	"bytes"
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"maps"
	"math"
	"math/big"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"testing"

	"github.com/garner-go/garner/internal/float"
	"github.com/garner-go/garner/internal/guard"
	"github.com/garner-go/garner/internal/kernel"
)

// scalesAt lists where a block of each kind has scales and minimums of f16.
var scalesAt = map[string][]int{
	"F16": {0}, "Q4_0": {0}, "Q4_1": {0, 2}, "Q5_0": {0}, "Q5_1": {0, 2}, "Q8_0": {0}, "Q2_K": {80, 82}, "Q3_K": {108}, "Q4_K": {0, 2}, "Q5_K": {0, 2}, "Q6_K": {208},
	"IQ4_NL": {0}, "IQ4_XS": {0}, "TQ1_0": {52}, "TQ2_0": {64},
}

// noise returns n blocks whose bytes follow from their place, as testdata/record.py
// makes them.
func noise(n, size int) []byte {
	b := make([]byte, 0, n*size)
	for i := range uint32(n) {
		for j := range uint32(size) {
			x := i*2654435761 + j*2246822519
			for _, shift := range []int{15, 13, 16} {
				x = (x ^ x>>shift) * 2246822519
			}
			b = append(b, byte(x>>24))
		}
	}
	return b
}

// setScale writes the i-th scale to a block, and a minimum that follows from it.
func setScale(c *Codec, block []byte, i int) {
	scale := uint32(i)
	for _, at := range scalesAt[c.Name] {
		binary.LittleEndian.PutUint16(block[at:], uint16(scale))
		scale = scale*40503 + 12345
	}
}

// everyScale returns 65,536 blocks, of which the i-th has the scale i.
func everyScale(c *Codec) []byte {
	some := noise(509, c.Bytes)
	var b []byte
	for i := range 1 << 16 {
		b = append(b, some[i%509*c.Bytes:][:c.Bytes]...)
		setScale(c, b[i*c.Bytes:], i)
	}
	return b
}

// decoding lists the forms of the kernels that decode, the definition first. AMD64 is
// the definition here, and AVX512VBMI is AVX512.
func decoding() []string {
	return slices.DeleteFunc(kernel.Forms(), func(form string) bool { return form == "AMD64" || form == "AVX512VBMI" })
}

// each runs a test in every form.
func each(t *testing.T, f func(t *testing.T)) {
	for _, form := range decoding() {
		t.Run(form, func(t *testing.T) {
			defer kernel.Use(form)()
			f(t)
		})
	}
}

// TestDigests (QB.2) holds what gguf-py makes of 10,000 random blocks of each kind, and of
// blocks with every scale.
func TestDigests(t *testing.T) { each(t, testDigests) }

func testDigests(t *testing.T) {
	text, err := os.ReadFile(filepath.Join("testdata", "digests.json"))
	if err != nil {
		t.Fatal(err)
	}
	var want map[string]map[string]string
	if err := json.Unmarshal(text, &want); err != nil {
		t.Fatal(err)
	}
	if len(want) != len(gguf) {
		t.Fatalf("%d kinds, want %d", len(want), len(gguf))
	}
	digest := func(c *Codec, src []byte) string {
		dst := make([]byte, len(src)/c.Bytes*c.Elements*4)
		c.Decode(dst, src)
		sum := sha256.Sum256(dst)
		return hex.EncodeToString(sum[:])
	}
	for _, c := range gguf {
		if got := digest(c, noise(10000, c.Bytes)); got != want[c.Name]["random"] {
			t.Errorf("%s: random blocks give %s, want %s", c.Name, got, want[c.Name]["random"])
		}
		if (scalesAt[c.Name] != nil) != (want[c.Name]["scales"] != "") {
			t.Errorf("%s: scales are recorded where there are none, or not where there are", c.Name)
		} else if scalesAt[c.Name] != nil {
			if got := digest(c, everyScale(c)); got != want[c.Name]["scales"] {
				t.Errorf("%s: every scale gives %s, want %s", c.Name, got, want[c.Name]["scales"])
			}
		}
	}
}

// plain has, for each kind with a scale of f16, the numbers of element e of a block: an
// integer q, the integer factors s and t of its scale and its minimum, and their sign.
// The element is (d·s)·q + sign·(m·t). s is 0 where the scale has no factor.
var plain = map[string]func(b []byte, e int) (q, s, t int, sign float32){
	"F16":  func(b []byte, e int) (q, s, t int, sign float32) { return 1, 0, 0, 0 },
	"Q4_0": func(b []byte, e int) (q, s, t int, sign float32) { return bits(b, 16+e%16*8+e/16*4, 4) - 8, 0, 0, 0 },
	"Q4_1": func(b []byte, e int) (q, s, t int, sign float32) { return bits(b, 32+e%16*8+e/16*4, 4), 0, 0, 1 },
	"Q5_0": func(b []byte, e int) (q, s, t int, sign float32) {
		return bits(b, 48+e%16*8+e/16*4, 4) + 16*bits(b, 16+e, 1) - 16, 0, 0, 0
	},
	"Q5_1": func(b []byte, e int) (q, s, t int, sign float32) {
		return bits(b, 64+e%16*8+e/16*4, 4) + 16*bits(b, 32+e, 1), 0, 0, 1
	},
	"Q8_0": func(b []byte, e int) (q, s, t int, sign float32) { return int(int8(b[2+e])), 0, 0, 0 },
	"Q2_K": func(b []byte, e int) (q, s, t int, sign float32) {
		return bits(b, 128+(e/128*32+e%32)*8+e%128/32*2, 2), bits(b, e/16*8, 4) + zero, bits(b, e/16*8+4, 4), -1
	},
	"Q3_K": func(b []byte, e int) (q, s, t int, sign float32) {
		k := e / 16
		s = bits(b, 96*8+k%8*8+k/8*4, 4) + 16*bits(b, 104*8+k%4*8+k/4*2, 2) - 32
		return bits(b, 256+(e/128*32+e%32)*8+e%128/32*2, 2) + 4*bits(b, e%32*8+e/32, 1) - 4, s + zero, 0, 0
	},
	"Q4_K": func(b []byte, e int) (q, s, t int, sign float32) {
		s, t = sixBits(b[4:], e/32)
		return bits(b, 128+(e/64*32+e%32)*8+e%64/32*4, 4), s + zero, t, -1
	},
	"Q5_K": func(b []byte, e int) (q, s, t int, sign float32) {
		s, t = sixBits(b[4:], e/32)
		return bits(b, 48*8+(e/64*32+e%32)*8+e%64/32*4, 4) + 16*bits(b, 128+e%32*8+e/32, 1), s + zero, t, -1
	},
	"Q6_K": func(b []byte, e int) (q, s, t int, sign float32) {
		low := bits(b, (e/128*64+e%64)*8+e%128/64*4, 4)
		return low + 16*bits(b, 128*8+(e/128*32+e%32)*8+e%128/32*2, 2) - 32, int(int8(b[192+e/16])) + zero, 0, 0
	},
	"IQ4_NL": func(b []byte, e int) (q, s, t int, sign float32) {
		return int(iq4[bits(b, 16+e%16*8+e/16*4, 4)]), 0, 0, 0
	},
	"IQ4_XS": func(b []byte, e int) (q, s, t int, sign float32) {
		j := e / 32
		return int(iq4[bits(b, 64+(j*16+e%16)*8+e%32/16*4, 4)]), bits(b, 32+j*4, 4) + 16*bits(b, 16+j*2, 2) - 32 + zero, 0, 0
	},
	"TQ1_0": func(b []byte, e int) (q, s, t int, sign float32) {
		byteAt, digit := e%32, e/32
		switch {
		case e >= 240:
			byteAt, digit = 48+e%4, (e-240)/4
		case e >= 160:
			byteAt, digit = 32+e%16, (e-160)/16
		}
		fraction := int(b[byteAt])
		for range digit {
			fraction = fraction * 3 % 256
		}
		return fraction*3/256 - 1, 0, 0, 0
	},
	"TQ2_0": func(b []byte, e int) (q, s, t int, sign float32) {
		return bits(b, (e/128*32+e%32)*8+e%128/32*2, 2) - 1, 0, 0, 0
	},
}

// zero tells a factor of 0 from none.
const zero = 1 << 20

// bits returns n bits of b from one on.
func bits(b []byte, at, n int) int { return int(b[at/8]) >> (at % 8) & (1<<n - 1) }

// sixBits returns a scale and a minimum of Q4_K and Q5_K.
func sixBits(b []byte, j int) (s, t int) {
	if j < 4 {
		return bits(b, 8*j, 6), bits(b, 8*(j+4), 6)
	}
	return bits(b, 8*(j+4), 4) + 16*bits(b, 8*(j-4)+6, 2), bits(b, 8*(j+4)+4, 4) + 16*bits(b, 8*j+6, 2)
}

// TestEveryScale (QB.3) holds every f16 as a scale against a second formula, element by
// element.
func TestEveryScale(t *testing.T) { each(t, testEveryScale) }

func testEveryScale(t *testing.T) {
	tried := 0
	for _, c := range gguf {
		formula := plain[c.Name]
		if formula == nil {
			if scalesAt[c.Name] != nil {
				t.Errorf("%s has no second formula", c.Name)
			}
			continue
		}
		tried++
		src := everyScale(c)
		dst := make([]byte, c.Elements*4)
		for i := range 1 << 16 {
			b := src[i*c.Bytes:][:c.Bytes]
			c.Decode(dst, b)
			d := float.Float16.Decode(uint64(binary.LittleEndian.Uint16(b[scalesAt[c.Name][0]:])))
			var m float32
			if len(scalesAt[c.Name]) > 1 {
				m = float.Float16.Decode(uint64(binary.LittleEndian.Uint16(b[scalesAt[c.Name][1]:])))
			}
			// Every 29th element: each has its turn in 29 blocks.
			for e := i % 29 % c.Elements; e < c.Elements; e += 29 {
				q, s, minimum, sign := formula(b, e)
				want := d
				if s != 0 {
					want = float32(want * float32(s-zero))
					m := float32(m * float32(minimum))
					want = float32(want * float32(q))
					if sign != 0 {
						want = float32(want - m)
					}
				} else {
					want = float32(want * float32(q))
					if sign != 0 {
						want = float32(want + m)
					}
				}
				if got := single(dst[4*e:]); math.Float32bits(got) != math.Float32bits(want) && (got == got || want == want) {
					t.Fatalf("%s: scale %#x, element %d is %v, want %v", c.Name, i, e, got, want)
				}
			}
		}
	}
	if tried != 15 {
		t.Errorf("%d kinds", tried)
	}
}

// TestScalesOf8Bits tries every scale of MXFP4 (QB.4) and NVFP4 (QB.5).
func TestScalesOf8Bits(t *testing.T) { each(t, testScalesOf8Bits) }

func testScalesOf8Bits(t *testing.T) {
	e2m1 := [16]float64{0, .5, 1, 1.5, 2, 3, 4, 6, 0, -.5, -1, -1.5, -2, -3, -4, -6}
	for code := range 256 {
		power := math.Ldexp(1, code-127)
		scale := math.Ldexp(float64(8+code&7), code>>3&15-10)
		if code&0x78 == 0 {
			scale = math.Ldexp(float64(code&7), -9)
		}
		if code == 127 {
			scale = 0
		}
		mx, nv := make([]byte, 17), make([]byte, 36)
		mx[0], nv[0], nv[1], nv[2], nv[3] = byte(code), byte(code), byte(code), byte(code), byte(code)
		for i := range 32 {
			nv[4+i] = byte(i*9 + i%8*16)
			mx[1+i%16] = byte(i*7 + 3)
		}
		gotMX, gotNV := make([]byte, 4*32), make([]byte, 4*64)
		c, _ := GGUF("MXFP4")
		c.Decode(gotMX, mx)
		c, _ = GGUF("NVFP4")
		c.Decode(gotNV, nv)
		for e := range 32 {
			if want := float32(power * e2m1[bits(mx, 8+e%16*8+e/16*4, 4)]); single(gotMX[4*e:]) != want {
				t.Errorf("MXFP4: scale %d, element %d is %v, want %v", code, e, single(gotMX[4*e:]), want)
			}
		}
		for e := range 64 {
			if want := float32(scale * e2m1[bits(nv, 32+(e/16*8+e%8)*8+e%16/8*4, 4)]); single(gotNV[4*e:]) != want {
				t.Errorf("NVFP4: scale %d, element %d is %v, want %v", code, e, single(gotNV[4*e:]), want)
			}
		}
	}
}

// TestNames (QB.1) holds which names have a codec.
func TestNames(t *testing.T) {
	for _, c := range gguf {
		if got, ok := GGUF(c.Name); !ok || got != c {
			t.Errorf("%s is not found", c.Name)
		}
	}
	for _, name := range []string{"", "q4_0", "F32", "Q8_1", "Q8_K", "Q1_0", "IQ1_S", "IQ1_M", "IQ2_XXS", "IQ2_XS", "IQ2_S", "IQ3_XXS", "IQ3_S"} {
		if c, ok := GGUF(name); ok {
			t.Errorf("%q is %s", name, c.Name)
		}
	}
	for _, n := range []int{-8, 0, 1, 3, 5, 16, 32} {
		if c, ok := Rows(n, 8); ok {
			t.Errorf("rows of %d bits are %s", n, c.Name)
		}
	}
}

// TestRows (QB.6) tries rows whose last byte has codes to spare, and those of no column.
func TestRows(t *testing.T) { each(t, testRows) }

func testRows(t *testing.T) {
	for _, tt := range []struct{ bits, columns, bytes int }{{8, 3, 11}, {4, 3, 6}, {2, 5, 6}, {2, 4, 5}, {8, 0, 8}, {4, 0, 4}, {2, 0, 4}} {
		c, ok := Rows(tt.bits, tt.columns)
		if !ok || c.Bytes != tt.bytes || c.Elements != tt.columns {
			t.Errorf("%d columns of %d bits: %d elements in %d bytes", tt.columns, tt.bits, c.Elements, c.Bytes)
			continue
		}
		src := bytes.Repeat([]byte{0xff}, c.Bytes)
		if tt.bits == 8 {
			put(src[c.Bytes-8:], 0.5)
			put(src[c.Bytes-4:], -3)
		} else {
			binary.LittleEndian.PutUint16(src[c.Bytes-4:], 0x3800)
			binary.LittleEndian.PutUint16(src[c.Bytes-2:], 0xc200)
		}
		dst := make([]byte, 2*4*tt.columns)
		c.Decode(dst, append(src, src...))
		for i := range 2 * tt.columns {
			if want := float32(int(1)<<tt.bits-1)/2 - 3; single(dst[4*i:]) != want {
				t.Errorf("%d bits: %v, want %v", tt.bits, single(dst[4*i:]), want)
			}
		}
	}
}

// TestSum holds sums of rows against their definition, one element after the other: of rows
// and parts of them that begin at any column, with weights and without.
func TestSum(t *testing.T) { each(t, testSum) }

func testSum(t *testing.T) {
	for seed := range uint64(300) {
		r := rand.New(rand.NewPCG(seed, 29))
		bits, columns, rows := []int{8, 4, 2}[r.IntN(3)], 1+r.IntN(150), 1+r.IntN(9)
		c, _ := Rows(bits, columns)
		src := make([]byte, rows*c.Bytes)
		for i := range src {
			src[i] = byte(r.Uint32())
		}
		for end := c.Bytes; end <= len(src); end += c.Bytes {
			if bits == 8 {
				put(src[end-8:], float32(r.NormFloat64()))
				put(src[end-4:], float32(r.NormFloat64()))
			} else {
				binary.LittleEndian.PutUint16(src[end-4:], uint16(0x2c00+r.IntN(0x1800)))
				binary.LittleEndian.PutUint16(src[end-2:], uint16(0xac00+r.IntN(0x1800)))
			}
		}
		first := r.IntN(columns)
		n, total := 1+r.IntN(columns-first), r.IntN(30)
		terms := kernel.Terms{Rows: make([]int64, total), Begin: true, Zero: r.IntN(2) == 0}
		weights := make([]float32, total)
		for j := range weights {
			terms.Rows[j], weights[j] = int64(r.IntN(rows)*c.Bytes), 1
			if seed%2 == 0 {
				weights[j] = float32(r.NormFloat64())
			}
		}
		if seed%2 == 0 {
			terms.Weights = kernel.Bytes(weights)
		}
		middle := int64(r.IntN(total + 1))
		b := kernel.Bags{Ends: []int64{0, middle, int64(total)}, Size: 4 * n, Step: 4*n + 4}
		got := kernel.Bytes(make([]float32, 2*n+1))
		c.Sum(got, src, terms, b, first)
		for bag := range 2 {
			for e := range n {
				want := float32(0)
				if !terms.Zero && b.Ends[bag] < b.Ends[bag+1] {
					want = math.Float32frombits(1 << 31)
				}
				for j := b.Ends[bag]; j < b.Ends[bag+1]; j++ {
					row := src[terms.Rows[j]:][:c.Bytes]
					code := row[(first+e)*bits/8] >> ((first + e) * bits % 8) & (1<<bits - 1)
					number, width := half, 2
					if bits == 8 {
						number, width = single, 4
					}
					scale, bias := float32(number(row[c.Bytes-2*width:])*weights[j]), float32(number(row[c.Bytes-width:])*weights[j])
					exact := new(big.Float).SetPrec(400).SetFloat64(float64(code) * float64(scale))
					inner := float32(want + bias)
					if exact.Add(exact, new(big.Float).SetFloat64(float64(inner))); exact.Sign() != 0 {
						want, _ = exact.Float32()
					} else {
						want = float32(float64(code)*float64(scale) + float64(inner))
					}
				}
				if have := single(got[bag*b.Step+4*e:]); math.Float32bits(have) != math.Float32bits(want) {
					t.Fatalf("seed %d: element %d of bag %d of rows of %d bits is %v, want %v", seed, e, bag, bits, have, want)
				}
			}
		}
	}
}

// TestFused holds fused against exact arithmetic, where the exact sum lies halfway
// between two f32, a little beside, or anywhere.
func TestFused(t *testing.T) {
	random := rand.New(rand.NewPCG(1, 2))
	beside := 0
	for range 300000 {
		code := float32(random.IntN(256))
		scale := math.Float32frombits(random.Uint32()&0x0fffffff | 0x38000000)
		bias := math.Float32frombits(random.Uint32())
		switch random.IntN(3) {
		case 0:
			scale = math.Float32frombits(math.Float32bits(scale) &^ 0x3fff) // products of few bits
			bias = math.Float32frombits(random.Uint32()&0x80ffffff | uint32(random.IntN(0x40))<<24)
		case 1:
			scale, bias = math.Float32frombits(random.Uint32()&0x80ffffff), math.Float32frombits(random.Uint32()&0x80ffffff)
		}
		if bias-bias != 0 {
			continue
		}
		if random.IntN(2) == 0 {
			scale = -scale
		}
		exact := new(big.Float).SetPrec(400).SetFloat64(float64(code) * float64(scale))
		exact.Add(exact, new(big.Float).SetFloat64(float64(bias)))
		want, _ := exact.Float32()
		if twice, _ := exact.Float64(); float32(twice) != want {
			beside++
		}
		if got := fused(code, scale, bias); got != want {
			t.Fatalf("%v·%v + %v is %v, want %v", code, scale, bias, got, want)
		}
	}
	if beside < 20 {
		t.Errorf("only %d sums that f64 rounds to another f32", beside)
	}
	for _, tt := range [][4]uint32{{0, 0x7f800000, 0, indefinite}, {1, 0x7f800000, 0xff800000, indefinite}, {1, 0x7f800001, 0, 0x7fc00001}, {1, 0, 0xffc00007, 0xffc00007}, {2, 0xff800000, 0x3f800000, 0xff800000}, {255, 0x7f7fffff, 0, 0x7f800000}} {
		if got := math.Float32bits(fused(float32(tt[0]), math.Float32frombits(tt[1]), math.Float32frombits(tt[2]))); got != tt[3] {
			t.Errorf("%d·%#x + %#x is %#x, want %#x", tt[0], tt[1], tt[2], got, tt[3])
		}
	}
}

// TestEveryNaN (QB.3) holds that the NaNs of F16 and BF16 keep every bit, signalling ones too.
func TestEveryNaN(t *testing.T) { each(t, testEveryNaN) }

func testEveryNaN(t *testing.T) {
	for _, kind := range []struct {
		name     string
		infinity uint32 // the bits of +∞
		shift    int
	}{{"F16", 0x7c00, 13}, {"BF16", 0x7f80, 16}} {
		c, _ := GGUF(kind.name)
		var src []byte
		var want []uint32
		for h := range uint32(1 << 16) {
			if h&0x7fff > kind.infinity {
				src = binary.LittleEndian.AppendUint16(src, uint16(h))
				want = append(want, h>>15<<31|0x7f800000|(h&0x7fff-kind.infinity)<<kind.shift)
			}
		}
		dst := make([]byte, 2*len(src))
		c.Decode(dst, src)
		for i, bits := range want {
			if got := binary.LittleEndian.Uint32(dst[4*i:]); got != bits {
				t.Fatalf("%s: %#x is %#x, want %#x", kind.name, src[2*i:][:2], got, bits)
			}
		}
	}
}

// TestNaN holds which NaN an operation gives.
func TestNaN(t *testing.T) {
	f := math.Float32frombits
	inf := f(0x7f800000)
	for _, tt := range []struct {
		got  float32
		want uint32
	}{
		{product(f(0x7f800001), 2), 0x7fc00001}, {product(2, f(0xff800002)), 0xffc00002}, {product(f(0xff800001), f(0x7fc00002)), 0xffc00001}, {product(0, -inf), indefinite},
		{sum(f(0x7f800001), 2), 0x7fc00001}, {sum(2, f(0xff800002)), 0xffc00002}, {sum(f(0xffc00001), f(0x7fc00002)), 0xffc00001}, {sum(inf, -inf), indefinite},
		{negative(f(0x7fc00001)), 0x7fc00001}, {negative(f(0xffc00001)), 0xffc00001}, {negative(0), 0x80000000},
	} {
		if got := math.Float32bits(tt.got); got != tt.want {
			t.Errorf("%#x, want %#x", got, tt.want)
		}
	}
}

// codecs are all codecs that a test tries: those of GGUF and some rows.
func codecs() []*Codec {
	all := append([]*Codec(nil), gguf...)
	for _, shape := range [][2]int{{8, 1}, {8, 64}, {8, 67}, {4, 1}, {4, 64}, {4, 67}, {4, 94}, {2, 1}, {2, 64}, {2, 67}} {
		c, _ := Rows(shape[0], shape[1])
		all = append(all, c)
	}
	return all
}

// FuzzDecode decodes any bytes that end, and any that begin, at a page without access.
// What a block gives follows from its bytes alone: not from its neighbours, and not
// from what stands in dst.
func FuzzDecode(f *testing.F) {
	for i := range codecs() {
		f.Add(byte(i), byte(3), []byte("any bytes, repeated"))
		f.Add(byte(i), byte(1), []byte{0xff, 0x7c, 0x00})
	}
	f.Fuzz(func(t *testing.T, kind, n byte, pattern []byte) {
		all := codecs()
		c := all[int(kind)%len(all)]
		blocks := int(n)%5 + 1
		if len(pattern) == 0 {
			return
		}
		src, dst := guard.Bytes(t, blocks*c.Bytes), guard.Bytes(t, blocks*c.Elements*4)
		for i := range src {
			src[i] = pattern[i%len(pattern)] + byte(i/len(pattern))
		}
		before := bytes.Clone(src)
		restore := kernel.Use("Generic")
		c.Decode(dst, src)
		restore()
		definition := bytes.Clone(dst)
		for _, form := range decoding()[1:] {
			restore := kernel.Use(form)
			clear(dst)
			c.Decode(dst, src)
			restore()
			if !bytes.Equal(dst, definition) {
				t.Errorf("%s: %s is not the definition of %x", c.Name, form, src)
			}
		}
		if c.Scattered != nil {
			for _, first := range []int{0, 1, 4, 16, len(pattern) % (c.Elements + 1)} {
				first = min(first, c.Elements)
				n := c.Elements - first
				if first > 0 {
					n -= len(pattern) * 7 % (n + 1)
				}
				at, want := make([]int64, 0, 3*blocks), []byte(nil)
				for i := range 3 * blocks {
					block := (i*2 + len(pattern)) % blocks
					at, want = append(at, int64(block*c.Bytes)), append(want, definition[(block*c.Elements+first)*4:][:n*4]...)
				}
				for _, form := range decoding() {
					got := guard.Bytes(t, len(want))
					restore := kernel.Use(form)
					c.Scattered(got, src, at, first, n)
					restore()
					if !bytes.Equal(got, want) {
						t.Errorf("%s: %s: elements %d … %d of blocks from their places are not the definition of %x", c.Name, form, first, first+n-1, src)
					}
				}
			}
		}
		if each := 1 + len(pattern)%blocks; c.DecodeRows != nil {
			at, want := make([]int64, 0, 3*blocks), []byte(nil)
			for i := range 3 * blocks {
				block := (i*2 + len(pattern)) % (blocks - each + 1)
				at, want = append(at, int64(block*c.Bytes)), append(want, definition[block*c.Elements*4:][:each*c.Elements*4]...)
			}
			for _, form := range decoding() {
				got := guard.Bytes(t, len(want))
				restore := kernel.Use(form)
				c.DecodeRows(got, src, at, each)
				restore()
				if !bytes.Equal(got, want) {
					t.Errorf("%s: %s: rows of %d blocks from their places are not the definition of %x", c.Name, form, each, src)
				}
			}
		}
		if !bytes.Equal(src, before) {
			t.Errorf("%s wrote to its blocks", c.Name)
		}
		alone := bytes.Repeat([]byte{0xa5}, c.Elements*4)
		for i := range blocks {
			c.Decode(alone, src[i*c.Bytes:][:c.Bytes])
			if !bytes.Equal(alone, dst[i*c.Elements*4:][:c.Elements*4]) {
				t.Errorf("%s: block %d of %d decodes to something else alone", c.Name, i, blocks)
			}
		}
	})
}

// TestNoAllocations holds that decoding a row allocates nothing.
func TestNoAllocations(t *testing.T) { each(t, testNoAllocations) }

func testNoAllocations(t *testing.T) {
	for _, c := range codecs() {
		src, dst := noise(4, c.Bytes), make([]byte, 4*c.Elements*4)
		if n := testing.AllocsPerRun(10, func() { c.Decode(dst, src) }); n != 0 {
			t.Errorf("%s: %v allocations", c.Name, n)
		}
	}
}

// another returns the i-th of some numbers in no order.
func another(i int) int {
	x := uint64(i+1) * 0x9e3779b97f4a7c15
	x = (x ^ x>>29) * 0xbf58476d1ce4e5b9
	return int(x >> 20)
}

// BenchmarkDecode decodes one row at a time: of one block, or of 64 to 4096 elements;
// the same row, or any of 256 MiB of codes.
func BenchmarkDecode(b *testing.B) {
	rows := func(bits int) func(elements int) *Codec {
		return func(elements int) *Codec {
			c, _ := Rows(bits, elements)
			return c
		}
	}
	kinds := map[string]func(elements int) *Codec{"rows8": rows(8), "rows4": rows(4), "rows2": rows(2)}
	for _, c := range gguf {
		kinds[c.Name] = func(int) *Codec { return c }
	}
	for _, name := range slices.Sorted(maps.Keys(kinds)) {
		for _, elements := range []int{64, 256, 1024, 4096} {
			c := kinds[name](elements)
			if elements%c.Elements > 0 {
				continue
			}
			size := elements / c.Elements * c.Bytes
			for where, total := range map[string]int{"near": size, "far": 256 << 20} {
				b.Run(fmt.Sprintf("kind=%s/row=%d/data=%s", name, elements, where), func(b *testing.B) {
					pattern := noise(64, c.Bytes)
					for i := range 64 {
						for _, at := range scalesAt[c.Name] {
							copy(pattern[i*c.Bytes+at:], "\x00\x3c") // 1, so that all results are finite
						}
						if c.Name == "MXFP4" {
							pattern[i*c.Bytes] = 128
						}
						if c.Name[0] == 'r' {
							copy(pattern[(i+1)*c.Bytes-8:], "\x00\x00\x80\x3f\x00\x00\x80\x3f")
						}
					}
					src := bytes.Repeat(pattern, total/len(pattern)+1)
					dst, count := make([]byte, 4*elements), total/size
					for _, form := range decoding() {
						b.Run("form="+form, func(b *testing.B) {
							defer kernel.Use(form)()
							b.SetBytes(int64(4 * elements))
							for k := 0; b.Loop(); k++ {
								i := another(k) % count
								c.Decode(dst, src[i*size:][:size])
							}
						})
					}
				})
			}
		}
	}
}
