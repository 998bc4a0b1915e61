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
)

// modelFile is what makes a directory an ONNX test.
const modelFile = "model.onnx"

// testDir is the cases of one ONNX test: a model of one gather, and data sets of
// input_N.pb and output_0.pb. They are named by where they stand below root.
func testDir(root, dir string) iter.Seq[Case] {
	return func(yield func(Case) bool) {
		name, err := filepath.Rel(root, dir)
		if err != nil || name == "." {
			name = filepath.Base(dir)
		}
		base := Case{Name: filepath.ToSlash(name), Source: dir}
		m, err := readModel(dir)
		if err == nil {
			base.attributes = m.node.attributes
			base.Op, base.opset, err = m.operator()
		}
		var sets []string
		if err == nil {
			sets, err = dataSets(dir)
		}
		if err != nil {
			base.err = err
			yield(base)
			return
		}
		for _, set := range sets {
			c := base
			c.Name += "/" + set
			c.err = c.readSet(m, filepath.Join(dir, set))
			if !yield(c) {
				return
			}
		}
	}
}

func readModel(dir string) (*model, error) {
	b, err := readFile(filepath.Join(dir, modelFile))
	if err != nil {
		return nil, err
	}
	m, err := parseModel(b)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", modelFile, err)
	}
	return m, nil
}

// readFile reads a file that is not larger than a case may be.
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

// numberedNames are the names in dir of the form prefix N suffix, in the order of
// their numbers, which begin at 0 and leave none out.
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

func (c *Case) readSet(m *model, dir string) error {
	read := func(names []string) (list []garner.Tensor, err error) {
		for _, name := range names {
			b, err := readFile(filepath.Join(dir, name))
			if err != nil {
				return nil, err
			}
			_, t, err := parseTensorProto(b)
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
	tensors, err := m.feed(set)
	if err != nil {
		return err
	}
	for _, t := range tensors {
		c.inputs = append(slices.Clip(c.inputs), operand{spec: t.Spec(), value: func() (garner.Tensor, error) { return t, nil }})
	}
	c.want = wantTensor(outputs[0])
	return nil
}

// wantTensor wants a result bit for bit.
func wantTensor(t garner.Tensor) want {
	return want{spec: garner.SpecOf(t.DType(), t.Shape()...), ran: true, exact: true, value: func() (garner.Tensor, error) { return t, nil }}
}
