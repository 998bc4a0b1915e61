package kernel

import (
	"math"
	"unsafe"
)

// A Stored is a way to store blocks of numbers that Decode knows. Package codec has
// the definition of each.
type Stored uint8

// The names are those of package codec's functions. Nibbles is the kinds of 32 codes
// of 4 bits behind a scale of f16: the low halves of the bytes first.
const (
	Nibbles Stored = iota
	MXFP4
	Q8_0
	Q4_K
	Q5_K
	Q6_K
)

// stored has the elements and the bytes of a block.
var stored = [...]struct{ elements, bytes int }{
	Nibbles: {32, 18}, MXFP4: {32, 17}, Q8_0: {32, 34}, Q4_K: {256, 144}, Q5_K: {256, 176}, Q6_K: {256, 210},
}

// powers has the scale of MXFP4 of each exponent.
var powers = func() (p [256]float32) {
	for e := range p {
		p[e] = float32(math.Ldexp(1, e-128))
	}
	return p
}()

// decodedMost is the most bytes that a call of assembly decodes: it cannot be
// interrupted.
const decodedMost = 1 << 20

// Decode writes the elements of the blocks in src to dst as f32, as far as a form in
// assembly does so, and returns how many blocks those are: all, or 0 without such a
// form. values has the values of the codes of Nibbles and MXFP4. Decode panics if dst is shorter than the elements.
func Decode(kind Stored, values *[16]int8, dst, src []byte) (blocks int) {
	f := decodeForm(kind)
	if f == nil {
		return 0
	}
	size := stored[kind]
	n := len(src) / size.bytes
	out := 4 * size.elements
	_ = dst[: n*out : n*out]
	for blocks < n {
		some := min(n-blocks, decodedMost/out)
		f.call(&decodeArgs{dst: &dst[blocks*out], src: &src[blocks*size.bytes], n: some, values: values, powers: &powers})
		blocks += some
	}
	return blocks
}

// decodeArgs are the arguments of a decodeFunc.
type decodeArgs struct {
	dst, src *byte
	n        int           // blocks, 1 or more
	values   *[16]int8     // of the codes of Nibbles and MXFP4
	powers   *[256]float32 // the scales of MXFP4 by their exponents
}

// A decodeFunc is a form of Decode in assembly.
type decodeFunc func(*decodeArgs)

func (f decodeFunc) call(a *decodeArgs) { f(noescape(a)) }

// Affine decodes rows of FBGEMM, which lie at the given places of src: n codes of bits
// bits, 8 or 4, the first in the lowest bits of a byte; then a scale and a bias, of f32
// or, for codes of 4 bits, of f16. Of each row it writes the first n/16·16 elements as
// f32, code·scale + bias rounded once, and the row after it goes 4n bytes behind. It
// returns how many rows those are: those before the first whose scale or bias is not
// finite, or none without a form in assembly. It panics if dst or src is shorter.
func Affine(dst, src []byte, at []int64, n, bits int) (rows int) {
	f := affineForm(bits)
	if f == nil || n < 16 || len(at) == 0 {
		return 0
	}
	codes, tail := (n*bits+7)/8, bits
	last := int64(len(src) - codes - tail)
	for _, at := range at {
		if at < 0 || at > last {
			panic("kernel: a row outside src")
		}
	}
	_ = dst[:4*n*len(at)]
	a := affineArgs{dst: &dst[0], src: &src[0], codes: codes, touched: min(codes+tail, affineTouched), n: n &^ 15, step: 4 * n}
	for rows < len(at) {
		a.dst, a.at, a.rows = &dst[4*n*rows], &at[rows], min(len(at)-rows, max(decodedMost/(4*n), 1))
		done := f.call(&a)
		if rows += done; done < a.rows {
			break
		}
	}
	return rows
}

const (
	affineAhead   = 8       // the prefetch distance in rows
	affineTouched = 1 << 10 // of a row up to so many bytes are prefetched; then the processor has found the sequence
)

// affineArgs are the arguments of an affineFunc.
type affineArgs struct {
	dst, src *byte
	at       *int64 // where the rows lie in src
	rows     int    // 1 or more
	codes    int    // bytes of the codes of a row
	touched  int    // bytes of a row that are prefetched
	n        int    // elements of a row that are decoded, a positive multiple of 16
	step     int    // bytes from one row in dst to the next
}

// An affineFunc is a form of Affine in assembly.
type affineFunc func(*affineArgs) int

func (f affineFunc) call(a *affineArgs) int { return f(noescape(a)) }

// Runs are runs of codes that share a scale and a zero point, for Scale.
type Runs struct {
	Bits    int // of a code: 8 or 4, of 4 the first in the lowest bits of a byte
	Signed  bool
	Values  *[256]float32 // of the codes, the first 16 of them for codes of 4 bits; those of 8 bits are integers
	Length  int           // codes of a run, a multiple of 16
	Scales  []float32     // of all runs, or one
	Zeros   []float32     // of all runs, or one
	Float16 bool          // write f16, not f32
}

// Fast reports whether a form in assembly scales such runs. Of r it takes Bits, Signed
// and Float16.
func (r *Runs) Fast() bool { return scaleForm(r.Bits, r.Signed, r.Float16) != nil }

// Scale writes (code − zero)·scale for every code of n runs, each operation rounded to
// f32, and then rounded to f16 if that is asked for. It panics if r is not Fast, or an
// operand is too short.
func Scale(dst, codes []byte, n int, r Runs) {
	if r.Length%16 != 0 {
		panic("kernel: a run is no multiple of 16")
	}
	if n == 0 || r.Length == 0 {
		return
	}
	width := 4
	if r.Float16 {
		width = 2
	}
	_, _ = dst[:n*r.Length*width], codes[:n*r.Length*r.Bits/8]
	a := scaleArgs{dst: &dst[0], src: &codes[0], runs: n, length: r.Length, scales: &r.Scales[0], zeros: &r.Zeros[0], values: r.Values}
	if len(r.Scales) > 1 {
		_, a.scaleStep = r.Scales[:n], int(unsafe.Sizeof(r.Scales[0]))
	}
	if len(r.Zeros) > 1 {
		_, a.zeroStep = r.Zeros[:n], int(unsafe.Sizeof(r.Zeros[0]))
	}
	scaleForm(r.Bits, r.Signed, r.Float16).call(&a)
}

// scaleArgs are the arguments of a scaleFunc.
type scaleArgs struct {
	dst, src      *byte
	runs          int // 1 or more
	length        int // of a run, a positive multiple of 16
	scales, zeros *float32
	// From a run's scale and zero point to the next, in bytes: 4, or 0.
	scaleStep, zeroStep int
	values              *[256]float32 // of the codes of 4 bits
}

// A scaleFunc is a form of Scale in assembly.
type scaleFunc func(*scaleArgs)

func (f scaleFunc) call(a *scaleArgs) { f(noescape(a)) }
