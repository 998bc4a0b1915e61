package main

/*
#include "garner.h"
*/
import "C"

import (
	"context"
	"crypto/sha256"
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"strings"
	"sync"
	"time"
	"unsafe"

	"github.com/garner-go/garner"
	"github.com/garner-go/garner/files"
	"github.com/garner-go/garner/internal/exec"
	"github.com/garner-go/garner/internal/limits"
	"github.com/garner-go/garner/internal/mapped"
	"github.com/garner-go/garner/source"
)

// A location is a file with an array as JSON names it.
type location struct {
	File   path   `json:"file"`
	DType  string `json:"dtype"`  // of a file that does not say it
	Shape  []int  `json:"shape"`  // of such a file, -1 once for what its size tells
	Offset int64  `json:"offset"` // of its first element, in bytes
	Raw    bool   `json:"raw"`    // blocks of a quantised array as bytes
	To     string `json:"to"`     // the float type to convert to
	Pread  bool   `json:"pread"`  // read by system calls, map nothing

	Lenient   bool   `json:"lenient"`   // of a model: accept text that its format refuses
	Signature string `json:"signature"` // of a model of TensorFlow or TFLite

	Identity path `json:"identity"` // what an earlier opening told, which has names of files; "" for none
}

func (l *location) options() (o files.Options, err error) {
	o = files.Options{Shape: l.Shape, Offset: l.Offset, Raw: l.Raw, Lenient: l.Lenient, Signature: l.Signature}
	if l.DType != "" {
		o.DType, err = garner.ParseDType(l.DType)
	}
	return o, err
}

// open opens the array, and tells the identity of what lies in the file, whatever it is converted to. It is a
// source.ErrChanged where the location has another.
func (l *location) open(ctx context.Context) (a files.Array, identity string, err error) {
	o, err := l.options()
	if err != nil {
		return nil, "", err
	}
	to := garner.Invalid
	if l.To != "" {
		if to, err = garner.ParseDType(l.To); err != nil {
			return nil, "", err
		}
	}
	a, err = bounded(o, limits.Memory, func(o files.Options) (files.Array, error) { return files.Open(ctx, string(l.File), o) })
	if err != nil {
		return nil, "", inFile(string(l.File), err)
	}
	identity, ok, err := files.IdentifyContents(a)
	if !ok {
		identity = a.Spec().String()
	}
	if err == nil {
		err = l.same(identity)
	}
	if err == nil && to != garner.Invalid {
		var c source.Array
		if c, err = source.Convert(a, to); err == nil && c != source.Array(a) {
			return closing{c, a}, identity, nil
		}
	}
	if err != nil {
		return nil, "", errors.Join(err, a.Close())
	}
	return a, identity, nil
}

// same is an error where an earlier opening told another identity.
func (l *location) same(identity string) error {
	if l.Identity == "" || string(l.Identity) == identity {
		return nil
	}
	return garner.Errorf(source.ErrChanged, "%s is another file than the one that was opened first, or was written to since; open it anew (now %s; then %s)", l.File, identity, l.Identity)
}

// bounded opens an array, one that must be read whole within a bound alone: a runtime that gets no more memory ends the
// process. To ask for the bound takes as long as to open a file does, so it is asked for where it is needed.
func bounded[T any](o files.Options, bound func() limits.Bound, open func(files.Options) (T, error)) (T, error) {
	o.InPlace, o.Memory = true, 1
	t, err := open(o)
	if !errors.Is(err, files.ErrMemory) && !errors.Is(err, files.ErrTooLarge) {
		return t, err
	}
	most := bound()
	o.InPlace, o.Memory = false, max(most.Bytes, 1) // 0 is no limit
	if t, err = open(o); errors.Is(err, files.ErrTooLarge) {
		err = garner.Errorf(err, "%s; %s", strings.TrimPrefix(err.Error(), "garner: "), most)
	}
	return t, err
}

// stringCopies is about how many times as much memory as strings is taken by them and what is made of them: their
// bytes, these as base64, as JSON, and as the text that C gets.
const stringCopies = 6

func stringBound() limits.Bound {
	most := limits.Memory()
	most.Bytes /= stringCopies
	most.By += fmt.Sprintf(" strings, which are copied %d times,", stringCopies)
	return most
}

// A closing is an Array with the Close of another, over the same files.
type closing struct {
	source.Array
	of files.Array
}

