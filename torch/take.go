package torch

import "github.com/garner-go/garner"

// Take is torch.take: elements of flattened data.
//
//	out[i…j] = input.flatten()[index[i…j]]
//
// Negative indices count from the end.
//
// Spec: https://docs.pytorch.org/docs/stable/generated/torch.take.html
type Take struct{}

// Lower spends the operands' axes; see garner.Op.
func (Take) Lower(l *garner.Lowering) {
	l.FlattenData()            // RT.1
	l.Gather()                 // the elements
	l.Tuples()                 // RT.2: i … j
	l.Negative(garner.FromEnd) // RT.3
	l.Outside(garner.Error)    // RT.3
}
