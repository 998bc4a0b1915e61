package source

import (
	"context"
	"errors"
	"runtime"
	"sync"
	"sync/atomic"
	"time"

	"github.com/garner-go/garner"
	"github.com/garner-go/garner/internal/kernel"
	"github.com/garner-go/garner/internal/mapped"
)

// An Integer is a row number's type. There are more of them than a
// garner.Integer, of whose slices tensors are made: named ones too.
type Integer interface {
	~int | ~int8 | ~int16 | ~int32 | ~int64 | ~uint | ~uint8 | ~uint16 | ~uint32 | ~uint64 | ~uintptr
}

// A Table serves rows along axis 0 of an Array by their numbers: see Lookup. It
// is opened once, and safe for concurrent use for as long as the Array is.
//
// Rows of a File that are in the page cache are copied from the mapping without
// a system call and without an allocation: a Table keeps a bit for each page
// that it has seen there, and forgets them as time goes by. Rows that are not
// are read all at once, each distinct one once.
type Table struct {
	array Array
	count int // rows
	size  int // bytes of a row, as it is in memory

	memory   []byte // all rows, where they are in memory
	file     *File  // whose rows are mapped; nil where they are not
	straight []byte // all rows of the mapped file, where they lie in one piece as they are
	stored   int64  // bytes of a row in the file
	pages    []int  // the first bit of each of the file's parts
	seen     []uint64
	forget   atomic.Uint64 // the word of seen that is cleared next
	used     atomic.Int64  // when a row was looked up, in nanoseconds, give or take
	scratch  sync.Pool     // of *batch
}

const (
	pageBytes  = 4096
	forgetEach = 1024                   // batches, before 64 pages are forgotten
	idle       = int64(1 * time.Second) // after which all of them are
)

// NewTable makes a Table over an array whose rows along axis 0 are pieces that
// stand one after the other, each of whole bytes: any row-major one of rank 1
// or more, but for packed types whose rows end inside a byte. Others are an
// ErrShape. It keeps a bit for every 4 KiB of a mapped file.
func NewTable(a Array) (*Table, error) {
	spec := a.Spec()
	size, err := sizeOf(spec)
	if err != nil {
		return nil, err
	}
	t := &Table{array: a}
	if len(spec.Dims) > 0 && spec.Dims[0].Min > 0 {
		t.count, t.size = spec.Dims[0].Min, int(rowSize(spec, size))
	}
	if t.size == 0 && (len(spec.Dims) == 0 || t.count > 0) {
		return nil, garner.Errorf(garner.ErrShape, "%s with strides %v is no table: its rows along axis 0 are no pieces of whole bytes, one after the other; gather from it instead", spec, stridesOf(spec))
	}
	t.scratch.New = func() any { return new(batch) }
	switch a := a.(type) {
	case *memory:
		t.memory, err = a.bytes()
		return t, err
	case *File:
		t.open(a)
	}
	return t, nil
}

// open finds out how rows are copied from the mapping.
func (t *Table) open(f *File) {
	if t.count == 0 || !f.mappable() || int64(t.size)%f.block != 0 {
		return
	}
	t.file, t.straight = f, f.view()
	t.stored = int64(t.size) / f.block * f.stored
	pages := 0
	for i := range f.parts {
		p := &f.parts[i]
		length := (p.to - p.from) / f.block * f.stored
		if p.offset+length > int64(p.file.mapping().Size()) {
			t.file = nil // it was cut short before it was mapped: reading says so
			return
		}
		t.pages = append(t.pages, pages-int(p.offset/pageBytes))
		pages += int((p.offset+length-1)/pageBytes-p.offset/pageBytes) + 1
	}
	t.seen = make([]uint64, (pages+63)/64)
}

// Len is how many rows there are.
func (t *Table) Len() int { return t.count }

// RowBytes is how many bytes a row takes.
func (t *Table) RowBytes() int { return t.size }

