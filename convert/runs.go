package convert

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"strings"

	"github.com/garner-go/garner"
	"github.com/garner-go/garner/internal/departures"
	"github.com/garner-go/garner/internal/run"
	"github.com/garner-go/garner/model"
)

// A Comparison says on how many feeds garner's own run of the source and of the target agreed
// before the target was put in place. Feeds have indices that the axes have, negative ones,
// and, unless Options.Outside is AsIs, ones before, behind and far behind them.
type Comparison struct {
	Answered int   // feeds that both answered, bit for bit
	Refused  int   // feeds with an index that both refused
	Clamped  int   // feeds with an index that the source refused, and the target answered, with Clamp
	Not      []Not // feeds that could not be compared
}

// A Not is a number of feeds that could not be compared for one reason; 0 feeds where the reason holds
// for all that there could be.
type Not struct {
	Reason string // of the first of them
	Feeds  int

	kind string // what is one reason for others
}

// String gives the counts in one line.
func (c Comparison) String() string {
	var reasons []string
	for _, n := range c.Not {
		if n.Feeds == 0 {
			reasons = append(reasons, n.Reason)
		} else {
			reasons = append(reasons, fmt.Sprintf("%d feeds, %s", n.Feeds, n.Reason))
		}
	}
	not := "not compared: " + strings.Join(reasons, "; ")
	feeds := c.Answered + c.Refused + c.Clamped
	if feeds == 0 {
		return not
	}
	made := fmt.Sprintf("compared on %d feeds: %d answered alike, %d refused alike", feeds, c.Answered, c.Refused)
	if c.Clamped > 0 {
		made += fmt.Sprintf(", %d clamped, with indices outside, which only the target looks up", c.Clamped)
	}
	if len(reasons) > 0 {
		made += "; " + not
	}
	return made
}

// not counts feeds that are not compared. Those of one format have one reason.
func (c *Comparison) not(feeds int, format string, args ...any) {
	for i := range c.Not {
		if c.Not[i].kind == format {
			c.Not[i].Feeds += feeds
			return
		}
	}
	c.Not = append(c.Not, Not{fmt.Sprintf(format, args...), feeds, format})
}

// said is the text of an error without the place, for a reason, and without what a caller of run can give: a comparison makes its
// feeds itself.
func said(err error) string {
	var at *model.Error
	if errors.As(err, &at) {
		err = at.Err
	}
	text, _, _ := strings.Cut(strings.TrimPrefix(err.Error(), "garner: "), "; give ")
	return text
}

// runMemory is how many bytes the tensors of a run may take that compares two models.
const runMemory = 64 << 20

// feedMost is how many bytes an input of such a run may take.
const feedMost = 1 << 20

// A lookup is a gather of the source, or a ScatterElements: whose axes its indices address.
type lookup struct {
	data, indices *value
	op            op
	axis, batch   int
	node          *model.Node
	guard         *guard // nil where the target need not refuse its indices
	made          *value // its result in the target
	ends          ends
}

// ends says whether the indices of a lookup are where bags end.
type ends uint8

const (
	notEnds ends = iota
	fall         // segments or offsets, which do not fall; data has as many rows as there are
	howMany      // the number of bags
)

// endsOf notes where bags end.
func (p *program) endsOf(of, rows *value) { p.looksUp(opGather, rows, of, 0, 0).ends = fall }

// someBags is a number of bags, where a model has it as an input.
const someBags = 4

// bags gives a table of as many rows as there are bags, where that is known.
func (p *program) bags(count *value) *value {
	n := int64(someBags)
	if list, ok := count.integers(); ok && len(list) == 1 {
		n = min(max(list[0], 0), math.MaxInt32)
	}
	return &value{spec: garner.SpecOf(garner.I64, int(n))}
}

// looksUp notes a gather or a ScatterElements.
func (p *program) looksUp(o op, data, indices *value, axis, batch int) *lookup {
	l := &lookup{data: data, indices: indices, op: o, axis: axis, batch: batch, node: p.at}
	p.lookups = append(p.lookups, l)
	return l
}

// components gives how many axes a tuple of indices addresses, and the first of them.
func (l *lookup) components() (n, first int) {
	if l.op != opGatherND {
		return 1, l.axis
	}
	if rank, ok := l.indices.rank(); ok && rank > 0 {
		n, _ = l.indices.dim(rank - 1)
	}
	return max(n, 1), l.batch
}

// A reaching is an input of the model whose elements reach indices of a gather.
type reaching struct {
	*lookup
	whole bool // the input has the tuples of the gather
}

