package operators_test

import (
	"context"
	"errors"
	"fmt"
	"math"
	"slices"
	"strings"
	"testing"

	"github.com/garner-go/garner"
	"github.com/garner-go/garner/gathertest"
	"github.com/garner-go/garner/internal/codec"
	"github.com/garner-go/garner/operators"
)

// decodes reports whether an operator decodes the elements that it gathers.
func decodes(o operators.Operator) bool {
	return strings.HasPrefix(o.Name, "gguf.") || strings.HasPrefix(o.Name, "torch.quantized") || slices.Contains([]string{"openvino.compressed-gather", "tflite.hybrid-embedding-lookup", "com.microsoft.GatherBlockQuantized-1"}, o.Name)
}

// stored is a random gather of stored elements, most of them in order.
type stored struct {
	attributes    map[string]any
	data, indices garner.Tensor
	more          []garner.Tensor
}

// stored makes a gather for an operator, and spoils every fourth.
func (w words) stored(o operators.Operator) (s stored) {
	s.attributes = map[string]any{}
	bad := w.IntN(4) == 0
	off := func(n int) int { // a number, or one near it
		if bad && w.IntN(3) == 0 {
			return max(0, n+w.IntN(3)-1)
		}
		return n
	}
	rows := w.IntN(6)
	pick := func(types ...garner.DType) garner.DType {
		if bad && w.IntN(6) == 0 {
			all := garner.DTypes()
			return all[w.IntN(len(all)-1)] // no strings
		}
		return types[w.IntN(len(types))]
	}
	scale := pick(garner.F32, garner.F16, garner.BF16)
	switch {
	case strings.HasPrefix(o.Name, "gguf."):
		kind := w.pick(strings.Split(codec.KindsOfGGUF(), ", ")...)
		c, _ := codec.GGUF(kind)
		s.attributes["type"] = kind
		if bad && w.IntN(4) == 0 {
			s.attributes["type"] = w.pick("Q8_K", "", "q4_0")
		}
		s.data = w.tensor(pick(garner.U8), []int{rows, off(w.IntN(4) * c.Bytes)})
	case strings.HasPrefix(o.Name, "torch."):
		bits := []int{8, 4, 2}[w.IntN(3)]
		if o.Name == "torch.quantized_embedding" {
			bits = max(bits, 4)
		}
		s.attributes["bits"] = int64(off(bits))
		s.data = w.tensor(pick(garner.U8), []int{rows, 4 + 4*(bits/8) + off(w.IntN(9))})
	case o.Name == "tflite.hybrid-embedding-lookup":
		ds := []int{rows, off(w.IntN(9))}
		scales := []int{}
		if w.IntN(2) == 0 {
			scales = []int{off(rows), 1}
		}
		s.data = w.tensor(pick(garner.I8, garner.I4, garner.I2), ds)
		s.more = []garner.Tensor{w.tensor(scale, scales)}
	case o.Name == "openvino.compressed-gather":
		ds := w.shape(1 + w.IntN(3))
		rows = ds[0]
		like := func(d garner.DType) garner.Tensor {
			shape := slices.Clone(ds)
			for i := range shape {
				if w.IntN(2) == 0 {
					shape[i] = off(1)
				}
			}
			return w.tensor(d, shape[w.IntN(2)*w.IntN(len(shape)):])
		}
		number := pick(garner.U8, garner.I8, garner.U4, garner.I4, garner.NF4, garner.F8E4M3FN, garner.F8E5M2)
		s.data = w.tensor(number, ds)
		s.more = []garner.Tensor{like(scale)}
		if w.IntN(2) == 0 {
			s.more = append(s.more, like(number))
		}
		if w.IntN(2) == 0 {
			s.attributes["axis"] = int64(off(0))
		}
		if w.IntN(3) == 0 {
			s.attributes["version"] = int64(off([]int{1, 7, 8}[w.IntN(3)]))
		}
		if w.IntN(6) == 0 {
			s.attributes["batch_dims"] = int64(off(0))
		}
		if w.IntN(3) == 0 {
			s.attributes["output"] = w.pick("f32", "float16", "bf16")
		}
		if w.IntN(3) == 0 {
			s.attributes["reshape"] = []int64{int64(off(rows)), -1}
		}
	default:
		ds := []int{rows, w.IntN(70)}
		if w.IntN(3) == 0 {
			ds = append(ds, 1+w.IntN(4))
		}
		along, block, gathered := 1, 16, 0
		number := pick(garner.I4, garner.U4, garner.U8, garner.F8E5M2, garner.F4E2M1)
		each, extents := 1, slices.Clone(ds)
		if number == garner.U8 {
			bits := []int{8, 4, 2}[w.IntN(3)]
			s.attributes["bits"], each = int64(off(bits)), 8/bits
			along = len(ds) - 1
			extents[along] *= each
		} else {
			gathered, along = w.IntN(len(ds)), w.IntN(len(ds))
			rows = ds[gathered]
		}
		s.attributes["block_size"], s.attributes["quantize_axis"], s.attributes["gather_axis"] = int64(off(block)), int64(along), int64(gathered-w.IntN(2)*len(ds))
		s.data = w.tensor(number, ds)
		extents[along] = (extents[along] + block - 1) / block
		extents[along] = off(extents[along])
		s.more = []garner.Tensor{w.tensor(scale, extents)}
		if number != garner.F8E5M2 && number != garner.F4E2M1 && w.IntN(2) == 0 {
			zeros := slices.Clone(extents)
			zeros[len(zeros)-1] = (zeros[len(zeros)-1] + each - 1) / each
			s.more = append(s.more, w.tensor(number, zeros))
		}
	}
	if !garner.TakesIndices(o.Zero) {
		if bad && w.IntN(6) == 0 {
			s.indices = garner.Of([]int64{0}, 1)
		}
		return s
	}
	is := []int{w.IntN(5)}
	if w.IntN(3) == 0 || o.Name == "torch.quantized_embedding_bag" {
		is = append(is, 1+w.IntN(3))
	}
	s.indices = w.tensor(garner.I64, is)
	for i := range s.indices.Len() {
		n := w.IntN(max(rows, 1))
		if bad && w.IntN(4) == 0 {
			n = w.IntN(9) - 4
		}
		_ = s.indices.SetText(i, fmt.Sprint(n))
	}
	return s
}

