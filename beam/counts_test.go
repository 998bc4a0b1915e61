package beam

import (
	"fmt"
	"math"
	"path/filepath"
	"testing"

	"github.com/garner-go/garner"
	"github.com/garner-go/garner/beam/scale"
)

// counted runs a job whose counters are to be as right says, which returns what is not. Prism
// 2.77.0 loses the counters of a bundle that ends before it knows their names, so a job that
// seems wrong runs again; one that is wrong is so in each run.
func counted(t *testing.T, job Job, right func(Counts) []string) {
	t.Helper()
	var wrong []string
	for turn := range 3 {
		job.Out = filepath.Join(t.TempDir(), fmt.Sprint("rows-", turn))
		r, err := Start(t.Context(), job, Runner{})
		if err != nil {
			t.Fatal(err)
		}
		defer r.Close()
		if err := r.Wait(t.Context(), nil); err != nil {
			t.Fatal(err)
		}
		is, err := r.Counts(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		hasResult(t, job)
		if wrong = right(is); len(wrong) == 0 {
			return
		}
		t.Logf("run %d: %q", turn, wrong)
	}
	t.Errorf("%q", wrong)
}

// TestCounts holds that a run moves what the simulation says, within 10 %, and little more
// than the rows that are distinct in each shard, and 8 bytes an index.
func TestCounts(t *testing.T) {
	for _, j := range []scale.Job{
		{Indices: 10_000, Table: 40_000, Row: 256, Shard: 1 << 20},
		{Indices: 100_000, Table: 400_000, Row: 256, Shard: 4 << 20},
		{Indices: 1_000_000, Table: 2_000_000, Row: 32, Shard: 16 << 20},
	} {
		t.Run(fmt.Sprint(j.Indices), func(t *testing.T) {
			job := jobOfRows(t, garner.U8, int(j.Table), int(j.Row), int(j.Indices))
			job.ShardBytes = j.Shard
			want, err := scale.Exact(j, ids(int(j.Indices), 0, j.Table))
			if err != nil {
				t.Fatal(err)
			}
			counted(t, job, func(is Counts) (wrong []string) {
				for _, c := range []struct {
					what     string
					is, want int64
				}{
					{"shards", is.ShardsWritten, want.Shards},
					{"messages of requests", is.RequestElements, want.RequestElements},
					{"rows that are requested", is.RowsWanted, want.RequestRows},
					{"bytes of requests", is.RequestBytes, want.RequestBytes},
					{"messages of rows", is.RowElements, want.RowElements},
					{"bytes of rows", is.RowPayload, want.RowPayload},
					{"bytes around rows", is.RowHeads, want.RowHeads},
					{"bytes that are read", is.BytesRead, want.Fetched * j.Row},
				} {
					if math.Abs(float64(c.is-c.want)) > 0.1*float64(c.want) {
						wrong = append(wrong, fmt.Sprintf("%s: %d; the simulation says %d", c.what, c.is, c.want))
					}
				}
				moved := is.RequestBytes + want.RequestKeys + is.RowPayload + is.RowHeads + want.RowKeys
				least := want.RequestRows*j.Row + 8*j.Indices
				t.Logf("%d bytes are moved, %.3f of the rows and 8 bytes an index; %+v", moved, float64(moved)/float64(least), is)
				if float64(moved) > 1.05*float64(least) {
					wrong = append(wrong, fmt.Sprintf("%d bytes are moved, more than 1.05 of %d", moved, least))
				}
				return wrong
			})
		})
	}
}

// TestFewIndices holds that positions do not cost more than they may where one index stands
// for many short rows: they repeat, or a worker finds them by a run of its own.
func TestFewIndices(t *testing.T) {
	for _, c := range []struct {
		name          string
		dtype         garner.DType
		rows, columns int
		indices       int
		axis          int64
	}{
		{"columns of bytes", garner.U8, 1 << 12, 1 << 12, 300, 1},
		{"many columns of bytes", garner.U8, 1 << 5, 1 << 20, 100_000, 1},
		{"more columns than a window of the compression", garner.U8, 40, 1 << 17, 50_000, 1},
		{"columns of four bytes", garner.F32, 1 << 10, 1 << 11, 200, 1},
		{"columns of two bytes", garner.F16, 1 << 12, 1 << 11, 60, 1},
		{"columns of bytes that are far apart", garner.U8, 6, 1 << 23, 10_000, 1},
		{"rows of a byte", garner.U8, 1 << 22, 1, 1 << 20, 0},
	} {
		t.Run(c.name, func(t *testing.T) {
			dir := t.TempDir()
			at := ids(c.indices, 0, int64([]int{c.rows, c.columns}[c.axis]))
			job := jobOn(t, save(t, filepath.Join(dir, "table.npy"), c.dtype, c.rows, c.columns), keep(t, filepath.Join(dir, "ids.npy"), garner.Of(at, len(at))))
			job.Attributes = Attributes{"axis": c.axis}
			const keys = 3 // bytes of a message's key, as a varint
			counted(t, job, func(is Counts) (wrong []string) {
				moved := is.RequestBytes + is.RowPayload + is.RowHeads + keys*(is.RequestElements+is.RowElements)
				least := is.BytesWanted + 8*int64(c.indices)
				if is.RowPayload != is.BytesWanted || float64(moved) > 1.05*float64(least) {
					wrong = append(wrong, fmt.Sprintf("%d bytes are moved for %d, %.3f; %+v", moved, least, float64(moved)/float64(least), is))
				}
				t.Logf("%.3f, %d bytes of requests for %d rows", float64(moved)/float64(least), is.RequestBytes, is.RowsWanted)
				return wrong
			})
		})
	}
}
