// Package bundle reads the index of a TensorFlow checkpoint, PREFIX.index: which tensors
// there are, and where their elements are in the files of elements, PREFIX.data-00000-of-00001
// and so on. It opens no file.
//
// Spec: https://github.com/tensorflow/tensorflow/blob/master/tensorflow/core/util/tensor_bundle/tensor_bundle.h
package bundle

import (
	"cmp"
	"encoding/binary"
	"errors"
	"fmt"
	"maps"
	"math"
	"slices"
	"strings"
	"unicode/utf8"

	"google.golang.org/protobuf/proto"

	"github.com/garner-go/garner/tensorflow/graphdef/internal/tfpb"
)

// MostBytes is the most bytes that an index may have. A real one has some hundred for each
// tensor.
const MostBytes = 64 << 20

// An Index is what a checkpoint has, in the order of its keys.
type Index struct {
	Shards  int
	Entries []Entry // the tensors, without the slices of them

	slices map[string]*Entry // the slices that tensors are stored in, by their keys
}

// An Entry is a tensor, or a slice of one.
type Entry struct {
	Key          string
	DType        tfpb.DataType
	Shape        []int64
	Shard        int
	Offset, Size int64 // bytes in the file of the shard
	Sum          uint32
	Slices       []Slice // of a tensor that is stored in slices: they are its elements, each once; the place of such an entry means nothing
}

// A Slice is a part of a tensor: Length elements from Start on of each axis; Whole is all.
type Slice struct{ Start, Length []int64 }

// Whole is the Length of an axis that is not cut.
const Whole = -1

// Shard names the file of a shard: PREFIX.data-00000-of-00001.
func Shard(prefix string, number, of int) string {
	return fmt.Sprintf("%s.data-%05d-of-%05d", prefix, number, of)
}

// Read reads an index.
func Read(b []byte) (*Index, error) {
	list, err := table(b)
	if err != nil {
		return nil, err
	}
	if len(list) == 0 || len(list[0].key) > 0 {
		return nil, errors.New("the index has no header: it is of another kind, or corrupt; get it again")
	}
	var head tfpb.BundleHeaderProto
	if err := unmarshal.Unmarshal(list[0].value, &head); err != nil {
		return nil, fmt.Errorf("the header of the index: %w", err)
	}
	switch {
	case head.NumShards < 1:
		return nil, fmt.Errorf("its elements are in %d files by its own account; there is 1 or more", head.NumShards)
	case head.Endianness != tfpb.BundleHeaderProto_LITTLE:
		return nil, errors.New("its elements are big-endian, which garner does not read; save the checkpoint on a little-endian machine")
	case head.GetVersion().GetMinConsumer() > 1:
		return nil, fmt.Errorf("its format is of version %d, newer than this garner, which reads 1; save it by another TensorFlow", head.GetVersion().GetMinConsumer())
	}
	x := &Index{Shards: int(head.NumShards), slices: map[string]*Entry{}}
	for _, e := range list[1:] {
		made, err := x.entry(e)
		if err != nil {
			return nil, fmt.Errorf("entry %.200q of the index: %w", e.key, err)
		}
		if e.key[0] == 0 { // of a slice
			x.slices[made.Key] = made
			continue
		}
		if !utf8.Valid(e.key) {
			return nil, fmt.Errorf("entry %.200q of the index: its name is no UTF-8", e.key)
		}
		x.Entries = append(x.Entries, *made)
	}
	return x, x.apart()
}

var unmarshal = proto.UnmarshalOptions{DiscardUnknown: true}

// entry reads and checks one entry.
func (x *Index) entry(e entry) (*Entry, error) {
	var p tfpb.BundleEntryProto
	if err := unmarshal.Unmarshal(e.value, &p); err != nil {
		return nil, fmt.Errorf("it is no entry: %w", err)
	}
	made := &Entry{Key: string(e.key), DType: p.Dtype, Shard: int(p.ShardId), Offset: p.Offset, Size: p.Size, Sum: p.Crc32C}
	if p.GetShape().GetUnknownRank() {
		return nil, errors.New("its shape is not said: the index is corrupt; get it again")
	}
	for i, d := range p.GetShape().GetDim() {
		if d.Size < 0 {
			return nil, fmt.Errorf("its dim %d is %d; a tensor's dims are 0 or more", i, d.Size)
		}
		made.Shape = append(made.Shape, d.Size)
	}
	for i, s := range p.Slices {
		if len(s.Extent) != len(made.Shape) {
			return nil, fmt.Errorf("its slice %d has %d dims, and the tensor has %d: the index is corrupt; get it again", i, len(s.Extent), len(made.Shape))
		}
		slice := Slice{}
		for axis, e := range s.Extent {
			start, length := e.Start, int64(Whole)
			if have, ok := e.HasLength.(*tfpb.TensorSliceProto_Extent_Length); ok {
				length = have.Length
			} else if start != 0 {
				return nil, fmt.Errorf("its slice %d has no length along axis %d: the index is corrupt; get it again", i, axis)
			}
			if size := made.Shape[axis]; length != Whole && (start < 0 || length < 0 || start > size || length > size-start) {
				return nil, fmt.Errorf("its slice %d has %d elements from %d on of axis %d, which has %d: the index is corrupt; get it again", i, length, start, axis, size)
			}
			slice.Start, slice.Length = append(slice.Start, start), append(slice.Length, length)
		}
		made.Slices = append(made.Slices, slice)
	}
	if len(made.Slices) > 0 {
		return made, tiled(made.Shape, made.Slices)
	}
	switch {
	case p.ShardId < 0 || int(p.ShardId) >= x.Shards:
		return nil, fmt.Errorf("its elements are in file %d, and there are %d: the index is corrupt; get it again", p.ShardId, x.Shards)
	case p.Offset < 0 || p.Size < 0 || p.Size > math.MaxInt64-p.Offset:
		return nil, fmt.Errorf("its elements are %d bytes from %d on, which no file has: the index is corrupt; get it again", p.Size, p.Offset)
	}
	return made, nil
}

