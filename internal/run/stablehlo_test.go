package run_test

import (
	"bufio"
	"context"
	"encoding/hex"
	"encoding/json"
	"errors"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/garner-go/garner"
	"github.com/garner-go/garner/internal/run"
	"github.com/garner-go/garner/model"
	"github.com/garner-go/garner/stablehlo/text"
)

const hlo = "../../stablehlo/text/testdata/"

// TestStableHLO holds results of JAX's lowerings against those of JAX, and lists what is refused.
func TestStableHLO(t *testing.T) {
	f, err := os.Open(hlo + "recorded.jsonl")
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	type array struct {
		DType, Bytes string
		Shape        []int
	}
	tensor := func(a array) garner.Tensor {
		b, err := hex.DecodeString(a.Bytes)
		if err != nil {
			t.Fatal(err)
		}
		dtype, err := garner.ParseDType(a.DType)
		if err != nil {
			t.Fatal(err)
		}
		made, err := garner.FromBytes(dtype, b, a.Shape...)
		if err != nil {
			t.Fatal(err)
		}
		return made
	}
	var refused []string
	ran := 0
	for lines := bufio.NewScanner(f); lines.Scan(); {
		var c struct {
			Name            string
			Inputs, Outputs []array
		}
		if err := json.Unmarshal(lines.Bytes(), &c); err != nil {
			t.Fatal(err)
		}
		m := open(t, hlo+c.Name+".mlir")
		given := make(map[*model.Value]garner.Tensor)
		for i, v := range m.Graph.Inputs {
			given[v] = tensor(c.Inputs[i])
		}
		var wanted []*model.Value
		for _, o := range m.Graph.Outputs {
			wanted = append(wanted, o.Value)
		}
		got, err := run.Values(context.Background(), m, wanted, given, 1<<30)
		var unsupported *run.Unsupported
		if errors.As(err, &unsupported) {
			refused = append(refused, c.Name+" "+unsupported.Node.Op)
			continue
		}
		if err != nil {
			t.Errorf("%s: %v", c.Name, err)
			continue
		}
		for i, o := range c.Outputs {
			if want := tensor(o); !same(t, got[i], want) {
				t.Errorf("%s: result %d is %s, not %s", c.Name, i, got[i], want)
			}
		}
		ran++
	}
	if want := []string{"scan while", "cond case"}; !slices.Equal(refused, want) || ran < 20 {
		t.Errorf("%d ran, and these are refused: %v, not %v", ran, refused, want)
	}
}

// TestStableHLODynamic runs a dynamic_gather of an exported function of any dims; JAX 0.10.2 answers as it does.
func TestStableHLODynamic(t *testing.T) {
	m := open(t, hlo+"dynamic.mlir")
	given := map[*model.Value]garner.Tensor{
		m.Graph.Inputs[0]: garner.Of([]float32{0, 1, 2, 3, 4, 5}, 3, 2),
		m.Graph.Inputs[1]: garner.Of([]int32{1, -2, 9, 0, -9, 2}, 3, 2),
	}
	got, err := run.Values(context.Background(), m, []*model.Value{m.Graph.Outputs[0].Value}, given, 1<<30)
	want := garner.Of([]float32{2, 3, 2, 3, 4, 5, 0, 1, 0, 1, 4, 5}, 3, 2, 2)
	if err != nil || !same(t, got[0], want) {
		t.Error(got, err)
	}
}

