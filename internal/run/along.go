package run

import (
	"cmp"
	"math"
	"slices"

	"github.com/garner-go/garner"
)

// cumSum is CumSum, which adds from the first element on, or with reverse from the last.
func cumSum(c *call) (garner.Tensor, error) {
	c.strict = c.openvino()
	in, err := c.widened(0)
	if err != nil {
		return garner.Tensor{}, err
	}
	t := in[0]
	a, err := c.optionalScalar(1, "axis")
	if err != nil {
		return garner.Tensor{}, err
	}
	axis, err := axisOf(a, t.Rank())
	if err != nil {
		return garner.Tensor{}, err
	}
	var flags [2]bool
	for i, name := range []string{"exclusive", "reverse"} {
		v, err := c.number(name, 0)
		if err != nil {
			return garner.Tensor{}, err
		}
		flags[i] = v != 0
	}
	switch t.DType() {
	case garner.F32:
		return cumulate[float32](c, t, axis, flags[0], flags[1])
	case garner.F64:
		if !c.openvino() { // which adds in f32
			return cumulate[float64](c, t, axis, flags[0], flags[1])
		}
	case garner.I32:
		return cumulate[int32](c, t, axis, flags[0], flags[1])
	case garner.I64:
		return cumulate[int64](c, t, axis, flags[0], flags[1])
	}
	return garner.Tensor{}, c.unsupportedType(t.DType())
}

// optionalScalar is scalar, 0 where the node lacks the input.
func (c *call) optionalScalar(i int, name string) (int64, error) {
	if !c.has(i) {
		return 0, nil
	}
	return c.scalar(i, name)
}

func cumulate[T interface {
	int32 | int64 | float32 | float64
	garner.Element
}](c *call, t garner.Tensor, axis int, exclusive, reverse bool) (garner.Tensor, error) {
	narrow := c.openvino() && t.DType() == garner.I64
	if narrow {
		c.mayRefuse()
	}
	dense, err := c.clone(t)
	if err != nil || c.bare {
		return dense, err
	}
	v, err := garner.Values[T](dense)
	if err != nil {
		return garner.Tensor{}, err
	}
	d := t.Shape()[axis]
	inner, _ := t.Shape()[axis+1:].Len()
	for first := 0; first < len(v); first += d * inner {
		for k := range inner {
			at, step := first+k, inner
			if reverse {
				at, step = at+(d-1)*inner, -inner
			}
			var sum T
			for i := range d {
				x := v[at]
				if narrow && (float64(x) < math.MinInt32 || float64(x) > math.MaxInt32 || float64(sum+x) < math.MinInt32 || float64(sum+x) > math.MaxInt32) {
					return garner.Tensor{}, garner.Errorf(garner.ErrDType, "%s of i64 is not run beyond i32, in which OpenVINO computes it", c.node.Op)
				}
				switch {
				case exclusive:
					v[at] = sum
					sum += x
				case i == 0: // a sum from 0 on would lose the sign of -0
					sum = x
				default:
					sum += x
					v[at] = sum
				}
				at += step
			}
		}
	}
	return dense, nil
}

// rowsAlong returns a tensor with an axis behind the others, as a row-major matrix whose rows
// run along the axis, and the order of dims that moves it back.
func (r *runner) rowsAlong(t garner.Tensor, axis int) (rows garner.Tensor, back []int, err error) {
	order := make([]int, 0, t.Rank())
	back = make([]int, t.Rank())
	for i := range t.Rank() {
		if i != axis {
			back[i] = len(order)
			order = append(order, i)
		}
	}
	order = append(order, axis)
	back[axis] = t.Rank() - 1
	if t, err = t.Transpose(order...); err != nil {
		return garner.Tensor{}, nil, err
	}
	d := t.Shape()[t.Rank()-1]
	n, _ := t.Shape()[:t.Rank()-1].Len()
	rows, err = r.reshape(t, garner.Shape{n, d})
	return rows, back, err
}

// moveBack gives rows along an axis, each of k elements, the dims of t.
func (r *runner) moveBack(rows garner.Tensor, t garner.Tensor, axis, k int, back []int) (garner.Tensor, error) {
	shape := slices.Delete(slices.Clone(t.Shape()), axis, axis+1)
	rows, err := r.reshape(rows, append(shape, k))
	if err != nil {
		return garner.Tensor{}, err
	}
	return rows.Transpose(back...)
}

// A key is a number as it compares with others of its dtype.
type key struct {
	whole int64
	real  float64
}

func (k key) compare(other key) int {
	if c := cmp.Compare(k.whole, other.whole); c != 0 {
		return c
	}
	switch {
	case k.real < other.real:
		return -1
	case k.real > other.real:
		return 1
	}
	return 0
}

