package text

import (
	"bytes"
	"math"
	"strconv"
	"strings"

	"github.com/garner-go/garner"
	"github.com/garner-go/garner/internal/names"
	"github.com/garner-go/garner/model"
)

// An operation is an operator as the text has it.
type operation struct {
	at         int // where it begins
	name       string
	results    []result
	operands   []operand
	attributes map[string]any
	types      []garner.Spec // of the results
	regions    []*region
	symbols    []string // the functions that it names
	elements   *elements
	constant   *model.Constant // of elements, made once
}

// A result is a name and how many values it stands for.
type result struct {
	name string
	n    int
}

// An operand is one of the values of a name.
type operand struct {
	name string
	n    int
}

// A region is a list of operators with arguments. Those behind the first block's begin are in it too.
type region struct {
	arguments []argument
	body      []*operation
}

// An argument is that of a region.
type argument struct {
	name  string
	alias string // what its location says
	spec  garner.Spec
}

// fields are the entries of an attribute such as #stablehlo.gather<…>.
type fields map[string]any

// An alias is an attribute by its name, #name.
type alias string

// A raw is an attribute that the model has as text.
type raw string

// top reads the whole text.
func (r *reader) top() []*operation {
	var all []*operation
	for r.err == nil && r.peek() != 0 {
		switch {
		case r.take("{-#"):
			r.resourceSection()
		case r.take("#"):
			name := r.name()
			if r.expect("="); name == "loc" || strings.HasPrefix(name, "loc") && isDigit(name[len(name)-1]) {
				r.value(true) // a location
				continue
			}
			r.spend(attributeBytes)
			r.aliases[name] = r.value(true)
		case r.take("!"):
			name := r.name()
			r.expect("=")
			r.spend(attributeBytes)
			r.types[name] = r.typeOf()
		default:
			all = append(all, r.operation())
		}
	}
	return all
}

// resourceSection reads {-# dialect_resources: { builtin: { name: "0x…" } } #-}.
func (r *reader) resourceSection() {
	for r.err == nil && !r.take("#-}") {
		section := r.word()
		if r.expect(":"); section != "dialect_resources" {
			r.balanced()
			r.take(",")
			continue
		}
		r.expect("{")
		for r.err == nil && !r.take("}") {
			r.key()
			r.expect(":")
			r.expect("{")
			for r.err == nil && !r.take("}") {
				name := r.key()
				r.expect(":")
				at := r.quoted()
				r.spend(attributeBytes)
				if _, twice := r.resources[name]; twice {
					r.failf("there are two resources %s", names.Quote(name))
				}
				r.resources[name] = at
				r.take(",")
			}
			r.take(",")
		}
		r.take(",")
	}
}

// key reads a name or a string.
func (r *reader) key() string {
	if r.peek() == '"' {
		return r.text()
	}
	name := r.word()
	if name == "" {
		r.expected("a name")
	}
	return name
}

// operation reads an operator in either syntax.
func (r *reader) operation() *operation {
	r.skip()
	o := &operation{at: r.at}
	r.spend(nodeBytes)
	if r.peek() == '%' {
		r.results(o)
	}
	switch {
	case r.peek() == '"':
		o.name = r.text()
		r.generic(o)
	default:
		if o.name = r.word(); o.name == "" {
			r.expected("an operator")
			return o
		}
		if o.name == "func.func" || o.name == "func" {
			o.name = "func.func"
			r.function(o)
		} else {
			r.pretty(o)
		}
	}
	r.location()
	return o
}

// results reads %a, %b:2 = .
func (r *reader) results(o *operation) {
	for r.err == nil {
		r.expect("%")
		v := result{name: r.name(), n: 1}
		if r.take(":") {
			r.skip()
			n, err := strconv.Atoi(r.run(isDigit))
			if err != nil || n < 0 || n > 1<<16 {
				r.failf("%%%.40s stands for a number of values that no operator has", v.name)
			}
			v.n = n
		}
		r.spend(inputBytes + valueBytes*v.n)
		if o.results = append(o.results, v); !r.take(",") {
			break
		}
	}
	r.expect("=")
}