func (c closing) Close() error { return c.of.Close() }

// beneath returns the Array that a file has, of one that is converted: its identity is the file's.
func beneath(a files.Array) files.Array {
	if c, ok := a.(closing); ok {
		return c.of
	}
	return a
}

// arrayOf returns the Array that package source reads in its fastest ways.
func arrayOf(a files.Array) source.Array {
	if c, ok := a.(closing); ok {
		return c.Array
	}
	return a
}

// An unmapped is a File that is read by system calls, so that no page of it can fault.
type unmapped struct{ *source.File }

func (u unmapped) Fetch(ctx context.Context, rows source.Rows) error {
	return u.FetchBy(ctx, source.Pread, rows)
}

type table struct {
	*source.Table
	array  files.Array
	mapped bool         // rows are read from a mapping, so that a page may be gone
	users  mapped.Users // lookups: one of several pieces enters the array anew with each
}

// enter keeps the array open until leave at the same place. It is a closedError after Close.
func (t *table) enter() (place uint, err error) {
	if place = rand.Uint(); !t.users.Enter(place) {
		t.leave(place)
		return 0, errTableClosed
	}
	return place, nil
}

func (t *table) leave(place uint) {
	if t.users.Leave(place) {
		_ = t.users.FreeIdle(t.array.Close) // the files were only read: an error loses nothing
	}
}

// guard is guard before rows are read: an error where they are in a mapped file alone.
func (t *table) guard() error {
	if err := guard(); err != nil && t.mapped {
		return fmt.Errorf("%w; open the table with pread=True", err)
	}
	return nil
}

// Close waits for no lookup: those that have begun end as if it came later, and the last of them closes the array.
func (t *table) Close() error { return t.users.Close(t.array.Close) }

//export garner_open
func garner_open(request *C.char, length, in C.int64_t, handle *C.int64_t, text **C.char) C.int64_t {
	var l location
	if err := safely("garner_open", func() error {
		if handle == nil && in == 0 {
			return argumentf("garner_open has no place for its handle")
		}
		asked, err := memory("a request", (*byte)(unsafe.Pointer(request)), length)
		if err != nil {
			return err
		}
		return unmarshal(asked, &l)
	}); err != nil {
		return tell(err)
	}
	return start("garner_open", in, text, true, func(ctx context.Context, j *job) (string, error) {
		a, identity, err := l.open(ctx)
		if errors.Is(err, garner.ErrDType) && l.To == "" {
			if text, ok, of := l.strings(ctx); ok || of != nil {
				return text, of
			}
		}
		if err != nil {
			return "", err
		}
		of := arrayOf(a)
		f, isFile := of.(*source.File)
		pread := isFile && (l.Pread || !guards)
		if pread {
			of = struct{ source.Array }{unmapped{f}}
		}
		t, err := source.NewTable(of)
		if err != nil {
			return "", errors.Join(err, a.Close())
		}
		spec := a.Spec()
		shape, _ := spec.Shape()
		if shape == nil {
			shape = garner.Shape{}
		}
		number := put(&table{Table: t, array: a, mapped: !pread})
		b, err := json.Marshal(map[string]any{
			"table": number,
			"dtype": spec.DType.String(), "bits": spec.DType.Bits(), "shape": shape, "rows": t.Len(), "row_bytes": t.RowBytes(), "identity": path(identity),
		})
		if j != nil {
			j.opened(number)
		} else {
			*handle = C.int64_t(number)
		}
		return string(b), err
	})
}

