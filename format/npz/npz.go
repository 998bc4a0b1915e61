// Package npz reads and writes NumPy's .npz files, as numpy.savez and
// numpy.savez_compressed write them: zip archives with a .npy file for each
// array (https://numpy.org/doc/stable/reference/generated/numpy.savez.html).
//
// Files are mapped. A stored array is a view of the file without a copy, or is
// opened for reading piece by piece. A deflated array is inflated into memory. The
// package reads and refuses the same arrays as package npy.
package npz

import (
	"archive/zip"
	"bytes"
	"cmp"
	"errors"
	"fmt"
	"hash/crc32"
	"io"
	"io/fs"
	"math"
	"slices"
	"strings"
	"sync"

	"github.com/garner-go/garner"
	"github.com/garner-go/garner/format/layout"
	"github.com/garner-go/garner/format/npy"
	"github.com/garner-go/garner/internal/mapped"
	"github.com/garner-go/garner/internal/names"
)

// ErrFormat is the class of errors about a file that is not .npz, or is corrupt. A
// corrupt array in a valid archive is an npy.ErrFormat.
var ErrFormat = errors.New("npz format")

func formatError(format string, args ...any) error {
	return garner.Errorf(ErrFormat, format, args...)
}

// Options for reading arrays.
type Options struct {
	// DType is the dtype of V data; see npy.Options.
	DType garner.DType

	// Memory is the most bytes that an array may take while it is read; see
	// npy.Options. A larger array is a layout.ErrTooLarge.
	Memory int64

	// Inflated, if not nil, reports the progress of a deflated array: the bytes
	// inflated so far, and the total by the archive's own account. The goroutine
	// that requested the array calls it about every 32 KiB.
	Inflated func(done, total int64)
}

// A File is an opened archive. It is safe for concurrent use, Close included: calls
// that begin after it are an fs.ErrClosed.
type File struct {
	path    string
	options Options
	mapped  *mapped.File
	header  *layout.Header // recognises the file when it is opened again
	members map[string]*zip.File
	names   []string // of the arrays
	overlap func() map[*zip.File]string
}

// suffix ends the name of a member that holds an array. The array's name omits it.
const suffix = ".npy"

// Open opens an archive. It reads only the list of members, in time and memory
// proportional to that list. Zip64, data descriptors, and bytes before the archive
// are supported. A file that is not a zip archive, a truncated archive, and two
// members of the same name are an ErrFormat.
func Open(path string, o Options) (*File, error) {
	header, err := layout.OpenHeader(path)
	if err != nil {
		return nil, err
	}
	m, err := mapped.Map(path, header.File)
	if err != nil {
		header.Close()
		return nil, err
	}
	f := &File{path: path, options: o, mapped: m, header: header}
	if err := f.read(f.readDirectory); err != nil {
		m.Close()
		return nil, names.Error(path, err)
	}
	return f, nil
}

// read calls look with the bytes of the file; see mapped.File.Read.
func (f *File) read(look func(b []byte) error) error { return f.mapped.Read(0, f.mapped.Size(), look) }

func (f *File) readDirectory(b []byte) error {
	archive, err := zip.NewReader(bytes.NewReader(b), int64(len(b)))
	switch {
	case err == nil, errors.Is(err, zip.ErrInsecurePath): // each name is checked when its array is requested
	case bytes.HasPrefix(b, []byte("\x93NUMPY")):
		return formatError("it is a single array, as .npy is; name it FILE.npy, without #")
	case bytes.HasPrefix(b, []byte("PK")):
		return formatError("its list of members is spoilt or missing (%s); the file was cut short: copy or save it again", reason(err))
	default:
		return formatError("it is no .npz file: that is a zip archive, and this begins with %q; save the arrays with numpy.savez", b[:min(len(b), 6)])
	}
	f.overlap = sync.OnceValue(func() map[*zip.File]string { return overlapping(archive.File) })
	f.members = make(map[string]*zip.File, len(archive.File))
	for _, m := range archive.File {
		if f.members[m.Name] != nil {
			return formatError("two of its members are named %s, and either could be meant; save the arrays again with numpy.savez", names.Quote(m.Name))
		}
		f.members[m.Name] = m
	}
	for _, m := range archive.File {
		name, ok := strings.CutSuffix(m.Name, suffix)
		if !ok {
			continue
		}
		if f.members[name] != nil {
			name = m.Name // without its suffix it would be the name of another array
		}
		f.names = append(f.names, name)
	}
	return nil
}

