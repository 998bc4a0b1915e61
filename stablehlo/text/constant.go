package text

import (
	"bytes"
	"encoding/binary"
	"math"
	"strconv"

	"github.com/garner-go/garner"
	"github.com/garner-go/garner/internal/convert"
	"github.com/garner-go/garner/internal/names"
	"github.com/garner-go/garner/model"
)

// Elements are dense<…> or dense_resource<…>.
type elements struct {
	resource bool
	text     span // between the < and the >
	spec     garner.Spec
	made     any // of an attribute: a list or a *model.Constant, made once for all calls of its function
}

// constantOf gives the constant of an operator, one for all calls of its function.
func (r *reader) constantOf(o *operation, v *model.Value) *model.Constant {
	if o.constant == nil {
		o.elements.spec = v.Spec
		o.constant = r.elementsOf(v.Name, o.elements)
	}
	return o.constant
}

// attributeOf gives an attribute: a short list of integers or bools as a list, others as a constant.
func (r *reader) attributeOf(name string, e *elements) any {
	if e.made == nil {
		c := r.elementsOf(name, e)
		if list, ok := smallIntegers(c); ok {
			e.made = list
		} else {
			e.made = c
		}
	}
	return e.made
}

// smallIntegers gives the elements of a vector of integers or bools that is as short as a list of dims.
func smallIntegers(c *model.Constant) (any, bool) {
	n := c.Spec.Dims
	if len(n) != 1 || n[0].Max > garner.MaxRank {
		return nil, false
	}
	t, err := c.Tensor()
	if err != nil {
		return nil, false
	}
	if t.DType() == garner.Bool {
		if t, err = t.Clone(); err != nil {
			return nil, false
		}
		list, err := garner.Values[bool](t)
		return list, err == nil
	}
	list := make([]int64, t.Len())
	for i := range list {
		v, err := t.Int(i)
		if err != nil {
			return nil, false
		}
		list[i] = int64(v.Bits)
	}
	return list, true
}

// elementsOf makes a constant that decodes its text when it is asked for.
func (r *reader) elementsOf(name string, e *elements) *model.Constant {
	r.spend(constantBytes)
	at, line := e.text, r.line(e.text.from)
	refuse := func(format string, args ...any) *model.Constant {
		err := error(&model.Error{Path: r.path, Line: line, At: "constant " + names.Quote(name), Err: garner.Errorf(nil, format, args...)})
		return model.NewUnread(name, e.spec, err)
	}
	shape, ok := e.spec.Shape()
	if _, fits := shape.Len(); !ok || !fits {
		r.failAt(e.text.from, "the shape %s of a constant is not known, or holds more elements than an int can count", e.spec)
		return refuse("its shape is not known")
	}
	if e.spec.DType == garner.Invalid {
		return refuse("its elements are of a type that garner lacks")
	}
	if e.resource {
		key := resourceName(r.b[at.from:at.to])
		if at, ok = r.resources[key]; !ok {
			return refuse("its elements are in the resource %s, and the text has no such; print the model with its resources", names.Quote(key))
		}
	}
	spec, resource, path := e.spec, e.resource, r.path
	c := model.NewConstant(name, spec, func() (garner.Tensor, error) {
		t, err := r.tensorOf(at, func(b []byte) (garner.Tensor, error) { return decode(b, spec.DType, shape, resource) })
		if err != nil {
			err = &model.Error{Path: path, Line: line, At: "constant " + names.Quote(name), Err: err}
		}
		return t, err
	})
	c.Encoded = true
	return c
}

// resourceName gives the name of a resource, which may be in quotes.
func resourceName(b []byte) string {
	s := scanner{b: b}
	if s.peek() == '"' {
		return s.text()
	}
	return string(bytes.TrimSpace(b))
}

