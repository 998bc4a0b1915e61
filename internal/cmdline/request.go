package cmdline

import (
	"context"
	"fmt"
	"math"
	"slices"
	"strings"

	"github.com/garner-go/garner"
	"github.com/garner-go/garner/files"
	"github.com/garner-go/garner/internal/literal"
	"github.com/garner-go/garner/operators"
	"github.com/garner-go/garner/source"
)

// A Request is a gather from its command line to its opened operands: the
// operator with its numbers and policies, DATA and INDICES.
type Request struct {
	Operator      operators.Operator
	Numbers       map[string]any // of the operator, by their names
	Op            garner.Op
	Operands      [2]Operand    // DATA and INDICES
	Options       files.Options // of DATA
	Data, Indices *files.Input  // nil until they are opened as tensors

	DataTensor, IndicesTensor garner.Tensor
	Memory                    *Budget

	Ask func(*garner.Plan) error // whether there is room, before a long range is made; may be nil

	// most is how many INDICES are opened of a range that has more: the first of those
	// that whole has. 0: all.
	Most  int
	Whole garner.Spec

	further []further // as the operator has them

	to       map[string]garner.DType // what further operands are converted to
	Converts bool                    // the command has --to

	// inPlace leaves DATA in a file where it is neither in memory nor mapped as it is
	// there, such as a quantised table. DataTensor is then no tensor.
	InPlace bool
}

// Close closes the operands that are open.
func (r *Request) Close() {
	for _, in := range r.inputs() {
		in.Close()
	}
}

// inputs returns the operands that are opened.
func (r *Request) inputs() []*files.Input {
	all := []*files.Input{r.Data, r.Indices}
	for _, f := range r.further {
		all = append(all, f.input)
	}
	return slices.DeleteFunc(all, func(in *files.Input) bool { return in == nil })
}

// Paths returns the files of all operands.
func (r *Request) Paths() []string {
	var all []string
	for _, in := range r.inputs() {
		all = append(all, in.Paths...)
	}
	return all
}

// Changed is the error of an operand whose file is no longer what it was when it
// was opened.
func (r *Request) Changed() error {
	for _, in := range r.inputs() {
		if err := in.Changed(); err != nil {
			return err
		}
	}
	return nil
}

// Ask parses a command line and reports its mistakes before it opens any
// file; of a .gguf it reads the header where the operator takes its blocks. check, which
// may be nil, refuses other flags, after the operator and before the operands.
func (p *Console) Ask(ctx context.Context, kind operators.Kind, f *Flags, args []string, memory *Budget, check func() error) (r *Request, err error) {
	r = &Request{Memory: memory}
	if r.Operator, err = f.Operator.Find(kind); err != nil {
		return nil, err
	}
	if r.Operator.Kind != kind {
		return nil, RightCommand(p.Name, r.Operator, kind)
	}
	if _, err := f.further.Texts(r.Operator); err != nil {
		return nil, err
	}
	if err := f.to.check(r.Operator); err != nil {
		return nil, err
	}
	r.to = f.to.operands
	if r.Numbers, err = f.Operator.Numbers(); err != nil {
		return nil, err
	}
	if r.Op, err = NewOperator(r.Operator, r.Numbers); err != nil {
		return nil, err
	}
	if check != nil {
		if err := check(); err != nil {
			return nil, err
		}
	}
	if r.Operands, err = ParseOperands(args); err != nil {
		return nil, err
	}
	r.Options, err = r.DataOptions(ctx, r.Operands[0], f.Data.Options())
	return r, err
}

// OpenRequest opens the operands as tensors, DATA perhaps in place.
func (p *Console) OpenRequest(ctx context.Context, f *Flags, r *Request) (err error) {
	defer func() {
		if err != nil {
			r.Close()
		}
	}()
	if r.InPlace && r.Operands[0].Kind == KindFile {
		r.Data, err = p.openFile(ctx, OperandRoles[0], r.Operands[0].File, r.Options, r.Memory.Left())
	} else {
		r.Data, r.DataTensor, err = p.Open(ctx, OperandRoles[0], r.Operands[0], r.Options, r.Memory.Left())
	}
	if err != nil {
		return err
	}
	r.Memory.Take(OperandRoles[0], r.Data)
	if err := f.Data.Misread(r.Operator, r.Op, r.Data.Spec()); err != nil {
		return err
	}
	was := r.Data.Spec().DType
	if err := f.to.convert(r.Data); err != nil {
		return err
	}
	if r.InPlace && r.Operands[0].Kind == KindFile {
		r.DataTensor, _ = r.Data.View()
	} else if r.Data, r.DataTensor, err = p.loaded(ctx, OperandRoles[0], r.Data, r.Memory.Left()); err != nil {
		return err
	}
	if r.Data.Spec().DType != was { // what it is converted from stays
		r.Memory.Take(OperandRoles[0], r.Data)
	}
	if !garner.TakesIndices(r.Op) {
		r.Indices = files.Hold(garner.Tensor{})
	} else {
		most := r.Memory.Left()
		if r.Most > 0 { // of a longer one, which is not made
			most.Bytes = math.MaxInt64
		}
		spec, long := RangeSpec(r.Operands[1], garner.DType(f.indices.DType), most)
		if first, ok := literal.First(r.Operands[1].Text, r.Most); ok && long {
			r.Operands[1].Text, r.Whole = first, spec
		}
		if long && r.Ask != nil {
			op, err := f.Policy.amend(r.Op, resultType(r.Op, r.Data.Spec(), spec, nil))
			if err != nil {
				return err
			}
			plan, err := garner.NewPlan(op, r.Data.Spec(), spec)
			if err != nil {
				return err
			}
			if err := r.Ask(plan); err != nil {
				return err
			}
		}
		if long && r.Ask == nil { // a refused plan makes no long range
			if err := p.openMore(ctx, f, r, r.Data.Spec(), spec); err != nil {
				return err
			}
			if _, err := garner.Infer(r.Op, r.Data.Spec(), spec, r.Specs()...); err != nil {
				return err
			}
		}
		if r.Indices, r.IndicesTensor, err = p.Open(ctx, OperandRoles[1], r.Operands[1], f.indices.Options(), r.Memory.Left()); err != nil {
			return err
		}
		r.Memory.Take(OperandRoles[1], r.Indices)
	}
	data, indices := r.Data.Spec(), garner.Spec{}
	if garner.TakesIndices(r.Op) {
		indices = r.IndicesTensor.Spec()
	}
	if r.further == nil {
		if err := p.openMore(ctx, f, r, data, indices); err != nil {
			return err
		}
	}
	r.Op, err = f.Policy.amend(r.Op, resultType(r.Op, data, indices, r.Specs()))
	return err
}

