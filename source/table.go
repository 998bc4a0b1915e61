package source

import (
	"context"
	"errors"
	"math"
	"math/bits"
	"runtime"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"github.com/garner-go/garner"
	"github.com/garner-go/garner/internal/exec"
	"github.com/garner-go/garner/internal/kernel"
	"github.com/garner-go/garner/internal/mapped"
)

// A Table serves rows along axis 0 of an Array by their numbers: see Lookup. It
// is safe for concurrent use. After Close of the Array its Lookups are an
// fs.ErrClosed.
//
// It copies rows of a File that are in the page cache from the mapping, without a
// system call and without an allocation: it keeps a bit for each page that it has
// found there, and clears bits over time. It reads the other rows of a batch
// together, each distinct one once.
type Table struct {
	array Array
	reads Array // array for callers that hold it, without mapping where file is set
	count int   // rows
	size  int   // bytes of a row in memory

	memory  []byte        // all rows, where they are in memory as an Array has them
	from    storedRows    // the rows where they are stored, in mapped files or in memory that is converted
	file    *File         // the mapped file; nil where rows must be read
	plain   []byte        // all rows in the mapped file; nil with a codec or several segments
	stored  int64         // bytes of a row in the file
	only    []byte        // the stored bytes of all rows, where one segment has them
	pages   []int         // the first bit of each of the file's parts, less the part's first page
	seen    []uint64      // a bit for each page: it was in the page cache
	bits    int           // of seen
	forget  atomic.Uint64 // the word of seen that is cleared next
	used    atomic.Int64  // the time of a recent Lookup, in nanoseconds
	looked  atomic.Int64  // when a Lookup began that found every file unchanged, in nanoseconds
	scratch sync.Pool     // free list of *batch
	batches atomic.Uint64 // how many were made

	singles atomic.Pointer[Table] // of the array converted to f32, once LookupValues needs it
}

const (
	pageBytes  = 4096
	forgetEach = 1024                   // batches between two words of seen that are cleared
	idle       = int64(1 * time.Second) // without a Lookup, after which all of seen is cleared

	// copiedRows is up to how many rows on one core are copied one after the other.
	// That took 0.4 to 0.7 of the time of package exec for one and four rows of 128
	// bytes, 1.04 for eight, and 0.5 to 0.9 for rows of 1 KiB (BenchmarkTableSmall, Zen
	// 5): choosing how to move them takes 150 ns.
	copiedRows = 8

	// manyRows is of how many rows the last takes longer to find than the end of the file,
	// which may take a system call.
	manyRows = 1024

	// wholeRows is for how many rows of a Lookup a word of seen is looked at, to know of all
	// pages at once.
	wholeRows = 8

	// lookRows is after how many rows that the kernel was asked for the context is looked at. They
	// take some 300 µs.
	lookRows = 256

	// lookEach is the time between two looks whether a file was written to. A look
	// is a system call a file, of 180 ns (BenchmarkCheck, Zen 5, virtual machine), where
	// a Lookup of a short row takes 250.
	lookEach = int64(10 * time.Millisecond)
)

// NewTable makes a Table over an array whose rows along axis 0 are contiguous, one
// behind the other, and of one whole byte or more: any row-major array of rank 1 or
// more, except packed types whose rows end inside a byte, and rows without an
// element. Others are an ErrShape. The
// Table holds a bit for every 4 KiB of a mapped file.
func NewTable(a Array) (*Table, error) {
	h, err := held(a)
	if err != nil {
		return nil, err
	}
	defer h.Release()
	spec := a.Spec()
	size, err := sizeOf(spec)
	if err != nil {
		return nil, err
	}
	t := &Table{array: a, from: storedRows{storage: storageOf(nil, spec.DType)}, reads: fetches(a, false, runtime.GOMAXPROCS(0))}
	if len(spec.Dims) > 0 && spec.Dims[0].Min > 0 {
		t.count, t.size = spec.Dims[0].Min, int(rowSize(spec, size))
	}
	if t.size == 0 && (len(spec.Dims) == 0 || t.count > 0) {
		return nil, garner.Errorf(garner.ErrShape, "%s with strides %v is no table: its rows along axis 0 are no pieces of whole bytes, one after the other; gather from it instead", spec, stridesOf(spec))
	}
	t.scratch.New = func() any {
		b := &batch{place: uint(t.batches.Add(1)), placing: placing{from: &t.from, whole: int64(t.size)%t.from.block == 0, size: t.size}}
		b.leaves = func(unit, first, last int) bool { return t.leaves(b, unit, first, last) }
		return b
	}
	switch a := a.(type) {
	case *memory:
		t.memory, err = a.bytes()
		return t, err
	case *converted:
		if m, ok := a.of.(*memory); ok {
			t.from.storage = a.storage
			t.from.bytes, err = m.bytes()
			return t, err
		}
	case *File:
		t.open(a)
	}
	return t, nil
}

