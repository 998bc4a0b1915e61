package operators_test

import (
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/garner-go/garner"
	"github.com/garner-go/garner/gathertest"
	"github.com/garner-go/garner/operators"
)

// FuzzOperators throws random attributes, inputs and operands at every operator.
// Whatever comes: nothing panics; what is refused is refused in the same words
// by Infer, Reference and Gather, which else agree; and what Infer says where
// less is known has room for what comes out where all is known.
func FuzzOperators(f *testing.F) {
	for seed := range uint64(50) {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, seed uint64) { throw(t, seed) })
}

// TestOperatorsOnRandomWords is a short run of FuzzOperators, in which every
// operator must have gathered something and refused something.
func TestOperatorsOnRandomWords(t *testing.T) {
	gathered, refused := map[string]int{}, map[string]int{}
	for seed := range uint64(40000) {
		name, ran := throw(t, seed)
		if ran {
			gathered[name]++
		} else {
			refused[name]++
		}
	}
	for _, o := range operators.All() {
		if gathered[o.Name] < 10 || refused[o.Name] < 10 {
			t.Errorf("%s gathered %d times and refused %d times; the words are badly chosen", o.Name, gathered[o.Name], refused[o.Name])
		}
	}
}

// words makes what is thrown at an operator.
type words struct{ *rand.Rand }

// throw tries the case that a seed means. It returns the operator's name, and
// whether something was gathered.
func throw(t *testing.T, seed uint64) (name string, ran bool) {
	w := words{rand.New(rand.NewPCG(seed, 77))}
	all := operators.All()
	o := all[w.IntN(len(all))]
	if decodes(o) {
		return o.Name, throwStored(t, w, o, fmt.Sprintf("seed %d: %s", seed, o.Name))
	}
	if len(o.Further()) > 0 {
		return o.Name, throwBags(t, w, o, fmt.Sprintf("seed %d: %s", seed, o.Name))
	}
	ds, is, numbers := w.operands(o)
	about := fmt.Sprintf("seed %d: %s data %v indices %v attributes %v", seed, o.Name, garner.Shape(ds), garner.Shape(is), numbers)
	defer func() {
		if r := recover(); r != nil {
			t.Fatalf("%s: panic: %v", about, r)
		}
	}()
	known, unknown := w.inputs(o, numbers)
	op, err := o.Bind(numbers, known...)
	if err != nil {
		refusal(t, about, err)
		return o.Name, false
	}
	vague, err := o.Bind(numbers, unknown...)
	if err != nil {
		t.Errorf("%s: Bind refuses inputs that are not known: %v", about, err)
	}

	types := garner.DTypes()
	dtype, index := types[w.IntN(len(types))], garner.I64
	if w.IntN(3) == 0 {
		index = types[w.IntN(len(types))]
	}
	amend := w.policy(dtype)
	op, vague = amend(op), amend(vague)

	data, indices := w.tensor(dtype, ds), w.tensor(index, is)
	for i := range indices.Len() {
		if index.IsInteger() && w.IntN(50) > 0 {
			text := fmt.Sprint(w.IntN(4))
			if w.IntN(10) == 0 && !index.IsUnsigned() {
				text = fmt.Sprint(-1 - w.IntN(4))
			}
			_ = indices.SetText(i, text) // one that does not fit stays random
		}
	}

	static, err := garner.Infer(op, data.Spec(), indices.Spec())
	wide, wideErr := garner.Infer(vague, w.widen(dtype, ds), w.widen(index, is))
	if err != nil {
		refusal(t, about, err)
	} else if wideErr != nil {
		t.Errorf("%s: refused where less is known: %v", about, wideErr)
	} else if !contains(wide, static) {
		t.Errorf("%s: %v has no room for %v", about, wide, static)
	}
	if wideErr != nil {
		refusal(t, about, wideErr)
	}

	if shape, ok := static.Shape(); ok {
		if n, _ := shape.Len(); n > 4000 {
			return o.Name, true
		}
	}
	want, wantErr := garner.Reference(op, data, indices)
	got, gotErr := garner.Gather(op, data, indices)
	switch {
	case wantErr != nil && gotErr != nil:
		refusal(t, about, gotErr)
		if wantErr.Error() != gotErr.Error() {
			t.Errorf("%s: Gather says %q and Reference %q", about, gotErr, wantErr)
		}
		if err != nil && err.Error() != gotErr.Error() {
			t.Errorf("%s: Gather says %q and Infer %q", about, gotErr, err)
		}
		if err == nil && !errors.Is(gotErr, garner.ErrIndex) {
			t.Errorf("%s: Infer refuses nothing, and Gather %v", about, gotErr)
		}
		return o.Name, false
	case wantErr != nil || gotErr != nil:
		t.Errorf("%s: Gather says %v and Reference %v", about, gotErr, wantErr)
		return o.Name, false
	case err != nil:
		t.Errorf("%s: Infer refuses what Gather does: %v", about, err)
	case !gathertest.Equal(got, want):
		t.Errorf("%s: %v from Gather and %v from Reference", about, got, want)
	case !contains(static, got.Spec()) || !contains(got.Spec(), static):
		t.Errorf("%s: Infer says %v, and the result is %v", about, static, got.Spec())
	}
	return o.Name, true
}

