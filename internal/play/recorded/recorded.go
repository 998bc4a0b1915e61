// Package recorded tells what real runtimes answered, by operator and by the kind of
// the indices: an error, zeros, the nearest row, other memory. Its table is made of
// the recordings in testdata/conformance and of those that the rules of lint rest on,
// and is small enough to be part of a page.
//
//	for _, a := range recorded.Of("openvino.Gather-7", recorded.PastEnd) {
//		fmt.Println(a.Runtime, a.Text) // openvino 2026.4.1 CPU writes zeros
//	}
package recorded

import (
	_ "embed"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"
	"sync"

	"github.com/garner-go/garner"
)

//go:generate go run ../../genrecorded ../../../testdata/conformance answers.json

// A Kind says where the indices of a call point, by the worst of them.
type Kind string

// The kinds, from the best to the worst, for an axis of dim positions.
const (
	Inside   Kind = "inside"       // each is one of 0 … dim-1, or there are none
	Negative Kind = "negative"     // one is from -dim to -1
	Below    Kind = "below"        // one is less than -dim
	PastEnd  Kind = "past the end" // one is dim or more
)

var kinds = []Kind{Inside, Negative, Below, PastEnd}

// KindOf gives the kind of a call: the plan of its operator, its indices, and its further
// operands, which tell the terms of bags that count nowhere. A plan without indices is
// Inside. It takes some 100 ns an index. Errors are those of [garner.Plan.Meaning].
func KindOf(p *garner.Plan, indices garner.Tensor, further ...garner.Tensor) (Kind, error) {
	if len(p.Axes) == 0 {
		return Inside, nil
	}
	worst := 0
	for i := range indices.Len() {
		m, err := p.Meaning(indices, i, further...)
		if err != nil {
			return "", err
		}
		if m.LeftOut {
			continue
		}
		worst = max(worst, slices.Index(kinds, kindOf(m.Value, p.Axes[m.Component].Dim)))
	}
	return kinds[worst], nil
}

// kindOf gives the kind of one index on an axis of dim positions.
func kindOf(v garner.Index, dim int) Kind {
	n := int64(v.Bits)
	switch {
	case v.Unsigned && n < 0, n >= int64(dim):
		return PastEnd
	case n >= 0:
		return Inside
	case n >= -int64(dim):
		return Negative
	}
	return Below
}

// Classes of answers.
const (
	Row      = "the row"           // what the operator's definition gives for an index inside
	FromEnd  = "from the end"      // a negative index counts from the end
	Refused  = "error"             // an error
	Zero     = "0"                 // the row is zeros
	NaN      = "NaN"               // the row is NaN
	Fill     = "fill value"        // the row is the fill of the type: of integers the least, of unsigned ones the greatest
	LastRow  = "last row"          // the nearest row, for an index past the end
	FirstRow = "first row"         // the nearest row, for one below
	Wrapped  = "wrapped"           // the index modulo the axis
	Garbage  = "garbage"           // memory of no row, or memory that nobody wrote
	Ends     = "ends the process"  // no answer
	LeftOut  = "left out"          // the index counts nowhere
	Other    = "another answer"    // none of these
	Rounded  = "converted"         // elements that another type could not hold
	NoTypes  = "no such types"     // the runtime has no kernel of these types
	Cut      = "cut"               // of a slice of several strings, only the first
	NoEmpty  = "no empty operands" // the runtime refuses operands without elements
)

// Conditions in words.
const (
	WithoutElements = "operands without elements"
	WithoutTerms    = "tuples without components, or bags without terms"
	Signalling      = "signalling NaNs"
	Beyond32        = "numbers of more than 32 bits"
	ShortVector     = "a vector of up to 64 integers"
)

// words are the classes as a predicate of the runtime.
var words = map[string]string{
	Row:      "gives the row",
	FromEnd:  "counts it from the end",
	Refused:  "refuses it",
	Zero:     "writes zeros",
	NaN:      "writes NaN",
	Fill:     "writes the fill value of the type",
	LastRow:  "takes the last row",
	FirstRow: "takes the first row",
	Wrapped:  "takes the index modulo the axis",
	Garbage:  "gives memory that is no row, or that nobody wrote",
	Ends:     "ends the process",
	LeftOut:  "leaves it out",
	Other:    "gives another answer",
	Rounded:  "computes in another type, which cannot hold each element",
	NoTypes:  "refuses these types",
	Cut:      "keeps only some strings of a slice, the others are empty",
	NoEmpty:  "refuses operands without elements",
}

