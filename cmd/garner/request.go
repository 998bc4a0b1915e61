package main

import (
	"context"
	"math"
	"slices"

	"github.com/garner-go/garner"
	"github.com/garner-go/garner/files"
	"github.com/garner-go/garner/internal/literal"
	"github.com/garner-go/garner/operators"
	"github.com/garner-go/garner/source"
)

// A request is a gather from its command line to its opened operands: the
// operator with its numbers and policies, DATA and INDICES.
type request struct {
	operator      operators.Operator
	numbers       map[string]any // of the operator, by their names
	op            garner.Op
	operands      [2]operand    // DATA and INDICES
	options       files.Options // of DATA
	data, indices *files.Input  // nil until they are opened as tensors

	dataTensor, indicesTensor garner.Tensor
	memory                    *budget

	ask func(*garner.Plan) error // whether there is room, before a long range is made; may be nil

	// most is how many INDICES are opened of a range that has more: the first of those
	// that whole has. 0: all.
	most  int
	whole garner.Spec

	further []further // as the operator has them

	to       map[string]garner.DType // what further operands are converted to
	converts bool                    // the command has --to

	// inPlace leaves DATA in a file where it is neither in memory nor mapped as it is
	// there, such as a quantised table. dataTensor is then no tensor.
	inPlace bool
}

func (r *request) close() {
	for _, in := range r.inputs() {
		in.Close()
	}
}

// inputs returns the operands that are opened.
func (r *request) inputs() []*files.Input {
	all := []*files.Input{r.data, r.indices}
	for _, f := range r.further {
		all = append(all, f.input)
	}
	return slices.DeleteFunc(all, func(in *files.Input) bool { return in == nil })
}

// paths returns the files of all operands.
func (r *request) paths() []string {
	var all []string
	for _, in := range r.inputs() {
		all = append(all, in.Paths...)
	}
	return all
}

// changed is the error of an operand whose file is no longer what it was when it
// was opened.
func (r *request) changed() error {
	for _, in := range r.inputs() {
		if err := in.Changed(); err != nil {
			return err
		}
	}
	return nil
}

// request parses a command line and opens its operands as tensors; checkOutput
// refuses an OUT. The caller closes the request, unless there is an error.
func (p *program) request(ctx context.Context, kind operators.Kind, f *gatherFlags, args []string, checkOutput func(string) error) (*request, error) {
	r, err := asked(ctx, kind, f, args, checkOutput)
	if err != nil {
		return nil, err
	}
	return r, p.openRequest(ctx, f, r)
}

// asked parses a command line and reports its mistakes before it opens any
// file; of a .gguf it reads the header where the operator takes its blocks.
func asked(ctx context.Context, kind operators.Kind, f *gatherFlags, args []string, checkOutput func(string) error) (r *request, err error) {
	r = &request{memory: f.stream.memory.budget()}
	if r.operator, err = f.operator.find(kind); err != nil {
		return nil, err
	}
	if r.operator.Kind != kind {
		return nil, rightCommand(r.operator, kind)
	}
	if _, err := f.further.texts(r.operator); err != nil {
		return nil, err
	}
	if err := f.to.check(r.operator); err != nil {
		return nil, err
	}
	r.to = f.to.operands
	if r.numbers, err = f.operator.numbers(); err != nil {
		return nil, err
	}
	if r.op, err = newOperator(r.operator, r.numbers); err != nil {
		return nil, err
	}
	if f.threads.given && (f.threads.value < 1 || f.threads.value > 1<<16) {
		return nil, wrong("--threads %d: give 1 or more; without it all cores are used", f.threads.value)
	}
	if f.out != "" {
		if err := checkOutput(f.out); err != nil {
			return nil, err
		}
	}
	if r.operands, err = parseOperands(args); err != nil {
		return nil, err
	}
	r.options, err = r.dataOptions(ctx, r.operands[0], f.data.options())
	return r, err
}

