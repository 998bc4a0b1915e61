package main

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"
	"unsafe"

	"github.com/garner-go/garner"
	"github.com/garner-go/garner/numpy"
	"github.com/garner-go/garner/source"
)

// The classes of garner.h that tests expect.
const (
	otherClass     = 1
	indexClass     = 5
	closedClass    = 10
	cancelledClass = 11
	internalClass  = 13
	argumentClass  = 14
)

// wholeFlag is GARNER_WHOLE.
const wholeFlag = 2

// read reads the error of a number, once.
func read(t *testing.T, number _Ctype_int64_t) (class int, text string) {
	t.Helper()
	var e _Ctype_garner_error
	if got := garner_error_read(number, &e); got != 0 {
		t.Fatalf("error %d is none: %d", number, got)
	}
	defer garner_free(e.text)
	defer garner_free(e.path)
	if again := garner_error_read(number, &e); again != -1 {
		t.Errorf("error %d is told twice: %d", number, again)
	}
	return int(e.error_class), goText(e.text)
}

// want reads the error of a number, and compares its class, and a word of its text.
func want(t *testing.T, number _Ctype_int64_t, class int, word string) {
	t.Helper()
	if number == 0 {
		t.Errorf("no error; want class %d, %q", class, word)
		return
	}
	if got, text := read(t, number); got != class || !strings.Contains(text, word) {
		t.Errorf("class %d, %q; want class %d and %q", got, text, class, word)
	}
}

// goText returns text of C.
func goText(p *_Ctype_char) string {
	var b []byte
	for p != nil && *p != 0 {
		b = append(b, byte(*p))
		p = (*_Ctype_char)(unsafe.Add(unsafe.Pointer(p), 1))
	}
	return string(b)
}

// knownHandles returns how many handles there are.
func knownHandles() int {
	handles.RLock()
	defer handles.RUnlock()
	return len(handles.by)
}

// chars returns text as C takes it.
func chars(text string) (*_Ctype_char, _Ctype_int64_t) {
	b := []byte(text)
	return (*_Ctype_char)(unsafe.Pointer(unsafe.SliceData(b))), _Ctype_int64_t(len(b))
}

// opened opens a table of four rows of two bytes.
func opened(t *testing.T) _Ctype_int64_t {
	t.Helper()
	path := filepath.Join(t.TempDir(), "t.bin")
	if err := os.WriteFile(path, []byte("abcdefgh"), 0o600); err != nil {
		t.Fatal(err)
	}
	var table _Ctype_int64_t
	var text *_Ctype_char
	request, n := chars(`{"file": "` + path + `", "dtype": "u8", "shape": [-1, 2]}`)
	if failed := garner_open(request, n, 0, &table, &text); failed != 0 {
		_, words := read(t, failed)
		t.Fatal(words)
	}
	garner_free(text)
	return table
}