// indexInputs finds the inputs that are indices.
func (p *program) indexInputs() map[*value][]reaching {
	found := make(map[*value][]reaching)
	for _, l := range p.lookups {
		seen := make(map[*value]bool)
		var walk func(v *value, whole bool)
		walk = func(v *value, whole bool) {
			if seen[v] {
				return
			}
			seen[v] = true
			if v.from == nil {
				if !v.held() {
					found[v] = append(found[v], reaching{l, whole})
				}
				return
			}
			in := v.from.in
			switch v.from.op {
			case opShape, opRange:
				return
			case opConcat, opAsIs, opAdd, opSub, opMul, opDiv, opMod, opFloorMod, opFloorDiv, opMin, opMax:
			case opSelect:
				in = in[1:]
			default:
				in = in[:1]
			}
			for _, x := range in {
				walk(x, whole && v.from.op == opCast)
			}
		}
		walk(l.indices, true)
	}
	return found
}

// A feeding is what the indices of a feed are. All but the first have random ones of the axis in the
// places that they leave.
type feeding uint8

const (
	atZero         feeding = iota // 0 everywhere
	someInside                    // of the axis
	fromTheEnd                    // -1 and less, as far as the axis has them
	pastEnd                       // one is the axis's length
	beforeStart                   // one is one less than the axis has
	farPast                       // one is far behind the axis
	farBefore                     // one is far before it
	farthestPast                  // one is near the greatest i32
	farthestBefore                // one is near the least i32
)

// A feeder makes feeds for a source and for what was made of it.
type feeder struct {
	*program
	rng          *rand.Rand
	source, made *model.Model
	of           map[*value]*model.Value // of the source, what a value was made of
	indices      map[*value][]reaching
	lengths      map[*lookup][]int // of the axes of its tuples, in the last shapes
}

// runs runs both models on feeds. Where the source gives results, the target gives the same; where
// it refuses an index, the target refuses one too, if it is to keep that, and answers where
// it is to clamp it.
func (p *program) runs(ctx context.Context, source, made *model.Model) (c Comparison, err error) {
	for _, m := range []*model.Model{source, made} {
		if _, err := run.Needs(m, results(m), nil); err != nil {
			c.not(0, "garner does not run it: %.200s", said(err))
			return c, nil
		}
	}
	left := int64(runMemory)
	for _, constant := range source.Constants() { // every run would decode those that are encoded
		if n, ok := constant.Bytes(); ok && n <= left && constant.Encoded {
			left -= n
			release, err := constant.Hold()
			if err != nil {
				return c, err
			}
			defer release()
		}
	}
	f := &feeder{program: p, rng: rand.New(rand.NewPCG(1, 2)), source: source, made: made, of: make(map[*value]*model.Value), indices: p.indexInputs()}
	for v, is := range p.values {
		f.of[is] = v
	}
	for _, v := range source.Graph.Inputs {
		f.of[p.values[v]] = v
	}
	kinds := []feeding{someInside, someInside, fromTheEnd}
	switch {
	case len(f.indices) == 0:
		kinds = []feeding{someInside, someInside, someInside}
	case p.options.Outside == AsIs:
	case p.insideOnly != "":
		kinds = kinds[:2]
		c.not(0, "%s", p.insideOnly)
	default:
		kinds = append(kinds, pastEnd, beforeStart, farPast, farBefore, farthestPast, farthestBefore)
	}
	good := 0
	for attempt := 0; attempt < 12 && good < 3; attempt++ {
		shapes, why := f.shapes(attempt)
		if why != "" {
			c.not(1, "%s", why)
			continue
		}
		f.lengths = nil
		answered := c.Answered
		ran, err := f.try(ctx, shapes, atZero, &c)
		if err != nil {
			return c, err
		}
		if !ran {
			continue
		}
		for _, k := range kinds {
			if _, err := f.try(ctx, shapes, k, &c); err != nil {
				return c, err
			}
		}
		if c.Answered > answered {
			good++
		}
	}
	return c, nil
}

func results(m *model.Model) (list []*model.Value) {
	for _, o := range m.Graph.Outputs {
		list = append(list, o.Value)
	}
	return list
}