// location passes a loc(…), and gives its text where it is a string.
func (r *reader) location() string {
	at := r.at
	if !r.take("loc") {
		return ""
	}
	if r.peek() != '(' {
		r.at = at // another word
		return ""
	}
	in := r.balanced()
	if r.err != nil || in.to-in.from < 2 || r.b[in.from] != '"' || r.b[in.to-1] != '"' || in.to-in.from > 200 {
		return ""
	}
	name := string(r.b[in.from+1 : in.to-1])
	if strings.ContainsAny(name, `"\`) {
		return ""
	}
	return name
}

// generic reads what follows an operator's name in MLIR's generic syntax:
// (%a, %b) <{properties}> ({regions}) {attributes} : (types) -> types.
func (r *reader) generic(o *operation) {
	r.expect("(")
	for r.err == nil && !r.take(")") {
		r.expect("%")
		r.operand(o)
		if !r.take(",") && r.peek() != ')' {
			r.expected(") or ,")
		}
	}
	if r.take("[") { // successors
		r.at--
		r.balanced()
	}
	if r.take("<") {
		if r.peek() == '{' {
			r.dictionary(o)
		}
		r.expect(">")
	}
	if r.take("(") {
		for r.err == nil && !r.take(")") {
			if r.peek() != '{' {
				r.expected("a region")
			}
			o.regions = append(o.regions, r.region(nil))
			r.take(",")
		}
	}
	if r.peek() == '{' {
		r.dictionary(o)
	}
	r.expect(":")
	r.signature(o)
}

// operand reads what follows a %.
func (r *reader) operand(o *operation) {
	v := operand{name: r.name()}
	if r.at < len(r.b) && r.b[r.at] == '#' {
		r.at++
		n, err := strconv.Atoi(r.run(isDigit))
		if err != nil {
			r.failf("%%%.40s# has no number behind it", v.name)
		}
		v.n = n
	}
	r.spend(inputBytes)
	o.operands = append(o.operands, v)
}

// dictionary reads {name = value, …} to the operator's attributes.
func (r *reader) dictionary(o *operation) {
	r.deeper()
	defer r.shallower()
	r.expect("{")
	for r.err == nil && !r.take("}") {
		name := r.key()
		var value any = true
		if r.take("=") {
			value = r.value(true)
		}
		r.set(o, name, value)
		if !r.take(",") && r.peek() != '}' {
			r.expected("} or ,")
		}
	}
}

// set adds an attribute.
func (r *reader) set(o *operation, name string, value any) {
	if o.attributes == nil {
		o.attributes = make(map[string]any)
	}
	r.spend(attributeBytes + len(name))
	if e, ok := value.(*elements); ok && name == "value" && o.name == "stablehlo.constant" {
		o.elements = e
		return
	}
	if s, ok := value.(symbol); ok {
		o.symbols = append(o.symbols, string(s))
	}
	o.attributes[name] = value
}

// signature reads types: (T, T) -> T, (T) -> (T, T), or T, T, whose last is the result.
func (r *reader) signature(o *operation) {
	var all []garner.Spec
	if r.take("(") {
		for r.err == nil && !r.take(")") {
			r.typeOf()
			if !r.take(",") && r.peek() != ')' {
				r.expected(") or ,")
			}
		}
		r.expect("->")
		all = r.resultTypes()
	} else {
		for r.err == nil {
			if all = append(all, r.typeOf()); !r.take(",") {
				break
			}
		}
		if r.take("->") {
			all = r.resultTypes()
		}
	}
	n := 0
	for _, v := range o.results {
		n += v.n
	}
	if len(all) > n {
		all = all[len(all)-n:]
	}
	if len(all) < n {
		r.failf("%s has %d results and %d types of them", o.name, n, len(all))
	}
	o.types = all
}

// resultTypes reads T or (T, T).
func (r *reader) resultTypes() []garner.Spec {
	if !r.take("(") {
		return []garner.Spec{r.typeOf()}
	}
	var all []garner.Spec
	for r.err == nil && !r.take(")") {
		all = append(all, r.typeOf())
		r.location()
		if r.peek() == '{' {
			r.balanced()
		}
		if !r.take(",") && r.peek() != ')' {
			r.expected(") or ,")
		}
	}
	return all
}

// function reads what follows func.func: a region of its body, and attributes of its name.
func (r *reader) function(o *operation) {
	visibility := "public"
	if word := r.word(); word != "" {
		visibility = word
	}
	r.expect("@")
	o.attributes = map[string]any{"sym_name": r.name(), "sym_visibility": visibility}
	r.spend(scopeBytes)
	r.expect("(")
	var arguments []argument
	for r.err == nil && !r.take(")") {
		a := argument{}
		if r.take("%") {
			a.name = r.name()
			r.expect(":")
		}
		a.spec = r.typeOf()
		if r.peek() == '{' {
			r.balanced()
		}
		a.alias = r.location()
		r.spend(valueBytes)
		arguments = append(arguments, a)
		if !r.take(",") && r.peek() != ')' {
			r.expected(") or ,")
		}
	}
	if r.take("->") {
		r.functionResults(o)
	}
	if r.take("attributes") {
		r.balanced()
	}
	if r.peek() == '{' {
		o.regions = []*region{r.region(arguments)}
	}
}

// functionResults reads the types of a function's results and the names that JAX gives
// them.
func (r *reader) functionResults(o *operation) {
	if !r.take("(") {
		r.typeOf()
		return
	}
	var all []string
	for r.err == nil && !r.take(")") {
		r.typeOf()
		name := ""
		if r.peek() == '{' {
			d := &operation{}
			r.dictionary(d)
			if s, ok := d.attributes["jax.result_info"].(string); ok {
				name = s
			}
		}
		r.location()
		r.spend(inputBytes + len(name))
		all = append(all, name)
		if !r.take(",") && r.peek() != ')' {
			r.expected(") or ,")
		}
	}
	o.attributes["results"] = all
}

// region reads { ^bb0(%a: T): operators }.
func (r *reader) region(arguments []argument) *region {
	r.deeper()
	defer r.shallower()
	r.spend(scopeBytes)
	in := &region{arguments: arguments}
	r.expect("{")
	for r.err == nil && !r.take("}") {
		if r.take("^") {
			r.name()
			if r.take("(") {
				for r.err == nil && !r.take(")") {
					r.expect("%")
					a := argument{name: r.name()}
					r.expect(":")
					a.spec = r.typeOf()
					a.alias = r.location()
					r.spend(valueBytes)
					in.arguments = append(in.arguments, a)
					if !r.take(",") && r.peek() != ')' {
						r.expected(") or ,")
					}
				}
			}
			r.expect(":")
			continue
		}
		in.body = append(in.body, r.operation())
	}
	return in
}

// begins reports whether the next token begins an operator of its own.
func (r *reader) begins() bool {
	switch c := r.peek(); {
	case c == '%' || c == '"' || c == '^' || c == '}' || c == '#' || c == '!' || c == 0:
		return true
	case isLetter(c):
		at, newline := r.at, r.newline
		word := r.word()
		r.at, r.newline = at, newline
		switch word {
		case "return", "call", "module", "func":
			return true
		}
		return strings.Contains(word, ".")
	}
	return r.has("{-#")
}

// isRegion reports whether a { begins a region and not attributes: an operator, a block or
// nothing but an end follows.
func (r *reader) isRegion(o *operation) bool {
	at := r.at
	defer func() { r.at = at }()
	r.expect("{")
	switch c := r.peek(); {
	case c == '%' || c == '^':
		return true
	case c == '}':
		return o.name == "module" || o.name == "builtin.module"
	case c == '"':
		r.quoted()
		return r.peek() == '('
	case isLetter(c):
		r.word()
		c := r.peek()
		return c != '=' && c != ',' && c != '}'
	case c == '#' || c == '!':
		return true // it is refused there
	}
	return false
}

// pretty reads what follows an operator's name in its own syntax. It ends where a line
// begins with another operator, or the region ends. What the syntax says without names is
// given the names of the generic syntax by named.
func (r *reader) pretty(o *operation) {
	var words []string
	var arguments []argument // of the regions
	var bracket span
	nest, signed := 0, false
	for r.err == nil {
		c := r.peek()
		if c == 0 || c == '}' || nest == 0 && r.newline && r.begins() {
			break
		}
		switch {
		case c == '%':
			r.at++
			r.operand(o)
			last := len(o.operands) - 1
			switch {
			case nest > 0 && r.take("="): // %argument = %operand
				arguments = append(arguments, argument{name: o.operands[last].name, spec: model.Unknown})
				o.operands = o.operands[:last]
				r.spend(valueBytes)
			case nest > 0 && r.take(":"): // %argument: type
				a := argument{name: o.operands[last].name, spec: r.typeOf()}
				o.operands = o.operands[:last]
				r.location()
				arguments = append(arguments, a)
				r.spend(valueBytes)
			}
		case c == '"':
			r.quoted()
		case c == '@':
			r.at++
			r.spend(attributeBytes)
			o.symbols = append(o.symbols, r.name())
			r.newline = false
		case c == '(':
			nest++
			r.take("(")
		case c == ')':
			if nest--; nest < 0 {
				r.expected("the end of " + o.name)
			}
			r.take(")")
		case c == '[':
			bracket = r.balanced()
		case c == '<':
			if r.has("<{") {
				r.take("<")
				r.dictionary(o)
				r.expect(">")
			} else {
				r.balanced()
			}
		case c == '{':
			if nest == 0 && r.isRegion(o) {
				o.regions = append(o.regions, r.region(arguments))
				if o.name != "stablehlo.while" {
					arguments = nil
				}
			} else {
				r.dictionary(o)
			}
		case c == ':' && nest == 0 && !signed:
			r.take(":")
			signed = true
			r.signature(o)
		case c == '#' || c == '!':
			r.value(false)
		case isLetter(c):
			if r.has("loc(") || r.has("loc (") {
				r.location()
				continue
			}
			at := r.at
			word := r.word()
			switch {
			case r.peek() == '<':
				r.at = at
				if v, ok := r.value(false).(*elements); ok && o.elements == nil {
					o.elements = v
				}
			case nest == 0 && r.peek() == '=' && !r.has("=="):
				r.take("=")
				r.set(o, word, r.value(false))
			default:
				r.spend(inputBytes)
				words = append(words, word)
			}
		case r.take("->"):
		default:
			r.at++
			r.newline = false
		}
	}
	if nest > 0 {
		r.failAt(o.at, "%s has a bracket that does not close", o.name)
	}
	r.named(o, words, bracket)
	if !signed && len(o.results) > 0 && r.err == nil {
		r.failAt(o.at, "%s has results and no type of them", o.name)
	}
}

// renamed are the names of attributes in pretty syntax and what the generic syntax calls them.
var renamed = map[string]map[string]string{
	"stablehlo.broadcast_in_dim":         {"dims": "broadcast_dimensions"},
	"stablehlo.dynamic_broadcast_in_dim": {"dims": "broadcast_dimensions"},
	"stablehlo.broadcast":                {"sizes": "broadcast_sizes"},
	"stablehlo.iota":                     {"dim": "iota_dimension"},
	"stablehlo.dynamic_iota":             {"dim": "iota_dimension"},
	"stablehlo.concatenate":              {"dim": "dimension"},
	"stablehlo.get_dimension_size":       {"dim": "dimension"},
	"stablehlo.set_dimension_size":       {"dim": "dimension"},
	"stablehlo.transpose":                {"dims": "permutation"},
	"stablehlo.reverse":                  {"dims": "dimensions"},
	"stablehlo.dynamic_slice":            {"sizes": "slice_sizes"},
	"stablehlo.pad":                      {"low": "edge_padding_low", "high": "edge_padding_high", "interior": "interior_padding"},
}

// named gives attributes of the pretty syntax the names of the generic syntax.
func (r *reader) named(o *operation, words []string, bracket span) {
	for from, to := range renamed[o.name] {
		if v, ok := o.attributes[from]; ok {
			delete(o.attributes, from)
			o.attributes[to] = v
		}
	}
	word := func(i int, name string) {
		if i < len(words) {
			r.set(o, name, words[i])
		}
	}
	switch o.name {
	case "stablehlo.compare":
		word(0, "comparison_direction")
		word(1, "compare_type")
	case "stablehlo.reduce":
		var firsts []operand // %input init: %first, of each; the generic syntax has all inputs first
		inputs := o.operands[:0:0]
		for i, v := range o.operands {
			if i%2 == 0 {
				inputs = append(inputs, v)
			} else {
				firsts = append(firsts, v)
			}
		}
		o.operands = append(inputs, firsts...)
		if len(words) > 2 && words[1] == "applies" { // init applies OP across
			word(2, "applies")
		}
	case "stablehlo.slice":
		var lists [3][]int64
		for _, part := range strings.Split(string(r.b[bracket.from:bracket.to]), ",") {
			numbers := strings.Split(part, ":")
			if strings.TrimSpace(part) == "" {
				continue
			}
			if len(numbers) == 2 {
				numbers = append(numbers, "1")
			}
			for i, text := range numbers {
				n, err := strconv.ParseInt(strings.TrimSpace(text), 10, 64)
				if err != nil || len(numbers) != 3 {
					r.failAt(bracket.from, "%.40q is no range of a slice, which is START:LIMIT or START:LIMIT:STRIDE", part)
					return
				}
				lists[i] = append(lists[i], n)
			}
		}
		for i, name := range []string{"start_indices", "limit_indices", "strides"} {
			if lists[i] == nil {
				lists[i] = []int64{}
			}
			r.set(o, name, lists[i])
		}
	}
}

// A symbol is the name of a function.
type symbol string

// value reads an attribute. In a dictionary its type may follow it.
func (r *reader) value(typed bool) any {
	r.deeper()
	defer r.shallower()
	r.skip()
	from := r.at
	switch c := r.peek(); {
	case c == '"':
		s := r.text()
		r.spend(len(s))
		r.suffix(typed)
		return s
	case c == '@':
		r.at++
		name := r.name()
		for r.take("::") { // a symbol of a symbol
			r.expect("@")
			name = r.name()
		}
		r.spend(attributeBytes)
		return symbol(name)
	case c == '[':
		return r.list(from)
	case c == '{':
		r.balanced()
	case c == '(':
		r.balanced()
	case c == '!':
		r.typeOf()
	case c == '#':
		return r.hash()
	case isDigit(c) || c == '-' || c == '+':
		v := r.number()
		r.suffix(typed)
		return v
	case isLetter(c):
		word := r.word()
		switch {
		case word == "true" || word == "false":
			return word == "true"
		case (word == "dense" || word == "dense_resource") && r.peek() == '<':
			e := &elements{resource: word == "dense_resource", text: r.balanced()}
			if r.spend(attributeBytes); typed {
				r.expect(":")
				e.spec = r.typeOf()
			}
			return e
		case word == "array" && r.peek() == '<':
			in := r.balanced()
			_, list, ok := strings.Cut(string(r.b[in.from:in.to]), ":")
			if !ok {
				return []int64{}
			}
			return r.words(list, span{from, r.at})
		case r.peek() == '<':
			r.balanced()
			r.suffix(typed)
		case r.peek() == '(':
			r.balanced() // loc(…)
		}
	default:
		r.expected("a value")
		return nil
	}
	for r.take("->") {
		if r.peek() == '(' {
			r.balanced()
		} else {
			r.typeOf()
		}
	}
	r.spend(r.at - from)
	return raw(r.b[from:r.at])
}

// suffix passes the type behind a value.
func (r *reader) suffix(typed bool) {
	if typed && r.peek() == ':' && !r.has("::") {
		r.take(":")
		r.typeOf()
	}
}

// number reads an integer or a float.
func (r *reader) number() any {
	r.skip()
	text := r.run(func(c byte) bool {
		return isDigit(c) || 'a' <= c && c <= 'f' || 'A' <= c && c <= 'F' || c == 'x' || c == '.' || c == '-' || c == '+'
	})
	return numberOf(text)
}

// numberOf gives an int64 or a float64, or the text where it is neither.
func numberOf(text string) any {
	if n, err := strconv.ParseInt(text, 0, 64); err == nil {
		return n
	}
	if v, err := strconv.ParseFloat(text, 64); err == nil && !math.IsNaN(v) {
		return v
	}
	return raw(text)
}

// list reads [1, 2], or a list of other values as text.
func (r *reader) list(from int) any {
	in := r.balanced()
	if r.err != nil {
		return nil
	}
	b := r.b[in.from:in.to]
	if bytes.ContainsAny(b, `"[{<(`) {
		r.spend(r.at - from)
		return raw(r.b[from:r.at])
	}
	return r.words(string(b), span{from, r.at})
}

