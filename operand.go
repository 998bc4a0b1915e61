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
	AnyTypes     OperandTypes = iota // any, but for what Lower refuses: Bags and StoredCodes know what theirs may be
	IntegerTypes                     // any integer type, packed ones too
	DataType                         // the dtype of data as the caller gives it: u8 of blocks, not f32
	ElementType                      // the dtype of data's elements, of stored data that of the decoded ones; Bags refuses weights of another
)

// noInteger is the error of an operand that must be of an integer type.
func noInteger(name string, given DType) error {
	return errorf(ErrDType, "%s is %s; it must be an integer type, such as i64", name, given)
}

// trimmed returns specs without those at the end that are not given.
func trimmed(further []Spec) []Spec {
	for len(further) > 0 && further[len(further)-1].DType == Invalid { // R.28
		further = further[:len(further)-1]
	}
	return further
}

// specs returns the specs of tensors; the zero Tensor has the zero Spec.
func specs(tensors []Tensor) []Spec {
	if len(tensors) == 0 {
		return nil
	}
	all := make([]Spec, len(tensors))
	for i, t := range tensors {
		all[i] = t.Spec()
	}
	return all
}

// operandAt returns a further operand; the zero Tensor for one that there is not.
func operandAt(further []Tensor, at Position) (t Tensor) {
	if at.Given && at.At < len(further) {
		t = further[at.At]
	}
	return t
}

// placed returns tensors without memory of known specs.
func placed(further []Spec) []Tensor {
	all := make([]Tensor, len(further))
	for i, s := range further {
		if s.DType.Valid() {
			shape, _ := s.Shape()
			all[i] = Tensor{dtype: s.DType, shape: shape, strides: s.strides()}
		}
	}
	return all
}
