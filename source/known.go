package source

import (
	"context"

	"github.com/garner-go/garner"
	"github.com/garner-go/garner/internal/exec"
)

// known is the scratch of moveKnown, and of what else runs on all cores.
type known struct {
	runner  exec.Runner
	program exec.Program
}

// moveKnown moves rows whose places in src are known on up to threads cores: see
// exec's RunKnown. m.Step is m.Size, both in bytes as the rows are; bits says how
// many an element of fill has, and rows of packed types count bits. src may be
// mapped memory; a page fault without a page is an ErrFault.
func moveKnown(ctx context.Context, k *known, threads int, dst, src []byte, to int, rows []int64, size, bits int, filled bool, fill []byte) error {
	unit := bits
	if bits >= 8 {
		unit = bits / 8
	}
	k.program.SetKnown(len(rows), size/unit, bits, len(src), fill, &exec.Tuned, threads)
	data, out := exec.Memory{Buf: src, Volatile: true}, exec.Memory{Buf: dst, Offset: to / unit}
	switch k.runner.RunKnown(ctx, &k.program, &data, &out, rows, filled) {
	case exec.Stopped:
		return context.Cause(ctx)
	case exec.Vanished:
		return garner.Vanished()
	}
	return nil
}
