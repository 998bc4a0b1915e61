// Package recorded tells what real runtimes answered to a call like the one that is
// asked about: an error, zeros, the nearest row, other memory. Its table is made of the
// recordings in testdata/conformance and in lint/testdata, and is small enough to be part
// of a page.
//
// An answer is told of a call only if a call was recorded that is like it in all that
// [Like] names: no type, rank or attribute is inferred from another. A call of which no
// like was recorded has no answer.
//
//	for _, a := range recorded.Of(call, recorded.PastEnd) {
//		fmt.Println(a.Runtime, a.Text) // openvino 2026.4.1 CPU writes zeros
//	}
package recorded

import (
	_ "embed"
	"maps"
	"slices"
	"strings"
	"sync"
)

//go:generate go run ../../genrecorded ../../../testdata/conformance ../../../lint/testdata answers.tsv

// Classes of answers.
const (
	Row      = "the row"           // what the operator's definition gives for an index inside
	FromEnd  = "from the end"      // a negative index counts from the end
	Refused  = "error"             // an error
	Zero     = "0"                 // the row is zeros
	NaN      = "NaN"               // the row is NaN
	Fill     = "fill value"        // the row is the fill of the type, or the one that is given
	LastRow  = "last row"          // the nearest row, for an index past the end
	FirstRow = "first row"         // the nearest row, for one below
	Wrapped  = "wrapped"           // the index modulo the axis
	Low32    = "low 32 bits"       // the row that the index's low 32 bits name
	Garbage  = "garbage"           // memory of no row, or memory that nobody wrote
	Memory   = "other memory"      // as Garbage, and the run that was recorded tells nothing of the next: no row, zeros or no answer
	Varies   = "varies"            // Refused or Other, by which of its threads meets the index
	Ends     = "ends the process"  // no answer
	LeftOut  = "left out"          // the index counts nowhere
	Other    = "another answer"    // none of these
	Rounded  = "converted"         // elements that another type could not hold
	NoTypes  = "no such types"     // the runtime has no kernel of these types
	Cut      = "cut"               // of a slice of several strings, only the first
	NoEmpty  = "no empty operands" // the runtime refuses operands without elements
)

// words are the classes as a predicate of the runtime.
var words = map[string]string{
	Row:      "gives the row",
	FromEnd:  "counts it from the end",
	Refused:  "refuses it",
	Zero:     "writes zeros",
	NaN:      "writes NaN",
	Fill:     "writes the fill value",
	LastRow:  "takes the last row",
	FirstRow: "takes the first row",
	Wrapped:  "takes the index modulo the axis",
	Low32:    "reads the low 32 bits of the index alone",
	Garbage:  "gives memory that is no row, or that nobody wrote",
	Memory:   "reads other memory: any values, also zeros, or the process ends",
	Varies:   "refuses it or gives another answer, as its threads meet it",
	Ends:     "ends the process",
	LeftOut:  "leaves it out",
	Other:    "gives another answer",
	Rounded:  "computes in another type, which cannot hold each element",
	NoTypes:  "refuses these types",
	Cut:      "keeps only some strings of a slice, the others are empty",
	NoEmpty:  "refuses operands without elements",
}

// An Answer is what a runtime answered to a call.
type Answer struct {
	Runtime string `json:"runtime"` // its name, version and device
	Class   string `json:"answer"`  // one of the constants
	Text    string `json:"text"`    // the class as a predicate: "writes zeros"
	Follows bool   `json:"follows"` // whether that is what the operator's specification says
	Case    string `json:"case"`    // the recording of such a call
	When    string `json:"when,omitempty"`
}

// An Entry is a line of the file: an answer to calls that are alike but for the dtype of
// data.
type Entry struct {
	Like
	Data    []string // its dtypes
	Runtime string
	Class   string
	Follows bool
	Run     string   // the way of running, where it is not the usual one: Answer.When
	Cases   []string // the recording of each of Data
}

// caseOf is the name that a recording has in the grid of calls if first is that of the same
// call with data of another dtype.
func caseOf(first, dtype, other string) string {
	return strings.Replace(first, "-of-"+dtype+"-by-", "-of-"+other+"-by-", 1)
}

