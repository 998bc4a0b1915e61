package gguf

import "github.com/garner-go/garner"

// GetRows is ggml_get_rows: rows of a quantised table, decoded.
//
//	out[i…j, :] = dequantize(data[indices[i…j], :])
//
// A negative index is an error.
//
// Spec: https://github.com/ggml-org/ggml/blob/master/include/ggml.h
type GetRows struct {
	Type string `attr:"type"` // the kind of the blocks, such as Q4_K
}

// Lower spends the operands' axes; see garner.Op.
func (g GetRows) Lower(l *garner.Lowering) {
	l.StoredBlocks(g.Type)    // GR.1, GR.2
	l.NeedRanks(2, 0)         // GR.3
	l.Gather()                // the rows
	l.Tuples()                // i … j
	l.Copy()                  // the elements of a row
	l.Negative(garner.Reject) // GR.4
	l.Outside(garner.Error)   // GR.4
}
