package source

import (
	"bytes"
	"context"
	"errors"
	"io"
	"math/rand/v2"
	"os"
	"runtime"
	"slices"
	"strings"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"github.com/garner-go/garner"
	"github.com/garner-go/garner/internal/guard"
	"github.com/garner-go/garner/internal/mapped"
	"github.com/garner-go/garner/onnx"
	"github.com/garner-go/garner/openvino"
	"github.com/garner-go/garner/torch"
)

// faulty is a file that fails.
type faulty struct {
	io.ReaderAt
	reads atomic.Int64
	fail  int64         // which read fails; 0: none
	short bool          // each returns a part of the bytes
	stuck bool          // each returns 0 bytes and no error
	begun func(n int64) // if not nil, called as read n begins
}

func (f *faulty) ReadAt(b []byte, at int64) (int, error) {
	n := f.reads.Add(1)
	if f.begun != nil {
		f.begun(n)
	}
	switch {
	case n == f.fail:
		return 0, syscall.EIO
	case f.stuck:
		return 0, nil
	case f.short:
		return f.ReaderAt.ReadAt(b[:1+len(b)/3], at)
	}
	return f.ReaderAt.ReadAt(b, at)
}

// broken is a table of rows of 1000 bytes whose file fails as f says.
func broken(t *testing.T, rows int, f *faulty) (*File, []byte) {
	t.Helper()
	b := noise(rows * 1000)
	file := open(t, garner.SpecOf(garner.U8, rows, 1000), nil, Segment{write(t, "table", append([]byte("head"), b...)), 4, int64(len(b))})
	f.ReaderAt = file.files[0].file
	file.files[0].read = f
	return file, b
}

// every has the number of each row of a table once, in random order.
func every(rows int) garner.Tensor {
	ids := make([]int64, rows)
	for i, at := range rand.New(rand.NewPCG(1, 1)).Perm(rows) {
		ids[i] = int64(at)
	}
	return garner.Of(ids, rows)
}

// noLeak fails the test where it ends with more goroutines than it has now.
func noLeak(t *testing.T) {
	t.Helper()
	before := runtime.NumGoroutine()
	t.Cleanup(func() {
		for range 60_000 {
			if runtime.NumGoroutine() <= before {
				return
			}
			time.Sleep(time.Millisecond) // a goroutine that has ended still counts for a while
		}
		t.Errorf("%d goroutines, and %d before", runtime.NumGoroutine(), before)
	})
}

// TestEIO fails read n of data, for each of the first n, and a read of the indices.
func TestEIO(t *testing.T) {
	const rows = 300
	for n := int64(1); n < 12; n++ {
		noLeak(t)
		bad := &faulty{fail: n}
		file, _ := broken(t, rows, bad)
		for _, memory := range []int64{0, 50000} {
			bad.reads.Store(0)
			var out bytes.Buffer
			err := Gather(t.Context(), onnx.Gather13{}, file, Memory(every(rows)), &out, Options{Memory: memory})
			var lost *ReadError
			if !errors.As(err, &lost) {
				if memory == 0 && bad.reads.Load() < n {
					continue // it took fewer reads
				}
				t.Fatalf("read %d: %v", n, err)
			}
			if !errors.Is(err, syscall.EIO) || lost.Path != file.files[0].path || lost.From < 4 || lost.To > 4+rows*1000 || lost.Row != (lost.From-4)/1000 {
				t.Errorf("read %d: %v, %#v", n, err, lost)
			}
			if !strings.Contains(err.Error(), "input/output error") || !strings.Contains(err.Error(), "at row ") || !strings.Contains(err.Error(), ", bytes ") {
				t.Error(err)
			}
		}
	}
	bad := &faulty{fail: 1}
	file, _ := broken(t, 10, bad)
	table, err := NewTable(file)
	if err != nil {
		t.Fatal(err)
	}
	if err := Lookup(t.Context(), table, []int{1, 2}, make([]byte, 2000)); !errors.Is(err, syscall.EIO) {
		t.Error(err)
	}
	if err := Lookup(t.Context(), table, []int{1, 2}, make([]byte, 2000)); err != nil {
		t.Errorf("once more: %v", err)
	}
	// Indices that cannot be read.
	at := stored(t, garner.Of(make([]int64, 100), 100))
	at.files[0].read = &faulty{ReaderAt: at.files[0].file, fail: 2}
	if err := Gather(t.Context(), onnx.Gather13{}, Memory(garner.Of(noise(10), 10)), at, io.Discard, Options{Memory: 50}); !errors.Is(err, syscall.EIO) || !strings.Contains(err.Error(), at.files[0].path) {
		t.Error(err)
	}
}

