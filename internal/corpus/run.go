package corpus

import (
	"bytes"
	"errors"
	"fmt"
	"hash"
	"math"
	"slices"
	"strconv"

	"github.com/garner-go/garner"
	"github.com/garner-go/garner/operators"
)

// want is the expectation of a case: an error of a class, a result, or, where
// the case cannot run, what inference gives.
type want struct {
	class   error        // nil: no error
	spec    garner.Spec  // dtype and dims of the result
	partial *garner.Spec // what partial shapes alone give; nil: not recorded
	ran     bool         // the case has elements to compare: value or sum
	value   func() (garner.Tensor, error)
	part    func(first, n int) (garner.Tensor, error) // some of its elements, as a vector; nil: they are listed, or not known
	sum     *checksum
	exact   bool  // the bits of a NaN count
	open    []int // elements that the specification leaves open
}

// An answer is garner's answer by one way of asking.
type answer struct {
	way    string
	spec   garner.Spec   // of an inference
	tensor garner.Tensor // of a run; the zero Tensor for an inference
	pieces *pieces       // of a run whose result is not held in memory; nil elsewhere
	loose  bool          // an inference from less than is known: it may leave open what others tell
	more   bool          // there are further operands, whose elements an inference does not see
	err    error
}

// Run asks garner and compares the answers with the recorded one: those of the
// executor, of the definition and of shape inference must all agree. A panic
// fails the case.
func (c Case) Run() (r Result) {
	r = Result{Name: c.Name, Op: c.Op, Status: Fail}
	defer func() {
		if p := recover(); p != nil {
			r.Status, r.Detail = Fail, fmt.Sprintf("panic: %v", p)
		}
	}()
	answers, err := c.answers()
	if err == nil {
		err = c.want.judge(answers)
	}
	switch {
	case err == nil:
		r.Status = Pass
	case c.tooLarge():
		r.Status, r.Detail = Skip, "an operand or the result has more bytes than an int of this machine can count"
	default:
		r.Detail = err.Error()
	}
	return r
}

// tooLarge reports whether a case has a result, or as a case of inference alone
// operands, that a 64-bit machine can count and this one cannot.
func (c *Case) tooLarge() bool {
	if strconv.IntSize == 64 || c.err != nil {
		return false
	}
	tooMany := func(spec garner.Spec) bool {
		shape, ok := spec.Shape()
		n, fits := shape.Len()
		return ok && (!fits || n > math.MaxInt/bytesOf(spec.DType))
	}
	return tooMany(c.want.spec) || !c.valued() && slices.ContainsFunc(c.inputs, func(in operand) bool { return tooMany(in.spec) })
}

