package scale

import (
	"fmt"
	"math"
	"math/rand/v2"
	"reflect"
	"slices"
	"sort"
	"strings"
	"testing"
)

// ids returns index values that are random as o says.
func ids(j Job, o Order, seed uint64) []int64 {
	rng := rand.New(rand.NewPCG(seed, 29))
	at := make([]int64, j.Indices)
	switch {
	case o.Exponent > 0:
		sums := make([]float64, j.Table) // of weights
		sum := 0.0
		for i := range sums {
			sum += math.Pow(float64(i+1), -o.Exponent)
			sums[i] = sum
		}
		row := func(rank int) int64 { return int64(rank) }
		if o.Scattered {
			places := rng.Perm(int(j.Table))
			row = func(rank int) int64 { return int64(places[rank]) }
		}
		for i := range at {
			at[i] = row(min(sort.SearchFloat64s(sums, rng.Float64()*sum), len(sums)-1))
		}
	default:
		for i := range at {
			at[i] = rng.Int64N(j.Table)
		}
	}
	if o.Sorted {
		slices.Sort(at)
	}
	return at
}

// numbers returns the fields of counts by name.
func numbers(c Counts) map[string]float64 {
	list := map[string]float64{}
	v := reflect.ValueOf(c)
	for i := range v.NumField() {
		name := v.Type().Field(i).Name
		if g := v.Field(i); g.Kind() == reflect.Struct {
			for k := range g.NumField() {
				list[name+"."+g.Type().Field(k).Name] = float64(g.Field(k).Int())
			}
			continue
		}
		list[name] = float64(v.Field(i).Int())
	}
	return list
}

// TestExpectIsNearExact holds each formula within 10 % of what is counted, and
// those of the largest groups, which are extremes of few random numbers, within 25 %.
func TestExpectIsNearExact(t *testing.T) {
	uniform, sorted := Order{}, Order{Sorted: true}
	zipf := func(e float64, scattered bool) Order { return Order{Exponent: e, Scattered: scattered} }
	for _, c := range []struct {
		job Job
		o   Order
	}{
		{Job{Indices: 10_000, Table: 40_000, Row: 256, Shard: 256 << 10, Unit: 64 << 10}, uniform},
		{Job{Indices: 100_000, Table: 400_000, Row: 256, Shard: 1 << 20, Unit: 1 << 20}, uniform},
		{Job{Indices: 1_000_000, Table: 4_000_000, Row: 256}, uniform},
		{Job{Indices: 1_000_000, Table: 4_000_000, Row: 256, Shard: 1 << 20, Unit: 256 << 10}, uniform}, // one row a request
		{Job{Indices: 1_000_000, Table: 10_000, Row: 64}, uniform},                                      // every row, often
		{Job{Indices: 1_000_000, Table: 100_000_000, Row: 100}, uniform},                                // rows that are far apart
		{Job{Indices: 100_000, Table: 50_000, Row: 4096}, uniform},
		{Job{Indices: 10_000, Table: 20_000, Row: 200_000}, uniform},
		{Job{Indices: 1_000_000, Table: 4_000_000, Row: 256}, sorted},
		{Job{Indices: 1_000_000, Table: 4_000_000, Row: 256, Shard: 1 << 20, Unit: 1 << 20}, sorted},
		{Job{Indices: 1_000_000, Table: 4_000_000, Row: 256, Shard: 256 << 10}, sorted},
		{Job{Indices: 1_000_000, Table: 4_000_000, Row: 256}, zipf(1, false)},
		{Job{Indices: 1_000_000, Table: 4_000_000, Row: 256, Shard: 2 << 20, Unit: 2 << 20}, zipf(1.1, false)},
		{Job{Indices: 300_000, Table: 1_000_000, Row: 128}, zipf(0.7, false)},
		{Job{Indices: 1_000_000, Table: 4_000_000, Row: 256}, zipf(1, true)},
		{Job{Indices: 1_000_000, Table: 1_000_000, Row: 256, Shard: 2 << 20, Unit: 1 << 20}, zipf(1.2, true)},
	} {
		t.Run(fmt.Sprintf("%+v %+v", c.job, c.o), func(t *testing.T) {
			t.Parallel()
			expected, err := Expect(c.job, c.o)
			if err != nil {
				t.Fatal(err)
			}
			for seed := range uint64(3) {
				exact, err := Exact(c.job, ids(c.job, c.o, seed))
				if err != nil {
					t.Fatal(err)
				}
				want := numbers(exact)
				for name, got := range numbers(expected) {
					off := 0.1
					if strings.HasPrefix(name, "LargestUnit.") {
						off = 0.25
					}
					if math.Abs(got-want[name]) > off*want[name]+1 {
						t.Errorf("seed %d: %s: expected %.0f, counted %.0f", seed, name, got, want[name])
					}
				}
			}
		})
	}
}
