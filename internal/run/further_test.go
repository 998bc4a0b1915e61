package run_test

import (
	"context"
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/garner-go/garner"
	"github.com/garner-go/garner/internal/run"
	"github.com/garner-go/garner/model"
	"github.com/garner-go/garner/operators"
)

// parsed is the tensor of a literal, such as "u4[[1,2],[3,4]]".
func parsed(t *testing.T, text string) garner.Tensor {
	t.Helper()
	head, _, _ := strings.Cut(text, "[")
	d, err := garner.ParseDType(head)
	if err != nil {
		t.Fatal(err)
	}
	rows := strings.Split(strings.Trim(text[len(head):], "[]"), "],[")
	var list []string
	for _, row := range rows {
		list = append(list, strings.Split(row, ",")...)
	}
	shape := []int{len(list)}
	if strings.HasPrefix(text[len(head):], "[[") {
		shape = []int{len(rows), len(list) / len(rows)}
	}
	made, err := garner.New(d, shape...)
	if err != nil {
		t.Fatal(err)
	}
	for i, v := range list {
		if err := made.SetText(i, v); err != nil {
			t.Fatal(err)
		}
	}
	return made
}

const (
	blocksOp  = "com.microsoft.GatherBlockQuantized-1"
	offsetsOp = "openvino.EmbeddingBagOffsetsSum-3"
)

// TestFurther evaluates gathers of several operands, those in the middle left out.
func TestFurther(t *testing.T) {
	codes, scales := parsed(t, "i4[[1,2],[3,-4]]"), parsed(t, "f32[[0.5],[2]]")
	table, ids, offsets := parsed(t, "f32[[1,2],[3,4],[5,6]]"), vec[int64](2, 0, 1), vec[int32](0, 2, 2)
	half, err := garner.New(garner.F16, 3, 2)
	if err != nil {
		t.Fatal(err)
	}
	for i, v := range []string{"1", "2", "3", "4", "5", "6"} {
		if err := half.SetText(i, v); err != nil {
			t.Fatal(err)
		}
	}
	cast := node("Convert", 1, attrs{"destination_type": "f32"}, half)
	turned := node("Transpose", 13, nil, parsed(t, "i4[[1,3],[2,-4]]"))
	for _, tt := range []struct {
		nodes []*model.Node
		want  string
	}{
		{[]*model.Node{node(blocksOp, 1, nil, codes, vec[int64](1, 0, 7, -1), scales)}, "f32[4,2] [[6.0, -8.0], [0.5, 1.0], [0.0, 0.0], [6.0, -8.0]]"},
		{[]*model.Node{node(blocksOp, 1, nil, codes, vec[int64](1), scales, nil)}, "f32[1,2] [[6.0, -8.0]]"},
		{[]*model.Node{node(blocksOp, 1, nil, codes, vec[int64](1), scales, parsed(t, "i4[[1],[-1]]"))}, "f32[1,2] [[8.0, -6.0]]"},
		{[]*model.Node{turned, node(blocksOp, 1, nil, turned.Outputs[0], vec[int64](1), scales)}, "f32[1,2] [[6.0, -8.0]]"},
		{[]*model.Node{node(offsetsOp, 3, nil, table, ids, offsets)}, "f32[3,2] [[6.0, 8.0], [0.0, 0.0], [3.0, 4.0]]"},
		{[]*model.Node{node(offsetsOp, 3, nil, table, ids, offsets, i64(nil, 1))}, "f32[3,2] [[6.0, 8.0], [3.0, 4.0], [3.0, 4.0]]"},
		{[]*model.Node{node(offsetsOp, 3, nil, table, ids, offsets, i64(nil, -1), vec[float32](1, 2, 3))}, "f32[3,2] [[7.0, 10.0], [0.0, 0.0], [9.0, 12.0]]"},
		{[]*model.Node{node(offsetsOp, 3, nil, table, ids, offsets, nil, vec[float32](1, 2, 3))}, "f32[3,2] [[7.0, 10.0], [0.0, 0.0], [9.0, 12.0]]"},
		{[]*model.Node{cast, node(offsetsOp, 3, nil, cast.Outputs[0], ids, offsets)}, "f32[3,2] [[6.0, 8.0], [0.0, 0.0], [3.0, 4.0]]"},
		{[]*model.Node{node("openvino.EmbeddingBagOffsets-15", 15, attrs{"reduction": "mean"}, table, ids, offsets)}, "f32[3,2] [[3.0, 4.0], [0.0, 0.0], [3.0, 4.0]]"},
		{[]*model.Node{node("openvino.EmbeddingBagPackedSum-3", 3, nil, table, i64([]int{2, 2}, 2, 0, 1, 1))}, "f32[2,2] [[6.0, 8.0], [6.0, 8.0]]"},
		{[]*model.Node{node("openvino.EmbeddingBagPacked-15", 15, attrs{"reduction": "mean"}, table, i64([]int{1, 2}, 2, 0))}, "f32[1,2] [[3.0, 4.0]]"},
		{[]*model.Node{node("openvino.EmbeddingSegmentsSum-3", 3, nil, table, ids, vec[int64](0, 0, 2), i64(nil, 4))}, "f32[4,2] [[6.0, 8.0], [0.0, 0.0], [3.0, 4.0], [0.0, 0.0]]"},
	} {
		for _, surveyed := range []float64{-1, 16, math.MaxInt} {
			restore := run.SetSurveyed(surveyed)
			got, err := last(of("OpenVINO IR", tt.nodes...), 1<<20)
			restore()
			if err != nil || got.String() != tt.want {
				t.Errorf("%s, survey of %v: %v, %v; want %s", tt.nodes[len(tt.nodes)-1].Operator, surveyed, got, err, tt.want)
			}
		}
	}
}

