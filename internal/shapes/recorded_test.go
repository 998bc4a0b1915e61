package shapes_test

import (
	"bufio"
	"compress/gzip"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"math"
	"os"
	"slices"
	"testing"

	"github.com/garner-go/garner"
	"github.com/garner-go/garner/internal/shapes"
	"github.com/garner-go/garner/model"
	"github.com/garner-go/garner/onnx/modelproto"
)

// A recording is a line of testdata/graphs.jsonl.gz, which testdata/record.py writes.
type recording struct {
	Model string           // its bytes in hex
	Runs  []map[string]run // what each value of the main graph was, by its name
	Known knowledge        // what was inferred when it was recorded
}

// A run is the dtype and the dims of a tensor.
type run struct {
	dtype string
	dims  []int
}

func (r *run) UnmarshalJSON(b []byte) error {
	var list []json.RawMessage
	err := json.Unmarshal(b, &list)
	if err != nil || len(list) == 0 {
		return fmt.Errorf("%s is no dtype with dims: %w", b, err)
	}
	r.dims = make([]int, len(list)-1)
	for i := range r.dims {
		if err := json.Unmarshal(list[1+i], &r.dims[i]); err != nil {
			return err
		}
	}
	return json.Unmarshal(list[0], &r.dtype)
}

// knowledge counts, over the results of the nodes of a main graph: known dtypes, known ranks,
// known dims, dims with a bound below 2³¹-1, the sum of the least extents, and dims with names.
type knowledge [6]int

func (k *knowledge) add(v *model.Value) {
	if v.Spec.DType != garner.Invalid {
		k[0]++
	}
	if v.Spec.Rank.Known() {
		k[1]++
	}
	for _, d := range v.Spec.Dims {
		if d.Known() {
			k[2]++
		}
		if d.Max < math.MaxInt32 { // a larger bound is none on a 32-bit machine
			k[3]++
		}
		k[4] += d.Min
	}
	for _, name := range v.DimNames {
		if name != "" {
			k[5]++
		}
	}
}

// notRecorded are operators with a rule that ONNX Runtime has no kernel of for CPUs.
var notRecorded = []string{"com.microsoft.BiasDropout", "com.microsoft.BiasSoftmax"}

// TestRecorded holds what is inferred against what ONNX Runtime has made of small graphs: each
// value of each run is one that its Spec allows, dims of one name are equal in a run, and as
// much is known as when the graphs were recorded.
func TestRecorded(t *testing.T) {
	f, err := os.Open("testdata/graphs.jsonl.gz")
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	z, err := gzip.NewReader(f)
	if err != nil {
		t.Fatal(err)
	}
	ops := map[string]int{}
	graphs, values, named := 0, 0, 0
	lines := bufio.NewScanner(z)
	lines.Buffer(nil, 1<<20)
	for ; lines.Scan(); graphs++ {
		var r recording
		if err := json.Unmarshal(lines.Bytes(), &r); err != nil {
			t.Fatalf("graph %d: %v", graphs, err)
		}
		b, err := hex.DecodeString(r.Model)
		if err != nil {
			t.Fatalf("graph %d: %v", graphs, err)
		}
		m, err := modelproto.FromBytes(b)
		if err != nil {
			t.Errorf("graph %d: %v", graphs, err)
			continue
		}
		countOps(m.Graph, ops)
		var known knowledge
		made := valuesOf(m.Graph)
		for _, v := range made {
			if v.From != nil {
				known.add(v)
			}
		}
		for i, k := range known {
			if k < r.Known[i] {
				t.Errorf("graph %d, %s: less is inferred than was recorded: %v, %v", graphs, opsOf(m.Graph), known, r.Known)
				break
			}
		}
		for _, run := range r.Runs {
			values += heldIn(t, graphs, made, run)
			named += namedIn(t, graphs, m.Graph, made, run)
		}
	}
	if err := lines.Err(); err != nil {
		t.Fatal(err)
	}
	if graphs < 900 || values < 50000 || named < 15000 {
		t.Errorf("%d graphs with %d values and %d names in runs: the recording has more", graphs, values, named)
	}
	for _, op := range shapes.RuledOps() {
		if (ops[op] == 0) != slices.Contains(notRecorded, op) {
			t.Errorf("%s: %d recorded nodes; notRecorded has those that are none", op, ops[op])
		}
	}
	t.Logf("%d graphs, %d values, %d names", graphs, values, named)
}

// heldIn holds that each value of a run is one that its Spec allows, and counts them.
func heldIn(t *testing.T, graph int, made []*model.Value, all map[string]run) (count int) {
	for _, v := range made {
		r, ok := all[v.Name]
		if !ok {
			continue
		}
		count++
		ok = (v.Spec.DType == garner.Invalid || v.Spec.DType.String() == r.dtype) && v.Spec.Rank.Min <= len(r.dims) && len(r.dims) <= v.Spec.Rank.Max
		for i, d := range v.Spec.Dims {
			ok = ok && d.Min <= r.dims[i] && r.dims[i] <= d.Max
		}
		if !ok {
			t.Errorf("graph %d: %s of %s is inferred as %s, and was %s%v in a run", graph, v.Name, opOf(v), v.Type(), r.dtype, r.dims)
		}
	}
	return count
}

// namedIn holds that the dims of one name are equal in a run, and counts them. A dim of an input
// that is 0 in the run is left out: see symbol.
func namedIn(t *testing.T, graph int, g *model.Graph, made []*model.Value, all map[string]run) (count int) {
	sizes := map[string]int{}
	for _, v := range g.Inputs {
		for i, name := range v.DimNames {
			if name != "" {
				sizes[name] = all[v.Name].dims[i]
			}
		}
	}
	for _, v := range made {
		r, ok := all[v.Name]
		if !ok || len(r.dims) != len(v.DimNames) {
			continue // a false rank is told by heldIn
		}
		for i, name := range v.DimNames {
			size, ok := sizes[name]
			switch {
			case name == "" || size == 0 && ok:
				continue
			case !ok:
				t.Errorf("graph %d: %s of %s has a dim %q, which no input has", graph, v.Name, opOf(v), name)
			case size != r.dims[i]:
				t.Errorf("graph %d: %s of %s is inferred as %s, and was %v in a run with %s = %d", graph, v.Name, opOf(v), v.Type(), r.dims, name, size)
			}
			count++
		}
	}
	return count
}

// valuesOf are the inputs and the results of the nodes of a graph.
func valuesOf(g *model.Graph) []*model.Value {
	list := slices.Clone(g.Inputs)
	for _, n := range g.Nodes {
		for _, v := range n.Outputs {
			if v != nil {
				list = append(list, v)
			}
		}
	}
	return list
}

func opOf(v *model.Value) string {
	if v.From == nil {
		return "no node"
	}
	return v.From.Op
}

func opsOf(g *model.Graph) (list []string) {
	for _, n := range g.Nodes {
		list = append(list, n.Op)
	}
	return list
}

// countOps counts the nodes of a graph and its sub-graphs by their operators.
func countOps(g *model.Graph, ops map[string]int) {
	for _, n := range g.Nodes {
		op := n.Op
		if n.Domain != "" {
			op = n.Domain + "." + op
		}
		ops[op]++
		for _, s := range n.Graphs {
			countOps(s.Graph, ops)
		}
	}
}