func TestShortReads(t *testing.T) {
	const rows = 200
	file, want := broken(t, rows, &faulty{short: true})
	var out bytes.Buffer
	at := every(rows)
	if err := Gather(t.Context(), onnx.Gather13{}, file, Memory(at), &out, Options{Memory: 30000}); err != nil {
		t.Fatal(err)
	}
	ids, _ := garner.Values[int64](at)
	for i, id := range ids {
		if !bytes.Equal(out.Bytes()[i*1000:][:1000], want[id*1000:][:1000]) {
			t.Fatalf("row %d is another", id)
		}
	}
	file, _ = broken(t, rows, &faulty{stuck: true})
	if err := Gather(t.Context(), onnx.Gather13{}, file, Memory(at), &out, Options{}); !errors.Is(err, io.ErrNoProgress) {
		t.Error(err)
	}
}

// TestChangesWhileRead changes a file after the first block, as another program
// may.
func TestChangesWhileRead(t *testing.T) {
	guard.Faults(t)
	const rows = 70000 // several blocks, warm ones too
	for name, tt := range map[string]struct {
		change func(path string) error
		want   error
		says   string
	}{
		"cut":       {func(path string) error { return os.Truncate(path, 4+rows*500) }, io.ErrUnexpectedEOF, "; run again when"},
		"gone":      {func(path string) error { return os.Truncate(path, 0) }, io.ErrUnexpectedEOF, "; run again when"},
		"grown":     {func(path string) error { return os.Truncate(path, 4+rows*2000) }, ErrChanged, "grew"},
		"replaced":  {replace, ErrChanged, "replaced"},
		"written":   {touch, ErrChanged, "written to"},
		"rewritten": {rewrite, ErrChanged, "written to"},
	} {
		for _, memory := range []int64{0, 100000} {
			noLeak(t)
			b := noise(rows * 1000)
			path := write(t, "table", append([]byte("head"), b...))
			file := open(t, garner.SpecOf(garner.U8, rows, 1000), nil, Segment{path, 4, int64(len(b))})
			var denied error
			changed := false
			err := Gather(t.Context(), onnx.Gather13{}, file, Memory(every(rows)), io.Discard, Options{Memory: memory, Progress: func(done, total int64) {
				if done > 0 && !changed {
					changed, denied = true, tt.change(path)
				}
			}})
			if denied != nil {
				mayNotChange(t, denied)
			}
			var lost *ReadError
			if !errors.As(err, &lost) || lost.Path != path || !errors.Is(err, tt.want) || !strings.Contains(err.Error(), tt.says) {
				t.Errorf("%s, %d: %v", name, memory, err)
			} else if tt.want == io.ErrUnexpectedEOF && (lost.Row < 0 || lost.To <= lost.From) {
				t.Errorf("%s, %d: it does not say which row: %#v", name, memory, lost)
			}
		}
	}
}

// mayNotChange ends a test that could not change an open file. Windows refuses such
// changes, so that the case cannot occur there.
func mayNotChange(t *testing.T, err error) {
	t.Helper()
	if runtime.GOOS == "windows" {
		t.Skip("Windows keeps a file that is mapped from being cut short or replaced: ", err)
	}
	t.Fatal(err)
}

