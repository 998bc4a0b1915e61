package lint

import (
	"fmt"
	"maps"
	"math"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/garner-go/garner"
	"github.com/garner-go/garner/model"
)

// TestScan holds the counts of a constant that many gathers have against a walk through
// it for each.
func TestScan(t *testing.T) {
	for seed := range uint64(300) {
		r := rand.New(rand.NewPCG(seed, 1))
		const n = 24
		values := make([]int64, n)
		for i := range values {
			values[i] = pick(r, int64(r.IntN(12))-6, int64(r.IntN(12))-6, 0, math.MaxInt64, math.MinInt64, math.MinInt64+1)
		}
		c := garner.Of(values, n)
		if r.IntN(3) == 0 {
			bits := make([]uint64, n)
			for i, v := range values {
				bits[i] = uint64(v)
			}
			c = garner.Of(bits, n)
		}
		m := &model.Model{Path: "m.onnx", Format: "ONNX", Graph: &model.Graph{}}
		all := held(c)
		for i := range 5 {
			k := pick(r, 1, 2, 3)
			g := gather{op: "onnx.GatherND-13", data: given(fmt.Sprintf("f32[%d,%d,%d]", r.IntN(7), r.IntN(7), r.IntN(7)))}
			g.data.Spec.Dims[r.IntN(3)] = pick(r, garner.AnyDim, garner.Exactly(3))
			g.indices = made("Reshape", fmt.Sprintf("%s[%d,%d]", c.DType(), n/k, k), all)
			one := g.model().Graph.Nodes
			one[len(one)-1].Name = fmt.Sprint(i)
			m.Graph.Nodes = append(m.Graph.Nodes, one...)
		}
		l := newLinter(t.Context(), m)
		for node := range m.Gathers() {
			s, err := l.subject(node)
			if err != nil {
				t.Fatal(err)
			}
			got, err := s.scan()
			if err != nil {
				t.Fatal(err)
			}
			want := indexScan{total: n}
			dims := s.addressed()
			for i, v := range values {
				axis := i % len(dims)
				d, unsigned := dims[axis], c.DType() == garner.U64
				one := tally{1, int64(i), garner.Index{Bits: uint64(v), Unsigned: unsigned}, axis}
				switch known := d.Max != garner.Unbounded; {
				case unsigned && v < 0, v >= 0 && known && v >= int64(d.Max), v < 0 && known && v < -int64(d.Max):
					want.outside.add(one)
				case v < 0:
					want.negative.add(one)
				}
			}
			if *got != want {
				t.Fatalf("seed %d, %v of %v: %+v, not %+v", seed, dims, values, *got, want)
			}
		}
	}
}

// TestGathersAtOneConstant holds the cost of one constant that ten thousand gathers of
// tables of other lengths have: it is read once, whether its indices are inside or not.
func TestGathersAtOneConstant(t *testing.T) {
	for name, far := range map[string]int32{"inside": 100, "outside": 15_000} {
		values := make([]int32, 125_000)
		for i := range values {
			values[i] = int32(i) % far
		}
		read := 0
		c := held(garner.Of(values, len(values)))
		c.Constant = model.NewConstant("c", c.Spec, func() (garner.Tensor, error) { read++; return garner.Of(values, len(values)), nil })
		m := &model.Model{Path: "m.onnx", Format: "ONNX", Graph: &model.Graph{}}
		for i := range 10_000 {
			m.Graph.Nodes = append(m.Graph.Nodes, gather{op: "onnx.Gather-13", data: given(fmt.Sprintf("f32[%d]", 100+i)), indices: c}.model().Graph.Nodes...)
		}
		all, err := Model(t.Context(), m, Options{})
		if err != nil || read != 1 || len(all) > 0 != (name == "outside") {
			t.Errorf("%s: %d findings, %v; read %d times", name, len(all), err, read)
		}
	}
}

