package fix

import (
	"bytes"
	"context"
	"fmt"
	"os"
	"reflect"
	"slices"
	"strings"

	"github.com/garner-go/garner"
	"github.com/garner-go/garner/internal/mapped"
	"github.com/garner-go/garner/internal/names"
	"github.com/garner-go/garner/lint"
	"github.com/garner-go/garner/model"
)

// held is a mended model beside the old one: what is where.
type held struct {
	ctx   context.Context
	mends []lint.Mend
	of    map[*model.Node]int           // the mend of a node of the old model
	fresh map[string]bool               // names of nodes that are new
	kept  map[string]string             // by the name that a mended node has now, the one that it had
	last  map[string]int                // the mend whose result a new node makes
	made  map[string]bool               // names of constants that are new
	nodes map[*model.Node]*model.Node   // of the new model by the old, the mended ones too
	value map[*model.Value]*model.Value // likewise
	added map[*model.Node]int           // nodes of the new model that a mend has added; those with its result too
	open  map[string]*os.File

	inlines bool // the model has functions
}

// compare holds that a mended model is the old one but for its mends: every node in its
// order with its operator, its attributes and its inputs, every value with its names and
// type, every constant with its bytes.
func compare(ctx context.Context, old, mended *model.Model, mends []lint.Mend, made []added) (*held, error) {
	h := &held{
		ctx: ctx, mends: mends, of: map[*model.Node]int{}, fresh: map[string]bool{}, kept: map[string]string{}, last: map[string]int{}, made: map[string]bool{},
		nodes: map[*model.Node]*model.Node{}, value: map[*model.Value]*model.Value{}, added: map[*model.Node]int{}, open: map[string]*os.File{},
	}
	defer func() {
		for _, f := range h.open {
			f.Close()
		}
	}()
	for n := range old.Nodes() {
		h.inlines = h.inlines || strings.Contains(n.At, ", function ")
	}
	for i, a := range made {
		h.of[mends[i].Node] = i
		for _, name := range a.all {
			h.fresh[name] = true
		}
		for _, name := range a.constants {
			h.made[name] = true
		}
		if a.kept != "" {
			h.kept[a.kept] = mends[i].Node.Name
		}
		if a.last != "" {
			h.last[a.last+"\x00"+mends[i].Node.Outputs[0].Name] = i
		}
	}
	if old.Format != mended.Format || !reflect.DeepEqual(old.Opsets, mended.Opsets) || old.Producer != mended.Producer {
		return nil, fmt.Errorf("its format, opsets or producer differ")
	}
	return h, h.graph(old.Graph, mended.Graph)
}

// replaces reports the mend that has put a node into the place of its own.
func (h *held) replaces(n *model.Node) (int, bool) {
	if len(n.Outputs) != 1 || n.Outputs[0] == nil {
		return 0, false
	}
	i, ok := h.last[n.Name+"\x00"+n.Outputs[0].Name]
	return i, ok
}

func (h *held) graph(old, mended *model.Graph) error {
	if err := context.Cause(h.ctx); err != nil {
		return err
	}
	if old.Name != mended.Name || len(old.Inputs) != len(mended.Inputs) || len(old.Outputs) != len(mended.Outputs) {
		return fmt.Errorf("graph %s has other inputs or outputs", names.Quote(old.Name))
	}
	rest := mended.Constants
	for _, v := range old.Constants {
		for len(rest) > 0 && h.made[rest[0].Name] && rest[0].Name != v.Name {
			rest = rest[1:]
		}
		if len(rest) == 0 {
			return fmt.Errorf("constant %s is gone", names.Quote(v.Name))
		}
		if err := h.constant(v, rest[0]); err != nil {
			return err
		}
		rest = rest[1:]
	}
	for _, v := range rest {
		if !h.made[v.Name] {
			return fmt.Errorf("constant %s is new", names.Quote(v.Name))
		}
	}
	for i, v := range old.Inputs {
		if h.value[v] == mended.Inputs[i] && v.Constant != nil {
			continue // a default
		}
		if err := h.pair(v, mended.Inputs[i]); err != nil {
			return err
		}
	}
	nodes := mended.Nodes
	skip := func() {
		for len(nodes) > 0 {
			i, last := h.replaces(nodes[0])
			if !last && !h.fresh[nodes[0].Name] {
				return
			}
			if last {
				h.value[h.mends[i].Node.Outputs[0]] = nodes[0].Outputs[0]
			}
			h.added[nodes[0]] = i
			nodes = nodes[1:]
		}
	}
	for _, n := range old.Nodes {
		skip()
		if i, mended := h.of[n]; mended && !slices.ContainsFunc(h.mends[i].Steps, func(s lint.Step) bool { return s.Kind == lint.Gathered }) {
			continue // it is gone
		}
		if len(nodes) == 0 {
			return fmt.Errorf("node %s is gone", names.Quote(n.Name))
		}
		if err := h.node(n, nodes[0]); err != nil {
			return err
		}
		nodes = nodes[1:]
	}
	if skip(); len(nodes) > 0 {
		return fmt.Errorf("node %s is new, or stands elsewhere", names.Quote(nodes[0].Name))
	}
	for i, o := range old.Outputs {
		if other := mended.Outputs[i]; o.Name != other.Name || h.value[o.Value] != other.Value {
			return fmt.Errorf("output %s is another value", names.Quote(o.Name))
		}
	}
	return nil
}

