package source

import (
	"cmp"
	"errors"
	"io"
	"io/fs"
	"math"
	"math/bits"
	"os"
	"slices"
	"sync"

	"github.com/garner-go/garner"
	"github.com/garner-go/garner/internal/mapped"
	"github.com/garner-go/garner/internal/ring"
)

// A Segment is a range of a file that holds a part of an array. Offset and Bytes
// count bytes.
type Segment struct {
	Path   string
	Offset int64
	Bytes  int64
}

// A Codec is a stored form of elements that differs from the one in memory. It
// stores Elements elements in a block of Bytes bytes. Quantised weights have 32
// elements in 34 bytes; big-endian numbers have 1 element in its own width.
type Codec struct {
	Elements int // of a block, 1 or more
	Bytes    int // of a block, 1 or more

	// Decode writes the elements of whole blocks to dst, little-endian. src holds
	// their stored bytes, a multiple of Bytes; dst is as long as the elements.
	// Many goroutines call it at once.
	Decode func(dst, src []byte)

	// Scattered, which may be nil, is Decode of rows that lie at the given places of src;
	// their elements follow each other in dst, as many blocks of each row as fill it. A
	// Table uses it where that is faster than to decode one row after the other.
	Scattered func(dst, src []byte, at []int64)
}

// A File is an Array in one file, or in segments of many. It is safe for
// concurrent use, Close included.
type File struct {
	spec    garner.Spec
	size    int64 // bytes of the array in memory
	rowSize int64 // bytes of a row along axis 0; 0 where such rows are not contiguous
	storage
	parts []part
	files []*handle
	of    *File          // that a view shares its files with, see Convert; nil of a File that Open made
	from  []garner.DType // that a view was converted from, the stored one first

	users mapped.Users // calls in progress; the last one after Close frees the rest

	mu     sync.Mutex
	free   [][]byte     // free list of scratch
	rings  []*ring.Ring // free list of io_urings
	noRing bool         // the system refused to create one
}

// A part is a segment and the range of the array that it holds.
type part struct {
	from, to int64 // bytes of the array in memory
	file     *handle
	offset   int64 // in the file
}

// A handle is one open file.
type handle struct {
	path  string
	file  *os.File
	read  io.ReaderAt  // file, or a test's replacement
	begin mapped.Stamp // the file's state when it was opened
	info  fs.FileInfo  // the same, for what a Stamp lacks

	once sync.Once
	view *mapped.File // nil where the system does not map it
}

// Open opens the array that spec describes and that the segments hold, in their
// order.
//
//	spec      has all its dims; strides only where the elements are not stored row-major, and then dense ones
//	codec     nil where the files hold the elements as memory does, little-endian
//	segments  ranges of files; with a codec, of whole blocks
//
// Open checks that each segment lies inside its file, and that together they
// hold exactly the bytes that spec takes. So a header can neither name bytes
// that the file does not have nor make a reader allocate more than it holds.
//
// A spec without such an array is an ErrDType or an ErrShape; a file that does
// not fit it is a *ReadError. Open opens each path once and reads nothing.
func Open(spec garner.Spec, codec *Codec, segments ...Segment) (*File, error) {
	f := &File{spec: spec}
	var err error
	if f.size, err = sizeOf(spec); err != nil {
		return nil, err
	}
	if err := dense(spec); err != nil {
		return nil, err
	}
	f.rowSize = rowSize(spec, f.size)
	if codec != nil {
		if spec.DType.Packed() {
			return nil, garner.Errorf(garner.ErrDType, "a codec cannot store %s, whose elements are narrower than a byte; decode to u8", spec.DType)
		}
		if codec.Elements < 1 || codec.Bytes < 1 || codec.Decode == nil || codec.Elements > math.MaxInt32 || codec.Bytes > math.MaxInt32 {
			return nil, garner.Errorf(nil, "a codec of %d elements in %d bytes; both must be 1 or more, and Decode be given", codec.Elements, codec.Bytes)
		}
	}
	f.storage = storageOf(codec, spec.DType)
	if err := f.open(segments); err != nil {
		f.Close()
		return nil, err
	}
	return f, nil
}