// TestAxisScanAdds holds that an index is added to two tallies at most, of however many extents
// there are, and that sum makes of them what each extent has.
func TestAxisScanAdds(t *testing.T) {
	const n = 1000
	a := &axisScan{negative: make([]tally, n), below: make([]tally, n), beyond: make([]tally, n)}
	for i := range uint64(n) {
		a.extents = append(a.extents, 3*i+1)
	}
	added := func() (sum int64) {
		for i := range n {
			sum += a.negative[i].count + a.below[i].count + a.beyond[i].count
		}
		return sum
	}
	values := []int64{0, 1, -1, 7, -8, 5000, -5000, math.MaxInt64, math.MinInt64, 1500, -1500, 1501, -1501}
	for at, v := range values {
		before := added()
		if a.add(garner.Index{Bits: uint64(v)}, int64(at), 0); added() > before+2 {
			t.Errorf("%d is added to %d tallies", v, added()-before)
		}
	}
	a.sum()
	for i, e := range a.extents {
		var negative, below, beyond int64
		for _, v := range values {
			switch e := int64(e); {
			case v >= e:
				beyond++
			case v < -e:
				below++
			case v < 0:
				negative++
			}
		}
		if a.negative[i].count != negative || a.below[i].count != below || a.beyond[i].count != beyond {
			t.Fatalf("extent %d: %v, %v, %v; want %d, %d, %d", e, a.negative[i], a.below[i], a.beyond[i], negative, below, beyond)
		}
	}
}

// TestHugeIndices holds that indices of more than 64 MiB are not read, and that findings
// and what is not judged say so.
func TestHugeIndices(t *testing.T) {
	for _, m := range []*model.Model{
		gather{op: "onnx.Gather-13", data: given("f32[5]"), indices: huge("i64[134217728]")}.model(),
		gather{op: "onnx.GatherND-13", data: given("f32[5]"), indices: made("Reshape", "i64[8388609,1]", huge("i64[8388609]"))}.model(),
	} {
		r := report(t, m)
		if len(r.Findings) > 0 || len(r.Unjudged) != 1 || !strings.Contains(r.Unjudged[0].Why, `its indices are the constant "huge", whose `) || !strings.Contains(r.Unjudged[0].Why, "lint does not read") {
			t.Errorf("%v, %v", r.Findings, r.Unjudged)
		}
	}
	m := gather{op: "onnx.GatherND-13", data: given("f32[5]"), indices: made("Add", "i64[8388609,1]", huge("i64[8388609,1]"), i64(nil, 1))}.model()
	if all := findings(t, m, "L.3", Options{}); len(all) != 1 || !strings.HasPrefix(all[0].Message, `the indices come from the constant "huge", whose 64 MiB lint does not read, and nothing bounds them`) {
		t.Errorf("%v", all)
	}
	// 64 MiB are read.
	read := false
	v := given("i8[67108864]")
	v.Constant = model.NewConstant("c", v.Spec, func() (garner.Tensor, error) { read = true; return garner.New(garner.I8, 1<<26) })
	if r := report(t, gather{op: "onnx.Gather-13", data: given("f32[5]"), indices: v}.model()); !read || len(r.Unjudged) > 0 {
		t.Errorf("read %t, %v", read, r.Unjudged)
	}
}

// TestAllowance holds that lint reads the smallest of the constants that gathers have, that
// tables which it does not read are named, and that constants which indices are computed
// from are read besides.
func TestAllowance(t *testing.T) {
	read := map[string]int{}
	counted := func(name, spec string) *model.Value {
		v := given(spec)
		v.Constant = model.NewConstant(name, v.Spec, func() (garner.Tensor, error) {
			read[name]++
			return garner.New(v.Spec.DType, v.Spec.Dims[0].Min)
		})
		return v
	}
	limit := counted("limit", "i64[1]")
	m := &model.Model{Path: "m.onnx", Format: "ONNX", Graph: &model.Graph{}}
	for _, g := range []gather{
		{op: "onnx.Gather-13", data: counted("large", "f64[8388608]"), indices: made("Min", "i64[?]", made("Max", "i64[?]", given("i64[?]"), limit), limit)},
		{op: "onnx.Gather-13", data: counted("table", "i64[1048576]"), indices: counted("indices", "i64[7340032]")},
		{op: "onnx.Gather-13", data: counted("floats", "f32[1048576]"), indices: counted("indices of floats", "i8[8]")},
	} {
		m.Graph.Nodes = append(m.Graph.Nodes, g.model().Graph.Nodes...)
	}
	r := report(t, m)
	if want := map[string]int{"limit": 1, "table": 1, "indices of floats": 1}; !maps.Equal(read, want) {
		t.Errorf("read %v, not %v", read, want)
	}
	var told []string
	for _, u := range r.Unjudged {
		told = append(told, u.Why)
	}
	if all := strings.Join(told, "\n"); len(told) != 2 || !strings.Contains(all, `its table is the constant "large", whose 64 MiB lint does not read`) || !strings.Contains(all, `its indices are the constant "indices", whose 56 MiB lint does not read`) {
		t.Errorf("%s", all)
	}
}