// keysOf reads a vector of numbers; false where one is NaN.
func keysOf(row garner.Tensor, to []key) (bool, error) {
	for i := range to {
		if row.DType().IsFloat() {
			v, err := row.Float64(i)
			if err != nil || v != v {
				return false, err
			}
			to[i] = key{real: v}
			continue
		}
		v, err := row.Int(i)
		if err != nil {
			return false, err
		}
		to[i] = key{whole: int64(v.Bits)}
		if v.Unsigned {
			to[i].whole = int64(v.Bits ^ 1<<63)
		}
	}
	return true, nil
}

// topK is TopK. Equal numbers are in the order of their positions; where a runtime promises
// no order, only what does not depend on it is run.
func topK(c *call) ([]garner.Tensor, error) {
	t, err := c.input(0)
	if err != nil {
		return nil, err
	}
	if !t.DType().IsInteger() && !t.DType().IsFloat() {
		return nil, c.unsupportedType(t.DType())
	}
	if err := c.openvinoHolds(t); err != nil {
		return nil, err
	}
	o, err := c.topKOptions()
	if err != nil {
		return nil, err
	}
	axis, err := axisOf(o.axis, t.Rank())
	if err != nil {
		return nil, err
	}
	d := t.Shape()[axis]
	if o.k < 0 || o.k > int64(d) || o.k == 0 && c.openvino() {
		return nil, mismatch("its k is %d, and axis %d of %s has %d elements", o.k, axis, t.Shape(), d)
	}
	k := int(o.k)
	c.mayRefuse()
	rows, back, err := c.rowsAlong(t, axis)
	if err != nil {
		return nil, err
	}
	n := rows.Shape()[0]
	found, err := c.new(garner.I64, garner.Shape{n, k})
	if err != nil {
		return nil, err
	}
	scratch, err := c.new(garner.Complex128, garner.Shape{d}) // as large as a key
	if err != nil {
		return nil, err
	}
	_, err = c.new(garner.I64, garner.Shape{d})
	if err != nil {
		return nil, err
	}
	if !c.bare {
		keys, order := make([]key, scratch.Len()), make([]int, d)
		list, err := garner.Values[int64](found)
		if err != nil {
			return nil, err
		}
		err = eachRowOf(rows, func(i int, row garner.Tensor) error {
			numbers, err := keysOf(row, keys)
			if err != nil {
				return err
			}
			if !numbers {
				return garner.Errorf(garner.ErrDType, "%s is not run of NaN, which the runtimes put anywhere; row %d has one", c.node.Op, i)
			}
			why := o.choose(keys, order, k)
			if why != "" {
				return garner.Errorf(garner.ErrDType, "%s is not run for row %d: %s", c.node.Op, i, why)
			}
			for j := range k {
				list[i*k+j] = int64(order[j])
			}
			return nil
		})
		if err != nil {
			return nil, err
		}
	}
	made := make([]garner.Tensor, 2)
	if made[0], err = c.take(rows, found); err != nil {
		return nil, err
	}
	if made[1], err = c.cast(found, o.indices); err != nil {
		return nil, err
	}
	for i := range made {
		if made[i], err = c.moveBack(made[i], t, axis, k, back); err != nil {
			return nil, err
		}
	}
	return made[:min(len(made), max(len(c.node.Outputs), 1))], nil
}

// take returns the elements of each row of a matrix at positions in it.
func (r *runner) take(rows, positions garner.Tensor) (garner.Tensor, error) {
	d := rows.Shape()[1]
	flat, err := r.reshape(rows, garner.Shape{rows.Len()})
	if err != nil {
		return garner.Tensor{}, err
	}
	var at []int64
	if !r.bare {
		if at, err = garner.Values[int64](positions); err != nil {
			return garner.Tensor{}, err
		}
	}
	shape := positions.Shape()
	return r.gatherFlat(flat, shape, [][]int{{shape[1], 1}}, func(first []int, i int) int {
		return first[0]/shape[1]*d + int(at[first[0]+i])
	})
}

// topKOptions are the attributes and inputs of a TopK.
type topKOptions struct {
	k, axis int64
	least   bool
	order   string // "value", "index", "none"
	stable  bool   // equal numbers are in the order of their positions
	indices garner.DType
}

