package code

import (
	"fmt"
	"slices"
	"strings"

	"github.com/garner-go/garner"
	"github.com/garner-go/garner/internal/literal"
)

// command writes a command line of garner.
func (w *writer) command() {
	words := []string{"garner", string(w.op.Kind), shell(w.literal("data", w.call.Data))}
	if garner.TakesIndices(w.op.Zero) {
		words = append(words, shell(w.literal("indices", w.call.Indices)))
	}
	words = append(words, "--as", w.op.Name)
	for _, a := range w.attributes {
		switch v := a.value.(type) {
		case nil:
			if a.otherwise != "" {
				words = append(words, "--attr", a.name+"=null")
			}
		case int:
			switch {
			case a.zero && !a.pointer && a.otherwise == "" && !w.needed(a.name):
			case a.name == "axis" || a.name == "dim":
				words = append(words, "--axis", fmt.Sprint(v))
			case a.name == "batch_dims":
				words = append(words, "--batch-dims", fmt.Sprint(v))
			default:
				words = append(words, "--attr", fmt.Sprintf("%s=%d", a.name, v))
			}
		case bool:
			if v || a.pointer {
				words = append(words, "--attr", fmt.Sprintf("%s=%t", a.name, v))
			}
		case string:
			if v != "" {
				words = append(words, "--attr", shell(a.name+"="+v))
			}
		case []int:
			if !a.zero {
				words = append(words, "--attr", shell(fmt.Sprintf("%s=[%s]", a.name, strings.ReplaceAll(ints(v), " ", ""))))
			}
		}
	}
	for _, o := range w.operands {
		words = append(words, "--operand", shell(o.name+"="+w.literal(o.name, o.tensor)))
	}
	if w.long() {
		words = append(words, "--all")
	}
	w.line("%s", strings.Join(words, " "))
}

// needed reports whether the call gave a value although it is the field's zero: an input
// may have no default.
func (w *writer) needed(name string) bool {
	_, given := w.call.Values[name]
	return given && slices.Contains(w.op.Inputs(), name)
}

// long reports whether the command prints the result only if it is asked for all.
func (w *writer) long() bool {
	p, err := w.call.Prepare(w.bound)
	return err == nil && literal.Lists(p.Plan().Out, literal.Printed) > literal.Printed
}

// literal gives a tensor as a literal of garner with its type.
func (w *writer) literal(name string, t garner.Tensor) string {
	shape := t.Shape()
	for i, n := range shape {
		if n == 0 && i < len(shape)-1 {
			w.fail("a literal cannot show %s of shape %s: nested lists show no dims behind one of 0", name, shape)
		}
	}
	text := t.DType().String()
	if len(shape) == 0 {
		return text + "(" + t.Text() + ")"
	}
	return text + t.Text()
}

// shell quotes a word for a shell of POSIX, if it needs it. It cannot hold a NUL, and no
// literal does.
func shell(word string) string {
	plain := func(c rune) bool {
		return c >= '0' && c <= '9' || c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' || strings.ContainsRune("_-.=,/:", c)
	}
	if word != "" && strings.IndexFunc(word, func(c rune) bool { return !plain(c) }) < 0 {
		return word
	}
	return "'" + strings.ReplaceAll(word, "'", `'\''`) + "'"
}
