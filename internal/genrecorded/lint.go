package main

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"github.com/garner-go/garner"
	"github.com/garner-go/garner/internal/corpus"
	"github.com/garner-go/garner/internal/literal"
	"github.com/garner-go/garner/internal/play/recorded"
	"github.com/garner-go/garner/operators"
)

// A lintCall is the call of a case of lint/testdata/recorded.jsonl that is one gather, as
// record.py beside it makes it; the file has the answers alone.
type lintCall struct {
	data, indices string
	values        map[string]any
	further       []string // "" for one that is not given
}

const fiveRows = "f32[[1,2],[3,4],[5,6],[7,8],[9,10]]"

// lintCalls are the calls by the names of their cases.
var lintCalls = func() map[string]lintCall {
	type values = map[string]any
	all := map[string]lintCall{}
	for _, b := range []string{"7", "8"} {
		batch := func(n int) values { return values{"axis": n, "batch_dims": n} }
		all["lint-batch-of-one-vector-"+b] = lintCall{data: "f32[[1,2]]", indices: "[[0,1]]", values: batch(1)}
		all["lint-batch-of-one-rows-"+b] = lintCall{data: "f32[[[1,2,3],[4,5,6]]]", indices: "[[0,1]]", values: batch(1)}
		all["lint-batch-of-one-two-"+b] = lintCall{data: "f32[[[1,2,3]]]", indices: "[[[0,1]]]", values: batch(2)}
		all["lint-batch-of-one-between-"+b] = lintCall{data: "f32[[[1,2]]]", indices: "[[1,0]]", values: values{"axis": 2, "batch_dims": 1}}
		all["lint-batch-of-one-only-row-"+b] = lintCall{data: "f32[[[1,2,3]]]", indices: "[0]", values: batch(1)}
	}
	for _, b := range []string{"1", "7", "8"} {
		all["lint-short-vector-past-end-"+b] = lintCall{data: "[1,2,3,4,5]", indices: "[0,5,45,1005,20005]"}
		if b != "8" {
			all["lint-short-vector-negative-"+b] = lintCall{data: "[1,2,3,4,5]", indices: "[-1,-2,-3]"}
		}
	}
	for name, indices := range map[string]string{"past-end": "i32[0,5,1]", "negative": "i32[0,-1,1]"} {
		all["lint-bag-"+name+"-offsets-3"] = lintCall{data: fiveRows, indices: indices, further: []string{"i32[0,2]", ""}}
		all["lint-bag-"+name+"-offsets-15"] = lintCall{data: fiveRows, indices: indices, values: values{"reduction": "sum"}, further: []string{"i32[0,2]", ""}}
		packed := "i32[" + strings.TrimPrefix(indices, "i32") + "]"
		all["lint-bag-"+name+"-packed-3"] = lintCall{data: fiveRows, indices: packed, further: []string{""}}
		all["lint-bag-"+name+"-packed-15"] = lintCall{data: fiveRows, indices: packed, values: values{"reduction": "sum"}, further: []string{""}}
		all["lint-bag-"+name+"-segments-3"] = lintCall{data: fiveRows, indices: indices, values: values{"num_segments": 3}, further: []string{"i32[0,0,2]", ""}}
	}
	return all
}()

// A lintCase is a line of lint/testdata/recorded.jsonl.
type lintCase struct {
	Name string `json:"name"`
	Op   string `json:"op"`
	Runs []struct {
		Runtime string          `json:"runtime"`
		Mode    string          `json:"mode"`
		Shapes  string          `json:"shapes"`
		Error   string          `json:"error"`
		Signal  int             `json:"signal"`
		Output  json.RawMessage `json:"output"`
	} `json:"runs"`
}

// ofLint reads the answers of the cases of lint that are one gather. Static dims and
// several threads are the usual way of running.
func ofLint(folder string) ([]told, error) {
	text, err := os.ReadFile(filepath.Join(folder, "recorded.jsonl"))
	if err != nil {
		return nil, err
	}
	var all []told
	missing := len(lintCalls)
	for line := range strings.Lines(string(text)) {
		var c lintCase
		if err := json.Unmarshal([]byte(line), &c); err != nil {
			return nil, err
		}
		call, ok := lintCalls[c.Name]
		if !ok {
			continue
		}
		missing--
		list, err := call.read(c)
		if err != nil {
			return nil, fmt.Errorf("garner: %s: %w", c.Name, err)
		}
		all = append(all, list...)
	}
	if missing > 0 {
		return nil, fmt.Errorf("garner: %s lacks %d of the cases that genrecorded names", folder, missing)
	}
	return all, nil
}

func (l lintCall) read(c lintCase) ([]told, error) {
	r := corpus.Recording{Name: c.Name, Attributes: map[string]any{}}
	var err error
	if r.Operator, err = operators.Find(c.Op, 0); err != nil {
		return nil, err
	}
	for name, v := range l.values {
		r.Attributes[name] = v
	}
	if r.Op, err = r.Operator.New(r.Attributes); err != nil {
		return nil, err
	}
	if r.Data, err = literal.Parse(l.data, garner.Invalid); err != nil {
		return nil, err
	}
	if r.Indices, err = literal.Parse(l.indices, garner.Invalid); err != nil {
		return nil, err
	}
	r.Further = make([]garner.Tensor, len(r.Operator.Further()))
	for i, text := range l.further {
		if text == "" || i >= len(r.Further) {
			continue
		}
		if r.Further[i], err = literal.Parse(text, garner.Invalid); err != nil {
			return nil, err
		}
	}
	want, refused := garner.Gather(r.Op, r.Data, r.Indices, r.Further...)
	for i, said := range c.Runs {
		run := corpus.Run{}
		switch {
		case said.Shapes == "dynamic dims":
			run.Way = "dynamic dimensions"
		case said.Mode == "one thread":
			run.Way = "on one thread"
		case said.Mode != "":
			return nil, fmt.Errorf("run %d: say in genrecorded what the mode %q is", i, said.Mode)
		}
		switch {
		case said.Signal != 0:
			run.Undefined, run.Note, run.Departs = true, fmt.Sprint("process ended by signal ", said.Signal), true
		case said.Error != "":
			run.Error, run.Departs = "index-out-of-range", refused == nil
		default:
			if run.Output, err = corpus.Tensor(said.Output); err != nil {
				return nil, fmt.Errorf("run %d: %w", i, err)
			}
			run.Departs = refused != nil || !equal(want, run.Output)
		}
		r.Runs = append(r.Runs, run)
	}
	r.Source = c.Runs[0].Runtime
	list, err := read(r, "")
	for i := range list {
		if list[i].class == recorded.Other { // elements that no rule gives
			list[i].class = recorded.Garbage
		}
	}
	return list, err
}