// TestIntegers holds the fast reading of each type against Tensor.Int.
func TestIntegers(t *testing.T) {
	for _, d := range garner.DTypes() {
		if !d.IsInteger() {
			continue
		}
		x, err := garner.New(d, 40)
		if err != nil {
			t.Fatal(err)
		}
		b, err := x.Bytes()
		if err != nil {
			t.Fatal(err)
		}
		for i := range b {
			b[i] = byte(i*37 + 100)
		}
		seen := 0
		err = integers(x, func(i int, v garner.Index) bool {
			want, err := x.Int(i)
			if err != nil || want.String() != v.String() {
				t.Errorf("%s: element %d is %v, not %v, %v", d, i, v, want, err)
			}
			seen++
			return true
		})
		if err != nil || seen != 40 {
			t.Errorf("%s: %d elements, %v", d, seen, err)
		}
	}
}

// TestEndsOfManyBags holds that the ends of bags are read once, where many bags have them,
// and that those that are not read are named.
func TestEndsOfManyBags(t *testing.T) {
	offsets := make([]int32, 1<<20)
	for i := range offsets {
		offsets[i] = int32(i)
	}
	ends, read := held(garner.Of(offsets, len(offsets))), 0
	ends.Constant = model.NewConstant("c", ends.Spec, func() (garner.Tensor, error) { read++; return garner.Of(offsets, len(offsets)), nil })
	m := bagOf("EmbeddingBagOffsetsSum-3", bounded("i32[99]"), ends).model()
	for i := range 2000 {
		n := bagOf("EmbeddingBagOffsetsSum-3", bounded(fmt.Sprintf("i32[%d]", 1<<20+i%2*(-100-i))), ends).model().Graph.Nodes
		m.Graph.Nodes = append(m.Graph.Nodes, n...)
	}
	all := findings(t, m, "L.33", Options{})
	// Each bag looks for the first that is too great, by halves, and for its neighbour; all else is looked at once.
	if most := 2001*22 + 1; read > most {
		t.Errorf("the offsets are read %d times, and not %d", read, most)
	}
	l := newLinter(t.Context(), m)
	first, err := l.endsIn(ends.Constant)
	if again, _ := l.endsIn(ends.Constant); err != nil || again != first || first.rise != 1<<20 {
		t.Errorf("%v, %v, %v", first, again, err)
	}
	if len(all) != 1001 || !strings.HasPrefix(all[0].Message, "offsets[100] = 100 passes the end: there are 99 indices") || !strings.HasPrefix(all[1].Message, "offsets[1048476] = 1048476 passes the end: there are 1048475 indices") {
		t.Errorf("%d findings, %v", len(all), all[0].Message)
	}
	far := bagOf("EmbeddingBagOffsetsSum-3", bounded("i32[99]"), huge("i64[99999999]")).model()
	if all := findings(t, far, "L.33", Options{}); len(all) != 0 {
		t.Error(all[0].Message)
	}
	if list := NotJudged(far); len(list) != 1 || !strings.Contains(list[0].Why, `its offsets are the constant "huge", whose 762.9 MiB lint does not read, so check where they are made`) {
		t.Errorf("%+v", list)
	}
}
