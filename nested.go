package garner

import "strings"

// String is the dtype, the shape and, for a small tensor, the values.
func (t Tensor) String() string {
	if !t.dtype.Valid() {
		return "no tensor"
	}
	head := t.dtype.String() + t.shape.String()
	// Without elements there may still be many empty lists.
	shown := 1
	for _, d := range t.shape {
		if d == 0 {
			break
		}
		if shown *= min(d, 65); shown > 64 {
			return head
		}
	}
	return head + " " + t.Text()
}

// Text is the values as nested lists with commas, in full: what the literal
// syntax of the command reads back. Of Volatile memory that is gone it is Guard's
// error between angle brackets; Clone such a tensor first to get the error.
func (t Tensor) Text() string {
	if !t.dtype.Valid() {
		return ""
	}
	var b strings.Builder
	if err := t.guard(func() { t.appendText(&b, 0, t.mem.Offset) }); err != nil {
		return "<" + err.Error() + ">"
	}
	return b.String()
}

func (t *Tensor) appendText(b *strings.Builder, axis, at int) {
	if axis == len(t.shape) {
		var scratch [64]byte
		b.Write(t.appendElement(scratch[:0], at))
		return
	}
	b.WriteByte('[')
	for i := range t.shape[axis] {
		if i > 0 {
			b.WriteString(", ")
		}
		t.appendText(b, axis+1, at+i*t.strides[axis])
	}
	b.WriteByte(']')
}
