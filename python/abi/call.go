package main

/*
#include "garner.h"
*/
import "C"

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"unsafe"

	"github.com/garner-go/garner"
	"github.com/garner-go/garner/files"
	"github.com/garner-go/garner/internal/explain"
	"github.com/garner-go/garner/lint"
	"github.com/garner-go/garner/operators"
	"github.com/garner-go/garner/source"
)

// A question is the JSON of garner_call.
type question struct {
	Do string `json:"do"`
	location
	Op       *operation  `json:"op"`
	Specs    []string    `json:"specs"`    // of the operands of infer; "" for one that is not given
	Runtimes []string    `json:"runtimes"` // of lint
	Gather   *fileGather `json:"gather"`
}

// A fileGather is a gather from files into a file.
type fileGather struct {
	Data    location   `json:"data"`
	Indices location   `json:"indices"`
	Further []location `json:"further"` // "" for one that is not given
	Out     path       `json:"out"`
	Name    string     `json:"name"`
	Memory  int64      `json:"memory"`
	Threads int        `json:"threads"`
	Resume  bool       `json:"resume"`
}

//export garner_call
func garner_call(request *C.char, length C.int64_t, operands **C.DLTensor, count C.int32_t, in C.int64_t, text **C.char) C.int64_t {
	var q question
	var tensors []garner.Tensor
	if err := safely("garner_call", func() error {
		asked, err := memory("a request", (*byte)(unsafe.Pointer(request)), length)
		if err == nil {
			err = unmarshal(asked, &q)
		}
		if err != nil {
			return err
		}
		list, err := listed(operands, count)
		for _, t := range list {
			_, of, err := tensorAt(t)
			if err != nil {
				return err
			}
			tensors = append(tensors, of)
		}
		return err
	}); err != nil {
		return tell(err)
	}
	return start("garner_call", in, text, len(tensors) == 0, func(ctx context.Context, j *job) (string, error) {
		answer, err := q.answer(ctx, j, tensors)
		if err != nil {
			return "", err
		}
		b, err := json.Marshal(answer)
		return string(b), err
	})
}

func (q *question) answer(ctx context.Context, j *job, operands []garner.Tensor) (any, error) {
	if slices.Contains([]string{"infer", "explain", "gather_file"}, q.Do) && q.Op == nil {
		return nil, argumentf("%q names no operator", q.Do)
	}
	switch q.Do {
	case "operators":
		list := []any{}
		for _, o := range operators.All() {
			list = append(list, described(o))
		}
		return list, nil
	case "operator":
		if q.Op == nil {
			return nil, argumentf("%q names no operator", q.Do)
		}
		o, err := operators.Find(q.Op.Name, 0)
		if err != nil {
			return nil, err
		}
		return described(o), nil
	case "info":
		return q.info(ctx)
	case "infer":
		return q.infer()
	case "explain":
		return q.explain(ctx, operands)
	case "lint":
		return q.lint(ctx)
	case "gather_file":
		if q.Gather == nil {
			return nil, argumentf("%q names no files", q.Do)
		}
		_, op, err := q.Op.op()
		if err != nil {
			return nil, err
		}
		return q.Gather.run(ctx, j, q.Op, op)
	}
	return nil, argumentf("%q is nothing to do", q.Do)
}

// described is an operator as JSON.
func described(o operators.Operator) any {
	return map[string]any{
		"name": o.Name, "kind": string(o.Kind), "spec": o.Spec, "shape": o.Shape,
		"attributes": listOf(o.Attributes()), "inputs": listOf(o.Inputs()), "further": listOf(o.Further()), "takes_indices": garner.TakesIndices(o.Zero),
	}
}

// listOf is a list that JSON has as one, also where it is empty.
func listOf(names []string) []string { return append([]string{}, names...) }

func (q *question) info(ctx context.Context) (any, error) {
	o, err := q.options()
	if err != nil {
		return nil, err
	}
	list, err := files.List(ctx, string(q.File), o)
	if err != nil {
		return nil, inFile(string(q.File), err)
	}
	arrays := []any{}
	for _, a := range list {
		e := map[string]any{"name": path(a.Name), "kind": a.Kind, "shape": a.Shape, "bytes": a.Bytes, "path": path(a.Path), "note": a.Note, "dtype": ""}
		if a.DType != garner.Invalid {
			e["dtype"] = a.DType.String()
		}
		arrays = append(arrays, e)
	}
	return arrays, nil
}

func (q *question) infer() (any, error) {
	if len(q.Specs) < 1 {
		return nil, argumentf("infer takes the types of data and of indices")
	}
	_, op, err := q.Op.op()
	if err != nil {
		return nil, err
	}
	specs := make([]garner.Spec, max(len(q.Specs), 2))
	for i, text := range q.Specs {
		if text == "" {
			continue
		}
		if specs[i], err = garner.ParseSpec(text); err != nil {
			return nil, err
		}
	}
	out, err := operators.Infer(op, specs[0], specs[1], specs[2:]...)
	return out.String(), err
}

