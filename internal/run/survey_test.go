package run_test

import (
	"context"
	"encoding/binary"
	"errors"
	"math"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"

	"github.com/garner-go/garner"
	"github.com/garner-go/garner/internal/run"
	"github.com/garner-go/garner/model"
)

// allocated returns the bytes that f allocates.
func allocated(f func()) uint64 {
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	f()
	runtime.ReadMemStats(&after)
	return after.TotalAlloc - before.TotalAlloc
}

// wide returns a view of one element.
func wide(t *testing.T, dtype garner.DType, shape ...int) garner.Tensor {
	t.Helper()
	v, err := garner.FromStrided(dtype, make([]byte, 16), 0, shape, make([]int, len(shape)))
	if err != nil {
		t.Fatal(err)
	}
	return v
}

// TestMemoryIsAskedFirst holds that a tensor for which memory does not suffice is
// refused at its node, before it or a large one before it is made.
func TestMemoryIsAskedFirst(t *testing.T) {
	const onnx, ir = "ONNX", "OpenVINO IR"
	const memory = 64 << 20
	numbers := func() *model.Node { // 32 MiB, which memory has
		return node("Range", 11, nil, i64(nil, 0), i64(nil, 4<<20), i64(nil, 1))
	}
	column, row := []int{1 << 14, 1}, []int{1, 1 << 14} // broadcast they have 2 GiB in i64
	for _, tt := range []struct {
		name   string
		format string
		make   func() []*model.Node // the last one is refused
		want   string
	}{
		{"Range", onnx, func() []*model.Node {
			return []*model.Node{node("Range", 11, nil, i64(nil, 0), i64(nil, 1<<30), i64(nil, 1))}
		}, "a tensor i64[1073741824] takes 8 GiB"},
		{"Range of i8", onnx, func() []*model.Node {
			return []*model.Node{node("Range", 11, nil, garner.Of([]int32{0}), garner.Of([]int32{1 << 30}), garner.Of([]int32{1}))}
		}, "takes 8 GiB"},
		{"Expand", onnx, func() []*model.Node {
			return []*model.Node{node("Expand", 13, nil, vec[int64](1), vec[int64](1<<17, 1<<10))}
		}, "a tensor i64[131072,1024] takes 1 GiB"},
		{"Broadcast", ir, func() []*model.Node {
			return []*model.Node{node("Broadcast", 3, nil, vec[int64](1), vec[int64](1<<17, 1<<10))}
		}, "takes 1 GiB"},
		{"ConstantOfShape", onnx, func() []*model.Node {
			return []*model.Node{node("ConstantOfShape", 9, nil, vec[int64](1<<15, 1<<15))}
		}, "a tensor f32[32768,32768] takes 4 GiB"},
		{"Tile", onnx, func() []*model.Node {
			return []*model.Node{node("Tile", 13, nil, i64([]int{1, 2}, 1, 2), vec[int64](1<<15, 1<<12))}
		}, "takes 2 GiB"},
		{"Where", onnx, func() []*model.Node {
			return []*model.Node{node("Where", 16, nil, wide(t, garner.Bool, column...), wide(t, garner.I64, row...), i64(nil, 1))}
		}, "takes 2 GiB"},
		{"Add", onnx, func() []*model.Node {
			return []*model.Node{node("Add", 13, nil, wide(t, garner.I64, column...), wide(t, garner.I64, row...))}
		}, "takes 2 GiB"},
		{"Less", onnx, func() []*model.Node {
			return []*model.Node{node("Less", 13, nil, wide(t, garner.I64, column...), wide(t, garner.I64, row...))}
		}, "a tensor bool[16384,16384] takes 256 MiB"},
		{"Concat", onnx, func() []*model.Node {
			a := numbers()
			return []*model.Node{a, node("Concat", 13, attrs{"axis": int64(0)}, a.Outputs[0], a.Outputs[0], a.Outputs[0])}
		}, "takes 96 MiB beside the 32 MiB in use, and there are 64 MiB for all"},
		{"Cast", onnx, func() []*model.Node {
			a := numbers()
			c := node("Cast", 13, attrs{"to": int64(1)}, a.Outputs[0])
			return []*model.Node{a, c, node("Add", 13, nil, c.Outputs[0], wide(t, garner.F32, 3, 1))}
		}, "a tensor f32[3,4194304] takes 48 MiB beside the 48 MiB in use"},
		{"three live at a time", onnx, func() []*model.Node {
			a := numbers()
			return []*model.Node{a, node("Add", 13, nil, a.Outputs[0], a.Outputs[0]), node("Mul", 13, nil, a.Outputs[0], a.Outputs[0])}
		}, "a tensor i64[4194304] takes 32 MiB beside the 64 MiB in use"},
		{"after large ones", onnx, func() []*model.Node {
			a := numbers()
			return []*model.Node{a, node("Unsqueeze", 13, nil, a.Outputs[0], vec[int64](0)), node("Expand", 13, nil, a.Outputs[0], vec[int64](1<<10, 1))}
		}, "takes 32 GiB"},
		{"Gather", onnx, func() []*model.Node {
			return []*model.Node{node("onnx.Gather-13", 13, nil, wide(t, garner.F32, 2, 1<<20), wide(t, garner.I64, 1<<8))}
		}, "a tensor f32[256,1048576] takes 1 GiB"},
		{"Gather of large indices", onnx, func() []*model.Node {
			a := numbers()
			return []*model.Node{a, node("onnx.Gather-13", 13, nil, wide(t, garner.F32, 1<<24, 4), a.Outputs[0])}
		}, "a tensor f32[4194304,4] takes 64 MiB beside the 32 MiB"},
		{"GatherND", ir, func() []*model.Node {
			return []*model.Node{node("openvino.GatherND-8", 8, nil, wide(t, garner.F32, 2, 1<<20), wide(t, garner.I64, 1<<8, 1))}
		}, "takes 1 GiB"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			nodes := tt.make()
			refused := nodes[len(nodes)-1]
			refused.Name = "refused"
			m := of(tt.format, nodes...)
			var wanted []*model.Value
			for _, o := range m.Graph.Outputs {
				wanted = append(wanted, o.Value)
			}
			var err error
			bytes := allocated(func() { _, err = run.Values(context.Background(), m, wanted, nil, memory) })
			var at *model.Error
			var large *run.MemoryError
			if !errors.As(err, &at) || !strings.Contains(at.At, `"refused"`) || !errors.As(err, &large) || !errors.Is(err, garner.ErrShape) || !strings.Contains(err.Error(), tt.want) {
				t.Errorf("%v; want %s at node refused", err, tt.want)
			}
			if bytes > 4<<20 {
				t.Errorf("%d bytes were allocated before it was refused", bytes)
			}
		})
	}
}

