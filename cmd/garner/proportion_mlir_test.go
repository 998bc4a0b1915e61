package main

import (
	"fmt"
	"strings"
)

// costlyMLIR lists models as costlyONNX does. A function may be called many times, and a text may have
// operators, operands, attributes and brackets of few bytes each.
func costlyMLIR(size int) map[string][]byte {
	const head, tail = "func.func @main(%a: tensor<5x3xf32>, %i: tensor<2x1xi32>) -> tensor<2x3xf32> {\n", " return %g0 : tensor<2x3xf32>\n}\n"
	const gather = ` = "stablehlo.gather"(%%%s, %%i) <{dimension_numbers = #d, slice_sizes = array<i64: 1, 3>}> : (tensor<5x3xf32>, tensor<2x1xi32>) -> tensor<2x3xf32>` + "\n"
	const alias = "#d = #stablehlo.gather<offset_dims = [1], collapsed_slice_dims = [0], start_index_map = [0], index_vector_dim = 1>\n"
	filled := func(part func(i int) string) string {
		var b strings.Builder
		for i := 0; b.Len() < size; i++ {
			b.WriteString(part(i))
		}
		return b.String()
	}
	one := "%g0" + fmt.Sprintf(gather, "a")
	in := func(body string) []byte { return []byte(alias + head + one + body + tail) }
	all := map[string][]byte{
		"gathers": in(filled(func(i int) string { return fmt.Sprint("%h", i) + fmt.Sprintf(gather, "a") })),
		"gathers of one long name": []byte(strings.ReplaceAll(alias+head, "%a:", "%"+strings.Repeat("n", size/2)+":") +
			"%g0" + fmt.Sprintf(gather, strings.Repeat("n", size/2)) + tail),
		"gathers in a function that is called": []byte(alias + head + one +
			filled(func(int) string { return " call @f(%a, %i) : (tensor<5x3xf32>, tensor<2x1xi32>) -> ()\n" }) + tail +
			strings.Replace(head, "@main", "private @f", 1) + one + tail),
		"functions that are called twice": []byte(alias + head + one + " call @f0(%a, %i) : (tensor<5x3xf32>, tensor<2x1xi32>) -> ()\n" + tail +
			filled(func(i int) string {
				call := fmt.Sprintf(" call @f%d(%%a, %%i) : (tensor<5x3xf32>, tensor<2x1xi32>) -> ()\n", i+1)
				return fmt.Sprintf("func.func private @f%d(%%a: tensor<5x3xf32>, %%i: tensor<2x1xi32>) {\n%s%s return\n}\n", i, call, call)
			})),
		"operators in a function that is called": []byte(head + one +
			filled(func(int) string { return " call @f(%a) : (tensor<5x3xf32>) -> ()\n" }) + tail +
			"func.func private @f(%a: tensor<5x3xf32>) {\n" + strings.Repeat(" %x = stablehlo.add %a, %a : tensor<5x3xf32>\n", 30) + " return\n}\n" + alias),
		"operators":        in(filled(func(int) string { return "x.y\n" })),
		"operands":         in(" x.y " + filled(func(int) string { return "%a," }) + "\n"),
		"results":          in(filled(func(i int) string { return fmt.Sprintf("%%r%d:60000=x.y:f32\n", i) })),
		"attributes":       in(" x.y {" + filled(func(i int) string { return fmt.Sprintf("a%d,", i) }) + "}\n"),
		"a list":           in(" x.y {a = [" + filled(func(int) string { return "1," }) + "1]}\n"),
		"words":            in(" x.y " + filled(func(int) string { return "a " }) + "\n"),
		"regions":          in(" x.y " + filled(func(int) string { return "{^b:}" }) + "\n"),
		"nested regions":   in(filled(func(int) string { return "x.y{\n%" })),
		"nested lists":     in(" x.y {a = " + filled(func(int) string { return "[" })),
		"lines":            in(filled(func(int) string { return "\n" })),
		"comments":         in(filled(func(int) string { return "//\n" })),
		"dims":             in(" x.y : tensor<" + filled(func(int) string { return "1x" }) + "f32>\n"),
		"constants":        in(filled(func(i int) string { return fmt.Sprintf("%%k%d=x.y dense<1>:tensor<f32>\n", i) })),
		"aliases":          append([]byte(filled(func(i int) string { return fmt.Sprintf("#a%d=1\n", i) })), in("")...),
		"results of names": []byte(alias + strings.Replace(head, "-> tensor<2x3xf32>", "-> ("+filled(func(int) string { return "f32," })+"f32)", 1) + one + tail),
		"what it returns":  []byte(alias + head + one + " return " + filled(func(int) string { return "%a," }) + "%a : f32\n}\n"),
		"public functions": []byte(alias + head + one + tail + filled(func(i int) string { return fmt.Sprintf("func.func @f%d(%%a:f32) {\nreturn\n}\n", i) })),
	}
	return all
}