func TestNullPointersAndLengths(t *testing.T) {
	before := knownHandles()
	table := opened(t)
	ids, out := []int64{3, 0}, make([]byte, 4)
	at, to := unsafe.Pointer(&ids[0]), unsafe.Pointer(&out[0])
	i64 := _Ctype_DLDataType{code: 0, bits: 64, lanes: 1}
	want(t, garner_lookup_now(table, nil, 2, -64, to, 4, 0), argumentClass, "2 rows at 0")
	want(t, garner_lookup_now(table, at, -1, -64, to, 4, 0), argumentClass, "-1")
	want(t, garner_lookup_now(table, at, 2, -64, nil, 4, 0), argumentClass, "no memory")
	want(t, garner_lookup_now(table, at, 2, -64, to, -4, 0), argumentClass, "-4")
	want(t, garner_lookup_now(table, at, 1<<62, -64, to, 4, 0), argumentClass, "rows at")
	want(t, garner_lookup(table, at, 2, nil, to, 4, 0, 0), argumentClass, "type")
	want(t, garner_lookup(table, nil, 2, &i64, to, 4, 0, 0), argumentClass, "2 rows")
	want(t, garner_lookup(table, at, -2, &i64, to, 4, 0, 0), argumentClass, "-2 rows")
	want(t, garner_lookup(table, at, 2, &i64, to, 4, 0, 987), argumentClass, "handle 987")
	if failed := garner_lookup(table, at, 2, &i64, to, 4, 0, 0); failed != 0 || string(out) != "ghab" {
		t.Errorf("%d, %q", failed, out)
	}
	ids[1] = 4
	want(t, garner_lookup_now(table, at, 2, -64, to, 4, 0), indexClass, "4")

	var prepared _Ctype_garner_prepared
	var text *_Ctype_char
	op, n := chars(`{"name": "numpy.take"}`)
	want(t, garner_prepare(nil, n, nil, 0, 0, &prepared), argumentClass, "no memory")
	want(t, garner_prepare(op, -1, nil, 0, 0, &prepared), argumentClass, "-1")
	want(t, garner_prepare(op, n, nil, 0, 0, nil), argumentClass, "no place")
	want(t, garner_prepare(op, n, nil, 2, 0, &prepared), argumentClass, "2 operands")
	want(t, garner_prepare(op, n, nil, -2, 0, &prepared), argumentClass, "-2 operands")
	want(t, garner_prepare(op, n, nil, 0, 0, &prepared), argumentClass, "0 operands")
	want(t, garner_prepare(op, n-1, nil, 0, 0, &prepared), argumentClass, "JSON")
	want(t, garner_open(op, n, 0, nil, &text), argumentClass, "no place")
	want(t, garner_open(nil, n, 0, &table, &text), argumentClass, "no memory")
	want(t, garner_call(nil, 5, nil, 0, 0, &text), argumentClass, "no memory")
	want(t, garner_call(op, -5, nil, 0, 0, &text), argumentClass, "-5")
	want(t, garner_call(op, n, nil, 1<<30, 0, &text), argumentClass, "")
	garner_free(nil)
	if got := garner_error_read(1, nil); got != -1 {
		t.Errorf("an error without a place: %d", got)
	}
	garner_release(table)
	if after := knownHandles(); after != before {
		t.Errorf("%d handles, and %d after", before, after)
	}
}