// TestLiveMemory holds that memory is counted while values hold it: also through
// views, and not longer.
func TestLiveMemory(t *testing.T) {
	const n = 1 << 20 // 8 MiB of i64
	x := node("Range", 11, nil, i64(nil, 0), i64(nil, n), i64(nil, 1))
	nodes := []*model.Node{x}
	for range 100 {
		before := nodes[len(nodes)-1].Outputs[0]
		nodes = append(nodes, node("Add", 13, nil, before, before))
		nodes = append(nodes, node("Reshape", 13, nil, nodes[len(nodes)-1].Outputs[0], vec[int64](2, -1)))
		nodes = append(nodes, node("Transpose", 13, nil, nodes[len(nodes)-1].Outputs[0]))
		nodes = append(nodes, node("Transpose", 13, nil, nodes[len(nodes)-1].Outputs[0]))
	}
	m := of("ONNX", nodes...)
	if _, err := last(m, 3*8<<20); err != nil {
		t.Error(err)
	}
	// The view keeps the memory of x, so that there is none for a third tensor.
	view := node("Slice", 13, nil, x.Outputs[0], vec[int64](0), vec[int64](2))
	y := node("Neg", 13, nil, x.Outputs[0])
	z := node("Neg", 13, nil, y.Outputs[0])
	both := node("Concat", 13, attrs{"axis": int64(0)}, view.Outputs[0], z.Outputs[0])
	if _, err := last(of("ONNX", x, view, y, z, both), 17<<20); !errors.Is(err, garner.ErrShape) {
		t.Errorf("%v", err)
	}
	if _, err := last(of("ONNX", x, view, y, z, both), 25<<20); err != nil {
		t.Error(err)
	}
}

