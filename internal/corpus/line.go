package corpus

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math"
	"slices"
	"strconv"

	"github.com/garner-go/garner"
	"github.com/garner-go/garner/operators"
)

// The fields of a line. Those of the second row record its origin and further
// observations, and do not affect the case.
var lineFields = []string{
	"name", "op", "opset", "attributes", "inputs", "policy", "outputs", "error", "output_shape", "output_dtype", "partial_shapes", "partial_output_shape", "input_bytes", "output_bytes", "ir", "weights", "unspecified",
	"source", "note", "also", "recorded", "observed", "message", "checked", "origin", "path",
}

// classes maps the names of the errors that a case may expect. The four of
// shape count as one: a case can break several of their rules at once.
var classes = map[string]error{
	"dtype":                     garner.ErrDType,
	"attribute":                 garner.ErrAttribute,
	"index-out-of-range":        garner.ErrIndex,
	"model-format":              errFormat,
	string(garner.KindRank):     garner.ErrShape,
	string(garner.KindAxis):     garner.ErrShape,
	string(garner.KindBatch):    garner.ErrShape,
	string(garner.KindMismatch): garner.ErrShape,
}

// parseLine reads a case. An error of its text becomes part of the case.
func parseLine(text []byte) (c Case) {
	fields, err := object(text, lineFields)
	// The name and the operator come first, because a failure is reported
	// under them.
	for name, to := range map[string]*string{"name": &c.Name, "op": &c.Op} {
		if raw, ok := fields[name]; ok && json.Unmarshal(raw, to) != nil && err == nil {
			err = fmt.Errorf("%s is no string", name)
		}
	}
	switch {
	case err != nil:
	case c.Name == "":
		err = errors.New("it has no name")
	case c.Op == "":
		err = errors.New("it has no op")
	default:
		err = c.parse(fields)
	}
	c.err = err
	return c
}

func (c *Case) parse(fields map[string]json.RawMessage) error {
	if raw, ok := fields["opset"]; ok {
		n, err := natural(raw)
		if err != nil || n == 0 {
			return fmt.Errorf("opset %s; it is a number from 1 on", raw)
		}
		c.opset = n
	}
	if raw, ok := fields["attributes"]; ok {
		attributes, err := object(raw, nil)
		if err != nil {
			return fmt.Errorf("attributes: %w", err)
		}
		c.attributes = make(map[string]any, len(attributes))
		for name, raw := range attributes {
			if c.attributes[name], err = attribute(raw); err != nil {
				return fmt.Errorf("attribute %s: %w", name, err)
			}
		}
	}
	if raw, ok := fields["policy"]; ok {
		if err := c.policy.parse(raw); err != nil {
			return fmt.Errorf("policy: %w", err)
		}
	}
	if err := c.parseInputs(fields); err != nil {
		return err
	}
	var err error
	if c.ir, err = parseIR(fields); err != nil {
		return err
	}
	return c.parseWant(fields)
}

// compressed is the operator whose corpus lists nf4 by its codes.
const compressed = "openvino.compressed-gather"

func (c *Case) parseInputs(fields map[string]json.RawMessage) error {
	inputs, err := list(fields["inputs"])
	if err != nil {
		return fmt.Errorf("inputs: %w", err)
	}
	operator, err := operators.Find(c.Op, c.opset)
	bare := err == nil && !garner.TakesIndices(operator.Zero)
	if len(inputs) < 1 || len(inputs) < 2 && !bare {
		return fmt.Errorf("%d inputs; data and indices are two", len(inputs))
	}
	partial := make([]json.RawMessage, len(inputs))
	if raw, ok := fields["partial_shapes"]; ok {
		if partial, err = list(raw); err != nil {
			return fmt.Errorf("partial_shapes: %w", err)
		}
		if len(partial) != len(inputs) {
			return fmt.Errorf("%d partial_shapes for %d inputs", len(partial), len(inputs))
		}
	}
	for i, raw := range inputs {
		t, err := parseTensor(raw, inputFields)
		if raw := fields["input_bytes"]; err == nil && i == 0 && raw != nil {
			err = t.setBytes(raw)
		}
		if err != nil {
			return fmt.Errorf("input %d: %w", i, err)
		}
		t.codes = t.dtype == garner.NF4 && c.Op == compressed
		in := operand{spec: garner.SpecOf(t.dtype, t.shape...)}
		if t.given() {
			in.value = t.tensor
		}
		switch {
		case partial[i] != nil:
			spec, err := parseSpec(t.dtype, partial[i])
			if err != nil {
				return fmt.Errorf("partial_shapes of input %d: %w", i, err)
			}
			if t.known && !admits(spec, t.shape) {
				return fmt.Errorf("input %d is %s and its partial shape %s", i, t.shape, spec)
			}
			in.spec = spec
		case !t.known:
			return fmt.Errorf("input %d has no shape", i)
		}
		c.inputs = append(c.inputs, in)
	}
	if len(c.inputs) == 1 { // no indices
		c.inputs = append(c.inputs, operand{value: func() (garner.Tensor, error) { return garner.Tensor{}, nil }})
	}
	return nil
}

