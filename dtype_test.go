package garner_test

import (
	"errors"
	"strings"
	"testing"

	"github.com/garner-go/garner"
)

func TestDTypeTable(t *testing.T) {
	const packed, integer, unsigned, float, complexNumber, noZero = 1, 2, 4, 8, 16, 32
	want := []struct {
		dtype garner.DType
		name  string
		bits  int
		is    int
	}{
		{garner.Bool, "bool", 8, 0},
		{garner.U1, "u1", 1, packed | integer | unsigned},
		{garner.I2, "i2", 2, packed | integer},
		{garner.U2, "u2", 2, packed | integer | unsigned},
		{garner.I4, "i4", 4, packed | integer},
		{garner.U4, "u4", 4, packed | integer | unsigned},
		{garner.NF4, "nf4", 4, packed | float | noZero},
		{garner.F4E2M1, "f4e2m1", 4, packed | float},
		{garner.I8, "i8", 8, integer},
		{garner.I16, "i16", 16, integer},
		{garner.I32, "i32", 32, integer},
		{garner.I64, "i64", 64, integer},
		{garner.U8, "u8", 8, integer | unsigned},
		{garner.U16, "u16", 16, integer | unsigned},
		{garner.U32, "u32", 32, integer | unsigned},
		{garner.U64, "u64", 64, integer | unsigned},
		{garner.F16, "f16", 16, float},
		{garner.BF16, "bf16", 16, float},
		{garner.F32, "f32", 32, float},
		{garner.F64, "f64", 64, float},
		{garner.F8E4M3FN, "f8e4m3fn", 8, float},
		{garner.F8E5M2, "f8e5m2", 8, float},
		{garner.F8E4M3FNUZ, "f8e4m3fnuz", 8, float},
		{garner.F8E5M2FNUZ, "f8e5m2fnuz", 8, float},
		{garner.F8E8M0, "f8e8m0", 8, float | noZero},
		{garner.Complex64, "complex64", 64, complexNumber},
		{garner.Complex128, "complex128", 128, complexNumber},
		{garner.String, "string", 0, 0},
	}
	all := garner.DTypes()
	if len(all) != len(want) {
		t.Fatalf("there are %d dtypes, want %d", len(all), len(want))
	}
	for i, w := range want {
		d := w.dtype
		if all[i] != d || !d.Valid() || d.String() != w.name || d.Bits() != w.bits {
			t.Errorf("dtype %d is %s of %d bits, want %s of %d", i, d, d.Bits(), w.name, w.bits)
		}
		is := 0
		for flag, holds := range map[int]bool{
			packed: d.Packed(), integer: d.IsInteger(), unsigned: d.IsUnsigned(),
			float: d.IsFloat(), complexNumber: d.IsComplex(), noZero: !d.HasZero(),
		} {
			if holds {
				is |= flag
			}
		}
		if is != w.is {
			t.Errorf("%s is %b, want %b", d, is, w.is)
		}
	}
	for _, d := range []garner.DType{garner.Invalid, 200} {
		if d.Valid() || d.Bits() != 0 || d.Packed() || d.IsInteger() || d.IsUnsigned() || d.IsFloat() || d.IsComplex() || d.HasZero() {
			t.Errorf("%s passes for a dtype", d)
		}
	}
	if got := garner.DType(200).String(); got != "dtype(200)" {
		t.Errorf("an unknown dtype prints as %s", got)
	}
	if got := garner.Invalid.String(); got != "invalid" {
		t.Errorf("Invalid prints as %s", got)
	}
}

func TestParseDType(t *testing.T) {
	for _, d := range garner.DTypes() {
		for _, name := range []string{d.String(), strings.ToUpper(d.String())} {
			if got, err := garner.ParseDType(name); err != nil || got != d {
				t.Errorf("%s is %s (%v)", name, got, err)
			}
		}
	}
	for name, want := range map[string]garner.DType{
		"boolean": garner.Bool, "uint1": garner.U1, "int2": garner.I2, "uint2": garner.U2, "int4": garner.I4, "uint4": garner.U4,
		"float4_e2m1fn": garner.F4E2M1, "FLOAT4E2M1": garner.F4E2M1, "int8": garner.I8, "int16": garner.I16, "int32": garner.I32,
		"int64": garner.I64, "uint8": garner.U8, "uint16": garner.U16, "uint32": garner.U32, "uint64": garner.U64,
		"float16": garner.F16, "half": garner.F16, "bfloat16": garner.BF16, "float32": garner.F32, "float": garner.F32,
		"float64": garner.F64, "double": garner.F64, "float8_e4m3fn": garner.F8E4M3FN, "F8_E4M3": garner.F8E4M3FN,
		"float8_e5m2": garner.F8E5M2, "float8_e4m3fnuz": garner.F8E4M3FNUZ, "float8_e5m2fnuz": garner.F8E5M2FNUZ,
		"float8_e8m0fnu": garner.F8E8M0, "float8e8m0": garner.F8E8M0, "c64": garner.Complex64, "c128": garner.Complex128, "str": garner.String,
	} {
		if got, err := garner.ParseDType(name); err != nil || got != want {
			t.Errorf("%s is %s (%v), want %s", name, got, err, want)
		}
	}
	for _, name := range []string{"", "invalid", "f33", "int", " f32", "dtype(200)"} {
		got, err := garner.ParseDType(name)
		if got != garner.Invalid || !errors.Is(err, garner.ErrDType) || !strings.HasPrefix(err.Error(), `garner: no dtype "`+name+`"; there are bool, u1, i2,`) {
			t.Errorf("%q is %s (%v)", name, got, err)
		}
	}
}
