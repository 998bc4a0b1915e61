package beam

import (
	"fmt"
	"math"
	"path/filepath"
	"testing"

	"github.com/garner-go/garner"
	"github.com/garner-go/garner/beam/scale"
)

// TestCounts holds that a run moves what the simulation says, within 10 %, and little more
// than the rows that are distinct in each shard, and 8 bytes an index.
func TestCounts(t *testing.T) {
	dir := t.TempDir()
	for _, j := range []scale.Job{
		{Indices: 10_000, Table: 40_000, Row: 256, Shard: 1 << 20},
		{Indices: 100_000, Table: 400_000, Row: 256, Shard: 4 << 20},
		{Indices: 1_000_000, Table: 2_000_000, Row: 32, Shard: 16 << 20},
	} {
		t.Run(fmt.Sprint(j.Indices), func(t *testing.T) {
			table := save(t, filepath.Join(dir, fmt.Sprintf("table-%d.npy", j.Indices)), garner.U8, int(j.Table), int(j.Row))
			at := ids(int(j.Indices), 0, j.Table)
			job := Job{Out: filepath.Join(dir, fmt.Sprintf("rows-%d", j.Indices)), ShardBytes: j.Shard}
			job.Operator, job.Data.Text = "onnx.Gather-13", table
			job.Indices.Text = keep(t, filepath.Join(dir, fmt.Sprintf("ids-%d.npy", j.Indices)), garner.Of(at, len(at)))
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
			want, err := scale.Exact(j, at)
			if err != nil {
				t.Fatal(err)
			}
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
				{"bytes of positions", is.RowPositions, want.RowPositions},
				{"bytes that are read", is.BytesRead, want.Fetched * j.Row},
			} {
				if math.Abs(float64(c.is-c.want)) > 0.1*float64(c.want) {
					t.Errorf("%s: %d; the simulation says %d", c.what, c.is, c.want)
				}
			}
			moved := is.RequestBytes + want.RequestKeys + is.RowPayload + is.RowPositions + want.RowKeys
			least := want.RequestRows*j.Row + 8*j.Indices
			t.Logf("%d bytes are moved, %.3f of the rows and 8 bytes an index; %+v", moved, float64(moved)/float64(least), is)
			if float64(moved) > 1.05*float64(least) {
				t.Errorf("%d bytes are moved, more than 1.05 of %d", moved, least)
			}
		})
	}
}
