package kernel

// A Span is a range of the bytes of an operand: From … To-1.
type Span struct{ From, To int64 }

// Len returns the number of bytes.
func (s Span) Len() int64 { return s.To - s.From }
