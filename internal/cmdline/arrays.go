package cmdline

import (
	"cmp"
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"maps"
	"math"
	"slices"
	"strconv"
	"strings"

	"github.com/garner-go/garner"
	"github.com/garner-go/garner/files"
	"github.com/garner-go/garner/internal/literal"
	"github.com/garner-go/garner/source"
)

// Arrays are the operands of a request, open as arrays: DATA and INDICES are the request's.
type Arrays struct {
	Plan    *garner.Plan
	Further []source.Array // the further operands
	Facts   []files.Fact   // what the result depends on; nil where an operand cannot be told from others
	Held    int64          // bytes of memory of what was read whole: INDICES and further operands
	Apart   int64          // those of further operands alone
}

// OpenArrays opens INDICES and the further operands beside DATA, which is open: in place
// where possible. Its errors are those of a gather that is refused before it reads an index.
// INDICES take at most half of a given memory.
func (p *Console) OpenArrays(ctx context.Context, f *Flags, r *Request, memory *SizeFlag) (*Arrays, error) {
	data := r.Data
	if err := f.Data.Misread(r.Operator, r.Op, data.Spec()); err != nil {
		return nil, err
	}
	// Before INDICES are opened: a pipe may keep that waiting while DATA changes.
	dataFact, known, err := files.Identify(data.Array)
	if err != nil {
		return nil, err
	}
	if err := f.to.convert(data); err != nil {
		return nil, err
	}
	a := &Arrays{}
	if r.Indices, a.Held, err = p.openIndices(ctx, f, r, memory); err != nil {
		return nil, err
	}
	r.Memory.Take(OperandRoles[1], r.Indices)
	indicesFact, indicesSpec := "", garner.Spec{}
	if garner.TakesIndices(r.Op) {
		indicesSpec = r.Indices.Spec()
		indicesKnown := false
		if indicesFact, indicesKnown, err = files.Identify(r.Indices.Array); err != nil {
			return nil, err
		}
		known = known && indicesKnown
	}
	texts, err := f.further.Texts(r.Operator)
	if err != nil {
		return nil, err
	}
	if err := p.OpenFurther(ctx, r, texts, data.Spec(), indicesSpec, true); err != nil {
		return nil, err
	}
	if err := r.refused(data.Spec(), indicesSpec); err != nil {
		return nil, err
	}
	a.Further, a.Apart = r.Arrays()
	a.Held += a.Apart
	facts, furtherKnown, err := r.furtherFacts(a.Further)
	if err != nil {
		return nil, err
	}
	if r.Op, err = f.Policy.amend(r.Op, resultType(r.Op, data.Spec(), r.Indices.Spec(), r.Specs())); err != nil {
		return nil, err
	}
	if a.Plan, err = source.NewPlan(ctx, r.Op, data.Array, r.Indices.Array, a.Further...); err != nil {
		return nil, err
	}
	if known && furtherKnown {
		a.Facts = append(r.Identity(a.Plan, dataFact, indicesFact), facts...)
	}
	return a, nil
}

// openIndices opens the INDICES of a stream, in place where possible. held is how
// many bytes of memory they take.
func (p *Console) openIndices(ctx context.Context, f *Flags, r *Request, memory *SizeFlag) (in *files.Input, held int64, err error) {
	if !garner.TakesIndices(r.Op) {
		return files.Hold(garner.Tensor{}), 0, nil
	}
	from := r.Operands[1]
	if from.Kind == KindFile {
		if in, err = p.OpenInPlace(ctx, OperandRoles[1], from, f.indices.Options()); !errors.Is(err, files.ErrMemory) {
			return in, 0, err
		}
	}
	role := OperandRoles[1] + " " + Brief(from.Text)
	// Before it is inflated, or the range made.
	if spec, size := headerSpec(ctx, from, f.indices.Options()); memory.Beside(role, size, "") != nil {
		remedy, err := p.wholeIndices(ctx, f, r, spec)
		if err == nil {
			err = memory.Beside(role, size, remedy)
		}
		return nil, 0, err
	}
	in, t, err := p.Open(ctx, OperandRoles[1], from, f.indices.Options(), r.Memory.Left())
	if err != nil {
		return nil, 0, err
	}
	if in.Array == nil { // strings, which NewPlan refuses by their dtype
		in.Array = source.Memory(t)
	}
	return in, Volume(t.DType(), int64(t.Len())), nil
}

