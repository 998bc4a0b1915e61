package run

import (
	"encoding/binary"
	"math"
	"slices"

	"github.com/garner-go/garner"
)

// scatterElements is ScatterElements without a reduction, in which the last update of equal
// indices stays, and in ONNX that with reduction=add, which adds updates one after the other.
func scatterElements(c *call) (garner.Tensor, error) {
	how, _ := c.node.Attributes["reduction"].(string)
	adds := c.onnx() && how == "add"
	if how != "" && how != "none" && !adds {
		return garner.Tensor{}, garner.Errorf(garner.ErrAttribute, "its reduction is %.40q; it is run without one", how)
	}
	in, err := c.inputs(3)
	if err != nil {
		return garner.Tensor{}, err
	}
	data, indices, updates := in[0], in[1], in[2]
	var a int64
	if c.onnx() {
		a, err = c.number("axis", 0)
	} else {
		a, err = c.scalar(3, "axis")
	}
	if err != nil {
		return garner.Tensor{}, err
	}
	axis, err := axisOf(a, data.Rank())
	if err != nil {
		return garner.Tensor{}, err
	}
	switch {
	case data.DType() != updates.DType():
		return garner.Tensor{}, garner.Errorf(garner.ErrDType, "its data is %s and its updates are %s; cast one", data.DType(), updates.DType())
	case data.DType() == garner.String || data.DType().Packed():
		return garner.Tensor{}, garner.Errorf(garner.ErrDType, "%s of %s is not run; it is of types of one byte and more", c.node.Op, data.DType())
	case adds && data.DType() != garner.I32 && data.DType() != garner.I64 && data.DType() != garner.F32:
		return garner.Tensor{}, garner.Errorf(garner.ErrDType, "%s with reduction=add of %s is not run; that of i32, i64 and f32 is", c.node.Op, data.DType())
	case indices.DType() != garner.I32 && indices.DType() != garner.I64:
		return garner.Tensor{}, garner.Errorf(garner.ErrDType, "its indices are %s; they must be i32 or i64", indices.DType())
	case !indices.Shape().Equal(updates.Shape()) || indices.Rank() != data.Rank():
		return garner.Tensor{}, mismatch("its indices are %s and its updates %s; they must have one shape, of the rank of its data %s", indices.Shape(), updates.Shape(), data.Shape())
	}
	for i, d := range indices.Shape() {
		if i != axis && d > data.Shape()[i] {
			return garner.Tensor{}, mismatch("its indices are %s, and its data %s has fewer elements along axis %d", indices.Shape(), data.Shape(), i)
		}
	}
	for _, t := range []garner.Tensor{data, updates} {
		if err := c.openvinoHolds(t); err != nil {
			return garner.Tensor{}, err
		}
	}
	c.mayRefuse()
	made, err := c.clone(data)
	if err != nil {
		return garner.Tensor{}, err
	}
	if indices, err = c.cast(indices, garner.I64); err != nil {
		return garner.Tensor{}, err
	}
	if !updates.Contiguous() {
		if updates, err = c.clone(updates); err != nil {
			return garner.Tensor{}, err
		}
	}
	indices, list, err := dense[int64](c.runner, indices)
	if err != nil || c.bare {
		return made, err
	}
	var put func(to, from []byte)
	if adds {
		put = addsTo(made.DType())
	}
	return made, scatterInto(made, indices, list, updates, axis, put)
}

// addsTo gives what adds an element to another. Integers wrap, and f32 is rounded.
func addsTo(d garner.DType) func(to, from []byte) {
	o := binary.NativeEndian
	switch d {
	case garner.F32:
		return func(to, from []byte) {
			o.PutUint32(to, math.Float32bits(math.Float32frombits(o.Uint32(to))+math.Float32frombits(o.Uint32(from))))
		}
	case garner.I32:
		return func(to, from []byte) { o.PutUint32(to, o.Uint32(to)+o.Uint32(from)) }
	}
	return func(to, from []byte) { o.PutUint64(to, o.Uint64(to)+o.Uint64(from)) }
}

