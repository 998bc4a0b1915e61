package play

import (
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/garner-go/garner"
	"github.com/garner-go/garner/internal/literal"
	"github.com/garner-go/garner/internal/play/code"
	"github.com/garner-go/garner/internal/play/recorded"
	"github.com/garner-go/garner/operators"
)

// A Call is what a person typed: the operands as literals, and numbers that go to every
// operator.
type Call struct {
	Data         string `json:"data"`
	DataDType    string `json:"data_dtype,omitempty"` // "": as the command reads literals
	Indices      string `json:"indices"`              // "" for operators that take none
	IndicesDType string `json:"indices_dtype,omitempty"`

	// Axis and BatchDims are for every operator that takes them; one that needs another
	// value is not asked. nil is the default of each operator.
	Axis      *int64 `json:"axis,omitempty"`
	BatchDims *int64 `json:"batch_dims,omitempty"`

	// Attributes are those of operators by their names, and under "*" those for every
	// operator that takes them.
	Attributes map[string]map[string]any `json:"attributes,omitempty"`

	Operands map[string]string `json:"operands,omitempty"` // literals of operands beyond data and indices, by their names
}

// everyOperator is the name in Call.Attributes that stands for all operators.
const everyOperator = "*"

// alike are the names that frameworks give to the same operand. An operator is asked if
// it takes, of each row that the call has, a name that the call has.
var alike = [][]string{
	{"offsets", "segment_ids", "ids_indices"}, // which indices are of one bag
	{"per_sample_weights", "weights"},
	{"scale", "scales"},
	{"zero_point", "zero_points"},
}

// likeness gives the row of alike that has a name; -1 if none has.
func likeness(name string) int {
	return slices.IndexFunc(alike, func(row []string) bool { return slices.Contains(row, name) })
}

// typed is a call whose literals are read.
type typed struct {
	Call
	data, indices garner.Tensor // indices are the zero Tensor where none are given
	operands      map[string]garner.Tensor
	untyped       map[string]bool           // operands whose text says no type
	reaches       map[string]recorded.Reach // of the indices, by the axes that plans gather
}

// read reads the literals of a call, and checks what does not depend on the operator.
// Every error is a *Refusal.
func (c Call) read() (*typed, error) {
	t := &typed{Call: c, operands: map[string]garner.Tensor{}, untyped: map[string]bool{}, reaches: map[string]recorded.Reach{}}
	left := MostElements
	var err error
	if t.data, err = tensor("data", c.Data, c.DataDType, &left); err != nil {
		return nil, err
	}
	if strings.TrimSpace(c.Indices) != "" {
		if t.indices, err = tensor("indices", c.Indices, c.IndicesDType, &left); err != nil {
			return nil, err
		}
		if !t.indices.DType().IsInteger() {
			return nil, refuse("indices", "indices are %s; they must be of an integer type, such as i64", t.indices.DType())
		}
	}
	for _, name := range slices.Sorted(maps.Keys(c.Operands)) {
		if likeness(name) < 0 {
			return nil, refuse("operands", "there is no operand %q; there are %s", clip(name), strings.Join(slices.Concat(alike...), ", "))
		}
		where, text := "operands."+name, c.Operands[name]
		if strings.TrimSpace(text) == "" {
			continue
		}
		if t.operands[name], err = tensor(where, text, "", &left); err != nil {
			return nil, err
		}
		_, isRange := literal.Elements(text)
		t.untyped[name] = literal.DType(text) == garner.Invalid && !isRange
	}
	return t, t.checkAttributes()
}

// checkAttributes refuses attributes that no operator can have.
func (t *typed) checkAttributes() error {
	for _, name := range slices.Sorted(maps.Keys(t.Attributes)) {
		var known []string
		if name == everyOperator {
			for _, e := range catalog() {
				known = append(known, e.names...)
			}
		} else {
			e, err := find(name)
			if err != nil {
				return refuse("attributes", "%s", bare(err))
			}
			known = e.names
		}
		for _, attribute := range slices.Sorted(maps.Keys(t.Attributes[name])) {
			if !slices.Contains(known, attribute) {
				if name == everyOperator {
					return refuse("attributes", "no operator has an attribute %q", clip(attribute))
				}
				return refuse("attributes", "%s has no attribute %q; it has %s", name, clip(attribute), strings.Join(known, ", "))
			}
			if err := checkValue(t.Attributes[name][attribute]); err != nil {
				return refuse("attributes", "%s: %s", attribute, err)
			}
		}
	}
	return nil
}