// pair notes that two values are the same, and holds their names and types.
func (h *held) pair(old, mended *model.Value) error {
	switch {
	case old == nil || mended == nil:
		if old != mended {
			return fmt.Errorf("a node has more or fewer values")
		}
		return nil
	case !h.alike(old.Name, mended.Name) || !slices.EqualFunc(old.Aliases, mended.Aliases, h.alike):
		return fmt.Errorf("value %s is now named %s", names.Quote(old.Name), names.Quote(mended.Name))
	case !agree(old.Spec, mended.Spec):
		return fmt.Errorf("value %s is %s, and was %s", names.Quote(old.Name), mended.Spec, old.Spec)
	}
	h.value[old] = mended
	return nil
}

// alike compares names of values. The reader numbers what it inlines of functions by the
// place of a call that has no name, and new nodes before that move it.
func (h *held) alike(old, mended string) bool {
	if old == mended || !h.inlines {
		return old == mended
	}
	noDigits := func(r rune) rune {
		if r >= '0' && r <= '9' {
			return -1
		}
		return r
	}
	return strings.Map(noDigits, old) == strings.Map(noDigits, mended)
}

// agree reports whether two specs do not contradict each other. A result behind a mend may
// be known better or less well than before.
func agree(a, b garner.Spec) bool {
	if a.DType != b.DType && a.DType != garner.Invalid && b.DType != garner.Invalid {
		return false
	}
	if !a.Rank.Known() || !b.Rank.Known() {
		return true
	}
	if a.Rank != b.Rank {
		return false
	}
	for i, d := range a.Dims {
		if d.Max < b.Dims[i].Min || b.Dims[i].Max < d.Min {
			return false
		}
	}
	return true
}

func (h *held) node(old, mended *model.Node) error {
	i, isMended := h.of[old]
	fail := func(what string) error {
		return fmt.Errorf("node %s (%s) has another %s", names.Quote(old.Name), old.At, what)
	}
	switch {
	case old.Op != mended.Op || !isMended && (old.Domain != mended.Domain || old.Version != mended.Version || old.Operator != mended.Operator):
		return fail("operator")
	case len(old.Outputs) != len(mended.Outputs):
		return fail("number of results")
	case len(old.Inputs) != len(mended.Inputs):
		return fail("number of inputs")
	case len(old.Graphs) != len(mended.Graphs):
		return fail("number of graphs")
	}
	h.nodes[old] = mended
	var step lint.Step
	behind := false
	if isMended {
		steps := h.mends[i].Steps
		at := slices.IndexFunc(steps, func(s lint.Step) bool { return s.Kind == lint.Gathered })
		step, behind = steps[at], at < len(steps)-1
	}
	for j, v := range old.Inputs {
		if isMended {
			if _, same := step.Operands[j].Input(); !same {
				continue
			}
		}
		if v == nil || mended.Inputs[j] == nil {
			if v != nil || mended.Inputs[j] != nil {
				return fail(fmt.Sprintf("input %d", j))
			}
			continue
		}
		if v.From == nil && h.value[v] == nil && v.Constant == nil { // an input that no edge leads to
			if err := h.pair(v, mended.Inputs[j]); err != nil {
				return err
			}
		}
		if h.value[v] != mended.Inputs[j] {
			return fail(fmt.Sprintf("input %d", j))
		}
	}
	if err := h.attributes(old, mended, step.Attributes); err != nil {
		return err
	}
	for j, v := range old.Outputs {
		if behind { // a later step makes what it was
			break
		}
		if err := h.pair(v, mended.Outputs[j]); err != nil {
			return err
		}
	}
	for j, g := range old.Graphs {
		if g.Name != mended.Graphs[j].Name {
			return fail("graph")
		}
		if err := h.graph(g.Graph, mended.Graphs[j].Graph); err != nil {
			return err
		}
	}
	return nil
}

// attributes holds a node's attributes but for those that a mend has changed.
func (h *held) attributes(old, mended *model.Node, changed map[string]int64) error {
	all := map[string]bool{}
	for name := range old.Attributes {
		all[name] = true
	}
	for name := range mended.Attributes {
		all[name] = true
	}
	for name := range all {
		a, b := old.Attributes[name], mended.Attributes[name]
		equal := reflect.DeepEqual(a, b)
		one, isConstant := a.(*model.Constant)
		other, also := b.(*model.Constant)
		if v, ok := changed[name]; ok {
			equal = b == any(v)
		} else if isConstant && also {
			var err error
			if equal, err = h.equalConstants(one, other); err != nil {
				return err
			}
		} else if equal = equal || sameBits(a, b); !equal {
			equal = false
		}
		if !equal {
			return fmt.Errorf("node %s has another attribute %s", names.Quote(old.Name), names.Quote(name))
		}
	}
	return nil
}