// try compares one feed, and reports whether the source answered it or refused an index.
func (f *feeder) try(ctx context.Context, shapes []garner.Shape, k feeding, c *Comparison) (ran bool, err error) {
	given, also := make(map[*model.Value]garner.Tensor), make(map[*model.Value]garner.Tensor)
	for i, v := range f.made.Graph.Inputs {
		t, err := f.tensor(f.inputs[i], v.Spec.DType, shapes[i], k)
		if err != nil {
			return false, err
		}
		if k != atZero || f.inputs[i].fallback == nil { // atZero leaves out what has a default
			given[f.of[f.inputs[i]]], also[v] = t, t
		}
	}
	amended := func(strict bool) run.Option {
		return run.Amend(func(g run.Gather) (garner.Op, error) { return asRun(g, strict), nil })
	}
	outside := f.options.Outside
	wanted := results(f.source)
	n := len(wanted)
	unknown := f.unknownLengths(k)
	for _, l := range unknown {
		wanted = append(wanted, f.of[l.data])
	}
	want, err := run.Values(ctx, f.source, wanted, given, runMemory, amended(outside != Keep))
	if cause := context.Cause(ctx); cause != nil {
		return false, cause
	}
	var bad *garner.IndexError
	var large *run.MemoryError
	switch {
	case errors.As(err, &large):
		c.not(1, "a run of the source takes more than %d MiB", runMemory>>20)
		return false, nil
	case err != nil && !errors.As(err, &bad):
		c.not(1, "the source fails: %.200s", said(err))
		return false, nil
	case err == nil:
		for i, l := range unknown {
			parts, from := l.components()
			shape := want[n+i].Shape()
			for j := range parts {
				if from+j < len(shape) {
					f.lengths[l] = append(f.lengths[l], shape[from+j])
				}
			}
		}
		want = want[:n]
	}
	if bad != nil && outside == AsIs {
		c.not(1, "the source refuses an index, which is left as it is")
		return true, nil
	}
	got, failed := run.Values(ctx, f.made, results(f.made), also, runMemory, amended(false))
	if cause := context.Cause(ctx); cause != nil {
		return false, cause
	}
	if errors.As(failed, &large) {
		c.not(1, "a run of the target takes more than %d MiB", runMemory>>20)
		return false, nil
	}
	var refuses *garner.IndexError
	if errors.Is(failed, garner.ErrDType) && !errors.As(failed, &refuses) {
		c.not(1, "garner does not run the target: %.200s", said(failed)) // where runtimes give results that it cannot tell
		return true, nil
	}
	const lessExactly = "the target computes less exactly"
	switch {
	case bad == nil && failed != nil:
		return true, fmt.Errorf("it fails where the source gives results: %w", failed)
	case bad != nil && outside == Clamp && errors.As(failed, &refuses):
		return true, fmt.Errorf("it refuses an index that is to be clamped: %v", refuses)
	case bad != nil && outside == Keep && failed == nil && f.ofInexact(err):
		c.not(1, lessExactly)
		return true, nil
	case bad != nil && outside == Keep && failed == nil:
		return true, fmt.Errorf("it answers where the source refuses an index: %v", bad)
	case bad != nil && f.strays(failed):
		return true, fmt.Errorf("%s does not refuse an index where the source does, and uses other memory: %v", f.target.runtime, failed)
	case bad != nil && failed == nil:
		c.Clamped++
		return true, nil
	case bad != nil && outside == Clamp:
		c.not(1, "the source refuses an index, and the target fails: %.200s", said(failed))
		return true, nil
	case bad != nil:
		c.Refused++
		return true, nil
	}
	differs := false
	for i := range want {
		switch err := sameTensor(ctx, got[i], want[i]); {
		case errors.Is(err, errElements) && f.inexactly(f.outputs[i].value):
			differs = true
		case err != nil:
			return true, fmt.Errorf("output %.200q: %w", f.outputs[i].name, err)
		}
	}
	if differs {
		c.not(1, lessExactly)
		return true, nil
	}
	c.Answered++
	return true, nil
}

// ofInexact reports whether the source refuses an index that the target computes less exactly.
func (f *feeder) ofInexact(err error) bool {
	var bad *garner.IndexError
	var at *model.Error
	return errors.As(err, &bad) && errors.As(err, &at) && slices.ContainsFunc(f.lookups, func(l *lookup) bool {
		return model.AtNode(l.node, bad).At == at.At && f.inexactly(l.indices)
	})
}

// strays reports whether the refusal of an index is one of garner's own: the target's runtime uses
// other memory for it.
func (f *feeder) strays(err error) bool {
	var bad *garner.IndexError
	var at *model.Error
	if f.target != irTarget || !errors.As(err, &bad) || bad.Hint != "" || !errors.As(err, &at) { // the hint is that of a guard
		return false
	}
	for n := range f.made.Nodes() {
		if model.AtNode(n, bad).At != at.At {
			continue
		}
		d, gathers := departures.OfGather(n.Operator)
		return gathers && d.Outside == departures.OtherMemory || n.Op == irLayers[opScatter].kind && int64(bad.Value.Bits) < -int64(bad.Dim)
	}
	return false
}

