// Command calls times single calls of garner on arrays that it opens once, and
// prints the times as one line of JSON. tables.py runs it.
//
//	calls [-dtype f32 -shape ?,40 -offset 64] [-calls 5] [-memory] TABLE INDICES
//	calls -op gather|gathernd|elements [-axis 0] [-calls 5] DATA.npy INDICES.npy
//	calls -lookup Q4_K|rows8|rows4|int4:32 -columns 4096 [-seconds 0.5] CODES INDICES.npy
//
// The first form times source.GatherInto on rows of a table of any format; with
// -memory, garner.GatherInto on a copy of it in memory too.
//
// The second form times Prepared.Run, source.GatherInto and source.Gather on the
// same two mapped files, and a plain copy of the result, in turns. Every way runs
// once before that, so that all pages are in memory. A process that is pinned to
// one core gathers on one core.
//
// The third form times source.Lookup of stored rows, for quantised.py: of a kind of
// GGUF, or of FBGEMM's; and of codes of 4 bits with scales apart, on one goroutine.
package main

import (
	"context"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"hash/crc32"
	"os"
	"runtime"
	"time"

	"github.com/garner-go/garner"
	"github.com/garner-go/garner/files"
	"github.com/garner-go/garner/source"
	"github.com/garner-go/garner/strict"
)

// times are in seconds, in the order of the calls: first those of Reused, into
// one output that was written to before, then those of Fresh, each of which
// allocates its own.
type times struct {
	Open     float64   `json:"open"`
	Fresh    []float64 `json:"fresh"`
	Reused   []float64 `json:"reused"`
	InMemory struct {
		Fresh  []float64 `json:"fresh,omitempty"`
		Reused []float64 `json:"reused,omitempty"`
	} `json:"in_memory"`
	CRC32 uint32 `json:"crc32"`
}

func main() {
	if err := run(); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

func run() error {
	dtype := flag.String("dtype", "", "of a file without a header")
	shape := flag.String("shape", "", "of a file without a header")
	offset := flag.Int64("offset", 0, "of the first byte of a file without a header")
	calls := flag.Int("calls", 5, "how often each is called")
	memory := flag.Bool("memory", false, "gather from a copy in memory too")
	kind := flag.String("op", "", "compare the ways of running gather, gathernd or elements on two mapped .npy files")
	axis := flag.Int("axis", 0, "of -op gather and -op elements")
	var s stored
	flag.StringVar(&s.kind, "lookup", "", "look up rows of a file that stores them in this form, or bags of them")
	flag.IntVar(&s.columns, "columns", 4096, "elements of a row of -lookup")
	flag.IntVar(&s.tables, "tables", 26, "tables of -lookup bags:FORM")
	flag.IntVar(&s.length, "length", 1, "indices of a bag of -lookup bags:FORM")
	seconds := flag.Float64("seconds", 0.5, "how long -lookup goes on")
	result := flag.String("result", "", "a file for what -lookup gives")
	flag.Parse()
	if flag.NArg() != 2 {
		return fmt.Errorf("calls takes TABLE and INDICES; %d were given", flag.NArg())
	}
	if s.path = flag.Arg(0); s.kind != "" {
		l, err := lookups(s, *seconds, flag.Arg(1), *result)
		if err != nil {
			return err
		}
		return json.NewEncoder(os.Stdout).Encode(l)
	}
	if *kind != "" {
		op, err := operator(*kind, *axis)
		if err != nil {
			return err
		}
		t, err := warmCalls(op, flag.Arg(0), flag.Arg(1), *calls)
		if err != nil {
			return err
		}
		return json.NewEncoder(os.Stdout).Encode(t)
	}
	o := files.Options{Offset: *offset}
	var err error
	if *dtype != "" {
		if o.DType, err = garner.ParseDType(*dtype); err != nil {
			return err
		}
	}
	if *shape != "" {
		if o.Shape, err = files.ParseShape(*shape); err != nil {
			return err
		}
	}
	ctx := context.Background()
	ids, closeIDs, err := files.Tensor(ctx, flag.Arg(1), files.Options{})
	if err != nil {
		return err
	}
	defer closeIDs()
	if ids, err = ids.Clone(); err != nil { // it shall not be read while the clock runs
		return err
	}

	var t times
	begin := time.Now()
	table, err := files.Open(ctx, flag.Arg(0), o)
	if err != nil {
		return err
	}
	defer table.Close()
	t.Open = time.Since(begin).Seconds()
	out, err := garner.Infer(strict.Gather{}, table.Spec(), ids.Spec())
	if err != nil {
		return err
	}
	to, err := newOutput(out)
	if err != nil {
		return err
	}
	touched, err := to.Bytes()
	if err != nil {
		return err
	}
	clear(touched)
	from := source.Memory(ids)
	gathers := []struct {
		data          source.Array
		fresh, reused *[]float64
	}{{table, &t.Fresh, &t.Reused}}
	if *memory {
		whole, closeWhole, err := files.Tensor(ctx, flag.Arg(0), o)
		if err != nil {
			return err
		}
		defer closeWhole()
		if whole, err = whole.Clone(); err != nil {
			return err
		}
		gathers = append(gathers, struct {
			data          source.Array
			fresh, reused *[]float64
		}{source.Memory(whole), &t.InMemory.Fresh, &t.InMemory.Reused})
	}
	timed := func(data source.Array, out garner.Tensor, begin time.Time) (float64, error) {
		err := source.GatherInto(ctx, strict.Gather{}, data, from, out, source.Options{})
		return time.Since(begin).Seconds(), err
	}
	for range *calls {
		for _, g := range gathers {
			spent, err := timed(g.data, to, time.Now())
			if err != nil {
				return err
			}
			*g.reused = append(*g.reused, spent)
			if err := t.check(to); err != nil {
				return err
			}
		}
	}
	for range *calls {
		for _, g := range gathers {
			runtime.GC() // of the output before
			begin := time.Now()
			fresh, err := newOutput(out)
			if err != nil {
				return err
			}
			spent, err := timed(g.data, fresh, begin)
			if err != nil {
				return err
			}
			*g.fresh = append(*g.fresh, spent)
			if err := t.check(fresh); err != nil {
				return err
			}
		}
	}
	return json.NewEncoder(os.Stdout).Encode(t)
}

// check holds a result against those before.
func (t *times) check(out garner.Tensor) error {
	b, err := out.Bytes()
	if err != nil {
		return err
	}
	sum := crc32.ChecksumIEEE(b)
	if t.CRC32 != 0 && sum != t.CRC32 {
		return errors.New("calls: the results of two calls differ")
	}
	t.CRC32 = sum
	return nil
}

// newOutput allocates what a gather of known shape writes into.
func newOutput(spec garner.Spec) (garner.Tensor, error) {
	shape, ok := spec.Shape()
	if !ok {
		return garner.Tensor{}, fmt.Errorf("the output's shape %s is not known", spec)
	}
	return garner.New(spec.DType, shape...)
}
