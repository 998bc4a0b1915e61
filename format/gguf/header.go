package gguf

import (
	"bufio"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"math"
	"math/bits"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/garner-go/garner"
	"github.com/garner-go/garner/internal/names"
)

// ErrFormat is the class of errors about a file that is not GGUF, or is corrupt.
var ErrFormat = errors.New("gguf format")

const (
	magic = "GGUF"

	defaultAlignment = 32

	// maxName limits the name of a tensor, in bytes. The format itself allows 64.
	maxName = 1<<16 - 1

	// maxTensors limits the tensors of a file, to about fifty times those of the
	// largest models.
	maxTensors = 1 << 17

	// maxValues limits the metadata values of a file. Models have up to a hundred.
	maxValues = 1 << 17

	// maxDepth limits the nesting of arrays in the metadata. Programs that write
	// models nest none.
	maxDepth = 16
)

// The metadata that a reader of tensors needs.
const (
	keyAlignment    = "general.alignment"
	keySplit        = "split.no"
	keySplits       = "split.count"
	keySplitTensors = "split.tensors.count"
)

func formatError(format string, args ...any) error {
	return garner.Errorf(ErrFormat, format, args...)
}

// A head is the contents of a file's header.
type head struct {
	version int
	big     bool // big-endian
	tensors []Tensor

	split, splits int64 // number of this file and of all files of a split model; 0 of 0 otherwise
	splitTensors  int64 // tensors in all of them; -1 if unknown
}

// A reader reads a header front to back and tracks its offset.
type reader struct {
	src   io.ReadSeeker
	buf   *bufio.Reader
	order binary.ByteOrder
	at    int64
	size  int64
	what  string // the item being read, for messages
	tmp   [8]byte
}

// left returns the number of bytes left.
func (r *reader) left() uint64 { return uint64(r.size - r.at) }

func (r *reader) ended() error {
	return formatError("it ends after %d bytes, inside %s; it was cut short: copy or download it again", r.size, r.what)
}

func (r *reader) full(b []byte) error {
	if uint64(len(b)) > r.left() {
		return r.ended()
	}
	n, err := io.ReadFull(r.buf, b)
	r.at += int64(n)
	return r.failed(err)
}

// failed distinguishes a file that was truncated meanwhile from one that cannot be
// read.
func (r *reader) failed(err error) error {
	switch err {
	case nil:
		return nil
	case io.EOF, io.ErrUnexpectedEOF:
		return formatError("it was cut short while it was read; run again when nothing writes to it")
	}
	return garner.Errorf(err, "it cannot be read after byte %d: %v", r.at, err)
}

// skip skips n bytes without reading them.
func (r *reader) skip(n uint64) error {
	if n > r.left() {
		return r.ended()
	}
	r.at += int64(n)
	if n <= uint64(r.buf.Buffered()) {
		_, err := r.buf.Discard(int(n))
		return r.failed(err)
	}
	if _, err := r.src.Seek(r.at, io.SeekStart); err != nil {
		return garner.Errorf(err, "it cannot be read after byte %d: %v", r.at, err)
	}
	r.buf.Reset(r.src)
	return nil
}

func (r *reader) u32() (uint32, error) {
	err := r.full(r.tmp[:4])
	return r.order.Uint32(r.tmp[:]), err
}

func (r *reader) u64() (uint64, error) {
	err := r.full(r.tmp[:])
	return r.order.Uint64(r.tmp[:]), err
}

// text reads a string of up to most bytes. It skips a longer one and returns "".
func (r *reader) text(most uint64) (s string, n uint64, err error) {
	if n, err = r.u64(); err != nil {
		return "", 0, err
	}
	if n > r.left() {
		return "", n, formatError("%s has a string of %d bytes, and after it the file has %d; it is spoilt, or was cut short: copy or download it again", r.what, n, r.left())
	}
	if n > most {
		return "", n, r.skip(n)
	}
	b := make([]byte, n)
	err = r.full(b)
	return string(b), n, err
}