// sameBits reports whether two attributes print alike, as NaN does.
func sameBits(a, b any) bool {
	return reflect.TypeOf(a) == reflect.TypeOf(b) && fmt.Sprint(a) == fmt.Sprint(b)
}

func (h *held) constant(old, mended *model.Value) error {
	if err := h.pair(old, mended); err != nil {
		return err
	}
	if (old.Constant == nil) != (mended.Constant == nil) {
		return fmt.Errorf("value %s is no constant any more", names.Quote(old.Name))
	}
	if old.Constant == nil {
		return nil
	}
	equal, err := h.equalConstants(old.Constant, mended.Constant)
	if err == nil && !equal {
		err = fmt.Errorf("constant %s has other elements", names.Quote(old.Name))
	}
	return err
}

// equalConstants compares the bytes of two constants. Those in one place of one file are
// not read.
func (h *held) equalConstants(a, b *model.Constant) (bool, error) {
	if !reflect.DeepEqual(a.Spec, b.Spec) || a.Size != b.Size && a.File != "" && b.File != "" {
		return false, nil
	}
	if a.File != "" && b.File != "" {
		one, err := h.file(a.File)
		if err != nil {
			return false, err
		}
		other, err := h.file(b.File)
		if err != nil {
			return false, err
		}
		first, err := one.Stat()
		if err != nil {
			return false, err
		}
		second, err := other.Stat()
		if err != nil {
			return false, err
		}
		if os.SameFile(first, second) && a.Offset == b.Offset {
			return true, nil
		}
		return equalRanges(one, a.Offset, other, b.Offset, a.Size)
	}
	if d := a.Spec.DType; d != garner.String && d != garner.Invalid {
		if equal, err := model.EqualPieces(context.Background(), a, b); err == nil {
			return equal, nil
		}
	}
	equal := false // strings, and what cannot be read
	err := mapped.Guard(func() error {
		one, err := a.Tensor()
		other, failed := b.Tensor()
		if err != nil || failed != nil { // neither can be read: sparse ones, say
			equal = err != nil && failed != nil
			return nil
		}
		if one.DType() == garner.String {
			equal = one.Text() == other.Text()
			return nil
		}
		x, err := one.Bytes()
		if err != nil {
			return err
		}
		y, err := other.Bytes()
		equal = bytes.Equal(x, y)
		return err
	})
	return equal, err
}

func (h *held) file(path string) (*os.File, error) {
	if f := h.open[path]; f != nil {
		return f, nil
	}
	f, err := os.Open(path)
	if err != nil {
		return nil, garner.Errorf(err, "%s cannot be read: %v", path, err)
	}
	h.open[path] = f
	return f, nil
}

// judge lints the mended model. It holds that each finding that was to be taken away is
// gone, and that no node has a new one; else it gives an *unmendable.
func (h *held) judge(ctx context.Context, mended *model.Model, o Options, before []lint.Finding, mends []lint.Mend) error {
	if len(mends) == 0 {
		return nil
	}
	after, err := lint.Model(ctx, mended, o.Lint)
	if err != nil {
		return err
	}
	had := map[*model.Node]map[string]bool{}
	for _, f := range before {
		if had[f.Node] == nil {
			had[f.Node] = map[string]bool{}
		}
		had[f.Node][f.Rule.ID] = true
	}
	was := map[*model.Node]*model.Node{}
	for a, b := range h.nodes {
		was[b] = a
	}
	for _, f := range after {
		old := was[f.Node]
		if i, ok := h.added[f.Node]; ok { // part of a mend
			old = mends[i].Node
		} else if old == nil {
			return fmt.Errorf("node %s is new", names.Quote(f.Node.Name))
		}
		i, isMended := h.of[old]
		switch {
		case isMended && slices.ContainsFunc(mends[i].Rules, func(r *lint.Rule) bool { return r.ID == f.Rule.ID }):
			return &unmendable{i, fmt.Errorf("behind the mend the finding is still there: %s", f.Message)}
		case had[old][f.Rule.ID]:
		case isMended:
			return &unmendable{i, fmt.Errorf("the mend would bring a finding of %s: %s", f.Rule.ID, f.Message)}
		default:
			return h.blame(mends, f)
		}
	}
	return nil
}

// blame gives up all mends of the graph in front of a node that has a new finding; the
// first is left out.
func (h *held) blame(mends []lint.Mend, f lint.Finding) error {
	return &unmendable{len(mends) - 1, fmt.Errorf("the mend would bring a finding of %s at node %s: %s", f.Rule.ID, names.Quote(f.Node.Name), strings.TrimSpace(f.Message))}
}
