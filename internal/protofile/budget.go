package protofile

import "fmt"

// A Budget bounds the memory that a model takes, in proportion to its file:
// nested calls of functions make a small file a large model, and parts of two bytes
// take some hundred each.
type Budget struct {
	Spent     int64 // bytes
	Structure int64 // bytes of the file so far, without the elements of tensors and what is dropped
}

// A model may take freeBytes and perByte for each byte of structure. The models of
// ONNX's backend tests take 26 to 32 a byte, and a megabyte of the smallest nodes
// that are still read takes less than 100 MB in all (2 cores, Go 1.26).
const (
	freeBytes = 12 << 20
	perByte   = 60
)

// Spend counts bytes of memory, about as many as the reader allocates.
func (b *Budget) Spend(bytes int) error {
	if b.Spent += int64(bytes); b.Spent > freeBytes+perByte*b.Structure {
		return fmt.Errorf("with its functions in the place of their calls the model has more than %d MiB of nodes, inputs, outputs, attributes and names, in a file of %d bytes beside its tensors' elements; no real model has: split it",
			(freeBytes+perByte*b.Structure)>>20, b.Structure)
	}
	return nil
}

// What the parts of a model take, in bytes: the message, the part itself, and its
// place in lists and maps.
const (
	NodeBytes      = 500
	GatherBytes    = 1200 // a gather takes them beside: its inference, its line in a list, its findings
	InputBytes     = 50   // an input or an output of a node, without its name
	AttributeBytes = 150
	ValueBytes     = 250 // an output of a node, an input of a graph
	DimBytes       = 40
	ConstantBytes  = 700
	ScopeBytes     = 1000 // a sub-graph, a call
)
