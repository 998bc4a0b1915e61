package main

// A section is an operator with the examples of its specification.
type section struct {
	operator string
	about    string
	examples []example
}

// An example is a gather of a specification. The title is garner's, the values
// are the specification's.
type example struct {
	title         string
	data, indices string // literals in the syntax of the command
	numbers       []number
	operands      []operand
	zero          bool // an index outside gives zeros, contrary to the operator's definition
	fails         bool // an index is outside, which is an error
}

// An operand is one that the operator takes after the indices.
type operand struct{ name, text string }

type number struct {
	name  string
	value int64
}

func batchDims(n int64) []number { return []number{{"batch_dims", n}} }

const (
	square = "[[1,2],[3,4]]"
	sheets = "[[[1,2,3,4],[5,6,7,8],[9,10,11,12]],[[13,14,15,16],[17,18,19,20],[21,22,23,24]]]"
	letter = `[["a","b"],["c","d"]]`
	cube   = `[[["a0","b0"],["c0","d0"]],[["a1","b1"],["c1","d1"]]]`
	counts = "[[0,1],[2,3]]"
	cubes  = "[[[0,1],[2,3]],[[4,5],[6,7]]]"
)

// openvinoND has the examples that GatherND-5 and GatherND-8 share.
var openvinoND = []example{
	{title: "Example 1: elements", data: square, indices: "[[0,0],[1,0]]"},
	{title: "Example 2: rows", data: square, indices: "[[1],[0]]"},
	{title: "Example 3: rows, with one more dim of indices", data: square, indices: "[[[1]],[[0]]]"},
	{title: "Example 4: an element of each batch", data: square, indices: "[[1],[0]]", numbers: batchDims(1)},
	{title: "Example 5: a row of each batch", data: sheets, indices: "[[1],[0]]", numbers: batchDims(1)},
	{title: "Example 6: two batch dims", data: sheets, indices: "[[[[1]],[[0]],[[2]]],[[[0]],[[2]],[[2]]]]", numbers: batchDims(2)},
}

// embeddings is the table of the specifications of OpenVINO's bags.
const embeddings = "f32[[-0.2,-0.6],[-0.1,-0.4],[-1.9,-1.8],[-1.0,1.5],[0.8,-0.7]]"

var sections = []section{
	{
		operator: "openvino.EmbeddingBagOffsetsSum-3",
		about:    "The picture shows the terms, one for each index. Offsets cut them into bags, whose sums are the result.",
		examples: []example{
			{title: "Bags that offsets cut", data: embeddings, indices: "[0,2,3,4]", operands: []operand{{"offsets", "[0,2]"}}},
			{title: "Bags with weights, one of them empty", data: embeddings, indices: "[0,2,3,4]", operands: []operand{{"offsets", "[0,2,2]"}, {"per_sample_weights", "f32[0.5,0.5,0.5,0.5]"}}},
		},
	},
	{
		operator: "openvino.EmbeddingBagPackedSum-3",
		about:    "Each row of the indices is a bag. The picture shows the terms, whose sums by bag are the result.",
		examples: []example{
			{title: "A bag a row", data: embeddings, indices: "[[0,2],[1,2],[3,4]]", operands: []operand{{"per_sample_weights", "f32[[0.5,0.5],[0.5,0.5],[0.5,0.5]]"}}},
		},
	},
	{
		operator: "openvino.Gather-1",
		about:    "The page shows a layer of `[6,12,10,24]` and `[15,4,20,28]`; this is one of fewer elements.",
		examples: []example{
			{title: "A layer: slices along axis 1", data: "i32[[[0,1],[2,3],[4,5]],[[6,7],[8,9],[10,11]]]", indices: "[[2,0],[1,1]]", numbers: []number{{"axis", 1}}},
		},
	},
	{
		operator: "openvino.GatherND-8",
		examples: append(openvinoND[:len(openvinoND):len(openvinoND)], example{
			title: "Example 7: three batch dims", data: "[[[[1,2,3,4],[5,6,7,8]],[[9,10,11,12],[13,14,15,16]]]]", indices: "[[[[1],[0]],[[3],[2]]]]", numbers: batchDims(3),
		}),
	},
	{
		operator: "openvino.GatherND-5",
		about:    "Only the shape of the result differs from GatherND-8, and that only for more than one batch dim: see example 6.",
		examples: openvinoND,
	},
	{
		operator: "com.microsoft.GatherND-1",
		examples: []example{
			{title: "Example 1: elements", data: counts, indices: "[[0,0],[1,1]]"},
			{title: "Example 2: rows", data: counts, indices: "[[1],[0]]"},
			{title: "Example 3: rows of a cube", data: cubes, indices: "[[0,1],[1,0]]"},
			{title: "Example 4: rows of a cube, with one more dim of indices", data: cubes, indices: "[[[0,1]],[[1,0]]]"},
			{title: "Test int32", data: "i32" + counts, indices: "[[0,0],[1,1]]"},
			{title: "Test float32", data: "f32" + cubes, indices: "[[[0,1]],[[1,0]]]"},
			{title: "Test int32_batchdim_1", data: "i32" + cubes, indices: "[[1],[0]]", numbers: batchDims(1)},
		},
	},
	{
		operator: "tensorflow.GatherNd",
		examples: []example{
			{title: "Example 1: elements of a matrix", data: letter, indices: "[[0,0],[1,1]]"},
			{title: "Example 2: rows of a matrix", data: letter, indices: "[[1],[0]]"},
			{title: "Example 3: a sheet of a cube", data: cube, indices: "[[1]]"},
			{title: "Example 4: rows of a cube", data: cube, indices: "[[0,1],[1,0]]"},
			{title: "Example 5: elements of a cube", data: cube, indices: "[[0,0,1],[1,0,1]]"},
			{title: "Example 6: elements of a matrix, a matrix of tuples", data: letter, indices: "[[[0,0]],[[0,1]]]"},
			{title: "Example 7: rows of a matrix, a matrix of tuples", data: letter, indices: "[[[1]],[[0]]]"},
			{title: "Example 8: sheets of a cube, a matrix of tuples", data: cube, indices: "[[[1]],[[0]]]"},
			{title: "Example 9: rows of a cube, a matrix of tuples", data: cube, indices: "[[[0,1],[1,0]],[[0,0],[1,1]]]"},
			{title: "Example 10: elements of a cube, a matrix of tuples", data: cube, indices: "[[[0,0,1],[1,0,1]],[[0,1,1],[1,1,0]]]"},
			{title: "An index outside, as on a CPU", data: "f32" + square, indices: "i32[[1],[2],[0]]", fails: true},
			{title: "An index outside, as on a GPU", data: "f32" + square, indices: "i32[[1],[2],[0]]", zero: true},
		},
	},
}
