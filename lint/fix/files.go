package fix

import (
	"bytes"
	"errors"
	"io"
	"os"
	"path/filepath"
	"runtime"

	"github.com/garner-go/garner"
	"github.com/garner-go/garner/internal/atomicfile"
)

// pieceBytes is how much of a file is in memory at once.
const pieceBytes = 1 << 20

// A holer can leave out bytes that are 0.
type holer interface{ Hole(n int64) error }

// copyRange copies the bytes of a file from one offset to another. A hole of the file is
// a hole of the copy.
func copyRange(to io.Writer, in *os.File, from, end int64) error {
	holes, _ := to.(holer)
	buf := make([]byte, min(pieceBytes, max(end-from, 0)))
	for from < end {
		if holes != nil {
			data := min(nextData(in, from), end)
			if data-from >= pieceBytes {
				if err := holes.Hole(data - from); err != nil {
					return err
				}
				from = data
				continue
			}
		}
		n, err := in.ReadAt(buf[:min(int64(len(buf)), end-from)], from)
		if n > 0 {
			if _, err := to.Write(buf[:n]); err != nil {
				return err
			}
			from += int64(n)
		}
		if err != nil && from < end {
			if errors.Is(err, io.EOF) {
				err = io.ErrUnexpectedEOF
			}
			return garner.Errorf(err, "%s cannot be read: %v", in.Name(), err)
		}
	}
	return nil
}

// seekData is SEEK_DATA of Linux.
const seekData = 3

// nextData gives the offset of the first byte from an offset on that is not in a hole of the
// file; the offset itself where the system does not say.
func nextData(f *os.File, from int64) int64 {
	if runtime.GOOS != "linux" {
		return from
	}
	at, err := f.Seek(from, seekData)
	if err != nil || at < from {
		if info, failed := f.Stat(); failed == nil && errors.Is(err, noData) {
			return info.Size()
		}
		return from
	}
	return at
}

// equalRanges reports whether n bytes of two files are equal. What is a hole in both is not
// read.
func equalRanges(a *os.File, from int64, b *os.File, at, n int64) (bool, error) {
	one, other := make([]byte, min(n, pieceBytes)), make([]byte, min(n, pieceBytes))
	for done := int64(0); done < n; {
		if skip := min(nextData(a, from+done)-from-done, nextData(b, at+done)-at-done, n-done); skip >= pieceBytes {
			done += skip
			continue
		}
		size := min(n-done, pieceBytes)
		if _, err := a.ReadAt(one[:size], from+done); err != nil {
			return false, garner.Errorf(err, "%s cannot be read: %v", a.Name(), err)
		}
		if _, err := b.ReadAt(other[:size], at+done); err != nil {
			return false, garner.Errorf(err, "%s cannot be read: %v", b.Name(), err)
		}
		if !bytes.Equal(one[:size], other[:size]) {
			return false, nil
		}
		done += size
	}
	return true, nil
}

// equalFiles reports whether two files of one size hold the same.
func equalFiles(a, b string) (bool, error) {
	one, err := os.Open(a)
	if err != nil {
		return false, garner.Errorf(err, "%s cannot be read: %v", a, err)
	}
	defer one.Close()
	other, err := os.Open(b)
	if err != nil {
		return false, garner.Errorf(err, "%s cannot be read: %v", b, err)
	}
	defer other.Close()
	info, err := one.Stat()
	if err != nil {
		return false, garner.Errorf(err, "%s cannot be read: %v", a, err)
	}
	return equalRanges(one, 0, other, 0, info.Size())
}

// weights makes target, the file beside a mended model, of the weights of old, in this order
// of preference: a clone, which shares the blocks of the disk until one is written to;
// another name of the same file; a copy. How says which.
func weights(old, target string, out *atomicfile.Pair) (how string, err error) {
	if out.Kept() {
		return target + " has the model's weights already", nil
	}
	if clone(old, out.Temporary(1)) {
		return target + " is a clone of " + old, nil
	}
	real, err := filepath.EvalSymlinks(old) // the file and not a link to it
	if err == nil && os.Link(real, out.Temporary(1)) == nil {
		return target + " is another name of " + old, nil
	}
	in, err := os.Open(old)
	if err != nil {
		return "", garner.Errorf(err, "%s cannot be read: %v", old, err)
	}
	defer in.Close()
	info, err := in.Stat()
	if err != nil {
		return "", garner.Errorf(err, "%s cannot be read: %v", old, err)
	}
	file, err := out.Writer(1)
	if err != nil {
		return "", err
	}
	if err := copyRange(file, in, 0, info.Size()); err != nil {
		return "", err
	}
	if _, err := file.Written(); err != nil {
		return "", err
	}
	return target + " is a copy of " + old, nil
}
