package corpus

import (
	"errors"
	"fmt"
	"io"
	"iter"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"github.com/garner-go/garner"
	"github.com/garner-go/garner/internal/mapped"
	"github.com/garner-go/garner/model"
	"github.com/garner-go/garner/onnx/modelproto"
)

// modelFile marks a directory as an ONNX test.
const modelFile = "model.onnx"

// testDir returns the cases of one ONNX test: a model of one gather, and data
// sets of input_N.pb and output_0.pb. Their names are their paths below root.
func testDir(root, dir string) iter.Seq[Case] {
	return func(yield func(Case) bool) {
		name, err := filepath.Rel(root, dir)
		if err != nil || name == "." {
			name = filepath.Base(dir)
		}
		base := Case{Name: filepath.ToSlash(name), Source: dir}
		fail := func(err error) {
			base.err = err
			yield(base)
		}
		m, err := modelproto.Open(filepath.Join(dir, modelFile))
		if err != nil {
			fail(err)
			return
		}
		defer m.Close()
		if n := len(m.Graph.Nodes); n != 1 {
			fail(fmt.Errorf("%s: the model has %d nodes; a test of a gather has one", modelFile, n))
			return
		}
		node := m.Graph.Nodes[0]
		base.Op, base.attributes = operatorName(node), node.Attributes
		sets, err := dataSets(dir)
		if err != nil {
			fail(err)
			return
		}
		for _, set := range sets {
			c := base
			c.Name += "/" + set
			c.err = c.readSet(m.Graph, filepath.Join(dir, set))
			if !yield(c) {
				return
			}
		}
	}
}

// operatorName returns the name of a node's operator, which package operators
// may not have.
func operatorName(n *model.Node) string {
	switch {
	case n.IsGather():
		return n.Operator
	case n.Domain == "":
		return "onnx." + n.Op
	}
	return n.Domain + "." + n.Op
}

// feed returns the tensors of the node's inputs: from the data set, in the
// order of the graph's inputs, or copied from the model.
func feed(g *model.Graph, set []garner.Tensor) ([]garner.Tensor, error) {
	var free []*model.Value
	for _, v := range g.Inputs {
		if v.Constant == nil {
			free = append(free, v)
		}
	}
	if len(set) == len(g.Inputs) {
		free = g.Inputs // old models list initializers among the inputs
	}
	if len(set) != len(free) {
		return nil, fmt.Errorf("the data set has %d inputs and the model %d", len(set), len(free))
	}
	node := g.Nodes[0]
	tensors := make([]garner.Tensor, len(node.Inputs))
	for i, v := range node.Inputs {
		if v == nil {
			continue // an input that the node leaves out
		}
		if at := slices.Index(free, v); at >= 0 {
			tensors[i] = set[at]
			continue
		}
		if size, ok := v.Constant.Bytes(); !ok || size > maxBytes {
			return nil, fmt.Errorf("the node's input %q is larger than %d MiB", v.Name, maxBytes>>20)
		}
		// The model is closed before the case runs.
		err := mapped.Guard(func() error {
			t, err := v.Constant.Tensor()
			if err == nil {
				tensors[i], err = t.Clone()
			}
			return err
		})
		if err != nil {
			return nil, err
		}
	}
	if len(g.Outputs) != 1 || g.Outputs[0].Value != node.Outputs[0] {
		return nil, fmt.Errorf("the graph has %d outputs; a gather has one, and it is the graph's", len(g.Outputs))
	}
	return tensors, nil
}

// readFile reads a file of at most maxBytes.
func readFile(path string) ([]byte, error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	b, err := io.ReadAll(io.LimitReader(f, maxBytes+1))
	if err == nil && len(b) > maxBytes {
		err = fmt.Errorf("%s is larger than %d MiB", path, maxBytes>>20)
	}
	return b, err
}

// numberedNames returns the names in dir of the form prefix N suffix in numeric
// order. The numbers begin at 0 and have no gap.
func numberedNames(dir, prefix, suffix string) ([]string, error) {
	entries, err := os.ReadDir(dir)
	if err != nil {
		return nil, err
	}
	found := make(map[int]string)
	for _, e := range entries {
		middle, ok := strings.CutPrefix(e.Name(), prefix)
		if !ok {
			continue
		}
		if middle, ok = strings.CutSuffix(middle, suffix); !ok {
			continue
		}
		n, err := strconv.Atoi(middle)
		if err != nil || n < 0 || strconv.Itoa(n) != middle {
			return nil, fmt.Errorf("%s is not numbered", filepath.Join(dir, e.Name()))
		}
		found[n] = e.Name()
	}
	names := make([]string, 0, len(found))
	for i := range len(found) {
		name, ok := found[i]
		if !ok {
			return nil, fmt.Errorf("%s lacks %s%d%s", dir, prefix, i, suffix)
		}
		names = append(names, name)
	}
	return names, nil
}

func dataSets(dir string) ([]string, error) {
	sets, err := numberedNames(dir, "test_data_set_", "")
	if err == nil && len(sets) == 0 {
		err = errors.New("there is no test_data_set_0 beside the model")
	}
	return sets, err
}

func (c *Case) readSet(g *model.Graph, dir string) error {
	read := func(names []string) (list []garner.Tensor, err error) {
		for _, name := range names {
			b, err := readFile(filepath.Join(dir, name))
			if err != nil {
				return nil, err
			}
			_, t, err := modelproto.Tensor(b)
			if err != nil {
				return nil, fmt.Errorf("%s: %w", name, err)
			}
			list = append(list, t)
		}
		return list, nil
	}
	names, err := numberedNames(dir, "input_", ".pb")
	if err != nil {
		return err
	}
	set, err := read(names)
	if err != nil {
		return err
	}
	if names, err = numberedNames(dir, "output_", ".pb"); err != nil {
		return err
	}
	outputs, err := read(names)
	if err != nil {
		return err
	}
	if len(outputs) != 1 {
		return fmt.Errorf("the data set has %d outputs; a gather has one", len(outputs))
	}
	if !g.Nodes[0].IsGather() {
		return nil // Run reports it
	}
	tensors, err := feed(g, set)
	if err != nil {
		return err
	}
	for _, t := range tensors {
		c.inputs = append(slices.Clip(c.inputs), operand{spec: t.Spec(), value: func() (garner.Tensor, error) { return t, nil }})
	}
	c.want = wantTensor(outputs[0])
	return nil
}

// wantTensor expects a result bit for bit.
func wantTensor(t garner.Tensor) want {
	return want{spec: garner.SpecOf(t.DType(), t.Shape()...), ran: true, exact: true, value: func() (garner.Tensor, error) { return t, nil }}
}