// parse reads the header of a file of size bytes from its beginning.
func parse(src io.ReadSeeker, size int64) (*head, error) {
	r := &reader{src: src, buf: bufio.NewReaderSize(src, 64<<10), order: binary.LittleEndian, size: size, what: "its first 24 bytes"}
	h := &head{splitTensors: -1}
	var start [8]byte
	first := start[:min(size, int64(len(magic)))]
	if err := r.full(first); err != nil {
		return nil, err
	}
	if string(first) != magic {
		return nil, formatError("it is no GGUF file: that begins with %q, this with %q; convert the model with convert_hf_to_gguf.py of llama.cpp", magic, first)
	}
	if err := r.full(start[4:]); err != nil {
		return nil, err
	}
	version := binary.LittleEndian.Uint32(start[4:])
	if version&0xffff == 0 { // the test of the reference for byte order
		h.big, r.order = true, binary.BigEndian
		version = binary.BigEndian.Uint32(start[4:])
	}
	if version != 2 && version != 3 {
		return nil, formatError("it is GGUF version %d; versions 2 and 3 are read: convert the model again with a recent llama.cpp", version)
	}
	h.version = int(version)
	tensors, err := r.u64()
	if err != nil {
		return nil, err
	}
	values, err := r.u64()
	if err != nil {
		return nil, err
	}
	// The minimum size of each: a key and a name may be empty.
	const leastValue, leastTensor = 8 + 4 + 1, 8 + 4 + 4 + 8
	switch {
	case values > r.left()/leastValue:
		return nil, formatError("its header asks for %d metadata values, more than its %d bytes can hold; it is spoilt: copy or download it again", values, size)
	case tensors > r.left()/leastTensor:
		return nil, formatError("its header asks for %d tensors, more than its %d bytes can list; it is spoilt: copy or download it again", tensors, size)
	case values > maxValues:
		return nil, formatError("its header lists %d metadata values; up to %d are read: convert the model again", values, maxValues)
	case tensors > maxTensors:
		return nil, formatError("its header lists %d tensors; up to %d are read: split the model", tensors, maxTensors)
	}
	alignment, err := r.metadata(h, values)
	if err != nil {
		return nil, err
	}
	if err := r.list(h, tensors); err != nil {
		return nil, err
	}
	return h, h.place(r.at, size, alignment)
}

// metadata reads the metadata and keeps the values that a reader needs.
func (r *reader) metadata(h *head, count uint64) (alignment int64, err error) {
	alignment = defaultAlignment
	seen := make(map[string]bool)
	for i := range count {
		r.what = fmt.Sprintf("metadata value %d of %d", i+1, count)
		key, _, err := r.text(64) // longer than the keys that are needed
		if err != nil {
			return 0, err
		}
		if key != "" {
			r.what = "metadata value " + names.Quote(key)
		}
		kind, err := r.u32()
		if err != nil {
			return 0, err
		}
		var to *int64
		switch key {
		case keyAlignment:
			to = &alignment
		case keySplit:
			to = &h.split
		case keySplits:
			to = &h.splits
		case keySplitTensors:
			to = &h.splitTensors
		default:
			if err := r.value(kind, 0); err != nil {
				return 0, err
			}
			continue
		}
		if seen[key] {
			return 0, formatError("%s stands there twice; it is spoilt: convert the model again", r.what)
		}
		seen[key] = true
		if *to, err = r.integer(kind); err != nil {
			return 0, err
		}
		if key == keyAlignment && (kind != typeUint32 || *to == 0 || bits.OnesCount64(uint64(*to)) != 1) {
			return 0, formatError("its %s is %d, of type %d; it must be a power of two of type %d (uint32): convert the model again", key, *to, kind, typeUint32)
		}
	}
	return alignment, nil
}

// The types of metadata values.
const (
	typeUint8 = iota
	typeInt8
	typeUint16
	typeInt16
	typeUint32
	typeInt32
	typeFloat32
	typeBool
	typeString
	typeArray
	typeUint64
	typeInt64
	typeFloat64
)

