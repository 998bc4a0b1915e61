// Command plan prints what one job of the pipeline would move: elements and bytes
// of each stage, the memory of a worker, the reads of a disk.
//
//	go run ./scale/plan --indices 1000000000 --table 10000000000 --row 256 --workers 100
//	go run ./scale/plan --table 10000000000 --row 256 --ids ids.npy
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"

	"github.com/garner-go/garner/beam/scale"
	"github.com/garner-go/garner/files"
)

func main() {
	err := run(os.Args[1:], os.Stdout)
	if errors.Is(err, flag.ErrHelp) {
		return
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, "plan:", err)
		os.Exit(1)
	}
}

func run(args []string, out io.Writer) error {
	flag := flag.NewFlagSet("plan", flag.ContinueOnError)
	var j scale.Job
	var o scale.Order
	flag.Int64Var(&j.Indices, "indices", 1e6, "number of indices, uniform ones where no other flag says otherwise")
	flag.Int64Var(&j.Table, "table", 4e6, "rows of the table")
	flag.Int64Var(&j.Row, "row", 256, "bytes of a row")
	flag.Int64Var(&j.Shard, "shard", 16<<20, "bytes of a shard of the result")
	flag.Int64Var(&j.Unit, "unit", 0, "bytes of a unit of the table; 0: 16 MiB to 256 MiB, so that a request has 16 rows")
	flag.Float64Var(&o.Exponent, "zipf", 0, "exponent of Zipf's law; row 0 is named most")
	flag.BoolVar(&o.Scattered, "scattered", false, "with --zipf: rows that are named often lie anywhere in the table")
	flag.BoolVar(&o.Sorted, "sorted", false, "indices ascend")
	workers := flag.Int64("workers", 100, "number of workers, each with a disk")
	ids := flag.String("ids", "", "count the indices of this file, one by one; negative ones count from the end")
	if err := flag.Parse(args); err != nil {
		return err
	}
	if flag.NArg() > 0 || *workers < 1 {
		return errors.New("give flags only, and a worker or more; --help lists them")
	}
	column := scale.Column{Name: "expected", Job: j, Order: o}
	var err error
	if *ids == "" {
		column.Counts, err = scale.Expect(j, o)
	} else {
		column.Name = "counted"
		column.Job, column.Counts, err = count(j, *ids)
	}
	if err != nil {
		return err
	}
	return scale.Table(out, *workers, []scale.Column{column})
}

// count counts a job whose indices are a file's.
func count(j scale.Job, name string) (scale.Job, scale.Counts, error) {
	t, done, err := files.Tensor(context.Background(), name, files.Options{})
	if err != nil {
		return j, scale.Counts{}, err
	}
	defer done()
	at := make([]int64, t.Len())
	for i := range at {
		index, err := t.Int(i)
		if err != nil {
			return j, scale.Counts{}, err
		}
		at[i] = int64(index.Bits)
		if at[i] < 0 && index.Unsigned {
			return j, scale.Counts{}, fmt.Errorf("index %d is %s, outside 0…%d", i, index, j.Table-1)
		}
		if at[i] < 0 {
			at[i] += j.Table
		}
	}
	j.Indices = int64(len(at))
	c, err := scale.Exact(j, at)
	return j, c, err
}