// answers asks garner in every way that the case allows. An error means that
// the case has nothing to ask.
func (c *Case) answers() ([]answer, error) {
	if c.err != nil {
		return nil, fmt.Errorf("no case: %w", c.err)
	}
	if c.ir != nil {
		return c.answersIR()
	}
	operator, err := operators.Find(c.Op, c.opset)
	if err != nil {
		return nil, fmt.Errorf("no case: %w", err)
	}
	tensors := make([]garner.Tensor, len(c.inputs))
	for i, in := range c.inputs {
		if in.value == nil {
			continue
		}
		if tensors[i], err = in.value(); err != nil {
			return nil, fmt.Errorf("no case: input %d: %w", i, err)
		}
	}
	data, indices := c.inputs[0].spec, c.inputs[1].spec
	known, unknown := make([]operators.Input, 0, 1), make([]operators.Input, 0, 1)
	for i, in := range c.inputs[2:] {
		known = append(known, operators.Input{Spec: in.spec, Value: tensors[2+i]})
		unknown = append(unknown, operators.Input{Spec: in.spec})
	}
	op, err := c.bind(operator, known)
	given := operator.Operands(known)
	specs, more := make([]garner.Spec, len(given)), make([]garner.Tensor, len(given))
	for i, in := range given {
		specs[i], more[i] = in.Spec, in.Value
	}
	infer := func(way string, op garner.Op, data, indices garner.Spec) answer {
		if err != nil {
			return answer{way: way, err: err}
		}
		spec, err := garner.Infer(op, data, indices, specs...)
		_, known := spec.Shape()
		return answer{way: way, spec: spec, more: len(given) > 0, loose: len(given) > 0 && !known, err: err}
	}
	answers := []answer{infer("Infer", op, data, indices)}
	if !c.valued() || !c.want.ran && c.want.class == nil {
		if _, ok := c.want.spec.Shape(); ok && c.want.class == nil && err == nil {
			answers = append(answers, c.loose(operator, op, unknown, data, indices, specs)...)
		}
		return answers, nil
	}
	// The tensors make every shape exact that the case gives in part.
	exactData, exactIndices := tensors[0].Spec(), tensors[1].Spec()
	if c.want.partial != nil {
		answers[0].way = "Infer of the partial shapes"
		answers = append(answers, infer("Infer", op, exactData, exactIndices))
	} else {
		answers[0] = infer("Infer", op, exactData, exactIndices)
	}
	last := answers[len(answers)-1]
	if _, ok := last.spec.Shape(); !ok && last.err == nil && err == nil && len(given) > 0 {
		// The further operands' elements tell the result's shape.
		if p, err := garner.Prepare(op, exactData, exactIndices, garner.Threads(1), garner.FurtherTensors(more...)); err == nil && p.Plan() != nil {
			last.spec = garner.SpecOf(p.Plan().DType, p.Plan().Out...)
		}
	}
	if shape, ok := last.spec.Shape(); ok && last.err == nil {
		n, _ := shape.Len()
		size := int64(bytesOf(exactData.DType))
		switch most := maxResult / size; {
		case int64(n) > most || exactData.DType == garner.String && n > maxBytes/int(size):
			return nil, fmt.Errorf("no case: its result %s is larger than %d MiB, the most that a case may take", last.spec, maxResult>>20)
		case n > maxBytes/int(size) && len(given) > 0:
			return nil, fmt.Errorf("no case: its result %s is larger than %d MiB, the most for an operator of further operands", last.spec, maxBytes>>20)
		case n > maxBytes/int(size):
			return append(answers, answer{way: "Gather, in pieces", pieces: &pieces{op, tensors[0], tensors[1], n, pieceLen}}), nil
		}
	}
	run := func(way string, f func(garner.Op, garner.Tensor, garner.Tensor, ...garner.Tensor) (garner.Tensor, error)) {
		a := answer{way: way, err: err}
		if err == nil {
			a.tensor, a.err = f(op, tensors[0], tensors[1], more...)
		}
		answers = append(answers, a)
	}
	run("Gather", garner.Gather)
	run("Reference", garner.Reference)
	if err == nil && c.want.class == nil {
		answers = append(answers, c.loose(operator, op, unknown, exactData, exactIndices, specs)...)
	}
	return answers, nil
}

// loose infers the result from less and less: inference must neither fail nor
// contradict the result of knowing all.
func (c *Case) loose(operator operators.Operator, op garner.Op, unknown []operators.Input, data, indices garner.Spec, more []garner.Spec) []answer {
	var answers []answer
	ask := func(way string, op garner.Op, err error, data, indices garner.Spec) {
		a := answer{way: way, loose: true, err: err}
		if err == nil {
			a.spec, a.err = garner.Infer(op, data, indices, more...)
		}
		answers = append(answers, a)
	}
	someData := garner.SpecOfRank(data.DType, data.Rank)
	someIndices := garner.SpecOfRank(indices.DType, indices.Rank)
	ask("Infer without data's dims", op, nil, someData, indices)
	ask("Infer without the indices' dims", op, nil, data, someIndices)
	ask("Infer without dims", op, nil, someData, someIndices)
	noData := garner.SpecOfRank(data.DType, garner.AnyDim)
	noIndices := garner.SpecOfRank(indices.DType, garner.AnyDim)
	ask("Infer without data's rank", op, nil, noData, indices)
	ask("Infer without the indices' rank", op, nil, data, noIndices)
	ask("Infer without ranks", op, nil, noData, noIndices)
	if more = slices.Clone(more); len(more) > 0 {
		for i, s := range more {
			if s.DType.Valid() {
				more[i] = garner.SpecOfRank(s.DType, s.Rank)
			}
		}
		ask("Infer without the further operands' dims", op, nil, data, indices)
		for i, s := range more {
			if s.DType.Valid() {
				more[i] = garner.SpecOfRank(s.DType, garner.AnyDim)
			}
		}
		ask("Infer without the further operands' ranks", op, nil, data, indices)
	}
	if len(unknown) > len(more) {
		open, err := c.bind(operator, unknown)
		ask("Infer without the axis", open, err, data, indices)
		ask("Infer without the axis and ranks", open, err, noData, noIndices)
	}
	return answers
}

