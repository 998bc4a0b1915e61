package run_test

import (
	"errors"
	"math"
	"strings"
	"testing"

	"github.com/garner-go/garner"
	"github.com/garner-go/garner/internal/run"
	"github.com/garner-go/garner/model"
)

// TestNarrowBags refuses bags of which OpenVINO, which reduces them in i32 and f32, makes other rows. OpenVINO 2026.4.1
// answered those that are run as they do here, and the others otherwise, but for rows beyond i32 that are fed.
func TestNarrowBags(t *testing.T) {
	ids, offsets := vec[int32](0, 1, 2, 1), vec[int32](0, 2)
	const mean = "openvino.EmbeddingBagOffsets-15"
	least := int64(math.MinInt32)
	for _, tt := range []struct {
		node *model.Node
		want string // of the result, or of the error
	}{
		{node(offsetsOp, 3, nil, vec[int64](1<<30, 1<<30, -7), ids, offsets), "element 0 is 2.147483648e+09, and -2.147483648e+09 in OpenVINO, which reduces in i32"},
		{node(offsetsOp, 3, nil, vec[int64](1<<30-1, 1<<30, -7), ids, offsets), "i64[2] [2147483647, 1073741817]"},
		{node(offsetsOp, 3, nil, vec[int64](least, 0, 5), ids, offsets), "i64[2] [-2147483648, 5]"},
		{node(offsetsOp, 3, nil, vec[int64](1<<33+5, 1, 2), ids, offsets), "of element 0, 8.589934597e+09: OpenVINO holds i64, u32 and u64 in i32"},
		{node(offsetsOp, 3, nil, vec[int64](1<<30, 1, 2), ids, offsets, i64(nil, 0), vec[int64](2, 3, 1, 4)), "of i64: element 0 is 2.147483651e+09"},
		{node(offsetsOp, 3, nil, vec[int64](0, 1, 2), ids, offsets, i64(nil, 0), vec[int64](1<<33, 3, 1, 4)), "of element 0, 8.589934592e+09: OpenVINO holds"},
		{node(offsetsOp, 3, nil, vec[int64](0, 1, 2), ids, offsets, nil, vec[int64](2, 3, 1, 4)), "i64[2] [3, 6]"},
		{node(offsetsOp, 3, nil, vec[uint64](1<<30, 1<<30, 7), ids, offsets), "element 0 is 2.147483648e+09, and 1.8446744071562068e+19 in OpenVINO"},
		{node(offsetsOp, 3, nil, vec[uint32](1<<30, 1<<30, 7), ids, offsets), "u32[2] [2147483648, 1073741831]"},
		{node(offsetsOp, 3, nil, vec[int32](1<<30, 1<<30, 7), ids, offsets), "i32[2] [-2147483648, 1073741831]"},
		{node(offsetsOp, 3, nil, vec(1.0, 0.1, 2), ids, offsets), "of element 1, 0.1: OpenVINO holds i64, u32 and u64 in i32, and f64 in f32"},
		{node(offsetsOp, 3, nil, vec[float64](1<<24, 1, 2), ids, offsets), "element 0 is 1.6777217e+07, and 1.6777216e+07 in OpenVINO, which reduces in f32"},
		{node(offsetsOp, 3, nil, vec(1.5, math.NaN(), 2), ids, offsets), "f64[2] [NaN, NaN]"},
		{node(mean, 15, attrs{"reduction": "mean"}, vec[int64](1<<30+1, 1<<30+1, 0), ids, offsets), "element 0 is 1.073741825e+09, and -1.073741823e+09 in OpenVINO"},
		{node(mean, 15, attrs{"reduction": "mean"}, vec[int64](-7, -6, 0), ids, offsets), "i64[2] [-6, -3]"},
		{node("openvino.EmbeddingBagPackedSum-3", 3, nil, vec[int64](1<<30, 1<<30, 7), i64([]int{1, 2}, 0, 1)), "element 0 is 2.147483648e+09"},
	} {
		for _, surveyed := range []float64{-1, 16, math.MaxInt} {
			restore := run.SetSurveyed(surveyed)
			made, err := last(of("OpenVINO IR", tt.node), 1<<20)
			restore()
			got := made.String()
			if err != nil {
				got = err.Error()
			}
			if !strings.Contains(got, tt.want) || err != nil && !errors.Is(err, garner.ErrDType) {
				t.Errorf("%s of %s, survey of %v: %s; want %s", tt.node.Operator, tt.node.Inputs[0].Spec, surveyed, got, tt.want)
			}
		}
	}
}