// refusal wants an error of one of the classes, in garner's words.
func refusal(t *testing.T, about string, err error) {
	if !strings.HasPrefix(err.Error(), "garner: ") {
		t.Errorf("%s: %q is not in garner's words", about, err)
	}
	for _, class := range []error{garner.ErrDType, garner.ErrAttribute, garner.ErrShape, garner.ErrIndex} {
		if errors.Is(err, class) {
			return
		}
	}
	t.Errorf("%s: %v is of no class", about, err)
}

// contains reports whether a spec has room for another, of which more is known.
func contains(wide, narrow garner.Spec) bool {
	in := func(w, n garner.Dim) bool { return w.Min <= n.Min && n.Max <= w.Max }
	if wide.DType != narrow.DType || !in(wide.Rank, narrow.Rank) {
		return false
	}
	for i, d := range wide.Dims {
		if !in(d, narrow.Dims[i]) {
			return false
		}
	}
	return true
}

func (w words) shape(rank int) []int {
	s := make([]int, rank)
	for i := range s {
		if s[i] = 1 + w.IntN(4); w.IntN(9) == 0 {
			s[i] = 0
		}
	}
	return s
}

// operands makes shapes and attributes that go together, and then, as often as
// not, spoils one thing.
func (w words) operands(o operators.Operator) (data, indices []int, attributes map[string]any) {
	attributes = map[string]any{}
	rank := 1 + w.IntN(4)
	if w.IntN(8) == 0 {
		rank = 0
	}
	data = w.shape(rank)
	indices = w.shape(w.IntN(3))
	axis, batch := 0, 0
	if rank > 0 {
		axis = w.IntN(rank)
	}
	has := func(name string) bool { return slices.Contains(o.Attributes(), name) }
	switch {
	case has("offset_dims"):
		data, indices = w.windows(attributes, rank)
	case o.Kind == operators.Elements:
		indices = slices.Clone(data)
		for i := range indices {
			switch {
			case i == axis:
				indices[i] = w.IntN(4)
			case w.IntN(4) == 0:
				indices[i] = w.IntN(2)
			}
		}
	default:
		if has("batch_dims") && rank > 0 {
			batch = w.IntN(axis + 1)
		}
		indices = append(slices.Clone(data[:batch]), indices...)
		if o.Kind == operators.GatherND {
			indices = append(indices, w.IntN(rank-batch+1))
		}
		if o.Name == "tensorflow.batch_gather" {
			indices = append(slices.Clone(data[:axis]), w.IntN(3))
		}
	}
	zero := reflect.TypeOf(o.Zero)
	for i := range zero.NumField() {
		name, ok := zero.Field(i).Tag.Lookup("attr")
		if _, done := attributes[name]; !ok || done {
			continue
		}
		kind := zero.Field(i).Type
		optional := kind.Kind() == reflect.Pointer
		if optional {
			kind = kind.Elem()
		}
		if optional && w.IntN(2) == 0 {
			if name == "axis" || name == "dim" {
				indices = w.shape(1 + w.IntN(3)/2) // data may be taken flat
			}
			if w.IntN(2) == 0 {
				attributes[name] = nil
			}
			continue
		}
		switch {
		case name == "axis" || name == "dim":
			attributes[name] = int64(axis)
			if w.IntN(3) == 0 {
				attributes[name] = int64(axis - rank)
			}
		case name == "batch_dims":
			attributes[name] = int64(batch)
		case name == "mode":
			attributes[name] = w.pick("", "raise", "fill", "clip", "wrap", "clip", "promise_in_bounds")
		case name == "bad_indices_policy":
			attributes[name] = w.pick("", "DEFAULT", "ERROR", "IGNORE", "error")
		case kind.Kind() == reflect.String:
			attributes[name] = w.pick("", "", "1", "0", "NaN", "many", "-1", "300")
		case kind.Kind() == reflect.Bool:
			attributes[name] = w.IntN(2) == 0
		case kind.Kind() == reflect.Int:
			attributes[name] = w.number()
		case kind.Kind() == reflect.Slice:
			attributes[name] = w.list()
		}
	}
	if w.IntN(2) == 0 {
		return data, indices, attributes
	}
	// One thing is spoilt.
	names := o.Attributes()
	switch at := w.IntN(len(names) + 2); {
	case at == 0:
		data = w.shape(w.IntN(5))
	case at == 1:
		indices = w.shape(w.IntN(5))
	default:
		name := names[at-2]
		attributes[name] = w.spoil(attributes[name])
	}
	return data, indices, attributes
}