// widths are the sizes of the types of fixed size, in bytes.
var widths = map[uint32]uint64{
	typeUint8: 1, typeInt8: 1, typeUint16: 2, typeInt16: 2, typeUint32: 4, typeInt32: 4, typeFloat32: 4,
	typeBool: 1, typeUint64: 8, typeInt64: 8, typeFloat64: 8,
}

// integer reads a nonnegative integer.
func (r *reader) integer(kind uint32) (int64, error) {
	width := widths[kind]
	if kind == typeFloat32 || kind == typeFloat64 || kind == typeBool || width == 0 {
		return 0, formatError("%s is of type %d, where an integer belongs; it is spoilt: convert the model again", r.what, kind)
	}
	var b [8]byte
	if err := r.full(b[:width]); err != nil {
		return 0, err
	}
	var n uint64
	signed := false
	switch kind {
	case typeUint8, typeInt8:
		n, signed = uint64(b[0]), kind == typeInt8 && b[0]>>7 != 0
	case typeUint16, typeInt16:
		v := r.order.Uint16(b[:])
		n, signed = uint64(v), kind == typeInt16 && v>>15 != 0
	case typeUint32, typeInt32:
		v := r.order.Uint32(b[:])
		n, signed = uint64(v), kind == typeInt32 && v>>31 != 0
	default:
		n = r.order.Uint64(b[:])
	}
	if signed || n > math.MaxInt64 {
		return 0, formatError("%s is negative or beyond counting; it is spoilt: convert the model again", r.what)
	}
	return int64(n), nil
}

// value skips a value.
func (r *reader) value(kind uint32, depth int) error {
	if width, ok := widths[kind]; ok {
		return r.skip(width)
	}
	switch kind {
	case typeString:
		_, _, err := r.text(0)
		return err
	case typeArray:
		return r.array(depth)
	}
	return formatError("%s is of type %d, which the format does not have; it is spoilt, or of a newer version: convert the model again", r.what, kind)
}

func (r *reader) array(depth int) error {
	if depth == maxDepth {
		return formatError("%s nests arrays deeper than %d; it is spoilt: convert the model again", r.what, maxDepth)
	}
	kind, err := r.u32()
	if err != nil {
		return err
	}
	count, err := r.u64()
	if err != nil {
		return err
	}
	width, fixed := widths[kind]
	least := width
	switch {
	case kind == typeString:
		least = 8
	case kind == typeArray:
		least = 4 + 8
	case !fixed:
		return formatError("%s is an array of type %d, which the format does not have; it is spoilt, or of a newer version: convert the model again", r.what, kind)
	}
	if count > r.left()/least {
		return formatError("%s is an array of %d values, more than the %d bytes after it can hold; it is spoilt, or was cut short: copy or download it again", r.what, count, r.left())
	}
	if fixed {
		return r.skip(count * width)
	}
	for range count {
		if err := r.value(kind, depth+1); err != nil {
			return err
		}
	}
	return nil
}

// list reads the list of tensors.
func (r *reader) list(h *head, count uint64) error {
	seen := make(map[string]bool)
	for i := range count {
		r.what = fmt.Sprintf("entry %d of its list of %d tensors", i+1, count)
		name, n, err := r.text(maxName)
		switch {
		case err != nil:
			return err
		case n > maxName:
			return formatError("%s has a name of %d bytes; it is spoilt: convert the model again", r.what, n)
		case !utf8.ValidString(name):
			return formatError("%s has the name %s, which is not UTF-8; it is spoilt: convert the model again", r.what, names.Quote(name))
		case seen[name]:
			return formatError("it has two tensors named %s; it is spoilt: convert the model again", names.Quote(name))
		}
		seen[name] = true
		r.what = "the entry of tensor " + names.Quote(name) + " in its list"
		t, err := r.entry(name)
		if err != nil {
			return err
		}
		t.big = h.big
		h.tensors = append(h.tensors, t)
	}
	return nil
}