// strings reads a table of strings whole: as JSON, like that of other tables, and each string as base64 of
// its bytes, row-major. It returns false where the array is none.
func (l *location) strings(ctx context.Context) (text string, ok bool, err error) {
	o, err := l.options()
	if err != nil {
		return "", false, nil // what open says
	}
	end := func() error { return nil }
	t, err := bounded(o, stringBound, func(o files.Options) (t garner.Tensor, err error) {
		t, end, err = files.Tensor(ctx, string(l.File), o)
		return t, err
	})
	if errors.Is(err, files.ErrTooLarge) {
		return "", true, inFile(string(l.File), err)
	}
	if err != nil {
		return "", false, nil
	}
	defer end()
	if t.DType() != garner.String {
		return "", false, nil
	}
	if t.Rank() == 0 {
		return "", true, garner.Errorf(garner.ErrShape, "a string, which is no table: it has no rows")
	}
	values, err := garner.Values[string](t)
	if err != nil {
		return "", true, err
	}
	all := make([][]byte, len(values))
	for i, s := range values {
		all[i] = []byte(s)
	}
	sum := sha256.New()
	for _, s := range values {
		fmt.Fprintf(sum, "%d %s", len(s), s)
	}
	identity := fmt.Sprintf("%s with SHA-256 %x", t.Spec(), sum.Sum(nil))
	if err := l.same(identity); err != nil {
		return "", true, err
	}
	b, err := json.Marshal(map[string]any{"table": 0, "identity": path(identity), "dtype": "string", "bits": 0, "shape": t.Shape(), "rows": t.Shape()[0], "row_bytes": 0, "strings": all})
	return string(b), true, err
}

// later is what garner_lookup_now and garner_rows return for a lookup that is a job's.
const later = -1

//export garner_lookup_now
func garner_lookup_now(number C.int64_t, ids unsafe.Pointer, count C.int64_t, bits C.int32_t, out unsafe.Pointer, bytes C.int64_t, flags C.int32_t) C.int64_t {
	length := 0 // of the numbers, in bytes
	return now("garner_lookup_now", number, out, bytes, flags, ids, &length, func(ctx context.Context, t *table, dst []byte) error {
		if count < 0 || count > 1<<45 || count > 0 && ids == nil {
			return argumentf("a list of %d rows at %x", count, uintptr(ids))
		}
		n, ends := int(count), flags&C.GARNER_FROM_END != 0
		switch bits {
		case -64, -32, -16, -8, 8, 16, 32, 64:
			length = n * int(max(bits, -bits)) / 8
		}
		if err := apart(ids, length, out, len(dst)); err != nil {
			return err
		}
		switch bits {
		case -64:
			return lookupNow[int64](ctx, t, ids, n, dst, ends)
		case -32:
			return lookupNow[int32](ctx, t, ids, n, dst, ends)
		case -16:
			return lookupNow[int16](ctx, t, ids, n, dst, ends)
		case -8:
			return lookupNow[int8](ctx, t, ids, n, dst, ends)
		case 64:
			return lookupNow[uint64](ctx, t, ids, n, dst, ends)
		case 32:
			return lookupNow[uint32](ctx, t, ids, n, dst, ends)
		case 16:
			return lookupNow[uint16](ctx, t, ids, n, dst, ends)
		case 8:
			return lookupNow[uint8](ctx, t, ids, n, dst, ends)
		}
		return argumentf("numbers of rows of %d bits; give 8 to 64, below 0 where they have a sign", bits)
	})
}

//export garner_rows
func garner_rows(number, first, step, count C.int64_t, out unsafe.Pointer, bytes C.int64_t, flags C.int32_t) C.int64_t {
	return now("garner_rows", number, out, bytes, flags, nil, new(int), func(ctx context.Context, t *table, dst []byte) error {
		if size := t.RowBytes(); count < 0 || size > 0 && int(count) != len(dst)/size {
			return argumentf("%d rows of %d bytes into %d", count, size, len(dst))
		}
		rows := C.int64_t(t.Len())
		far := count > 1 && step != 0 && (step < -rows || step > rows || count-1 > (rows-1)/max(step, -step))
		if last := first + (count-1)*step; count > 0 && (far || first < 0 || first >= rows || last < 0 || last >= rows) {
			return argumentf("rows %d, %d and so on, %d of them, of a table of %d", first, first+step, count, rows)
		}
		list := lists.Get().(*[]int64)
		defer lists.Put(list)
		for n, from := int(count), 0; from < n; {
			// A list of a few rows at a time stays in the first cache.
			to := min(from+listRows, n)
			*list = (*list)[:0]
			for i := from; i < to; i++ {
				*list = append(*list, int64(first)+int64(i)*int64(step))
			}
			if err := source.Lookup(ctx, t.Table, *list, dst[from*t.RowBytes():to*t.RowBytes()]); err != nil {
				return err
			}
			from = to
		}
		return nil
	})
}

// listRows is how many rows of a range are looked up at a time.
const listRows = 1 << 13

var lists = sync.Pool{New: func() any { return new([]int64) }}

