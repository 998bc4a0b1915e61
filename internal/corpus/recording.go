package corpus

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/garner-go/garner"
	"github.com/garner-go/garner/operators"
)

// A Recording is a case with what the runtime itself answered, where that departs from the
// case's expectation too.
type Recording struct {
	Name       string
	File       string // of the corpus, without its folder
	Source     string // the runtime with its version, or the published test
	Note       string
	Operator   operators.Operator
	Op         garner.Op // with the case's attributes, without its policy
	Attributes map[string]any
	Data       garner.Tensor
	Indices    garner.Tensor // the zero Tensor where the operator takes none
	Further    []garner.Tensor
	Error      string // the class of the expectation; "" where it is a result
	Runs       []Run  // the usual run, and others that answered otherwise
}

// A Run is what a runtime answered: a class of error, a result, or what cannot be recorded.
type Run struct {
	Way       string // how it ran; "" for the usual way
	Departs   bool   // whether the answer is not what the specification says
	Error     string
	Output    garner.Tensor // the zero Tensor where there is none
	Undefined bool          // the answer depends on more than the case; Note says how
	Unread    bool          // there is a result, and no elements of it: a checksum, or such as are no numbers of the type
	Note      string
}

// Recordings reads the lines of a corpus, or of all .jsonl files in a folder in the order of
// their names, that ran. Lines that infer shapes alone, those of models and those with a
// policy of garner's are left out, and so are operands of more than 65,536 elements. A line that is no case, or of which an operand is not
// given, is an error.
func Recordings(path string) ([]Recording, error) {
	files := []string{path}
	if info, err := os.Stat(path); err != nil {
		return nil, fmt.Errorf("garner: %w", err)
	} else if info.IsDir() {
		if files, err = filepath.Glob(filepath.Join(path, "*.jsonl")); err != nil {
			return nil, err
		}
		slices.Sort(files)
	}
	var all []Recording
	for _, name := range files {
		text, err := os.ReadFile(name)
		if err != nil {
			return nil, fmt.Errorf("garner: %w", err)
		}
		for line := range strings.Lines(string(text)) {
			r, ok, err := recording([]byte(line))
			if err != nil {
				return nil, fmt.Errorf("garner: %s: %s: %w", name, r.Name, err)
			}
			if r.File = filepath.Base(name); ok {
				all = append(all, r)
			}
		}
	}
	return all, nil
}

// mostRecorded is how many elements an operand of a Recording has at most: larger ones
// repeat what small ones say, and cost seconds.
const mostRecorded = 1 << 16

// said are the fields of what a runtime answered.
type said struct {
	Run       string            `json:"run"`
	Agrees    *bool             `json:"agrees"`
	Error     string            `json:"error"`
	Outputs   []json.RawMessage `json:"outputs"`
	Undefined bool              `json:"undefined"`
	Note      string            `json:"note"`
}

func (s said) read(c *Case) (Run, error) {
	r := Run{Way: s.Run, Error: s.Error, Undefined: s.Undefined, Note: s.Note}
	if len(s.Outputs) != 1 {
		return r, nil
	}
	t, err := parseTensor(s.Outputs[0], outputFields)
	if err != nil || !t.given() {
		r.Unread = true
		return r, nil
	}
	t.codes = t.dtype == garner.NF4 && c.Op == compressed
	r.Output, err = t.tensor()
	return r, err
}

func recording(line []byte) (r Recording, ok bool, err error) {
	var raw struct {
		Source   string            `json:"source"`
		Note     string            `json:"note"`
		Error    string            `json:"error"`
		Recorded *said             `json:"recorded"`
		Also     []said            `json:"also"`
		Outputs  []json.RawMessage `json:"outputs"`
	}
	c := parseLine(line)
	if r.Name = c.Name; c.err != nil {
		return r, false, c.err
	}
	if err := json.Unmarshal(line, &raw); err != nil {
		return r, false, err
	}
	ran := c.want.ran || c.want.class != nil
	if !ran || !c.valued() || c.ir != nil || c.policy != (policy{}) {
		return r, false, nil
	}
	r.Note, r.Error, r.Attributes = raw.Note, raw.Error, c.attributes
	if r.Operator, err = operators.Find(c.Op, c.opset); err != nil {
		return r, false, err
	}
	var specs []operators.Input
	for i, in := range c.inputs {
		if shape, known := in.spec.Shape(); known {
			if n, fits := shape.Len(); !fits || n > mostRecorded {
				return r, false, nil
			}
		}
		t, err := in.value()
		if err != nil {
			return r, false, err
		}
		switch i {
		case 0:
			r.Data = t
		case 1:
			r.Indices = t
		default:
			specs = append(specs, operators.Input{Spec: in.spec, Value: t})
		}
	}
	if r.Op, err = r.Operator.Bind(c.attributes, specs...); err != nil {
		return r, false, nil // a case of a wrong attribute
	}
	for _, in := range r.Operator.Operands(specs) {
		r.Further = append(r.Further, in.Value)
	}
	source, departs := strings.CutPrefix(raw.Source, "specification;")
	r.Source = strings.TrimSpace(source)
	usual := said{Error: raw.Error, Outputs: raw.Outputs}
	if departs && raw.Recorded != nil {
		usual = *raw.Recorded
	}
	for i, s := range append([]said{usual}, raw.Also...) {
		if i > 0 && (s.Agrees == nil || *s.Agrees) {
			continue
		}
		run, err := s.read(&c)
		if err != nil {
			return r, false, err
		}
		run.Departs = i > 0 || departs
		r.Runs = append(r.Runs, run)
	}
	return r, true, nil
}

// Tensor reads a tensor as the corpora write it, with all its elements.
func Tensor(text []byte) (garner.Tensor, error) {
	t, err := parseTensor(text, outputFields)
	if err != nil {
		return garner.Tensor{}, err
	}
	if !t.given() {
		return garner.Tensor{}, fmt.Errorf("a tensor without elements that can be read: %s", text)
	}
	return t.tensor()
}