// open prepares for copies from the mapping, where there is one and a row is of
// whole blocks.
func (t *Table) open(f *File) {
	if t.count == 0 || !f.mappable() || int64(t.size)%f.block != 0 {
		return
	}
	t.file, t.plain = f, f.view()
	t.stored = f.at(int64(t.size))
	pages := 0
	for i := range f.parts {
		p := &f.parts[i]
		length := f.at(p.to - p.from)
		if p.offset+length > int64(p.file.mapping().Size()) {
			t.file = nil // the file was cut short before it was mapped: a read reports it
			return
		}
		t.pages = append(t.pages, pages-int(p.offset/pageBytes))
		pages += int((p.offset+length-1)/pageBytes-p.offset/pageBytes) + 1
	}
	if len(f.parts) == 1 {
		p := &f.parts[0]
		t.only = p.file.mapping().Bytes()[p.offset : p.offset+int64(t.count)*t.stored]
	}
	t.from = storedRows{f.storage, f, t.only}
	t.reads = fetching{f, true, runtime.GOMAXPROCS(0)}
	t.seen, t.bits = make([]uint64, (pages+63)/64), pages
}

// Len returns the number of rows.
func (t *Table) Len() int { return t.count }

// RowBytes returns the bytes of a row.
func (t *Table) RowBytes() int { return t.size }

// Lookup copies the rows with the given numbers to dst, one behind the other,
// little-endian. dst has len(ids)·RowBytes bytes, else it is an ErrShape. A number
// that is negative, or not below Len, is a *garner.IndexError that names the first
// such number, and nothing is read. Other errors are *ReadErrors and the context's
// cause. After an error dst is unspecified.
//
// A row behind the end of a file that was cut short is a garner.ErrFault, at once.
// A file that was cut short, extended or written to since it was opened is an
// ErrChanged to each Lookup that begins 10 ms later; one that begins before may
// give bytes of either content. See File.Changed.
//
// Any number of goroutines may call Lookup at once. Where all rows are in the page
// cache it takes some 100 ns and the time of the copies, and allocates nothing.
func Lookup[I garner.Integer](ctx context.Context, t *Table, ids []I, dst []byte) error {
	if n := len(ids); (n > 0 && len(dst)/n != t.size || n*t.size != len(dst)) && (n == 0 || t.count > 0) {
		return garner.Errorf(garner.ErrShape, "%d rows of %d bytes into %d bytes; the destination must hold them exactly", n, t.size, len(dst))
	}
	b, ok := t.scratch.Get().(*batch)
	if !ok {
		return errZeroTable()
	}
	b.count = len(ids)
	to, each := &b.rows, int64(t.size)
	if t.only != nil {
		to, each = &b.at, t.stored
	}
	*to = slices.Grow((*to)[:0], len(ids))[:len(ids)]
	if i := placeRows(*to, ids, t.count, each); i < len(ids) {
		t.scratch.Put(b)
		return t.refused(i, len(ids), func(i int) (garner.Index, bool) {
			id := ids[i]
			return garner.Index{Bits: uint64(id), Unsigned: ^I(0) > 0}, uint64(id) >= uint64(t.count)
		})
	}
	err := t.lookup(ctx, b, dst)
	t.scratch.Put(b)
	return err
}

// placeRows sets at to each times the numbers of rows, up to the first that is not below
// count, and returns how many those are.
func placeRows[I garner.Integer](at []int64, ids []I, count int, each int64) int {
	values := mapped.BytesOf(ids)
	// A negative number is large once it is unsigned.
	if width := len(values) / max(len(ids), 1); width == 8 || width == 4 && (^I(0) < 0 || count <= math.MaxInt32) {
		axis := [...]kernel.Component{{Dim: int64(count), Stride: each}}
		if kernel.Tuples(at, values, width, 0, 0, axis[:], false) == 0 {
			return len(ids)
		}
	}
	for i, id := range ids {
		if uint64(id) >= uint64(count) {
			return i
		}
		at[i] = int64(id) * each
	}
	return len(ids)
}