// TestStableHLOOperators tries operators one by one, and what they refuse.
func TestStableHLOOperators(t *testing.T) {
	for _, c := range []struct{ body, want string }{
		{"%0 = stablehlo.iota dim = 1 : tensor<2x3xi32>", "i32[2,3] [[0, 1, 2], [0, 1, 2]]"},
		{"%0 = stablehlo.iota dim = 0 : tensor<2xf32>", "iota of f32 is not run"},
		{"%0 = stablehlo.iota dim = 2 : tensor<2xi32>", "iota_dimension is 2"},
		{"%a = stablehlo.iota dim = 0 : tensor<3xi32>\n %0 = stablehlo.broadcast_in_dim %a, dims = [1] : (tensor<3xi32>) -> tensor<2x3xi32>", "[[0, 1, 2], [0, 1, 2]]"},
		{"%a = stablehlo.constant dense<[[1, 2], [3, 4]]> : tensor<2x2xi32>\n %0 = stablehlo.broadcast_in_dim %a, dims = [1, 0] : (tensor<2x2xi32>) -> tensor<2x2xi32>", "[[1, 3], [2, 4]]"},
		{"%a = stablehlo.iota dim = 0 : tensor<3xi32>\n %0 = stablehlo.broadcast_in_dim %a, dims = [1] : (tensor<3xi32>) -> tensor<3x2xi32>", "does not broadcast"},
		{"%a = stablehlo.iota dim = 0 : tensor<6xi32>\n %0 = stablehlo.slice %a [1:6:2] : (tensor<6xi32>) -> tensor<3xi32>", "i32[3] [1, 3, 5]"},
		{"%a = stablehlo.iota dim = 0 : tensor<6xi32>\n %0 = stablehlo.slice %a [1:7] : (tensor<6xi32>) -> tensor<6xi32>", "no slice of dim 0"},
		{"%a = stablehlo.iota dim = 0 : tensor<6xi32>\n %0 = stablehlo.slice %a [1:4] : (tensor<6xi32>) -> tensor<6xi32>", "the model says i32[6]"},
		{"%a = stablehlo.iota dim = 0 : tensor<4xi32>\n %0 = stablehlo.convert %a : (tensor<4xi32>) -> tensor<4xi1>", "bool[4] [false, true, true, true]"},
		{"%a = stablehlo.constant dense<300> : tensor<2xi32>\n %0 = stablehlo.convert %a : (tensor<2xi32>) -> tensor<2xui8>", "u8[2] [44, 44]"},
		{"%a = stablehlo.constant dense<1.0> : tensor<2xf32>\n %0 = stablehlo.convert %a : (tensor<2xf32>) -> tensor<2xi32>", "i32[2] [1, 1]"},
		{"%a = stablehlo.constant dense<1.0> : tensor<2xf32>\n %0 = stablehlo.add %a, %a : tensor<2xf32>", "add of floats and a constant is not run"},
		{"%a = stablehlo.constant dense<2147483647> : tensor<2xi32>\n %0 = stablehlo.add %a, %a : tensor<2xi32>", "i32[2] [-2, -2]"},
		{"%a = stablehlo.constant dense<[-7, 7]> : tensor<2xi32>\n %b = stablehlo.constant dense<[2, -2]> : tensor<2xi32>\n %0 = stablehlo.remainder %a, %b : tensor<2xi32>", "i32[2] [-1, 1]"},
		{"%a = stablehlo.constant dense<[-7, 7]> : tensor<2xi32>\n %b = stablehlo.constant dense<[2, 0]> : tensor<2xi32>\n %0 = stablehlo.divide %a, %b : tensor<2xi32>", "by 0"},
		{"%a = stablehlo.constant dense<[-7, 7]> : tensor<2xi32>\n %b = stablehlo.constant dense<2> : tensor<1xi32>\n %0 = stablehlo.add %a, %b : (tensor<2xi32>, tensor<1xi32>) -> tensor<2xi32>", "of one shape"},
		{"%a = stablehlo.constant dense<[-7, 7, 1]> : tensor<3xi32>\n %b = stablehlo.constant dense<0> : tensor<i32>\n %c = stablehlo.constant dense<5> : tensor<i32>\n %0 = stablehlo.clamp %b, %a, %c : (tensor<i32>, tensor<3xi32>, tensor<i32>) -> tensor<3xi32>", "i32[3] [0, 5, 1]"},
		{"%a = stablehlo.constant dense<[[1, 2], [3, 4]]> : tensor<2x2xi32>\n %b = stablehlo.constant dense<10> : tensor<i32>\n %0 = stablehlo.reduce(%a init: %b) applies stablehlo.add across dimensions = [1] : (tensor<2x2xi32>, tensor<i32>) -> tensor<2xi32>", "i32[2] [13, 17]"},
		{"%a = stablehlo.constant dense<[[1, 2], [3, 4]]> : tensor<2x2xi32>\n %b = stablehlo.constant dense<10> : tensor<i32>\n %0 = stablehlo.reduce(%a init: %b) applies stablehlo.minimum across dimensions = [0, 1] : (tensor<2x2xi32>, tensor<i32>) -> tensor<i32>", "i32[] 1"},
		{"%a = stablehlo.constant dense<1> : tensor<65xi32>\n %b = stablehlo.constant dense<10> : tensor<i32>\n %0 = stablehlo.reduce(%a init: %b) applies stablehlo.add across dimensions = [0] : (tensor<65xi32>, tensor<i32>) -> tensor<i32>", "of up to 64"},
		{"%a = stablehlo.constant dense<[true, false]> : tensor<2xi1>\n %0 = stablehlo.not %a : tensor<2xi1>", "bool[2] [false, true]"},
		{"%a = stablehlo.constant dense<[true, false]> : tensor<2xi1>\n %0 = stablehlo.compare NE, %a, %a, UNSIGNED : (tensor<2xi1>, tensor<2xi1>) -> tensor<2xi1>", "[false, false]"},
		{"%a = stablehlo.constant dense<[1.0, 2.0]> : tensor<2xf32>\n %0 = stablehlo.compare LT, %a, %a, FLOAT : (tensor<2xf32>, tensor<2xf32>) -> tensor<2xi1>", "[false, false]"},
		{"%a = stablehlo.constant dense<[[1, 2, 3]]> : tensor<1x3xi32>\n %0 = stablehlo.get_dimension_size %a, dim = 1 : (tensor<1x3xi32>) -> tensor<i32>", "i32[] 3"},
		{"%a = stablehlo.constant dense<[[1, 2, 3]]> : tensor<1x3xi32>\n %b = stablehlo.constant dense<[3, 1]> : tensor<2xi32>\n %0 = stablehlo.dynamic_reshape %a, %b : (tensor<1x3xi32>, tensor<2xi32>) -> tensor<?x?xi32>", "i32[3,1]"},
		{"%a = stablehlo.constant dense<[1, 2]> : tensor<2xi32>\n %b = stablehlo.constant dense<[2, 3]> : tensor<2xi64>\n %0 = stablehlo.dynamic_broadcast_in_dim %a, %b, dims = [0] : (tensor<2xi32>, tensor<2xi64>) -> tensor<?x?xi32>", "[[1, 1, 1], [2, 2, 2]]"},
		{"%a = stablehlo.iota dim = 1 : tensor<2x3xi32>\n %0 = stablehlo.reverse %a, dims = [0, 1] : tensor<2x3xi32>", "[[2, 1, 0], [2, 1, 0]]"},
		{"%a = stablehlo.iota dim = 0 : tensor<0xi32>\n %0 = stablehlo.reverse %a, dims = [0] : tensor<0xi32>", "i32[0]"},
		{"%c = stablehlo.constant dense<false> : tensor<i1>\n %0 = \"stablehlo.if\"(%c) ({\n %a = stablehlo.iota dim = 0 : tensor<2xi32>\n stablehlo.return %a : tensor<2xi32>\n}, {\n %b = stablehlo.constant dense<7> : tensor<2xi32>\n stablehlo.return %b : tensor<2xi32>\n}) : (tensor<i1>) -> tensor<2xi32>", "i32[2] [7, 7]"},
		{"%c = stablehlo.constant dense<true> : tensor<i1>\n %0 = \"stablehlo.if\"(%c) ({\n %a = stablehlo.iota dim = 0 : tensor<2xi32>\n stablehlo.return %a : tensor<2xi32>\n}, {\n %b = stablehlo.constant dense<7> : tensor<2xi32>\n stablehlo.return %b : tensor<2xi32>\n}) : (tensor<i1>) -> tensor<2xi32>", "i32[2] [0, 1]"},
		{"%c = stablehlo.constant dense<-5> : tensor<i32>\n %0 = \"stablehlo.case\"(%c) ({\n %a = stablehlo.iota dim = 0 : tensor<2xi32>\n stablehlo.return %a : tensor<2xi32>\n}, {\n %b = stablehlo.constant dense<7> : tensor<2xi32>\n stablehlo.return %b : tensor<2xi32>\n}) : (tensor<i32>) -> tensor<2xi32>", "i32[2] [7, 7]"},
		{"%c = stablehlo.constant dense<0> : tensor<i32>\n %0 = \"stablehlo.case\"(%c) ({\n %a = stablehlo.iota dim = 0 : tensor<2xi32>\n stablehlo.return %a : tensor<2xi32>\n}, {\n %b = stablehlo.constant dense<7> : tensor<2xi32>\n stablehlo.return %b : tensor<2xi32>\n}) : (tensor<i32>) -> tensor<2xi32>", "i32[2] [0, 1]"},
		{"%c = stablehlo.constant dense<1.0> : tensor<f32>\n %0 = \"stablehlo.if\"(%c) ({\n %a = stablehlo.iota dim = 0 : tensor<2xi32>\n stablehlo.return %a : tensor<2xi32>\n}, {\n %b = stablehlo.constant dense<7> : tensor<2xi32>\n stablehlo.return %b : tensor<2xi32>\n}) : (tensor<f32>) -> tensor<2xi32>", "does not run if"},
		{"%0 = stablehlo.iota dim = 0 : tensor<100000000xi64>", "takes 762.9 MiB"},
	} {
		m, err := text.FromBytes([]byte("func.func @main() -> tensor<*xi32> {\n " + c.body + "\n return %0 : tensor<*xi32>\n}"))
		got := ""
		if err != nil {
			got = err.Error()
		} else if made, err := run.Values(context.Background(), m, []*model.Value{m.Graph.Outputs[0].Value}, nil, 1<<24); err != nil {
			got = err.Error()
		} else {
			got = made[0].String()
		}
		if !strings.Contains(got, c.want) {
			t.Errorf("%s\ngives %s, not %s", c.body, got, c.want)
		}
	}
}