// TestLookupsNow looks rows up on this thread: by numbers of every type, from the end, and as ranges.
func TestLookupsNow(t *testing.T) {
	table, out := opened(t), make([]byte, 4)
	to := unsafe.Pointer(&out[0])
	i8, u8, i16, u16, i32, u32, u64 := []int8{3, 0}, []uint8{3, 0}, []int16{3, 0}, []uint16{3, 0}, []int32{3, 0}, []uint32{3, 0}, []uint64{3, 0}
	for bits, at := range map[_Ctype_int32_t]unsafe.Pointer{
		-8: unsafe.Pointer(&i8[0]), 8: unsafe.Pointer(&u8[0]), -16: unsafe.Pointer(&i16[0]), 16: unsafe.Pointer(&u16[0]),
		-32: unsafe.Pointer(&i32[0]), 32: unsafe.Pointer(&u32[0]), 64: unsafe.Pointer(&u64[0]),
	} {
		for flags := range _Ctype_int32_t(4) {
			clear(out)
			if failed := garner_lookup_now(table, at, 2, bits, to, 4, flags); failed != 0 || string(out) != "ghab" {
				t.Errorf("%d bits, flags %d: %d, %q", bits, flags, failed, out)
			}
		}
	}
	want(t, garner_lookup_now(table, unsafe.Pointer(&i8[0]), 2, 0, to, 4, 0), argumentClass, "0 bits")
	i8[1] = -4
	want(t, garner_lookup_now(table, unsafe.Pointer(&i8[0]), 2, -8, to, 4, 0), indexClass, "-4")
	if failed := garner_lookup_now(table, unsafe.Pointer(&i8[0]), 2, -8, to, 4, 2); failed != 0 || string(out) != "ghab" {
		t.Errorf("from the end: %d, %q", failed, out)
	}
	i8[1] = -5
	want(t, garner_lookup_now(table, unsafe.Pointer(&i8[0]), 2, -8, to, 4, 2), indexClass, "indices[1] = -5 is outside axis 0 of data, which has -4…3")

	for _, r := range []struct {
		first, step _Ctype_int64_t
		want        string
	}{{1, 1, "cdef"}, {2, -2, "efab"}, {0, 3, "abgh"}, {1, 0, "cdcd"}} {
		if failed := garner_rows(table, r.first, r.step, 2, to, 4, 1); failed != 0 || string(out) != r.want {
			t.Errorf("rows %d, step %d: %d, %q; want %q", r.first, r.step, failed, out, r.want)
		}
	}
	for _, r := range [][2]_Ctype_int64_t{{3, 1}, {-1, 1}, {0, -1}, {4, 0}, {0, 1 << 62}, {0, -1 << 63}} {
		want(t, garner_rows(table, r[0], r[1], 2, to, 4, 0), argumentClass, "of a table of 4")
	}
	want(t, garner_rows(table, 0, 1, 3, to, 4, 0), argumentClass, "3 rows of 2 bytes into 4")
	if failed := garner_rows(table, 9, 9, 0, nil, 0, 0); failed != 0 {
		t.Error(read(t, failed))
	}
	garner_release(table)
	want(t, garner_rows(table, 0, 1, 2, to, 4, 0), closedClass, "the table is closed")
}

// TestBrief wants lookups of many rows, of rows that are read, and such as take long, to be a job's.
func TestBrief(t *testing.T) {
	number, ids := opened(t), make([]int64, briefRows+1)
	out := make([]byte, 2*len(ids))
	at, to := unsafe.Pointer(&ids[0]), unsafe.Pointer(&out[0])
	n := _Ctype_int64_t(len(ids))
	if got := garner_lookup_now(number, at, n, -64, to, 2*n, 1); got != later {
		t.Errorf("many rows: %d", got)
	}
	if got := garner_rows(number, 0, 0, n, to, 2*n, 1); got != later {
		t.Errorf("a range of many rows: %d", got)
	}
	if failed := garner_lookup_now(number, at, n, -64, to, 2*n, 0); failed != 0 || out[2*n-1] != 'b' {
		t.Errorf("many rows to the end: %d", failed)
	}
	of, err := get[*table](int64(number))
	if err != nil {
		t.Fatal(err)
	}
	if err := source.Lookup(&brief{time.Now().Add(-time.Hour)}, of.Table, ids[:2], out[:4]); !errors.Is(err, errLater) {
		t.Errorf("after a long time: %v", err)
	}
	garner_release(number)

	path := filepath.Join(t.TempDir(), "t.bin")
	if err := os.WriteFile(path, []byte("abcdefgh"), 0o600); err != nil {
		t.Fatal(err)
	}
	request, length := chars(`{"file": "` + path + `", "dtype": "u8", "shape": [-1, 2], "pread": true}`)
	if failed := garner_open(request, length, 0, &number, new(*_Ctype_char)); failed != 0 {
		t.Fatal(read(t, failed))
	}
	if got := garner_lookup_now(number, at, 2, -64, to, 4, 1); got != later {
		t.Errorf("of a table that is read: %d", got)
	}
	if failed := garner_lookup_now(number, at, 2, -64, to, 4, 0); failed != 0 || string(out[:4]) != "abab" {
		t.Errorf("of a table that is read, to the end: %d, %q", failed, out[:4])
	}
	garner_release(number)
}

