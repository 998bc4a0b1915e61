package garner

import (
	"fmt"
	"math"
	"strings"
)

// A DType is the type of a tensor's elements. A gather copies bits, so only the
// width of a dtype matters to it. The rest of a dtype determines how values are
// parsed and printed, and which fills exist.
type DType uint8

// The element types. Packed types (narrower than a byte) are dense, low bits
// first, without row padding.
const (
	Invalid DType = iota
	Bool
	U1 // packed, 1 bit
	I2 // packed, 2 bits
	U2
	I4 // packed, 4 bits
	U4
	NF4    // packed, 4 bits: 4-bit NormalFloat; all bits zero is not the value 0
	F4E2M1 // packed, 4 bits: OCP microscaling FP4
	I8
	I16
	I32
	I64
	U8
	U16
	U32
	U64
	F16
	BF16
	F32
	F64
	F8E4M3FN
	F8E5M2
	F8E4M3FNUZ
	F8E5M2FNUZ
	F8E8M0 // powers of two only; no zero
	Complex64
	Complex128
	String
	numDTypes
)

type kind uint8

const (
	kindBool kind = iota
	kindInt
	kindUint
	kindFloat
	kindComplex
	kindString
)

// dtypes is the table of element types.
var dtypes = [numDTypes]struct {
	name    string
	bits    int
	kind    kind
	noZero  bool   // whether all bits zero is not the value 0
	aliases string // names in the corpora and in frameworks
}{
	Invalid:    {name: "invalid"},
	Bool:       {"bool", 8, kindBool, false, "boolean"},
	U1:         {"u1", 1, kindUint, false, "uint1"},
	I2:         {"i2", 2, kindInt, false, "int2"},
	U2:         {"u2", 2, kindUint, false, "uint2"},
	I4:         {"i4", 4, kindInt, false, "int4"},
	U4:         {"u4", 4, kindUint, false, "uint4"},
	NF4:        {"nf4", 4, kindFloat, true, ""},
	F4E2M1:     {"f4e2m1", 4, kindFloat, false, "float4_e2m1fn float4e2m1 f4e2m1fn"},
	I8:         {"i8", 8, kindInt, false, "int8"},
	I16:        {"i16", 16, kindInt, false, "int16"},
	I32:        {"i32", 32, kindInt, false, "int32"},
	I64:        {"i64", 64, kindInt, false, "int64"},
	U8:         {"u8", 8, kindUint, false, "uint8"},
	U16:        {"u16", 16, kindUint, false, "uint16"},
	U32:        {"u32", 32, kindUint, false, "uint32"},
	U64:        {"u64", 64, kindUint, false, "uint64"},
	F16:        {"f16", 16, kindFloat, false, "float16 half"},
	BF16:       {"bf16", 16, kindFloat, false, "bfloat16"},
	F32:        {"f32", 32, kindFloat, false, "float32 float"},
	F64:        {"f64", 64, kindFloat, false, "float64 double"},
	F8E4M3FN:   {"f8e4m3fn", 8, kindFloat, false, "float8_e4m3fn float8e4m3fn f8e4m3 f8_e4m3"},
	F8E5M2:     {"f8e5m2", 8, kindFloat, false, "float8_e5m2 float8e5m2 f8_e5m2"},
	F8E4M3FNUZ: {"f8e4m3fnuz", 8, kindFloat, false, "float8_e4m3fnuz float8e4m3fnuz"},
	F8E5M2FNUZ: {"f8e5m2fnuz", 8, kindFloat, false, "float8_e5m2fnuz float8e5m2fnuz"},
	F8E8M0:     {"f8e8m0", 8, kindFloat, true, "float8_e8m0fnu float8e8m0 f8_e8m0 f8e8m0fnu"},
	Complex64:  {"complex64", 64, kindComplex, false, "c64"},
	Complex128: {"complex128", 128, kindComplex, false, "c128"},
	String:     {"string", 0, kindString, false, "str"},
}

// DTypes returns every element type, in the order of the constants.
func DTypes() []DType {
	all := make([]DType, 0, numDTypes-1)
	for d := Invalid + 1; d < numDTypes; d++ {
		all = append(all, d)
	}
	return all
}

// String returns the short name: f32, i64, bool, string.
func (d DType) String() string {
	if d >= numDTypes {
		return fmt.Sprintf("dtype(%d)", uint8(d))
	}
	return dtypes[d].name
}

// Valid reports whether d is one of the constants other than Invalid.
func (d DType) Valid() bool { return d > Invalid && d < numDTypes }

// Bits returns the width of an element in bits, 0 for String.
func (d DType) Bits() int {
	if !d.Valid() {
		return 0
	}
	return dtypes[d].bits
}

// Packed reports whether an element is narrower than a byte.
func (d DType) Packed() bool { b := d.Bits(); return b > 0 && b < 8 }

// IsInteger reports whether d can hold indices: every signed and unsigned
// integer type, the packed ones included; not bool.
func (d DType) IsInteger() bool { return d.Valid() && (d.kind() == kindInt || d.kind() == kindUint) }

// IsUnsigned reports whether d is an unsigned integer type.
func (d DType) IsUnsigned() bool { return d.Valid() && d.kind() == kindUint }

// IsFloat reports whether d is a real floating-point type, of any width.
func (d DType) IsFloat() bool { return d.Valid() && d.kind() == kindFloat }

// IsComplex reports whether d is complex64 or complex128.
func (d DType) IsComplex() bool { return d.Valid() && d.kind() == kindComplex }

// HasZero reports whether all bits zero is the value 0 (false, ""): true for all
// types but nf4 and f8e8m0.
func (d DType) HasZero() bool { return d.Valid() && !dtypes[d].noZero }

func (d DType) kind() kind { return dtypes[d].kind }

var dtypeNames = func() map[string]DType {
	m := make(map[string]DType)
	for d := Invalid + 1; d < numDTypes; d++ {
		m[dtypes[d].name] = d
		for _, alias := range strings.Fields(dtypes[d].aliases) {
			m[alias] = d
		}
	}
	return m
}()

// ParseDType returns the dtype of a name: the short name or a framework's, such
// as f32 or float32, f8e8m0 or float8_e8m0fnu. Case does not matter. An unknown
// name is an ErrDType.
func ParseDType(name string) (DType, error) {
	if d, ok := dtypeNames[strings.ToLower(name)]; ok {
		return d, nil
	}
	names := make([]string, 0, numDTypes-1)
	for _, d := range DTypes() {
		names = append(names, d.String())
	}
	return Invalid, errorf(ErrDType, "no dtype %q; there are %s", name, strings.Join(names, ", "))
}

// numBytes returns the size of n elements of d in bytes, rounded up for packed
// types. ok is false if an offset in bytes, or in bits for packed types, would
// not fit an int.
func numBytes(d DType, n int) (size int, ok bool) {
	w := d.Bits()
	if w >= 8 {
		return mul(n, w/8)
	}
	if n > math.MaxInt/w {
		return 0, false
	}
	per := 8 / w
	return n/per + (n%per+per-1)/per, true
}