// TestIndicesChange truncates the file of the indices after the first block.
func TestIndicesChange(t *testing.T) {
	guard.Faults(t)
	const n = 40000
	for _, memory := range []int64{0, 50000} {
		noLeak(t)
		at := stored(t, garner.Of(make([]int64, n), n))
		path, changed := at.files[0].path, false
		var denied error
		err := Gather(t.Context(), onnx.Gather13{}, Memory(garner.Of(noise(300), 3, 100)), at, io.Discard, Options{Memory: memory, Progress: func(done, total int64) {
			if done > 0 && !changed {
				changed, denied = true, os.Truncate(path, 4096)
			}
		}})
		if denied != nil {
			mayNotChange(t, denied)
		}
		var lost *ReadError
		if !errors.As(err, &lost) || lost.Path != path || !strings.Contains(err.Error(), "cut short") {
			t.Errorf("%d: %v", memory, err)
		}
	}
}

// TestWays reads a file in every way, before and after it is truncated and closed.
func TestWays(t *testing.T) {
	guard.Faults(t)
	path := write(t, "table", noise(100<<12))
	file := open(t, garner.SpecOf(garner.U8, 100, 1<<12), nil, Segment{path, 0, 100 << 12})
	rows := Rows{At: []int64{0, 50 << 12, 99 << 12}, Size: 1 << 12, Dst: make([]byte, 3<<12)}
	ways := file.Ways()
	for w := Auto; w <= Ring+1; w++ {
		if w != Auto && !slices.Contains(ways, w) {
			if err := file.FetchBy(t.Context(), w, rows); !errors.Is(err, errors.ErrUnsupported) || !strings.Contains(err.Error(), w.String()) {
				t.Errorf("%v: %v", w, err)
			}
		}
	}
	ctx, cancel := context.WithCancelCause(t.Context())
	cause := errors.New("enough")
	cancel(cause)
	for _, w := range ways {
		if err := file.FetchBy(ctx, w, rows); err != cause {
			t.Errorf("%v: %v", w, err)
		}
	}
	if w := file.Way(rows); w == Auto {
		t.Error("Auto is no way")
	}
	if w := file.Way(Rows{}); w == Auto {
		t.Error("Auto is no way")
	}
	// With one io_uring for two reads side by side.
	if slices.Contains(file.Ways(), Ring) {
		one := open(t, garner.SpecOf(garner.U8, 100, 1<<12), nil, Segment{path, 0, 100 << 12})
		ring := one.ring()
		one.noRing = true
		clear(rows.Dst)
		if err := one.fetchBy(t.Context(), Auto, rows, 1); err != nil {
			t.Errorf("the ring is in use: %v", err)
		}
		holds(t, "the ring is in use", rows, noise(100<<12))
		one.putRing(ring)
	}
	// Without io_uring, as in many containers.
	without := open(t, garner.SpecOf(garner.U8, 100, 1<<12), nil, Segment{path, 0, 100 << 12})
	without.noRing = true
	if slices.Contains(without.Ways(), Ring) {
		t.Error("there are rings all the same")
	}
	for range 2 {
		clear(rows.Dst)
		if err := without.Fetch(t.Context(), rows); err != nil {
			t.Fatal(err)
		}
		holds(t, "without rings", rows, noise(100<<12))
		guard.Forget(without.files[0].file)
	}
	if w := without.Way(rows); w == Ring {
		t.Error(w)
	}
	if err := os.Truncate(path, 60<<12); err != nil {
		mayNotChange(t, err)
	}
	for _, w := range ways {
		var lost *ReadError
		if err := file.FetchBy(t.Context(), w, rows); !errors.As(err, &lost) || lost.Row != 99 || !errors.Is(err, io.ErrUnexpectedEOF) {
			t.Errorf("%v: %v", w, err)
		}
	}
	file.files[0].file.Close()
	for _, w := range ways {
		var lost *ReadError
		if err := file.FetchBy(t.Context(), w, rows); w != WillNeed && (!errors.As(err, &lost) || lost.Path != path) {
			t.Errorf("%v of a closed file: %v", w, err)
		}
	}
}

