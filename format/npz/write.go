package npz

import (
	"archive/zip"
	"bufio"
	"encoding/binary"
	"io"
	"math"
	"strings"
	"unicode/utf8"

	"github.com/garner-go/garner"
	"github.com/garner-go/garner/format/npy"
	"github.com/garner-go/garner/internal/mapped"
	"github.com/garner-go/garner/internal/names"
)

// A Named is an array and its name in the file.
type Named struct {
	Name   string // without .npy
	Tensor garner.Tensor
	Descr  string // NumPy's name of its dtype; Write uses it for strings alone, see npy.WriteStrings
}

// Write writes arrays as numpy.savez does: stored, one member each, in the given
// order. Any reader that supports data descriptors, such as numpy.load, reads them:
// the sizes follow each member, in 64 bits where necessary. The same arrays always
// give the same bytes.
//
// Each array begins at a multiple of 64 bytes, so that its elements are aligned in a
// mapped file. Tensors of any strides are written block by block with the dtypes of
// package npy.
//
// Before Write writes anything, it refuses a name that is given twice, is not
// UTF-8, is longer than 65000 bytes, contains NUL, or leads out of the folder of
// the unpacked archive: an ErrFormat.
func Write(w io.Writer, arrays []Named) error {
	if err := Check(arrays); err != nil {
		return err
	}
	return mapped.Guard(func() error {
		at := &counter{w: w}
		archive := zip.NewWriter(at)
		var tail uint64 // bytes that the archive writes between the last member and the next
		for _, a := range arrays {
			if err := archive.Flush(); err != nil {
				return err
			}
			size, err := a.write(archive, at.n+tail)
			if err != nil {
				return err
			}
			if tail = shortSizes; size >= math.MaxUint32 {
				tail = longSizes
			}
		}
		return archive.Close()
	})
}

// Check returns the error with which Write would refuse these arrays, or nil. It
// needs no elements.
func Check(arrays []Named) error {
	seen := make(map[string]bool, len(arrays))
	for _, a := range arrays {
		if err := (described{a.Name, a.Tensor.DType()}).check(seen); err != nil {
			return err
		}
	}
	return nil
}

// A described array is the part of it that Write may refuse.
type described struct {
	Name  string
	dtype garner.DType
}

func (a described) check(seen map[string]bool) error {
	const longest = 65000 // about the format's own limit less the suffix
	const remedy = "give it another name"
	switch name := a.Name; {
	case !a.dtype.Valid():
		return garner.Errorf(garner.ErrDType, "there is no tensor to write as %s", names.Quote(name))
	case seen[name]:
		return formatError("two arrays are named %s; give one another name", names.Quote(name))
	case !utf8.ValidString(name):
		return formatError("the name %s is not UTF-8; %s", names.Quote(name), remedy)
	case len(name) > longest:
		return formatError("a name of %d bytes, %s…, is longer than %d; %s", len(name), names.Quote(name), longest, remedy)
	case strings.Contains(name, "\x00"):
		return formatError("the name %s contains NUL, where NumPy would end it; %s", names.Quote(name), remedy)
	case leadsOut(name + suffix):
		return formatError("the name %s leads out of the folder into which the archive is unpacked; %s", names.Quote(name), remedy)
	}
	seen[a.Name] = true
	return nil
}

// write writes an array as a member at an offset in the file, and returns the
// number of bytes of the array.
func (a Named) write(archive *zip.Writer, from uint64) (size uint64, err error) {
	member, err := archive.CreateHeader(head(a.Name, from))
	if err != nil {
		return 0, err
	}
	// The archive computes a checksum of each piece, faster in larger pieces.
	to := &counter{w: member}
	buf := bufio.NewWriterSize(to, 64<<10)
	if a.Tensor.DType() == garner.String && a.Descr != "" {
		err = npy.WriteStrings(buf, a.Tensor, a.Descr)
	} else {
		err = npy.Write(buf, a.Tensor)
	}
	if err != nil {
		return 0, err
	}
	err = buf.Flush()
	return to.n, err
}

// head returns the header of a member at an offset in the file.
func head(name string, from uint64) *zip.FileHeader {
	h := &zip.FileHeader{
		Name:   name + suffix,
		Method: zip.Store,
		//lint:ignore SA1019 Modified would add a field to the header, and so move the array's bytes
		ModifiedDate: 1<<5 | 1, // 1 January 1980, the format's first day, as numpy.savez has it
	}
	h.Extra = padding(from + fixed + uint64(len(h.Name)))
	return h
}

const (
	fixed      = 30 // bytes of a member's header without its name and padding
	shortSizes = 16 // bytes of the checksum and sizes behind a member
	longSizes  = 24 // the same for a member of 4 GiB or more

	alignment = 64     // of npy's own header
	paddingID = 0xd935 // the field ID of tools that align archives
)

// padding returns the extra field that moves a member's data from an offset to the
// next multiple of alignment; none if it is there.
func padding(from uint64) []byte {
	const least = 2 + 2 + 2 // field ID, length, and the alignment
	if from%alignment == 0 {
		return nil
	}
	n := least + alignment - (from+least)%alignment
	if n == least+alignment {
		n = least
	}
	b := make([]byte, n)
	binary.LittleEndian.PutUint16(b, paddingID)
	binary.LittleEndian.PutUint16(b[2:], uint16(n-4))
	binary.LittleEndian.PutUint16(b[4:], alignment)
	return b
}

// A counter counts the bytes written.
type counter struct {
	w io.Writer
	n uint64
}

func (c *counter) Write(b []byte) (int, error) {
	n, err := c.w.Write(b)
	c.n += uint64(n)
	return n, err
}