// TestFurtherRefused holds that errors name the node and the operand.
func TestFurtherRefused(t *testing.T) {
	codes, scales := parsed(t, "i4[[1,2],[3,-4]]"), parsed(t, "f32[[0.5],[2]]")
	table, ids := parsed(t, "f32[[1,2],[3,4],[5,6]]"), vec[int64](2, 0, 1)
	for _, tt := range []struct {
		node  *model.Node
		class error
		want  string
	}{
		{node(blocksOp, 1, nil, codes, vec[int64](1)), garner.ErrAttribute, "needs its input scales"},
		{node(blocksOp, 1, nil, codes, vec[int64](1), nil, codes), garner.ErrAttribute, "needs its input scales"},
		{node(blocksOp, 1, nil, codes, vec[int64](1), parsed(t, "f32[[1,2]]")), garner.ErrShape, "scales f32[1,2] have"},
		{node(blocksOp, 1, nil, codes, vec[int64](1), scales, parsed(t, "u4[[1],[1]]")), garner.ErrDType, "zero_points is u4 and data i4"},
		{node(blocksOp, 1, attrs{"bits": int64(3)}, codes, vec[int64](1), scales), garner.ErrAttribute, "bits 3"},
		{node(offsetsOp, 3, nil, table, ids), garner.ErrAttribute, "needs its input offsets"},
		{node(offsetsOp, 3, nil, table, ids, vec[int64](0, 2, 1)), garner.ErrShape, "offsets[2] = 1, and the one before is 2"},
		{node(offsetsOp, 3, nil, table, ids, vec[int64](0, 4)), garner.ErrShape, "offsets[1] = 4 passes the end"},
		{node(offsetsOp, 3, nil, table, vec[int64](2, 3), vec[int64](0)), garner.ErrIndex, "indices[1] = 3 is outside axis 0 of data"},
		{node(offsetsOp, 3, nil, table, ids, vec[int64](0), i64(nil, 9)), garner.ErrIndex, "default_index = 9"},
		{node(offsetsOp, 3, nil, table, ids, vec[int64](0), nil, vec[float32](1)), garner.ErrShape, "per_sample_weights"},
	} {
		for _, surveyed := range []float64{-1, math.MaxInt} {
			restore := run.SetSurveyed(surveyed)
			_, err := last(of("OpenVINO IR", tt.node), 1<<20)
			restore()
			var at *model.Error
			if !errors.Is(err, tt.class) || !errors.As(err, &at) || !strings.Contains(at.At, `"n"`) || !strings.Contains(err.Error(), tt.want) {
				t.Errorf("%v; want %s", err, tt.want)
			}
		}
	}
}

