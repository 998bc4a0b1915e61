package play

import (
	"slices"
	"strings"
	"sync"

	"github.com/garner-go/garner"
	"github.com/garner-go/garner/operators"
)

// A Catalog is what a page can ask about.
type Catalog struct {
	Operators []OperatorInfo `json:"operators"` // in the order of "garner ops"
	DTypes    []string       `json:"dtypes"`
	Examples  []Example      `json:"examples"`
	Limits    Limits         `json:"limits"`
}

// Limits are what a page need not ask, because it is refused.
type Limits struct {
	Request  int `json:"request"`  // bytes of a request
	Elements int `json:"elements"` // of all literals of a call together
	Numbers  int `json:"numbers"`  // of an attribute that is a list
	File     int `json:"file"`     // bytes of a file
}

// An OperatorInfo describes an operator to a page.
type OperatorInfo struct {
	Name       string          `json:"name"`
	Dialect    string          `json:"dialect"`
	Kind       string          `json:"kind"` // gather, gathernd, elements; bag reduces rows, stored decodes them, window needs attributes of its own
	Page       string          `json:"page"` // address of its specification
	Attributes []AttributeInfo `json:"attributes"`
	Operands   []OperandInfo   `json:"operands"` // beyond data and indices
}

// An AttributeInfo describes an attribute, or an input that is part of the operator.
type AttributeInfo struct {
	Name    string   `json:"name"`
	Type    string   `json:"type"`    // int, ints, bool or string
	Default any      `json:"default"` // null where it is none, or follows from others
	Values  []string `json:"values"`  // the words that it may be; empty where it is no choice of words

	// StandsFor is the part of a call that gives it its value for every operator: axis or
	// batch_dims; "" for an attribute of its own.
	StandsFor string `json:"stands_for,omitempty"`
}

// An OperandInfo describes an operand beyond data and indices.
type OperandInfo struct {
	Name   string `json:"name"`
	Needed bool   `json:"needed"`
}

// An Example is a call to try.
type Example struct {
	Title string `json:"title"`
	Form  string `json:"form"` // OperatorInfo.Kind of the operators that it is about
	Call  Call   `json:"call"`
}

// An entry is an operator with what a call needs to know of it.
type entry struct {
	operators.Operator
	Kind    string
	own     bool     // it is asked only if the call has operands or attributes that are its own
	names   []string // of its attributes, and of the inputs that are part of it
	further []string
	axis    string // the name of its attribute for the axis; "" if it has none
	batch   bool   // it has batch_dims
}

// catalog has every operator.
var catalog = sync.OnceValue(func() []*entry {
	var all []*entry
	for _, o := range operators.All() {
		e := &entry{Operator: o, further: o.Further(), names: o.Attributes()}
		for i, name := range o.Inputs() {
			if o.Binds(i) && !slices.Contains(e.names, name) {
				e.names = append(e.names, name)
			}
		}
		has := func(names ...string) bool {
			return slices.ContainsFunc(names, func(n string) bool { return slices.Contains(e.names, n) || slices.Contains(e.further, n) })
		}
		e.batch = has("batch_dims")
		for _, name := range []string{"axis", "dim", "gather_axis"} {
			if has(name) {
				e.axis = name
			}
		}
		switch {
		case has("slice_sizes"):
			e.Kind, e.own = "window", true
		case has("scale", "scales", "bits", "type"):
			e.Kind, e.own = "stored", true
		case !garner.Copies(o.Zero):
			e.Kind, e.own = "bag", true
		default:
			e.Kind = string(o.Kind)
		}
		all = append(all, e)
	}
	return all
})

// such names something of an operator that makes it asked.
func (e *entry) such() string {
	if len(e.further) > 0 {
		return ", such as " + e.further[0]
	}
	return ", such as " + e.names[0]
}

