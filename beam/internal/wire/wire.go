// Package wire is what travels between the stages of a pipeline: requests for
// rows of a table, keyed by a unit of the table, and pieces of these rows, keyed
// by a shard of the result. The pipeline sends these bytes and package scale
// counts them, so both use the functions here.
//
// A message is bytes of another process, so every Parse checks every number. It
// allocates at most eight times the bytes of the message.
package wire

import (
	"encoding/binary"
	"fmt"
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

// Pieces cuts rows, and their payload, into runs whose payload has at most limit
// bytes; a longer row is a run of its own. They share the memory of r and data.
// data may be nil where only the rows are of interest: it is nil in each run then.
func (r Rows) Pieces(data []byte, limit int) iter.Seq2[Rows, []byte] {
	return func(yield func(Rows, []byte) bool) {
		n := len(r.At)
		if r.Size > 0 {
			n = max(1, limit/r.Size)
		}
		for first := 0; first < len(r.At); first += n {
			last := min(first+n, len(r.At))
			var payload []byte
			if data != nil {
				payload = data[first*r.Size : last*r.Size]
			}
			if !yield(Rows{r.Size, r.At[first:last]}, payload) {
				return
			}
			if last == len(r.At) {
				return
			}
		}
	}
}

const (
	minUnit     = 16 << 20
	maxUnit     = 256 << 20
	requestRows = 16
)

// UnitBytes returns the bytes of a unit of an array of the given bytes, of which
// each shard wants that many rows: the least power of two from 16 MiB to 256 MiB
// at which a request has 16 rows in the mean. Requests of fewer rows are mostly
// the engine's frames around them; larger units take more memory to fetch.
func UnitBytes(array, rows int64) int64 {
	unit := int64(minUnit)
	for unit < maxUnit && unit/requestRows < array/max(1, rows) {
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

// A Request names the rows of one unit that one shard of the result wants.
type Request struct {
	Shard int64 // the shard's number, from 0
	Rows  Rows
}

// Append appends the request to b. base is the first byte of the unit.
func (q Request) Append(b []byte, base int64) []byte {
	return q.Rows.Append(binary.AppendUvarint(b, uint64(q.Shard)), base)
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
	return Request{int64(shard), rows}, nil
}

// A Piece has rows of one operand, with their bytes. Its key is the shard that
// wants them. The zero Piece is an empty message, which has no rows.
type Piece struct {
	Operand int
	Rows    Rows
	Data    []byte // the rows in their order
}

// Append appends the piece to b.
func (p Piece) Append(b []byte) []byte {
	if p.Operand == 0 && len(p.Rows.At) == 0 {
		return b
	}
	b = binary.AppendUvarint(b, uint64(p.Operand))
	return append(p.Rows.Append(b, 0), p.Data...)
}

// ParsePiece returns the piece that is all of b. Its Data is memory of b. Its
// rows lie in the first end(Operand) bytes of the operand's array: others, and
// operands for which end is negative, are an error.
func ParsePiece(b []byte, end func(operand int) int64) (Piece, error) {
	if len(b) == 0 {
		return Piece{}, nil
	}
	p := parser{left: b}
	operand := p.uvarint("the number of an operand")
	if p.err == nil && (operand >= maxOperands || end(int(operand)) < 0) {
		p.fail("operand %d", operand)
	}
	if p.err != nil {
		return Piece{}, p.err
	}
	rows, data, err := ParseRows(p.left, 0, end(int(operand)))
	if err != nil {
		return Piece{}, err
	}
	n := len(rows.At)
	if n > 0 && rows.Size > len(data)/n || n*rows.Size != len(data) {
		return Piece{}, fmt.Errorf("wire: %d bytes with %d rows of %d; %s", len(data), n, rows.Size, remedy)
	}
	return Piece{int(operand), rows, data}, nil
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