// bind returns the operator with the policies of the case.
func (c *Case) bind(operator operators.Operator, inputs []operators.Input) (garner.Op, error) {
	op, err := operator.Bind(c.attributes, inputs...)
	if indices := c.inputs[1].spec; err != nil && !indices.DType.IsInteger() {
		// A dtype error precedes an attribute error, and Bind does not
		// see the indices.
		return nil, garner.Errorf(garner.ErrDType, "indices are %s; they must be integers", indices.DType)
	}
	if err != nil {
		return nil, err
	}
	if c.policy.negative != nil {
		op = garner.WithNegative(op, *c.policy.negative)
	}
	if c.policy.outside != nil {
		op = garner.WithOutside(op, *c.policy.outside)
	}
	return op, nil
}

// judge compares the answers with the expectation.
func (w *want) judge(answers []answer) error {
	for i := range answers {
		var err error
		a := &answers[i]
		switch {
		case w.class != nil && a.pieces != nil:
			if a.err = a.pieces.refused(); a.err == nil {
				err = fmt.Errorf("answered a result larger than %d MiB; want an error of class %v", maxBytes>>20, w.class)
			} else {
				err = w.judgeError(a)
			}
		case w.class != nil:
			err = w.judgeError(a)
		case a.pieces != nil:
			err = a.pieces.hold(w)
		default:
			err = w.judgeResult(a)
		}
		if err != nil {
			return fmt.Errorf("%s: %w", answers[i].way, err)
		}
	}
	return nil
}

func (w *want) judgeError(a *answer) error {
	// Inference sees no element, and so has no error of an index, and none of the ends
	// of bags.
	inferred := !a.tensor.DType().Valid() && a.spec.DType.Valid()
	switch {
	case a.err == nil && inferred && (w.class == garner.ErrIndex || a.more && w.class == garner.ErrShape):
		return nil
	case a.err == nil && inferred:
		return fmt.Errorf("answered %s; want an error of class %v", a.spec, w.class)
	case a.err == nil:
		return fmt.Errorf("answered %s; want an error of class %v", clip(a.tensor.String()), w.class)
	case !errors.Is(a.err, w.class):
		return fmt.Errorf("error %q is not of class %v", a.err, w.class)
	}
	return nil
}

func (w *want) judgeResult(a *answer) error {
	if a.err != nil {
		return fmt.Errorf("error %q; want %s", a.err, w.spec)
	}
	if !a.tensor.DType().Valid() {
		wanted := w.spec
		if w.partial != nil && a.way != "Infer" && !a.loose {
			wanted = *w.partial
		}
		if shape, ok := wanted.Shape(); a.loose && ok && a.spec.DType == wanted.DType && admits(a.spec, shape) {
			return nil
		}
		if a.spec.DType != wanted.DType || a.spec.Rank != wanted.Rank || !slices.Equal(a.spec.Dims, wanted.Dims) {
			return fmt.Errorf("answered %s; want %s", a.spec, wanted)
		}
		return nil
	}
	shape, _ := w.spec.Shape()
	if a.tensor.DType() != w.spec.DType || !a.tensor.Shape().Equal(shape) {
		return fmt.Errorf("answered %s%s; want %s", a.tensor.DType(), a.tensor.Shape(), w.spec)
	}
	if w.sum != nil {
		return w.sum.check(a.tensor)
	}
	value, err := w.value()
	if err != nil {
		return fmt.Errorf("no case: the output: %w", err)
	}
	got := a.tensor
	if len(w.open) > 0 {
		if got, err = got.Clone(); err != nil {
			return err
		}
	}
	for _, i := range w.open {
		text, err := value.At(coordinates(value.Shape(), i)...)
		if err == nil {
			err = got.SetText(i, text)
		}
		if err != nil {
			return err
		}
	}
	return same(got, value, w.exact)
}

func (s *checksum) check(t garner.Tensor) error {
	b, err := t.Bytes()
	if err != nil {
		return err
	}
	h := s.new()
	h.Write(b)
	return s.compare(h, int64(len(b)))
}