// TestFurtherAmended gives such gathers other policies. A fill is of the type that is decoded.
func TestFurtherAmended(t *testing.T) {
	codes, scales := parsed(t, "i4[[1,2],[3,-4]]"), parsed(t, "f32[[0.5],[2]]")
	var dtype garner.DType
	answer := func(n *model.Node, amend func(garner.Op) garner.Op) string {
		m := of("ONNX", n)
		got, err := run.Values(context.Background(), m, []*model.Value{n.Outputs[0]}, nil, 1<<20, run.Amend(func(g run.Gather) (garner.Op, error) {
			dtype = g.DType
			return amend(g.Op), nil
		}))
		if err != nil {
			return err.Error()
		}
		return got[0].Text()
	}
	n := node(blocksOp, 1, nil, codes, vec[int64](1, 2), scales)
	if got := answer(n, func(op garner.Op) garner.Op { return garner.WithOutside(op, garner.Clamp) }); got != "[[6.0, -8.0], [6.0, -8.0]]" || dtype != garner.F32 {
		t.Errorf("%s, of %s", got, dtype)
	}
	if got := answer(n, func(op garner.Op) garner.Op { return garner.WithOutside(op, garner.Error) }); !strings.Contains(got, `"n"`) || !strings.Contains(got, "indices[1] = 2 is outside axis 0") {
		t.Error(got)
	}
	bag := node("openvino.EmbeddingBagPackedSum-3", 3, nil, vec[int32](5, 7), i64([]int{1, 3}, 0, 1, -1))
	if got := answer(bag, func(op garner.Op) garner.Op { return garner.WithNegative(op, garner.FromEnd) }); got != "[19]" || dtype != garner.I32 {
		t.Errorf("%s, of %s", got, dtype)
	}
}

// compressedModel writes a model of OpenVINO: rows of a table of u4 of rows × columns with
// a scale a row, by the input ids. The elements are 0, but the last row is all 3s, and
// scales are 2.
func compressedModel(t *testing.T, rows, columns int) string {
	t.Helper()
	codes := rows * columns / 2
	layer := func(id int, name, kind, data, in, out string) string {
		return fmt.Sprintf(`<layer id="%d" name="%s" type="%s" version="opset%d">%s%s%s</layer>`, id, name, kind, map[bool]int{true: 8, false: 1}[kind == "Gather"], data, in, out)
	}
	port := func(id int, precision string, dims ...int) string {
		text := fmt.Sprintf(`<port id="%d" precision="%s">`, id, precision)
		for _, d := range dims {
			text += fmt.Sprintf("<dim>%d</dim>", d)
		}
		return text + "</port>"
	}
	in := func(ports ...string) string { return "<input>" + strings.Join(ports, "") + "</input>" }
	out := func(p string) string { return "<output>" + p + "</output>" }
	held := func(dtype string, offset, size int, dims ...int) string {
		return fmt.Sprintf(`<data element_type="%s" shape="%s" offset="%d" size="%d"/>`, dtype, strings.Trim(strings.ReplaceAll(fmt.Sprint(dims), " ", ","), "[]"), offset, size)
	}
	text := `<net name="m" version="11"><layers>` +
		layer(0, "ids", "Parameter", `<data element_type="i64" shape="?"/>`, "", out(port(0, "I64", -1))) +
		layer(1, "codes", "Const", held("u4", 0, codes, rows, columns), "", out(port(0, "U4", rows, columns))) +
		layer(2, "wide", "Convert", `<data destination_type="f16"/>`, in(port(0, "U4", rows, columns)), out(port(1, "FP16", rows, columns))) +
		layer(3, "scale", "Const", held("f16", codes, 2*rows, rows, 1), "", out(port(0, "FP16", rows, 1))) +
		layer(4, "table", "Multiply", `<data auto_broadcast="numpy"/>`, in(port(0, "FP16", rows, columns), port(1, "FP16", rows, 1)), out(port(2, "FP16", rows, columns))) +
		layer(5, "single", "Convert", `<data destination_type="f32"/>`, in(port(0, "FP16", rows, columns)), out(port(1, "FP32", rows, columns))) +
		layer(6, "axis", "Const", held("i64", codes+2*rows, 8), "", out(port(0, "I64"))) +
		layer(7, "rows", "Gather", `<data batch_dims="0"/>`, in(port(0, "FP32", rows, columns), port(1, "I64", -1), port(2, "I64")), out(port(3, "FP32", -1, columns))) +
		layer(8, "result", "Result", "", in(port(0, "FP32", -1, columns)), "") +
		layer(9, "shape", "ShapeOf", `<data output_type="i64"/>`, in(port(0, "FP32", rows, columns)), out(port(1, "I64", 2))) +
		layer(10, "other", "Result", "", in(port(0, "I64", 2)), "") + `</layers><edges>`
	for _, e := range []string{"1.0 2.0", "2.1 4.0", "3.0 4.1", "4.2 5.0", "5.1 7.0", "0.0 7.1", "6.0 7.2", "7.3 8.0", "5.1 9.0", "9.1 10.0"} {
		var a, b, c, d int
		if _, err := fmt.Sscanf(e, "%d.%d %d.%d", &a, &b, &c, &d); err != nil {
			t.Fatal(err)
		}
		text += fmt.Sprintf(`<edge from-layer="%d" from-port="%d" to-layer="%d" to-port="%d"/>`, a, b, c, d)
	}
	path := filepath.Join(t.TempDir(), "m.xml")
	if err := os.WriteFile(path, []byte(text+"</edges></net>"), 0o600); err != nil {
		t.Fatal(err)
	}
	bin, err := os.Create(strings.TrimSuffix(path, ".xml") + ".bin") // a sparse file
	if err != nil {
		t.Fatal(err)
	}
	defer bin.Close()
	last, scales := make([]byte, columns/2), make([]byte, 2*rows)
	for i := range last {
		last[i] = 0x33
	}
	for i := range rows {
		scales[2*i+1] = 0x40 // 2
	}
	for at, b := range map[int][]byte{codes - len(last): last, codes: scales, codes + len(scales): make([]byte, 8)} {
		if _, err := bin.WriteAt(b, int64(at)); err != nil {
			t.Fatal(err)
		}
	}
	return path
}