// entry reads the entry of a tensor after its name. At is relative to the beginning
// of the data.
func (r *reader) entry(name string) (t Tensor, err error) {
	t.Name = name
	what := "tensor " + names.Quote(name)
	rank, err := r.u32()
	if err != nil {
		return t, err
	}
	if rank > garner.MaxRank {
		return t, formatError("%s has %d dimensions; up to %d are read: it is spoilt, convert the model again", what, rank, garner.MaxRank)
	}
	t.Shape = make(garner.Shape, rank)
	for i := range t.Shape {
		d, err := r.u64()
		if err != nil {
			return t, err
		}
		if d > math.MaxInt {
			return t, formatError("%s has an extent of %d, more than an int can count; it is spoilt, convert the model again", what, d)
		}
		t.Shape[len(t.Shape)-1-i] = int(d)
	}
	if t.kind, err = r.u32(); err != nil {
		return t, err
	}
	at, err := r.u64()
	if err != nil {
		return t, err
	}
	if at > math.MaxInt64 {
		return t, formatError("%s begins at byte %d of the data, beyond any file; it is spoilt, convert the model again", what, at)
	}
	t.At, t.Bytes = int64(at), -1
	k, ok := kinds[t.kind]
	if !ok {
		t.Kind = fmt.Sprintf("kind %d", t.kind)
		return t, nil
	}
	t.Kind, t.DType = k.name, k.dtype
	if k.block > 1 && (rank == 0 || t.Shape[rank-1]%k.block != 0) {
		return t, formatError("%s is %s%s, and rows of it come in blocks of %d; it is spoilt, convert the model again", what, k.name, t.Shape, k.block)
	}
	count, ok := t.Shape.Len()
	high, low := bits.Mul64(uint64(count)/uint64(k.block), uint64(k.bytes))
	long := rank > 0 && t.Shape[rank-1]/k.block > math.MaxInt/k.bytes // a row, where another extent is 0
	if !ok || high != 0 || low > math.MaxInt64 || long {
		return t, formatError("%s is %s%s, more bytes than can be counted; it is spoilt, convert the model again", what, k.name, t.Shape)
	}
	t.Bytes = int64(low)
	return t, nil
}

// place checks the tensors against the file. The list ends at byte at, and the data
// begin at the next multiple of the alignment.
func (h *head) place(at, size, alignment int64) error {
	data := at
	if rest := at % alignment; rest != 0 {
		if data += alignment - rest; data < 0 {
			data = math.MaxInt64
		}
	}
	sorted := make([]*Tensor, len(h.tensors))
	for i := range h.tensors {
		t := &h.tensors[i]
		sorted[i] = t
		if t.At%alignment != 0 {
			return formatError("tensor %s begins at byte %d of the data, and the alignment is %d; it is spoilt, convert the model again", names.Quote(t.Name), t.At, alignment)
		}
		if t.Bytes == 0 {
			t.At = 0 // it has no bytes
			continue
		}
		if take := max(t.Bytes, 0); data > size || t.At > size-min(data, size) || take > size-min(data, size)-t.At {
			return formatError("tensor %s is %s%s, %s from byte %d of the data, and the file has %d bytes of data; it was cut short: copy or download it again",
				names.Quote(t.Name), t.Kind, t.Shape, strings.Replace(fmt.Sprintf("%d bytes", t.Bytes), "-1 bytes", "unknown bytes", 1), t.At, size-min(data, size))
		}
		t.At += data
	}
	slices.SortFunc(sorted, byOffset)
	var before *Tensor
	for _, t := range sorted {
		if t.Bytes == 0 {
			continue
		}
		if before != nil && t.At < before.At+max(before.Bytes, 1) {
			return formatError("tensor %s and tensor %s overlap, from byte %d of the file on; it is spoilt, convert the model again", names.Quote(before.Name), names.Quote(t.Name), t.At)
		}
		before = t
	}
	return nil
}
