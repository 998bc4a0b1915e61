package convert

import (
	"github.com/garner-go/garner"
)

// irScatters is what OpenVINO's CPU plugin makes of the indices of a ScatterElementsUpdate: it
// refuses one behind the axis, and writes to other memory for one before it.
var irScatters = policy{fromEnd: true, outside: undefined}

// scatter makes a ScatterElements without a reduction, in which the last of several updates of
// an element stays: in both runtimes, with any number of threads.
func (p *program) scatter(data, indices, updates *value, axis int, from policy) *value {
	if data.spec.DType != updates.spec.DType {
		p.fail(garner.ErrDType, "its inputs are %s and %s, which differ in dtype", data.spec, updates.spec)
	}
	switch dtype := indices.spec.DType; dtype {
	case garner.I32, garner.I64:
	default:
		p.fail(garner.ErrDType, "its indices are %s; they must be i32 or i64", indices.spec)
	}
	if p.err == nil && from.outside == undefined {
		p.note("differs", "OpenVINO writes to other memory for an index before its axis; it is %s here", map[Outside]string{Keep: "refused", Clamp: "clamped", AsIs: "what the target makes of it"}[p.options.Outside])
	}
	var noted *lookup
	// As gathers have it, without the policy zeros.
	if p.err == nil {
		indices = p.folded(indices)
		noted = p.looksUp(opScatter, data, indices, axis, 0)
		g := &guard{program: p, op: opScatter, data: data, indices: indices, axis: axis, from: policy{fromEnd: true, outside: refused}}
		inside := g.inside(indices)
		if inside == nil && from.outside == refused && p.options.Outside == Keep {
			noted.guard = g
		}
		switch {
		case inside != nil:
			indices = inside
		case p.options.Outside == Clamp:
			p.note("guarded", "indices outside are clamped")
			indices = g.clamped()
		case p.target != irTarget:
		case p.options.Outside == AsIs:
			p.note("unguarded", "in the source, %s; OpenVINO writes to other memory for an index before the axis", onnxGather)
		default:
			p.note("guarded", "indices outside are refused, by a GatherElements of one element; with one thread OpenVINO reports that by start_async and wait alone")
			indices = g.certain(g.refuses())
		}
	}
	made := p.add(&node{op: opScatter, in: []*value{data, indices, updates}, axis: axis}, data.spec.DType)
	if noted != nil {
		noted.made = made
	}
	return made
}

// scatterOf converts one whose reduction is none.
func (c *call) scatterOf(axis int64, from policy) {
	if how, ok := c.node.Attributes["reduction"]; ok && how != "none" {
		c.fail(ErrUnsupported, "%s with reduction=%v is not converted; one without is", c.node.Op, how)
		return
	}
	data := c.in(0)
	c.set(c.scatter(data, c.in(1), c.in(2), c.axisOf(axis, c.needRank(data)), from))
}

func onnxScatter(c *call) { c.scatterOf(c.attribute("axis", 0), onnxGather) }

func irScatter(c *call) {
	axis := c.constantInteger(3)
	if c.err == nil {
		c.scatterOf(axis, irScatters)
	}
}
