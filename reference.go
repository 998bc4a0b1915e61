package garner

// copyFrom copies the elements of src, of the same dtype and shape, position by
// position.
func (t Tensor) copyFrom(src Tensor) error {
	n := src.Len()
	for i := range n {
		copyElement(t, t.position(i), src, src.position(i))
	}
	return nil
}

// position is where the i-th element in row-major order stands, in elements.
func (t *Tensor) position(i int) int {
	at := t.offset
	for axis := len(t.shape) - 1; axis >= 0; axis-- {
		d := t.shape[axis]
		at += i % d * t.strides[axis]
		i /= d
	}
	return at
}

// copyElement copies one element between tensors of one dtype, by its bits.
func copyElement(dst Tensor, to int, src Tensor, from int) {
	switch bits := src.dtype.Bits(); {
	case src.dtype == String:
		dst.strs[to] = src.strs[from]
	case bits < 8:
		setPacked(dst.buf, to, bits, packed(src.buf, from, bits))
	default:
		w := bits / 8
		copy(dst.buf[to*w:(to+1)*w], src.buf[from*w:(from+1)*w])
	}
}

// packed reads element i of a packed type of the given width.
func packed(b []byte, i, bits int) byte {
	per := 8 / bits
	return b[i/per] >> (i % per * bits) & (1<<bits - 1)
}

// setPacked writes element i of a packed type and leaves its neighbours alone.
func setPacked(b []byte, i, bits int, v byte) {
	per := 8 / bits
	shift := i % per * bits
	mask := byte(1<<bits-1) << shift
	b[i/per] = b[i/per]&^mask | v<<shift&mask
}