// headerSpec is the spec of a range, or of an array by its header, of which no element is
// read, and its bytes in memory; 0 where none says it.
func headerSpec(ctx context.Context, from Operand, o files.Options) (garner.Spec, int64) {
	if n, ok := literal.Elements(from.Text); ok && from.Kind == KindLiteral {
		spec := garner.SpecOfDims(cmp.Or(o.DType, garner.I64), garner.Dim{Max: garner.Unbounded})
		if n <= math.MaxInt { // else no int holds the length
			spec = garner.SpecOf(spec.DType, int(n))
		}
		size, _ := rangeBytes(from.Text, spec.DType)
		return spec, int64(min(size, 1<<62))
	}
	if from.Kind != KindFile || from.File.Format.Layout == nil || from.File.IsURL() || from.File.IsPattern() {
		return garner.Spec{}, 0
	}
	list, err := from.File.List(ctx, o)
	if err != nil {
		return garner.Spec{}, 0 // opening it says more
	}
	for _, a := range list {
		if (a.Name == from.File.Name || len(list) == 1) && a.DType != garner.Invalid {
			spec := garner.SpecOf(a.DType, a.Shape...)
			return spec, int64(min(SpaceOf(spec), 1<<62))
		}
	}
	return garner.Spec{}, 0
}

// What to do about an operand that is held whole: IntoFile, GiveMemory.
const (
	IntoFile   = "put them into a .npy file, of which a part is read at a time, or give more"
	GiveMemory = "give more: the operator makes bags, and all that says what is in them is held whole"
)

// wholeIndices says what to do about INDICES of a spec that are too large to hold: intoFile,
// unless the operator makes bags of them. Its error is that of a gather that is refused,
// however much memory it has.
func (p *Console) wholeIndices(ctx context.Context, f *Flags, r *Request, indices garner.Spec) (string, error) {
	data := r.Data.Spec()
	texts, err := f.further.Texts(r.Operator)
	if err == nil {
		err = p.OpenFurther(ctx, r, texts, data, indices, true)
	}
	if err == nil {
		err = r.refused(data, indices)
	}
	if err == nil {
		_, err = garner.Infer(r.Op, data, indices, r.Specs()...)
	}
	if err != nil {
		return "", err
	}
	if garner.Copies(r.Op) {
		return IntoFile, nil
	}
	if _, known := indices.Shape(); !known {
		indices = garner.SpecOf(indices.DType, 1) // a plan needs a length
	}
	plan, err := garner.NewPlan(r.Op, data, indices, r.Specs()...)
	if err != nil || plan.Bag != nil { // only plans of bags need elements of operands, which Infer does without
		return GiveMemory, nil
	}
	return IntoFile, nil
}

// Identity lists everything that a result depends on, beside its dtype and shape. The
// operator stands there as its plan: what means the same is the same, however the flags
// say it.
func (r *Request) Identity(plan *garner.Plan, data, indices string) []files.Fact {
	numbers := make([]string, len(plan.Axes))
	for i, a := range plan.Axes {
		numbers[i] = strconv.Itoa(a.Number)
	}
	outside := plan.Outside.String()
	if plan.Outside == garner.Fill {
		outside += "=" + plan.Fill.Text()
	}
	facts := []files.Fact{
		{What: "the operator", Value: fmt.Sprintf("a gather along axis %s with negative %s and outside %s, its loops %s",
			strings.Join(numbers, ","), plan.Negative, outside, hashed(plan.Loops, plan.Axes, plan.Slice))},
		{What: "DATA", Value: data},
		{What: "INDICES", Value: indices},
	}
	if plan.Bag != nil {
		facts = append(facts, files.Fact{What: "what becomes of bags", Value: bagText(plan.Bag)})
	}
	if plan.Stored != nil { // how it decodes is told by the attributes too
		form := plan.Stored.String()
		for _, name := range slices.Sorted(maps.Keys(r.Numbers)) {
			form += fmt.Sprintf(" %s=%v", name, r.Numbers[name])
		}
		facts = append(facts, files.Fact{What: "the form of stored elements", Value: form})
	}
	return facts
}

// hashed is a short text that differs where values do.
func hashed(values ...any) string {
	sum := sha256.Sum256(fmt.Appendf(nil, "%+v", values))
	return fmt.Sprintf("%x", sum[:8])
}

// bagText tells how the terms of bags are reduced. Two bags have one text only where they
// mean the same.
func bagText(b *garner.Bag) string {
	words := []string{b.Reduction.String()}
	if b.Padding.Given {
		words = append(words, fmt.Sprintf("without row %d", b.Padding.At))
	}
	if b.SkipNegative {
		words = append(words, "without negative indices")
	}
	if b.SkipWeightless {
		words = append(words, "without terms of no weight")
	}
	if b.Empty.Given {
		words = append(words, fmt.Sprintf("row %d for an empty bag", b.Empty.At))
	}
	return strings.Join(words, ", ") + "; " + hashed(*b)
}

// furtherFacts lists the further operands that a result depends on; known is false where
// one cannot be told from others.
func (r *Request) furtherFacts(more []source.Array) (facts []files.Fact, known bool, err error) {
	operands := garner.OperandsOf(r.Op)
	for i, a := range more {
		if a == nil {
			continue
		}
		fact, known, err := files.Identify(a)
		if err != nil || !known {
			return nil, false, err
		}
		facts = append(facts, files.Fact{What: "--operand " + operands[i].Name, Value: fact})
	}
	return facts, true, nil
}