// words gives the values of a list, of one type: integers, or bools; other lists as text.
func (r *reader) words(text string, whole span) any {
	parts := strings.Split(text, ",")
	r.spend(32 * len(parts))
	if r.err != nil {
		return nil
	}
	if strings.TrimSpace(text) == "" {
		return []int64{}
	}
	var numbers []int64
	var bools []bool
	for _, p := range parts {
		p, _, _ = strings.Cut(strings.TrimSpace(p), ":") // 1 : i64
		p = strings.TrimSpace(p)
		if p == "true" || p == "false" {
			bools = append(bools, p == "true")
		} else if n, err := strconv.ParseInt(p, 10, 64); err == nil {
			numbers = append(numbers, n)
		}
	}
	switch len(parts) {
	case len(numbers):
		return numbers
	case len(bools):
		return bools
	}
	r.spend(whole.to - whole.from)
	return raw(r.b[whole.from:whole.to])
}

// hash reads #alias, #stablehlo.gather<name = value, …> or #stablehlo<kind WORD>.
func (r *reader) hash() any {
	r.skip()
	from := r.at
	r.expect("#")
	name := r.name()
	if r.err != nil || r.at >= len(r.b) || r.b[r.at] != '<' {
		return alias(name)
	}
	if name != "stablehlo.gather" {
		in := r.balanced()
		if words := strings.Fields(string(r.b[in.from:in.to])); name == "stablehlo" && len(words) == 2 && isLetter(words[1][0]) {
			return words[1]
		}
		r.spend(r.at - from)
		return raw(r.b[from:r.at])
	}
	r.expect("<")
	all := fields{}
	for r.err == nil && !r.take(">") {
		key := r.word()
		if key == "" {
			r.expected("a name")
			break
		}
		r.expect("=")
		r.spend(attributeBytes)
		if _, twice := all[key]; twice {
			r.failf("%s has %s twice", name, key)
		}
		all[key] = r.value(false)
		if !r.take(",") && r.peek() != '>' {
			r.expected("> or ,")
		}
	}
	return all
}