func TestHandles(t *testing.T) {
	table := opened(t)
	for _, number := range []_Ctype_int64_t{0, -1, 1 << 40, table} { // a table is no Prepared
		want(t, runPrepared(number, nil, nil, nil, nil, nil, nil, 0, 0), argumentClass, "handle")
	}
	failed := garner_lookup_now(0, nil, 0, -64, nil, 0, 0)
	garner_release(failed) // the number of an error is no handle
	want(t, failed, argumentClass, "handle 0")
	garner_release(table)
	garner_release(table)
	garner_release(-5)
	i64 := _Ctype_DLDataType{code: 0, bits: 64, lanes: 1}
	want(t, garner_lookup_now(table, nil, 0, -64, nil, 0, 0), closedClass, "the table is closed")
	want(t, garner_lookup(table, nil, 0, &i64, nil, 0, 0, 0), closedClass, "the table is closed")
	want(t, runPrepared(table, nil, nil, nil, nil, nil, nil, 0, 0), closedClass, "was released")
	want(t, garner_lookup_now(table+1000, nil, 0, -64, nil, 0, 0), argumentClass, "handle")
	want(t, tell(errors.New("a\x00b")), otherClass, `a\x00b`)
	var e _Ctype_garner_error
	if got := garner_error_read(opened(t), &e); got != -1 {
		t.Errorf("a table is read as an error: %d", got)
	}
}

func TestJobs(t *testing.T) {
	before := knownHandles()
	var failed, done, total _Ctype_int64_t
	var text *_Ctype_char
	if got := garner_job_wait(987, 0, &failed, &text); got != 1 {
		t.Errorf("a wait on no job: %d", got)
	}
	want(t, failed, argumentClass, "handle 987")
	if got := garner_job_wait(987, 0, nil, nil); got != -1 {
		t.Errorf("a wait on no job without a place: %d", got)
	}
	garner_job_cancel(987)
	garner_job_progress(987, &done, &total)

	job := garner_job()
	if got := garner_job_wait(job, 0, &failed, &text); got != 1 {
		t.Errorf("a wait on a job without a call: %d", got)
	}
	want(t, failed, argumentClass, "no call")
	garner_job_progress(job, nil, nil)
	question, n := chars(`{"do": "operators"}`)
	if failed := garner_call(question, n, nil, 0, job, nil); failed != 0 {
		t.Fatal(read(t, failed))
	}
	want(t, garner_call(question, n, nil, 0, job, nil), argumentClass, "one job for each")
	for garner_job_wait(job, 1000, &failed, &text) == 0 {
	}
	if failed != 0 || !strings.Contains(goText(text), "numpy.take") {
		t.Errorf("%d, %q", failed, goText(text))
	}
	garner_free(text)
	garner_release(job)

	table := opened(t)
	ids, out, i64 := []int64{0}, make([]byte, 2), _Ctype_DLDataType{code: 0, bits: 64, lanes: 1}
	job = garner_job()
	garner_job_cancel(job) // before its call
	if failed := garner_lookup(table, unsafe.Pointer(&ids[0]), 1, &i64, unsafe.Pointer(&out[0]), 2, 0, job); failed != 0 {
		t.Fatal(read(t, failed))
	}
	for garner_job_wait(job, 1000, &failed, nil) == 0 {
	}
	want(t, failed, cancelledClass, "cancelled")
	garner_release(job)
	garner_job_cancel(job)
	garner_release(table)
	if after := knownHandles(); after != before {
		t.Errorf("%d handles, and %d after", before, after)
	}
}

