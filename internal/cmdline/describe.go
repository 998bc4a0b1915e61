package cmdline

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"sync"
	"unicode/utf8"

	"github.com/garner-go/garner"
	"github.com/garner-go/garner/files"
	"github.com/garner-go/garner/operators"
	"github.com/garner-go/garner/source"
)

// A Description says what a gather does, as JSON. Any process that has its files can open it.
type Description struct {
	Operator   string               `json:"operator"`             // a name that operators.Find finds, with its version
	Attributes Attributes           `json:"attributes,omitempty"` // of the operator, and its inputs beside operands
	Negative   string               `json:"negative,omitempty"`   // as --negative has it; "" is the operator's own
	Outside    string               `json:"outside,omitempty"`    // as --outside has it; "" is the operator's own
	Data       Described            `json:"data"`
	Indices    Described            `json:"indices,omitzero"` // zero where the operator takes data alone
	Further    map[string]Described `json:"further,omitempty"`
}

// Described is an operand of a Description. DType, Shape, Offset, Raw and Lenient are the
// files.Options that the flags set; further operands have none of them.
type Described struct {
	Text   string       `json:"text"`            // a literal, a range, or what files.Parse takes, with an absolute path
	DType  string       `json:"dtype,omitempty"` // "" is the operand's own
	Shape  garner.Shape `json:"shape,omitzero"`  // -1 is an open dim
	Offset int64        `json:"offset,omitempty"`
	Raw    bool         `json:"raw,omitempty"` // of DATA alone
	To     string       `json:"to,omitempty"`  // the dtype that elements are converted to; never of INDICES

	Lenient bool `json:"lenient,omitempty"` // of DATA alone
}

// Attributes are values by name, as operators.Parse takes them. In JSON they keep their
// Go types: int64, []int64, bool, string and nil.
type Attributes map[string]any

// UnmarshalJSON reads integers exactly. A number that is no int64 is an error.
func (a *Attributes) UnmarshalJSON(text []byte) error {
	var values map[string]any
	decoder := json.NewDecoder(bytes.NewReader(text))
	decoder.UseNumber()
	if err := decoder.Decode(&values); err != nil {
		return err
	}
	for name, v := range values {
		value, err := attributeOf(v)
		if err != nil {
			return fmt.Errorf("attribute %s: %w", name, err)
		}
		values[name] = value
	}
	*a = values
	return nil
}

// attributeOf returns an attribute of what encoding/json decodes.
func attributeOf(v any) (any, error) {
	switch v := v.(type) {
	case json.Number:
		return v.Int64()
	case []any:
		list := make([]int64, len(v))
		for i, element := range v {
			number, is := element.(json.Number)
			if !is {
				return nil, fmt.Errorf("a list of integers has %v", element)
			}
			var err error
			if list[i], err = number.Int64(); err != nil {
				return nil, err
			}
		}
		return list, nil
	case map[string]any:
		return nil, errors.New("it is an object; give an integer, a list of them, true or false, null, or text")
	}
	return v, nil
}

// Describe returns the description of a request that flags were parsed to. Paths and patterns become
// absolute. What another process cannot read is an error: standard input, pipes, and names
// that are not UTF-8, which JSON does not carry.
func (r *Request) Describe(f *Flags) (Description, error) {
	d := Description{Operator: r.Operator.Name, Negative: f.Policy.negative, Outside: f.Policy.outside}
	if f.Policy.filled {
		d.Outside = "fill=" + f.Policy.fill
	}
	if len(r.Numbers) > 0 {
		d.Attributes = maps.Clone(r.Numbers)
	}
	for name, v := range d.Attributes {
		if text, is := v.(string); is && !utf8.ValidString(text) {
			return d, Wrong("--attr %s=%q is not UTF-8, in which a job is described; give other text", name, text)
		}
		if list, is := v.([]int64); is && list == nil {
			d.Attributes[name] = []int64{}
		}
	}
	if !utf8.ValidString(d.Outside) {
		return d, Wrong("--outside %q is not UTF-8, in which a job is described; give another fill", d.Outside)
	}
	var err error
	if d.Data, err = r.Operands[0].describe(OperandRoles[0], &f.Data); err != nil {
		return d, err
	}
	d.Data.To = f.to.String()
	if garner.TakesIndices(r.Op) {
		if d.Indices, err = r.Operands[1].describe(OperandRoles[1], &f.indices); err != nil {
			return d, err
		}
	}
	texts, err := f.further.Texts(r.Operator)
	if err != nil {
		return d, err
	}
	for i, name := range r.Operator.Further() {
		to, converts := f.to.operands[name]
		switch {
		case texts[i] == "" && converts:
			return d, notGiven(name, to)
		case texts[i] == "":
			continue
		}
		operand, err := ParseOperand(texts[i]).describe("--operand "+name, &ArrayFlags{})
		if err != nil {
			return d, err
		}
		if converts {
			operand.To = to.String()
		}
		if d.Further == nil {
			d.Further = make(map[string]Described)
		}
		d.Further[name] = operand
	}
	return d, nil
}