// decode reads elements: one for all, nested lists, or bytes in hexadecimal.
func decode(b []byte, dtype garner.DType, shape garner.Shape, resource bool) (garner.Tensor, error) {
	b = bytes.TrimSpace(b)
	n, _ := shape.Len()
	switch {
	case resource:
		return decodeHex(b, dtype, shape, 4)
	case len(b) > 0 && b[0] == '"':
		return decodeHex(bytes.Trim(b, `"`), dtype, shape, 0)
	case len(b) == 0 || n == 0:
		if n != 0 || len(b) > 0 && b[0] != '[' {
			return garner.Tensor{}, garner.Errorf(garner.ErrShape, "%.20q does not have the %d elements of %s", b, n, shape)
		}
		return garner.New(dtype, shape...)
	}
	d := decoder{scanner: scanner{b: b}, dtype: dtype, shape: shape, width: max(dtype.Bits(), 8) / 8}
	d.doubles, _ = convert.Between(garner.F64, realOf(dtype))
	splat := b[0] != '['
	if !splat && n > len(b) {
		return garner.Tensor{}, garner.Errorf(garner.ErrShape, "its text of %d bytes cannot have the %d elements of %s", len(b), n, shape)
	}
	if splat {
		d.shape, n = nil, 1
	}
	d.made = make([]byte, 0, n*d.width)
	d.list(0)
	if d.err == nil && d.peek() != 0 {
		d.expected("the end of its elements")
	}
	if d.err != nil {
		e := d.err.(*model.Error)
		return garner.Tensor{}, garner.Errorf(garner.ErrShape, "line %d, column %d of its elements: %v", e.Line, e.Column, e.Err)
	}
	return d.tensor(shape, splat)
}

// realOf gives the type of the parts of a complex type, and any other as it is.
func realOf(dtype garner.DType) garner.DType {
	switch dtype {
	case garner.Complex64:
		return garner.F32
	case garner.Complex128:
		return garner.F64
	}
	return dtype
}

// decodeHex reads bytes in hexadecimal behind 0x, without the first of them. As many as
// one element has are those of all. Types of less than a byte take one each, or are packed.
func decodeHex(b []byte, dtype garner.DType, shape garner.Shape, without int) (garner.Tensor, error) {
	n, _ := shape.Len()
	if len(b) < 2+2*without || len(b)%2 != 0 || string(b[:2]) != "0x" {
		return garner.Tensor{}, garner.Errorf(nil, "its bytes do not begin with 0x, or end within a byte: the file is damaged; get it again")
	}
	b = b[2+2*without:]
	d := decoder{dtype: dtype, width: max(dtype.Bits(), 8) / 8}
	size := len(b) / 2
	packed := dtype.Packed() || dtype == garner.Bool
	bits := dtype.Bits()
	if dtype == garner.Bool {
		bits = 1
	}
	splat := size == d.width && n != 1
	dense := packed && !splat && n <= 8*size && int64(size) == (int64(n)*int64(bits)+7)/8 && size != n
	if !splat && !dense && (n > size || size != n*d.width) {
		return garner.Tensor{}, garner.Errorf(garner.ErrShape, "it has %d bytes; %s%s takes %d", size, dtype, shape, n*d.width)
	}
	made := make([]byte, size)
	for i := range made {
		high, ok := digitOf(b[2*i])
		low, also := digitOf(b[2*i+1])
		if !ok || !also {
			return garner.Tensor{}, garner.Errorf(nil, "%.2q is no byte in hexadecimal: the file is damaged; get it again", b[2*i:])
		}
		made[i] = high<<4 | low
	}
	d.made = made
	if dense { // low bits first
		d.made = make([]byte, n)
		for i := range n {
			d.made[i] = made[i*bits/8] >> (i * bits % 8) & (1<<bits - 1)
		}
	}
	if dtype == garner.Bool {
		for i, v := range d.made {
			if d.made[i] = 0; v != 0 {
				d.made[i] = 1
			}
		}
	}
	return d.tensor(shape, splat)
}

// A decoder reads elements as text.
type decoder struct {
	scanner
	dtype   garner.DType
	shape   garner.Shape
	width   int         // bytes that an element takes in made
	doubles convert.Run // of a float of 16 bits
	values  []float64   // of the codes of a float of up to 8 bits
	made    []byte      // little-endian
}

// tensor makes a tensor of the elements: of the one for all, a view of it.
func (d *decoder) tensor(shape garner.Shape, splat bool) (garner.Tensor, error) {
	b := d.made
	if d.dtype.Packed() {
		per, bits := 8/d.dtype.Bits(), d.dtype.Bits()
		b = make([]byte, (len(d.made)+per-1)/per)
		for i, v := range d.made {
			b[i/per] |= v & (1<<bits - 1) << (i % per * bits)
		}
	}
	if splat && len(shape) > 0 {
		return garner.FromStrided(d.dtype, b, 0, shape, make([]int, len(shape)))
	}
	return garner.FromBytes(d.dtype, b, shape...)
}

