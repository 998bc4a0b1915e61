package garner

// An Operand describes a further operand of an operator: one that a call takes
// after data and indices, by its position.
type Operand struct {
	Name     string // the framework's name, such as "offsets"
	Types    OperandTypes
	Optional bool // the zero Tensor or Spec, or none at the end, leaves it out
}

// OperandTypes says which dtypes a further operand may have.
type OperandTypes uint8

const (
	AnyTypes     OperandTypes = iota // any; Lower may refuse some
	IntegerTypes                     // any integer type, packed ones too
	DataType                         // the dtype of data as the caller gives it: u8 of blocks, not f32
)

// trimmed returns specs without those at the end that are not given.
func trimmed(more []Spec) []Spec {
	for len(more) > 0 && more[len(more)-1].DType == Invalid { // R.28
		more = more[:len(more)-1]
	}
	return more
}

// specs returns the specs of tensors; the zero Tensor has the zero Spec.
func specs(tensors []Tensor) []Spec {
	if len(tensors) == 0 {
		return nil
	}
	all := make([]Spec, len(tensors))
	for i, t := range tensors {
		if t.dtype.Valid() {
			all[i] = t.Spec()
		}
	}
	return all
}

// operandAt returns a further operand; the zero Tensor for -1.
func operandAt(more []Tensor, at int) (t Tensor) {
	if at >= 0 && at < len(more) {
		t = more[at]
	}
	return t
}

// placed returns tensors without memory of known specs.
func placed(more []Spec) []Tensor {
	all := make([]Tensor, len(more))
	for i, s := range more {
		if s.DType.Valid() {
			shape, _ := s.Shape()
			all[i] = Tensor{dtype: s.DType, shape: shape, strides: s.strides()}
		}
	}
	return all
}