// Lookup copies the rows of the given numbers into dst, one after the other,
// little-endian: len(ids)·RowBytes bytes, exactly (else an ErrShape). A number
// that is negative or no row's is a *garner.IndexError, the first of them, and
// nothing is read; other errors are *ReadErrors and the context's cause. After
// an error dst is unspecified.
//
// Any number of goroutines may look up at once. Where all rows are in the page
// cache it takes some 100 ns and the time of the copies, and allocates nothing.
func Lookup[I Integer](ctx context.Context, t *Table, ids []I, dst []byte) error {
	if n := len(ids); n > 0 && len(dst)/n != t.size || n*t.size != len(dst) {
		return garner.Errorf(garner.ErrShape, "%d rows of %d bytes into %d bytes; the destination must hold them exactly", n, t.size, len(dst))
	}
	b := t.scratch.Get().(*batch)
	b.rows = b.rows[:0]
	for i, id := range ids {
		// A negative number is a large one.
		if uint64(id) >= uint64(t.count) {
			t.scratch.Put(b)
			return t.refused(i, len(ids), func(i int) (garner.Index, bool) {
				id := ids[i]
				return garner.Index{Bits: uint64(id), Unsigned: ^I(0) > 0}, uint64(id) >= uint64(t.count)
			})
		}
		b.rows = append(b.rows, int64(id)*int64(t.size))
	}
	err := t.lookup(ctx, b, dst)
	t.scratch.Put(b)
	return err
}

// LookupValues is Lookup into a slice of the table's element type, exactly;
// another is an ErrDType. Its values are those of this machine's byte order,
// which garner takes to be little-endian.
func LookupValues[T garner.Element, I Integer](ctx context.Context, t *Table, ids []I, dst []T) error {
	dtype := garner.DTypeOf[T]()
	if want := t.array.Spec().DType; dtype != want || dtype == garner.String {
		return garner.Errorf(garner.ErrDType, "rows of %s cannot be looked up into a slice of %s", want, dtype)
	}
	return Lookup(ctx, t, ids, mapped.BytesOf(dst))
}

// refused is the error of numbers of which the first-th is the first that is
// no row's.
func (t *Table) refused(first, total int, id func(int) (garner.Index, bool)) error {
	e := &garner.IndexError{Position: []int{first}, Dim: t.count, Total: total}
	e.Value, _ = id(first)
	for i := first + 1; i < total; i++ {
		if _, bad := id(i); bad {
			e.Others++
		}
	}
	return e
}

// A batch is what a Lookup needs beside its destination.
type batch struct {
	rows   []int64 // where each begins in the array, in bytes
	unseen []int   // which of them are not known to be in the page cache
	order  sorter
	slots  []int64
	turns  int
}

func (t *Table) lookup(ctx context.Context, b *batch, dst []byte) error {
	if ctx.Err() != nil {
		return context.Cause(ctx)
	}
	if len(dst) == 0 {
		return nil
	}
	if t.file == nil {
		if t.memory == nil {
			return t.fetch(ctx, b, dst, nil)
		}
		return mapped.Guard(func() error {
			return t.move(ctx, dst, t.memory, b.rows)
		})
	}
	t.age(b)
	b.unseen = b.unseen[:0]
	for i, row := range b.rows {
		if !t.known(row) {
			b.unseen = append(b.unseen, i)
		}
	}
	if len(b.unseen) > 0 {
		if err := t.look(ctx, b, dst); err != nil {
			return err
		}
	}
	err := mapped.Guard(func() error {
		if t.straight != nil && len(b.unseen) == 0 {
			return t.move(ctx, dst, t.straight, b.rows)
		}
		next := 0
		for i, row := range b.rows {
			if next < len(b.unseen) && b.unseen[next] == i {
				next++ // it was read
				continue
			}
			t.copyRow(dst[i*t.size:(i+1)*t.size], row)
		}
		return nil
	})
	if errors.Is(err, garner.ErrFault) {
		// Reading says which row it is.
		return t.fetch(ctx, b, dst, nil)
	}
	return err
}

// move copies rows of bytes that lie as they are; many of them on all cores.
func (t *Table) move(ctx context.Context, dst, src []byte, rows []int64) error {
	m := kernel.Move{Step: t.size, Size: t.size, Elem: 1}
	if len(dst) >= 2*moveBytes {
		m.Stream = len(dst) >= streamBytes
		return spread(ctx, runtime.GOMAXPROCS(0), dst, src, rows, m, nil)
	}
	m.Ahead.Rows = rows[min(len(rows), 1+aheadBytes/t.size):]
	kernel.Rows(dst, src, rows, m, nil)
	return nil
}