func (q *question) explain(ctx context.Context, operands []garner.Tensor) (any, error) {
	if len(operands) < 2 {
		return nil, argumentf("explain takes data and indices")
	}
	o, op, err := q.Op.op()
	if err != nil {
		return nil, err
	}
	s := explain.Subject{Name: o.Name, Op: op, Data: operands[0], Indices: operands[1], Further: operands[2:]}
	for _, name := range append(o.Attributes(), o.Inputs()...) {
		if v, ok := q.Op.Values[name]; ok {
			s.Attributes = append(s.Attributes, fmt.Sprintf("%s=%v", name, v))
		}
	}
	e, err := explain.New(ctx, s)
	if err != nil {
		return nil, err
	}
	svg, err := e.SVG()
	return map[string]string{"text": e.Text(false), "svg": string(svg)}, err
}

func (q *question) lint(ctx context.Context) (any, error) {
	var o lint.Options
	for _, name := range q.Runtimes {
		r := lint.Runtime(name)
		if !slices.Contains(lint.AllRuntimes(), r) {
			return nil, garner.Errorf(garner.ErrAttribute, "runtime %q; there are %v", name, lint.AllRuntimes())
		}
		o.Runtimes = append(o.Runtimes, r)
	}
	m, err := files.OpenModel(string(q.File), files.ModelOptions{Lenient: q.Lenient, Signature: q.Signature})
	if err != nil {
		return nil, inFile(string(q.File), err)
	}
	defer m.Close()
	found, err := lint.Model(ctx, m, o)
	if err != nil {
		return nil, err
	}
	findings := []any{}
	for _, f := range found {
		line, column := f.Place()
		findings = append(findings, map[string]any{
			"rule": f.Rule.ID, "title": f.Rule.Title, "severity": f.Severity.String(), "node": f.Node.Name, "operator": f.Node.Operator,
			"message": f.Message, "remedy": f.Rule.Remedy, "runtimes": f.Runtimes(), "line": line, "column": column,
		})
	}
	unjudged := []any{}
	for _, u := range lint.NotJudged(m) {
		unjudged = append(unjudged, map[string]any{"node": u.Node.Name, "operator": u.Operator, "why": u.Why})
	}
	return map[string]any{"findings": findings, "unjudged": unjudged}, nil
}

// run gathers into a file.
func (g *fileGather) run(ctx context.Context, j *job, o *operation, op garner.Op) (answer any, err error) {
	var arrays []source.Array
	var inputs []string
	facts, known := []files.Fact{{What: "the operator", Value: o.identity()}}, true
	for i, l := range append([]location{g.Data, g.Indices}, g.Further...) {
		if l.File == "" {
			arrays = append(arrays, nil)
			continue
		}
		a, _, err := l.open(ctx)
		if err != nil {
			return nil, err
		}
		defer a.Close()
		of := arrayOf(a)
		fact, ok, err := files.Identify(beneath(a))
		if err != nil {
			return nil, err
		}
		known = known && ok
		facts = append(facts, files.Fact{What: operandName(i), Value: fmt.Sprintf("%s %s to %q raw %t", fact, a.Spec(), l.To, l.Raw)})
		arrays, inputs = append(arrays, of), append(inputs, string(l.File))
	}
	further := arrays[2:]
	plan, err := source.NewPlan(ctx, op, arrays[0], arrays[1], further...)
	if err != nil {
		return nil, err
	}
	spec := garner.SpecOf(plan.DType, plan.Out...)
	create := files.CreateOptions{Name: g.Name, Inputs: inputs, Resume: g.Resume, ResumeFrom: 64 << 20}
	if known {
		create.Identity = facts
	}
	to, err := files.Create(ctx, string(g.Out), spec, create)
	if err != nil {
		return nil, &fileError{error: err, path: string(g.Out), written: true}
	}
	size, _ := garner.Shape(plan.Out).Len()
	size = (size*plan.DType.Bits() + 7) / 8
	if j != nil {
		j.total.Store(int64(size)) // known to who looks before the first piece
	}
	defer to.Abort() // nothing after Commit and Keep
	options := source.Options{Memory: g.Memory, Threads: g.Threads, Further: further}
	rest := to.Rest()
	options.Range = &rest
	if j != nil {
		from := to.From()
		options.Progress = func(done, total int64) {
			j.done.Store(from + done)
			j.total.Store(from + total)
		}
	}
	if err = source.Gather(ctx, op, arrays[0], arrays[1], to, options); err == nil {
		err = context.Cause(ctx)
	}
	if err == nil {
		err = to.Commit()
	}
	if errors.Is(err, errCancelled) {
		to.Keep()
	}
	return map[string]any{"spec": spec.String(), "resumed": to.Resumed(), "bytes": size}, err
}

func operandName(i int) string {
	if i < 2 {
		return [...]string{"data", "indices"}[i]
	}
	return fmt.Sprintf("operand %d", i)
}

// identity is the operation as text, the same for the same one.
func (o *operation) identity() string {
	var b bytes.Buffer
	json.NewEncoder(&b).Encode(o) // maps in the order of their keys
	return b.String()
}
