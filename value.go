package garner

import (
	"encoding/binary"
	"math"
	"sort"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf16"
	"unicode/utf8"
)

// At is the text of the element at the given coordinates, one per dimension:
// what SetText reads back. Integers are exact, and so are the floats: the text
// is a shortest one that reads back as the same value in the same type, and has
// a point or an exponent. Strings stand in double quotes. Coordinates that t
// does not have are an ErrShape, Volatile memory that is gone an ErrFault.
func (t Tensor) At(index ...int) (string, error) {
	if !t.dtype.Valid() {
		return "", errorf(ErrDType, "the zero Tensor has no elements")
	}
	if len(index) != len(t.shape) {
		return "", shapeError(KindRank, "%d coordinates for a tensor of shape %s; give %d", len(index), t.shape, len(t.shape))
	}
	at := t.mem.Offset
	for axis, i := range index {
		if i < 0 || i >= t.shape[axis] {
			return "", shapeError(KindMismatch, "coordinates %s are outside shape %s: dimension %d has no position %d", Shape(index), t.shape, axis, i)
		}
		at += i * t.strides[axis]
	}
	var text []byte
	if err := t.guard(func() { text = t.appendElement(nil, at) }); err != nil {
		return "", err
	}
	return string(text), nil
}

// SetText makes the i-th element in row-major order what text says: a decimal,
// NaN, Infinity (or inf), 1.5-2.0i, true, "quoted" as At prints it. A string
// may also come without quotes, and is then taken as it is. It writes into the
// memory that t views.
//
// An integer that the type does not hold is an ErrDType; nothing wraps. A float
// is rounded once, from the decimal to the nearest value of the type, ties to
// the even one. What is too large becomes Infinity, or else what ml_dtypes
// makes of it: NaN in f8e4m3fn, f8e4m3fnuz, f8e5m2fnuz and f8e8m0, the largest
// value in f4e2m1. In f8e8m0 a tie goes up, as there, and what is not positive
// is refused. In nf4 the nearest of its sixteen values is taken, the lower one
// of two as near. Text that does not fit the type is an ErrDType, an element
// that t does not have an ErrShape.
func (t Tensor) SetText(i int, text string) error {
	at, err := t.element(i)
	if err != nil {
		return err
	}
	if fault := t.guard(func() { err = t.setElement(at, text) }); fault != nil {
		return fault
	}
	return err
}

func (t *Tensor) setElement(at int, text string) error {
	d := t.dtype
	switch d.kind() {
	case kindBool:
		if text != "true" && text != "false" {
			return errorf(ErrDType, "%s is no bool; write true or false", clip(text))
		}
		t.mem.Buf[at] = 0
		if text == "true" {
			t.mem.Buf[at] = 1
		}
	case kindInt, kindUint:
		v, err := parseInteger(d, text)
		if err != nil {
			return err
		}
		t.setBits(at, v)
	case kindFloat:
		v, err := parseFloat(d, text)
		if err != nil {
			return err
		}
		t.setBits(at, v)
	case kindComplex:
		part := F32
		if d == Complex128 {
			part = F64
		}
		re, im, ok := splitComplex(text)
		if !ok {
			return errorf(ErrDType, "%s is no %s; write it as 1.5-2.0i", clip(text), d)
		}
		realBits, err := parseFloat(part, re)
		if err != nil {
			return err
		}
		imagBits, err := parseFloat(part, im)
		if err != nil {
			return err
		}
		store(t.mem.Buf, 2*at, part.Bits()/8, realBits)
		store(t.mem.Buf, 2*at+1, part.Bits()/8, imagBits)
	default:
		if strings.HasPrefix(text, `"`) {
			var err error
			if text, err = unquote(text); err != nil {
				return err
			}
		}
		t.mem.Strs[at] = text
	}
	return nil
}

// Float64 is the i-th element in row-major order as a float64: exact for every
// float and for integers of up to 53 bits, the nearest float64 for larger ones.
// Types that are neither are an ErrDType.
func (t Tensor) Float64(i int) (float64, error) {
	at, err := t.element(i)
	if err != nil {
		return 0, err
	}
	if !t.dtype.IsFloat() && !t.dtype.IsInteger() {
		return 0, errorf(ErrDType, "a %s is no real number", t.dtype)
	}
	var code uint64
	if err := t.guard(func() { code = t.bits(at) }); err != nil {
		return 0, err
	}
	switch t.dtype.kind() {
	case kindFloat:
		return decodeFloat(t.dtype, code), nil
	case kindInt:
		return float64(signed(t.dtype, code)), nil
	}
	return float64(code), nil
}

