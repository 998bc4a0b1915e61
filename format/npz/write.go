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
)

// Named is an array with the name that it has in a file.
type Named struct {
	Name   string // without .npy
	Tensor garner.Tensor
	Descr  string // NumPy's name of its dtype; to Write it matters of strings alone: S, U or "" as npy.WriteStrings has it
}

// Write writes arrays as numpy.savez does: stored, one member each, in the
// order given. numpy.load reads them, and so does whatever reads zip archives
// that need no seeking to be written (sizes follow the members, and are of 64
// bits where they must be). The same arrays always give the same bytes.
//
// Each array begins at a multiple of 64 bytes, so that a file that is mapped has
// its elements where Go would align them. Tensors of any strides are written
// block by block, as package npy does, and have the dtypes that it gives them.
//
// Before anything is written, it refuses as an ErrFormat a name that is given
// twice, that is not UTF-8 or longer than 65000 bytes, that contains NUL, or
// that leads out of the folder into which the archive would be unpacked.
func Write(w io.Writer, arrays []Named) error {
	if err := Check(arrays); err != nil {
		return err
	}
	return mapped.Guard(func() error {
		at := &counter{w: w}
		archive := zip.NewWriter(at)
		var tail uint64 // what the archive writes behind the last member before the next
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

// Check answers the error with which Write would refuse to begin, nil where it
// would not: what is to be known before the arrays' elements are.
func Check(arrays []Named) error {
	seen := make(map[string]bool, len(arrays))
	for _, a := range arrays {
		if err := (described{a.Name, a.Tensor.DType()}).check(seen); err != nil {
			return err
		}
	}
	return nil
}

// A described array is all of it that an archive could refuse.
type described struct {
	Name  string
	dtype garner.DType
}

func (a described) check(seen map[string]bool) error {
	const longest = 65000 // the format's own limit less the suffix, roundly
	const remedy = "give it another name"
	switch name := a.Name; {
	case !a.dtype.Valid():
		return garner.Errorf(garner.ErrDType, "there is no tensor to write as %s", quote(name))
	case seen[name]:
		return formatError("two arrays are named %s; give one another name", quote(name))
	case !utf8.ValidString(name):
		return formatError("the name %s is not UTF-8; %s", quote(name), remedy)
	case len(name) > longest:
		return formatError("a name of %d bytes, %s…, is longer than %d; %s", len(name), quote(name), longest, remedy)
	case strings.Contains(name, "\x00"):
		return formatError("the name %s contains NUL, where NumPy would end it; %s", quote(name), remedy)
	case leadsOut(name + suffix):
		return formatError("the name %s leads out of the folder into which the archive is unpacked; %s", quote(name), remedy)
	}
	seen[a.Name] = true
	return nil
}

// write writes an array as a member that begins at an offset in the file, and
// answers how many bytes the array took.
func (a Named) write(archive *zip.Writer, from uint64) (size uint64, err error) {
	member, err := archive.CreateHeader(head(a.Name, from))
	if err != nil {
		return 0, err
	}
	// The archive sums up whatever comes, and does so better in larger pieces.
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

// head is the head of a member that begins at an offset in the file.
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
	fixed      = 30 // bytes of a member's head without its name and padding
	shortSizes = 16 // bytes of the sum and sizes behind a member
	longSizes  = 24 // of those of a member of 4 GiB or more

	alignment = 64     // to which npy's own head is padded
	paddingID = 0xd935 // as tools that align archives mark their padding
)

// padding is the field that brings a member from an offset in the file to the
// next multiple of alignment; none where it stands there.
func padding(from uint64) []byte {
	const least = 2 + 2 + 2 // its number, its length, and the alignment
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

// A counter knows how much was written.
type counter struct {
	w io.Writer
	n uint64
}

func (c *counter) Write(b []byte) (int, error) {
	n, err := c.w.Write(b)
	c.n += uint64(n)
	return n, err
}