// TestPanics lets every export panic, and wants an error of it, or an answer.
func TestPanics(t *testing.T) {
	table, question, n := opened(t), `{"do": "operators"}`, _Ctype_int64_t(0)
	asked, n := chars(question)
	var handle, failed _Ctype_int64_t
	var text *_Ctype_char
	var prepared _Ctype_garner_prepared
	i64 := _Ctype_DLDataType{code: 0, bits: 64, lanes: 1}
	number := garner_job()
	if failed := garner_call(asked, n, nil, 0, number, nil); failed != 0 {
		t.Fatal(read(t, failed))
	}
	of, err := get[*job](int64(number))
	if err != nil {
		t.Fatal(err)
	}
	<-of.ended // it reads hook
	calls := map[string]func() _Ctype_int64_t{
		"garner_prepare":    func() _Ctype_int64_t { return garner_prepare(asked, n, nil, 0, 0, &prepared) },
		"garner_run":        func() _Ctype_int64_t { return runPrepared(1, nil, nil, nil, nil, nil, nil, 1, 0) },
		"garner_shape":      func() _Ctype_int64_t { return garner_shape(1, nil, nil) },
		"garner_open":       func() _Ctype_int64_t { return garner_open(asked, n, 0, &handle, &text) },
		"garner_rows":       func() _Ctype_int64_t { return garner_rows(table, 0, 1, 0, nil, 0, 0) },
		"garner_lookup_now": func() _Ctype_int64_t { return garner_lookup_now(table, nil, 0, -64, nil, 0, 0) },
		"garner_lookup":     func() _Ctype_int64_t { return garner_lookup(table, nil, 0, &i64, nil, 0, 0, 0) },
		"garner_call":       func() _Ctype_int64_t { return garner_call(asked, n, nil, 0, 0, &text) },
		"garner_job_wait": func() _Ctype_int64_t {
			if got := garner_job_wait(number, 1000, &failed, &text); got != 1 {
				t.Errorf("garner_job_wait: %d", got)
			}
			return failed
		},
		"garner_error_read": func() _Ctype_int64_t {
			hook = nil
			number := garner_lookup_now(0, nil, 0, -64, nil, 0, 0)
			hook = func(string) { panic("provoked") }
			var e _Ctype_garner_error
			if got := garner_error_read(number, &e); got != 0 || e.error_class != internalClass {
				t.Errorf("garner_error_read: %d, class %d", got, e.error_class)
			}
			return garner_lookup_now(table, nil, 0, -64, nil, 0, 0)
		},
		"garner_release": func() _Ctype_int64_t { garner_release(987); return garner_lookup_now(table, nil, 0, -64, nil, 0, 0) },
		"garner_free":    func() _Ctype_int64_t { garner_free(nil); return garner_lookup_now(table, nil, 0, -64, nil, 0, 0) },
		"garner_job_cancel": func() _Ctype_int64_t {
			garner_job_cancel(number)
			return garner_lookup_now(table, nil, 0, -64, nil, 0, 0)
		},
		"garner_job_adopt": func() _Ctype_int64_t { return garner_job_adopt(number) },
		"garner_job_progress": func() _Ctype_int64_t {
			garner_job_progress(number, nil, nil)
			return garner_lookup_now(table, nil, 0, -64, nil, 0, 0)
		},
		"garner_job": func() _Ctype_int64_t {
			if got := garner_job(); got != 0 {
				t.Errorf("garner_job: %d", got)
			}
			return garner_lookup_now(table, nil, 0, -64, nil, 0, 0)
		},
	}
	for name, call := range calls {
		t.Run(name, func(t *testing.T) {
			hook = func(string) { panic("provoked") }
			failure := call()
			hook = nil
			want(t, failure, internalClass, "provoked")
		})
	}
	hook = func(export string) {
		if export == "garner_call" || export == "garner_lookup" {
			panic("provoked in a goroutine")
		}
	}
	job := garner_job() // a call of a job panics on a goroutine of its own
	if failed := garner_call(asked, n, nil, 0, 0, nil); failed != 0 {
		want(t, failed, internalClass, "provoked")
	}
	if failed := garner_lookup(table, nil, 0, &i64, nil, 0, 0, job); failed != 0 {
		t.Fatal(read(t, failed))
	}
	for garner_job_wait(job, 1000, &failed, nil) == 0 {
	}
	hook = nil
	want(t, failed, internalClass, "provoked in a goroutine")
	garner_release(job)
	garner_release(number)
	garner_release(table)
	text2, err := os.ReadFile("garner.h")
	if err != nil {
		t.Fatal(err)
	}
	for line := range strings.SplitSeq(string(text2), "\n") {
		if !strings.HasPrefix(line, "extern ") || strings.Contains(line, `"C"`) {
			continue
		}
		name := line[strings.Index(line, "garner_"):strings.IndexByte(line, '(')]
		if calls[name] == nil && name != "garner_abi" && !strings.HasPrefix(name, "garner_forget") { // in C, of garner_release
			t.Errorf("no panic is provoked in %s", name)
		}
	}
}

