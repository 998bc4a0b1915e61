package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"hash/crc32"
	"time"

	"github.com/garner-go/garner"
	"github.com/garner-go/garner/format/npy"
	"github.com/garner-go/garner/source"
	"github.com/garner-go/garner/strict"
)

// A warm is one gather over two mapped .npy files in the page cache. Its methods
// run, into, gather and plain each produce the whole result once: they are what
// is timed.
type warm struct {
	op            garner.Op
	data, indices *source.File

	prepared   *garner.Prepared
	dataMapped garner.Tensor // the same mapping that source reads
	idsMapped  garner.Tensor
	out        garner.Tensor // the output of run and into
	bytes      []byte        // out's memory
	written    []byte        // the output of gather and plain
}

// operator is garner's own operator of that name.
func operator(name string, axis int) (garner.Op, error) {
	switch name {
	case "gather":
		return strict.Gather{Axis: axis}, nil
	case "gathernd":
		return strict.GatherND{}, nil
	case "elements":
		return strict.GatherElements{Axis: axis}, nil
	}
	return nil, fmt.Errorf("-op %q: give gather, gathernd or elements", name)
}

// openWarm opens and maps both files, prepares the gather, and runs it once in
// each way, which brings every page into the process. The results of all ways
// must be equal.
func openWarm(op garner.Op, data, indices string) (w *warm, err error) {
	w = &warm{op: op}
	defer func() {
		if err != nil {
			w.close()
		}
	}()
	for _, f := range []struct {
		path string
		file **source.File
		view *garner.Tensor
	}{{data, &w.data, &w.dataMapped}, {indices, &w.indices, &w.idsMapped}} {
		if *f.file, err = npy.OpenArray(f.path, npy.Options{}); err != nil {
			return w, err
		}
		var ok bool
		if *f.view, ok = (*f.file).Tensor(); !ok {
			return w, fmt.Errorf("%s is not mapped", f.path)
		}
	}
	if w.prepared, err = garner.Prepare(op, w.dataMapped.Spec(), w.idsMapped.Spec()); err != nil {
		return w, err
	}
	plan := w.prepared.Plan()
	if w.out, err = garner.New(plan.DType, plan.Out...); err != nil {
		return w, err
	}
	if w.bytes, err = w.out.Bytes(); err != nil {
		return w, err
	}
	w.written = make([]byte, len(w.bytes))
	return w, w.check(context.Background())
}

func (w *warm) close() {
	for _, f := range []*source.File{w.data, w.indices} {
		if f != nil {
			f.Close()
		}
	}
}

// run is Prepared.Run on the mapping.
func (w *warm) run(ctx context.Context) error {
	return w.prepared.Run(ctx, w.dataMapped, w.idsMapped, w.out)
}

// into is source.GatherInto, into the output of run.
func (w *warm) into(ctx context.Context) error {
	return source.GatherInto(ctx, w.op, w.data, w.indices, w.out, source.Options{})
}

// gather is source.Gather to a writer that copies into memory.
func (w *warm) gather(ctx context.Context) error {
	to := &memory{left: w.written}
	if err := source.Gather(ctx, w.op, w.data, w.indices, to, source.Options{}); err != nil {
		return err
	}
	if len(to.left) > 0 {
		return fmt.Errorf("source.Gather wrote %d bytes less than the result has", len(to.left))
	}
	return nil
}

// plain copies a result on one core: the share of the writer in the time of
// gather.
func (w *warm) plain(context.Context) error {
	copy(w.written, w.bytes)
	return nil
}

// check runs every way once, each into an output that held something else, and
// compares the results.
func (w *warm) check(ctx context.Context) error {
	spoil := func(b []byte) {
		for i := range b {
			b[i] ^= 0xa5
		}
	}
	if err := w.run(ctx); err != nil {
		return err
	}
	want := bytes.Clone(w.bytes)
	spoil(w.bytes)
	if err := w.into(ctx); err != nil {
		return err
	}
	copy(w.written, want)
	spoil(w.written)
	if err := w.gather(ctx); err != nil {
		return err
	}
	if !bytes.Equal(w.bytes, want) || !bytes.Equal(w.written, want) {
		return errors.New("the results of Prepared.Run, source.GatherInto and source.Gather differ")
	}
	return nil
}

// warmTimes are the seconds of each call, in the order of the turns.
type warmTimes struct {
	Run    []float64 `json:"run"`
	Into   []float64 `json:"into"`
	Gather []float64 `json:"gather"`
	Copy   []float64 `json:"copy"`
	Bytes  int       `json:"bytes"`  // of the result
	Regime string    `json:"regime"` // of Prepared.Run
	CRC32  uint32    `json:"crc32"`  // of the result
}

// turn times each way once, one after the other. The way that goes first
// changes from turn to turn, so that none always follows the same other.
func (w *warm) turn(ctx context.Context, n int, t *warmTimes) error {
	ways := []struct {
		call  func(context.Context) error
		spent *[]float64
	}{{w.run, &t.Run}, {w.into, &t.Into}, {w.gather, &t.Gather}, {w.plain, &t.Copy}}
	for i := range ways {
		way := ways[(n+i)%len(ways)]
		begin := time.Now()
		if err := way.call(ctx); err != nil {
			return err
		}
		*way.spent = append(*way.spent, time.Since(begin).Seconds())
	}
	return nil
}

// warmCalls times so many turns and compares the results again at the end.
func warmCalls(op garner.Op, data, indices string, calls int) (*warmTimes, error) {
	w, err := openWarm(op, data, indices)
	if err != nil {
		return nil, err
	}
	defer w.close()
	ctx := context.Background()
	t := &warmTimes{Bytes: len(w.bytes), Regime: w.prepared.Regime().String()}
	for n := range calls {
		if err := w.turn(ctx, n, t); err != nil {
			return nil, err
		}
	}
	if err := w.check(ctx); err != nil {
		return nil, err
	}
	t.CRC32 = crc32.ChecksumIEEE(w.bytes)
	return t, nil
}

// A memory is a writer that copies into memory; what does not fit is an error.
type memory struct{ left []byte }

func (m *memory) Write(b []byte) (int, error) {
	n := copy(m.left, b)
	m.left = m.left[n:]
	if n < len(b) {
		return n, errors.New("more was written than the result has")
	}
	return n, nil
}