func (c *Case) parseWant(fields map[string]json.RawMessage) error {
	w := &c.want
	data := c.inputs[0].spec.DType
	w.spec = garner.SpecOfRank(data, garner.AnyDim)
	given := 0
	if raw, ok := fields["error"]; ok {
		given++
		var name string
		if json.Unmarshal(raw, &name) != nil || classes[name] == nil {
			return fmt.Errorf("no error class %s", raw)
		}
		w.class = classes[name]
		if w.class == errFormat && c.ir == nil {
			return fmt.Errorf("error class %s, and no model", raw)
		}
	}
	if fields["output_bytes"] != nil && fields["outputs"] == nil {
		return errors.New("it has output_bytes and no outputs")
	}
	if raw, ok := fields["outputs"]; ok {
		given++
		outputs, err := list(raw)
		if err != nil || len(outputs) != 1 {
			return fmt.Errorf("outputs is no list of one tensor")
		}
		t, err := parseTensor(outputs[0], outputFields)
		if raw := fields["output_bytes"]; err == nil && raw != nil {
			err = t.setBytes(raw)
		}
		switch {
		case err != nil:
			return fmt.Errorf("output: %w", err)
		case !t.known:
			return errors.New("output: it has no shape")
		case !t.given() && t.sum == nil:
			return errors.New("output: it has no values")
		}
		w.spec = garner.SpecOf(t.dtype, t.shape...)
		w.sum, w.exact, w.ran = t.sum, t.bytes != nil, true
		if t.given() {
			w.value = t.tensor
		}
		if t.fill != nil || t.number != nil {
			w.part = t.part
		}
	}
	if raw, ok := fields["unspecified"]; ok {
		positions, err := list(raw)
		if err != nil || w.value == nil {
			return errors.New("unspecified is no list of positions in the values of outputs")
		}
		shape, _ := w.spec.Shape()
		n, _ := shape.Len()
		for _, p := range positions {
			at, err := natural(p)
			if err != nil || at >= n {
				return fmt.Errorf("unspecified: the output has no element %s", p)
			}
			w.open = append(w.open, at)
		}
	}
	for _, name := range []string{"output_shape", "partial_output_shape"} {
		raw, ok := fields[name]
		if !ok {
			continue
		}
		spec, err := parseSpec(data, raw)
		if err != nil {
			return fmt.Errorf("%s: %w", name, err)
		}
		if name == "output_shape" {
			given++
			w.spec = spec
		} else {
			w.partial = &spec
		}
	}
	if given != 1 {
		return fmt.Errorf("it has %d of outputs, error and output_shape; one is wanted", given)
	}
	if raw, ok := fields["output_dtype"]; ok {
		var name string
		if err := json.Unmarshal(raw, &name); err != nil {
			return fmt.Errorf("output_dtype: %w", err)
		}
		dtype, err := garner.ParseDType(name)
		if err != nil {
			return fmt.Errorf("output_dtype: %w", err)
		}
		if w.ran && dtype != w.spec.DType {
			return fmt.Errorf("output_dtype is %s and the output %s", dtype, w.spec.DType)
		}
		w.spec.DType = dtype
		if w.partial != nil {
			w.partial.DType = dtype
		}
	}
	if w.partial != nil && w.class != nil {
		return errors.New("it asks for an error and for a partial_output_shape")
	}
	if !c.valued() && (w.ran || w.class == garner.ErrIndex) {
		return errors.New("it asks what comes of its values, and has none")
	}
	return nil
}

// valued reports whether every input has a value, so that the case can run.
func (c *Case) valued() bool {
	return !slices.ContainsFunc(c.inputs, func(in operand) bool { return in.value == nil })
}

func (p *policy) parse(raw json.RawMessage) error {
	fields, err := object(raw, []string{"negative", "outside"})
	if err != nil {
		return err
	}
	for name, raw := range fields {
		var value string
		if err := json.Unmarshal(raw, &value); err != nil {
			return err
		}
		if name == "negative" {
			if p.negative, err = named(value, garner.Reject, garner.FromEnd); err != nil {
				return err
			}
		} else if p.outside, err = named(value, garner.Error, garner.Zero, garner.Clamp, garner.Wrap); err != nil {
			return err
		}
	}
	return nil
}

// named returns the value that prints as name.
func named[T fmt.Stringer](name string, values ...T) (*T, error) {
	for _, v := range values {
		if v.String() == name {
			return &v, nil
		}
	}
	return nil, fmt.Errorf("%q is none of %v", name, values)
}

// object reads a JSON object. A name that occurs twice is an error, and so is
// one outside known, unless that is empty.
func object(raw json.RawMessage, known []string) (map[string]json.RawMessage, error) {
	dec := json.NewDecoder(bytes.NewReader(raw))
	if open, err := dec.Token(); err != nil {
		return nil, syntax(err)
	} else if open != json.Delim('{') {
		return nil, errors.New("it is no JSON object")
	}
	fields := make(map[string]json.RawMessage)
	var first error
	for dec.More() {
		key, err := dec.Token()
		if err != nil {
			return fields, syntax(err)
		}
		name := key.(string) // the decoder accepts only strings as names
		var value json.RawMessage
		if err := dec.Decode(&value); err != nil {
			return fields, syntax(err)
		}
		switch {
		case first != nil:
		case fields[name] != nil:
			first = fmt.Errorf("field %q stands twice", name)
		case known != nil && !slices.Contains(known, name):
			first = fmt.Errorf("unknown field %q", name)
		}
		fields[name] = value
	}
	if _, err := dec.Token(); err != nil {
		return fields, syntax(err)
	}
	if _, err := dec.Token(); err != io.EOF {
		return fields, errors.New("something follows the JSON object")
	}
	return fields, first
}

