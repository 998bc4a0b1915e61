package model

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"slices"

	"github.com/garner-go/garner"
	"github.com/garner-go/garner/internal/mapped"
	"github.com/garner-go/garner/source"
)

// pieceBytes is how many bytes of a constant Pieces reads at a time: 1 MiB, at which the cost of a
// call is negligible.
const pieceBytes = 1 << 20

// NewEncoded is NewConstant of elements of a fixed width that load makes in new memory, and pieces
// one piece after the other: it calls do with the bytes of each, which may be those of the piece before, and
// ends at the first error.
func NewEncoded(name string, spec garner.Spec, load func() (garner.Tensor, error), pieces func(do func(b []byte) error) error) *Constant {
	return &Constant{Name: name, Spec: spec, Encoded: true, load: load, pieces: pieces}
}

// Pieces calls do with the elements in order, row-major and little-endian, about 1 MiB at a time, and with the offset of
// each piece in bytes. do may not keep b. It takes the memory of a piece: what lies in files is read and not
// mapped, and encoded elements are decoded piece by piece, where the reader of the model can.
//
// Errors are those of do, of Tensor and of Open. A file that is written to meanwhile is a source.ErrChanged behind
// the last piece of it: what do made of the pieces is then worth nothing.
func (c *Constant) Pieces(ctx context.Context, do func(at int64, b []byte) error) error {
	if err := c.open(); err != nil {
		return err
	}
	at := int64(0)
	each := func(b []byte) error {
		if err := context.Cause(ctx); err != nil {
			return err
		}
		err := do(at, b)
		at += int64(len(b))
		return err
	}
	switch {
	case c.Spec.DType == garner.String:
		_, err := c.Array() // refuses it
		return err
	case c.File != "" && c.Size > 0:
		buf := make([]byte, min(pieceBytes, c.Size))
		for _, r := range c.ranges() {
			if err := r.pieces(buf, each); err != nil {
				return err
			}
		}
		return nil
	case c.openTiles != nil:
		a, err := c.openTiles(c)
		if err != nil {
			return err
		}
		defer a.Close() // it is only read
		size, _ := c.Spec.Bytes()
		buf := make([]byte, min(pieceBytes, size))
		for at < size {
			b := buf[:min(int64(len(buf)), size-at)]
			err := a.Fetch(ctx, source.Rows{At: []int64{at}, Size: len(b), Dst: b})
			if err == nil {
				err = each(b)
			}
			if err != nil {
				return err
			}
		}
		return a.(interface{ Changed() error }).Changed()
	case c.pieces != nil:
		return mapped.Guard(func() error { return c.pieces(each) })
	}
	return mapped.Guard(func() error {
		t, err := c.Tensor()
		if err != nil {
			return err
		}
		return t.Guard(func(t garner.Tensor) error {
			b, err := t.Bytes()
			if err != nil { // a view of one element, say
				return strided(t, each)
			}
			for part := range slices.Chunk(b, pieceBytes) {
				if err := each(part); err != nil {
					return err
				}
			}
			return nil
		})
	})
}

var errEnd = errors.New("the end of a comparison")

// EqualPieces reports whether two constants have the same bytes, a piece of each at a time: both must have
// elements of a fixed width.
func EqualPieces(ctx context.Context, a, b *Constant) (bool, error) {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	from, to := io.Pipe()
	go func() {
		to.CloseWithError(b.Pieces(ctx, func(_ int64, piece []byte) error {
			_, err := to.Write(piece)
			return err
		}))
	}()
	defer from.CloseWithError(errEnd)
	buf := make([]byte, pieceBytes)
	err := a.Pieces(ctx, func(_ int64, piece []byte) error {
		for len(piece) > 0 {
			n := min(len(piece), len(buf))
			switch read, err := io.ReadFull(from, buf[:n]); {
			case err == io.EOF || err == io.ErrUnexpectedEOF || err == nil && !bytes.Equal(buf[:n], piece[:n]):
				return errEnd
			case err != nil:
				return fmt.Errorf("after %d bytes: %w", read, err)
			}
			piece = piece[n:]
		}
		return nil
	})
	if err == errEnd {
		return false, nil
	}
	if err != nil {
		return false, err
	}
	n, err := from.Read(buf[:1])
	if err == io.EOF {
		err = nil
	}
	return n == 0 && err == nil, err
}

// strided calls do with the elements of a view that is not contiguous.
func strided(t garner.Tensor, do func(b []byte) error) error {
	flat, err := t.Reshape(t.Len())
	if err != nil {
		return err
	}
	const most = pieceBytes / 16 // elements have 16 bytes at most, and as many are whole bytes
	for from := 0; from < t.Len(); from += most {
		part, err := flat.Slice(0, from, min(from+most, t.Len()), 1)
		if err != nil {
			return err
		}
		if part, err = part.Clone(); err != nil {
			return err
		}
		b, err := part.Bytes()
		if err != nil {
			return err
		}
		if err := do(b); err != nil {
			return err
		}
	}
	return nil
}

// pieces reads a range, as much as buf holds at a time.
func (r Range) pieces(buf []byte, do func(b []byte) error) error {
	file, err := r.open()
	if err != nil {
		return err
	}
	defer file.Close() // it is only read
	for at := int64(0); at < r.Size; {
		b := buf[:min(int64(len(buf)), r.Size-at)]
		if n, err := file.ReadAt(b, r.Offset+at); n < len(b) {
			if errors.Is(err, io.EOF) {
				return Changed(r.File)
			}
			return garner.Errorf(err, "%s cannot be read: %v", r.File, err)
		}
		if err := do(b); err != nil {
			return err
		}
		at += int64(len(b))
	}
	return r.unchanged(file) // pieces may be of two states
}

// open opens the file, if it is as the reader saw it.
func (r Range) open() (*os.File, error) {
	file, _, err := mapped.OpenFile(r.File)
	if err != nil {
		return nil, err
	}
	if err := r.unchanged(file); err != nil {
		file.Close()
		return nil, err
	}
	return file, nil
}

// unchanged refuses an open file that is not, or no longer, as the reader saw it.
func (r Range) unchanged(file *os.File) error {
	if r.State == (source.FileState{}) {
		return nil
	}
	now, err := mapped.StampOf(file)
	if err != nil {
		return garner.Errorf(err, "%s cannot be read: %v", r.File, err)
	}
	return Unchanged(r.File, r.State, source.FileState(now))
}