// preparedFor prepares an operator for data f32[4,2] and indices of i64[3], or of i64[3,1].
func preparedFor(t *testing.T, op string, data []float32, ids []int64, dims ..._Ctype_int64_t) (of _Ctype_garner_prepared, failed _Ctype_int64_t) {
	t.Helper()
	shape := []_Ctype_int64_t{4, 2}
	operands := []*_Ctype_DLTensor{
		{data: unsafe.Pointer(&data[0]), device: _Ctype_DLDevice{device_type: 1}, ndim: 2, dtype: _Ctype_DLDataType{code: 2, bits: 32, lanes: 1}, shape: &shape[0]},
		{data: unsafe.Pointer(&ids[0]), device: _Ctype_DLDevice{device_type: 1}, ndim: _Ctype_int32_t(len(dims)), dtype: _Ctype_DLDataType{code: 0, bits: 64, lanes: 1}, shape: &dims[0]},
	}
	text, n := chars(op)
	failed = garner_prepare(text, n, &operands[0], 2, 0, &of)
	return of, failed
}

// TestOnePreparedServesManyLengths runs one handle over indices of many lengths and strides, and
// wants an error, and no byte written, where the output is of another extent.
func TestOnePreparedServesManyLengths(t *testing.T) {
	data, ids, out := []float32{0, 1, 10, 11, 20, 21, 30, 31}, []int64{3, 1, 0, 2, 1, 3}, make([]float32, 16)
	of, failed := preparedFor(t, `{"name": "onnx.Gather-13"}`, data, ids, 3)
	if failed != 0 {
		t.Fatal(read(t, failed))
	}
	if of.serves != servesAll || of.rank != 2 || of.shape[0] != 3 {
		t.Errorf("it serves %d, rank %d, %d rows", of.serves, of.rank, of.shape[0])
	}
	run := func(flags int32, numbers ..._Ctype_int64_t) _Ctype_int64_t {
		for i := range out {
			out[i] = -1
		}
		return runPrepared(of.handle, unsafe.Pointer(&data[0]), unsafe.Pointer(&ids[0]), &numbers[0], unsafe.Pointer(&out[0]), nil, nil, _Ctype_int32_t(flags), 0)
	}
	for turn := range 2 {
		for n := range 7 {
			if failed := run(0, _Ctype_int64_t(n), 8, _Ctype_int64_t(n), 2); failed != 0 {
				t.Fatal(read(t, failed))
			}
			for i := range out {
				want := float32(-1)
				if i < 2*n {
					want = float32(ids[i/2]*10 + int64(i%2))
				}
				if out[i] != want {
					t.Errorf("turn %d, %d indices: element %d is %v; want %v", turn, n, i, out[i], want)
				}
			}
		}
		if failed := run(0, 3, 16, 3, 2); failed != 0 || out[4] != 10 || out[6] != -1 { // every second index: 3, 0, 1
			t.Errorf("strides of 16 bytes: %d, %v", failed, out)
		}
	}
	untouched := func(what string) {
		t.Helper()
		for i, v := range out {
			if v != -1 {
				t.Errorf("%s: element %d is written: %v", what, i, v)
			}
		}
	}
	for _, numbers := range [][]_Ctype_int64_t{{3, 8, 2, 2}, {3, 8, 4, 2}, {3, 8, 3, 1}, {3, 8, 1, 6}, {3, 8, -3, 2}, {3, 8, 1 << 62, 2}, {-3, 8, 3, 2}, {3, 7, 3, 2}} {
		failed := run(0, numbers...)
		if failed == 0 {
			t.Errorf("%v: no error", numbers)
			continue
		}
		read(t, failed)
		untouched("another extent")
	}
	ids[2] = 9
	want(t, run(wholeFlag, 3, 8, 3, 2), indexClass, "indices[2] = 9")
	untouched("a bad index, of a whole run")
	want(t, run(0, 3, 8, 3, 2), indexClass, "indices[2] = 9")
	var shape [2]_Ctype_int64_t
	extent := _Ctype_int64_t(5)
	if failed := garner_shape(of.handle, &extent, &shape[0]); failed != 0 || shape != [2]_Ctype_int64_t{5, 2} {
		t.Errorf("shape: %d, %v", failed, shape)
	}
	want(t, garner_shape(of.handle, nil, &shape[0]), argumentClass, "extents")
	want(t, garner_shape(of.handle, &extent, nil), argumentClass, "extents")
	want(t, garner_shape(987, &extent, &shape[0]), argumentClass, "handle")
	extent = -5
	want(t, garner_shape(of.handle, &extent, &shape[0]), 4, "-5")
	garner_release(of.handle)

	ids[2] = 0
	if of, failed = preparedFor(t, `{"name": "onnx.GatherND-13"}`, data, ids, 3, 1); failed != 0 {
		t.Fatal(read(t, failed))
	}
	if of.serves != servesFirst {
		t.Errorf("GatherND serves %d; want %d", of.serves, servesFirst)
	}
	if failed := run(0, 2, 1, 8, 8, 2, 2); failed != 0 || out[0] != 30 || out[3] != 11 || out[4] != -1 {
		t.Errorf("GatherND: %d, %v", failed, out)
	}
	garner_release(of.handle)
}