// dtypes are the names of element types.
var dtypes = map[string]garner.DType{
	"i1": garner.Bool, "i2": garner.I2, "i4": garner.I4, "i8": garner.I8, "i16": garner.I16, "i32": garner.I32, "i64": garner.I64,
	"ui1": garner.U1, "ui2": garner.U2, "ui4": garner.U4, "ui8": garner.U8, "ui16": garner.U16, "ui32": garner.U32, "ui64": garner.U64,
	"si2": garner.I2, "si4": garner.I4, "si8": garner.I8, "si16": garner.I16, "si32": garner.I32, "si64": garner.I64,
	"f16": garner.F16, "bf16": garner.BF16, "f32": garner.F32, "f64": garner.F64,
	"f4E2M1FN": garner.F4E2M1, "f8E4M3FN": garner.F8E4M3FN, "f8E5M2": garner.F8E5M2, "f8E4M3FNUZ": garner.F8E4M3FNUZ, "f8E5M2FNUZ": garner.F8E5M2FNUZ, "f8E8M0FNU": garner.F8E8M0,
	"complex<f32>": garner.Complex64, "complex<f64>": garner.Complex128,
}

// typeOf reads a type. What is no tensor is model.Unknown.
func (r *reader) typeOf() garner.Spec {
	r.deeper()
	defer r.shallower()
	switch c := r.peek(); {
	case c == '!':
		r.at++
		name := r.name()
		if r.at < len(r.b) && r.b[r.at] == '<' {
			r.balanced()
		}
		if spec, ok := r.types[name]; ok {
			return spec
		}
		return model.Unknown
	case c == '(': // of a function
		r.balanced()
		if r.take("->") {
			if r.peek() == '(' {
				r.balanced()
			} else {
				r.typeOf()
			}
		}
		return model.Unknown
	case !isLetter(c):
		r.expected("a type")
		return model.Unknown
	}
	word := r.word()
	if r.peek() != '<' {
		return model.Unknown
	}
	if word != "tensor" {
		r.balanced()
		return model.Unknown
	}
	at := r.at
	in := r.balanced()
	if r.err != nil {
		return model.Unknown
	}
	// An encoding may follow the element type.
	text := strings.TrimSpace(string(r.b[in.from:in.to]))
	if cut := strings.IndexByte(text, ','); cut >= 0 && !strings.Contains(text[:cut], "<") {
		text = text[:cut]
	}
	var dims []garner.Dim
	for {
		head, rest, ok := strings.Cut(text, "x")
		head = strings.TrimSpace(head)
		if head == "*" && ok {
			return garner.SpecOfRank(dtypes[strings.TrimSpace(rest)], garner.AnyDim)
		}
		if head == "?" && ok {
			dims = append(dims, garner.AnyDim)
		} else if ok && head != "" && isDigit(head[0]) {
			n, err := strconv.Atoi(head)
			if err != nil {
				r.failAt(at, "%.40q is no dim of a tensor", head)
				return model.Unknown
			}
			dims = append(dims, garner.Exactly(n))
		} else {
			break
		}
		if len(dims) > garner.MaxRank {
			r.failAt(at, "a tensor has more than %d dims", garner.MaxRank)
			return model.Unknown
		}
		text = rest
	}
	r.spend(dimBytes * len(dims))
	return garner.SpecOfDims(dtypes[strings.ReplaceAll(strings.TrimSpace(text), " ", "")], dims...)
}
