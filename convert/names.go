package convert

import (
	"fmt"
	"strings"
	"unicode/utf8"
)

// layers makes the target's layers, and gives every value and every layer a name that is unique
// in the file: inputs and results keep theirs, as far as the format has them.
func (p *program) layers() ([]*layer, error) {
	list := make([]*layer, 0, len(p.nodes))
	for _, n := range p.nodes {
		p.at = n.origin
		list = append(list, p.target.layer(p, n))
	}
	p.at = nil
	if p.err != nil {
		return nil, p.err
	}
	u := &uniqueNames{target: p.target, taken: make(map[string]bool), next: make(map[string]int)}
	for i, v := range p.inputs {
		v.name = u.of(v.wanted, fmt.Sprintf("input_%d", i))
		p.renamed("input", v.wanted, v.name)
	}
	for i := range p.outputs {
		o := &p.outputs[i]
		was := o.name
		if !o.from.isNode() && o.value.name == was {
			continue // an input that is a result too
		}
		o.name = u.of(was, fmt.Sprintf("output_%d", i))
		p.renamed("output", was, o.name)
		switch {
		case o.from.isNode() && o.value.name == "":
			o.value.name = o.name
		default: // the value has another name
			n := &node{op: opIdentity, in: []*value{o.value}}
			n.out = &value{name: o.name, wanted: o.name, spec: o.spec, dimNames: o.dimNames, from: n}
			list = append(list, p.target.layer(p, n))
			o.value = n.out
		}
	}
	for _, l := range list {
		if l.out.name == "" {
			base := l.out.wanted
			if base == "" {
				base = p.partName(l)
			}
			l.out.name = u.of(base, l.op)
		}
		if l.also != nil && l.also.name == "" {
			base := l.also.wanted
			if base == "" {
				base = p.partName(l) + "/also"
			}
			l.also.name = u.of(base, l.op)
		}
	}
	for _, v := range p.constants(list) {
		v.name = u.of(v.wanted, "constant")
	}
	// Layers have names of their own, which may be those of values.
	u.taken = make(map[string]bool)
	if p.target == irTarget {
		for _, v := range p.inputs {
			u.taken[v.name] = true
		}
		for _, v := range p.constants(list) {
			u.taken[v.name] = true
		}
	}
	last := make(map[*node]*layer)
	for _, l := range list {
		last[l.out.from] = l
	}
	for _, l := range list {
		base := l.out.name
		if n := l.out.from.origin; n != nil {
			if base = n.Name; l.out.wanted == "" {
				base = p.partName(l)
			}
		}
		l.name = u.of(base, l.op)
	}
	p.resultNames = nil
	for _, o := range p.outputs {
		p.resultNames = append(p.resultNames, u.of(o.name+"/result", "result"))
	}
	return list, nil
}

// partName names a layer that is a part of what one node of the source becomes.
func (p *program) partName(l *layer) string {
	if n := l.out.from.origin; n != nil {
		return n.Name + "/" + l.op
	}
	return l.op
}

func (n *node) isNode() bool { return n != nil }

// renamed notes a name that the format does not have, or that another has.
func (p *program) renamed(kind, was, is string) {
	if was != is {
		p.note("renamed", "the %s %.200q is %.200q in %s", kind, was, is, p.target.name)
	}
}

// graphName gives the graph's name; ONNX wants one.
func (p *program) graphName() string {
	if name := clean(p.target, p.name); name != "" {
		return name
	}
	return "garner"
}

// constants lists the constants that layers read and that are results, in the order of
// their first use.
func (p *program) constants(layers []*layer) []*value {
	var list []*value
	seen := make(map[*value]bool)
	add := func(v *value) {
		if v.held() && !seen[v] {
			seen[v] = true
			list = append(list, v)
		}
	}
	for _, l := range layers {
		for _, v := range l.in {
			add(v)
		}
	}
	for _, o := range p.outputs {
		add(o.value)
	}
	return list
}

// fallbacks lists the defaults of inputs, whose names they have.
func (p *program) fallbacks() (list []*value) {
	for _, v := range p.inputs {
		if v.fallback != nil {
			v.fallback.name = v.name
			list = append(list, v.fallback)
		}
	}
	return list
}

// uniqueNames are the names that are taken.
type uniqueNames struct {
	target *target
	taken  map[string]bool
	next   map[string]int
}

// of takes a name, without what the format does not hold; where that is taken, the name
// with a number behind it.
func (u *uniqueNames) of(wanted, otherwise string) string {
	base := clean(u.target, wanted)
	if base == "" {
		base = otherwise
	}
	name := base
	for u.taken[name] {
		u.next[base]++
		name = fmt.Sprintf("%s_%d", base, u.next[base])
	}
	u.taken[name] = true
	return name
}

// clean replaces what a format's names do not hold by _: bytes that are no UTF-8, in XML
// characters that it does not have, and the \ that OpenVINO has before a comma.
func clean(t *target, name string) string {
	return strings.Map(func(r rune) rune {
		switch {
		case r == utf8.RuneError:
			return '_'
		case t == irTarget && (r < ' ' || r == '\\' || r == 0xfffe || r == 0xffff):
			return '_'
		}
		return r
	}, strings.ToValidUTF8(name, "_"))
}
