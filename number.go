package garner

import (
	"cmp"
	"math"
	"strconv"
	"strings"

	"github.com/garner-go/garner/internal/float"
)

// parseInteger reads a decimal into the bits of an integer type.
func parseInteger(d DType, text string) (uint64, error) {
	digits, negative := cutSign(text)
	if !allDigits(digits) {
		return 0, errorf(ErrDType, "%s is no integer, and %s holds no other", clip(text), d)
	}
	// The greatest magnitudes above and below zero. Where ParseUint fails, text
	// exceeds both.
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

// floatFormats are the floats of 16 bits and less that have a sign, an exponent
// and a mantissa.
var floatFormats = func() map[DType]*float.Format {
	formats := map[DType]*float.Format{}
	for _, d := range DTypes() {
		if f := float.Formats[d.String()]; f != nil {
			formats[d] = f
		}
	}
	return formats
}()

// floatValues give the values of the codes of the floats of 16 bits and less.
var floatValues = func() map[DType]func(code uint64) float32 {
	values := map[DType]func(code uint64) float32{}
	for _, d := range DTypes() {
		if value := float.Values(d.String()); value != nil {
			values[d] = value
		}
	}
	return values
}()

// decodeFloat returns the value of the bits of any float type.
func decodeFloat(d DType, code uint64) float64 {
	switch d {
	case F64:
		return math.Float64frombits(code)
	case F32:
		return float64(math.Float32frombits(uint32(code)))
	}
	v := float64(floatValues[d](code))
	if math.IsNaN(v) {
		return math.NaN() // one NaN, whatever the payload
	}
	return v
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
	// isDecimal has checked the syntax, so the only possible error is the range,
	// for which v is the right infinity or zero.
	v, _ := strconv.ParseFloat(text, size)
	nan := math.IsNaN(v)
	if d == F8E8M0 && !nan && (math.Signbit(v) || isZero(text)) {
		return 0, errorf(ErrDType, "%s is outside f8e8m0, which holds 2^-127…2^127 and NaN", clip(text))
	}
	format := floatFormats[d]
	switch {
	case nan && (d == NF4 || format != nil && format.NoNaN):
		return 0, errorf(ErrDType, "%s has no NaN", d)
	case nan && format != nil:
		return format.NaN, nil
	case nan && d == F64:
		return 0x7ff8_0000_0000_0000, nil
	case nan && d == F32:
		return 0x7fc0_0000, nil
	case nan:
		return float.E8M0NaN, nil
	case d == F64:
		return math.Float64bits(v), nil
	case d == F32:
		return uint64(math.Float32bits(float32(v))), nil
	}
	beside := func(v float64) int { return compareDecimal(text, v) }
	switch d {
	case F8E8M0:
		return float.EncodeE8M0(v, beside), nil
	case NF4:
		return float.EncodeNF4(v, beside), nil
	}
	return format.Encode(v, func(abs float64) int { return compareMagnitude(text, abs) }), nil
}

// Floats from positionalMin up to positionalMax print without an exponent, as in
// Python and NumPy.
const positionalMin, positionalMax = 1e-4, 1e16

// appendFloat appends a shortest text that parseFloat reads back as code.
// Integral values that print without an exponent print all their digits: zeros
// in place of digits would be no shorter. The values of f8e8m0 and nf4 are so
// far apart that 0.2 would do for a quarter; their text is the shortest that
// float32 reads back.
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

// shortest returns the float64 whose text is the shortest that d reads as code;
// of several such texts the one nearest to v, the finite value of code.
func shortest(d DType, code uint64, v float64) float64 {
	digits, point := decimal(strconv.FormatFloat(v, 'e', exactDigits, 64))
	sign := ""
	if v < 0 {
		sign = "-"
	}
	for n := 1; n < len(digits); n++ {
		// Both neighbours of n digits, the nearer first, the even one of two
		// equally near. At a power of two the nearer can round to another code
		// while the other, on the side of the wider gap, does not.
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

// exactDigits is enough digits for every value of floatFormats and every number
// halfway between two of them: the least, 2^-134, has 94.
const exactDigits = 150

// compareDecimal returns the sign of text less v, exactly, however long text is.
// v is the nearest float64 to text and not zero.
func compareDecimal(text string, v float64) int {
	order := compareMagnitude(text, math.Abs(v))
	if v < 0 {
		return -order
	}
	return order
}

// compareMagnitude returns the sign of the magnitude of text less that of abs,
// which is the nearest float64 to it and not zero.
func compareMagnitude(text string, abs float64) int {
	digits, point := decimal(text)
	absDigits, absPoint := decimal(strconv.FormatFloat(abs, 'e', exactDigits, 64))
	if point != absPoint {
		return cmp.Compare(point, absPoint)
	}
	return strings.Compare(digits, absDigits)
}

// decimal splits a decimal, whose sign it ignores: 0.digits × 10^point, digits
// without zeros on either side. point is meaningful only within the range of
// float64.
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

// isZero reports whether a decimal is zero. A decimal too small for float64 is
// not.
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

// isDecimal reports whether text is a decimal, NaN or an infinity. strconv also
// takes hexadecimal floats and underscores; those are none.
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

// clip quotes text of the caller for a message, 40 bytes at most.
func clip(text string) string {
	const most = 40
	if len(text) > most {
		return strconv.Quote(text[:most]) + "…"
	}
	return strconv.Quote(text)
}