func (f *File) open(segments []Segment) error {
	byPath := map[string]*handle{}
	for _, s := range segments {
		h := byPath[s.Path]
		if h == nil {
			file, info, err := mapped.OpenFile(s.Path)
			if err != nil {
				return &ReadError{Path: s.Path, Row: -1, Err: err, told: true}
			}
			mapped.Alone(file) // no read-ahead: a request names every byte it needs
			h = &handle{path: s.Path, file: file, read: file, info: info}
			byPath[s.Path] = h
			f.files = append(f.files, h)
			if h.begin, err = mapped.StampOf(file); err != nil {
				return &ReadError{Path: s.Path, Row: -1, Err: err}
			}
		}
		size := h.begin.Size
		switch {
		case s.Offset < 0 || s.Bytes < 0:
			return &ReadError{Path: s.Path, Row: -1, Err: garner.Errorf(nil, "%d bytes from byte %d on are no piece of a file; its header is damaged", s.Bytes, s.Offset)}
		case s.Offset > size || s.Bytes > size-s.Offset:
			return &ReadError{Path: s.Path, Row: -1, From: s.Offset, To: s.Offset + min(s.Bytes, math.MaxInt64-s.Offset),
				Err: garner.Errorf(io.ErrUnexpectedEOF, "the file has %d bytes, fewer than are said to lie in it; it was cut short, or its header is damaged", size)}
		case s.Bytes%f.stored != 0:
			return &ReadError{Path: s.Path, Row: -1, From: s.Offset, To: s.Offset + s.Bytes,
				Err: garner.Errorf(nil, "%d bytes are no whole number of blocks of %d bytes; cut the array between blocks", s.Bytes, f.stored)}
		}
		if s.Bytes == 0 {
			continue
		}
		p := part{file: h, offset: s.Offset}
		if n := len(f.parts); n > 0 {
			p.from = f.parts[n-1].to
		}
		high, length := bits.Mul64(uint64(s.Bytes/f.stored), uint64(f.block))
		if high > 0 || length > uint64(math.MaxInt64-p.from) {
			return &ReadError{Path: s.Path, Row: -1, Err: garner.Errorf(garner.ErrShape, "the segments hold more bytes than can be counted")}
		}
		p.to = p.from + int64(length)
		f.parts = append(f.parts, p)
	}
	held := int64(0)
	if n := len(f.parts); n > 0 {
		held = f.parts[n-1].to
	}
	// The last block of a codec may have padding.
	if held < f.size || held-f.size >= f.block {
		path := "no file"
		if len(segments) > 0 {
			path = segments[0].Path
		}
		return &ReadError{Path: path, Row: -1, Err: garner.Errorf(garner.ErrShape, "%s takes %d bytes and the segments hold %d; the header is damaged, or the dtype or the shape is another", f.spec, f.size, held)}
	}
	return nil
}

// sizeOf returns the bytes that the elements of an array take in memory. A spec
// with unknown dims, of strings, or of more bytes than an int counts is an error.
func sizeOf(spec garner.Spec) (int64, error) {
	shape, ok := spec.Shape()
	if !ok || len(shape) > garner.MaxRank {
		return 0, garner.Errorf(garner.ErrShape, "an array needs all its dims, %d at most, and is %s", garner.MaxRank, spec)
	}
	if spec.DType.Bits() == 0 {
		return 0, garner.Errorf(garner.ErrDType, "an array of %s has no bytes; its elements must be of a fixed width", spec.DType)
	}
	if _, ok := shape.Len(); !ok {
		return 0, garner.Errorf(garner.ErrShape, "%s holds more elements than an int can count", spec)
	}
	n, ok := spec.Bytes()
	if !ok || n > math.MaxInt {
		return 0, garner.Errorf(garner.ErrShape, "%s has more bytes than an int can count", spec)
	}
	return n, nil
}

