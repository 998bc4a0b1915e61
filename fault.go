package garner

import "github.com/garner-go/garner/internal/exec"

// guard runs a look at the memory of t. A fault in volatile memory becomes an
// ErrFault; other memory does not fault.
func (t *Tensor) guard(look func()) error {
	if !t.mem.Volatile {
		look()
		return nil
	}
	if exec.Guard(look) {
		return errorf(ErrFault, "the memory of the element is not there, or only to be read: a mapped file may have been cut short")
	}
	return nil
}

// cutShort is the error of a run over volatile memory that vanished.
func cutShort() error {
	return errorf(ErrFault, "a mapped file was cut short while it was read; nothing can be said of the result")
}

// changedIndices is the error of a run that refused an index, where none is
// refused any more.
func changedIndices() error {
	return errorf(ErrIndex, "an index was refused, but stands no longer in indices: they changed while they were read")
}
