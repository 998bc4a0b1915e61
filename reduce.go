package garner

// A term is a row of data that a bag reduces.
type term struct {
	row    int    // the position of its first element in memory, in elements; -1: the plan's fill
	weight uint64 // its bits
}

// termsOf returns the terms of a bag that count.
func (b *bags) termsOf(bag int) (terms []term) {
	for t, end := b.between(bag); t < end; t++ {
		v := b.valueOf(t)
		if b.leftOut(v, t) {
			continue
		}
		one := term{row: -1}
		if at, _ := b.position(v, b.Axes[0].Dim); at >= 0 {
			one.row = b.data.mem.Offset + b.Axes[0].offset(at)
		}
		if b.weights.dtype.Valid() {
			one.weight = b.weights.bits(b.weights.position(t))
		}
		terms = append(terms, one)
	}
	return terms
}

// reduce returns the bits of one element of a bag. column is its distance from the
// first element of a row, in elements.
func (b *bags) reduce(terms []term, column int) uint64 {
	a := arithmetics[b.DType]
	if len(terms) == 0 { // R.33
		if b.Bag.Empty.Given {
			return b.data.bits(b.data.mem.Offset + b.Axes[0].offset(b.Bag.Empty.At) + column)
		}
		return 0
	}
	weighted := b.weights.dtype.Valid()
	var sum uint64
	for i, t := range terms { // R.29
		var v uint64
		if t.row >= 0 {
			v = b.data.bits(t.row + column)
		} else if b.Outside == Fill {
			v = b.Fill.bits(b.Fill.mem.Offset)
		}
		if weighted {
			v = a.mul(v, t.weight)
		}
		switch {
		case i == 0 && b.Bag.FromZero && b.Bag.Reduction != Max: // R.30
			sum = a.add(0, v)
		case i == 0:
			sum = v
		case b.Bag.Reduction != Max:
			sum = a.add(sum, v)
		case a.greater(v, sum):
			sum = v
		}
	}
	divisor := a.of(len(terms))
	if weighted {
		divisor = 0
		for _, t := range terms {
			w := t.weight
			if b.Bag.Reduction == SqrtN {
				w = a.mul(w, w)
			}
			divisor = a.add(divisor, w)
		}
	}
	switch {
	case b.Bag.Reduction == SqrtN:
		divisor = a.sqrt(divisor)
	case b.Bag.Reduction != Mean:
		return sum
	}
	if b.Bag.Reciprocal && !weighted && b.DType.IsFloat() {
		return a.mul(sum, a.div(a.of(1), divisor))
	}
	return a.div(sum, divisor)
}

// defineBags sets the elements of dst, which is new and row-major, to those of the
// result from the first-th on.
func (b *bags) defineBags(dst Tensor, first int) {
	columns := b.Slice
	for _, l := range b.Loops[2:] {
		columns *= l.Extent
	}
	var terms []term
	for i := range dst.Len() {
		bag, column := (first+i)/columns, (first+i)%columns
		if i == 0 || column == 0 {
			terms = b.termsOf(bag)
		}
		at := column % b.Slice
		column /= b.Slice
		for n := len(b.Loops) - 1; n >= 2; n-- {
			at += column % b.Loops[n].Extent * b.Loops[n].Data
			column /= b.Loops[n].Extent
		}
		dst.setBits(dst.mem.Offset+i, b.reduce(terms, at))
	}
}