// TestThreadsOnOneHandle runs one Prepared and one table by many goroutines, while others make and release.
func TestThreadsOnOneHandle(t *testing.T) {
	table := opened(t)
	var group sync.WaitGroup
	for range 8 {
		group.Go(func() {
			out, ids := make([]byte, 4), []int64{1, 3}
			for range 500 {
				if failed := garner_lookup_now(table, unsafe.Pointer(&ids[0]), 2, -64, unsafe.Pointer(&out[0]), 4, 0); failed != 0 || string(out) != "cdgh" {
					t.Errorf("%d, %q", failed, out)
					return
				}
				garner_release(garner_job())
			}
		})
	}
	group.Wait()
	garner_release(table)
}

func BenchmarkRun(b *testing.B) {
	data, ids, out := make([]byte, 1000*16), make([]int64, 16), make([]byte, 16*16)
	zero := 0
	p := &prepared{}
	p.data.view = view{given: true, dtype: garner.I8, shape: []int{1000, 16}, strides: []int{16, 1}, end: len(data)}
	p.indices = view{given: true, dtype: garner.I64, shape: []int{16}, strides: []int{1}, end: 128}
	p.out = view{given: true, dtype: garner.I8, shape: []int{16, 16}, strides: []int{16, 1}, end: len(out)}
	var err error
	if p.p, err = garner.Prepare(numpy.Take{Axis: &zero}, p.data.spec(), p.indices.spec(), garner.Threads(1)); err != nil {
		b.Fatal(err)
	}
	for b.Loop() {
		if err := p.run(context.Background(), unsafe.Pointer(&data[0]), unsafe.Pointer(&ids[0]), nil, unsafe.Pointer(&out[0]), nil, false); err != nil {
			b.Fatal(err)
		}
	}
}