// scatterInto stores updates at indices, which list has, along an axis, by put unless that is nil. All are row-major. An index
// outside is a *garner.IndexError.
func scatterInto(made, indices garner.Tensor, list []int64, updates garner.Tensor, axis int, put func(to, from []byte)) error {
	to, err := made.Bytes()
	if err != nil {
		return err
	}
	from, err := updates.Bytes()
	if err != nil {
		return err
	}
	size := made.DType().Bits() / 8
	strides := made.Shape().Strides()
	d, step := int64(made.Shape()[axis]), strides[axis]
	strides[axis] = 0
	n, at := 0, make([]int, indices.Rank())
	var bad *garner.IndexError
	for range len(list) {
		place := 0
		for i, p := range at {
			place += p * strides[i]
		}
		index := list[n]
		switch outside := index < -d || index >= d; {
		case outside && bad != nil:
			bad.Others++
		case outside:
			bad = &garner.IndexError{Position: slices.Clone(at), Value: garner.Index{Bits: uint64(index)}, Axis: axis, Dim: int(d), FromEnd: true, Total: len(list)}
		case bad == nil:
			if index < 0 {
				index += d
			}
			place += int(index) * step
			if at := to[place*size : (place+1)*size]; put != nil {
				put(at, from[n*size:])
			} else {
				copy(at, from[n*size:])
			}
		}
		n++
		for i := len(at) - 1; i >= 0; i-- {
			if at[i]++; at[i] < indices.Shape()[i] {
				break
			}
			at[i] = 0
		}
	}
	if bad != nil {
		return bad
	}
	return nil
}

// nonZero is NonZero: the positions of the elements that are not 0, a row for each dim.
func nonZero(c *call) (garner.Tensor, error) {
	c.strict = true
	in, err := c.widened(0)
	if err != nil {
		return garner.Tensor{}, err
	}
	t := in[0]
	c.pending, c.wide = garner.Invalid, false // positions are no f16
	if err := castable(t.DType(), garner.Bool); err != nil {
		return garner.Tensor{}, err
	}
	if c.bare {
		return garner.Tensor{}, errLeft // its shape is one of elements
	}
	if err := c.known(0); err != nil {
		return garner.Tensor{}, err
	}
	truths, err := c.cast(t, garner.Bool)
	if err != nil {
		return garner.Tensor{}, err
	}
	if c.bare {
		return garner.Tensor{}, errLeft
	}
	_, list, err := elements[bool](c.runner, truths)
	if err != nil {
		return garner.Tensor{}, err
	}
	if len(list) < truths.Len() { // it was broadcast
		if truths, err = c.clone(truths); err == nil {
			list, err = garner.Values[bool](truths)
		}
		if err != nil {
			return garner.Tensor{}, err
		}
	}
	count := 0
	for _, is := range list {
		if is {
			count++
		}
	}
	shape := t.Shape()
	if t.Rank() == 0 { // as ONNX Runtime has it
		shape = garner.Shape{1}
	}
	made, err := c.new(garner.I64, garner.Shape{len(shape), count})
	if err != nil || c.bare {
		return made, err
	}
	out, err := garner.Values[int64](made)
	if err != nil {
		return garner.Tensor{}, err
	}
	strides := shape.Strides() // none is 0, because an element is not
	k := 0
	for i, is := range list {
		if !is {
			continue
		}
		rest := i
		for axis, s := range strides {
			out[axis*count+k] = int64(rest / s)
			rest %= s
		}
		k++
	}
	return made, nil
}

// openvinoNonZero is OpenVINO's NonZero. Its CPU plugin holds 64-bit numbers in 32 bits, and a denormal is 0 in its
// constants and not 0 in what it is given.
func openvinoNonZero(c *call) (garner.Tensor, error) {
	t, err := c.input(0)
	if err != nil {
		return garner.Tensor{}, err
	}
	if err := c.openvinoHolds(t); err != nil {
		return garner.Tensor{}, err
	}
	if t.DType().IsFloat() {
		err := c.eachNumber(t, func(i int, v float64) error {
			if isDenormal(v) {
				return garner.Errorf(garner.ErrDType, "NonZero of element %d, %v, a denormal number, which OpenVINO takes for 0 in a constant; give an input that makes none such", i, v)
			}
			return nil
		})
		if err != nil {
			return garner.Tensor{}, err
		}
	}
	made, err := nonZero(c)
	if err != nil || c.bare {
		return made, err
	}
	return c.typed(made)
}