// TestShapesNeedNoElements evaluates a model of 2 KB whose 100 sums have 1 GiB each,
// of which nothing but a shape is wanted.
func TestShapesNeedNoElements(t *testing.T) {
	if math.MaxInt == math.MaxInt32 {
		t.Skip("1 GiB of i64 has no place beside another in 32 bits")
	}
	nodes := []*model.Node{node("Expand", 13, nil, vec[int64](1), vec[int64](1<<17, 1<<10))}
	for range 100 {
		before := nodes[len(nodes)-1].Outputs[0]
		nodes = append(nodes, node("Add", 13, nil, before, before))
	}
	nodes = append(nodes, node("Shape", 13, nil, nodes[len(nodes)-1].Outputs[0]))
	m := of("ONNX", nodes...)
	var got garner.Tensor
	var err error
	if bytes := allocated(func() { got, err = last(m, 4<<30) }); bytes > 1<<20 {
		t.Errorf("%d bytes were allocated", bytes)
	}
	if err != nil || got.String() != "i64[2] [131072, 1024]" {
		t.Errorf("%v, %v", got, err)
	}
}

// TestRefusalsOfUnneededElements holds that what a node refuses is refused, also where
// only the shape of its result is wanted and the result is large.
func TestRefusalsOfUnneededElements(t *testing.T) {
	const n = 1 << 16
	numbers := func(from int64) *model.Node {
		return node("Range", 11, nil, i64(nil, from), i64(nil, from+n), i64(nil, 1))
	}
	for _, tt := range []struct {
		name string
		make func(a, b *model.Value) *model.Node
		want string
	}{
		{"Div", func(a, b *model.Value) *model.Node { return node("Div", 14, nil, a, b) }, "Div by 0, at element 5 of [65536]"},
		{"Mod", func(a, b *model.Value) *model.Node { return node("Mod", 13, nil, a, b) }, "Mod by 0, at element 5"},
		{"Gather", func(a, b *model.Value) *model.Node {
			return node("onnx.Gather-13", 13, nil, wide(t, garner.F32, n), a)
		}, "indices[65526] = 65536 is outside axis 0 of data"},
		{"Cast", func(a, b *model.Value) *model.Node {
			f := node("Cast", 13, attrs{"to": int64(1)}, a)
			return node("Cast", 13, attrs{"to": int64(3)}, f.Outputs[0])
		}, "which i8 does not hold"},
	} {
		a, b := numbers(10), numbers(-5)
		refused := tt.make(a.Outputs[0], b.Outputs[0])
		nodes := []*model.Node{a, b}
		if v := refused.Inputs[0]; tt.name == "Cast" {
			nodes = append(nodes, v.From)
		}
		one := node("Identity", 13, nil, refused.Outputs[0])
		nodes = append(nodes, refused, one)
		if tt.name == "Cast" { // a cast waits until a node reads its elements
			one.Op, one.Inputs = "Add", []*model.Value{refused.Outputs[0], refused.Outputs[0]}
		}
		nodes = append(nodes, node("Shape", 13, nil, one.Outputs[0]))
		if _, err := last(of("ONNX", nodes...), 1<<30); err == nil || !strings.Contains(err.Error(), tt.want) {
			t.Errorf("%s: %v; want %s", tt.name, err, tt.want)
		}
	}
}

// TestIndicesFirst holds that a gather whose result does not fit names the index that
// it refuses, where there is one.
func TestIndicesFirst(t *testing.T) {
	if math.MaxInt == math.MaxInt32 {
		t.Skip("rows of 16 GiB have no place in 32 bits")
	}
	nothing, err := garner.New(garner.F32, 0, math.MaxInt>>31)
	if err != nil {
		t.Fatal(err)
	}
	table := wide(t, garner.F32, 4, math.MaxInt>>31)
	for _, tt := range []struct {
		data, indices garner.Tensor
		want          string
		class         error
	}{
		{nothing, vec[int64](0), "indices[0] = 0 is outside axis 0 of data, which is empty", garner.ErrIndex},
		{table, vec[int64](0, 3, 4), "indices[2] = 4 is outside axis 0 of data", garner.ErrIndex},
		{table, vec[int64](0, 3), "takes 32 GiB", garner.ErrShape},
		{nothing, i64([]int{0}), "", nil},
	} {
		got, err := last(of("ONNX", node("onnx.Gather-13", 13, nil, tt.data, tt.indices)), 1<<30)
		if !errors.Is(err, tt.class) || err != nil && !strings.Contains(err.Error(), tt.want) || err == nil && got.Len() != 0 {
			t.Errorf("%v of %v: %v, %v; want %s", tt.indices, tt.data.Shape(), got, err, tt.want)
		}
	}
}