// checkValue refuses a value that no attribute has.
func checkValue(v any) error {
	switch v := v.(type) {
	case nil, bool, string, json.Number, int, int64, float64:
		return nil
	case []any:
		if len(v) > mostNumbers {
			return fmt.Errorf("a list of %d numbers; there may be %d", len(v), mostNumbers)
		}
		for _, e := range v {
			switch e.(type) {
			case json.Number, int, int64, float64:
			default:
				return errors.New("a list holds integers alone")
			}
		}
		return nil
	}
	return errors.New("a value is an integer, a list of integers, true or false, null, or text")
}

// tensor reads a literal, and takes its elements from those that are left.
func tensor(where, text, dtype string, left *int) (garner.Tensor, error) {
	d := garner.Invalid
	if dtype != "" {
		var err error
		if d, err = garner.ParseDType(dtype); err != nil {
			return garner.Tensor{}, refuse(where, "%s", bare(err))
		}
	}
	many := strings.Count(text, ",") + 1 // the most elements that it can have
	if n, ok := literal.Elements(text); ok {
		many = int(min(n, 1<<30))
	}
	if *left -= many; *left < 0 {
		return garner.Tensor{}, refuse(where, "the literals of a call have more than %d elements together; shorten them, or use the command garner, which reads files of any size", MostElements)
	}
	t, err := literal.Parse(text, d)
	if err != nil {
		return garner.Tensor{}, refuse(where, "%s", bare(err))
	}
	return t, nil
}

// clip shortens a text for a message.
func clip(text string) string { return clipTo(text, 40) }

func clipTo(text string, most int) string {
	if len(text) > most*utf8.UTFMax {
		text = text[:most*utf8.UTFMax] // what is clipped in any case is not decoded
	}
	if r := []rune(text); len(r) > most {
		return string(r[:most]) + "…"
	}
	return text
}

// A binding is an operator with the operands and values of a call that are its own.
type binding struct {
	*entry
	op            garner.Op
	values        map[string]any
	data, indices garner.Tensor
	more          []garner.Tensor // as Operator.Further has them
}

// call is the binding as package code takes it.
func (b *binding) call() code.Call {
	return code.Call{Data: b.data, Indices: b.indices, Values: b.values, Operands: b.more}
}

// notAsked is the reason why an operator has no answer to a call.
type notAsked string

func (n notAsked) Error() string { return string(n) }

// bind gives an operator what the call has for it. The error is notAsked where the
// call does not fit the operator.
func (t *typed) bind(e *entry) (*binding, error) {
	b := &binding{entry: e, data: t.data, indices: t.indices, values: map[string]any{}}
	own, given := t.Attributes[e.Name]
	for name := range t.Attributes[everyOperator] {
		given = given || e.own && slices.Contains(e.names, name) && (name == "slice_sizes" || name == "bits" || name == "type")
	}
	var lacks []string
	for _, row := range alike {
		names := slices.DeleteFunc(slices.Clone(row), func(name string) bool { _, is := t.operands[name]; return !is })
		switch {
		case len(names) == 0:
		case slices.ContainsFunc(names, func(name string) bool { return slices.Contains(e.further, name) }):
			given = true
		default:
			lacks = append(lacks, names...)
		}
	}
	switch takes := garner.TakesIndices(e.Zero); {
	case len(lacks) > 0:
		return nil, notAsked("takes no " + strings.Join(lacks, " or "))
	case takes && !t.indices.DType().Valid():
		return nil, notAsked("needs indices")
	case !takes && t.indices.DType().Valid():
		return nil, notAsked("takes no indices: it decodes all of data")
	case e.own && !given && e.Kind == "window":
		return nil, notAsked("needs attributes of its own, such as slice_sizes")
	case e.own && !given:
		return nil, notAsked("needs operands or attributes of its own" + e.such())
	}
	if !garner.TakesIndices(e.Zero) {
		b.indices = garner.Tensor{}
	}
	for name, v := range t.Attributes[everyOperator] {
		if slices.Contains(e.names, name) {
			b.values[name] = v
		}
	}
	if err := t.place(b); err != nil {
		return nil, err
	}
	maps.Copy(b.values, own)
	var err error
	if b.op, err = e.New(b.values); err != nil {
		return nil, notAsked(strings.TrimPrefix(strings.TrimPrefix(bare(err), e.Name+" "), e.Name+"'s "))
	}
	operands := garner.OperandsOf(b.op)
	b.more = make([]garner.Tensor, len(operands))
	for i, o := range operands {
		var ok bool
		if b.more[i], ok = t.operands[o.Name]; !ok && !o.Optional {
			return nil, notAsked("needs its operand " + o.Name)
		}
	}
	t.settle(b, operands)
	return b, nil
}