// An Answer is what a runtime answered to calls of one kind.
type Answer struct {
	Runtime string `json:"runtime"` // its name, version and device
	Answer  string `json:"answer"`  // its class, one of the constants
	Text    string `json:"text"`    // the class as a predicate: "writes zeros"
	Follows bool   `json:"follows"` // whether that is what the operator's specification says
	Case    string `json:"case"`    // one recording that shows it
	When    string `json:"when,omitempty"`

	Attributes map[string]string `json:"attributes,omitempty"` // attributes that it holds for; those not named have their defaults
	Data       []string          `json:"data,omitempty"`       // dtypes of data that it holds for; none: any
	Indices    []string          `json:"indices,omitempty"`    // dtypes of indices that it holds for; none: any
	Run        string            `json:"run,omitempty"`        // the way of running, where it is not the usual one
	Where      string            `json:"where,omitempty"`      // a condition in words

	operator string
}

// modes are the attributes on which answers depend, each with its words for the default.
var modes = map[string][]string{"mode": {"", "raise", "fill"}, "bad_indices_policy": {"", "DEFAULT"}, "wrap_negative_indices": {"true"}}

// ModesOf gives the attributes of a call on which recorded answers depend, without those
// that are at their defaults. operator is its name: the modes of bags say how they reduce,
// and torch.take_along_dim without a dim is an operator of its own.
func ModesOf(operator string, values map[string]any) map[string]string {
	set := map[string]string{}
	if operator == "torch.take_along_dim" && values["dim"] == nil && values["axis"] == nil {
		set["dim"] = "none"
	}
	if strings.HasSuffix(operator, "embedding_bag") {
		return set
	}
	for name, defaults := range modes {
		if v := values[name]; v != nil && !slices.Contains(defaults, fmt.Sprint(v)) {
			set[name] = fmt.Sprint(v)
		}
	}
	return set
}

// Fits reports whether the answer holds for a call with these values, as
// operators.Operator.New takes them, and these dtypes. What When says beyond that, a way of
// running or a condition in words, it leaves to the reader.
func (a Answer) Fits(values map[string]any, data, indices garner.DType) bool {
	fraction := data.IsFloat() || data.IsComplex()
	switch {
	case !maps.Equal(a.Attributes, ModesOf(a.operator, values)),
		a.Answer == NaN && !fraction, a.Answer == Fill && fraction, a.Where == ShortVector && !data.IsInteger():
		return false
	}
	has := func(list []string, d garner.DType) bool { return len(list) == 0 || slices.Contains(list, d.String()) }
	return has(a.Data, data) && has(a.Indices, indices)
}

// when says the conditions in words.
func (a Answer) when() string {
	var parts []string
	for _, name := range slices.Sorted(maps.Keys(a.Attributes)) {
		parts = append(parts, name+"="+a.Attributes[name])
	}
	if len(a.Data) > 0 {
		parts = append(parts, "data "+strings.Join(a.Data, ", "))
	}
	if len(a.Indices) > 0 {
		parts = append(parts, "indices "+strings.Join(a.Indices, ", "))
	}
	for _, text := range []string{a.Run, a.Where} {
		if text != "" {
			parts = append(parts, text)
		}
	}
	return strings.Join(parts, "; ")
}

// An Entry is a line of the file: an answer without what follows from the rest of it.
type Entry struct {
	Operator string `json:"operator"`
	Kind     Kind   `json:"kind"`
	Answer
}

//go:embed answers.json
var file []byte

// table has the answers by operator and kind.
var table = sync.OnceValue(func() map[string]map[Kind][]Answer {
	var entries []Entry
	if err := json.Unmarshal(file, &entries); err != nil {
		panic("recorded: answers.json: " + err.Error()) // a test reads it
	}
	all := map[string]map[Kind][]Answer{}
	for _, e := range entries {
		a := e.Answer
		a.Text, a.When, a.operator = words[a.Answer], a.when(), e.Operator
		if all[e.Operator] == nil {
			all[e.Operator] = map[Kind][]Answer{}
		}
		all[e.Operator][e.Kind] = append(all[e.Operator][e.Kind], a)
	}
	return all
})

// Of gives the recorded answers of the runtimes of an operator to calls of a kind, those
// without a condition first; none where nothing is recorded. The caller may change the
// slice.
func Of(operator string, kind Kind) []Answer { return slices.Clone(table()[operator][kind]) }
