// Package wire is what travels between the stages of a pipeline: requests for
// rows of a table, keyed by a unit of the table, and pieces of these rows, keyed
// by a shard of the result. The pipeline sends these bytes and package scale
// counts them, so both use the functions here.
//
// Positions of rows travel once, in requests: who gets the rows knows what was
// asked for, because a run of the shard over a table that only records says it again.
//
// A message is bytes of another process, so every Parse checks every number. It
// allocates at most eight times the bytes of the message, or of what it unpacks to.
package wire

import (
	"bytes"
	"compress/flate"
	"encoding/binary"
	"fmt"
	"hash/crc32"
	"io"
	"iter"
	"math"
	"slices"
)

// Rows are equally long ranges of the bytes of an array, as in source.Rows.
type Rows struct {
	Size int     // bytes of each row; rows may overlap
	At   []int64 // where each row begins, in bytes from the array's first element; strictly ascending
}

// rows are written as
//
//	uvarint  2·Size + 1 where positions count in units of Size, 2·Size where in bytes
//	uvarint  the number of rows
//	uvarint  each row's distance from the least position that it may have: of the first, the first
//	         position at or behind base; of any other, the one behind the row before
//
// so no message says rows that do not ascend.

// grain returns the unit in which positions count, in bytes: Size where all of
// them are multiples of it, else 1.
func (r Rows) grain() int64 {
	size := int64(r.Size)
	if size < 1 || slices.ContainsFunc(r.At, func(at int64) bool { return at%size != 0 }) {
		return 1
	}
	return size
}

// up returns the first multiple of grain at or behind base.
func up(base, grain int64) int64 {
	if over := base % grain; over > 0 {
		return base - over + grain
	}
	return base
}

// Append appends the rows to b. base is where the range of the array begins that
// holds them, at most At[0]; the reader must give the same. Rows that do not
// ascend, or begin before base, are a fault of the program: Append panics.
func (r Rows) Append(b []byte, base int64) []byte {
	grain := r.grain()
	head := uint64(r.Size) << 1
	if grain > 1 {
		head |= 1
	}
	b = binary.AppendUvarint(b, head)
	b = binary.AppendUvarint(b, uint64(len(r.At)))
	next := up(base, grain)
	for _, at := range r.At {
		if at < next {
			panic(fmt.Sprintf("wire: a row at byte %d follows one that ends before byte %d", at, next))
		}
		b = binary.AppendUvarint(b, uint64((at-next)/grain))
		next = at + grain
	}
	return b
}

// ParseRows returns the rows at the start of b, and the bytes behind them. They
// lie in bytes base…end−1 of the array: others are an error.
func ParseRows(b []byte, base, end int64) (Rows, []byte, error) {
	p := parser{left: b}
	head := p.uvarint("the size of rows")
	n := p.uvarint("the number of rows")
	if p.err == nil && head>>1 > math.MaxInt {
		p.fail("rows of %d bytes", head>>1)
	}
	if p.err == nil && n > uint64(len(p.left)) { // a row takes a byte at least
		p.fail("%d rows in %d bytes", n, len(p.left))
	}
	if p.err != nil {
		return Rows{}, nil, p.err
	}
	r := Rows{Size: int(head >> 1)}
	grain := int64(1)
	if head&1 == 1 {
		if r.Size == 0 {
			p.fail("positions in units of 0 bytes")
			return Rows{}, nil, p.err
		}
		grain = int64(r.Size)
	}
	if n > 0 {
		r.At = make([]int64, n)
	}
	next, last := base, end-int64(r.Size)
	if base <= last { // so that base+Size does not overflow
		next = up(base, grain)
	}
	for i := range r.At {
		delta := p.uvarint("the position of a row")
		if p.err == nil && (next > last || delta > uint64(last-next)/uint64(grain)) {
			p.fail("row %d of %d, of %d bytes, outside bytes %d…%d of the array", i, n, r.Size, base, end-1)
		}
		if p.err != nil {
			return Rows{}, nil, p.err
		}
		r.At[i] = next + int64(delta)*grain
		if i+1 < len(r.At) && r.At[i] > math.MaxInt64-grain {
			p.fail("row %d of %d behind byte %d", i+1, n, int64(math.MaxInt64))
			return Rows{}, nil, p.err
		}
		next = r.At[i] + grain
	}
	return r, p.left, nil
}

// Units cuts rows by the units of the array, each of the given number of bytes:
// a row belongs to the unit that holds its first byte. It yields the number of
// each unit that has rows, ascending, and these rows, which share r's memory.
func (r Rows) Units(bytes int64) iter.Seq2[int64, Rows] {
	return func(yield func(int64, Rows) bool) {
		for first := 0; first < len(r.At); {
			unit := r.At[first] / bytes
			last := first + 1
			for last < len(r.At) && r.At[last]/bytes == unit {
				last++
			}
			if !yield(unit, Rows{r.Size, r.At[first:last]}) {
				return
			}
			first = last
		}
	}
}