// describe returns an operand as another process can open it.
func (o Operand) describe(role string, f *ArrayFlags) (Described, error) {
	d := Described{Text: o.Text, DType: f.DType.String(), Shape: garner.Shape(f.shape), Offset: f.offset.Value, Raw: f.raw, Lenient: f.lenient}
	if !utf8.ValidString(o.Text) {
		return d, Wrong("%s %q is not UTF-8, in which a job is described; give it another name", role, o.Text)
	}
	if err := o.shared(role); err != nil || o.Kind != KindFile || o.File.IsURL() {
		return d, err
	}
	path, err := absolute(o.File)
	if err != nil {
		return d, About(role+" "+o.Text+": ", err)
	}
	name, of := strings.CutPrefix(o.Text, o.File.Path)
	if !of { // a folder, whose manifest is the file
		name = ""
	}
	d.Text = path + name
	if again, err := files.Parse(d.Text); err != nil || again.Path != path || again.Name != o.File.Name || !utf8.ValidString(d.Text) {
		return d, Wrong("%s %s: the path of this folder, %q, cannot stand before it; rename the folder, or run in another one", role, o.Text, filepath.Dir(path))
	}
	return d, nil
}

// shared refuses an operand that other processes do not have.
func (o Operand) shared(role string) error {
	switch {
	case o.Kind == KindStdin:
		return Wrong("%s -: other processes do not have the standard input of this one; put it into a file", role)
	case o.Kind == KindFile && (PipeOf(o) != nil || ofProcess(o.File.Path)):
		return Wrong("%s %s is of this process, and others do not have it; put it into a file", role, o.Text)
	}
	return nil
}

// ofProcess reports whether a path names something else in each process.
func ofProcess(path string) bool {
	return slices.ContainsFunc([]string{StdinPath, "/dev/fd/", "/proc/self/", "/proc/thread-self/"}, func(own string) bool { return strings.HasPrefix(path, own) })
}

