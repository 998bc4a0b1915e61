// Package npz reads and writes NumPy's .npz files, as numpy.savez and
// numpy.savez_compressed write them: zip archives with a .npy file for each
// array (https://numpy.org/doc/stable/reference/generated/numpy.savez.html).
//
// Files are mapped. An array that is stored is a view of the file, which copies
// nothing, or can be opened to be read piece by piece; one that is deflated is
// inflated into memory. What package npy reads
// is read here, and what it refuses is refused.
package npz

import (
	"archive/zip"
	"bytes"
	"errors"
	"fmt"
	"hash/crc32"
	"io"
	"io/fs"
	"math"
	"strings"

	"github.com/garner-go/garner"
	"github.com/garner-go/garner/format/layout"
	"github.com/garner-go/garner/format/npy"
	"github.com/garner-go/garner/internal/mapped"
	"github.com/garner-go/garner/internal/names"
)

// ErrFormat is the class of what is no .npz file, or a spoilt one. A spoilt
// array in a sound archive is an npy.ErrFormat.
var ErrFormat = errors.New("npz format")

func formatError(format string, args ...any) error {
	return garner.Errorf(ErrFormat, format, args...)
}

// Options say how to read arrays.
type Options struct {
	// DType is what the elements of V data are, as npy.Options has it.
	DType garner.DType

	// Inflated is told, where it is not nil, how many bytes of a deflated array
	// have come, of how many there are to be if the archive tells the truth: for
	// every 32 KiB or so, by the goroutine that asked for the array.
	Inflated func(done, total int64)
}

// A File is an opened archive. It may be used by several goroutines at a time.
type File struct {
	path    string
	options Options
	mapped  *mapped.File
	header  *layout.Header // closed; it knows the file again
	members map[string]*zip.File
	names   []string // of the arrays
}

// suffix is what a member's name ends in that holds an array; the array's name
// goes without it.
const suffix = ".npy"

// Open opens an archive and reads the list of its members alone, in time and
// memory in proportion to that list. Zip64, data descriptors, and bytes before
// the archive are understood. What is no zip archive, one that is cut short,
// and one with two members of a name are an ErrFormat.
func Open(path string, o Options) (*File, error) {
	header, err := layout.OpenHeader(path)
	if err != nil {
		return nil, err
	}
	defer header.Close()
	m, err := mapped.Map(path, header.File)
	if err != nil {
		return nil, err
	}
	f := &File{path: path, options: o, mapped: m, header: header}
	if err := mapped.Guard(f.readDirectory); err != nil {
		m.Close()
		return nil, names.Error(path, err)
	}
	return f, nil
}

func (f *File) readDirectory() error {
	b := f.mapped.Bytes()
	archive, err := zip.NewReader(bytes.NewReader(b), int64(len(b)))
	switch {
	case err == nil, errors.Is(err, zip.ErrInsecurePath): // names are looked at where one is asked for
	case bytes.HasPrefix(b, []byte("\x93NUMPY")):
		return formatError("it is a single array, as .npy is; name it FILE.npy, without #")
	case bytes.HasPrefix(b, []byte("PK")):
		return formatError("its list of members is spoilt or missing (%s); the file was cut short: copy or save it again", reason(err))
	default:
		return formatError("it is no .npz file: that is a zip archive, and this begins with %q; save the arrays with numpy.savez", b[:min(len(b), 6)])
	}
	f.members = make(map[string]*zip.File, len(archive.File))
	for _, m := range archive.File {
		if f.members[m.Name] != nil {
			return formatError("two of its members are named %q, and either could be meant; save the arrays again with numpy.savez", m.Name)
		}
		f.members[m.Name] = m
	}
	for _, m := range archive.File {
		name, ok := strings.CutSuffix(m.Name, suffix)
		if !ok {
			continue
		}
		if f.members[name] != nil {
			name = m.Name // or it would stand for the other one
		}
		f.names = append(f.names, name)
	}
	return nil
}

// reason is an error of the standard library without its package's name.
func reason(err error) string {
	if err == io.EOF || err == io.ErrUnexpectedEOF {
		return "it ends too early"
	}
	return strings.TrimPrefix(err.Error(), "zip: ")
}

// Names are the arrays' names, in the order of the file's list: those of the
// members that end in .npy, without it.
func (f *File) Names() []string { return append([]string(nil), f.names...) }

