package tflite

import "github.com/garner-go/garner"

// EmbeddingLookup is the operator EMBEDDING_LOOKUP: slices of a table along its first
// axis. The operator's first input is indices, its second data.
//
//	output[i, :] = data[indices[i], :]
//
// Spec: https://ai.google.dev/edge/litert/conversion/tensorflow/op_compatibility#tfl.embedding_lookup
type EmbeddingLookup struct{}

// Lower spends the operands' axes; see garner.Op.
func (EmbeddingLookup) Lower(l *garner.Lowering) { lookUp(l) }

// lookUp spends the axes of a table and of ids.
func lookUp(l *garner.Lowering) {
	l.NeedRanks(2, 1)               // LE.1
	l.LimitRanks(garner.MaxRank, 1) // LE.1
	l.Gather()                      // the rows
	l.Tuples()                      // LE.1: i
	l.Copy()                        // the slice
	l.Negative(garner.Reject)       // LE.2
	l.Outside(garner.Error)         // LE.2
}