// Int is the i-th element in row-major order of a tensor of any integer type,
// exactly. Other types are an ErrDType.
func (t Tensor) Int(i int) (Index, error) {
	at, err := t.element(i)
	if err != nil {
		return Index{}, err
	}
	if !t.dtype.IsInteger() {
		return Index{}, errorf(ErrDType, "a %s is no integer", t.dtype)
	}
	var code uint64
	if err := t.guard(func() { code = t.bits(at) }); err != nil {
		return Index{}, err
	}
	if t.dtype.IsUnsigned() {
		return Index{Bits: code, Unsigned: true}, nil
	}
	return Index{Bits: uint64(signed(t.dtype, code))}, nil
}

// element is where the i-th element in row-major order stands, for an i that
// may be anything.
func (t *Tensor) element(i int) (at int, err error) {
	if !t.dtype.Valid() {
		return 0, errorf(ErrDType, "the zero Tensor has no elements")
	}
	if n := t.Len(); i < 0 || i >= n {
		return 0, shapeError(KindMismatch, "element %d of a tensor of %d", i, n)
	}
	return t.position(i), nil
}

// appendElement appends the text of the element at position at of the memory.
func (t *Tensor) appendElement(dst []byte, at int) []byte {
	switch d := t.dtype; d.kind() {
	case kindBool:
		return strconv.AppendBool(dst, t.mem.Buf[at] != 0)
	case kindInt:
		return strconv.AppendInt(dst, signed(d, t.bits(at)), 10)
	case kindUint:
		return strconv.AppendUint(dst, t.bits(at), 10)
	case kindFloat:
		return appendFloat(dst, d, t.bits(at))
	case kindComplex:
		part := F32
		if d == Complex128 {
			part = F64
		}
		w := part.Bits() / 8
		dst = appendFloat(dst, part, load(t.mem.Buf, 2*at, w))
		im := appendFloat(nil, part, load(t.mem.Buf, 2*at+1, w))
		if im[0] != '-' {
			dst = append(dst, '+')
		}
		return append(append(dst, im...), 'i')
	}
	return appendQuoted(dst, t.mem.Strs[at])
}

// bits is the element at position at of a type of up to 64 bits.
func (t *Tensor) bits(at int) uint64 {
	w := t.dtype.Bits()
	if w < 8 {
		return uint64(packed(t.mem.Buf, at, w))
	}
	return load(t.mem.Buf, at, w/8)
}

func (t *Tensor) setBits(at int, v uint64) {
	w := t.dtype.Bits()
	if w < 8 {
		setPacked(t.mem.Buf, at, w, byte(v))
		return
	}
	store(t.mem.Buf, at, w/8, v)
}

// load reads the i-th little-endian word of size bytes.
func load(b []byte, i, size int) uint64 {
	var word [8]byte
	copy(word[:], b[i*size:(i+1)*size])
	return binary.LittleEndian.Uint64(word[:])
}

func store(b []byte, i, size int, v uint64) {
	var word [8]byte
	binary.LittleEndian.PutUint64(word[:], v)
	copy(b[i*size:(i+1)*size], word[:])
}

// signed reads the bits of a signed integer type.
func signed(d DType, v uint64) int64 {
	shift := 64 - d.Bits()
	return int64(v<<shift) >> shift
}

// parseInteger reads a decimal into the bits of an integer type.
func parseInteger(d DType, text string) (uint64, error) {
	digits, negative := cutSign(text)
	if !allDigits(digits) {
		return 0, errorf(ErrDType, "%s is no integer, and %s holds no other", clip(text), d)
	}
	// A greatest magnitude on either side of zero; a ParseUint that fails has
	// passed both.
	above, below := uint64(1)<<(d.Bits()-1)-1, uint64(1)<<(d.Bits()-1)
	if d.IsUnsigned() {
		above, below = 2*above+1, 0
	}
	v, err := strconv.ParseUint(digits, 10, 64)
	limit := above
	if negative {
		limit = below
	}
	if err != nil || v > limit {
		low := "0"
		if below > 0 {
			low = "-" + strconv.FormatUint(below, 10)
		}
		return 0, errorf(ErrDType, "%s is outside %s, which holds %s…%d", clip(text), d, low, above)
	}
	if negative {
		v = -v
	}
	return v, nil
}