// streamBytes is from which size on a batch is written past the caches.
const streamBytes = 48 << 20

// stands is where a row lies in a file: its part, the byte, and the bits of its
// first and its last page; the part is -1 where the row is cut.
func (t *Table) stands(row int64) (part int, offset int64, first, last int) {
	f := t.file
	if len(f.parts) > 1 {
		part = f.partAt(row)
	}
	p := &f.parts[part]
	if row+int64(t.size) > p.to {
		return -1, 0, 0, 0
	}
	offset = p.offset + row - p.from
	if f.codec != nil {
		offset = p.offset + (row-p.from)/f.block*f.stored
	}
	base := t.pages[part]
	return part, offset, base + int(offset/pageBytes), base + int((offset+t.stored-1)/pageBytes)
}

// known reports whether all pages of a row were seen in the page cache.
func (t *Table) known(row int64) bool {
	part, _, first, last := t.stands(row)
	if part < 0 {
		return false
	}
	for page := first; page <= last; page++ {
		if atomic.LoadUint64(&t.seen[page/64])>>(page%64)&1 == 0 {
			return false
		}
	}
	return true
}

func (t *Table) mark(first, last int) {
	for page := first; page <= last; page++ {
		atomic.OrUint64(&t.seen[page/64], 1<<(page%64))
	}
}

// copyRow copies, or decodes, one row from the mapping.
func (t *Table) copyRow(dst []byte, row int64) {
	part, offset, _, _ := t.stands(row)
	src := t.file.parts[part].file.mapping().Bytes()[offset : offset+t.stored]
	if c := t.file.codec; c != nil {
		c.Decode(dst, src)
		return
	}
	copy(dst, src)
}

// age forgets a few pages now and then, and all after a while in which nobody
// asked: the system may have dropped them. A page that is dropped all the same
// is read when it is looked at.
func (t *Table) age(b *batch) {
	if b.turns++; b.turns%forgetEach == 0 {
		atomic.StoreUint64(&t.seen[t.forget.Add(1)%uint64(len(t.seen))], 0)
	}
	now := time.Now().UnixNano()
	used := t.used.Load()
	if now-used > idle && t.used.CompareAndSwap(used, now) {
		for i := range t.seen {
			atomic.StoreUint64(&t.seen[i], 0)
		}
	} else if now-used > idle/8 {
		t.used.Store(now)
	}
}

// look asks the kernel for the rows that were not seen, and reads those that are
// not there. What is left of b.unseen was read.
func (t *Table) look(ctx context.Context, b *batch, dst []byte) error {
	cold := b.unseen[:0]
	for _, i := range b.unseen {
		part, offset, first, last := t.stands(b.rows[i])
		if part >= 0 {
			in, _ := t.file.parts[part].file.mapping().Resident(int(offset), int(offset+t.stored))
			if in {
				t.mark(first, last)
				continue
			}
		}
		cold = append(cold, i)
	}
	b.unseen = cold
	if len(cold) == 0 {
		return nil
	}
	if err := t.fetch(ctx, b, dst, cold); err != nil {
		return err
	}
	for _, i := range cold {
		// They were read just now, through the page cache.
		if part, _, first, last := t.stands(b.rows[i]); part >= 0 {
			t.mark(first, last)
		}
	}
	return nil
}

// fetch reads rows from the array, all or those given by their places in the
// batch, each distinct one once.
func (t *Table) fetch(ctx context.Context, b *batch, dst []byte, which []int) error {
	b.slots = b.slots[:0]
	if which == nil {
		b.slots = append(b.slots, b.rows...)
	} else {
		for _, i := range which {
			b.slots = append(b.slots, b.rows[i])
		}
	}
	at, err := b.order.distinct(ctx, b.slots, t.size)
	if err != nil {
		return err
	}
	rows := Rows{At: at, Size: t.size, Dst: make([]byte, len(at)*t.size)}
	if t.file != nil {
		err = t.file.fetchUnmapped(ctx, rows)
	} else {
		err = t.array.Fetch(ctx, rows)
	}
	if err != nil {
		return err
	}
	for j, slot := range b.slots {
		i := j
		if which != nil {
			i = which[j]
		}
		copy(dst[i*t.size:(i+1)*t.size], rows.Dst[slot:])
	}
	return nil
}
