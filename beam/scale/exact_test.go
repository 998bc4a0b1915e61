package scale

import (
	"math"
	"strings"
	"testing"

	"github.com/garner-go/garner/beam/internal/wire"
)

// TestExactCounts holds each count of a job that is small enough to count by hand:
// rows of 4 bytes, units of 4 rows, shards of 3 indices.
func TestExactCounts(t *testing.T) {
	j := Job{Indices: 7, Table: 10, Row: 4, Shard: 12, Unit: 16}
	got, err := Exact(j, []int64{9, 0, 9, 1, 1, 1, 5})
	if err != nil {
		t.Fatal(err)
	}
	want := Counts{
		Shards: 3, Units: 3,
		// Rows 0 and 9, row 1, row 5: shard, form, size, number of rows, position.
		RequestElements: 4, RequestRows: 4, RequestBytes: 20, RequestKeys: 4,
		// Unit, size, number of the row, and 4 bytes of a check.
		RowElements: 4, RowPayload: 16, RowHeads: 28, RowKeys: 4,
		// Rows 0 and 1 share a read.
		Fetched: 4, Reads: 3, ReadBytes: 16,
		LargestUnit:  Group{Elements: 2, Rows: 2, Distinct: 2, Bytes: 10},
		LargestShard: Group{Elements: 2, Rows: 2, Distinct: 2, Bytes: 22},
	}
	if got != want {
		t.Errorf("%+v, want\n%+v", got, want)
	}
	requests, rows := got.Shuffled(10)
	if requests != 20+4+40 || rows != 16+28+4+40 {
		t.Errorf("shuffled %d and %d", requests, rows)
	}
	if fetch, write := got.FetchMemory(j, 10), got.WriteMemory(j, 10); fetch != 10+20+2*12+MaxPiece || write != 22+20+2*8+12 {
		t.Errorf("memory %d and %d", fetch, write)
	}
}

func TestReads(t *testing.T) {
	const k = 1 << 10
	for _, c := range []struct {
		size         int
		at           []int64
		reads, bytes int64
		end          int64
		what         string
	}{
		{256, []int64{0}, 1, 256, 1 << 30, "one row"},
		{256, []int64{0, 256 + 8*k}, 1, 512 + 8*k, 1 << 30, "a gap that a read bridges"},
		{256, []int64{0, 257 + 8*k}, 2, 512, 1 << 30, "a gap that is too wide"},
		{64 * k, []int64{0, 64 * k, 128 * k}, 2, 192 * k, 1 << 30, "a full read"},
		{48 * k, []int64{0, 48 * k, 96 * k}, 2, 144 * k, 1 << 30, "a row that a read would cut begins the next"},
		{200 * k, []int64{0}, 2, 200 * k, 1 << 30, "a row longer than a read"},
		{200 * k, []int64{0, 100 * k}, 3, 300 * k, 300 * k, "rows that overlap"},
	} {
		reads, bytes := reads(wire.Rows{Size: c.size, At: c.at}, c.end)
		if reads != c.reads || bytes != c.bytes {
			t.Errorf("%s: %d reads of %d bytes, want %d of %d", c.what, reads, bytes, c.reads, c.bytes)
		}
	}
}

func TestJobsWithoutMeaning(t *testing.T) {
	good := Job{Indices: 2, Table: 10, Row: 4}
	change := func(f func(j *Job)) Job { j := good; f(&j); return j }
	for _, c := range []struct {
		job  Job
		want string
	}{
		{change(func(j *Job) { j.Row = 0 }), "Row is 0"},
		{change(func(j *Job) { j.Table = -1 }), "Table is -1"},
		{change(func(j *Job) { j.Table = 0 }), "a table without rows"},
		{change(func(j *Job) { j.Unit = -1 }), "Unit is -1"},
		{change(func(j *Job) { j.Table = math.MaxInt64 }), "more than 2^63"},
	} {
		if _, err := Exact(c.job, []int64{0, 1}); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%+v, exact: %v, want %q", c.job, err, c.want)
		}
		if _, err := Expect(c.job, Order{}); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%+v, expected: %v, want %q", c.job, err, c.want)
		}
	}
	for at, want := range map[int64]string{10: "index 1 is 10, outside 0…9", -1: "index 1 is -1"} {
		if _, err := Exact(good, []int64{0, at}); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%d: %v, want %q", at, err, want)
		}
	}
	if _, err := Exact(good, []int64{0}); err == nil {
		t.Error("one value for two indices")
	}
	for _, o := range []Order{{Exponent: -1}, {Exponent: math.NaN()}, {Exponent: 9}, {Exponent: 1, Sorted: true}} {
		if _, err := Expect(good, o); err == nil {
			t.Errorf("%+v is counted", o)
		}
	}
	none := Job{Table: 10, Row: 4}
	exact, err := Exact(none, nil)
	expected, err2 := Expect(none, Order{})
	if err != nil || err2 != nil || exact != expected || exact != (Counts{Units: 1}) {
		t.Errorf("without indices: %+v, %v; %+v, %v", exact, err, expected, err2)
	}
}

// TestWeights holds the integral behind the head of Zipf's law against the sum.
func TestWeights(t *testing.T) {
	for _, exponent := range []float64{0.3, 1, 1.7} {
		for _, r := range [][2]int{{0, 10}, {0, 17}, {0, 100_000}, {5, 20}, {16, 17}, {1000, 1001}, {1000, 5000}} {
			want := 0.0
			for i := r[0]; i < r[1]; i++ {
				want += math.Pow(float64(i+1), -exponent)
			}
			if got := weights(float64(r[0]), float64(r[1]), exponent); math.Abs(got-want) > 1e-3*want {
				t.Errorf("exponent %v, rows %d…%d: %v, want %v", exponent, r[0], r[1]-1, got, want)
			}
		}
	}
}

func TestNumbers(t *testing.T) {
	for x, want := range map[float64]string{0: "0", 7: "7", 1.5: "1.50", 13.74: "13.7", 999.4: "999", 999.6: "1.00 k", 12345: "12.3 k", 2.56e12: "2.56 T", 9.996: "10.0"} {
		if got := Number(x); got != want {
			t.Errorf("%v: %q, want %q", x, got, want)
		}
	}
	if got := Bytes(12); got != "12 B" {
		t.Errorf("%q", got)
	}
	if got := Bytes(2.56e12); got != "2.56 TB" {
		t.Errorf("%q", got)
	}
}