// trilu is Trilu: the elements on one side of a diagonal, and zeros on the other.
func trilu(c *call) (garner.Tensor, error) {
	t, err := c.input(0)
	if err != nil {
		return garner.Tensor{}, err
	}
	upper, err := c.number("upper", 1)
	if err != nil {
		return garner.Tensor{}, err
	}
	k, err := c.optionalScalar(1, "k")
	if err != nil {
		return garner.Tensor{}, err
	}
	if t.Rank() < 2 {
		return garner.Tensor{}, mismatch("it is of %s; it must have two dims", t.Shape())
	}
	if t.DType() == garner.String || t.DType().Packed() || !t.DType().HasZero() {
		return garner.Tensor{}, c.unsupportedType(t.DType())
	}
	made, err := c.clone(t)
	if err != nil || c.bare {
		return made, err
	}
	b, err := made.Bytes()
	if err != nil {
		return garner.Tensor{}, err
	}
	size := t.DType().Bits() / 8
	rows, columns := t.Shape()[t.Rank()-2], t.Shape()[t.Rank()-1]
	if columns == 0 {
		return made, nil
	}
	for i := range len(b) / size / columns {
		// The diagonal leaves the columns from first on, or those before it.
		first := min(max(int64(i%rows)+min(max(k, math.MinInt32), math.MaxInt32), -1), int64(columns))
		row := b[i*columns*size : (i+1)*columns*size]
		if upper != 0 {
			clear(row[:max(first, 0)*int64(size)])
		} else {
			clear(row[min(first+1, int64(columns))*int64(size):])
		}
	}
	return made, nil
}

// eyeLike is EyeLike: ones on a diagonal.
func eyeLike(c *call) (garner.Tensor, error) {
	v, err := c.unjoinedInput()
	if err != nil {
		return garner.Tensor{}, err
	}
	dtype := v.dtype()
	k, err := c.number("k", 0)
	if err != nil {
		return garner.Tensor{}, err
	}
	code, err := c.number("dtype", -1)
	if err != nil {
		return garner.Tensor{}, err
	}
	if code != -1 {
		if dtype, err = onnxType(code); err != nil {
			return garner.Tensor{}, err
		}
	}
	if v.unknown {
		return garner.Tensor{}, errLeft
	}
	shape := v.tensor.Shape()
	if len(shape) != 2 {
		return garner.Tensor{}, mismatch("it is of %s; it must have two dims", shape)
	}
	if err := castable(garner.Bool, dtype); err != nil {
		return garner.Tensor{}, err
	}
	made, err := c.new(garner.Bool, shape)
	if err != nil {
		return garner.Tensor{}, err
	}
	if !c.bare {
		list, err := garner.Values[bool](made)
		if err != nil {
			return garner.Tensor{}, err
		}
		for i := range int64(shape[0]) {
			if j := i + min(max(k, math.MinInt32), math.MaxInt32); j >= 0 && j < int64(shape[1]) {
				list[int(i)*shape[1]+int(j)] = true
			}
		}
	}
	return c.cast(made, dtype)
}

// compress is Compress: the slices along an axis, or without one the elements, whose
// condition is true.
func compress(c *call) (garner.Tensor, error) {
	in, err := c.inputs(2)
	if err != nil {
		return garner.Tensor{}, err
	}
	t, condition := in[0], in[1]
	if condition.DType() != garner.Bool || condition.Rank() != 1 {
		return garner.Tensor{}, garner.Errorf(garner.ErrDType, "its condition is %s%s; it must be a vector of bool", condition.DType(), condition.Shape())
	}
	a, flat := int64(0), true
	if c.node.Attributes["axis"] != nil {
		flat = false
		if a, err = c.number("axis", 0); err != nil {
			return garner.Tensor{}, err
		}
	}
	if err := c.known(1); err != nil {
		return garner.Tensor{}, err
	}
	if flat {
		if t, err = c.runner.reshape(t, garner.Shape{t.Len()}); err != nil {
			return garner.Tensor{}, err
		}
	}
	axis, err := axisOf(a, t.Rank())
	if err != nil {
		return garner.Tensor{}, err
	}
	if condition.Len() > t.Shape()[axis] {
		return garner.Tensor{}, mismatch("its condition has %d elements, and axis %d of %s has fewer", condition.Len(), axis, t.Shape())
	}
	_, keeps, err := dense[bool](c.runner, condition)
	if err != nil {
		return garner.Tensor{}, err
	}
	if len(keeps) < condition.Len() {
		return garner.Tensor{}, errLeft // the copy is a stand-in
	}
	var runs []garner.Tensor // runs of slices that are kept
	for i := 0; i < len(keeps); i++ {
		first := i
		for i < len(keeps) && keeps[i] {
			i++
		}
		if i > first {
			part, err := t.Slice(axis, first, i, 1)
			if err != nil {
				return garner.Tensor{}, err
			}
			runs = append(runs, part)
		}
	}
	if len(runs) == 0 {
		return t.Slice(axis, 0, 0, 1)
	}
	return c.join(runs, axis)
}