// Operators describes every operator.
func Operators() *Catalog {
	c := &Catalog{Examples: examples, Limits: Limits{MostBytes, MostElements, mostNumbers, MostFile}}
	for _, e := range catalog() {
		info := OperatorInfo{
			Name: e.Name, Dialect: e.Name[:strings.LastIndexByte(e.Name, '.')], Kind: e.Kind, Page: e.Spec,
			Attributes: []AttributeInfo{}, Operands: []OperandInfo{},
		}
		for _, name := range e.names {
			kind, zero := e.TypeOf(name)
			a := AttributeInfo{Name: name, Type: kind, Default: zero, Values: e.Values(name)}
			if a.Values == nil {
				a.Values = []string{}
			}
			switch name {
			case e.axis:
				a.StandsFor = "axis"
			case "batch_dims":
				a.StandsFor = "batch_dims"
			}
			info.Attributes = append(info.Attributes, a)
		}
		for _, o := range garner.OperandsOf(e.Zero) {
			info.Operands = append(info.Operands, OperandInfo{o.Name, !o.Optional})
		}
		c.Operators = append(c.Operators, info)
	}
	for _, d := range garner.DTypes() {
		c.DTypes = append(c.DTypes, d.String())
	}
	return c
}

func number(n int64) *int64 { return &n }

// examples are the calls that a page offers.
var examples = []Example{
	{"−1: the last, or an error?", "gather", Call{Data: "[1,2,3]", Indices: "[0,-1]"}},
	{"An index past the end", "gather", Call{Data: "[1,2,3]", Indices: "[0,-1,7]"}},
	{"An index below −dim", "gather", Call{Data: "f32[1,2,3]", Indices: "[0,-4]"}},
	{"Rows, axis 0", "gather", Call{Data: "[[1,2],[3,4],[5,6]]", Indices: "[2,0]", Axis: number(0)}},
	{"Columns, axis 1", "gather", Call{Data: "[[1,2,3],[4,5,6]]", Indices: "[2,0]", Axis: number(1)}},
	{"batch_dims: each row its own indices", "gather", Call{Data: "[[1,2,3],[4,5,6]]", Indices: "[[2,0],[1,1]]", Axis: number(1), BatchDims: number(1)}},
	{"A tuple of two indices", "gathernd", Call{Data: "[[1,2],[3,4]]", Indices: "[[0,0],[1,-1]]"}},
	{"Tuples, batch_dims 1", "gathernd", Call{Data: "[[[1,2],[3,4]],[[5,6],[7,8]]]", Indices: "[[1],[0]]", BatchDims: number(1)}},
	{"Elements: one index for each", "elements", Call{Data: "[[1,2],[3,4]]", Indices: "[[0,0],[1,0]]", Axis: number(1)}},
	{"A window of two", "window", Call{Data: "[1,2,3,4]", Indices: "[[1],[9]]", Attributes: windows()}},
	{"Text", "gather", Call{Data: `["red","green","blue"]`, Indices: "[2,0]"}},
	{"Bags: rows, added up", "bag", Call{Data: "f32[[1,2],[3,4],[5,6]]", Indices: "[2,0,1]", Operands: map[string]string{
		"offsets": "[0,2]", "segment_ids": "[0,0,1]", "ids_indices": "[[0,0],[0,1],[1,0]]",
	}, Attributes: map[string]map[string]any{
		everyOperator: {"num_segments": 2, "dense_shape": []any{2, 2}}, "torch.embedding_bag": {"mode": "sum"},
		"tensorflow.embedding_lookup_sparse": {"combiner": "sum"}, "tensorflow.safe_embedding_lookup_sparse": {"combiner": "sum"},
	}}},
	{"A table of 4 bits, with scales", "stored", Call{Data: "u4[[1,2],[3,15]]", Indices: "[1,0]", Operands: map[string]string{"scale": "f32[[0.5],[2]]", "scales": "f32[[0.5],[2]]"}}},
}

// windows are the attributes of the operators of windows, for windows of two elements of
// a vector.
func windows() map[string]map[string]any {
	list := func(n ...any) []any { return n }
	dims := func() map[string]any {
		return map[string]any{"offset_dims": list(1), "start_index_map": list(0), "index_vector_dim": 1, "slice_sizes": list(2)}
	}
	return map[string]map[string]any{"stablehlo.gather": dims(), "stablehlo.dynamic_gather": dims(), "jax.lax.gather": dims()}
}