// openMore opens the further operands, and refuses those that do not fit.
func (p *Console) openMore(ctx context.Context, f *Flags, r *Request, data, indices garner.Spec) error {
	texts, err := f.further.Texts(r.Operator)
	if err != nil {
		return err
	}
	if err := p.OpenFurther(ctx, r, texts, data, indices, false); err != nil {
		return err
	}
	return r.refused(data, indices)
}

// resultType returns the dtype of a result, which a fill is of: that of data, unless the
// operator decodes.
func resultType(op garner.Op, data, indices garner.Spec, more []garner.Spec) garner.DType {
	if out, err := garner.Infer(op, data, indices, more...); err == nil {
		return out.DType
	}
	return data.DType
}

// DataSpec returns the spec of DATA, which is perhaps left in its file.
func (r *Request) DataSpec() garner.Spec {
	if r.DataTensor.DType() == garner.Invalid {
		return r.Data.Spec()
	}
	return r.DataTensor.Spec()
}

// IndexArray returns the indices as an array, which is read in parts where it is in a
// file.
func (r *Request) IndexArray() source.Array {
	if r.Indices.Array != nil {
		return r.Indices.Array
	}
	return source.Memory(r.IndicesTensor) // strings, which the plan refuses
}

// DataOptions returns how DATA is opened, given its flags. An operator of dialect gguf
// takes the blocks of a .gguf, and the file names their kind where --attr type does not:
// r.op is then of that kind.
func (r *Request) DataOptions(ctx context.Context, from Operand, o files.Options) (files.Options, error) {
	if !strings.HasPrefix(r.Operator.Name, "gguf.") || from.Kind != KindFile || !from.File.Format.Quantised {
		return o, nil
	}
	o.Blocks = true
	list, err := from.File.List(ctx, o)
	i := slices.IndexFunc(list, func(a files.Info) bool { return a.Name == from.File.Name })
	if err != nil || i < 0 {
		return o, nil // opening it says more
	}
	kind := list[i].Kind
	given, is := r.Numbers["type"]
	switch {
	case list[i].DType != garner.U8 && list[i].DType != garner.Invalid:
		return o, garner.Errorf(garner.ErrDType, "%s is of %s, whose elements %s does not decode; gather them without --as", from.Text, kind, r.Operator.Name)
	case !is:
		r.Numbers["type"] = kind
		r.Op, err = r.Operator.New(r.Numbers)
		return o, err
	case !o.Raw && given != any(kind):
		return o, Wrong("--attr type=%v: %s is of %s; leave type out, or say with --raw that its bytes are blocks of %v", given, from.Text, kind, given)
	}
	return o, nil
}

// Given returns the attributes and inputs given to the operator, in its own order,
// each as "axis=1".
func (r *Request) Given() []string {
	names := make([]string, 0, len(r.Numbers))
	for name := range r.Numbers {
		names = append(names, name)
	}
	order := slices.Concat(r.Operator.Inputs(), r.Operator.Attributes())
	slices.SortFunc(names, func(a, b string) int {
		if i, j := slices.Index(order, a), slices.Index(order, b); i != j {
			return i - j
		}
		return strings.Compare(a, b)
	})
	for i, name := range names {
		value := fmt.Sprint(r.Numbers[name])
		if _, list := r.Numbers[name].([]int64); list {
			value = strings.ReplaceAll(value, " ", ",")
		}
		names[i] = name + "=" + value
	}
	return names
}

// FewIndices is the most indices that are looked at before it is asked whether there is
// room for the result, in memory or on standard output: an index outside is the better
// error, where it is found within some 25 ms.
const FewIndices = 1 << 20