// nf4 is the sixteen values of 4-bit NormalFloat, ascending, as float32. They
// are those of the QLoRA paper (arXiv 2305.14314, appendix E), which
// bitsandbytes and OpenVINO both hold.
var nf4 = [16]float32{
	-1.0, -0.6961928009986877, -0.5250730514526367, -0.39491748809814453,
	-0.28444138169288635, -0.18477343022823334, -0.09105003625154495, 0.0,
	0.07958029955625534, 0.16093020141124725, 0.24611230194568634, 0.33791524171829224,
	0.44070982933044434, 0.5626170039176941, 0.7229568362236023, 1.0,
}

// A floatFormat is a float that keeps a sign, an exponent and a mantissa, and
// that float64 holds exactly. Read as an integer, its bits below the sign grow
// with the magnitude.
type floatFormat struct {
	bits, mantissa, bias int
	max                  uint64 // the greatest finite magnitude
	over                 uint64 // what is greater becomes
	nan                  uint64
	infinite             bool // over is Infinity
	fnuz                 bool // there is no negative zero; its bits are the only NaN
	noNaN                bool
}

var floatFormats = map[DType]floatFormat{
	F16:        {bits: 16, mantissa: 10, bias: 15, max: 0x7bff, over: 0x7c00, nan: 0x7e00, infinite: true},
	BF16:       {bits: 16, mantissa: 7, bias: 127, max: 0x7f7f, over: 0x7f80, nan: 0x7fc0, infinite: true},
	F8E4M3FN:   {bits: 8, mantissa: 3, bias: 7, max: 0x7e, over: 0x7f, nan: 0x7f},
	F8E5M2:     {bits: 8, mantissa: 2, bias: 15, max: 0x7b, over: 0x7c, nan: 0x7e, infinite: true},
	F8E4M3FNUZ: {bits: 8, mantissa: 3, bias: 8, max: 0x7f, over: 0x80, nan: 0x80, fnuz: true},
	F8E5M2FNUZ: {bits: 8, mantissa: 2, bias: 16, max: 0x7f, over: 0x80, nan: 0x80, fnuz: true},
	F4E2M1:     {bits: 4, mantissa: 1, bias: 1, max: 0x7, over: 0x7, noNaN: true},
}

// magnitude is the value of the bits below the sign, those past max included
// as if the exponents simply went on: the values between which rounding at the
// edge decides.
func (f *floatFormat) magnitude(code uint64) float64 {
	exponent, fraction := int(code>>f.mantissa), code&(1<<f.mantissa-1)
	if exponent == 0 {
		exponent = 1
	} else {
		fraction |= 1 << f.mantissa
	}
	return math.Ldexp(float64(fraction), exponent-f.bias-f.mantissa)
}

func (f *floatFormat) decode(code uint64) float64 {
	sign := uint64(1) << (f.bits - 1)
	v, magnitude := 0.0, code&^sign
	switch {
	case f.fnuz && code == f.nan:
		return math.NaN()
	case magnitude <= f.max:
		v = f.magnitude(magnitude)
	case f.infinite && magnitude == f.over:
		v = math.Inf(1)
	default:
		return math.NaN()
	}
	if code&sign != 0 {
		v = -v
	}
	return v
}

// encode rounds text, of which v is the nearest float64 and no NaN, to the
// nearest code.
func (f *floatFormat) encode(text string, v float64) uint64 {
	abs := math.Abs(v)
	code := uint64(sort.Search(int(f.max)+1, func(c int) bool { return f.magnitude(uint64(c)+1) > abs }))
	if code <= f.max {
		// Halfway points are exact in float64, so only where v is one of them
		// can text lie on another side of it than v does.
		middle := (f.magnitude(code) + f.magnitude(code+1)) / 2
		if abs > middle || abs == middle && compareDecimal(text, middle)+int(code&1) > 0 {
			code++
		}
	}
	switch {
	case code > f.max && f.infinite || f.noNaN && code > f.max:
		code = f.over
	case code > f.max:
		return f.nan
	case code == 0 && f.fnuz:
		return 0
	}
	if math.Signbit(v) {
		code |= 1 << (f.bits - 1)
	}
	return code
}