// reason returns the text of a standard library error without the package name.
func reason(err error) string {
	if err == io.EOF || err == io.ErrUnexpectedEOF {
		return "it ends too early"
	}
	return strings.TrimPrefix(err.Error(), "zip: ")
}

// Names returns the names of the arrays, in the order of the file's list: the
// members' names without .npy.
func (f *File) Names() []string { return append([]string(nil), f.names...) }

// Tensor returns one array; see Array.
func (f *File) Tensor(name string) (garner.Tensor, error) {
	a, err := f.Array(name)
	if err != nil {
		return garner.Tensor{}, err
	}
	return a.Tensor, nil
}

// Array returns one array with its name and NumPy's name of its dtype. It is the
// member with exactly this name, or with this name and .npy. In an archive with one
// array, "" names that array.
//
// A stored array of little-endian numbers is a view that the File keeps (see
// garner.Tensor.KeptBy) and may be unaligned; Clone copies it into aligned memory. It
// costs only the read of its header, so its checksum is not verified: use Verify. A
// deflated array is inflated into memory at each call, and its checksum is verified.
// Memory grows with the bytes inflated and stops at the size in the array's own
// header, whatever sizes the archive lists. A member with bytes behind its array is
// refused.
//
// A name that the archive lacks is an fs.ErrNotExist that lists its names. A corrupt
// or encrypted member, an unsupported compression, and a name that leads out of the
// folder are an ErrFormat, as is a member that shares bytes with another. Corrupt contents are an npy.ErrFormat, an unsupported
// dtype is a garner.ErrDType.
func (f *File) Array(name string) (Named, error) {
	a, _, err := f.array(name)
	return a, err
}

// Copy is Array with the elements in memory of their own, which outlives the
// File: a view is copied.
func (f *File) Copy(name string) (Named, error) {
	a, copied, err := f.array(name)
	if err == nil && !copied {
		a.Tensor, err = a.Tensor.Clone()
	}
	return a, err
}

// array is Array; copied reports that the elements are in memory of their own.
func (f *File) array(name string) (a Named, copied bool, err error) {
	m, err := f.find(name)
	if err != nil {
		return Named{}, false, names.Error(f.path, err)
	}
	err = f.read(func(b []byte) error {
		data, err := f.data(b, m)
		if err != nil {
			return err
		}
		o := npy.Options{DType: f.options.DType, Memory: f.options.Memory}
		if m.Method == zip.Store {
			if a, copied, err = view(data, o); err == nil && !copied {
				a.Tensor = a.Tensor.KeptBy(f.mapped)
			}
		} else {
			a, err = f.inflate(data, m, o)
			copied = true
		}
		return err
	})
	if err != nil {
		return Named{}, false, names.Error(f.path+"#"+strings.TrimSuffix(m.Name, suffix), err)
	}
	a.Name = strings.TrimSuffix(m.Name, suffix)
	return a, copied, nil
}

