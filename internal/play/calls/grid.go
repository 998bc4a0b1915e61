package calls

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/garner-go/garner"
	"github.com/garner-go/garner/internal/literal"
	"github.com/garner-go/garner/operators"
)

// A shape is operands of one kind of operators: a literal of data without its type, which
// has three or two positions on the gathered axis, and a form of the indices.
type shape struct {
	name          string
	kind          operators.Kind
	data, indices string // %d in indices is the index that is asked about
	values        map[string]any
	all           bool // with every type of gridTypes; else with f32 and i64 alone
}

var shapes = []shape{
	{"vector", operators.Gather, "[1,2,3]", "[0,%d]", nil, true},
	{"scalar", operators.Gather, "[1,2,3]", "(%d)", nil, false},
	{"matrix of indices", operators.Gather, "[1,2,3]", "[[0,%d],[1,1]]", nil, false},
	{"rows", operators.Gather, "[[1,2],[3,4],[5,6]]", "[0,%d]", values{"axis": 0}, true},
	{"columns", operators.Gather, "[[1,2,3],[4,5,6]]", "[0,%d]", values{"axis": 1}, false},
	{"rows by a scalar", operators.Gather, "[[1,2],[3,4],[5,6]]", "(%d)", values{"axis": 0}, false},
	{"rows by a matrix", operators.Gather, "[[1,2],[3,4],[5,6]]", "[[0,%d],[1,1]]", values{"axis": 0}, false},
	{"planes", operators.Gather, "[[[1,2]],[[3,4]],[[5,6]]]", "[0,%d]", values{"axis": 0}, false},
	{"data taken flat", operators.Gather, "[[1,2,3]]", "[0,%d]", nil, false},
	{"batches", operators.Gather, "[[1,2,3],[4,5,6]]", "[[0,%d],[1,1]]", values{"axis": 1, "batch_dims": 1}, false},
	{"a batch of one", operators.Gather, "[[1,2,3]]", "[[0,%d]]", values{"axis": 1, "batch_dims": 1}, false},
	{"batches of rows", operators.Gather, "[[[1,2],[3,4],[5,6]],[[1,2],[3,4],[5,6]]]", "[[0,%d],[1,1]]", values{"axis": 1, "batch_dims": 1}, false},
	{"a batch of one of rows", operators.Gather, "[[[1,2],[3,4],[5,6]]]", "[[0,%d]]", values{"axis": 1, "batch_dims": 1}, false},

	{"tuples of one", operators.GatherND, "[1,2,3]", "[[0],[%d]]", nil, true},
	{"tuples of two", operators.GatherND, "[[1,2,3],[4,5,6]]", "[[0,1],[1,%d]]", nil, true},
	{"rows at tuples", operators.GatherND, "[[1,2],[3,4],[5,6]]", "[[0],[%d]]", nil, false},
	{"one tuple", operators.GatherND, "[[1,2,3],[4,5,6]]", "[1,%d]", nil, false},
	{"elements of planes", operators.GatherND, "[[[1,2,3]],[[4,5,6]]]", "[[0,0,1],[1,0,%d]]", nil, false},
	{"rows of planes", operators.GatherND, "[[[1,2],[3,4],[5,6]]]", "[[0,0],[0,%d]]", nil, false},
	{"batches of tuples", operators.GatherND, "[[1,2,3],[4,5,6]]", "[[0],[%d]]", values{"batch_dims": 1}, false},
	{"batches of rows at tuples", operators.GatherND, "[[[1,2],[3,4],[5,6]],[[1,2],[3,4],[5,6]]]", "[[0],[%d]]", values{"batch_dims": 1}, false},

	{"elements of a vector", operators.Elements, "[1,2,3]", "[0,%d]", values{"axis": 0}, true},
	{"elements of columns", operators.Elements, "[[1,2,3],[4,5,6]]", "[[0,%d],[1,1]]", values{"axis": 1}, true},
	{"elements of rows", operators.Elements, "[[1,2],[3,4],[5,6]]", "[[0,%d],[1,1]]", values{"axis": 0}, false},
	{"elements of planes", operators.Elements, "[[[1,2,3]],[[4,5,6]]]", "[[[0,%d]],[[1,1]]]", values{"axis": 2}, false},

	{"no index", operators.Gather, "[1,2,3]", "[]", nil, false},
	{"no index of rows", operators.Gather, "[[1,2],[3,4],[5,6]]", "[]", values{"axis": 0}, false},
	{"no data", operators.Gather, "[]", "[]", nil, false},
	{"an index of no data", operators.Gather, "[]", "[0]", nil, false},
	{"rows without elements", operators.Gather, "[[],[],[]]", "[0,%d]", values{"axis": 0}, false},
}

