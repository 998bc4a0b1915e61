package main

import (
	"context"
	"encoding/json"
	"fmt"
	"hash/crc32"
	"runtime"
	"slices"
	"time"

	"github.com/garner-go/garner"
	"github.com/garner-go/garner/internal/catalog"
	"github.com/spf13/cobra"
)

// benchFlags are what bench can be told.
type benchFlags struct {
	axis, batchDims number
	threads         number
	seconds         float64
	output          string
	json            bool
}

// A timing is what bench found out, as --json prints it.
type timing struct {
	MedianNS    int64  `json:"median_ns"`
	MinNS       int64  `json:"min_ns"`
	Runs        int    `json:"runs"`
	CRC32       uint32 `json:"crc32"` // IEEE, of the output's little-endian bytes
	OutputShape []int  `json:"output_shape"`
	OutputBytes int    `json:"output_bytes"`
	Threads     int    `json:"threads"`
	Output      string `json:"output"`
}

func (p *program) benchCommand() *cobra.Command {
	f := &benchFlags{}
	cmd := &cobra.Command{
		Use:   "bench OP DATA INDICES",
		Short: "Time a gather beside this machine's limits",
		RunE: func(cmd *cobra.Command, args []string) error {
			return p.bench(cmd.Context(), f, args)
		},
	}
	flags := cmd.Flags()
	flags.Var(&f.axis, "axis", "the axis of DATA (default 0)")
	flags.Var(&f.batchDims, "batch-dims", "how many leading dims DATA and INDICES share (default 0)")
	flags.Var(&f.threads, "threads", "use exactly so many cores (default all)")
	flags.Float64Var(&f.seconds, "seconds", 1, "how long to repeat the gather, at least three times")
	flags.StringVar(&f.output, "output", "reuse", "reuse: into one output; fresh: into one that a pool recycles")
	flags.BoolVar(&f.json, "json", false, "print the figures as one line of JSON")
	return cmd
}

func (p *program) bench(ctx context.Context, f *benchFlags, args []string) error {
	o := catalog.Own(catalog.Kind(args[0]))
	values := map[string]any{}
	for name, n := range map[string]number{"axis": f.axis, "batch_dims": f.batchDims} {
		if n.given && slices.Contains(o.Attributes(), name) {
			values[name] = n.value
		}
	}
	op, err := o.WithNumbers(values)
	if err != nil {
		return err
	}
	data, err := p.open(ctx, operandRoles[0], args[1], garner.Invalid)
	if err != nil {
		return err
	}
	defer data.close()
	indices, err := p.open(ctx, operandRoles[1], args[2], garner.Invalid)
	if err != nil {
		return err
	}
	defer indices.close()
	var pool garner.Pool
	defer pool.Close()
	d, err := resident(&pool, data.tensor)
	if err != nil {
		return err
	}
	i, err := resident(&pool, indices.tensor)
	if err != nil {
		return err
	}
	threads := runtime.GOMAXPROCS(0)
	if f.threads.given {
		threads = int(f.threads.value)
		runtime.GOMAXPROCS(threads)
	}
	prepared, err := garner.Prepare(op, d.Spec(), i.Spec(), garner.Threads(threads))
	if err != nil {
		return err
	}
	plan := prepared.Plan()
	outputs := make([]garner.Tensor, 0, 2)
	fresh := func() (garner.Tensor, error) {
		// As many are held as a caller would: this one and the one before.
		if len(outputs) == 2 {
			pool.Release(outputs[0])
			outputs = append(outputs[:0], outputs[1])
		}
		out, err := pool.New(plan.DType, plan.Out...)
		outputs = append(outputs, out)
		return out, err
	}
	out, err := fresh()
	if err != nil {
		return err
	}
	if err := prepared.Run(ctx, d, i, out); err != nil {
		return remedy(err)
	}
	bytes, err := out.Bytes()
	if err != nil {
		return err
	}
	t := timing{CRC32: crc32.ChecksumIEEE(bytes), OutputShape: append([]int{}, plan.Out...), OutputBytes: len(bytes), Threads: threads, Output: f.output}
	var times []int64
	for end := time.Now().Add(time.Duration(f.seconds * float64(time.Second))); len(times) < 3 || time.Now().Before(end) && len(times) < 1e6; {
		start := time.Now()
		if f.output == "fresh" {
			if out, err = fresh(); err != nil {
				return err
			}
		}
		if err := prepared.Run(ctx, d, i, out); err != nil {
			return err
		}
		times = append(times, int64(time.Since(start)))
	}
	slices.Sort(times)
	t.MedianNS, t.MinNS, t.Runs = times[len(times)/2], times[0], len(times)
	line, err := json.Marshal(t)
	if err != nil {
		return err
	}
	_, err = fmt.Fprintf(p.stdout, "%s\n", line)
	return err
}

// resident copies a tensor into memory on huge pages.
func resident(pool *garner.Pool, t garner.Tensor) (garner.Tensor, error) {
	r, err := pool.New(t.DType(), t.Shape()...)
	if err != nil {
		return garner.Tensor{}, err
	}
	return r, garner.Copy(r, t)
}