// LookupValues is Lookup into a slice of the table's element type, or of float32 from
// a table of any float dtype: it then converts the rows as Convert does, each from
// where it is stored to its place. A slice of another type is an ErrDType.
func LookupValues[T garner.Element, I garner.Integer](ctx context.Context, t *Table, ids []I, dst []T) error {
	if t.array == nil {
		return errZeroTable()
	}
	dtype, from := garner.DTypeOf[T](), t.array.Spec().DType
	if dtype == garner.F32 && from.IsFloat() && from != dtype {
		var err error
		if t, err = t.inSingles(); err != nil {
			return err
		}
	} else if dtype != from {
		return garner.Errorf(garner.ErrDType, "rows of %s cannot be looked up into a slice of %s", from, dtype)
	}
	return Lookup(ctx, t, ids, mapped.BytesOf(dst))
}

// inSingles returns the Table over the array converted to f32, which the first call
// makes.
func (t *Table) inSingles() (*Table, error) {
	if made := t.singles.Load(); made != nil {
		return made, nil
	}
	a, err := Convert(t.array, garner.F32)
	if err != nil {
		return nil, err
	}
	made, err := NewTable(a)
	if err != nil {
		return nil, err
	}
	t.singles.CompareAndSwap(nil, made)
	return t.singles.Load(), nil
}

func errZeroTable() error {
	return garner.Errorf(garner.ErrShape, "the zero Table has no rows; make one by NewTable")
}

// refused is the error of total numbers, of which number first is the first
// without a row.
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

// A batch is the memory of a Lookup.
type batch struct {
	placing
	known  known
	unseen []int // the numbers in rows of those that may not be in the page cache
	uses   int   // how often the free list gave it out
	place  uint  // where the calls that use it count: see mapped.Users

	looks bool   // a unit of rows looks at its pages, and is left where one may not be in the page cache
	late  []bool // whether a unit was left; if any was, only those are copied once looks is false

	ends  []int // the end of the last row in each part, as an offset in its file; 0 of parts without a row
	parts []int // the parts with a row
}

// lookup copies the rows of b to dst.
func (t *Table) lookup(ctx context.Context, b *batch, dst []byte) error {
	if ctx.Err() != nil {
		return context.Cause(ctx)
	}
	if len(dst) == 0 {
		return nil
	}
	switch a := t.array.(type) {
	case *File:
		if err := a.enter(b.place); err != nil {
			return err
		}
		defer a.leave(b.place)
		return t.lookupFile(ctx, a, b, dst)
	case *memory:
		if err := a.hold(); err != nil {
			return err
		}
		defer a.release()
		if err := moveKnown(ctx, &b.known, runtime.GOMAXPROCS(0), dst, t.memory, 0, b.rows, t.size, 8, false, nil); err != nil || a.keeper() == nil {
			return err
		}
		return a.check(int(slices.Max(b.rows)) + t.size)
	case *converted:
		if m, ok := a.of.(*memory); ok {
			if err := m.hold(); err != nil {
				return err
			}
			defer m.release()
			b.unseen = b.unseen[:0]
			if err := t.copyAll(ctx, b, dst); err != nil {
				return err
			}
			return m.check(int(a.end(slices.Max(b.rows) + int64(t.size))))
		}
	}
	return t.fetch(ctx, b, dst, nil)
}

// lookupFile is lookup in files.
func (t *Table) lookupFile(ctx context.Context, f *File, b *batch, dst []byte) error {
	var now int64
	var err error
	if t.file == nil {
		now = clock()
		err = t.fetch(ctx, b, dst, nil)
	} else {
		now = t.age(b)
		err = t.lookupMapped(ctx, b, dst)
	}
	if err == nil && now-t.looked.Load() > lookEach {
		if err = f.rewritten(); err == nil {
			t.looked.Store(now)
		}
	}
	return err
}

// lookupMapped is lookup in mapped files.
func (t *Table) lookupMapped(ctx context.Context, b *batch, dst []byte) error {
	err := t.copyMapped(ctx, b, dst)
	if errors.Is(err, garner.ErrFault) || err == nil && t.cut(b) {
		// A read names the file and the row.
		t.spread(b)
		return t.fetch(ctx, b, dst, nil)
	}
	return err
}