// bags are gathers into two bags.
var bags = func() []form {
	const data, indices = "f32[[1,2],[3,4],[5,6]]", "[2,0,%d]"
	list := []form{
		{only: "openvino.EmbeddingBagOffsetsSum-3 openvino.EmbeddingBagOffsets-15", data: data, indices: indices},
		{only: "openvino.EmbeddingSegmentsSum-3", data: data, indices: indices, values: values{"num_segments": 2}},
		{only: "openvino.EmbeddingBagPackedSum-3 openvino.EmbeddingBagPacked-15", data: data, indices: "[[2,0],[1,%d]]"},
		{only: "tensorflow.sparse_segment_sum tensorflow.sparse_segment_mean tensorflow.sparse_segment_sqrtn", data: data, indices: indices},
		{only: "tensorflow.sparse_segment_sum tensorflow.sparse_segment_mean tensorflow.sparse_segment_sqrtn", data: data, indices: indices, values: values{"num_segments": 2}},
	}
	for _, v := range []string{"sum", "mean", "sqrtn"} {
		list = append(list, form{only: "tensorflow.embedding_lookup_sparse tensorflow.safe_embedding_lookup_sparse", data: data, indices: indices, values: values{"combiner": v, "dense_shape": []int{2, 2}}})
	}
	for _, v := range []string{"sum", "mean", "max"} {
		list = append(list, form{only: "torch.embedding_bag", data: data, indices: indices, values: values{"mode": v}})
	}
	for _, v := range []string{"sum", "mean"} {
		list = append(list, form{only: "openvino.EmbeddingBagOffsets-15", data: data, indices: indices, values: values{"reduction": v}})
		list = append(list, form{only: "openvino.EmbeddingBagPacked-15", data: data, indices: "[[2,0],[1,%d]]", values: values{"reduction": v}})
	}
	return list
}()

// bagOperands are the literals of what says where bags end, without their types.
var bagOperands = map[string]string{"offsets": "[0,2]", "segment_ids": "[0,0,1]", "ids_indices": "[[0,0],[0,1],[1,0]]"}

// gridTypes are the dtypes of data.
var gridTypes = []string{"f32", "i64", "f64", "i32", "f16", "u8", "bool", "string"}

// asked are the indices that are asked about, for each axis of three positions; those of
// OpenVINO are more, because what it reads there is not the same each time.
var asked = []struct {
	name    string
	indices []int64
}{{"inside", []int64{2}}, {"negative", []int64{-1}}, {"below", []int64{-4}}, {"past the end", []int64{7}}}

var askedOpenVINO = [][]int64{{2}, {-1, -3}, {-4, -30, -1000}, {7, 50, 1000000}}

// askedWide are those whose low 32 bits are an index inside, by reach: what a runtime that
// computes with 32 bits takes them for. They are asked of f32 alone.
var askedWide = [][]int64{nil, nil, {-1<<32 + 1}, {1<<32 + 1}}

// askedShort are those of OpenVINO's gathers of a few integers, which it computes with its
// shapes: what memory it reads there is luck.
var askedShort = [][]int64{{2}, {-1, -2, -3}, {-4, -5, -9, -20, -30, -1000}, {7, 3, 9, 20, 50, 1000, 20000, 1000000}}