// TestCompressed runs gathers of a compressed table of OpenVINO, whose whole would exceed
// the memory many times. OC.7
func TestCompressed(t *testing.T) {
	const rows, columns = 1 << 16, 1 << 10 // 32 MiB of codes, and 256 MiB of f32
	m := open(t, compressedModel(t, rows, columns))
	ids, result := m.Graph.Inputs[0], m.Graph.Outputs[0].Value
	given := map[*model.Value]garner.Tensor{ids: vec[int64](rows-1, 0, -1, rows)}
	const memory = 1 << 20
	var got []garner.Tensor
	var err error
	bytes := allocated(func() { got, err = run.Values(context.Background(), m, []*model.Value{result}, given, memory) })
	if err != nil || bytes > 4<<20 {
		t.Fatalf("%v; %d bytes were allocated", err, bytes)
	}
	if spec := got[0].Spec().String(); spec != "f32[4,1024]" {
		t.Error(spec)
	}
	for i, want := range []string{"6.0", "0.0", "6.0", "0.0"} {
		for _, column := range []int{0, columns - 1} {
			if v, err := got[0].At(i, column); err != nil || v != want {
				t.Errorf("row %d has %s, %v; want %s", i, v, err, want)
			}
		}
	}
	// What fits no memory is refused, and the table itself is not run.
	given[ids] = wide(t, garner.I64, 1<<10)
	var large *run.MemoryError
	if _, err := run.Values(context.Background(), m, []*model.Value{result}, given, memory); !errors.As(err, &large) || !strings.Contains(err.Error(), `"rows"`) {
		t.Error(err)
	}
	if _, err := run.Values(context.Background(), m, []*model.Value{m.Graph.Outputs[1].Value}, given, memory); !errors.As(err, &large) || !strings.Contains(err.Error(), `"wide"`) {
		t.Error(err)
	}
	// A table that is given stands for the one of the model, wherever in the chain.
	table := func(name string) *model.Value {
		n, err := m.Find(name)
		if err != nil {
			t.Fatal(err)
		}
		return n.Outputs[0]
	}
	given = map[*model.Value]garner.Tensor{ids: vec[int64](1), table("single"): parsed(t, "f32[[1,2],[3,4]]")}
	if got, err := run.Values(context.Background(), m, []*model.Value{result, m.Graph.Outputs[1].Value}, given, memory); err != nil || got[0].Text() != "[[3.0, 4.0]]" || got[1].Text() != "[2, 2]" {
		t.Errorf("%v, %v", got, err)
	}
}

