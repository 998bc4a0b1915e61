package kernel

import "math"

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

// Decode writes the elements of rows of so many blocks, which lie at the given places of
// src, to dst as f32, one row behind the other. It returns false, and writes nothing,
// without a form in assembly. values has the values of the codes of Nibbles and MXFP4.
// Decode panics if dst or src is shorter.
func Decode(kind Stored, values *[16]int8, dst, src []byte, at []int64, blocks int) bool {
	f := decodeForm(kind)
	if f == nil {
		return false
	}
	if blocks == 0 || len(at) == 0 {
		return true
	}
	size := stored[kind]
	row, out := blocks*size.bytes, 4*blocks*size.elements // bytes of a row
	last := int64(len(src) - row)
	for _, at := range at {
		if at < 0 || at > last {
			panic("kernel: a row outside src")
		}
	}
	_ = dst[:len(at)*out]
	a := decodeArgs{values: values, powers: &powers}
	if out > decodedMost { // a row takes several calls
		piece := decodedMost / (4 * size.elements)
		for j, at := range at {
			for done := 0; done < blocks; done += a.n {
				a.dst, a.src, a.at = &dst[j*out+4*done*size.elements], &src[int(at)+done*size.bytes], &begin
				a.rows, a.n = 1, min(blocks-done, piece)
				f.call(&a)
			}
		}
		return true
	}
	a.src, a.n = &src[0], blocks
	if len(at) > 1 {
		a.touched = min(row, decodedTouched)
		a.ahead = decodedAhead(a.touched)
	}
	for done := 0; done < len(at); done += a.rows {
		a.dst, a.at, a.rows = &dst[done*out], &at[done], min(len(at)-done, decodedMost/out)
		f.call(&a)
	}
	return true
}

// begin is the place of a row with which src begins.
var begin int64

// decodeArgs are the arguments of a decodeFunc.
type decodeArgs struct {
	dst, src *byte
	at       *int64        // where the rows lie in src
	rows     int           // 1 or more
	n        int           // blocks of a row, 1 or more
	touched  int           // bytes of a row that are prefetched
	ahead    int           // the prefetch distance in rows
	values   *[16]int8     // of the codes of Nibbles and MXFP4
	powers   *[256]float32 // the scales of MXFP4 by their exponents
}

// A decodeFunc is a form of Decode in assembly.
type decodeFunc func(*decodeArgs)

func (f decodeFunc) call(a *decodeArgs) { f(noescape(a)) }

// Affine decodes rows of FBGEMM, or parts of them, which lie at the given places of src: n
// codes of bits bits, 8 or 4, the first in the lowest bits of a byte; tail bytes behind
// the first code a scale and a bias, of f32 or, for codes of 4 bits, of f16. Of each row it writes the first n/16·16 elements as
// f32, code·scale + bias rounded once, and the row after it goes 4n bytes behind. It
// returns how many rows those are: those before the first whose scale or bias is not
// finite, or none without a form in assembly. It panics if dst or src is shorter.
func Affine(dst, src []byte, at []int64, n, tail, bits int) (rows int) {
	f := affineForm(bits)
	if f == nil || n < 16 || len(at) == 0 {
		return 0
	}
	codes := (n*bits + 7) / 8
	if tail < codes {
		panic("kernel: a scale among the codes")
	}
	last := int64(len(src) - tail - bits)
	for _, at := range at {
		if at < 0 || at > last {
			panic("kernel: a row outside src")
		}
	}
	_ = dst[:4*n*len(at)]
	if piece := decodedMost / 4; n > piece { // a row takes several calls
		for ; rows < len(at); rows++ {
			for from := 0; from+16 <= n; from += piece {
				skip := from * bits / 8
				if Affine(dst[4*(rows*n+from):], src[skip:], at[rows:rows+1], min(piece, n-from), tail-skip, bits) == 0 {
					return rows
				}
			}
		}
		return rows
	}
	touched := min(codes+bits, decodedTouched)
	a := affineArgs{dst: &dst[0], src: &src[0], codes: tail, touched: touched, ahead: decodedAhead(touched), n: n &^ 15, step: 4 * n}
	for rows < len(at) {
		a.dst, a.at, a.rows = &dst[4*n*rows], &at[rows], min(len(at)-rows, decodedMost/(4*n))
		done := f.call(&a)
		if rows += done; done < a.rows {
			break
		}
	}
	return rows
}

// decodedTouched is up to how many bytes of a later row are prefetched; then the
// processor has found the sequence.
const decodedTouched = 1 << 10

// decodedAhead returns the prefetch distance in rows of which so many bytes are
// prefetched.
func decodedAhead(touched int) int { return min(max(2048/max(touched, 1), 4), 16) }