// now looks rows up on the caller's thread; with GARNER_BRIEF only such as need no job. length is what f finds the numbers at
// ids to have.
func now(export string, number C.int64_t, out unsafe.Pointer, bytes C.int64_t, flags C.int32_t, ids unsafe.Pointer, length *int, f func(context.Context, *table, []byte) error) C.int64_t {
	var dst []byte
	err := safely(export, func() error {
		t, err := get[*table](int64(number))
		if err != nil {
			return err
		}
		place, err := t.enter()
		if err != nil {
			return err
		}
		defer t.leave(place)
		if err = t.guard(); err != nil {
			return err
		}
		if dst, err = memory("a result", (*byte)(out), bytes); err != nil {
			return err
		}
		if flags&C.GARNER_BRIEF == 0 {
			return f(context.Background(), t, dst)
		}
		if len(dst) <= shortBytes {
			return f(short{}, t, dst)
		}
		if len(dst) > pieceBytes || len(dst) > briefRows*t.RowBytes() {
			return errLater
		}
		return f(&brief{time.Now()}, t, dst)
	})
	if err == nil {
		return 0
	}
	if errors.Is(err, errLater) {
		return later
	}
	return tell(blamed(err, ids, *length, dst))
}

// A short is a brief of so few bytes that it looks at no clock, which would take as long as some rows.
type short struct{}

func (short) Err() error                              { return nil }
func (short) Reads() error                            { return errLater }
func (short) Deadline() (deadline time.Time, ok bool) { return }
func (short) Done() <-chan struct{}                   { return nil }
func (short) Value(any) any                           { return nil }

const shortBytes = 256 << 10

// A brief is the context of a lookup that ends soon or is a job's: while the lookup runs, no handler of a signal does.
type brief struct{ begun time.Time }

// briefTime is how long it may take, and briefRows up to how many rows are tried: as many take 3 ms where the bytes do not
// decide, and what was done is done again by the job.
const (
	briefTime = 25 * time.Millisecond
	briefRows = 1 << 18
)

var errLater = errors.New("garner: a lookup that needs a job")

func (b *brief) Err() error {
	if time.Since(b.begun) > briefTime {
		return errLater
	}
	return nil
}

// Reads is the error of a lookup that would read rows: see package source.
func (b *brief) Reads() error { return errLater }

func (b *brief) Deadline() (deadline time.Time, ok bool) { return }
func (b *brief) Done() <-chan struct{}                   { return nil }
func (b *brief) Value(any) any                           { return nil }

// lookupNow is a lookup of numbers that may count from the end.
func lookupNow[I garner.Integer](ctx context.Context, t *table, ids unsafe.Pointer, n int, dst []byte, ends bool) error {
	all := unsafe.Slice((*I)(ids), n)
	err := source.Lookup(ctx, t.Table, all, dst)
	if !ends || !errors.Is(err, garner.ErrIndex) || t.Len() == 0 {
		return err
	}
	wide, count := make([]int64, n), int64(t.Len())
	for i, id := range all {
		if wide[i] = int64(id); uint64(id) > math.MaxInt64 && ^I(0) > 0 {
			wide[i] = math.MaxInt64 // outside, too
		} else if id < 0 {
			wide[i] += count
		}
	}
	err = source.Lookup(ctx, t.Table, wide, dst)
	if bad := (*garner.IndexError)(nil); errors.As(err, &bad) && len(bad.Position) == 1 {
		bad.FromEnd, bad.Value = true, garner.Index{Bits: uint64(all[bad.Position[0]]), Unsigned: ^I(0) > 0}
	}
	return err
}