// openRequest opens the operands as tensors, DATA perhaps in place.
func (p *program) openRequest(ctx context.Context, f *gatherFlags, r *request) (err error) {
	defer func() {
		if err != nil {
			r.close()
		}
	}()
	if r.inPlace && r.operands[0].kind == kindFile {
		r.data, err = p.openFile(ctx, operandRoles[0], r.operands[0].file, r.options, r.memory.left())
	} else {
		r.data, r.dataTensor, err = p.open(ctx, operandRoles[0], r.operands[0], r.options, r.memory.left())
	}
	if err != nil {
		return err
	}
	r.memory.take(operandRoles[0], r.data)
	if err := f.data.misread(r.operator, r.op, r.data.Spec()); err != nil {
		return err
	}
	was := r.data.Spec().DType
	if err := f.to.convert(r.data); err != nil {
		return err
	}
	if r.inPlace && r.operands[0].kind == kindFile {
		r.dataTensor, _ = r.data.View()
	} else if r.data, r.dataTensor, err = p.loaded(ctx, operandRoles[0], r.data, r.memory.left()); err != nil {
		return err
	}
	if r.data.Spec().DType != was { // what it is converted from stays
		r.memory.take(operandRoles[0], r.data)
	}
	if !garner.TakesIndices(r.op) {
		r.indices = files.Hold(garner.Tensor{})
	} else {
		most := r.memory.left()
		if r.most > 0 { // of a longer one, which is not made
			most.Bytes = math.MaxInt64
		}
		spec, long := rangeSpec(r.operands[1], garner.DType(f.indices.dtype), most)
		if first, ok := literal.First(r.operands[1].text, r.most); ok && long {
			r.operands[1].text, r.whole = first, spec
		}
		if long && r.ask != nil {
			op, err := f.policy.amend(r.op, resultType(r.op, r.data.Spec(), spec, nil))
			if err != nil {
				return err
			}
			plan, err := garner.NewPlan(op, r.data.Spec(), spec)
			if err != nil {
				return err
			}
			if err := r.ask(plan); err != nil {
				return err
			}
		}
		if long && r.ask == nil { // a refused plan makes no long range
			if err := p.openMore(ctx, f, r, r.data.Spec(), spec); err != nil {
				return err
			}
			if _, err := garner.Infer(r.op, r.data.Spec(), spec, r.specs()...); err != nil {
				return err
			}
		}
		if r.indices, r.indicesTensor, err = p.open(ctx, operandRoles[1], r.operands[1], f.indices.options(), r.memory.left()); err != nil {
			return err
		}
		r.memory.take(operandRoles[1], r.indices)
	}
	data, indices := r.data.Spec(), garner.Spec{}
	if garner.TakesIndices(r.op) {
		indices = r.indicesTensor.Spec()
	}
	if r.further == nil {
		if err := p.openMore(ctx, f, r, data, indices); err != nil {
			return err
		}
	}
	r.op, err = f.policy.amend(r.op, resultType(r.op, data, indices, r.specs()))
	return err
}

// openMore opens the further operands, and refuses those that do not fit.
func (p *program) openMore(ctx context.Context, f *gatherFlags, r *request, data, indices garner.Spec) error {
	texts, err := f.further.texts(r.operator)
	if err != nil {
		return err
	}
	if err := p.openFurther(ctx, r, texts, data, indices, false); err != nil {
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

// dataSpec returns the spec of DATA, which is perhaps left in its file.
func (r *request) dataSpec() garner.Spec {
	if r.dataTensor.DType() == garner.Invalid {
		return r.data.Spec()
	}
	return r.dataTensor.Spec()
}

// indexArray returns the indices as an array, which is read in parts where it is in a
// file.
func (r *request) indexArray() source.Array {
	if r.indices.Array != nil {
		return r.indices.Array
	}
	return source.Memory(r.indicesTensor) // strings, which the plan refuses
}