// unknownLengths begins the lengths of a feed's shapes, and lists the gathers whose data has a
// length that a run has to tell.
func (f *feeder) unknownLengths(k feeding) (list []*lookup) {
	if k != atZero {
		return nil
	}
	f.lengths = make(map[*lookup][]int)
	for _, l := range f.lookups {
		n, from := l.components()
		var known []int
		for j := range n {
			if d, ok := l.data.dim(from + j); ok {
				known = append(known, d)
			}
		}
		switch {
		case len(known) == n:
			f.lengths[l] = known
		case f.of[l.data] != nil:
			list = append(list, l)
		}
	}
	return list
}

// asRun gives a gather the policy of its runtime, where that departs from its page; with strict,
// one that refuses every index outside.
func asRun(g run.Gather, strict bool) garner.Op {
	op := g.Op
	if d, ok := departures.OfGather(g.Node.Operator); ok {
		op = d.Op(op)
	}
	if strict {
		op = garner.WithOutside(op, garner.Error)
	}
	return op
}

// terms gives how many indices bags have: as many as there are indices or segments where the model says that of one of them, or else
// enough that TensorFlow adds some of them in another order.
func (f *feeder) terms() (n int, known, ok bool) {
	for _, l := range f.lookups {
		if l.ends != fall {
			continue
		}
		for _, other := range f.lookups {
			if other.node != l.node || other.ends == howMany {
				continue
			}
			if d, ok := other.indices.dim(0); ok && other.indices.spec.Rank.Min == 1 {
				return d, true, true
			}
		}
		ok = true
	}
	return 24, false, ok
}

// shapes chooses a shape for each input: with the first attempts those in which all dims that are
// not known are one, or those of one name.
func (f *feeder) shapes(attempt int) (list []garner.Shape, why string) {
	common := []int{2, 3, 1, 4, 6, 8}[attempt/2%6]
	if terms, known, ok := f.terms(); ok && (known || attempt < 2) {
		common = terms
	}
	dims := make(map[string]int)
	for i, v := range f.made.Graph.Inputs {
		from := f.inputs[i]
		rank := v.Spec.Rank.Min
		if !v.Spec.Rank.Known() {
			rank = max(min(1+(attempt+1)%3, v.Spec.Rank.Max), v.Spec.Rank.Min)
		}
		shape := make(garner.Shape, rank)
		for j := range shape {
			name := ""
			if j < len(from.dimNames) {
				name = from.dimNames[j]
			}
			shape[j] = common
			if known, ok := dims[name]; ok && name != "" {
				shape[j] = known
			} else if attempt%2 == 1 && (name != "" || attempt%4 == 3) {
				shape[j] = 1 + f.rng.IntN(4)
			}
			if j < len(from.spec.Dims) {
				d := from.spec.Dims[j]
				shape[j] = max(min(shape[j], d.Max), d.Min)
			}
			dims[name] = shape[j]
		}
		if n, ok := garner.SpecOf(v.Spec.DType, shape...).Bytes(); v.Spec.DType != garner.String && (!ok || n > feedMost) {
			return nil, fmt.Sprintf("the input %.200q takes more than %d MiB", v.Name, feedMost>>20)
		}
		list = append(list, shape)
	}
	return list, ""
}

// tensor makes a random tensor for an input.
func (f *feeder) tensor(v *value, dtype garner.DType, shape garner.Shape, k feeding) (garner.Tensor, error) {
	n, _ := shape.Len()
	if dtype == garner.String {
		list := make([]string, n)
		for i := range list {
			list[i] = strings.Repeat("a", f.rng.IntN(4))
		}
		return garner.FromSlice(list, shape...)
	}
	t, err := garner.New(dtype, shape...)
	if err != nil || dtype.Packed() {
		return t, err // elements of less than a byte are all 0
	}
	b, err := t.Bytes()
	if err != nil {
		return t, err
	}
	if list := f.indices[v]; len(list) > 0 {
		f.fillIndices(dtype, shape, b, list, k)
	} else {
		fill(f.rng, dtype, b)
	}
	return t, nil
}