// syntax names an unexpected end of the text.
func syntax(err error) error {
	if err == io.EOF || err == io.ErrUnexpectedEOF {
		return errors.New("the JSON ends early")
	}
	return err
}

func list(raw json.RawMessage) ([]json.RawMessage, error) {
	var l []json.RawMessage
	if len(raw) == 0 || raw[0] != '[' {
		return nil, errors.New("it is no list")
	}
	err := json.Unmarshal(raw, &l)
	return l, err
}

// natural reads a non-negative integer that fits an int.
func natural(raw json.RawMessage) (int, error) {
	n, err := strconv.Atoi(string(raw))
	if err != nil || n < 0 {
		return 0, fmt.Errorf("%s is no number from 0 on that an int holds", raw)
	}
	return n, nil
}

// setBytes sets the bytes of a tensor, which stand beside it in a list.
func (t *described) setBytes(raw json.RawMessage) error {
	if t.bytes != nil || t.fill != nil || t.number != nil || t.sum != nil || !t.known {
		return errors.New("it has bytes of its own beside its elements, or no shape")
	}
	values, err := list(raw)
	if err != nil {
		return err
	}
	t.bytes = make([]byte, len(values))
	for i, v := range values {
		n, err := natural(v)
		if err != nil || n > 0xff {
			return fmt.Errorf("%s is no byte", v)
		}
		t.bytes[i] = byte(n)
	}
	return nil
}

// attribute reads the value of an attribute in the form that operators take.
func attribute(raw json.RawMessage) (any, error) {
	if raw[0] == '[' {
		values, err := list(raw)
		if err != nil {
			return nil, err
		}
		numbers := make([]int64, len(values))
		for i, v := range values {
			// One that no int64 holds is as far beyond every rank as the nearest.
			if numbers[i], err = strconv.ParseInt(string(v), 10, 64); err != nil && !errors.Is(err, strconv.ErrRange) {
				return nil, fmt.Errorf("%s is no int64", v)
			}
		}
		return numbers, nil
	}
	if n, err := strconv.ParseInt(string(raw), 10, 64); err == nil {
		return n, nil
	}
	dec := json.NewDecoder(bytes.NewReader(raw))
	dec.UseNumber()
	var v any
	err := dec.Decode(&v)
	if number, ok := v.(json.Number); ok {
		// A float64 holds 3.0 and 1e3 exactly, and prints them as the integers that
		// they are. Other numbers keep their text, which a float64 can round.
		if f, err := number.Float64(); err == nil && f == math.Trunc(f) && math.Abs(f) < 1<<53 {
			return f, nil
		}
	}
	return v, err
}

// parseSpec reads a shape, which may be partly unknown.
func parseSpec(dtype garner.DType, raw json.RawMessage) (garner.Spec, error) {
	if string(raw) == "null" {
		return garner.SpecOfRank(dtype, garner.AnyDim), nil
	}
	if raw[0] == '{' {
		fields, err := object(raw, []string{"rank"})
		if err != nil {
			return garner.Spec{}, err
		}
		rank, err := parseDim(fields["rank"])
		if err != nil || rank.Min > garner.MaxRank {
			return garner.Spec{}, fmt.Errorf("%s is no range of ranks", raw)
		}
		return garner.SpecOfRank(dtype, rank), nil
	}
	values, err := list(raw)
	if err != nil {
		return garner.Spec{}, err
	}
	dims := make([]garner.Dim, len(values))
	for i, v := range values {
		if dims[i], err = parseDim(v); err != nil {
			return garner.Spec{}, err
		}
	}
	return garner.SpecOfDims(dtype, dims...), nil
}

// parseDim reads a number, null, or [min, max] with a max that may be null.
func parseDim(raw json.RawMessage) (garner.Dim, error) {
	if string(raw) == "null" {
		return garner.AnyDim, nil
	}
	if len(raw) == 0 || raw[0] != '[' {
		n, err := natural(raw)
		return garner.Exactly(n), err
	}
	ends, err := list(raw)
	if err != nil || len(ends) != 2 {
		return garner.Dim{}, fmt.Errorf("%s is no [min, max]", raw)
	}
	d := garner.AnyDim
	if d.Min, err = natural(ends[0]); err != nil {
		return garner.Dim{}, err
	}
	if string(ends[1]) != "null" {
		if d.Max, err = natural(ends[1]); err != nil {
			return garner.Dim{}, err
		}
	}
	if d.Min > d.Max {
		return garner.Dim{}, fmt.Errorf("%s is no [min, max]", raw)
	}
	return d, nil
}
