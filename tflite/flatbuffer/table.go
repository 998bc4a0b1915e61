package flatbuffer

import (
	"encoding/binary"
	"fmt"
	"math"
	"unicode/utf8"

	"github.com/garner-go/garner"
)

// A flat is the bytes of a flatbuffer. Every access looks whether its bytes are there.
// The first that are not become err, and the access gives zeros, as do all later ones.
type flat struct {
	b   []byte
	err error
}

// failf keeps the first error.
func (f *flat) failf(format string, args ...any) {
	if f.err == nil {
		f.err = garner.Errorf(nil, format, args...)
	}
}

// bytes gives n bytes from byte at on; nil where the file does not have them.
func (f *flat) bytes(what string, at, n uint64) []byte {
	if size := uint64(len(f.b)); f.err == nil && (at > size || n > size-at) {
		f.failf("%s takes %d bytes from byte %d on, and the file has %d: it is cut short or damaged; get it again", what, n, at, size)
	}
	if f.err != nil {
		return nil
	}
	return f.b[at : at+n : at+n]
}

func (f *flat) u16(what string, at uint64) uint16 {
	if b := f.bytes(what, at, 2); b != nil {
		return binary.LittleEndian.Uint16(b)
	}
	return 0
}

func (f *flat) u32(what string, at uint64) uint32 {
	if b := f.bytes(what, at, 4); b != nil {
		return binary.LittleEndian.Uint32(b)
	}
	return 0
}

// A table is a table of the schema: fields that its vtable places in it.
type table struct {
	*flat
	kind   string // its name in the schema, for messages
	at     uint64 // of its bytes; 0 for a table that is not there, whose fields have their defaults
	size   uint16 // bytes of its fields
	vtable uint64
	slots  uint16 // bytes of the vtable
}

// there reports whether the file has the table.
func (t table) there() bool { return t.at != 0 }

// table gives the table at byte at.
func (f *flat) table(kind string, at uint64) table {
	t := table{flat: f, kind: kind, at: at}
	back := int64(int32(f.u32(kind, at)))
	if f.err != nil {
		return table{flat: f, kind: kind}
	}
	vtable := int64(at) - back
	if vtable < 0 || vtable > int64(len(f.b)) {
		f.failf("the vtable of the %s at byte %d is at byte %d, which is not in the file: it is damaged; get it again", kind, at, vtable)
		return table{flat: f, kind: kind}
	}
	t.vtable = uint64(vtable)
	t.slots, t.size = f.u16(kind, t.vtable), f.u16(kind, t.vtable+2)
	f.bytes(kind, t.vtable, uint64(t.slots))
	f.bytes(kind, at, uint64(t.size))
	if f.err == nil && (t.slots < 4 || t.size < 4) {
		f.failf("the vtable of the %s at byte %d is no vtable: the file is damaged; get it again", kind, at)
	}
	if f.err != nil {
		return table{flat: f, kind: kind}
	}
	return t
}

// field gives the place of a field of a width in bytes, by its number in the schema;
// false where the table leaves it out.
func (t table) field(number int, width uint16) (uint64, bool) {
	slot := uint16(4 + 2*number)
	if t.at == 0 || t.err != nil || slot+2 > t.slots {
		return 0, false
	}
	from := t.u16(t.kind, t.vtable+uint64(slot))
	if from == 0 {
		return 0, false
	}
	if from < 4 || uint32(from)+uint32(width) > uint32(t.size) {
		t.failf("field %d of the %s at byte %d is not in the table: the file is damaged; get it again", number, t.kind, t.at)
		return 0, false
	}
	return t.at + uint64(from), true
}

// u8 … u64 give a number, or the default where the table leaves it out.
func (t table) u8(number int, without uint8) uint8 {
	at, ok := t.field(number, 1)
	if !ok {
		return without
	}
	if b := t.bytes(t.kind, at, 1); b != nil {
		return b[0]
	}
	return without
}

func (t table) i8(number int) int8 { return int8(t.u8(number, 0)) }

func (t table) flag(number int) bool { return t.u8(number, 0) != 0 }

func (t table) number32(number int, without int32) int32 {
	at, ok := t.field(number, 4)
	if !ok {
		return without
	}
	return int32(t.u32(t.kind, at))
}

func (t table) i32(number int) int32 { return t.number32(number, 0) }

func (t table) index(number int) uint32 { return uint32(t.number32(number, 0)) }

func (t table) u64(number int) uint64 {
	at, ok := t.field(number, 8)
	if !ok {
		return 0
	}
	if b := t.bytes(t.kind, at, 8); b != nil {
		return binary.LittleEndian.Uint64(b)
	}
	return 0
}

// f32 gives a float.
func (t table) f32(number int) float32 { return math.Float32frombits(t.index(number)) }

// follow gives the place that an offset at byte at leads to.
func (f *flat) follow(kind string, at uint64) uint64 {
	off := f.u32(kind, at)
	if f.err == nil && off == 0 {
		f.failf("an offset at byte %d of a %s leads nowhere: the file is damaged; get it again", at, kind)
	}
	return at + uint64(off)
}

// sub gives a table that a field holds; one that is not there where it holds none.
func (t table) sub(number int, kind string) table {
	at, ok := t.field(number, 4)
	if !ok {
		return table{flat: t.flat, kind: kind}
	}
	return t.flat.table(kind, t.follow(t.kind, at))
}

// A vector is elements of one width, side by side.
type vector struct {
	*flat
	kind  string // of its elements, for messages
	at    uint64 // of the first element
	n     int
	width int
}

// vector gives the vector that a field holds; an empty one where it holds none. It is
// whole: its n elements are in the file.
func (t table) vector(number int, kind string, width int) vector {
	at, ok := t.field(number, 4)
	if !ok {
		return vector{flat: t.flat, kind: kind, width: width}
	}
	at = t.follow(t.kind, at)
	n := uint64(t.u32(kind, at))
	if t.err == nil {
		t.bytes(kind, at+4, n*uint64(width))
	}
	if t.err != nil {
		return vector{flat: t.flat, kind: kind, width: width}
	}
	return vector{t.flat, kind, at + 4, int(n), width}
}

// element gives the bytes of an element.
func (v vector) element(i int) []byte {
	return v.bytes(v.kind, v.at+uint64(i)*uint64(v.width), uint64(v.width))
}

// tableAt gives the i-th of a vector of tables.
func (v vector) tableAt(i int) table {
	return v.flat.table(v.kind, v.follow(v.kind, v.at+4*uint64(i)))
}

// i32 gives the i-th of a vector of 32-bit numbers.
func (v vector) i32(i int) int32 { return int32(v.u32(v.kind, v.at+4*uint64(i))) }

// list32 copies a vector of 32-bit numbers, and list64 one of 64-bit ones.
func (v vector) list32() []int64 {
	if v.n == 0 {
		return nil
	}
	list := make([]int64, v.n)
	for i := range list {
		list[i] = int64(v.i32(i))
	}
	return list
}

func (v vector) list64() []int64 {
	if v.n == 0 {
		return nil
	}
	list := make([]int64, v.n)
	for i := range list {
		if b := v.element(i); b != nil {
			list[i] = int64(binary.LittleEndian.Uint64(b))
		}
	}
	return list
}

// text gives a string that a field holds; "" where it holds none. Strings of the schema are UTF-8;
// another one is given with what stands for its bad bytes.
func (t table) text(number int) string {
	v := t.vector(number, t.kind, 1)
	b := v.bytes(t.kind, v.at, uint64(v.n))
	if !utf8.Valid(b) {
		return fmt.Sprintf("%+q", b)
	}
	return string(b)
}