// place gives an operator the axis and the batch dims of the call. The error says that it
// has others.
func (t *typed) place(b *binding) error {
	if t.Axis != nil {
		switch {
		case b.axis != "":
			b.values[b.axis] = *t.Axis
		case b.Kind == "window": // start_index_map says it
		case t.normal(*t.Axis) != t.fixedAxis(b.entry):
			return notAsked(fmt.Sprintf("takes no axis; its own is %s", t.axisWords(b.entry)))
		}
	}
	if t.BatchDims != nil {
		switch own := t.fixedBatch(b.entry); {
		case b.batch:
			b.values["batch_dims"] = *t.BatchDims
		case b.Kind == "window": // operand_batching_dims say it
		case *t.BatchDims != own:
			return notAsked(fmt.Sprintf("takes no batch_dims; its own are %d", own))
		}
	}
	return nil
}

// normal counts an axis of data from the start; -1 stands for one that it lacks.
func (t *typed) normal(axis int64) int64 {
	rank := int64(t.data.Rank())
	if axis < 0 {
		axis += rank
	}
	if axis < 0 || axis >= rank {
		return -1
	}
	return axis
}

// lastBatch is the operator whose axis and batch dims are the last dim of the indices.
const lastBatch = "tensorflow.batch_gather"

// fixedAxis is the first axis that an operator without an attribute for it gathers along;
// -2 where it takes data flat, and that is not one axis.
func (t *typed) fixedAxis(e *entry) int64 {
	switch {
	case e.Name == lastBatch:
		return int64(t.indices.Rank()) - 1
	case e.Name == "torch.take" && t.data.Rank() != 1:
		return -2
	}
	return 0
}

func (t *typed) axisWords(e *entry) string {
	if axis := t.fixedAxis(e); axis != -2 {
		return fmt.Sprint(axis)
	}
	return "data, taken flat"
}

// fixedBatch is how many batch dims an operator has that has no attribute for them.
func (t *typed) fixedBatch(e *entry) int64 {
	if e.Name == lastBatch {
		return int64(t.indices.Rank()) - 1
	}
	return 0
}

// settle gives operands whose literals say no type one that the operator takes. Integers
// beside the indices are of their type, as OpenVINO wants them; others are as written, else
// of data's type, else f32. f32 counts as written where f64 is. It is what the command does
// with the literals of --operand.
func (t *typed) settle(b *binding, operands []garner.Operand) {
	var untyped []int
	for i, o := range operands {
		if !t.untyped[o.Name] || !b.more[i].DType().Valid() {
			continue
		}
		switch o.Types {
		case garner.DataType:
			if as, err := literal.Parse(t.Operands[o.Name], b.data.DType()); err == nil {
				b.more[i] = as
			}
		case garner.IntegerTypes:
			if as, err := literal.Parse(t.Operands[o.Name], b.indices.DType()); err == nil {
				b.more[i] = as
			}
		case garner.AnyTypes, garner.ElementType:
			untyped = append(untyped, i)
		}
	}
	t.settleRest(b, operands, untyped)
}

// settleRest settles the operands of these numbers; it reports whether the operator takes
// them.
func (t *typed) settleRest(b *binding, operands []garner.Operand, untyped []int) bool {
	if len(untyped) == 0 {
		_, err := garner.Infer(b.op, b.data.Spec(), b.indices.Spec(), b.specs()...)
		return !errors.Is(err, garner.ErrDType)
	}
	at := untyped[0]
	written, text := b.more[at], t.Operands[operands[at].Name]
	if written.DType() == garner.F64 {
		if as, err := literal.Parse(text, garner.F32); err == nil {
			written = as
		}
	}
	candidates := []garner.Tensor{written}
	for _, d := range []garner.DType{b.data.DType(), garner.F32} {
		if as, err := literal.Parse(text, d); err == nil && d != written.DType() {
			candidates = append(candidates, as)
		}
	}
	for _, c := range candidates {
		b.more[at] = c
		if t.settleRest(b, operands, untyped[1:]) {
			return true
		}
	}
	b.more[at] = written
	return false
}

func (b *binding) specs() []garner.Spec {
	list := make([]garner.Spec, len(b.more))
	for i, t := range b.more {
		list[i] = t.Spec()
	}
	return list
}

// find finds the entry of an operator by its full name.
func find(name string) (*entry, error) {
	for _, e := range catalog() {
		if e.Name == name {
			return e, nil
		}
	}
	if o, err := operators.Find(name, 0); err == nil {
		return nil, fmt.Errorf("no operator %s; its versions have names of their own, such as %s", clip(name), o.Name)
	} else if len(name) < 200 {
		return nil, err
	}
	return nil, fmt.Errorf("no operator %s", clip(name))
}