// windows makes dimension numbers, slice sizes, and operands for them.
func (w words) windows(attributes map[string]any, rank int) (data, indices []int) {
	data = w.shape(rank)
	dims := w.Perm(rank)
	batching := dims[:w.IntN(rank+1)/2]
	rest := dims[len(batching):]
	collapsed := rest[:w.IntN(len(rest)+1)]
	mapped := slices.Clone(rest)
	w.Shuffle(len(mapped), func(i, j int) { mapped[i], mapped[j] = mapped[j], mapped[i] })
	mapped = mapped[:w.IntN(len(mapped)+1)]
	sizes := make([]int, rank)
	for i := range sizes {
		switch {
		case slices.Contains(collapsed, i) || slices.Contains(batching, i):
			sizes[i] = 1 - w.IntN(8)/7
		case data[i] > 0:
			sizes[i] = 1 + w.IntN(data[i])
		}
	}
	indices = w.shape(len(batching) + w.IntN(3))
	places := w.Perm(len(indices))[:len(batching)]
	for i, at := range places {
		indices[at] = data[batching[i]]
	}
	vector := len(indices)
	if _, lax := attributes["mode"]; !lax && w.IntN(2) == 0 {
		vector = w.IntN(len(indices) + 1)
	}
	if len(mapped) != 1 || w.IntN(2) == 0 {
		for i, at := range places {
			if at >= vector {
				places[i]++
			}
		}
		indices = slices.Insert(indices, vector, len(mapped))
	} else {
		vector = len(indices) // tuples of one
	}
	out := len(rest) - len(collapsed) + len(indices)
	if vector < len(indices) {
		out--
	}
	offset := w.Perm(out)[:len(rest)-len(collapsed)]
	for name, list := range map[string][]int{"offset_dims": sorted(offset), "collapsed_slice_dims": sorted(collapsed), "start_index_map": mapped, "slice_sizes": sizes} {
		attributes[name] = wide(list)
	}
	// The operand's batching dims ascend, and the indices' go with them.
	order := slices.Clone(batching)
	slices.Sort(order)
	pairs := make([]int, len(order))
	for i, dim := range order {
		pairs[i] = places[slices.Index(batching, dim)]
	}
	attributes["operand_batching_dims"], attributes["start_indices_batching_dims"] = wide(order), wide(pairs)
	attributes["index_vector_dim"] = int64(vector)
	return data, indices
}

func sorted(list []int) []int {
	list = slices.Clone(list)
	slices.Sort(list)
	return list
}

func wide(list []int) []int64 {
	out := make([]int64, len(list))
	for i, n := range list {
		out[i] = int64(n)
	}
	return out
}

func (w words) pick(from ...string) string { return from[w.IntN(len(from))] }

// number is mostly small, and now and then at an end of its type.
func (w words) number() int64 {
	if w.IntN(8) == 0 {
		ends := []int64{math.MaxInt32, math.MinInt32, math.MaxInt64, math.MinInt64 + 1, math.MinInt64, 1 << 31}
		return ends[w.IntN(len(ends))]
	}
	return int64(w.IntN(8) - 3)
}

func (w words) list() []int64 {
	list := make([]int64, w.IntN(4))
	for i := range list {
		list[i] = w.number()
	}
	return list
}