// told is an array that tells of each Fetch as it begins.
type told struct {
	Array
	begun func()
}

func (a told) Fetch(ctx context.Context, rows Rows) error {
	a.begun()
	return a.Array.Fetch(ctx, rows)
}

// TestCancel cancels runs as one of their reads begins: no more follow than other goroutines
// may have begun meanwhile.
func TestCancel(t *testing.T) {
	const rows, last = 3000, 5
	noLeak(t)
	ofBytes, ofFloats := &faulty{}, &faulty{}
	file, _ := broken(t, rows, ofBytes)
	real, table := stored(t, garner.Of(noise(rows*1000), rows, 1000)), floats(t, rows, 100, ofFloats)
	cause := errors.New("enough")
	for name, run := range map[string]func(ctx context.Context, read func()) error{
		"Gather": func(ctx context.Context, read func()) error {
			ofBytes.begun = func(int64) { read() }
			return Gather(ctx, onnx.Gather13{}, file, Memory(every(rows)), io.Discard, Options{Memory: 200000})
		},
		"one long bag": func(ctx context.Context, read func()) error {
			ofFloats.begun = func(int64) { read() }
			return Gather(ctx, torch.EmbeddingBag{Mode: "sum"}, table, Memory(every(rows)), io.Discard, Options{Memory: 200000, Further: []Array{Memory(garner.Of([]int64{0}, 1))}})
		},
		"Fetch": func(ctx context.Context, read func()) error {
			ofBytes.begun = func(int64) { read() }
			rows := Rows{Size: 10, Dst: make([]byte, 10*rows)}
			for i := range len(rows.Dst) / 10 {
				rows.At = append(rows.At, int64(i)*1000)
			}
			for {
				if err := file.Fetch(ctx, rows); err != nil {
					return err
				}
			}
		},
		"indices": func(ctx context.Context, read func()) error {
			return Gather(ctx, onnx.Gather13{}, real, told{Memory(garner.Of(make([]int64, 1<<20), 1<<20)), read}, io.Discard, Options{Memory: 1000})
		},
	} {
		var reads atomic.Int64
		ctx, cancel := context.WithCancelCause(t.Context())
		err := run(ctx, func() {
			switch n := reads.Add(1); {
			case n == last:
				cancel(cause)
			case n > last:
				<-ctx.Done() // what the call above does at once, on a machine that has time for it
			}
		})
		if err != cause {
			t.Fatalf("%s: %v", name, err)
		}
		// Each of them makes 800 reads or more where nothing ends it.
		if most := last + 1 + int64(runtime.GOMAXPROCS(0))*16; reads.Load() > most {
			t.Errorf("%s: cancelled at read %d, it makes %d", name, last, reads.Load())
		}
	}
}

// TestNothingMade holds that indices of rows without bytes, which are only checked, are read in
// pieces of what a budget holds, and not one by one.
func TestNothingMade(t *testing.T) {
	const n = 1 << 16
	var reads atomic.Int64
	at := told{Memory(garner.Of(make([]int64, n), n)), func() { reads.Add(1) }}
	data := stored(t, garner.Of([]uint8{}, 2, 0))
	if err := Gather(t.Context(), onnx.Gather13{}, data, at, io.Discard, Options{Memory: 1 << 20}); err != nil || reads.Load() > 40 {
		t.Errorf("%d reads of %d indices, %v", reads.Load(), n, err)
	}
}

// full is a disk with room bytes left.
type full struct {
	room  int
	short bool
}

func (f *full) Write(b []byte) (int, error) {
	if len(b) <= f.room {
		f.room -= len(b)
		return len(b), nil
	}
	if f.short {
		return f.room, nil
	}
	return f.room, syscall.ENOSPC
}