func (c *call) topKOptions() (o topKOptions, err error) {
	o = topKOptions{indices: garner.I64, order: "value", stable: c.onnx()}
	without := int64(-1)
	if c.openvino() {
		without = 0
	}
	if o.axis, err = c.number("axis", without); err != nil {
		return o, err
	}
	if c.node.Op == "TopKV2" || c.node.Op == "TOPK_V2" { // of the last axis, and stable
		o.stable, o.indices = true, garner.I32
		if o.k, err = c.scalar(1, "k"); err != nil {
			return o, err
		}
		sorted, err := c.number("sorted", 1)
		if sorted == 0 {
			o.order = "none"
		}
		return o, err
	}
	if c.onnx() && c.beforeOpset(10) {
		o.k, err = c.number("k", -1)
	} else {
		o.k, err = c.scalar(1, "k")
	}
	if err != nil {
		return o, err
	}
	if c.onnx() {
		largest, err := c.number("largest", 1)
		if err != nil {
			return o, err
		}
		sorted, err := c.number("sorted", 1)
		if err != nil {
			return o, err
		}
		if o.least = largest == 0; sorted == 0 {
			o.order = "none"
		}
		return o, nil
	}
	mode, _ := c.node.Attributes["mode"].(string)
	if o.least = mode == "min"; mode != "min" && mode != "max" {
		return o, garner.Errorf(garner.ErrAttribute, "its mode is %.40q; it must be min or max", mode)
	}
	o.order, _ = c.node.Attributes["sort"].(string)
	if o.order != "value" && o.order != "index" && o.order != "none" {
		return o, garner.Errorf(garner.ErrAttribute, "its sort is %.40q; it must be value, index or none", o.order)
	}
	stable, err := c.number("stable", 0)
	if err != nil {
		return o, err
	}
	o.stable = stable != 0
	o.indices = garner.I32
	if name, ok := c.node.Attributes["index_element_type"].(string); ok {
		if o.indices, err = garner.ParseDType(name); err != nil {
			return o, err
		}
	}
	return o, nil
}

// choose orders the positions of keys so that those chosen come first, or says why that is
// not known.
func (o *topKOptions) choose(keys []key, order []int, k int) string {
	for i := range order {
		order[i] = i
	}
	slices.SortFunc(order, func(a, b int) int {
		c := keys[a].compare(keys[b])
		if !o.least {
			c = -c
		}
		if c == 0 {
			return a - b
		}
		return c
	})
	if k == 0 || k == 1 && o.stable {
		return ""
	}
	ties := func(from, to int) bool {
		for i := from; i < to; i++ {
			if keys[order[i]].compare(keys[order[i-1]]) == 0 {
				return true
			}
		}
		return false
	}
	last := min(k+1, len(order))
	switch {
	case o.order == "none" && k > 1:
		return "it is not sorted, and each runtime gives an order of its own"
	case o.order == "index" || k == 1:
		if !o.stable && ties(k, last) {
			return "equal numbers lie on both sides of its end, and OpenVINO chooses any of them; set stable"
		}
		slices.Sort(order[:k])
	case !o.stable && ties(1, last):
		return "it has equal numbers, and OpenVINO gives them in an order of its own; set stable"
	}
	return ""
}

// argExtreme is ArgMax and ArgMin.
func argExtreme(greatest bool) evaluator {
	return func(c *call) (garner.Tensor, error) {
		c.strict = true
		in, err := c.widened(0)
		if err != nil {
			return garner.Tensor{}, err
		}
		t := in[0]
		c.pending, c.wide = garner.Invalid, false // positions are no f16
		if !t.DType().IsInteger() && !t.DType().IsFloat() {
			return garner.Tensor{}, c.unsupportedType(t.DType())
		}
		var numbers [3]int64
		for i, name := range []string{"axis", "keepdims", "select_last_index"} {
			if numbers[i], err = c.number(name, []int64{0, 1, 0}[i]); err != nil {
				return garner.Tensor{}, err
			}
		}
		axis, err := axisOf(numbers[0], t.Rank())
		if err != nil {
			return garner.Tensor{}, err
		}
		c.mayRefuse()
		rows, back, err := c.rowsAlong(t, axis)
		if err != nil {
			return garner.Tensor{}, err
		}
		d := rows.Shape()[1]
		if t.Len() == 0 {
			return garner.Tensor{}, mismatch("%s of %s is not run, because it has no elements", c.node.Op, t.Shape())
		}
		made, err := c.new(garner.I64, garner.Shape{rows.Shape()[0], 1})
		if err != nil {
			return garner.Tensor{}, err
		}
		if _, err := c.new(garner.Complex128, garner.Shape{d}); err != nil { // of keys
			return garner.Tensor{}, err
		}
		if !c.bare {
			list, err := garner.Values[int64](made)
			if err != nil {
				return garner.Tensor{}, err
			}
			keys := make([]key, d)
			err = eachRowOf(rows, func(i int, row garner.Tensor) error {
				known, err := keysOf(row, keys)
				if err != nil {
					return err
				}
				if !known {
					return garner.Errorf(garner.ErrDType, "%s is not run of NaN, which the runtimes ignore at some places; row %d has one", c.node.Op, i)
				}
				best := 0
				for j, k := range keys {
					sign := k.compare(keys[best])
					if !greatest {
						sign = -sign
					}
					if sign > 0 || sign == 0 && numbers[2] != 0 {
						best = j
					}
				}
				list[i] = int64(best)
				return nil
			})
			if err != nil {
				return garner.Tensor{}, err
			}
		}
		if made, err = c.moveBack(made, t, axis, 1, back); err != nil || numbers[1] != 0 {
			return made, err
		}
		return c.runner.reshape(made, slices.Delete(slices.Clone(t.Shape()), axis, axis+1))
	}
}
