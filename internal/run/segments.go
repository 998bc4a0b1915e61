package run

import (
	"context"
	"math"

	"github.com/garner-go/garner"
	"github.com/garner-go/garner/internal/departures"
	"github.com/garner-go/garner/model"
	"github.com/garner-go/garner/operators"
	"github.com/garner-go/garner/source"
)

// chunk is the number of elements of rows that are read at a time.
const chunk = 1 << 16

// asTensorFlow reports whether TensorFlow's CPU may reduce the floats of a bag in another way than
// the operator of garner, which adds one term after the other, and denormals too.
func (r *runner) asTensorFlow(plan *garner.Plan) bool {
	return plan.Bag != nil && r.model.Format == tensorflowFormat && plan.DType.IsFloat()
}

// bags makes the rows of out that are long bags, and refuses denormals; f16 and
// bf16 are reduced in f32, and rounded once.
func (r *runner) bags(ctx context.Context, n *model.Node, g *gathering, plan *garner.Plan, out garner.Tensor) error {
	data, err := r.array(g)
	if err != nil {
		return err
	}
	if plan.DType == garner.F64 {
		return reduceBags[float64](ctx, r, n, data, g, plan, out)
	}
	if data, err = source.Convert(data, garner.F32); err != nil {
		return err
	}
	return reduceBags[float32](ctx, r, n, data, g, plan, out)
}

// bagReader reads the rows of bags as numbers of type T, with the policy of their plan.
type bagReader[T float32 | float64] struct {
	ctx         context.Context
	data        source.Array
	plan        *garner.Plan
	fill        garner.Tensor // of type T
	shape       garner.Shape  // of a row
	width       int           // the elements of a row
	gather, sum garner.Op
}

// reduceBags is bags with sums of type T.
func reduceBags[T float32 | float64](ctx context.Context, r *runner, n *model.Node, data source.Array, g *gathering, plan *garner.Plan, out garner.Tensor) error {
	b := &bagReader[T]{ctx: ctx, data: data, plan: plan, shape: out.Shape()[1:]}
	var ok bool
	if b.width, ok = b.shape.Len(); !ok || b.width == 0 {
		return nil
	}
	for name, op := range map[string]*garner.Op{"tensorflow.Gather": &b.gather, "tensorflow.sparse_segment_sum": &b.sum} {
		found, err := operators.Find(name, 0)
		if err != nil {
			return err
		}
		*op = found.Zero
	}
	if plan.Outside == garner.Fill {
		var err error
		if b.fill, err = r.cast(plan.Fill, garner.Of([]T{}, 0).DType()); err != nil {
			return err
		}
	}
	tiny := false
	if plan.DType != garner.F16 { // whose denormals are none of f32
		var err error
		if tiny, err = b.tiny(g.indices); err != nil {
			return err
		}
	}
	segments := g.further[plan.Bag.EndsAt.At]
	for first, end, all := 0, 0, g.indices.Len(); first < all; first = end {
		bag, err := segments.Int(first)
		for end = first + 1; err == nil && end < all; end++ {
			next, e := segments.Int(end)
			if err = e; next != bag {
				break
			}
		}
		if err != nil {
			return err
		}
		if end-first < departures.LongBag && !tiny || end-first == 1 { // one term is copied
			continue
		}
		terms, err := g.indices.Slice(0, first, end, 1)
		if err != nil {
			return err
		}
		if tiny {
			if err := b.usual(n, terms); err != nil {
				return err
			}
		}
		if end-first < departures.LongBag {
			continue
		}
		row, err := out.Slice(0, int(bag.Bits), int(bag.Bits)+1, 1)
		if err != nil {
			return err
		}
		sum := make([]T, b.width)
		if err := b.addGroups(terms, sum); err != nil {
			return err
		}
		divideBag(sum, T(end-first), plan.Bag.Reduction)
		made := garner.Of(sum, row.Shape()...)
		if made.DType() != out.DType() {
			if made, err = r.cast(made, out.DType()); err != nil {
				return err
			}
		}
		if err := garner.Copy(row, made); err != nil {
			return err
		}
	}
	return nil
}

// rows runs op, which makes n rows of terms.
func (b *bagReader[T]) rows(op garner.Op, terms garner.Tensor, n int, further ...source.Array) ([]T, error) {
	op = garner.WithNegative(op, b.plan.Negative)
	if b.plan.Outside == garner.Fill {
		op = garner.WithFill(op, b.fill)
	} else {
		op = garner.WithOutside(op, b.plan.Outside)
	}
	made, err := garner.New(garner.Of([]T{}, 0).DType(), append([]int{n}, b.shape...)...)
	if err != nil {
		return nil, err
	}
	if err := source.GatherInto(b.ctx, op, b.data, source.Memory(terms), made, source.Options{Further: further}); err != nil {
		return nil, err
	}
	return garner.Values[T](made)
}