func TestWriteFails(t *testing.T) {
	noLeak(t)
	data := Memory(garner.Of(noise(100000), 100, 1000))
	for _, room := range []int{0, 999, 50000, 99999} {
		for _, memory := range []int64{0, 5000} {
			if err := Gather(t.Context(), onnx.Gather13{}, data, Memory(every(100)), &full{room: room}, Options{Memory: memory}); !errors.Is(err, syscall.ENOSPC) {
				t.Error(err)
			}
			if err := Gather(t.Context(), onnx.Gather13{}, data, Memory(every(100)), &full{room, true}, Options{Memory: memory}); err != io.ErrShortWrite {
				t.Error(err)
			}
		}
	}
}

func TestGatherRefuses(t *testing.T) {
	data, at := Memory(garner.Of(noise(20), 5, 4)), Memory(every(5))
	strs := Memory(garner.Of([]string{"a", "b"}, 2))
	cause := errors.New("enough")
	ctx, cancel := context.WithCancelCause(t.Context())
	cancel(cause)
	out, _ := garner.New(garner.U8, 5, 4)
	other, _ := garner.New(garner.U8, 4, 5)
	for name, err := range map[string]struct{ got, want error }{
		"strings":  {Gather(t.Context(), onnx.Gather13{}, strs, at, io.Discard, Options{}), garner.ErrDType},
		"axis":     {Gather(t.Context(), onnx.Gather13{Axis: 2}, data, at, io.Discard, Options{}), garner.ErrShape},
		"range":    {Gather(t.Context(), onnx.Gather13{}, data, at, io.Discard, Options{Range: &Range{0, 21}}), garner.ErrShape},
		"negative": {Gather(t.Context(), onnx.Gather13{}, data, at, io.Discard, Options{Range: &Range{-1, 4}}), garner.ErrShape},
		"done":     {Gather(ctx, onnx.Gather13{}, data, at, io.Discard, Options{}), cause},
		"out":      {GatherInto(t.Context(), onnx.Gather13{}, data, at, other, Options{}), garner.ErrShape},
		"dtype":    {GatherInto(t.Context(), onnx.Gather13{}, data, at, garner.Of([]int8{1}, 1), Options{}), garner.ErrDType},
		"into":     {GatherInto(t.Context(), onnx.Gather13{}, data, at, out, Options{Range: &Range{0, 19}}), garner.ErrShape},
		"op":       {GatherInto(t.Context(), onnx.Gather13{Axis: 3}, data, at, out, Options{}), garner.ErrShape},
	} {
		if err.got == nil || err.want != nil && !errors.Is(err.got, err.want) || err.want != cause && !strings.HasPrefix(err.got.Error(), "garner: ") {
			t.Errorf("%s: %v", name, err.got)
		}
	}
}

// reads counts the calls of an array's Fetch.
type reads struct {
	Array
	n int
}

func (r *reads) Fetch(ctx context.Context, rows Rows) error {
	r.n++
	return r.Array.Fetch(ctx, rows)
}

// TestRefusedBeforeAnythingIsRead gathers by bad indices.
func TestRefusedBeforeAnythingIsRead(t *testing.T) {
	ids := make([]int64, 5000)
	ids[4000], ids[4500] = 7, -8
	data, at := &reads{Array: Memory(garner.Of(noise(35), 7, 5))}, garner.Of(ids, 50, 100)
	want, err := garner.Gather(onnx.Gather13{}, garner.Of(noise(35), 7, 5), at)
	if err == nil {
		t.Fatal(want)
	}
	for _, memory := range []int64{0, 1 << 20} {
		var out bytes.Buffer
		if got := Gather(t.Context(), onnx.Gather13{}, data, plain{Memory(at)}, &out, Options{Memory: memory}); got == nil || got.Error() != err.Error() || data.n > 0 || out.Len() > 0 {
			t.Errorf("%v, want %v, after %d reads and %d bytes", got, err, data.n, out.Len())
		}
	}
	// Where the indices do not fit, before their block is written.
	var out bytes.Buffer
	if got := Gather(t.Context(), onnx.Gather13{}, data, plain{Memory(at)}, &out, Options{Memory: 4000}); got == nil || got.Error() != err.Error() || out.Len() > 4000*5 || data.n == 0 {
		t.Errorf("%v, want %v, after %d bytes", got, err, out.Len())
	}
}

