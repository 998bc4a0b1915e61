package garner

import (
	"strconv"
	"strings"
	"unicode"
	"unicode/utf16"
	"unicode/utf8"
)

// At returns the text of the element at the given coordinates, one coordinate
// per dimension. SetText reads the text back. Integers are exact. A float is the
// shortest text that reads back as the same value of the same type, and has a
// point or an exponent. A string is in double quotes. Coordinates outside t are
// an ErrShape; Volatile memory that is gone is an ErrFault.
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

// SetText sets the i-th element in row-major order to the value of text: a
// decimal, NaN, Infinity (or inf), 1.5-2.0i, true, or a string, "quoted" as At
// prints it or without quotes and then taken as is. It writes into the memory
// that t views.
//
// An integer that the type does not hold is an ErrDType; nothing wraps. A float
// is rounded once, from the decimal to the nearest value of the type, ties to
// even. A decimal beyond the greatest value becomes Infinity. A type without
// Infinity follows ml_dtypes: NaN in f8e4m3fn, f8e4m3fnuz, f8e5m2fnuz and
// f8e8m0, the largest value in f4e2m1. f8e8m0 rounds ties up, as ml_dtypes does,
// and refuses zero and negative numbers. nf4 takes the nearest of its sixteen
// values, the lower of two that are equally near. Text that does not fit the
// type is an ErrDType, an i outside t an ErrShape.
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

// setElement sets the element at position at of the memory.
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

// splitComplex splits a+bi into its parts. Either part may be missing, and i may
// be j. parseFloat checks the syntax of the parts.
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

// appendQuoted quotes a string as JSON does. JSON has no escape for a byte that
// is not UTF-8; it becomes \xNN.
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

// hexDigits reads the first n hexadecimal digits of text.
func hexDigits(text string, n int) (uint64, bool) {
	if len(text) < n {
		return 0, false
	}
	v, err := strconv.ParseUint(text[:n], 16, 16)
	return v, err == nil
}

// clip quotes text of the caller for a message, 40 bytes at most.
func clip(text string) string {
	const most = 40
	if len(text) > most {
		return strconv.Quote(text[:most]) + "…"
	}
	return strconv.Quote(text)
}