// TestSurveyOfModels evaluates the models of testdata with a survey that leaves every
// tensor to the run, and with none left: both answer alike.
func TestSurveyOfModels(t *testing.T) {
	var paths []string
	for _, extension := range []string{".onnx", ".xml"} {
		found, err := filepath.Glob(models + "*" + extension)
		if err != nil {
			t.Fatal(err)
		}
		paths = append(paths, found...)
	}
	results := 0
	for _, path := range paths {
		m := open(t, path)
		given := inputs(t, m)
		for _, o := range m.Graph.Outputs {
			answer := func(surveyed float64) (string, string) {
				defer run.SetSurveyed(surveyed)()
				got, err := run.Values(context.Background(), m, []*model.Value{o.Value}, given, math.MaxInt)
				if err != nil {
					return "", err.Error()
				}
				return got[0].DType().String() + got[0].Text(), ""
			}
			want, wantErr := answer(math.MaxInt)
			for _, surveyed := range []float64{-1, 8, 64} {
				if got, err := answer(surveyed); got != want || err != wantErr {
					t.Errorf("%s, %s, %v: %s, %s; want %s, %s", path, o.Name, surveyed, got, err, want, wantErr)
				}
			}
			results++
		}
	}
	if results < 100 {
		t.Errorf("%d results", results)
	}
}

// inFile returns a constant of f32 rows in a file, row i of which has i in every
// element. Its tensor has zeros, so that a result shows who read the rows.
func inFile(t *testing.T, rows, columns int) *model.Value {
	t.Helper()
	path := filepath.Join(t.TempDir(), "weights")
	b := make([]byte, 64+4*rows*columns)
	for i := range rows * columns {
		binary.LittleEndian.PutUint32(b[64+4*i:], math.Float32bits(float32(i/columns)))
	}
	if err := os.WriteFile(path, b, 0o666); err != nil {
		t.Fatal(err)
	}
	spec := garner.SpecOf(garner.F32, rows, columns)
	c := model.NewConstant("weights", spec, func() (garner.Tensor, error) { return garner.New(garner.F32, rows, columns) })
	c.File, c.Offset, c.Size = path, 64, int64(4*rows*columns)
	f, err := c.OpenAs(spec)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	states, err := f.States()
	if err != nil {
		t.Fatal(err)
	}
	c.State = states[0]
	return &model.Value{Name: "weights", Spec: spec, Constant: c}
}

// TestConstantsGoThroughSource holds that the rows of a large constant are read from
// its file by package source, also of a view of all of it and with a pending cast.
func TestConstantsGoThroughSource(t *testing.T) {
	at := vec[int64](7, -1)
	for _, tt := range []struct {
		name  string
		nodes func(table *model.Value) []*model.Node
		want  string
	}{
		{"as it is", func(table *model.Value) []*model.Node {
			return []*model.Node{node("onnx.Gather-13", 13, nil, table, at)}
		}, "[[7.0, 7.0, "},
		{"cast", func(table *model.Value) []*model.Node {
			c := node("Cast", 13, attrs{"to": int64(7)}, table)
			return []*model.Node{c, node("onnx.Gather-13", 13, nil, c.Outputs[0], at)}
		}, "[[7, 7, "},
		{"reshaped", func(table *model.Value) []*model.Node {
			r := node("Reshape", 13, nil, table, vec[int64](-1, 128))
			i := node("Identity", 13, nil, r.Outputs[0])
			return []*model.Node{r, i, node("onnx.Gather-13", 13, nil, i.Outputs[0], vec[int64](15, -1))}
		}, "[[7.0, 7.0, "},
		{"transposed", func(table *model.Value) []*model.Node {
			r := node("Transpose", 13, nil, table)
			return []*model.Node{r, node("onnx.Gather-13", 13, attrs{"axis": int64(1)}, r.Outputs[0], at)}
		}, "[[7.0, 1023.0], "},
		{"cut", func(table *model.Value) []*model.Node { // no view of all of it: through the mapping
			s := node("Slice", 13, nil, table, vec[int64](1), vec[int64](9))
			return []*model.Node{s, node("onnx.Gather-13", 13, nil, s.Outputs[0], vec[int64](6))}
		}, "[[0.0, 0.0, "},
		{"computed", func(table *model.Value) []*model.Node {
			s := node("Equal", 13, nil, table, table)
			return []*model.Node{s, node("onnx.Gather-13", 13, nil, s.Outputs[0], vec[int64](6))}
		}, "[[true, "},
	} {
		for _, memory := range []float64{1 << 30, 4 << 20} {
			got, err := last(of("ONNX", tt.nodes(inFile(t, 1024, 256))...), memory)
			if err != nil || !strings.HasPrefix(got.Text(), tt.want) {
				t.Errorf("%s in %v: %.60s, %v; want %s", tt.name, memory, got.Text(), err, tt.want)
			}
		}
	}
	small := node("onnx.Gather-13", 13, nil, inFile(t, 16, 4), at)
	if got, err := last(of("ONNX", small), 1<<30); err != nil || !strings.HasPrefix(got.String(), "f32[2,4] [[0.0, ") {
		t.Errorf("%v, %v", got, err)
	}
	// A file that is another one by now is refused, not mixed in.
	table := inFile(t, 1024, 256)
	gone := table.Constant.File
	if err := os.Rename(gone, gone+".old"); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(gone, make([]byte, 64+1024*1024), 0o666); err != nil {
		t.Fatal(err)
	}
	if _, err := last(of("ONNX", node("onnx.Gather-13", 13, nil, table, at)), 1<<30); err == nil || !strings.Contains(err.Error(), "changed or replaced after the model was opened") {
		t.Errorf("%v", err)
	}
}