// Grid lists the calls that testdata/conformance/record_calls.py asks the runtimes: every
// operator without further operands, with data of each type and operands of each rank, by
// an index inside, negative, below and past the end. The title of a call is unique among
// those of its operator.
func Grid() ([]Call, error) {
	var all []Call
	for _, s := range shapes {
		types := gridTypes[:2]
		if s.all {
			types = gridTypes
		}
		for _, o := range operators.All() {
			f := form{kind: s.kind, values: s.values}
			if !f.fits(o) || strings.HasPrefix(o.Name, "garner.") || strings.HasPrefix(o.Name, "webnn.") {
				continue
			}
			for _, dtype := range types {
				for reach, of := range asked {
					list := of.indices
					if strings.HasPrefix(o.Name, "openvino.") {
						list = askedOpenVINO[reach]
						if s.name == "vector" && strings.Contains("i64 i32 u8", dtype) {
							list = askedShort[reach]
						}
					}
					if dtype == "f32" {
						list = slices.Concat(list, askedWide[reach])
					}
					for _, n := range list {
						indices := s.indices
						if strings.Contains(indices, "%d") {
							indices = fmt.Sprintf(indices, n)
						} else if reach > 0 || n != list[0] {
							continue
						}
						types := []string{"i64"}
						wide := slices.Contains(askedWide[reach], n)
						if !wide && (dtype == "f32" || strings.HasPrefix(o.Name, "tensorflow.") && dtype == "i64") {
							types = append(types, "i32")
						}
						if s.all && dtype == "f32" && reach == 0 {
							types = append(types, "u8", "i8", "u32")
						}
						for _, index := range types {
							modes := modesOf(o, dtype, index, reach)
							if wide {
								modes = modes[:1]
							}
							for _, attributes := range modes {
								c, err := s.call(o, dtype, index+indices, attributes)
								if err != nil {
									return nil, fmt.Errorf("%s, %s: %w", o.Name, s.name, err)
								}
								c.Title = fmt.Sprintf("%s of %s by %s: %s", s.name, dtype, index, indices)
								for name, v := range attributes {
									c.Title += fmt.Sprintf(" %s=%v", name, v)
								}
								if c.Err == nil || errors.Is(c.Err, garner.ErrIndex) {
									all = append(all, c)
								}
							}
						}
					}
				}
			}
		}
	}
	for _, b := range bags {
		for _, index := range []string{"i64", "i32"} {
			for reach, of := range asked {
				list := of.indices
				if strings.HasPrefix(b.only, "openvino.") {
					list = askedOpenVINO[reach]
				}
				if index == "i64" {
					list = slices.Concat(list, askedWide[reach])
				}
				for _, n := range list {
					b := b
					b.indices = index + fmt.Sprintf(b.indices, n)
					b.operands = map[string]string{}
					for name, text := range bagOperands {
						b.operands[name] = index + text
					}
					for _, o := range operators.All() {
						if !slices.Contains(strings.Fields(b.only), o.Name) {
							continue
						}
						c, err := b.call(o)
						if err != nil {
							return nil, fmt.Errorf("%s: %w", o.Name, err)
						}
						c.Title = fmt.Sprintf("bags by %s", b.indices)
						for _, name := range []string{"mode", "combiner", "reduction", "num_segments"} {
							if v := b.values[name]; v != nil {
								c.Title += fmt.Sprintf(" %s=%v", name, v)
							}
						}
						if c.Err == nil || errors.Is(c.Err, garner.ErrIndex) {
							all = append(all, c)
						}
					}
				}
			}
		}
	}
	return all, nil
}

// modesOf gives the sets of attributes that an operator is asked with.
func modesOf(o operators.Operator, dtype, index string, reach int) []values {
	list := []values{nil}
	if dtype != "f32" && (reach == 0 || dtype != "i64") || reach == 0 && index != "i64" {
		return list
	}
	for _, name := range []string{"mode", "bad_indices_policy"} {
		for _, v := range o.Values(name) {
			list = append(list, values{name: v})
		}
	}
	return list
}

func (s shape) call(o operators.Operator, dtype, indices string, attributes values) (Call, error) {
	f := form{data: dtype + s.data, indices: indices, values: values{}}
	switch dtype {
	case "string":
		f.data = quoted(s.data)
	case "bool":
		f.data = "bool" + strings.NewReplacer("1", "true", "2", "false", "3", "true", "4", "false", "5", "true", "6", "true").Replace(s.data)
	}
	for name, v := range s.values {
		f.values[name] = v
	}
	for name, v := range attributes {
		f.values[name] = v
	}
	if _, err := literal.Parse(f.data, garner.Invalid); err != nil {
		return Call{}, err
	}
	return f.call(o)
}

// quoted makes texts of the numbers of a literal.
func quoted(text string) string {
	var b strings.Builder
	for _, r := range text {
		if r >= '0' && r <= '9' {
			fmt.Fprintf(&b, "%q", "s"+string(r))
		} else {
			b.WriteRune(r)
		}
	}
	return b.String()
}