// TestGatherIntoChanged holds that GatherInto says, as Gather does, that a file was
// written to since it was opened, whichever way it is read.
func TestGatherIntoChanged(t *testing.T) {
	b := noise(100 * 1000)
	path := write(t, "table", b)
	file := open(t, garner.SpecOf(garner.U8, 100, 1000), nil, Segment{path, 0, int64(len(b))})
	if err := touch(path); err != nil {
		mayNotChange(t, err)
	}
	at := every(100)
	out, err := garner.New(garner.U8, at.Len(), 1000)
	if err != nil {
		t.Fatal(err)
	}
	for _, memory := range []int64{0, 50_000} {
		if err := GatherInto(t.Context(), onnx.Gather13{}, file, Memory(at), out, Options{Memory: memory}); !errors.Is(err, ErrChanged) {
			t.Errorf("memory %d: %v, want an ErrChanged", memory, err)
		}
	}
}

// TestThreads holds that a gather decodes on as many cores as it was given, where
// the file is mapped and where it is not.
func TestThreads(t *testing.T) {
	var now, most atomic.Int32
	codec := &Codec{Elements: 1000, Bytes: 1000, Decode: func(dst, src []byte) {
		n := now.Add(1)
		for {
			if m := most.Load(); n <= m || most.CompareAndSwap(m, n) {
				break
			}
		}
		copy(dst, src)
		time.Sleep(10 * time.Microsecond)
		now.Add(-1)
	}}
	const rows = 20_000
	b := noise(rows * 1000)
	path := write(t, "table", b)
	file := open(t, garner.SpecOf(garner.U8, rows, 1000), codec, Segment{path, 0, int64(len(b))})
	defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(4))
	if err := Gather(t.Context(), onnx.Gather13{}, file, Memory(every(rows)), io.Discard, Options{Threads: 1}); err != nil {
		t.Fatal(err)
	}
	if most.Load() != 1 {
		t.Errorf("%d decoders at once, with one thread", most.Load())
	}
}

// inverted is a File whose Fetch gives other bytes: an Array of a user's.
type inverted struct{ *File }

func (a inverted) Fetch(ctx context.Context, rows Rows) error {
	err := a.File.Fetch(ctx, rows)
	for i := range rows.Dst {
		rows.Dst[i] = ^rows.Dst[i]
	}
	return err
}

// TestEmbeddedFile holds that an Array answers by its own Fetch, also where it
// embeds a File that is in the page cache.
func TestEmbeddedFile(t *testing.T) {
	b := noise(100 * 10)
	path := write(t, "table", b)
	data := inverted{open(t, garner.SpecOf(garner.U8, 100, 10), nil, Segment{path, 0, 1000})}
	at := every(100)
	ids, _ := garner.Values[int64](at)
	want := make([]byte, 0, 1000)
	for _, id := range ids {
		for _, v := range b[id*10 : id*10+10] {
			want = append(want, ^v)
		}
	}
	for _, memory := range []int64{0, 1 << 20} {
		var out bytes.Buffer
		if err := Gather(t.Context(), onnx.Gather13{}, data, Memory(at), &out, Options{Memory: memory}); err != nil || !bytes.Equal(out.Bytes(), want) {
			t.Errorf("Gather, %d: %v, or the bytes are those of the file", memory, err)
		}
		into := garner.Of(make([]byte, 1000), 100, 10)
		if err := GatherInto(t.Context(), onnx.Gather13{}, data, Memory(at), into, Options{Memory: memory}); err != nil || !bytes.Equal(bytesOf(t, into), want) {
			t.Errorf("GatherInto, %d: %v, or the bytes are those of the file", memory, err)
		}
	}
}