// Tensor is one array, see Array.
func (f *File) Tensor(name string) (garner.Tensor, error) {
	a, err := f.Array(name)
	if err != nil {
		return garner.Tensor{}, err
	}
	return a.Tensor, nil
}

// Array is one array, with its name and NumPy's name of its dtype: that of the
// member of exactly this name, or of this name and .npy. Of an archive with one
// array, "" is that one.
//
// A stored array of little-endian numbers is a view, Volatile, which may not be
// looked at after Close, and whose elements need not stand where Go would align
// them; Clone mends both. It costs no more than its header, and so its checksum
// is not looked at: Verify does. A deflated array is inflated into memory, at
// each call anew, and its checksum held against what came. Memory grows with
// what comes and ends with what the array's own header asks for, whatever the
// archive says of sizes: a member that goes on behind its array is refused.
//
// A name that the file does not have is an fs.ErrNotExist that names those it
// has. A spoilt or encrypted member, one compressed in another way and one whose
// name leads out of its folder are an ErrFormat; spoilt contents an
// npy.ErrFormat, a dtype that is not read a garner.ErrDType.
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
	err = mapped.Guard(func() error {
		data, err := f.data(m)
		if err != nil {
			return err
		}
		o := npy.Options{DType: f.options.DType}
		if m.Method == zip.Store {
			a, copied, err = view(data, o)
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

// find finds the member that a name means, as numpy.load does.
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
	return nil, garner.Errorf(fs.ErrNotExist, "it has no array %s; it has %s", quote(name), has)
}

func quoted(names []string) []string {
	q := make([]string, len(names))
	for i, name := range names {
		q[i] = quote(name)
	}
	return q
}

// quote writes a name so that it can be told from the words around it, and so
// that a long one does not hide them.
func quote(name string) string { return fmt.Sprintf("%.100q", name) }

// methods are the names of the compressions that are not read, by their number
// in the format (APPNOTE.TXT, 4.4.5).
var methods = map[uint16]string{
	1: "Shrink", 6: "Implode", 9: "Deflate64", 12: "bzip2", 14: "LZMA", 93: "Zstandard", 95: "XZ", 98: "PPMd", 99: "AES encryption",
}

// data is what the file holds of a member, compressed as it stands there.
func (f *File) data(m *zip.File) ([]byte, error) {
	at, err := f.place(m)
	if err != nil {
		return nil, err
	}
	return f.mapped.Bytes()[at:][:m.CompressedSize64], nil
}

// place is where a member that can be read begins in the file; all of it lies
// there.
func (f *File) place(m *zip.File) (at int64, err error) {
	const remedy = "save the arrays again with numpy.savez or numpy.savez_compressed"
	if leadsOut(m.Name) {
		return 0, formatError("its name %q leads out of the archive's own folder; %s under another name", m.Name, remedy)
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
	return at, nil
}

// leadsOut reports whether a program that unpacks a member of this name would
// write outside of the folder that it unpacks to.
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
	t := a.Tensor()
	if !a.Copied() {
		t = t.Volatile()
	}
	return Named{Tensor: t, Descr: a.Descr()}, a.Copied(), nil
}

// goesOn is the error of a member with bytes behind its array. numpy.load does
// not look at them; to check their sum would be to read whatever a crafted
// archive makes of them.
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

// Verify reads an array's bytes to the end, and holds them against the archive's
// checksum: what Array does by itself for deflated arrays. It keeps nothing of
// them. Errors are those of Array; a sum that differs is an ErrFormat.
func (f *File) Verify(name string) error {
	m, err := f.find(name)
	if err != nil {
		return names.Error(f.path, err)
	}
	err = mapped.Guard(func() error {
		data, err := f.data(m)
		if err != nil {
			return err
		}
		if m.Method == zip.Store {
			return checkSum(m, crc32.ChecksumIEEE(data), uint64(len(data)))
		}
		s := newSummed(data)
		defer s.close()
		// One byte more than there should be is enough to see that there is more.
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

// Close gives the mapped memory back. No other method may be called afterwards.
func (f *File) Close() error { return f.mapped.Close() }

// bare takes the name of a stream, or of bytes, off an error of npy's: here they
// are a member, which has a name of its own.
func bare(err error) error {
	if inner := errors.Unwrap(err); inner != nil {
		return inner
	}
	return err
}