// fillIndices makes the indices of a feed, for gathers whose axes differ those that each has.
func (f *feeder) fillIndices(dtype garner.DType, shape garner.Shape, b []byte, list []reaching, k feeding) {
	size := dtype.Bits() / 8
	n := len(b) / size
	if n == 0 {
		return
	}
	odd := f.rng.IntN(n) // the index that is outside
	is := notEnds
	for _, r := range list {
		is = max(is, r.ends)
	}
	if is == fall {
		odd = n - 1
	}
	end := int64(0)
	for i := range n {
		least, most := math.MaxInt, 0 // of the axes that it addresses
		for _, r := range list {
			lengths := f.lengths[r.lookup]
			if parts, _ := r.components(); r.whole && parts == len(lengths) && len(shape) > 0 && shape[len(shape)-1] == parts {
				lengths = lengths[i%parts : i%parts+1]
			}
			for _, d := range lengths {
				least, most = min(least, d), max(most, d)
			}
		}
		if least == math.MaxInt { // not known
			least, most = 2, 2
		}
		least, most = min(least, math.MaxInt32), min(most, math.MaxInt32)
		x := int64(0)
		if least > 0 && k != atZero {
			x = int64(f.rng.IntN(least))
		}
		switch {
		case is == howMany:
			x = someBags
		case is == fall && k == pastEnd && i == odd && f.options.Outside == Keep: // else it may be left out
			x = int64(most)
		case is == fall: // from one to the next, most of them not far
			if x = end; k != atZero && end < int64(least)-1 && f.rng.IntN(n) < least {
				x = end + 1 + int64(f.rng.IntN(int(min(int64(least)-1-end, 2))))
			}
			end = x
		case k == fromTheEnd && !dtype.IsUnsigned():
			x -= int64(least)
		case k <= fromTheEnd || i != odd:
		case k == pastEnd:
			x = int64(most)
		case k == beforeStart:
			x = -int64(most) - 1
		case k == farPast:
			x = int64(most) + 1_000_003
		case k == farBefore:
			x = -int64(most) - 1_000_003
		case k == farthestPast:
			x = math.MaxInt32 - 4
		default:
			x = math.MinInt32 + 4
		}
		put(dtype, b[i*size:], x)
	}
}

// put writes an integer as an element, the nearest that an integer of few bits holds.
func put(dtype garner.DType, b []byte, x int64) {
	size := dtype.Bits() / 8
	n := uint64(x)
	switch {
	case dtype == garner.F32:
		n = uint64(math.Float32bits(float32(x)))
	case dtype == garner.F64:
		n = math.Float64bits(float64(x))
	case dtype == garner.Bool:
		n = uint64(x & 1)
	case !dtype.IsInteger(): // a narrow float
		n = 0
	case dtype.IsUnsigned():
		n = uint64(max(x, 0))
		if size < 8 {
			n = min(n, 1<<(8*size)-1)
		}
	case size < 8:
		n = uint64(max(min(x, 1<<(8*size-1)-1), -1<<(8*size-1)))
	}
	for i := range size {
		b[i] = byte(n >> (8 * i))
	}
}

// fill makes random elements: small integers, and floats of some size.
func fill(rng *rand.Rand, dtype garner.DType, b []byte) {
	size := max(dtype.Bits()/8, 1)
	for at := 0; at+size <= len(b); at += size {
		n := uint64(int64(rng.IntN(7) - 2))
		switch dtype {
		case garner.Bool:
			n = uint64(rng.IntN(2))
		case garner.F32:
			n = uint64(math.Float32bits(float32(rng.NormFloat64())))
		case garner.F64:
			n = math.Float64bits(rng.NormFloat64())
		case garner.F16, garner.BF16:
			n = 0x3c00 + uint64(rng.IntN(1024))
		case garner.U8, garner.U16, garner.U32, garner.U64:
			n = uint64(rng.IntN(4))
		}
		for i := range size {
			b[at+i] = byte(n >> (8 * i))
		}
	}
}

// errElements is the error of tensors of one type that differ.
var errElements = errors.New("its elements differ from the source's")

// sameTensor compares two tensors bit for bit, a block at a time.
func sameTensor(ctx context.Context, got, want garner.Tensor) error {
	if got.DType() != want.DType() || !got.Shape().Equal(want.Shape()) {
		return fmt.Errorf("it is %s%s; the source gives %s%s", got.DType(), got.Shape(), want.DType(), want.Shape())
	}
	if got.DType() == garner.String {
		if got.Text() != want.Text() {
			return errElements
		}
		return nil
	}
	a, err := got.Clone()
	if err != nil {
		return err
	}
	b, err := want.Clone()
	if err != nil {
		return err
	}
	x, err := a.Bytes()
	if err != nil {
		return err
	}
	y, err := b.Bytes()
	if err != nil {
		return err
	}
	for at := 0; at < len(x); at += block {
		if err := context.Cause(ctx); err != nil {
			return err
		}
		if end := min(at+block, len(x)); !bytes.Equal(x[at:end], y[at:end]) {
			return errElements
		}
	}
	return nil
}