// list reads lists of lists of elements, as the shape says.
func (d *decoder) list(level int) {
	if level == len(d.shape) {
		d.element()
		return
	}
	d.expect("[")
	for i := range d.shape[level] {
		if d.err != nil {
			return
		}
		if i > 0 {
			d.expect(",")
		}
		d.list(level + 1)
	}
	d.expect("]")
}

// element reads one element.
func (d *decoder) element() {
	if !d.dtype.IsComplex() {
		d.part(d.dtype)
		return
	}
	d.expect("(")
	d.part(realOf(d.dtype))
	d.expect(",")
	d.part(realOf(d.dtype))
	d.expect(")")
}

// part reads a number or a bool.
func (d *decoder) part(dtype garner.DType) {
	d.skip()
	at := d.at
	text := d.run(func(c byte) bool { return isLetter(c) || isDigit(c) || c == '.' || c == '-' || c == '+' })
	code, ok := d.code(dtype, text)
	if !ok {
		d.failAt(at, "%.40q is no %s", text, dtype)
		return
	}
	var word [8]byte
	binary.LittleEndian.PutUint64(word[:], code)
	d.made = append(d.made, word[:max(dtype.Bits(), 8)/8]...)
}

// code gives the bits of an element. MLIR reads a decimal as a double, and rounds that.
func (d *decoder) code(dtype garner.DType, text string) (uint64, bool) {
	bits := dtype.Bits()
	switch {
	case dtype == garner.Bool:
		switch text {
		case "true", "1", "-1":
			return 1, true
		case "false", "0":
			return 0, true
		}
		return 0, false
	case dtype.IsUnsigned():
		v, err := strconv.ParseUint(text, 0, bits)
		return v, err == nil
	case dtype.IsInteger():
		if v, err := strconv.ParseInt(text, 0, bits); err == nil {
			return uint64(v), true
		}
		if len(text) > 2 && text[:2] == "0x" { // bits
			v, err := strconv.ParseUint(text, 0, bits)
			return v, err == nil
		}
		return 0, false
	}
	if len(text) > 2 && text[:2] == "0x" {
		v, err := strconv.ParseUint(text[2:], 16, bits)
		return v, err == nil
	}
	if text == "" || !isDigit(text[len(text)-1]) && text[len(text)-1] != '.' {
		return 0, false // words such as inf, which MLIR does not have
	}
	v, err := strconv.ParseFloat(text, 64)
	if err != nil && !math.IsInf(v, 0) {
		return 0, false
	}
	if dtype == garner.F64 {
		return math.Float64bits(v), true
	}
	if dtype == garner.F32 {
		return uint64(math.Float32bits(float32(v))), true
	}
	if bits <= 8 {
		return d.nearest(dtype, v)
	}
	var from, to [8]byte
	binary.LittleEndian.PutUint64(from[:], math.Float64bits(v))
	d.doubles.Into(to[:bits/8], from[:])
	return binary.LittleEndian.Uint64(to[:]), true
}

// nearest gives the code of a float of up to 8 bits that is nearest to a number, of two as near the
// even one; a number beyond the greatest has none.
func (d *decoder) nearest(dtype garner.DType, v float64) (uint64, bool) {
	if d.values == nil {
		codes := make([]byte, 256)
		for i := range codes {
			codes[i] = byte(i)
		}
		n := 1 << dtype.Bits()
		if n < 256 { // of 4 bits, two in each byte
			for i := range n / 2 {
				codes[i] = byte(2*i) | byte(2*i+1)<<4
			}
		}
		t, err := garner.FromBytes(dtype, codes[:n*dtype.Bits()/8], n)
		if err != nil {
			return 0, false
		}
		for i := range n {
			x, err := t.Float64(i)
			if err != nil {
				return 0, false
			}
			d.values = append(d.values, x)
		}
	}
	best, least, most := 0, math.Inf(1), 0.0
	for code, x := range d.values {
		if math.IsNaN(x) || math.IsInf(x, 0) || math.Signbit(x) != math.Signbit(v) {
			continue
		}
		most = max(most, math.Abs(x))
		if by := math.Abs(x - v); by < least || by == least && code%2 == 0 {
			best, least = code, by
		}
	}
	return uint64(best), math.Abs(v) <= most
}
