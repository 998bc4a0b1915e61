package convert

// branch converts the sub-graph that a constant chooses, in the place of its node.
func (c *call) branch(from *origin) {
	g := c.branches.Of(c.node)
	switch {
	case g == nil && c.branches.Choosing(c.node):
		c.fail(ErrUnsupported, "the condition of %s is computed by the model, and a conversion needs a constant; make it one, or take the branch by hand", c.node.Op)
		return
	case g == nil:
		c.fail(ErrUnsupported, "%s has sub-graphs, which are not converted; a branch that a constant chooses is", c.node.Op)
		return
	}
	at := c.at
	for _, v := range g.Inputs {
		switch {
		case v.Constant != nil || v.From != nil:
		case len(v.Takes) != 1 || v.Takes[0] == nil:
			c.fail(ErrUnsupported, "the input %.200q of its branch is not one of its own", v.Name)
		case c.values[v.Takes[0]] != nil || v.Takes[0].Constant != nil: // others are not needed
			c.values[v] = c.value(v.Takes[0])
		}
	}
	c.graph(g, from)
	if c.err != nil {
		return // at the node inside
	}
	c.at = at
	for _, o := range g.Outputs {
		c.made = append(c.made, c.value(o.Value))
	}
	c.note("replaced", "a constant chooses its branch %.200q, which takes its place", g.Name)
}