// apart refuses entries that share bytes of a file, which no writer makes.
func (x *Index) apart() error {
	var all []*Entry
	for i := range x.Entries {
		if e := &x.Entries[i]; e.Size > 0 && len(e.Slices) == 0 {
			all = append(all, e)
		}
	}
	for _, e := range x.slices {
		if e.Size > 0 {
			all = append(all, e)
		}
	}
	slices.SortFunc(all, func(a, b *Entry) int {
		return cmp.Or(cmp.Compare(a.Shard, b.Shard), cmp.Compare(a.Offset, b.Offset), strings.Compare(a.Key, b.Key))
	})
	for i := 1; i < len(all); i++ {
		if a, b := all[i-1], all[i]; a.Shard == b.Shard && b.Offset-a.Offset < a.Size {
			return fmt.Errorf("entries %.200q and %.200q of the index have bytes in common: it is corrupt; get it again", a.Key, b.Key)
		}
	}
	return nil
}

// Find finds a tensor by its key; nil where there is none.
func (x *Index) Find(key string) *Entry {
	i, ok := slices.BinarySearchFunc(x.Entries, key, func(e Entry, key string) int { return strings.Compare(e.Key, key) })
	if !ok {
		return nil
	}
	return &x.Entries[i]
}

// Slice finds the place of a slice of a tensor; nil where the checkpoint has none.
func (x *Index) Slice(key string, s Slice) *Entry { return x.slices[SliceKey(key, s)] }

// SliceKey is the key of a slice in TensorFlow's ordered code: 0, the tensor's key, the
// number of dims, and start and length along each.
func SliceKey(key string, s Slice) string {
	b := []byte{0}
	for _, c := range []byte(key) {
		switch c {
		case 0:
			b = append(b, 0, 0xff)
		case 0xff:
			b = append(b, 0xff, 0)
		default:
			b = append(b, c)
		}
	}
	b = append(b, 0, 1)
	if n := len(s.Start); n > 0 {
		b = append(b, 1, byte(n)) // a byte's length, and the byte: a tensor has fewer dims than 256
	} else {
		b = append(b, 0)
	}
	for i := range s.Start {
		b = appendOrdered(b, s.Start[i])
		b = appendOrdered(b, s.Length[i])
	}
	return string(b)
}

// appendOrdered appends an integer: as many leading ones as it has bytes, a zero, and
// its bits in two's complement. The bits of a negative one are inverted, the ones too.
func appendOrdered(b []byte, v int64) []byte {
	positive := uint64(v)
	if v < 0 {
		positive = ^positive
	}
	n := 1 // bytes: each gives 7 bits, one of them the sign
	for n < 10 && (n*7-1 < 64 && positive>>(n*7-1) != 0) {
		n++
	}
	var all [10]byte
	binary.BigEndian.PutUint64(all[2:], uint64(v))
	if v < 0 {
		all[0], all[1] = 0xff, 0xff
	}
	made := all[10-n:]
	// The ones: byte 0 has up to 8, and byte 1 the others.
	ones := uint16(0xffff) << (16 - n)
	made[0] ^= byte(ones >> 8)
	if n > 1 {
		made[1] ^= byte(ones)
	}
	return append(b, made...)
}

// Texts reads n strings as a tensor of them is stored: the lengths as varints, the checksum
// of the lengths, and the strings. It checks that checksum and the whole one.
func Texts(b []byte, n int, sum uint32) ([]string, error) {
	if n > len(b) { // each takes a byte at least
		return nil, fmt.Errorf("it has %d bytes for %d strings: the checkpoint is cut short or corrupt; get it again", len(b), n)
	}
	lengths := make([]uint64, n)
	plain := make([]byte, 0, 4*n) // the lengths as their checksum has them
	rest := b
	for i := range lengths {
		v, size := binary.Uvarint(rest)
		if size <= 0 {
			return nil, errTexts
		}
		lengths[i], rest = v, rest[size:]
		if v <= math.MaxUint32 {
			plain = binary.LittleEndian.AppendUint32(plain, uint32(v))
		} else {
			plain = binary.LittleEndian.AppendUint64(plain, v)
		}
	}
	if len(rest) < 4 {
		return nil, errTexts
	}
	if binary.LittleEndian.Uint32(rest) != Sum(plain) || Sum(plain, rest) != sum {
		return nil, errors.New("its checksum differs from the one in the index: the checkpoint is corrupt; get it again")
	}
	rest = rest[4:]
	made := make([]string, n)
	for i, v := range lengths {
		if v > uint64(len(rest)) {
			return nil, errTexts
		}
		made[i], rest = string(rest[:v]), rest[v:]
	}
	if len(rest) > 0 {
		return nil, errTexts
	}
	return made, nil
}

var errTexts = errors.New("the lengths of its strings and its bytes do not agree: the checkpoint is corrupt; get it again")

// Used lists the numbers of the files that hold elements, in their order.
func (x *Index) Used() []int {
	seen := map[int]bool{}
	for i := range x.Entries {
		if e := &x.Entries[i]; len(e.Slices) == 0 {
			seen[e.Shard] = true
		}
	}
	for _, e := range x.slices {
		seen[e.Shard] = true
	}
	return slices.Sorted(maps.Keys(seen))
}