// Text is the line of an entry. A case that caseOf names is not written. A field that is the same as in the line before it, whose
// fields are before, is written as a quotation mark.
func (e Entry) Text(before []string) (line string, fields []string) {
	attributes := make([]string, 0, len(e.Attributes))
	for _, name := range slices.Sorted(maps.Keys(e.Attributes)) {
		attributes = append(attributes, name+"="+e.Attributes[name])
	}
	follows := "departs"
	if e.Follows {
		follows = "follows"
	}
	cases := slices.Clone(e.Cases)
	for i := 1; i < len(cases); i++ {
		if cases[i] == caseOf(e.Cases[0], e.Data[0], e.Data[i]) {
			cases[i] = ""
		}
	}
	fields = []string{
		e.Operator, string(e.Reach), e.Runtime, e.Run, e.Class, follows, strings.Join(attributes, ";"), strings.Join(e.Where, ";"),
		e.Further, e.Indices, strings.Join(e.Data, ","), e.Ranks, strings.Join(cases, ","),
	}
	short := slices.Clone(fields)
	for i := range short {
		if i < len(before) && short[i] == before[i] && short[i] != "" {
			short[i] = `"`
		}
	}
	return strings.Join(short, "\t") + "\n", fields
}

// entryOf reads a line that Text wrote; fields are those of the line before, and become
// those of this one.
func entryOf(line string, fields []string) Entry {
	for i, text := range strings.Split(line, "\t") {
		if text != `"` {
			fields[i] = text
		}
	}
	split := func(text, by string) []string {
		if text == "" {
			return nil
		}
		return strings.Split(text, by)
	}
	e := Entry{
		Like: Like{
			Operator: fields[0], Reach: Reach(fields[1]), Where: split(fields[7], ";"), Further: fields[8], Indices: fields[9], Ranks: fields[11],
		},
		Runtime: fields[2], Run: fields[3], Class: fields[4], Follows: fields[5] == "follows", Data: split(fields[10], ","), Cases: strings.Split(fields[12], ","),
	}
	for i := 1; i < len(e.Cases); i++ {
		if e.Cases[i] == "" {
			e.Cases[i] = caseOf(e.Cases[0], e.Data[0], e.Data[i])
		}
	}
	for _, text := range split(fields[6], ";") {
		name, v, _ := strings.Cut(text, "=")
		if e.Attributes == nil {
			e.Attributes = map[string]string{}
		}
		e.Attributes[name] = v
	}
	return e
}

// columns is how many fields a line of the file has.
const columns = 13

//go:embed answers.tsv
var file string

// Entries gives the whole table, in the order of the file. The caller must not change it.
var Entries = sync.OnceValue(func() []Entry {
	var all []Entry
	fields := make([]string, columns)
	for line := range strings.Lines(file) {
		all = append(all, entryOf(strings.TrimSuffix(line, "\n"), fields))
	}
	return all
})

// table has the entries by operator and reach.
var table = sync.OnceValue(func() map[[2]string][]Entry {
	all := map[[2]string][]Entry{}
	for _, e := range Entries() {
		key := [2]string{e.Operator, string(e.Reach)}
		all[key] = append(all[key], e)
	}
	return all
})

// Of gives the recorded answers to calls like this one, whose indices reach so far: those
// of the usual way of running first. There is none where no such call was recorded. It
// looks once at the elements of data and of the further operands.
func Of(c Call, reach Reach) []Answer {
	entries := table()[[2]string{c.Operator.Name, string(reach)}]
	if len(entries) == 0 {
		return nil
	}
	like, data := LikeOf(c, reach), c.Data.DType().String()
	var list []Answer
	for _, e := range entries {
		if i := slices.Index(e.Data, data); i >= 0 && e.Like.Equal(like) {
			list = append(list, Answer{Runtime: e.Runtime, Class: e.Class, Text: words[e.Class], Follows: e.Follows, Case: e.Cases[i], When: e.Run})
		}
	}
	slices.SortStableFunc(list, func(a, b Answer) int { return min(len(a.When), 1) - min(len(b.When), 1) })
	return list
}