// copyMapped copies or decodes the rows of b to dst, and reads those that are not in the
// page cache. Where units of rows are decoded, each first looks at its pages, so that all
// cores do.
func (t *Table) copyMapped(ctx context.Context, b *batch, dst []byte) error {
	b.unseen, b.late, b.looks = b.unseen[:0], b.late[:0], b.scattered() && len(dst) > exec.Tuned.AloneBytes
	if b.looks {
		b.late = slices.Grow(b.late, b.count)[:b.count] // a unit has one row or more
		clear(b.late)
		if err := t.copyAll(ctx, b, dst); err != nil || !slices.Contains(b.late, true) {
			return err
		}
		b.looks = false
	}
	switch {
	case t.sawWhole(b.count):
	case t.only != nil:
		for i := range b.at {
			if !t.sawOnly(b.at[i : i+1]) {
				b.unseen = append(b.unseen, i)
			}
		}
	default:
		for i, row := range b.rows {
			if !t.sawAll(row) {
				b.unseen = append(b.unseen, i)
			}
		}
	}
	if len(b.unseen) > 0 {
		t.spread(b)
		if err := t.look(ctx, b, dst); err != nil {
			return err
		}
	}
	if t.plain != nil && len(b.unseen) == 0 && (b.count > copiedRows || len(dst) > exec.Tuned.AloneBytes) {
		rows, size := b.at, t.size
		if inLine(rows, int64(size)) {
			rows, size = rows[:1], len(dst)
		}
		return moveKnown(ctx, &b.known, runtime.GOMAXPROCS(0), dst, t.plain, 0, rows, size, 8, false, nil)
	}
	return t.copyAll(ctx, b, dst)
}

// spread sets rows of b from at.
func (t *Table) spread(b *batch) {
	if t.only == nil {
		return
	}
	b.rows = slices.Grow(b.rows[:0], b.count)[:b.count]
	for i, at := range b.at {
		b.rows[i] = at / t.stored * int64(t.size)
	}
}

// cut reports whether a file ends before the last byte of a row of b.
func (t *Table) cut(b *batch) bool {
	if t.only != nil {
		p := &t.file.parts[0]
		if b.count > manyRows && p.file.view.CheckTo(int(p.offset)+len(t.only)) == nil {
			return false
		}
		return p.file.view.CheckTo(int(p.offset+slices.Max(b.at)+t.stored)) != nil
	}
	if len(b.ends) == 0 {
		b.ends = make([]int, len(t.file.parts))
	}
	b.parts = b.parts[:0]
	for _, row := range b.rows {
		part, offset, _, _ := t.locate(row)
		if part < 0 {
			continue // look has read it
		}
		if b.ends[part] == 0 {
			b.parts = append(b.parts, part)
		}
		b.ends[part] = max(b.ends[part], int(offset+t.stored))
	}
	short := false
	for _, part := range b.parts {
		short = short || t.file.parts[part].file.view.CheckTo(b.ends[part]) != nil
		b.ends[part] = 0
	}
	return short
}

// locate returns the part and the offset at which the file stores a row, and the
// bits of the row's first and last page. part is -1 where two parts share the row.
func (t *Table) locate(row int64) (part int, offset int64, first, last int) {
	f := t.file
	if len(f.parts) > 1 {
		part = f.partAt(row)
	}
	p := &f.parts[part]
	if row+int64(t.size) > p.to {
		return -1, 0, 0, 0
	}
	offset = f.offset(p, row)
	base := t.pages[part]
	return part, offset, base + int(offset/pageBytes), base + int((offset+t.stored-1)/pageBytes)
}

// sawAll reports whether every page of a row has its bit set.
func (t *Table) sawAll(row int64) bool {
	part, _, first, last := t.locate(row)
	return part >= 0 && t.saw(first, last)
}

// saw reports whether pages first … last have their bits set.
func (t *Table) saw(first, last int) bool {
	for page := first; page <= last; page++ {
		if atomic.LoadUint64(&t.seen[page/64])>>(page%64)&1 == 0 {
			return false
		}
	}
	return true
}

// inLine reports whether rows lie one behind the other: they are then one longer row.
func inLine(rows []int64, size int64) bool {
	for i := 1; i < len(rows); i++ {
		if rows[i] != rows[i-1]+size {
			return false
		}
	}
	return true
}

// sawWhole reports whether every page of the table has its bit set, where to look at all of them
// takes a small part of the time that a look at those of so many rows takes.
func (t *Table) sawWhole(rows int) bool {
	if t.only == nil || len(t.seen) > rows/wholeRows {
		return false
	}
	last := len(t.seen) - 1
	for i := range last {
		if atomic.LoadUint64(&t.seen[i]) != math.MaxUint64 {
			return false
		}
	}
	return bits.OnesCount64(atomic.LoadUint64(&t.seen[last])) == t.bits-64*last
}