// absolute returns the path of an operand from the root. It keeps each "..": behind a
// symbolic link that is another folder than filepath.Abs says.
func absolute(f files.Operand) (string, error) {
	if filepath.IsAbs(f.Path) {
		return f.Path, nil
	}
	if runtime.GOOS == "windows" {
		return filepath.Abs(f.Path)
	}
	folder, err := os.Getwd()
	if err != nil {
		return "", err
	}
	if f.IsPattern() {
		folder = strings.NewReplacer(`\`, `\\`, "*", `\*`, "?", `\?`, "[", `\[`).Replace(folder)
	}
	return strings.TrimSuffix(folder, "/") + "/" + f.Path, nil
}

// Opened are the operator and the operands of a Description. Many goroutines at a time may read
// the arrays.
type Opened struct {
	Op       garner.Op
	Data     source.Array
	Indices  source.Array   // of no use where the operator takes data alone
	Further  []source.Array // in the operator's order; nil for one that is not given
	Plan     *garner.Plan
	Identity []files.Fact // what the result depends on; nil where an operand, such as of a URL, cannot be told from others

	Spread *files.Spread // DATA before it is converted, where other workers read some of its shards; else nil

	request *Request
	policy  *PolicyFlags
}

// opening lets one Open at a time set the limit of the heap.
var opening sync.Mutex

// Open opens the operands in place where that is possible, without reading elements, and
// the others into memory. Its errors are those of the command line that the description was
// made of. The caller closes what is opened.
func (d Description) Open(ctx context.Context) (*Opened, error) {
	return d.OpenElsewhere(ctx, nil)
}

// OpenElsewhere is Open for a process that can ask other workers for rows of the shards of DATA
// that they read; see files.Options.
func (d Description) OpenElsewhere(ctx context.Context, elsewhere files.Elsewhere) (*Opened, error) {
	opening.Lock()
	defer opening.Unlock()
	f, args, err := d.flags()
	if err != nil {
		return nil, err
	}
	o, err := operators.Find(d.Operator, 0)
	if err != nil {
		return nil, err
	}
	if takes := garner.TakesIndices(o.Zero); takes && d.Indices.Text == "" {
		return nil, Wrong("%s takes DATA and INDICES; the description has no INDICES", o.Name)
	} else if !takes && d.Indices.Text != "" {
		return nil, Wrong("%s takes DATA alone; the description has INDICES", o.Name)
	}
	c := NewConsole("garner", strings.NewReader(""), io.Discard, io.Discard)
	r, err := c.Ask(ctx, o.Kind, f, args, (&SizeFlag{}).Budget(), nil)
	if err != nil {
		return nil, err
	}
	r.Converts, r.Options.Elsewhere = true, elsewhere
	for i := range args {
		if err := r.Operands[i].shared(OperandRoles[i]); err != nil {
			return nil, err
		}
	}
	if r.Data, err = c.openArray(ctx, r); err != nil {
		return nil, err
	}
	spread, _ := r.Data.Array.(*files.Spread)
	a, err := c.OpenArrays(ctx, f, r, &SizeFlag{})
	if err != nil {
		r.Close()
		return nil, err
	}
	return &Opened{Op: r.Op, Data: r.Data.Array, Indices: r.Indices.Array, Further: a.Further, Plan: a.Plan, Identity: a.Facts, Spread: spread, request: r, policy: &f.Policy}, nil
}

// openArray opens DATA of any kind as an array.
func (p *Console) openArray(ctx context.Context, r *Request) (*files.Input, error) {
	from := r.Operands[0]
	if from.Kind == KindFile {
		in, err := p.OpenInPlace(ctx, OperandRoles[0], from, r.Options)
		if !errors.Is(err, files.ErrMemory) {
			return in, err
		}
	}
	in, t, err := p.Open(ctx, OperandRoles[0], from, r.Options, r.Memory.Left())
	if err != nil {
		return nil, err
	}
	if in.Array == nil { // strings, which the plan refuses
		in.Array = source.Memory(t)
	}
	r.Memory.Take(OperandRoles[0], in)
	return in, nil
}

// flags returns the command line that says the same.
func (d Description) flags() (f *Flags, args []string, err error) {
	f = &Flags{}
	f.Operator.As, f.Operator.values = d.Operator, d.Attributes
	set := func(flag, text string, to interface{ Set(string) error }) {
		if text != "" && err == nil {
			if err = to.Set(text); err != nil {
				err = Wrong("--%s %q: %v", flag, text, err)
			}
		}
	}
	set("negative", d.Negative, policyFlag{set: f.Policy.setNegative})
	set("outside", d.Outside, policyFlag{set: f.Policy.setOutside})
	set("to", d.Data.To, &f.to)
	for _, o := range []struct {
		prefix string
		from   Described
		flags  *ArrayFlags
	}{{"", d.Data, &f.Data}, {"indices-", d.Indices, &f.indices}} {
		set(o.prefix+"dtype", o.from.DType, &o.flags.DType)
		o.flags.shape, o.flags.raw, o.flags.lenient = shapeFlag(o.from.Shape), o.from.Raw, o.from.Lenient
		o.flags.offset = Number{Given: o.from.Offset != 0, Value: o.from.Offset}
	}
	for _, name := range slices.Sorted(maps.Keys(d.Further)) {
		o := d.Further[name]
		if o.DType != "" || o.Shape != nil || o.Offset != 0 || o.Raw || o.Lenient {
			return nil, nil, Wrong("--operand %s: no flag says what its bytes are; save it as a .npy file", name)
		}
		f.further.Given = append(f.further.Given, name+"="+o.Text)
		if o.To != "" {
			set("to", name+"="+o.To, &f.to)
		}
	}
	if err == nil && (d.Indices.Raw || d.Indices.Lenient || d.Indices.To != "") {
		err = Wrong("%s are neither read as blocks nor converted; leave raw, lenient and to out", OperandRoles[1])
	}
	args = []string{d.Data.Text}
	if d.Indices.Text != "" {
		args = append(args, d.Indices.Text)
	}
	return f, args, err
}

// Close closes the operands. No array may be in use.
func (o *Opened) Close() error {
	var first error
	for _, in := range o.request.inputs() {
		first = cmp.Or(first, in.Close())
	}
	return first
}

// Changed is the error of an operand whose file is no longer what it was when it was opened.
func (o *Opened) Changed() error { return o.request.Changed() }

// Paths returns the files of all operands.
func (o *Opened) Paths() []string { return o.request.Paths() }

// Remedy adds to the error of a refused index the flags that accept it.
func (o *Opened) Remedy(err error) error { return o.policy.Remedy(err) }