// throwStored tries a random gather of stored elements: Infer, the definition, the
// executor on any number of threads, into a view, and package source agree.
func throwStored(t *testing.T, w words, o operators.Operator, about string) (ran bool) {
	s := w.stored(o)
	about = fmt.Sprintf("%s data %v indices %v attributes %v", about, s.data.Spec(), s.indices.Spec(), s.attributes)
	for _, m := range s.more {
		about += " " + m.Spec().String()
	}
	defer func() {
		if r := recover(); r != nil {
			t.Fatalf("%s: panic: %v", about, r)
		}
	}()
	op, err := o.New(s.attributes)
	if err != nil {
		refusal(t, about, err)
		return false
	}
	specs, less := []garner.Spec{}, []garner.Spec{}
	for _, m := range s.more {
		specs, less = append(specs, m.Spec()), append(less, w.widen(m.DType(), m.Shape()))
	}
	loose := s.indices.Spec()
	if loose.DType.Valid() {
		loose = w.widen(loose.DType, s.indices.Shape())
	}
	static, err := garner.Infer(op, s.data.Spec(), s.indices.Spec(), specs...)
	wide, wideErr := garner.Infer(op, w.widen(s.data.DType(), s.data.Shape()), loose, less...)
	if err == nil && (wideErr != nil || !contains(wide, static)) {
		t.Errorf("%s: %v, %v has no room for %v", about, wide, wideErr, static)
	}
	want, wantErr := garner.Reference(op, s.data, s.indices, s.more...)
	got, gotErr := garner.Gather(op, s.data, s.indices, s.more...)
	if wantErr != nil || gotErr != nil {
		if wantErr == nil || gotErr == nil || wantErr.Error() != gotErr.Error() {
			t.Errorf("%s: Gather says %v and Reference %v", about, gotErr, wantErr)
			return false
		}
		refusal(t, about, gotErr)
		if err != nil && err.Error() != gotErr.Error() || err == nil && !errors.Is(gotErr, garner.ErrIndex) {
			t.Errorf("%s: Gather says %v and Infer %v", about, gotErr, err)
		}
		return false
	}
	equal := gathertest.Equal
	if o.Name == "torch.quantized_embedding_bag" {
		equal = equalButNaN
	}
	if err != nil || !equal(got, want) || !contains(static, got.Spec()) || !contains(got.Spec(), static) {
		t.Errorf("%s: %v from Gather, %v from Reference; Infer says %v, %v", about, got, want, static, err)
	}
	out := w.tensor(got.DType(), got.Shape())
	p, err := garner.Prepare(op, s.data.Spec(), s.indices.Spec(), garner.FurtherTensors(s.more...), garner.Threads(1+w.IntN(3)))
	if err == nil {
		err = p.Run(context.Background(), s.data, s.indices, out, s.more...)
	}
	if err != nil || !equal(out, want) {
		t.Errorf("%s: %v, %v into a view, want %v", about, out, err, want)
	}
	outOfCore(t, about, op, s.data, s.indices, s.more, func(way string, written []byte, err error) {
		if err == nil {
			out, err = garner.FromBytes(want.DType(), written, want.Shape()...)
		}
		if err != nil || !equal(out, want) {
			t.Errorf("%s: %s: %v, %v, want %v", about, way, out, err, want)
		}
	})
	return true
}

// equalButNaN is gathertest.Equal for sums of f32, of which any NaN is as good as
// another.
func equalButNaN(a, b garner.Tensor) bool {
	for _, t := range []*garner.Tensor{&a, &b} {
		var err error
		if *t, err = t.Clone(); err != nil {
			return false
		}
		values, err := garner.Values[float32](*t)
		if err != nil {
			return false
		}
		for i, v := range values {
			if v != v {
				values[i] = float32(math.NaN())
			}
		}
	}
	return gathertest.Equal(a, b)
}
