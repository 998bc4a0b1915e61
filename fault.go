package garner

import "github.com/garner-go/garner/internal/exec"

// Volatile returns t marked as memory that can vanish while it is read, such as a
// mapped file that another process truncates. A gather then returns an ErrFault
// for a page fault that would otherwise end the process. It costs some 100 ns per
// run. What makes no page fault stays unseen, such as a file that is cut inside a
// page, or memory that was unmapped and mapped anew: KeptBy finds that too.
func (t Tensor) Volatile() Tensor {
	t.mem.Volatile = true
	return t
}

// CanVanish reports whether t is marked as memory that can vanish: see Volatile and KeptBy.
func (t Tensor) CanVanish() bool { return t.mem.Volatile }

// KeptBy returns t marked as Volatile memory that k keeps. Every function of this
// package that reads elements of the tensor, or of a view of it, holds the memory
// while it reads, and checks it before it answers. Bytes, Values and Rows give the
// memory itself: read that in a Guard. A run takes as much longer as k's methods
// take; of a mapped file 20 to 200 ns. A nil k gives a Volatile tensor that nothing
// keeps, for a caller that holds the memory.
func (t Tensor) KeptBy(k Keeper) Tensor {
	t.mem.Volatile, t.keeper = true, k
	return t
}

// Keeper returns the Keeper that keeps the tensor's memory; nil if there is none.
func (t Tensor) Keeper() Keeper { return t.keeper }

// Guard calls look with t, and look reads the memory of held directly: the slices of
// Bytes, Values and Rows. Guard holds the memory meanwhile, so that held has no
// Keeper. It returns look's error; but the Keeper's error where Check finds that look
// may have seen other bytes, an ErrFault where look met a page fault in other Volatile
// memory, or Hold's error, without a call of look. Of memory that is not
// Volatile it only calls look. A Guard covers the calling goroutine.
func (t Tensor) Guard(look func(held Tensor) error) error {
	if !t.mem.Volatile {
		return look(t)
	}
	if err := t.hold(); err != nil {
		return err
	}
	defer t.release()
	held := t
	held.keeper = nil
	var err error
	if exec.Guard(func() { err = look(held) }) {
		err = Vanished() // the Keeper names what it keeps
	}
	if cut := t.check(); cut != nil {
		return cut
	}
	return err
}

// guard is Guard for a look that fails only where the memory does.
func (t *Tensor) guard(look func()) error {
	if !t.mem.Volatile {
		look()
		return nil
	}
	return t.Guard(func(Tensor) error {
		look()
		return nil
	})
}

// hold keeps the memory of t until release.
func (t *Tensor) hold() error {
	if t.keeper == nil {
		return nil
	}
	return t.keeper.Hold()
}

func (t *Tensor) release() {
	if t.keeper != nil {
		t.keeper.Release()
	}
}

// check looks at the memory of t's elements again after they were read.
func (t *Tensor) check() error {
	if t.keeper == nil || t.mem.Buf == nil || t.Len() == 0 {
		return nil
	}
	lo, hi, _ := t.extent()
	from, to := t.byteOffset(lo), t.byteOffset(hi)+max(t.dtype.Bits()/8, 1)
	return t.keeper.Check(t.mem.Buf[from:to])
}

// Vanished is the ErrFault of a page fault in Volatile memory: it is not there, or it
// may only be read. It is for code outside this package that meets the fault itself.
func Vanished() error {
	return errorf(ErrFault, "a file was cut short, or its disk failed, while it was read, or memory is written to that may only be read; run again when nothing else writes to the file, or on a copy of it")
}

// changedIndices is the error of a run that refused an index, where none is
// refused any more.
func changedIndices() error {
	return errorf(ErrIndex, "an index was refused, but stands no longer in indices: they changed while they were read")
}