// find returns the member for a name, as numpy.load does.
func (f *File) find(name string) (*zip.File, error) {
	for _, full := range []string{name, name + suffix} {
		if m := f.members[full]; m != nil {
			return m, nil
		}
	}
	if name == "" && len(f.names) == 1 {
		return f.find(f.names[0])
	}
	const most = 10
	has := "none at all"
	switch n := len(f.names); {
	case n > most:
		has = fmt.Sprintf("%d, the first of them %s", n, strings.Join(quoted(f.names[:most]), ", "))
	case n > 0:
		has = strings.Join(quoted(f.names), ", ")
	}
	if name == "" {
		return nil, garner.Errorf(fs.ErrNotExist, "which array of it? Name one with #NAME; it has %s", has)
	}
	return nil, garner.Errorf(fs.ErrNotExist, "it has no array %s; it has %s", names.Quote(name), has)
}

func quoted(list []string) []string {
	q := make([]string, len(list))
	for i, name := range list {
		q[i] = names.Quote(name)
	}
	return q
}

// methods are the names of unsupported compressions, by their number in the format
// (APPNOTE.TXT, 4.4.5).
var methods = map[uint16]string{
	1: "Shrink", 6: "Implode", 9: "Deflate64", 12: "bzip2", 14: "LZMA", 93: "Zstandard", 95: "XZ", 98: "PPMd", 99: "AES encryption",
}

// data returns the bytes of a member as the file stores them; b has all of the file.
func (f *File) data(b []byte, m *zip.File) ([]byte, error) {
	at, err := f.place(m)
	if err != nil {
		return nil, err
	}
	return b[at:][:m.CompressedSize64], nil
}

// place returns the offset of a readable member in the file. The whole member lies
// inside the file.
func (f *File) place(m *zip.File) (at int64, err error) {
	const remedy = "save the arrays again with numpy.savez or numpy.savez_compressed"
	if leadsOut(m.Name) {
		return 0, formatError("its name %s leads out of the archive's own folder; %s under another name", names.Quote(m.Name), remedy)
	}
	const encrypted = 1
	if m.Flags&encrypted != 0 {
		return 0, formatError("it is encrypted; %s", remedy)
	}
	if m.Method != zip.Store && m.Method != zip.Deflate {
		name, ok := methods[m.Method]
		if !ok {
			name = fmt.Sprintf("method %d", m.Method)
		}
		return 0, formatError("it is compressed with %s, and only stored and deflated arrays are read; %s", name, remedy)
	}
	if m.Method == zip.Store && m.CompressedSize64 != m.UncompressedSize64 {
		return 0, formatError("it is stored as it is, and yet %d bytes are said to be %d; the archive is spoilt: %s", m.CompressedSize64, m.UncompressedSize64, remedy)
	}
	size := int64(f.mapped.Size())
	at, err = m.DataOffset()
	if err != nil || at < 0 || at > size || m.CompressedSize64 > uint64(size-at) {
		return 0, formatError("it does not stand where the archive's list says; the file is spoilt: copy it again, or %s", remedy)
	}
	if other, ok := f.overlap()[m]; ok {
		return 0, formatError("it shares bytes with member %s, which no archive of numpy.savez does; the file is spoilt: copy it again, or %s", names.Quote(other), remedy)
	}
	return at, nil
}

// overlapping finds the members that go on in the next one, or begin where it
// begins, and the name of that. Thousands of members can list the same bytes, and
// would cost thousands of times the file. The member that a spoilt one reaches into
// is read.
func overlapping(members []*zip.File) map[*zip.File]string {
	type piece struct {
		member   *zip.File
		from, to uint64
	}
	var pieces []piece
	for _, m := range members {
		at, err := m.DataOffset()
		if to := uint64(at) + m.CompressedSize64; err == nil && at >= 0 && to > uint64(at) {
			pieces = append(pieces, piece{m, uint64(at), to})
		}
	}
	slices.SortStableFunc(pieces, func(a, b piece) int { return cmp.Compare(a.from, b.from) })
	found := make(map[*zip.File]string)
	for i := 1; i < len(pieces); i++ {
		p, next := pieces[i-1], pieces[i]
		if p.to > next.from {
			found[p.member] = next.member.Name
		}
		if p.from == next.from {
			found[next.member] = p.member.Name
		}
	}
	return found
}