// affineArgs are the arguments of an affineFunc.
type affineArgs struct {
	dst, src *byte
	at       *int64 // where the rows lie in src
	rows     int    // 1 or more
	codes    int    // bytes of the codes of a row
	touched  int    // bytes of a row that are prefetched
	ahead    int    // the prefetch distance in rows
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
	Count   int           // runs of a row
	Length  int           // codes of a run, a multiple of 16
	Scales  []float32
	Zeros   []float32
	Float16 bool // write f16, not f32
	Far     bool // prefetch later rows
	// From a run's scale and zero point to those of the next: 1, or 0 where a row has one.
	ScaleStep, ZeroStep int
}

// A Place says where a row begins: bytes before its codes, scales before its first, and
// zero points before its first.
type Place struct{ Codes, Scale, Zero int64 }

// Fast reports whether a form in assembly scales such runs. Of r it takes Bits, Signed
// and Float16.
func (r *Runs) Fast() bool { return scaleForm(r.Bits, r.Signed, r.Float16) != nil }

// Scale writes (code − zero)·scale for every code of rows at these places, one row behind
// the other, each operation rounded to f32, and then rounded to f16 if that is asked for.
// It panics if r is not Fast, or an operand is too short.
func Scale(dst, codes []byte, places []Place, r *Runs) {
	if r.Length%16 != 0 {
		panic("kernel: a run is no multiple of 16")
	}
	if len(places) == 0 || r.Count == 0 || r.Length == 0 {
		return
	}
	size, out := r.Count*r.Length*r.Bits/8, r.Count*r.Length*4 // bytes of a row
	if r.Float16 {
		out /= 2
	}
	scales, zeros := (r.Count-1)*r.ScaleStep, (r.Count-1)*r.ZeroStep // from the first of a row to the last
	_, _, _ = codes[size-1], r.Scales[scales], r.Zeros[zeros]
	lastCodes, lastScale, lastZero := uint64(len(codes)-size), uint64(len(r.Scales)-1-scales), uint64(len(r.Zeros)-1-zeros)
	for i := range places {
		if p := &places[i]; uint64(p.Codes) > lastCodes || uint64(p.Scale) > lastScale || uint64(p.Zero) > lastZero {
			panic("kernel: a row outside its operands")
		}
	}
	_ = dst[:len(places)*out]
	if out > decodedMost { // a row takes several calls
		part, each := *r, out/r.Count
		for _, p := range places {
			for run := 0; run < r.Count; run += part.Count {
				part.Count = min(max(decodedMost/each, 1), r.Count-run)
				for from := 0; from < r.Length; from += part.Length {
					part.Length = min(r.Length-from, decodedMost/4)
					first := run*r.Length + from
					place := [...]Place{{p.Codes + int64(first*r.Bits/8), p.Scale + int64(run*r.ScaleStep), p.Zero + int64(run*r.ZeroStep)}}
					Scale(dst[first*(each/r.Length):], codes, place[:], &part)
				}
			}
			dst = dst[out:]
		}
		return
	}
	a := scaleArgs{
		src: &codes[0], scales: &r.Scales[0], zeros: &r.Zeros[0], values: r.Values,
		runs: r.Count, length: r.Length, scaleStep: 4 * r.ScaleStep, zeroStep: 4 * r.ZeroStep,
	}
	if r.Far {
		a.touched, a.scalesTouched, a.zerosTouched = min(size, decodedTouched), min(4*scales, decodedTouched), min(4*zeros, decodedTouched)
		a.ahead = decodedAhead(a.touched)
	}
	f := scaleForm(r.Bits, r.Signed, r.Float16)
	for done := 0; done < len(places); done += a.rows {
		a.dst, a.places, a.rows = &dst[done*out], &places[done], min(len(places)-done, decodedMost/out)
		f.call(&a)
	}
}

// scaleArgs are the arguments of a scaleFunc.
type scaleArgs struct {
	dst, src      *byte
	places        *Place
	rows          int // 1 or more
	runs          int // of a row, 1 or more
	length        int // of a run, a positive multiple of 16
	scales, zeros *float32
	// From a run's scale and zero point to the next, in bytes: 4, or 0.
	scaleStep, zeroStep int
	values              *[256]float32 // of the codes of 4 bits

	ahead         int // the prefetch distance in rows
	touched       int // bytes of a row's codes that are prefetched; 0: nothing is
	scalesTouched int // bytes from its first scale on, but for the last scale
	zerosTouched  int // and so with zero points
}

// A scaleFunc is a form of Scale in assembly.
type scaleFunc func(*scaleArgs)

func (f scaleFunc) call(a *scaleArgs) { f(noescape(a)) }