// encodeE8M0 rounds the same way to a power of two, ties up.
func encodeE8M0(text string, v float64) uint64 {
	fraction, exponent := math.Frexp(v) // fraction in [½, 1)
	exponent--
	if fraction > 0.75 || fraction == 0.75 && compareDecimal(text, v) >= 0 {
		exponent++
	}
	if v == 0 {
		exponent = -127
	}
	if math.IsInf(v, 1) || exponent > 127 {
		return 0xff
	}
	return uint64(max(exponent, -127) + 127)
}

func encodeNF4(text string, v float64) uint64 {
	code := uint64(0)
	for i := range len(nf4) - 1 {
		middle := (float64(nf4[i]) + float64(nf4[i+1])) / 2
		if v > middle || v == middle && compareDecimal(text, middle) > 0 {
			code = uint64(i) + 1
		}
	}
	return code
}

// decodeFloat is the value of the bits of any float type.
func decodeFloat(d DType, code uint64) float64 {
	switch d {
	case F64:
		return math.Float64frombits(code)
	case F32:
		return float64(math.Float32frombits(uint32(code)))
	case NF4:
		return float64(nf4[code])
	case F8E8M0:
		if code == 0xff {
			return math.NaN()
		}
		return math.Ldexp(1, int(code)-127)
	}
	f := floatFormats[d]
	return f.decode(code)
}

// parseFloat reads a decimal into the bits of any float type, rounding once.
func parseFloat(d DType, text string) (uint64, error) {
	if !isDecimal(text) {
		return 0, errorf(ErrDType, "%s is no number, which %s wants", clip(text), d)
	}
	size := 64
	if d == F32 {
		size = 32
	}
	// isDecimal has looked at the syntax, so what may be wrong is the range,
	// and then v is an infinity or zero, as it should be.
	v, _ := strconv.ParseFloat(text, size)
	nan := math.IsNaN(v)
	if d == F8E8M0 && !nan && (math.Signbit(v) || isZero(text)) {
		return 0, errorf(ErrDType, "%s is outside f8e8m0, which holds 2^-127…2^127 and NaN", clip(text))
	}
	if f, ok := floatFormats[d]; ok {
		if nan && f.noNaN {
			return 0, errorf(ErrDType, "%s has no NaN", d)
		}
		if nan {
			return f.nan, nil
		}
		return f.encode(text, v), nil
	}
	switch {
	case nan && d == F64:
		return 0x7ff8_0000_0000_0000, nil
	case nan && d == F32:
		return 0x7fc0_0000, nil
	case nan && d == F8E8M0:
		return 0xff, nil
	case nan:
		return 0, errorf(ErrDType, "%s has no NaN", d)
	case d == F64:
		return math.Float64bits(v), nil
	case d == F32:
		return uint64(math.Float32bits(float32(v))), nil
	case d == F8E8M0:
		return encodeE8M0(text, v), nil
	}
	return encodeNF4(text, v), nil
}

// Floats from positionalMin up to positionalMax print without an exponent,
// which is where Python and numpy draw the lines too.
const positionalMin, positionalMax = 1e-4, 1e16

// appendFloat appends a shortest text that parseFloat turns back into code.
// Integral values that print without an exponent are spelled out, as zeros in
// place of their digits would be no shorter. The values of f8e8m0 and nf4 lie
// so far apart that 0.2 would do for a quarter; there it is the shortest that
// float32 tells from its other values.
func appendFloat(dst []byte, d DType, code uint64) []byte {
	v := decodeFloat(d, code)
	abs, size := math.Abs(v), 64
	switch {
	case math.IsNaN(v):
		return append(dst, "NaN"...)
	case math.IsInf(v, 1):
		return append(dst, "Infinity"...)
	case math.IsInf(v, -1):
		return append(dst, "-Infinity"...)
	case abs < positionalMax && v == math.Trunc(v):
		return strconv.AppendFloat(dst, v, 'f', 1, 64)
	case d == F32 || d == F8E8M0 || d == NF4:
		size = 32
	case d != F64:
		v = shortest(d, code, v)
	}
	if abs < positionalMin || abs >= positionalMax {
		return strconv.AppendFloat(dst, v, 'e', -1, size)
	}
	return strconv.AppendFloat(dst, v, 'f', -1, size)
}