// Check returns a number that other positions hardly have.
func (r Rows) Check() uint32 {
	sum := uint32(0)
	var b [8 << 9]byte
	for at := range slices.Chunk(r.At, len(b)/8) {
		for i, at := range at {
			binary.LittleEndian.PutUint64(b[8*i:], uint64(at))
		}
		sum = crc32.Update(sum, castagnoli, b[:8*len(at)])
	}
	return sum
}

var castagnoli = crc32.MakeTable(crc32.Castagnoli)

// PieceBytes is the most bytes of rows in a piece, unless one row is longer: engines hold
// several messages at once, and refuse those that exceed their buffers.
const PieceBytes = 1 << 20

// PerPiece returns the rows of a piece, whose rows have the given size, which is not 0.
func PerPiece(size int) int { return max(1, PieceBytes/size) }

const (
	minUnit = 16 << 20
	maxUnit = 256 << 20

	// RequestRows is the least rows of a request, in the mean. Requests of fewer rows are
	// mostly the engine's frames around them.
	RequestRows = 16
)

// UnitBytes returns the bytes of a unit of an array of the given bytes, of which
// each shard wants that many rows: the least power of two from 16 MiB to 256 MiB
// at which a request has so many rows in the mean. Larger units take more memory to fetch.
func UnitBytes(array, rows, request int64) int64 {
	unit := int64(minUnit)
	for unit < maxUnit && unit/request < array/max(1, rows) {
		unit *= 2
	}
	return unit
}

// maxOperands is the number of operands that a Unit tells apart: data, scales
// and zero points are three.
const maxOperands = 8

// A Unit names a range of the bytes of one operand. It is the key of requests.
type Unit struct {
	Operand int   // 0 … 7
	Number  int64 // 0 … 2^60−1; the unit begins at byte Number · bytes of a unit
}

// Key returns the unit as one number, which is short as a varint where the
// unit's number is small.
func (u Unit) Key() int64 {
	if u.Operand < 0 || u.Operand >= maxOperands || u.Number < 0 || u.Number > math.MaxInt64/maxOperands {
		panic(fmt.Sprintf("wire: no key for unit %d of operand %d", u.Number, u.Operand))
	}
	return u.Number*maxOperands + int64(u.Operand)
}

// UnitOf returns the unit whose key is given. A key is not negative.
func UnitOf(key int64) (Unit, error) {
	if key < 0 {
		return Unit{}, fmt.Errorf("wire: the key of a unit is %d; %s", key, remedy)
	}
	return Unit{int(key % maxOperands), key / maxOperands}, nil
}

// A Request names the rows of one unit that one shard of the result wants: those of one size.
type Request struct {
	Shard int64 // the shard's number, from 0
	Rows  Rows

	// Derived says that Rows.At is left out. A run of the shard says which rows of Rows.Size it
	// wants of the unit.
	Derived bool
}

// requests are written as
//
//	uvarint  the shard
//	byte     a form
//	form 0   the rows
//	form 1   uvarint, the bytes of the rows as form 0 has them, and these by RFC 1951
//	form 2   uvarint, the size of the rows
const (
	formPlain = iota
	formPacked
	formDerived
)

// unpackedBytes is the most bytes of rows that are packed.
const unpackedBytes = 4 << 20

// Append appends the request to b. base is the first byte of the unit.
func (q Request) Append(b []byte, base int64) []byte {
	b = binary.AppendUvarint(b, uint64(q.Shard))
	if q.Derived {
		return binary.AppendUvarint(append(b, formDerived), uint64(q.Rows.Size))
	}
	return q.Rows.Append(append(b, formPlain), base)
}

// AppendPacked appends the request to b with its positions compressed, which repeat where one
// index stands for many rows. It falls back to Append where that is not shorter.
func (q Request) AppendPacked(b []byte, base int64) []byte {
	first := len(b)
	b = q.Append(b, base)
	if q.Derived {
		return b
	}
	head := first + len(binary.AppendUvarint(nil, uint64(q.Shard)))
	rows := b[head+1:]
	if len(rows) > unpackedBytes {
		return b
	}
	packed := bytes.NewBuffer(binary.AppendUvarint([]byte{formPacked}, uint64(len(rows))))
	w, err := flate.NewWriter(packed, flate.BestSpeed)
	if err == nil {
		_, err = w.Write(rows)
	}
	if err == nil {
		err = w.Close()
	}
	if err != nil { // a buffer takes everything
		panic(err)
	}
	if packed.Len() < len(b)-head {
		b = append(b[:head], packed.Bytes()...)
	}
	return b
}