//export garner_lookup
func garner_lookup(number C.int64_t, ids unsafe.Pointer, count C.int64_t, dtype *C.DLDataType, out unsafe.Pointer, bytes C.int64_t, flags C.int32_t, in C.int64_t) C.int64_t {
	t, err := get[*table](int64(number))
	if err != nil {
		return tell(err)
	}
	if dtype == nil {
		return tell(argumentf("the numbers of rows have no type"))
	}
	d, err := typeOf(*dtype)
	if err != nil {
		return tell(err)
	}
	dst, err := memory("a result", (*byte)(out), bytes)
	if err == nil && (count < 0 || count > 1<<45 || count > 0 && ids == nil) {
		err = argumentf("a list of %d rows at %x", count, uintptr(ids))
	}
	if err == nil {
		err = apart(ids, int(count)*d.Bits()/8, out, len(dst))
	}
	if err != nil {
		return tell(err)
	}
	place, err := t.enter() // not in the job: a release behind this call comes behind the lookup
	if err != nil {
		return tell(err)
	}
	leave := sync.OnceFunc(func() { t.leave(place) })
	failed := begin("garner_lookup", in, nil, func(ctx context.Context, _ *job) (_ string, err error) {
		defer leave()
		n, ends := int(count), flags&C.GARNER_FROM_END != 0
		defer func() {
			if r := recover(); exec.IsFault(r) {
				err = garner.Vanished()
			} else if r != nil {
				panic(r)
			}
			err = blamed(err, ids, n*d.Bits()/8, dst)
		}()
		switch d {
		case garner.I64:
			return "", lookup[int64](ctx, t, ids, n, dst, ends)
		case garner.I32:
			return "", lookup[int32](ctx, t, ids, n, dst, ends)
		case garner.I16:
			return "", lookup[int16](ctx, t, ids, n, dst, ends)
		case garner.I8:
			return "", lookup[int8](ctx, t, ids, n, dst, ends)
		case garner.U64:
			return "", lookup[uint64](ctx, t, ids, n, dst, ends)
		case garner.U32:
			return "", lookup[uint32](ctx, t, ids, n, dst, ends)
		case garner.U16:
			return "", lookup[uint16](ctx, t, ids, n, dst, ends)
		case garner.U8:
			return "", lookup[uint8](ctx, t, ids, n, dst, ends)
		}
		return "", garner.Errorf(garner.ErrDType, "numbers of rows of %s; give integers of 8 to 64 bits", d)
	})
	if failed != 0 {
		leave() // the job, which did not begin, has not
	}
	return failed
}

func lookup[I garner.Integer](ctx context.Context, t *table, ids unsafe.Pointer, n int, dst []byte, ends bool) error {
	all, size := unsafe.Slice((*I)(ids), n), t.RowBytes()
	if ctx.Done() == nil || size == 0 || len(dst) != n*size {
		return lookupNow[I](ctx, t, ids, n, dst, ends)
	}
	// In pieces, because copies of warm rows do not look at the context, and no more numbers than bytes are copied between two
	// looks. Before the first of them all numbers are looked at: where one has no row, no row is read.
	each := min(max(pieceBytes/size, 1), pieceBytes/8)
	if n > each {
		if err := outside(ctx, all, t.Len(), ends); err != nil {
			return err
		}
	}
	for from := 0; from < n; from += each {
		to := min(from+each, n)
		err := context.Cause(ctx)
		if err == nil {
			err = t.guard()
		}
		if err == nil {
			err = lookupNow[I](ctx, t, unsafe.Pointer(&all[from]), to-from, dst[from*size:to*size], ends)
		}
		var bad *garner.IndexError
		if errors.As(err, &bad) && len(bad.Position) == 1 {
			bad.Position = []int{from + bad.Position[0]}
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// outside is the error of numbers of which one has no row, or the context's cause.
func outside[I garner.Integer](ctx context.Context, all []I, rows int, ends bool) error {
	var bad *garner.IndexError
	for i, id := range all {
		if i%(pieceBytes/8) == 0 && ctx.Err() != nil {
			return context.Cause(ctx)
		}
		value := uint64(id)
		if ends && id < 0 {
			value += uint64(rows)
		}
		if value < uint64(rows) {
			continue
		}
		if bad != nil {
			bad.Others++
			continue
		}
		bad = &garner.IndexError{Position: []int{i}, Value: garner.Index{Bits: uint64(id), Unsigned: ^I(0) > 0}, Dim: rows, FromEnd: ends, Total: len(all)}
	}
	if bad != nil {
		return bad
	}
	return nil
}

// apart is an error where a result shares memory with the numbers of its rows.
func apart(ids unsafe.Pointer, length int, out unsafe.Pointer, bytes int) error {
	from, to := uintptr(ids), uintptr(out)
	if length > 0 && bytes > 0 && from < to+uintptr(bytes) && to < from+uintptr(length) {
		return garner.Errorf(garner.ErrOverlap, "the rows would be written over the numbers that ask for them; give out memory of its own")
	}
	return nil
}

// pieceBytes is about how much a lookup of a job copies between two looks at its context.
const pieceBytes = 16 << 20