// dense refuses strides that leave gaps between elements or share elements.
func dense(spec garner.Spec) error {
	if spec.Strides == nil {
		return nil
	}
	shape, _ := spec.Shape()
	bad := func() error {
		return garner.Errorf(garner.ErrShape, "strides %v of %s are not those of elements stored side by side", spec.Strides, spec)
	}
	if len(spec.Strides) != len(shape) {
		return bad()
	}
	if n, _ := shape.Len(); n == 0 {
		return nil
	}
	axes := make([]int, 0, len(shape))
	for i, d := range shape {
		if d > 1 {
			axes = append(axes, i)
		}
	}
	slices.SortFunc(axes, func(a, b int) int { return cmp.Compare(spec.Strides[a], spec.Strides[b]) })
	n := 1
	for _, i := range axes {
		if spec.Strides[i] != n {
			return bad()
		}
		n *= shape[i]
	}
	return nil
}

// rowSize returns the bytes of a row along axis 0. It is 0 where rows are not
// contiguous, one behind the other, and of whole bytes.
func rowSize(spec garner.Spec, size int64) int64 {
	if len(spec.Dims) == 0 || spec.Dims[0].Min == 0 {
		return 0
	}
	rows := int64(spec.Dims[0].Min)
	n, _ := sizeOf(garner.Spec{DType: spec.DType, Rank: garner.Exactly(len(spec.Dims) - 1), Dims: spec.Dims[1:]})
	if n == 0 || n > size/rows || n*rows != size {
		return 0
	}
	if s := spec.Strides; s != nil && rows > 1 && int64(s[0])*int64(spec.DType.Bits()) != n*8 {
		return 0
	}
	return n
}

// Spec returns the array's dtype, dims and strides.
func (f *File) Spec() garner.Spec { return f.spec }

// Close closes the files and unmaps them. Calls of other goroutines that have begun,
// of the File and of what uses it (Gather, a Table, a Resolver, a tensor that Tensor
// returned), end as if it came later, and the last of them closes and unmaps: Close
// waits for none. Calls that begin later are an fs.ErrClosed. A second Close does
// nothing.
func (f *File) Close() error {
	f = f.opened()
	return f.users.Close(f.shut)
}

// shut closes what the File holds.
func (f *File) shut() error {
	var first error
	for _, r := range f.rings {
		if err := r.Close(); err != nil {
			first = err
		}
	}
	f.rings, f.noRing = nil, true
	for _, h := range f.files {
		h.once.Do(func() {}) // a closed file is not mapped later
		if h.view != nil {
			if err := h.view.Close(); err != nil && first == nil {
				first = err
			}
			h.view = nil
		}
		if err := h.file.Close(); err != nil && !errors.Is(err, os.ErrClosed) && first == nil {
			first = &ReadError{Path: h.path, Row: -1, Err: err}
		}
	}
	return first
}

// enter keeps the files open and mapped until leave at the same place; see
// mapped.Users. It is an fs.ErrClosed after Close.
func (f *File) enter(place uint) error {
	if f.opened().users.Enter(place) {
		return nil
	}
	f.leave(place)
	path := "an array without a file"
	if len(f.files) > 0 {
		path = f.files[0].path
	}
	return &ReadError{Path: path, Row: -1, Err: mapped.Closed(path), told: true}
}

func (f *File) leave(place uint) {
	f = f.opened()
	if f.users.Leave(place) {
		_ = f.users.FreeIdle(f.shut) // the files were only read: an error loses nothing
	}
}

// mapping maps the whole file on the first call. It is nil where the system does
// not map it.
func (h *handle) mapping() *mapped.File {
	h.once.Do(func() {
		if view, err := mapped.Map(h.path, h.file); err == nil {
			view.Scattered()
			h.view = view
		}
	})
	return h.view
}

// locate returns the file and the offset at which a byte of the array is stored,
// or at which its codec's block begins.
func (f *File) locate(at int64) (*handle, int64) {
	p := &f.parts[f.partAt(at)]
	return p.file, f.offset(p, at)
}