// TestAmend gives gathers another policy, whose fill is of the type after a pending
// cast.
func TestAmend(t *testing.T) {
	negative := run.Amend(func(g run.Gather) (garner.Op, error) {
		return garner.WithNegative(g.Op, garner.FromEnd), nil
	})
	nd := node("openvino.GatherND-8", 8, nil, i64([]int{2, 2}, 1, 2, 3, 4), i64([]int{1, 2}, -1, -2))
	m := of("OpenVINO IR", nd)
	if _, err := run.Values(context.Background(), m, nd.Outputs, nil, 1<<20); !errors.Is(err, garner.ErrIndex) || strings.Contains(err.Error(), "--") {
		t.Errorf("%v", err)
	}
	got, err := run.Values(context.Background(), m, nd.Outputs, nil, 1<<20, negative)
	if err != nil || got[0].String() != "i64[1] [3]" {
		t.Errorf("%v, %v", got, err)
	}
	fill := run.Amend(func(g run.Gather) (garner.Op, error) {
		value, err := garner.New(g.DType)
		if err == nil {
			err = value.SetText(0, "1e20")
		}
		return garner.WithFill(g.Op, value), err
	})
	half, err := garner.FromBytes(garner.F16, []byte{0, 0x3c, 0, 0x40}, 2)
	if err != nil {
		t.Fatal(err)
	}
	cast := node("Cast", 13, attrs{"to": int64(1)}, half)
	gather := node("onnx.Gather-13", 13, nil, cast.Outputs[0], vec[int64](1, 9))
	got, err = run.Values(context.Background(), of("ONNX", cast, gather), gather.Outputs, nil, 1<<20, fill)
	if err != nil || got[0].String() != "f32[2] [2.0, 1e+20]" {
		t.Errorf("%v, %v", got, err)
	}
}

// TestTile holds Tile against its definition.
func TestTile(t *testing.T) {
	x := i64([]int{1, 2}, 1, 2)
	for _, tt := range []struct {
		format  string
		x       garner.Tensor
		repeats garner.Tensor
		want    string
	}{
		{"ONNX", x, vec[int64](2, 2), "i64[2,4] [[1, 2, 1, 2], [1, 2, 1, 2]]"},
		{"ONNX", x, vec[int64](0, 2), "i64[0,4] []"},
		{"ONNX", i64([]int{2, 2}, 1, 2, 3, 4), vec[int64](2, 1), "i64[4,2] [[1, 2], [3, 4], [1, 2], [3, 4]]"},
		{"ONNX", vec("a", "b"), vec[int64](2), `string[4] ["a", "b", "a", "b"]`},
		{"OpenVINO IR", x, vec[int64](2), "i64[1,4] [[1, 2, 1, 2]]"},
		{"OpenVINO IR", vec[int64](1, 2), vec[int64](2, 2), "i64[2,4] [[1, 2, 1, 2], [1, 2, 1, 2]]"},
		{"ONNX", x, vec[int64](2), ""},
		{"ONNX", x, vec[int64](-1, 2), ""},
		{"ONNX", x, vec[int64](math.MaxInt64, 2), ""},
		{"ONNX", i64([]int{0, 2}), vec[int64](math.MaxInt64, math.MaxInt64), ""},
	} {
		got, err := last(of(tt.format, node("Tile", 13, nil, tt.x, tt.repeats)), 1<<20)
		if tt.want == "" && !errors.Is(err, garner.ErrShape) || tt.want != "" && (err != nil || got.String() != tt.want) {
			t.Errorf("%v %v: %v, %v; want %s", tt.x, tt.repeats, got, err, tt.want)
		}
	}
}