// shortest is the float64 whose text is the shortest that d reads as code, v
// being its finite value: of the decimals of that length the one nearest to v.
func shortest(d DType, code uint64, v float64) float64 {
	digits, point := decimal(strconv.FormatFloat(v, 'e', exactDigits, 64))
	sign := ""
	if v < 0 {
		sign = "-"
	}
	for n := 1; n < len(digits); n++ {
		// Both neighbours, the nearer first, of two as near the even one: at a
		// power of two the nearer can be outside while the other one, on the
		// side with the wider gap, is not.
		down, _ := strconv.ParseUint(digits[:n], 10, 64)
		candidates := [2]uint64{down, down + 1}
		if rest := digits[n:]; rest > "5" || rest == "5" && down%2 == 1 {
			candidates = [2]uint64{down + 1, down}
		}
		for _, candidate := range candidates {
			text := sign + strconv.FormatUint(candidate, 10) + "e" + strconv.Itoa(point-n)
			if got, err := parseFloat(d, text); err == nil && got == code {
				v, _ = strconv.ParseFloat(text, 64)
				return v
			}
		}
	}
	return v
}

// exactDigits is enough digits for every value of the formats of floatFormats
// and everything halfway between two: 2^-134, the least, has 94.
const exactDigits = 150

// compareDecimal compares text with v, which is its nearest float64 and not
// zero, by magnitude for positive v; exactly, however long text is.
func compareDecimal(text string, v float64) int {
	digits, point := decimal(text)
	vDigits, vPoint := decimal(strconv.FormatFloat(v, 'e', exactDigits, 64))
	order := strings.Compare(digits, vDigits)
	if point != vPoint {
		order = 1
		if point < vPoint {
			order = -1
		}
	}
	if v < 0 {
		return -order
	}
	return order
}

// decimal takes a decimal without its sign apart: 0.digits × 10^point, digits
// without zeros on either side. The point is meaningful only where float64 can
// hold the value.
func decimal(text string) (digits string, point int) {
	text, _ = cutSign(text)
	if e := strings.IndexAny(text, "eE"); e >= 0 {
		point, _ = strconv.Atoi(text[e+1:])
		text = text[:e]
	}
	whole, fraction, _ := strings.Cut(text, ".")
	point += len(whole)
	digits = strings.TrimLeft(whole+fraction, "0")
	point -= len(whole) + len(fraction) - len(digits)
	return strings.TrimRight(digits, "0"), point
}

// isZero reports whether a decimal is zero, rather than too small for float64.
func isZero(text string) bool {
	digits, _ := decimal(text)
	return digits == ""
}

func cutSign(text string) (rest string, negative bool) {
	if text != "" && (text[0] == '-' || text[0] == '+') {
		return text[1:], text[0] == '-'
	}
	return text, false
}

func allDigits(text string) bool {
	return text != "" && strings.Trim(text, "0123456789") == ""
}

// isDecimal reports whether text is a decimal, NaN or an infinity: less than
// strconv takes, which knows hexadecimal floats and underscores.
func isDecimal(text string) bool {
	if strings.EqualFold(text, "nan") {
		return true
	}
	text, _ = cutSign(text)
	if strings.EqualFold(text, "inf") || strings.EqualFold(text, "infinity") {
		return true
	}
	if e := strings.IndexAny(text, "eE"); e >= 0 {
		exponent, _ := cutSign(text[e+1:])
		if !allDigits(exponent) {
			return false
		}
		text = text[:e]
	}
	whole, fraction, _ := strings.Cut(text, ".")
	return allDigits(whole + fraction)
}