// TestFurtherOfRandom holds random gathers of blocks in models against garner.Gather.
func TestFurtherOfRandom(t *testing.T) {
	r := rand.New(rand.NewPCG(17, 25))
	for range 400 {
		block := 16 << r.IntN(2)
		rows, columns := 1+r.IntN(6), block*(1+r.IntN(3))-r.IntN(2)
		codes, err := garner.New(garner.U4, rows, columns)
		if err != nil {
			t.Fatal(err)
		}
		for i := range codes.Len() {
			if err := codes.SetText(i, fmt.Sprint(r.IntN(16))); err != nil {
				t.Fatal(err)
			}
		}
		scales := make([]float32, rows*((columns+block-1)/block))
		for i := range scales {
			scales[i] = float32(r.NormFloat64())
		}
		at := make([]int64, 1+r.IntN(8))
		for i := range at {
			at[i] = r.Int64N(int64(2*rows+2)) - int64(rows) - 1
		}
		s := garner.Of(scales, rows, len(scales)/rows)
		n := node(blocksOp, 1, attrs{"block_size": int64(block)}, codes, garner.Of(at, len(at)), s)
		got, err := last(of("ONNX", n), 1<<20)
		if err != nil {
			t.Fatal(err)
		}
		op, err := operators.Parse(blocksOp, map[string]any{"block_size": block})
		if err != nil {
			t.Fatal(err)
		}
		want, err := garner.Gather(op, codes, garner.Of(at, len(at)), s)
		if err != nil {
			t.Fatal(err)
		}
		if !same(t, got, want) {
			t.Errorf("%v by %v: %v; want %v", codes, at, got, want)
		}
	}
}

// TestFurtherInFile runs gathers that compute over constants in mapped files that are
// many times as large as the memory: a bag of rows, and codes of blocks.
func TestFurtherInFile(t *testing.T) {
	const rows, columns = 1 << 14, 1 << 10
	m := open(t, compressedModel(t, rows, columns)) // 8 MiB of codes
	held := func(name string) *model.Value {
		for _, v := range m.Graph.Constants {
			if v.Constant.Name == name {
				return v
			}
		}
		t.Fatalf("no constant %s", name)
		return nil
	}
	codes, scale := held("codes"), held("scale")
	for _, tt := range []struct {
		node *model.Node
		want string
	}{
		// One scale for a row: the block is as long as the row.
		{node(blocksOp, 1, attrs{"block_size": int64(columns)}, codes, vec[int64](rows-1, 0, rows), scale), "6.0 0.0 0.0"},
		{node(blocksOp, 1, attrs{"block_size": int64(columns)}, codes, vec[int64](-1), scale), "6.0"},
	} {
		for _, memory := range []float64{1 << 20, 1 << 30} {
			got, err := last(of("ONNX", tt.node), memory)
			if err != nil {
				t.Errorf("in %v: %v", memory, err)
				continue
			}
			var first []string
			for i := range got.Shape()[0] {
				v, err := got.At(i, columns-1)
				if err != nil {
					t.Fatal(err)
				}
				first = append(first, v)
			}
			if text := strings.Join(first, " "); text != tt.want || got.DType() != garner.F16 {
				t.Errorf("in %v: %s of %s; want %s", memory, text, got.DType(), tt.want)
			}
		}
	}
	table := inFile(t, 1024, 1024) // 4 MiB, of which the tensor has zeros and the file i in row i
	bag := node("openvino.EmbeddingBagPackedSum-3", 3, nil, table, i64([]int{2, 2}, 7, 1, 1023, 0))
	if got, err := last(of("OpenVINO IR", bag), 1<<30); err != nil || !strings.HasPrefix(got.Text(), "[[8.0, ") || !strings.Contains(got.Text(), "[1023.0, ") {
		t.Errorf("%.60v, %v", got, err)
	}
	if got, err := last(of("OpenVINO IR", bag), 1<<20); err != nil || got.Spec().String() != "f32[2,1024]" {
		t.Errorf("%.60v, %v", got, err)
	}
}