// TestWriterPanics holds that a Writer which panics leaves nothing behind: no
// goroutine, and no buffer that a later run could find written to.
func TestWriterPanics(t *testing.T) {
	noLeak(t)
	const rows = 70_000
	at := every(rows)
	data := Memory(garner.Of(noise(rows*1000), rows, 1000))
	for _, memory := range []int64{0, 1 << 20} {
		func() {
			defer func() {
				if recover() == nil {
					t.Error("the panic is gone")
				}
			}()
			Gather(t.Context(), onnx.Gather13{}, data, Memory(at), panicking{}, Options{Memory: memory})
		}()
	}
}

type panicking struct{}

func (panicking) Write([]byte) (int, error) { panic("no more") }

// TestGatherIntoOverlap holds that an output may be no part of its inputs, within a
// budget as without, and that the error names the input.
func TestGatherIntoOverlap(t *testing.T) {
	values := noise(1000)
	data, at := garner.Of(values, 100, 10), every(100)
	ids, _ := garner.Values[int64](at)
	path := write(t, "table", values)
	file := open(t, garner.SpecOf(garner.U8, 100, 8), nil, Segment{path, 0, 800})
	shared, _ := garner.FromBytes(garner.U8, mapped.BytesOf(ids), 100, 8)
	for _, memory := range []int64{0, 1 << 20} {
		if err := GatherInto(t.Context(), onnx.Gather13{}, Memory(data), Memory(at), data, Options{Memory: memory}); !errors.Is(err, garner.ErrOverlap) || !strings.Contains(err.Error(), "an input, data;") {
			t.Errorf("data, %d: %v", memory, err)
		}
		if err := GatherInto(t.Context(), onnx.Gather13{}, file, Memory(at), shared, Options{Memory: memory}); !errors.Is(err, garner.ErrOverlap) || !strings.Contains(err.Error(), "an input, indices;") {
			t.Errorf("indices, %d: %v", memory, err)
		}
		floats := make([]float32, 200)
		table := stored(t, garner.Of(floats, 100, 2))
		out, weights := garner.Of(floats[:4], 2, 2), garner.Of(floats[2:102], 100)
		o := Options{Memory: memory, Further: []Array{Memory(garner.Of([]int64{0, 50}, 2)), Memory(weights)}}
		if err := GatherInto(t.Context(), openvino.EmbeddingBagOffsetsSum3{}, table, Memory(at), out, o); !errors.Is(err, garner.ErrOverlap) || !strings.Contains(err.Error(), "an input, per_sample_weights;") {
			t.Errorf("weights, %d: %v", memory, err)
		}
	}
}

// TestGatherIntoPart holds that a packed output which ends inside a byte leaves the
// elements behind it alone, whichever way data is read.
func TestGatherIntoPart(t *testing.T) {
	four, _ := garner.FromBytes(garner.U4, []byte{0x21, 0x43}, 4)
	at := Memory(garner.Of([]int64{0, 1, 2}, 3))
	for name, data := range map[string]Array{"memory": Memory(four), "fetched": plain{Memory(four)}} {
		for _, memory := range []int64{0, 1 << 20} {
			b := []byte{0xff, 0xff}
			whole, _ := garner.FromBytes(garner.U4, b, 4)
			out, err := whole.Slice(0, 0, 3, 1)
			if err != nil {
				t.Fatal(err)
			}
			if err := GatherInto(t.Context(), onnx.Gather13{}, data, at, out, Options{Memory: memory}); err != nil || b[0] != 0x21 || b[1] != 0xf3 {
				t.Errorf("%s, %d: %x, %v; want 21f3", name, memory, b, err)
			}
		}
	}
}