// splitComplex takes a+bi apart, where either part may be missing and i may be
// a j. It leaves the parts' own syntax to parseFloat.
func splitComplex(text string) (re, im string, ok bool) {
	body := strings.TrimRight(text, "ij")
	switch len(text) - len(body) {
	case 0:
		return text, "0", isDecimal(text)
	case 1:
	default:
		return "", "", false
	}
	// The sign between the parts is the last that belongs to no exponent.
	at := len(body) - 1
	for ; at > 0; at-- {
		if (body[at] == '+' || body[at] == '-') && body[at-1] != 'e' && body[at-1] != 'E' {
			break
		}
	}
	re, im = "0", body
	if at > 0 {
		re, im = body[:at], strings.TrimPrefix(body[at:], "+")
	}
	return re, im, isDecimal(re) && isDecimal(im)
}

// appendQuoted quotes a string as JSON does. A byte that is no part of a UTF-8
// character, which JSON cannot say, is written \xNN.
func appendQuoted(dst []byte, s string) []byte {
	const hex = "0123456789abcdef"
	dst = append(dst, '"')
	for i := 0; i < len(s); {
		r, size := utf8.DecodeRuneInString(s[i:])
		switch {
		case r == utf8.RuneError && size == 1:
			dst = append(dst, '\\', 'x', hex[s[i]>>4], hex[s[i]&15])
		case r == '"' || r == '\\':
			dst = append(dst, '\\', byte(r))
		case r == '\n':
			dst = append(dst, `\n`...)
		case r == '\r':
			dst = append(dst, `\r`...)
		case r == '\t':
			dst = append(dst, `\t`...)
		case unicode.IsPrint(r):
			dst = append(dst, s[i:i+size]...)
		default:
			for _, unit := range utf16.AppendRune(nil, r) {
				dst = append(dst, '\\', 'u', hex[unit>>12], hex[unit>>8&15], hex[unit>>4&15], hex[unit&15])
			}
		}
		i += size
	}
	return append(dst, '"')
}

// unquote reads what appendQuoted writes, and every other JSON string.
func unquote(text string) (string, error) {
	bad := func(why string) (string, error) {
		return "", errorf(ErrDType, "%s is no quoted string: %s", clip(text), why)
	}
	if len(text) < 2 || text[len(text)-1] != '"' {
		return bad(`the closing " is missing`)
	}
	body := text[1 : len(text)-1]
	var b strings.Builder
	for i := 0; i < len(body); {
		c := body[i]
		i++
		if c == '"' {
			return bad(`a " inside must be written \"`)
		}
		if c != '\\' {
			b.WriteByte(c)
			continue
		}
		if i == len(body) {
			return bad(`the closing " is missing`)
		}
		c = body[i]
		i++
		switch c {
		case '"', '\\', '/':
			b.WriteByte(c)
		case 'b':
			b.WriteByte('\b')
		case 'f':
			b.WriteByte('\f')
		case 'n':
			b.WriteByte('\n')
		case 'r':
			b.WriteByte('\r')
		case 't':
			b.WriteByte('\t')
		case 'x':
			v, ok := hexDigits(body[i:], 2)
			if !ok {
				return bad(`\x wants two hexadecimal digits`)
			}
			b.WriteByte(byte(v))
			i += 2
		case 'u':
			v, ok := hexDigits(body[i:], 4)
			if !ok {
				return bad(`\u wants four hexadecimal digits`)
			}
			i += 4
			if r := rune(v); !utf16.IsSurrogate(r) {
				b.WriteRune(r)
				continue
			}
			low, ok := uint64(0), strings.HasPrefix(body[i:], `\u`)
			if ok {
				low, ok = hexDigits(body[i+2:], 4)
			}
			r := utf16.DecodeRune(rune(v), rune(low))
			if !ok || r == utf8.RuneError {
				return bad(`half of a surrogate pair stands alone`)
			}
			b.WriteRune(r)
			i += 6
		default:
			return bad(`\` + string(rune(c)) + ` is no escape; a backslash is written \\`)
		}
	}
	return b.String(), nil
}

func hexDigits(text string, n int) (uint64, bool) {
	if len(text) < n {
		return 0, false
	}
	v, err := strconv.ParseUint(text[:n], 16, 16)
	return v, err == nil
}

// clip quotes what a message repeats of the caller's text, not more than a
// line of it.
func clip(text string) string {
	const most = 40
	if len(text) > most {
		return strconv.Quote(text[:most]) + "…"
	}
	return strconv.Quote(text)
}