// oneHot is OneHot: values[1] at the indices, values[0] elsewhere. A negative index counts
// from the end; one outside is at no place.
func oneHot(c *call) (garner.Tensor, error) {
	indices, err := c.input(0)
	if err != nil {
		return garner.Tensor{}, err
	}
	depth, err := c.input(1)
	if err != nil {
		return garner.Tensor{}, err
	}
	if err := c.known(1); err != nil {
		return garner.Tensor{}, err
	}
	if !depth.DType().IsInteger() || depth.Len() != 1 {
		return garner.Tensor{}, mismatch("its depth is %s%s; it must be one integer", depth.DType(), depth.Shape())
	}
	d, err := depth.Int(0)
	if err != nil {
		return garner.Tensor{}, err
	}
	if n := int64(d.Bits); n <= 0 || n > math.MaxInt {
		return garner.Tensor{}, mismatch("its depth is %d; it must be positive", n)
	}
	values, err := c.input(2)
	if err != nil {
		return garner.Tensor{}, err
	}
	if values.Rank() != 1 || values.Len() != 2 {
		return garner.Tensor{}, mismatch("its values are %s; they must be two", values.Shape())
	}
	if !indices.DType().IsInteger() {
		return garner.Tensor{}, garner.Errorf(garner.ErrDType, "%s of indices of %s is not run; they must be integers", c.node.Op, indices.DType())
	}
	if indices.Rank() == 0 {
		return garner.Tensor{}, mismatch("its indices are one number; ONNX Runtime takes a vector and more")
	}
	a, err := c.number("axis", -1)
	if err != nil {
		return garner.Tensor{}, err
	}
	axis, err := axisOf(a, indices.Rank()+1)
	if err != nil {
		return garner.Tensor{}, err
	}
	n := int64(d.Bits)
	wide := append(append(append(garner.Shape{}, indices.Shape()[:axis]...), 1), indices.Shape()[axis:]...)
	if indices, err = c.cast(indices, garner.I64); err != nil {
		return garner.Tensor{}, err
	}
	if indices, err = c.runner.reshape(indices, wide); err != nil {
		return garner.Tensor{}, err
	}
	places := make([]int, len(wide))
	for i := range places {
		places[i] = 1
	}
	places[axis] = int(n)
	along, err := c.new(garner.I64, garner.Shape{int(n)})
	if err != nil {
		return garner.Tensor{}, err
	}
	if !c.bare {
		list, err := garner.Values[int64](along)
		if err != nil {
			return garner.Tensor{}, err
		}
		for i := range list {
			list[i] = int64(i)
		}
	}
	if along, err = along.Reshape(places...); err != nil {
		return garner.Tensor{}, err
	}
	shape, err := broadcastShape(wide, places)
	if err != nil {
		return garner.Tensor{}, err
	}
	hot, err := elementwise(c.runner, indices, along, shape, func(index, at int64) bool {
		return index == at || index == at-n
	})
	if err != nil {
		return garner.Tensor{}, err
	}
	var conditions []bool
	if !c.bare {
		if conditions, err = garner.Values[bool](hot); err != nil {
			return garner.Tensor{}, err
		}
	}
	dense := shape.Strides()
	return c.gatherFlat(values, shape, [][]int{dense}, func(at []int, i int) int {
		if conditions[at[0]+i] {
			return 1
		}
		return 0
	})
}