// sawOnly reports whether every page of rows at these places in only has its bit set.
func (t *Table) sawOnly(places []int64) bool {
	seen, before := t.seen, uint64(t.file.parts[0].offset%pageBytes)
	for _, at := range places {
		from := before + uint64(at)
		first, end := from/pageBytes, (from+uint64(t.stored)-1)/pageBytes
		if atomic.LoadUint64(&seen[first/64])>>(first%64)&1 == 0 || end > first && !t.saw(int(first+1), int(end)) {
			return false
		}
	}
	return true
}

// mark sets the bits of pages first … last.
func (t *Table) mark(first, last int) {
	for page := first; page <= last; page++ {
		atomic.OrUint64(&t.seen[page/64], 1<<(page%64))
	}
}

// copyAll copies or decodes the rows of b to dst, except those in b.unseen, on up to
// all cores. It is an ErrFault where a page is gone.
func (t *Table) copyAll(ctx context.Context, b *batch, dst []byte) error {
	b.dst, b.done = dst, b.unseen
	defer func() { b.dst = nil }()
	if len(dst) <= exec.Tuned.AloneBytes {
		return mapped.Guard(func() error { b.copy(0, b.count); return nil })
	}
	switch b.run(ctx, &b.known.runner, runtime.GOMAXPROCS(0)) {
	case exec.Stopped:
		return context.Cause(ctx)
	case exec.Vanished:
		return garner.Vanished()
	}
	return nil
}

// leaves reports whether a unit of rows is left as it is: see batch.
func (t *Table) leaves(b *batch, unit, first, last int) bool {
	if b.looks {
		b.late[unit] = !t.sawOnly(b.at[first:last])
	}
	return len(b.late) > 0 && b.late[unit] == b.looks
}

// age clears 64 bits each forgetEach uses of a batch, and all bits after idle
// nanoseconds without a Lookup: the kernel may have evicted the pages. A page that
// is evicted while its bit is set costs a page fault. age returns the time.
func (t *Table) age(b *batch) (now int64) {
	if b.uses++; b.uses%forgetEach == 0 {
		atomic.StoreUint64(&t.seen[t.forget.Add(1)%uint64(len(t.seen))], 0)
	}
	now = clock()
	used := t.used.Load()
	if now-used > idle && t.used.CompareAndSwap(used, now) {
		for i := range t.seen {
			atomic.StoreUint64(&t.seen[i], 0)
		}
	} else if now-used > idle/8 {
		t.used.Store(now)
	}
	return now
}

// clock returns the time in nanoseconds since 1970, as it was counted when the program
// began. Time.UnixNano would read a second clock of the system.
func clock() int64 { return begun.UnixNano() + int64(time.Since(begun)) }

var begun = time.Now()

// look asks the kernel which rows of b.unseen are in the page cache, and reads the
// others to dst. b.unseen then holds the rows that it read.
func (t *Table) look(ctx context.Context, b *batch, dst []byte) error {
	cold := b.unseen[:0]
	for n, i := range b.unseen {
		if n%lookRows == lookRows-1 && ctx.Err() != nil {
			return context.Cause(ctx)
		}
		part, offset, first, last := t.locate(b.rows[i])
		if part >= 0 {
			if t.saw(first, last) {
				continue // with a row before it
			}
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
		// The reads went through the page cache.
		if part, _, first, last := t.locate(b.rows[i]); part >= 0 {
			t.mark(first, last)
		}
	}
	return nil
}

// fetch reads rows of b to dst, each distinct one once: all, or those with the
// given numbers.
func (t *Table) fetch(ctx context.Context, b *batch, dst []byte, numbers []int) error {
	// A caller that must not wait for reads, as python/abi, has a context that says so.
	if c, ok := ctx.(interface{ Reads() error }); ok {
		if err := c.Reads(); err != nil {
			return err
		}
	}
	f := fetchers.Get().(*fetcher)
	f.rows = append(f.rows[:0], b.rows...)
	if numbers != nil {
		for i := range f.rows {
			f.rows[i] = -1 // its bytes of dst stay
		}
		for _, i := range numbers {
			f.rows[i] = b.rows[i]
		}
	}
	err := f.fetch(ctx, t.reads, runtime.GOMAXPROCS(0), dst, f.rows, t.size, 1, false, nil)
	fetchers.Put(f)
	return err
}