// compare holds the checksum against that of n bytes.
func (s *checksum) compare(h hash.Hash, n int64) error {
	if s.bytes >= 0 && n != s.bytes {
		return fmt.Errorf("answered %d bytes; want %d", n, s.bytes)
	}
	if got := h.Sum(nil); !bytes.Equal(got, s.digest) {
		return fmt.Errorf("the result's %s is %x; want %x", s.name, got, s.digest)
	}
	return nil
}

// admits reports whether a spec allows a shape.
func admits(s garner.Spec, shape garner.Shape) bool {
	if len(shape) < s.Rank.Min || len(shape) > s.Rank.Max {
		return false
	}
	for i, d := range s.Dims {
		if shape[i] < d.Min || shape[i] > d.Max {
			return false
		}
	}
	return true
}

// same compares the elements of two tensors of one dtype and shape by their
// bits. Unless exact, all NaNs are equal.
func same(got, want garner.Tensor, exact bool) error {
	dtype := got.DType()
	if dtype == garner.String {
		a, err := garner.Values[string](got)
		if err != nil {
			return err
		}
		b, err := garner.Values[string](want)
		if err != nil {
			return err
		}
		return differ(got, want, func(i int) bool { return a[i] == b[i] })
	}
	a, err := got.Bytes()
	if err != nil {
		return err
	}
	b, err := want.Bytes()
	if err != nil {
		return err
	}
	if bytes.Equal(a, b) {
		return nil
	}
	equal := func(i int) bool {
		if dtype.Packed() {
			return false
		}
		w := dtype.Bits() / 8
		return bytes.Equal(a[i*w:(i+1)*w], b[i*w:(i+1)*w])
	}
	if dtype.Packed() {
		// Elements first, so that the message names one; then the
		// unused bits of the last byte.
		err := differ(got, want, func(i int) bool { return element(got, i) == element(want, i) })
		if err == nil {
			err = errors.New("the unused bits of the last byte are not 0")
		}
		return err
	}
	if exact || !dtype.IsFloat() && !dtype.IsComplex() {
		return differ(got, want, equal)
	}
	parts, aParts, bParts := 1, got, want
	if dtype.IsComplex() {
		part := garner.F32
		if dtype == garner.Complex128 {
			part = garner.F64
		}
		parts = 2
		if aParts, err = garner.FromBytes(part, a, 2*got.Len()); err != nil {
			return err
		}
		if bParts, err = garner.FromBytes(part, b, 2*got.Len()); err != nil {
			return err
		}
	}
	return differ(got, want, func(i int) bool {
		if equal(i) {
			return true
		}
		w := aParts.DType().Bits() / 8
		for p := parts * i; p < parts*(i+1); p++ {
			x, errX := aParts.Float64(p)
			y, errY := bParts.Float64(p)
			nan := errX == nil && errY == nil && x != x && y != y
			if !nan && !bytes.Equal(a[p*w:(p+1)*w], b[p*w:(p+1)*w]) {
				return false
			}
		}
		return true
	})
}

// differ counts the elements that differ and names the first.
func differ(got, want garner.Tensor, equal func(i int) bool) error {
	first, count := -1, 0
	for i := range got.Len() {
		if !equal(i) {
			if count++; first < 0 {
				first = i
			}
		}
	}
	if count == 0 {
		return nil
	}
	return fmt.Errorf("element %s is %s; want %s (%d of %d differ)", coordinates(got.Shape(), first), element(got, first), element(want, first), count, got.Len())
}

// element returns the text of the i-th element in row-major order, with the
// bits of a NaN.
func element(t garner.Tensor, i int) string {
	text, err := t.At(coordinates(t.Shape(), i)...)
	if err != nil {
		return err.Error()
	}
	if b, err := t.Bytes(); err == nil && text == "NaN" {
		w := t.DType().Bits() / 8
		text += fmt.Sprintf(" (%x)", b[i*w:(i+1)*w])
	}
	return clip(text)
}

func coordinates(shape garner.Shape, i int) garner.Shape {
	at := make(garner.Shape, len(shape))
	for axis := len(shape) - 1; axis >= 0; axis-- {
		at[axis] = i % shape[axis]
		i /= shape[axis]
	}
	return at
}

// clip shortens text for a message.
func clip(s string) string {
	const most = 120
	if len(s) > most {
		return s[:most] + "…"
	}
	return s
}