// offset returns the offset in its file at which a byte of a part is stored, or at which
// its codec's block begins.
func (f *File) offset(p *part, at int64) int64 { return p.offset + f.at(at-p.from) }

// partAt returns the number of the part that holds a byte of the array.
func (f *File) partAt(at int64) int {
	low, high := 0, len(f.parts)-1
	for low < high {
		if mid := (low + high) / 2; f.parts[mid].to > at {
			high = mid
		} else {
			low = mid + 1
		}
	}
	return low
}

// Tensor returns a view of the array in the mapped file, which the File keeps: see
// garner.Tensor.KeptBy. It is false where a codec stores the elements, where there
// are several segments, where the system does not map the file, and after Close. The
// first access to a page reads it, and the page then counts as resident memory.
func (f *File) Tensor() (garner.Tensor, bool) {
	if f.enter(0) != nil {
		return garner.Tensor{}, false
	}
	defer f.leave(0)
	t, ok := f.tensor()
	if !ok {
		return t, false
	}
	return t.KeptBy(keeper{f, f.parts[0].file.view}), true
}

// tensor is Tensor without a Keeper, for callers inside enter and leave.
func (f *File) tensor() (garner.Tensor, bool) {
	b := f.view()
	if b == nil {
		return garner.Tensor{}, false
	}
	shape, _ := f.spec.Shape()
	t, err := garner.FromStrided(f.spec.DType, b, 0, shape, stridesOf(f.spec))
	return t.Volatile(), err == nil
}

// A keeper keeps the mapping of a File's only segment.
type keeper struct {
	file *File
	view *mapped.File
}

func (k keeper) Hold() error             { return k.file.enter(0) }
func (k keeper) Check(read []byte) error { return k.view.Check(read) }
func (k keeper) Release()                { k.file.leave(0) }

// Changed is a *ReadError that wraps ErrChanged where a file has changed since
// Open: its size or its time of modification differs; its path names another file; or
// its time of change differs, though its name, mode, owner and number of links are the
// same. A file that was cut short is a garner.ErrFault too; one that was removed still
// has its bytes. It costs two system calls a file and reads nothing. Gather calls it
// before it reports success.
func (f *File) Changed() error {
	if err := f.enter(0); err != nil {
		return err
	}
	defer f.leave(0)
	return f.changed()
}

// changed is Changed for callers inside enter and leave.
func (f *File) changed() error {
	if err := f.rewritten(); err != nil {
		return err
	}
	for _, h := range f.files {
		// A file that was removed still has its bytes.
		if there, err := os.Stat(h.path); err == nil && !os.SameFile(there, h.info) {
			return &ReadError{Path: h.path, Row: -1, Err: garner.Errorf(ErrChanged, "the file was replaced by another while it was read; run again on the new one")}
		}
	}
	return nil
}

// rewritten is the error of the first file that was cut short, extended or written to
// since Open. It makes one system call a file and allocates nothing where the files are
// as they were.
func (f *File) rewritten() error {
	for _, h := range f.files {
		if err := h.rewritten(); err != nil {
			return err
		}
	}
	return nil
}

func (h *handle) rewritten() error {
	now, err := mapped.StampOf(h.file)
	switch was := h.begin; {
	case err != nil:
	case now == was:
		return nil
	case now.Size < was.Size:
		err = mapped.CutShort(errCut, was.Size, now.Size)
	case now.Size > was.Size:
		err = garner.Errorf(ErrChanged, "the file grew while it was read, from %d bytes to %d; run again when it is complete", was.Size, now.Size)
	case !now.Modified.Equal(was.Modified) || mapped.Renewed(h.path, h.file, h.info):
		err = garner.Errorf(ErrChanged, "the file was written to while it was read; run again on one that is left alone")
	default:
		return nil
	}
	return &ReadError{Path: h.path, Row: -1, Err: err}
}