// ParseRequest returns the request that is all of b. Its rows lie in bytes
// base…end−1 of the array: others are an error. end is the end of the array, not
// of the unit, since the last row of a unit may reach into the next.
func ParseRequest(b []byte, base, end int64) (Request, error) {
	p := parser{left: b}
	shard := p.uvarint("the number of a shard")
	if p.err == nil && shard > math.MaxInt64 {
		p.fail("shard %d", shard)
	}
	if p.err == nil && len(p.left) == 0 {
		p.fail("a message ends in the form of a request")
	}
	if p.err != nil {
		return Request{}, p.err
	}
	form := p.left[0]
	p.left = p.left[1:]
	switch form {
	case formPlain:
	case formPacked:
		p.unpack()
	case formDerived:
		size := p.uvarint("the size of rows")
		if p.err == nil && size > math.MaxInt {
			p.fail("rows of %d bytes", size)
		}
		if p.err == nil && len(p.left) > 0 {
			p.fail("%d bytes behind a request of derived rows", len(p.left))
		}
		return Request{int64(shard), Rows{Size: int(size)}, true}, p.err
	default:
		p.fail("a request of form %d", form)
	}
	if p.err != nil {
		return Request{}, p.err
	}
	rows, left, err := ParseRows(p.left, base, end)
	if err != nil {
		return Request{}, err
	}
	if len(left) > 0 {
		return Request{}, fmt.Errorf("wire: %d bytes behind a request of %d rows; %s", len(left), len(rows.At), remedy)
	}
	return Request{int64(shard), rows, false}, nil
}

// unpack replaces what is left by what it was compressed from.
func (p *parser) unpack() {
	n := p.uvarint("the bytes of compressed rows")
	if p.err == nil && n > unpackedBytes {
		p.fail("%d bytes of compressed rows", n)
	}
	if p.err != nil {
		return
	}
	from := bytes.NewReader(p.left)
	rows := make([]byte, n)
	r := flate.NewReader(from)
	if _, err := io.ReadFull(r, rows); err != nil {
		p.fail("compressed rows: %v", err)
		return
	}
	if more, err := r.Read(make([]byte, 1)); more > 0 || err != io.EOF || from.Len() > 0 {
		p.fail("compressed rows have more than %d bytes", n)
		return
	}
	p.left = rows
}

// A Piece has the bytes of successive rows of one request. Its key is the shard that wants
// them.
type Piece struct {
	Unit  Unit
	Size  int    // bytes of a row
	First int    // the number of the first of these rows in the request
	Check uint32 // of all rows of the request
	Data  []byte // the rows in their order
}

// Append appends the piece to b.
func (p Piece) Append(b []byte) []byte {
	b = binary.AppendUvarint(b, uint64(p.Unit.Key()))
	b = binary.AppendUvarint(b, uint64(p.Size))
	b = binary.AppendUvarint(b, uint64(p.First))
	b = binary.LittleEndian.AppendUint32(b, p.Check)
	return append(b, p.Data...)
}

// ParsePiece returns the piece that is all of b. Its Data is memory of b, and has one row at
// least.
func ParsePiece(b []byte) (Piece, error) {
	q := parser{left: b}
	key := q.uvarint("the key of a unit")
	size := q.uvarint("the size of rows")
	first := q.uvarint("the number of a row")
	if q.err == nil && len(q.left) < 4 {
		q.fail("a message ends in the check of its rows")
	}
	if q.err != nil {
		return Piece{}, q.err
	}
	p := Piece{Check: binary.LittleEndian.Uint32(q.left), Data: q.left[4:]}
	n := uint64(len(p.Data))
	switch {
	case key > math.MaxInt64:
		q.fail("the key of a unit is %d", key)
	case size == 0 || n == 0 || n%size != 0:
		q.fail("%d bytes of rows of %d", n, size)
	case first > math.MaxInt-n:
		q.fail("row %d", first)
	}
	if q.err != nil {
		return Piece{}, q.err
	}
	p.Unit, _ = UnitOf(int64(key))
	p.Size, p.First = int(size), int(first)
	return p, nil
}

// remedy says what helps where a message is not what Append writes.
const remedy = "the message is damaged, or its sender is another build: run one build of garner-beam on all workers"

// A parser takes numbers from the start of a message. Its first error stays.
type parser struct {
	left []byte
	err  error
}

func (p *parser) fail(format string, args ...any) {
	p.err = fmt.Errorf("wire: %s; %s", fmt.Sprintf(format, args...), remedy)
}

// uvarint returns the next number, called what in the error.
func (p *parser) uvarint(what string) uint64 {
	if p.err != nil {
		return 0
	}
	v, n := binary.Uvarint(p.left)
	switch {
	case n == 0:
		p.fail("a message ends in %s", what)
	case n < 0:
		p.fail("%s has more than 64 bits", what)
	}
	if p.err != nil {
		return 0
	}
	p.left = p.left[n:]
	return v
}
