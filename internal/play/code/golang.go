package code

import (
	"fmt"
	"reflect"
	"slices"
	"strconv"
	"strings"

	"github.com/garner-go/garner"
)

// goTypes are the types of Go whose slices are tensors of a dtype.
var goTypes = map[garner.DType]string{
	garner.Bool: "bool", garner.I8: "int8", garner.I16: "int16", garner.I32: "int32", garner.I64: "int64", garner.U8: "uint8", garner.U16: "uint16",
	garner.U32: "uint32", garner.U64: "uint64", garner.F32: "float32", garner.F64: "float64", garner.Complex64: "complex64", garner.Complex128: "complex128",
	garner.String: "string",
}

// goName gives the name of a dtype in package garner.
func goName(d garner.DType) string {
	if d.IsComplex() || d == garner.Bool || d == garner.String {
		return strings.ToUpper(d.String()[:1]) + d.String()[1:]
	}
	return strings.ToUpper(d.String())
}

// golang writes a program in Go.
func (w *writer) golang() {
	t := reflect.TypeOf(w.bound)
	imports := []string{"github.com/garner-go/garner", t.PkgPath()}
	slices.Sort(imports)
	w.line("package main\n\nimport (\n\t\"fmt\"\n\t\"log\"\n")
	for _, name := range imports {
		w.line("\t%q", name)
	}
	w.line(")\n\nfunc main() {")
	w.goTensor("data", w.call.Data)
	args := []string{w.goOperator(t), "data", "garner.Tensor{}"}
	if garner.TakesIndices(w.op.Zero) {
		w.goTensor("indices", w.call.Indices)
		args[2] = "indices"
	}
	last := len(w.call.Operands)
	for last > 0 && !w.call.Operands[last-1].DType().Valid() {
		last--
	}
	for i, o := range w.call.Operands[:last] {
		if !o.DType().Valid() {
			args = append(args, "garner.Tensor{}")
			continue
		}
		name := goVariable(w.op.Further()[i])
		w.goTensor(name, o)
		args = append(args, name)
	}
	w.line("\tresult, err := garner.Gather(%s)\n\tif err != nil {\n\t\tlog.Fatal(err)\n\t}", strings.Join(args, ", "))
	w.line("\tfmt.Println(result.DType(), result.Shape(), result.Text())\n}")
}

// goVariable gives the name of an operand as a variable: zero_points is zeroPoints.
func goVariable(name string) string {
	words := strings.Split(name, "_")
	for i, word := range words[1:] {
		words[i+1] = strings.ToUpper(word[:1]) + word[1:]
	}
	return strings.Join(words, "")
}

// goOperator gives the operator as a literal of its struct.
func (w *writer) goOperator(t reflect.Type) string {
	var fields []string
	for _, a := range w.attributes {
		if a.zero {
			continue
		}
		var text string
		switch v := a.value.(type) {
		case string:
			text = strconv.QuoteToASCII(v)
		case []int:
			text = "[]int{" + ints(v) + "}"
		default:
			text = fmt.Sprint(v)
		}
		if a.pointer {
			text = "new(" + text + ")"
		}
		fields = append(fields, a.field+": "+text)
	}
	return t.String() + "{" + strings.Join(fields, ", ") + "}"
}

// goTensor declares a tensor.
func (w *writer) goTensor(name string, t garner.Tensor) {
	shape := ""
	if t.Rank() > 0 {
		shape = ", " + ints(t.Shape())
	}
	list := w.elements(t)
	kind, ok := goTypes[t.DType()]
	if d := t.DType(); d.IsFloat() || d.IsComplex() {
		for _, e := range list { // constants of Go have no NaN, infinity and negative zero
			ok = ok && !strings.Contains(e, "N") && !strings.Contains(e, "I") && !strings.Contains(e, "-0.0")
		}
	}
	if ok {
		var b strings.Builder
		for i, e := range list {
			if i > 0 {
				b.WriteString(", ")
			}
			switch d := t.DType(); {
			case d == garner.String:
				e = strconv.QuoteToASCII(e)
			case d.IsComplex():
				re, im := parts(e)
				e = "complex(" + re + ", " + im + ")"
			}
			b.WriteString(e)
		}
		w.line("\t%s := garner.Of([]%s{%s}%s)", name, kind, b.String(), shape)
		return
	}
	var b strings.Builder
	for i, c := range w.bytes(t) {
		if i > 0 {
			b.WriteString(", ")
		}
		fmt.Fprintf(&b, "%#02x", c)
	}
	w.line("\t// %s", strings.Join(list, ", "))
	w.line("\t%s, err := garner.FromBytes(garner.%s, []byte{%s}%s)\n\tif err != nil {\n\t\tlog.Fatal(err)\n\t}", name, goName(t.DType()), b.String(), shape)
}
