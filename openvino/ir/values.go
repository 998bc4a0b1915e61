package ir

import (
	"math"
	"slices"
	"strconv"
	"strings"

	"github.com/garner-go/garner"
)

// spaces are the characters that OpenVINO trims from a number.
const spaces = " \t\n\v\f\r"

// number reads an attribute as OpenVINO does: an integer without a plus sign,
// ignoring the text after it. A lenient reader accepts a plus sign.
func number(text string, lenient bool) (int64, bool) {
	text = strings.Trim(text, spaces)
	if rest, ok := strings.CutPrefix(text, "+"); ok && lenient && !strings.HasPrefix(rest, "-") {
		text = rest
	}
	n := strings.TrimLeft(strings.TrimPrefix(text, "-"), "0123456789")
	v, err := strconv.ParseInt(text[:len(text)-len(n)], 10, 64)
	return v, err == nil
}

// natural reads the number of a layer, a port or a byte: an integer from 0 on with
// no text after it.
func natural(text string) (uint64, bool) {
	text = strings.TrimPrefix(strings.TrimLeft(text, spaces), "+")
	v, err := strconv.ParseUint(text, 10, 63)
	return v, err == nil
}

// shapeOf reads the shape of a Const: numbers separated by commas, none for a
// scalar. Where the text is wrong, it says why.
func shapeOf(text string) (garner.Shape, string) {
	if strings.Trim(text, spaces) == "" {
		return garner.Shape{}, ""
	}
	var shape garner.Shape
	for part := range strings.SplitSeq(text, ",") {
		n, ok := natural(strings.TrimRight(part, spaces))
		if !ok {
			return nil, strconv.Quote(part) + " is no number from 0 on"
		}
		if n > math.MaxInt {
			return nil, part + " is more than this 32-bit build of garner can count"
		}
		if len(shape) == garner.MaxRank {
			return nil, "it has more than " + strconv.Itoa(garner.MaxRank) + " dims"
		}
		shape = append(shape, int(n))
	}
	return shape, ""
}

// partialShape reads the shape of a Parameter: dims separated by commas, with or
// without brackets, or "..." for an unknown rank. Where the text is wrong, it says
// why.
func partialShape(dtype garner.DType, text string) (garner.Spec, string) {
	text = strings.Trim(text, spaces)
	if len(text) > 1 && text[0] == '[' && text[len(text)-1] == ']' {
		text = strings.Trim(text[1:len(text)-1], spaces)
	}
	switch text {
	case "...":
		return garner.SpecOfRank(dtype, garner.AnyDim), ""
	case "":
		return garner.SpecOfDims(dtype), ""
	}
	var dims []garner.Dim
	for part := range strings.SplitSeq(text, ",") {
		d, ok := dimOf(part)
		if !ok {
			return garner.Spec{}, strconv.Quote(part) + " is no dim; one is 3, -1 or ? for any, 1..8, 1.. or ..8"
		}
		if len(dims) == garner.MaxRank {
			return garner.Spec{}, "it has more than " + strconv.Itoa(garner.MaxRank) + " dims"
		}
		dims = append(dims, d)
	}
	return garner.SpecOfDims(dtype, dims...), ""
}

// dimOf reads 3, -1, ?, 1..8, 1.., ..8 or "..".
func dimOf(text string) (garner.Dim, bool) {
	text = strings.Trim(text, spaces)
	if text == "?" || text == "-1" {
		return garner.AnyDim, true
	}
	low, high, ranged := strings.Cut(text, "..")
	d := garner.AnyDim
	if low = strings.Trim(low, spaces); low != "" && low != "-1" || !ranged {
		n, err := strconv.ParseUint(low, 10, strconv.IntSize-1)
		if err != nil {
			return garner.Dim{}, false
		}
		d.Min = int(n)
	}
	if !ranged {
		return garner.Exactly(d.Min), true
	}
	if high = strings.Trim(high, spaces); high != "" && high != "-1" {
		// A bound above the largest int is no bound.
		n, err := strconv.ParseUint(high, 10, 64)
		if err != nil && !isRange(err) {
			return garner.Dim{}, false
		}
		d.Max = int(min(n, garner.Unbounded))
	}
	return d, d.Min <= d.Max
}

func isRange(err error) bool {
	e, ok := err.(*strconv.NumError)
	return ok && e.Err == strconv.ErrRange
}

// portDim reads a port's dim; -1 means unknown.
func portDim(text string) (garner.Dim, bool) {
	n, ok := number(text, false)
	switch {
	case !ok || n < -1:
		return garner.Dim{}, false
	case n == -1 || n > math.MaxInt:
		return garner.AnyDim, true
	}
	return garner.Exactly(int(n)), true
}

// types has the element types by their names in attributes, in lower case. Invalid
// stands for types that garner lacks and for dynamic ones.
var types = map[string]garner.DType{
	"boolean": garner.Bool, "u1": garner.U1, "u2": garner.U2, "u3": garner.Invalid, "u4": garner.U4, "u6": garner.Invalid, "i4": garner.I4,
	"i8": garner.I8, "i16": garner.I16, "i32": garner.I32, "i64": garner.I64,
	"u8": garner.U8, "u16": garner.U16, "u32": garner.U32, "u64": garner.U64,
	"f16": garner.F16, "bf16": garner.BF16, "f32": garner.F32, "f64": garner.F64,
	"nf4": garner.NF4, "f4e2m1": garner.F4E2M1, "f8e4m3": garner.F8E4M3FN, "f8e5m2": garner.F8E5M2, "f8e8m0": garner.F8E8M0,
	"string": garner.String, "dynamic": garner.Invalid, "undefined": garner.Invalid,
}

// precisions has the element types that ports name otherwise than attributes.
var precisions = map[string]garner.DType{
	"FP16": garner.F16, "FP32": garner.F32, "FP64": garner.F64, "BOOL": garner.Bool, "BIN": garner.U1, "UNSPECIFIED": garner.Invalid,
}

// elementType finds the element type of a data attribute.
func elementType(name string) (garner.DType, bool) {
	t, ok := types[strings.ToLower(name)]
	return t, ok
}

// precision finds the element type that a port names, by the names of ports and
// those of attributes.
func precision(name string) (garner.DType, bool) {
	if t, ok := precisions[name]; ok {
		return t, ok
	}
	return elementType(name)
}

// names reads a port's tensor names, separated by commas; \, is a comma in a name.
// They are sorted by their bytes, as in OpenVINO, which uses the first where it
// needs one.
func names(text string) []string {
	var list []string
	var name strings.Builder
	end := func() {
		if name.Len() > 0 {
			list = append(list, name.String())
			name.Reset()
		}
	}
	for i := 0; i < len(text); i++ {
		switch {
		case text[i] == ',':
			end()
		case strings.HasPrefix(text[i:], `\,`):
			i++
			fallthrough
		default:
			name.WriteByte(text[i])
		}
	}
	end()
	slices.Sort(list)
	return list
}
