package gguf

import "github.com/garner-go/garner"

// Dequantize is gguf.quants.dequantize: a quantised table, decoded whole. It takes
// no indices.
//
// Spec: https://github.com/ggml-org/llama.cpp/blob/master/gguf-py/gguf/quants.py
type Dequantize struct {
	Type string `attr:"type"` // the kind of the blocks, such as Q4_K
}

// Lower spends the operands' axes; see garner.Op.
func (d Dequantize) Lower(l *garner.Lowering) {
	l.StoredBlocks(d.Type) // GD.1, GD.2
	l.Copy()
}

// Unindexed says that there are no indices; see garner.Unindexed.
func (Dequantize) Unindexed() {} // GD.3