// leadsOut reports whether a member of this name would be unpacked outside the
// destination folder.
func leadsOut(name string) bool {
	slashes := strings.ReplaceAll(name, `\`, "/")
	if strings.HasPrefix(slashes, "/") || len(name) > 1 && name[1] == ':' {
		return true
	}
	for element := range strings.SplitSeq(slashes, "/") {
		if element == ".." {
			return true
		}
	}
	return false
}

func view(data []byte, o npy.Options) (_ Named, copied bool, err error) {
	a, rest, err := npy.FromBytes(data, o)
	if err != nil {
		return Named{}, false, bare(err)
	}
	if len(rest) > 0 {
		return Named{}, false, goesOn()
	}
	return Named{Tensor: a.Tensor(), Descr: a.Descr()}, a.Copied(), nil
}

// goesOn is the error of a member with bytes behind its array. numpy.load ignores
// such bytes. Verifying the checksum would mean inflating them, and a crafted archive
// can make them arbitrarily many.
func goesOn() error {
	return formatError("it goes on behind the end of its array, which no .npy of numpy.savez does; save the arrays again")
}

// inflate reads a deflated array.
func (f *File) inflate(data []byte, m *zip.File, o npy.Options) (Named, error) {
	s := newSummed(data)
	if tell := f.options.Inflated; tell != nil {
		total := int64(min(m.UncompressedSize64, math.MaxInt64))
		s.tell = func(done uint64) { tell(int64(done), total) }
	}
	defer s.close()
	a, err := npy.OpenReader(s, o)
	if err != nil {
		return Named{}, s.told(bare(err))
	}
	var more [1]byte
	if n, err := io.ReadFull(s, more[:]); n > 0 {
		return Named{}, goesOn()
	} else if err != io.EOF {
		return Named{}, s.told(err)
	}
	return Named{Tensor: a.Tensor(), Descr: a.Descr()}, s.check(m)
}

// Verify reads an array to its end, verifies the archive's checksum and keeps no
// bytes. Array verifies deflated arrays itself. Errors are those of Array; a wrong
// checksum is an ErrFormat.
func (f *File) Verify(name string) error {
	m, err := f.find(name)
	if err != nil {
		return names.Error(f.path, err)
	}
	err = f.read(func(b []byte) error {
		data, err := f.data(b, m)
		if err != nil {
			return err
		}
		if m.Method == zip.Store {
			return checkSum(m, crc32.ChecksumIEEE(data), uint64(len(data)))
		}
		s := newSummed(data)
		defer s.close()
		// One byte too many shows that the member goes on.
		limit := int64(math.MaxInt64)
		if m.UncompressedSize64 < math.MaxInt64 {
			limit = int64(m.UncompressedSize64) + 1
		}
		if _, err := io.Copy(io.Discard, io.LimitReader(s, limit)); err != nil {
			return s.told(err)
		}
		return s.check(m)
	})
	if err != nil {
		return names.Error(f.path+"#"+strings.TrimSuffix(m.Name, suffix), err)
	}
	return nil
}

func checkSum(m *zip.File, sum uint32, size uint64) error {
	if size != m.UncompressedSize64 {
		return formatError("it is %d bytes long, and the archive says %d; the file is spoilt: copy it again, or save the arrays again", size, m.UncompressedSize64)
	}
	if sum != m.CRC32 {
		return formatError("its checksum is %08x, and the archive says %08x; the file is spoilt: copy it again, or save the arrays again", sum, m.CRC32)
	}
	return nil
}

// Close unmaps the file, behind calls in progress that read it or its arrays.
func (f *File) Close() error { return f.mapped.Close() }

// bare removes the name of a stream or of bytes from an error of package npy. Here
// the member's name replaces it.
func bare(err error) error {
	if inner := errors.Unwrap(err); inner != nil {
		return inner
	}
	return err
}