// addGroups adds the rows of terms to sum: those of the head, and then the sum of each group.
func (b *bagReader[T]) addGroups(terms garner.Tensor, sum []T) error {
	most := departures.BagGroup * max(chunk/b.width, 1) // of whose sums a chunk is made
	for first, end := 0, departures.BagHead(terms.Len()); first < terms.Len(); first, end = end, min(end+most, terms.Len()) {
		part, err := terms.Slice(0, first, end, 1)
		if err != nil {
			return err
		}
		groups := 1
		if first > 0 {
			groups = (end - first) / departures.BagGroup
		}
		of := make([]int32, end-first) // the group of each term
		for i := range of {
			of[i] = int32(i * groups / len(of))
		}
		rows, err := b.rows(b.sum, part, groups, source.Memory(garner.Of(of, len(of))))
		if err != nil {
			return err
		}
		for i, v := range rows {
			if first == 0 {
				sum[i] = v
			} else {
				sum[i%len(sum)] += v
			}
		}
	}
	return nil
}

// each calls do with the rows of terms, one after the other, and their numbers.
func (b *bagReader[T]) each(terms garner.Tensor, do func(i int, row []T) (more bool)) error {
	for first, most := 0, max(chunk/b.width, 1); first < terms.Len(); first += most {
		part, err := terms.Slice(0, first, min(first+most, terms.Len()), 1)
		if err != nil {
			return err
		}
		rows, err := b.rows(b.gather, part, part.Len())
		if err != nil {
			return err
		}
		for i := range part.Len() {
			if !do(first+i, rows[i*b.width:][:b.width]) {
				return nil
			}
		}
	}
	return nil
}

// limits are the least normal number of type T, and the number from which on no sum of elements and no mean
// of 2³¹ can be denormal: a sum is a multiple of the last place of an element.
func limits[T float32 | float64]() (normal, safe T) {
	low, high := 0x1p-126, 0x1p-71
	if _, ok := any(normal).(float64); ok {
		low, high = 0x1p-1022, 0x1p-938
	}
	return T(low), T(high)
}

// below reports whether a number of the list is below the limit, and not 0.
func below[T float32 | float64](list []T, limit T) bool {
	for _, v := range list {
		if v < limit && v > -limit && v != 0 {
			return true
		}
	}
	return false
}

// tiny reports whether a sum or a mean of the terms may be denormal.
func (b *bagReader[T]) tiny(terms garner.Tensor) (found bool, err error) {
	_, safe := limits[T]()
	err = b.each(terms, func(_ int, row []T) bool {
		found = below(row, safe)
		return !found
	})
	return found, err
}

// usual refuses denormals among the terms of a bag and whatever TensorFlow makes of them.
func (b *bagReader[T]) usual(n *model.Node, terms garner.Tensor) error {
	normal, _ := limits[T]()
	sum, group := make([]T, b.width), make([]T, b.width)
	head, bad := departures.BagHead(terms.Len()), false
	err := b.each(terms, func(i int, row []T) bool {
		to := sum
		if i >= head {
			to = group
		}
		if i == 0 || i >= head && (i-head)%departures.BagGroup == 0 {
			copy(to, row)
		} else {
			addTo(to, row)
		}
		bad = below(row, normal) || below(to, normal)
		if i >= head && (i-head)%departures.BagGroup == departures.BagGroup-1 {
			addTo(sum, group)
			bad = bad || below(sum, normal)
		}
		return !bad
	})
	if err != nil {
		return err
	}
	divideBag(sum, T(terms.Len()), b.plan.Bag.Reduction)
	if bad || below(sum, normal) {
		return oddError(n.Op, oddDenormal)
	}
	return nil
}

func addTo[T float32 | float64](sum, row []T) {
	for i, v := range row {
		sum[i] += v
	}
}

// divideBag makes a mean, or a sum by the root of its terms, of a sum of n.
func divideBag[T float32 | float64](sum []T, n T, reduction garner.Reduction) {
	switch reduction {
	case garner.SqrtN:
		n = T(math.Sqrt(float64(n)))
	case garner.Sum:
		return
	}
	for i := range sum {
		sum[i] /= n
	}
}