// spoil changes a value, or its type.
func (w words) spoil(v any) any {
	if list, ok := v.([]int64); ok && len(list) > 0 && w.IntN(4) > 0 {
		list = slices.Clone(list)
		switch i := w.IntN(len(list)); w.IntN(3) {
		case 0:
			list[i] = w.number()
		case 1:
			list = slices.Delete(list, i, i+1)
		default:
			list = append(list, w.number())
		}
		return list
	}
	switch w.IntN(8) {
	case 0:
		return w.pick("", "x", "wrap")
	case 1:
		return w.list()
	case 2:
		return w.IntN(2) == 0
	case 3:
		return 2.5
	}
	return w.number()
}

// inputs makes the operands beyond data and indices, with and without their
// values. What goes with the others is taken out of the attributes.
func (w words) inputs(o operators.Operator, attributes map[string]any) (known, unknown []operators.Input) {
	for _, name := range o.Inputs() {
		dtype := garner.I64
		if w.IntN(12) == 0 {
			dtype = garner.F32
		}
		values, given := attributes[name].([]int64)
		shape := []int{len(values)}
		if given {
			if w.IntN(2) == 0 {
				continue // it may be an attribute
			}
			delete(attributes, name)
		} else {
			n := w.IntN(4)
			values, shape = []int64{int64(n - w.IntN(2)*(n+1))}, nil
			if w.IntN(4) == 0 {
				values, shape = []int64{w.number()}, []int{1}
			}
		}
		t, err := garner.New(dtype, shape...)
		if err != nil {
			panic(err)
		}
		for i, v := range values {
			if err := t.SetText(i, fmt.Sprint(v)); err != nil {
				panic(err)
			}
		}
		known = append(known, operators.Input{Spec: t.Spec(), Value: t})
		unknown = append(unknown, operators.Input{Spec: w.widen(dtype, shape)})
	}
	return known, unknown
}

// policy is a change of what bad indices mean, mostly none.
func (w words) policy(dtype garner.DType) func(garner.Op) garner.Op {
	switch w.IntN(12) {
	case 0:
		return func(op garner.Op) garner.Op { return garner.WithNegative(op, garner.FromEnd) }
	case 1:
		o := garner.Outside(w.IntN(7))
		return func(op garner.Op) garner.Op { return garner.WithOutside(op, o) }
	case 2:
		if w.IntN(4) == 0 {
			dtype = garner.I16
		}
		fill := w.tensor(dtype, nil)
		return func(op garner.Op) garner.Op { return garner.WithFill(op, fill) }
	}
	return func(op garner.Op) garner.Op { return op }
}

// widen is a spec that knows less of a shape.
func (w words) widen(dtype garner.DType, shape []int) garner.Spec {
	less := func(n int) garner.Dim {
		switch w.IntN(6) {
		case 0:
			return garner.AnyDim
		case 1:
			return garner.Dim{Min: max(0, n-w.IntN(3)), Max: n + w.IntN(3)}
		case 2:
			return garner.Dim{Min: max(0, n-w.IntN(3)), Max: garner.Unbounded}
		}
		return garner.Exactly(n)
	}
	if w.IntN(5) == 0 {
		return garner.SpecOfRank(dtype, less(len(shape)))
	}
	dims := make([]garner.Dim, len(shape))
	for i, n := range shape {
		dims[i] = less(n)
	}
	return garner.SpecOfDims(dtype, dims...)
}

// tensor is a tensor of random bits, as often as not a view.
func (w words) tensor(dtype garner.DType, shape []int) garner.Tensor {
	perm := w.Perm(len(shape))
	base := make([]int, len(shape))
	for i, p := range perm {
		base[p] = shape[i]
	}
	if w.IntN(2) == 0 {
		base, perm = shape, nil
	}
	t, err := garner.New(dtype, base...)
	if err != nil {
		panic(err)
	}
	if dtype == garner.String {
		s, _ := garner.Values[string](t)
		for i := range s {
			s[i] = fmt.Sprint("s", w.IntN(1000))
		}
	} else {
		b, _ := t.Bytes()
		for i := range b {
			b[i] = byte(w.Uint32())
		}
	}
	if perm == nil {
		return t
	}
	if w.IntN(2) == 0 && len(base) > 0 && base[0] > 0 {
		if t, err = t.Slice(0, base[0]-1, -1, -1); err != nil {
			panic(err)
		}
	}
	if t, err = t.Transpose(perm...); err != nil {
		panic(err)
	}
	return t
}
