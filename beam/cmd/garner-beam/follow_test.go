package main

import (
	"testing"

	"github.com/garner-go/garner/beam"
)

// TestStages tells each stage by what counts.
func TestStages(t *testing.T) {
	job := &beam.Running{Shards: 12, Bytes: 1000}
	for _, tt := range []struct {
		counts      beam.Counts
		what        string
		done, total int64
	}{
		{beam.Counts{}, "", 0, 0},
		{beam.Counts{RowsWanted: 5, BytesWanted: 320}, "2/4 finding rows", 320, 0},
		{beam.Counts{ShardsKept: 2, BytesMade: 200}, "2/4 finding rows", 0, 0},
		{beam.Counts{RowsWanted: 7, BytesWanted: 448, RowPayload: 64}, "3/4 reading 7 rows", 64, 448},
		{beam.Counts{RowsWanted: 7, BytesWanted: 448, RowPayload: 448}, "4/4 writing 12 shards", 0, 1000},
		{beam.Counts{RowsWanted: 7, BytesWanted: 448, RowPayload: 448, ShardsWritten: 1, ShardsKept: 2, BytesMade: 300}, "4/4 writing 12 shards", 300, 1000},
	} {
		if what, done, total := stageOf(tt.counts, job); what != tt.what || done != tt.done || total != tt.total {
			t.Errorf("%+v: %q, %d of %d; want %q, %d of %d", tt.counts, what, done, total, tt.what, tt.done, tt.total)
		}
	}
}
