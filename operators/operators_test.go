package operators_test

import (
	"encoding/json"
	"math"
	"reflect"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/garner-go/garner"
	"github.com/garner-go/garner/internal/ruletest"
	"github.com/garner-go/garner/jax"
	"github.com/garner-go/garner/numpy"
	"github.com/garner-go/garner/onnx"
	"github.com/garner-go/garner/openvino"
	"github.com/garner-go/garner/operators"
	"github.com/garner-go/garner/stablehlo"
	"github.com/garner-go/garner/strict"
	"github.com/garner-go/garner/tensorflow"
	"github.com/garner-go/garner/torch"
)

func find(t *testing.T, name string) operators.Operator {
	t.Helper()
	o, err := operators.Find(name, 0)
	if err != nil {
		t.Fatal(err)
	}
	return o
}

func TestFind(t *testing.T) {
	for _, tt := range []struct {
		name  string
		opset int
		want  string // the operator, or
		fails string // part of the message
	}{
		{"openvino.Gather-7", 0, "openvino.Gather-7", ""},
		{"openvino.Gather", 0, "openvino.Gather-8", ""},
		{"openvino.GatherND", 7, "openvino.GatherND-5", ""},
		{"onnx.Gather", 1, "onnx.Gather-1", ""},
		{"onnx.Gather", 12, "onnx.Gather-11", ""},
		{"onnx.Gather", 25, "onnx.Gather-13", ""},
		{"onnx.Gather-1", 25, "onnx.Gather-1", ""},
		{"onnx.GatherND", 12, "onnx.GatherND-12", ""},
		{"com.microsoft.GatherND", 0, "com.microsoft.GatherND-1", ""},
		{"numpy.take", 3, "numpy.take", ""},
		{"tensorflow.gather", 0, "tensorflow.gather", ""},
		{"tensorflow.Gather", 0, "tensorflow.Gather", ""},

		{"onnx.GatherND", 10, "", "no operator onnx.GatherND"},
		{"openvino.Gather-9", 0, "", "no operator openvino.Gather-9; did you mean openvino.Gather-8?"},
		{"torch.Gather", 0, "", "did you mean torch.gather?"},
		{"GatherBlockQuantized", 0, "", "did you mean com.microsoft.GatherBlockQuantized-1?"},
		{"GatherBlockQuantised", 0, "", "did you mean com.microsoft.GatherBlockQuantized-1?"},
		{"onnx.GatherBlockQuantized", 0, "", "did you mean com.microsoft.GatherBlockQuantized-1?"},
		{"embedding_bag", 0, "", "did you mean torch.embedding_bag?"},
		{"openvino.GatherND-9", 0, "", "did you mean openvino.GatherND-8?"},
		{"numpy.take_along_axes", 0, "", "did you mean numpy.take_along_axis?"},
		{"tf.gather", 0, "", "did you mean tensorflow.gather?"},
		{"tf.Gather", 0, "", "did you mean tensorflow.Gather?"},
		{"tf.raw_ops.GatherV2", 0, "", "did you mean tensorflow.GatherV2?"},
		{"tf.gather_nd", 0, "", "did you mean tensorflow.gather_nd?"},
		{"jnp.take", 0, "", "did you mean jax.numpy.take?"},
		{"jax.take", 0, "", "did you mean jax.numpy.take?"},
		{"jax.gather", 0, "", "did you mean jax.lax.gather?"},
		{"lax.gather", 0, "", "did you mean jax.lax.gather?"},
		{"np.take", 0, "", "did you mean numpy.take?"},
		{"onnxruntime.Gather", 0, "", "did you mean onnx.Gather-13?"},
		{"ort.Gather", 0, "", "did you mean onnx.Gather-13?"},
		{"ov.Gather", 0, "", "did you mean openvino.Gather-8?"},
		{"onnx.gather_nd", 0, "", "did you mean onnx.GatherND-13?"},
		{"onnx.gather", 0, "", "did you mean onnx.Gather-13?"},
		{"ONNX.Gather", 0, "", "did you mean onnx.Gather-13?"},
		{"onnx.Gather-14", 0, "", "did you mean onnx.Gather-13?"},
		{"litert.GATHER", 0, "", "did you mean tflite.GATHER?"},
		{"pytorch.gather", 0, "", "did you mean torch.gather?"},
		{"torch.nn.functional.embedding", 0, "", "did you mean torch.embedding?"},
		{"torch.take_along_axis", 0, "", "did you mean torch.take_along_dim?"},
		{"ggml.get_rows", 0, "", "did you mean gguf.get_rows?"},
		{"ort.GatherBlockQuantized", 0, "", "did you mean com.microsoft.GatherBlockQuantized-1?"},
		{"Gather", 0, "", `no operator Gather; "garner ops" lists them`},
		{"", 0, "", `"garner ops" lists them`},
		{"scatter.everything.everywhere", 0, "", `"garner ops" lists them`},
	} {
		t.Run(tt.name+" "+strconv.Itoa(tt.opset), func(t *testing.T) {
			o, err := operators.Find(tt.name, tt.opset)
			if tt.fails != "" {
				ruletest.Refused(t, err, "attribute", tt.fails)
			} else if err != nil || o.Name != tt.want {
				t.Errorf("%s, %v; want %s", o.Name, err, tt.want)
			}
		})
	}
}

func TestVersions(t *testing.T) {
	listed := 0
	for _, o := range operators.All() {
		base := strings.TrimSuffix(o.Name, "-"+strconv.Itoa(o.Version()))
		versions := operators.Versions(base)
		at := slices.IndexFunc(versions, func(v operators.Operator) bool { return v.Name == o.Name })
		if at < 0 {
			t.Fatalf("%s is not among the versions of %s", o.Name, base)
		}
		if at == 0 {
			listed += len(versions)
		}
		if !slices.IsSortedFunc(versions, func(a, b operators.Operator) int { return a.Version() - b.Version() }) {
			t.Errorf("the versions of %s are not in order", base)
		}
		if newest, err := operators.Find(base, 0); err != nil || newest.Name != versions[len(versions)-1].Name {
			t.Errorf("%s: %s, %v", base, newest.Name, err)
		}
	}
	if listed != len(operators.All()) {
		t.Errorf("%d versions of %d operators", listed, len(operators.All()))
	}
	for _, name := range []string{"", "Gather", "onnx.Gather-13", "onnx.Scatter"} {
		if versions := operators.Versions(name); len(versions) > 0 {
			t.Errorf("%s has %d versions", name, len(versions))
		}
	}
}

func TestParse(t *testing.T) {
	for _, tt := range []struct {
		op     string
		values map[string]any
		want   garner.Op
	}{
		{"onnx.Gather-13", map[string]any{"axis": 1}, onnx.Gather13{Axis: 1}},
		{"onnx.Gather", map[string]any{"axis": int64(-1)}, onnx.Gather13{Axis: -1}},
		{"onnx.Gather-13", map[string]any{"axis": int8(-1)}, onnx.Gather13{Axis: -1}},
		{"openvino.Gather-8", map[string]any{"axis": uint64(math.MaxUint64), "batch_dims": uint16(1)}, openvino.Gather8{Axis: math.MaxInt, BatchDims: 1}},
		{"onnx.Gather-13", map[string]any{"axis": garner.Unknown}, onnx.Gather13{Axis: garner.Unknown}},
		{"onnx.Gather-13", map[string]any{"axis": int64(math.MinInt64)}, onnx.Gather13{Axis: math.MinInt + 1}},
		{"openvino.Gather", map[string]any{"axis": 2, "batch_dims": 1}, openvino.Gather8{Axis: 2, BatchDims: 1}},
		{"openvino.Gather-8", map[string]any{"axis": garner.Unknown}, openvino.Gather8{Axis: garner.Unknown}},
		{"openvino.Gather-8", map[string]any{"batch_dims": garner.Unknown}, openvino.Gather8{BatchDims: math.MinInt + 1}},
		{"torch.index_select", map[string]any{"axis": garner.Unknown}, torch.IndexSelect{Dim: garner.Unknown}},
		{"stablehlo.dynamic_gather", map[string]any{"slice_sizes": []int{1, 2}, "offset_dims": []int{0}}, stablehlo.DynamicGather{SliceSizes: []int{1, 2}, OffsetDims: []int{0}}},
		{"numpy.take", map[string]any{"mode": "clip"}, numpy.Take{Mode: "clip"}},
	} {
		if got, err := operators.Parse(tt.op, tt.values); err != nil || !reflect.DeepEqual(got, tt.want) {
			t.Errorf("%s with %v: %+v, %v; want %+v", tt.op, tt.values, got, err, tt.want)
		}
	}
	for _, tt := range []struct {
		op      string
		values  map[string]any
		message string
	}{
		{"onnx.Gathr-13", nil, "no operator onnx.Gathr-13; did you mean onnx.Gather-13?"},
		{"onnx.Gather-13", map[string]any{"axes": 1}, "onnx.Gather-13 has no attribute axes; did you mean axis?"},
		{"openvino.Gather-8", map[string]any{"batchDims": 1}, "openvino.Gather-8 has no attribute batchDims; did you mean batch_dims?"},
		{"openvino.Gather-8", map[string]any{"axs": 1}, "openvino.Gather-8 has no attribute axs; did you mean axis?"},
		{"onnx.Gather-13", map[string]any{"mode": "clip"}, "onnx.Gather-13 has no attribute mode; it has axis"},
		{"onnx.GatherND-11", map[string]any{"batch_dims": 1}, "onnx.GatherND-11 has no attribute batch_dims; it has none"},
		{"onnx.Gather-13", map[string]any{"axis": []int{1}}, "onnx.Gather-13's axis cannot be [1]; it is an integer"},
		{"openvino.Gather-8", map[string]any{"axis": 1.5}, "openvino.Gather-8's axis cannot be 1.5; it is an integer"},
		{"openvino.Gather-8", map[string]any{"axis": nil}, "openvino.Gather-8's axis needs a value; it is an integer"},
	} {
		_, err := operators.Parse(tt.op, tt.values)
		ruletest.Refused(t, err, "attribute", tt.message)
	}
}

func TestOwn(t *testing.T) {
	for kind, want := range map[operators.Kind]garner.Op{
		operators.Gather: strict.Gather{}, operators.GatherND: strict.GatherND{}, operators.Elements: strict.GatherElements{},
	} {
		if o := operators.Own(kind); o.Zero != want || o.Kind != kind || !strings.HasPrefix(o.Name, "garner.") {
			t.Errorf("%s: %+v", kind, o)
		}
	}
	defer func() {
		if recover() == nil {
			t.Error("a kind that does not exist has an operator")
		}
	}()
	operators.Own("scatter")
}

// TestOperators holds what every entry needs: a name of its own that Find finds,
// a specification, and a struct each of whose fields has a name and can be set.
func TestOperators(t *testing.T) {
	names, types := map[string]bool{}, map[reflect.Type]string{}
	for _, o := range operators.All() {
		zero := reflect.TypeOf(o.Zero)
		if names[o.Name] || types[zero] != "" {
			t.Errorf("%s is there twice, or %v as %s too", o.Name, zero, types[zero])
		}
		names[o.Name], types[zero] = true, o.Name
		if got := find(t, o.Name); !reflect.DeepEqual(got, o) {
			t.Errorf("Find(%s) is %s", o.Name, got.Name)
		}
		if !strings.HasPrefix(o.Spec, "https://") {
			t.Errorf("%s: its specification is at %q", o.Name, o.Spec)
		}
		if zero.Kind() != reflect.Struct {
			t.Errorf("%s is a %v; Bind needs a struct", o.Name, zero)
			continue
		}
		fields := map[string]bool{}
		for i := range zero.NumField() {
			f := zero.Field(i)
			attr, isAttr := f.Tag.Lookup("attr")
			input, isInput := f.Tag.Lookup("input")
			input, _, _ = strings.Cut(input, ",")
			switch {
			case !f.IsExported():
				t.Errorf("%s.%s cannot be set", o.Name, f.Name)
			case isAttr && !slices.Contains(o.Attributes(), attr), isInput && !slices.Contains(o.Inputs(), input), !isAttr && !isInput:
				t.Errorf("%s.%s is neither an attribute nor an input", o.Name, f.Name)
			case isAttr && isInput && attr != input:
				t.Errorf("%s.%s has two names, %s and %s", o.Name, f.Name, attr, input)
			}
			name := attr + input
			if isAttr && isInput {
				name = attr
			}
			if fields[name] {
				t.Errorf("%s has %s twice", o.Name, name)
			}
			fields[name] = true
			if isAttr {
				set(t, o, i, attr)
			}
		}
	}
}

// set binds an attribute of each operator, and looks for it in the i-th field.
func set(t *testing.T, o operators.Operator, i int, name string) {
	t.Helper()
	var inputs []operators.Input
	for _, input := range o.Inputs() {
		switch {
		case input == name: // it is given as an attribute
		case input == "slice_sizes" || input == "dense_shape":
			inputs = append(inputs, number(t, "[0]"))
		default:
			inputs = append(inputs, number(t, "0"))
		}
	}
	kind := reflect.TypeOf(o.Zero).Field(i).Type
	if kind.Kind() == reflect.Pointer {
		kind = kind.Elem()
	}
	var value, want any
	switch kind.Kind() {
	case reflect.Int:
		value, want = int64(-3), -3
	case reflect.Bool:
		value, want = true, true
	case reflect.String:
		value, want = "x", "x"
	case reflect.Slice:
		value, want = []int64{4, 2}, []int{4, 2}
	}
	op, err := o.Bind(map[string]any{name: value}, inputs...)
	if err != nil {
		t.Errorf("%s: %v", o.Name, err)
		return
	}
	field := reflect.Indirect(reflect.ValueOf(op).Field(i)).Interface()
	if !reflect.DeepEqual(field, want) {
		t.Errorf("%s's %s is %v; want %v", o.Name, name, field, want)
	}
	_, err = o.Bind(map[string]any{name: []string{"no", "value"}}, inputs...)
	ruletest.Refused(t, err, "attribute", o.Name+"'s "+name+" cannot be [\"no\" \"value\"]")
}

// number is an input whose value is known.
func number(t *testing.T, literal string) operators.Input {
	t.Helper()
	v := ruletest.Tensor(t, literal)
	return operators.Input{Spec: v.Spec(), Value: v}
}

func at(n int) *int { return &n }

func TestBind(t *testing.T) {
	yes := true
	vague := func(spec string) operators.Input {
		s, err := garner.ParseSpec(spec)
		if err != nil {
			t.Fatal(err)
		}
		return operators.Input{Spec: s}
	}
	for _, tt := range []struct {
		op         string
		attributes map[string]any
		inputs     []operators.Input
		want       garner.Op
	}{
		{"openvino.Gather-7", map[string]any{"batch_dims": -1}, []operators.Input{number(t, "2")}, openvino.Gather7{Axis: 2, BatchDims: -1}},
		{"openvino.Gather-7", nil, []operators.Input{number(t, "u8[2]")}, openvino.Gather7{Axis: 2}},
		{"openvino.Gather-8", nil, []operators.Input{vague("i32[]")}, openvino.Gather8{Axis: garner.Unknown}},
		{"openvino.Gather-8", nil, []operators.Input{vague("i32[...]")}, openvino.Gather8{Axis: garner.Unknown}},
		{"openvino.Gather-8", nil, []operators.Input{vague("i32[?]")}, openvino.Gather8{Axis: garner.Unknown}},
		{"openvino.Gather-8", nil, []operators.Input{number(t, "u64(18446744073709551615)")}, openvino.Gather8{Axis: math.MaxInt}},
		{"openvino.Gather-8", nil, []operators.Input{number(t, "i64(-9223372036854775808)")}, openvino.Gather8{Axis: math.MinInt + 1}},
		{"numpy.take", map[string]any{"axis": int64(math.MinInt64)}, nil, numpy.Take{Axis: at(math.MinInt + 1)}},
		{"numpy.take", map[string]any{"mode": "wrap"}, nil, numpy.Take{Mode: "wrap"}},
		{"numpy.take", map[string]any{"axis": int64(0)}, nil, numpy.Take{Axis: at(0)}},
		{"torch.gather", map[string]any{"sparse_grad": int64(1), "dim": 1}, nil, torch.Gather{Dim: 1, SparseGrad: true}},
		{"jax.numpy.take", map[string]any{"fill_value": int64(math.MinInt64)}, nil, jax.NumpyTake{FillValue: "-9223372036854775808"}},
		{"jax.numpy.take", map[string]any{"fill_value": -0.5}, nil, jax.NumpyTake{FillValue: "-0.5"}},
		{"jax.numpy.take_along_axis", map[string]any{"wrap_negative_indices": true}, nil, jax.NumpyTakeAlongAxis{Axis: at(-1), WrapNegativeIndices: &yes}},

		// R.25, NA.1, JA.1: null is none, which an axis that is not given need not be.
		{"jax.numpy.take_along_axis", map[string]any{"axis": nil, "mode": nil, "fill_value": nil, "wrap_negative_indices": nil}, nil, jax.NumpyTakeAlongAxis{}},
		{"numpy.take_along_axis", map[string]any{"axis": nil}, nil, numpy.TakeAlongAxis{}},
		{"numpy.take_along_axis", nil, nil, numpy.TakeAlongAxis{Axis: at(-1)}},
		{"numpy.take", map[string]any{"axis": nil, "mode": nil}, nil, numpy.Take{}},
		{"torch.take_along_dim", map[string]any{"dim": nil}, nil, torch.TakeAlongDim{}},
		{"torch.embedding", map[string]any{"padding_idx": nil}, nil, torch.Embedding{}},
		{"torch.gather", map[string]any{"sparse_grad": nil, "dim": 1}, nil, torch.Gather{Dim: 1}},
		{"stablehlo.gather", map[string]any{"operand_batching_dims": nil}, nil, stablehlo.Gather{}},
		{"tensorflow.gather", map[string]any{"axis": nil, "batch_dims": 1}, nil, tensorflow.GatherFunc{BatchDims: 1}},

		// The numbers of JSON keep their text.
		{"jax.numpy.take", map[string]any{"fill_value": json.Number("18446744073709551615")}, nil, jax.NumpyTake{FillValue: "18446744073709551615"}},
		{"jax.numpy.take", map[string]any{"axis": json.Number("18446744073709551616")}, nil, jax.NumpyTake{Axis: at(math.MaxInt)}},
		{"jax.numpy.take", map[string]any{"axis": json.Number("-18446744073709551616")}, nil, jax.NumpyTake{Axis: at(math.MinInt + 1)}},
		{"stablehlo.gather", map[string]any{"offset_dims": []int64{}, "slice_sizes": []int64{1, math.MinInt64}}, nil, stablehlo.Gather{OffsetDims: []int{}, SliceSizes: []int{1, math.MinInt + 1}}},

		// slice_sizes may be given either way, and as an input without its value.
		{"stablehlo.dynamic_gather", map[string]any{"slice_sizes": []int64{1, 2}}, nil, stablehlo.DynamicGather{SliceSizes: []int{1, 2}}},
		{"stablehlo.dynamic_gather", nil, []operators.Input{number(t, "i32[1,2]")}, stablehlo.DynamicGather{SliceSizes: []int{1, 2}}},
		{"stablehlo.dynamic_gather", nil, []operators.Input{vague("i32[2]")}, stablehlo.DynamicGather{SliceSizes: []int{garner.Unknown, garner.Unknown}}},
		{"stablehlo.dynamic_gather", nil, []operators.Input{vague("i32[?]")}, stablehlo.DynamicGather{}},
		{"stablehlo.dynamic_gather", nil, []operators.Input{vague("i32[99]")}, stablehlo.DynamicGather{}},
		{"stablehlo.dynamic_gather", nil, []operators.Input{vague("i32[...]")}, stablehlo.DynamicGather{}},
	} {
		if got, err := find(t, tt.op).Bind(tt.attributes, tt.inputs...); err != nil || !reflect.DeepEqual(got, tt.want) {
			t.Errorf("%s with %v and %v: %+v, %v; want %+v", tt.op, tt.attributes, tt.inputs, got, err, tt.want)
		}
	}

	for _, tt := range []struct {
		op              string
		attributes      map[string]any
		inputs          []operators.Input
		refuse, message string
	}{
		{"openvino.Gather-7", map[string]any{"axis": 1}, []operators.Input{number(t, "1")}, "attribute", "openvino.Gather-7 has no attribute axis; it has batch_dims"},
		{"torch.take", map[string]any{"axis": 1}, nil, "attribute", "torch.take has no attribute axis; it has none"},
		{"onnx.Gather-13", map[string]any{"axis": "1"}, nil, "attribute", `onnx.Gather-13's axis cannot be "1"; it is an integer`},
		{"stablehlo.gather", map[string]any{"slice_sizes": []any{"1", 2}}, nil, "attribute", `stablehlo.gather's slice_sizes cannot be ["1" 2]; it is a list of integers`},
		{"onnx.Gather-13", map[string]any{"axis": nil}, nil, "attribute", "needs a value; it is an integer"}, // R.25
		{"numpy.take_along_axis", map[string]any{"axes": nil}, nil, "attribute", "has no attribute axes; did you mean axis?"},
		{"numpy.take_along_axis", map[string]any{"axis": json.Number("1.5")}, nil, "attribute", "cannot be 1.5; it is an integer"},
		{"torch.gather", map[string]any{"sparse_grad": 2}, nil, "attribute", "torch.gather's sparse_grad cannot be 2; it is a bool"},
		{"numpy.take", map[string]any{"mode": []int64{1}}, nil, "attribute", "numpy.take's mode cannot be [1]; it is a string"},
		{"numpy.take", map[string]any{"axis": true}, nil, "attribute", "numpy.take's axis cannot be true; it is an integer"},
		{"stablehlo.gather", map[string]any{"slice_sizes": 1}, nil, "attribute", "stablehlo.gather's slice_sizes cannot be 1; it is a list of integers"},
		{"openvino.Gather-8", nil, nil, "attribute", "openvino.Gather-8 needs its input axis"},
		{"stablehlo.dynamic_gather", nil, nil, "attribute", "needs its input slice_sizes"},
		{"stablehlo.dynamic_gather", map[string]any{"slice_sizes": []int64{1}}, []operators.Input{number(t, "[2]")}, "attribute", "slice_sizes was given twice"},
		{"onnx.Gather-13", nil, []operators.Input{number(t, "1")}, "attribute", "onnx.Gather-13 takes 2 inputs; 3 were given"},
		{"openvino.Gather-8", nil, []operators.Input{number(t, "1"), number(t, "f32(1)")}, "attribute", "openvino.Gather-8 takes 3 inputs; 4 were given"},
		{"openvino.Gather-8", nil, []operators.Input{number(t, "[1,2]")}, "rank", "axis is i64[2]; it must be one element"},
		{"openvino.Gather-8", nil, []operators.Input{vague("i64[2..]")}, "rank", "axis is i64[2..]; it must be one element"},
		{"openvino.Gather-8", nil, []operators.Input{vague("i64[...2..3]")}, "rank", "it must be a scalar or one element"},
		{"tensorflow.GatherV2", nil, []operators.Input{number(t, "[1]")}, "rank", "tensorflow.GatherV2's axis is i64[1]; it must be a scalar"},
		{"stablehlo.dynamic_gather", nil, []operators.Input{number(t, "1")}, "rank", "slice_sizes is i64[]; it must be a vector"},
		{"stablehlo.dynamic_gather", nil, []operators.Input{vague("i64[...2..3]")}, "rank", "it must be a vector"},

		// Of several, the first class is told: dtype, then attribute, then shape.
		{"openvino.Gather-8", map[string]any{"nothing": 1}, []operators.Input{number(t, "f32[1,2]"), number(t, "1")}, "dtype", "openvino.Gather-8's axis is f32; it must be an integer"},
		{"openvino.Gather-8", map[string]any{"nothing": 1}, []operators.Input{number(t, "[1,2]")}, "attribute", "has no attribute nothing"},
		{"openvino.Gather-8", map[string]any{"batch_dims": 1, "a": 1, "b": 1}, []operators.Input{number(t, "1")}, "attribute", "has no attribute a"},
	} {
		_, err := find(t, tt.op).Bind(tt.attributes, tt.inputs...)
		ruletest.Refused(t, err, tt.refuse, tt.message)
	}
}

func TestNew(t *testing.T) {
	for _, tt := range []struct {
		op     string
		values map[string]any
		want   garner.Op
	}{
		{"openvino.Gather-8", nil, openvino.Gather8{}},
		{"openvino.Gather-8", map[string]any{"axis": int64(-1), "batch_dims": int64(1)}, openvino.Gather8{Axis: -1, BatchDims: 1}},
		{"tensorflow.GatherV2", map[string]any{"axis": 2}, tensorflow.GatherV2{Axis: 2}},
		{"torch.gather", map[string]any{"axis": int64(1)}, torch.Gather{Dim: 1}},
		{"torch.gather", map[string]any{"dim": int64(1)}, torch.Gather{Dim: 1}},
		{"numpy.take", nil, numpy.Take{}},
		{"stablehlo.dynamic_gather", map[string]any{"slice_sizes": []int64{1, 2}}, stablehlo.DynamicGather{SliceSizes: []int{1, 2}}},
	} {
		if got, err := find(t, tt.op).New(tt.values); err != nil || !reflect.DeepEqual(got, tt.want) {
			t.Errorf("%s with %v: %+v, %v; want %+v", tt.op, tt.values, got, err, tt.want)
		}
	}
	for _, tt := range []struct {
		op      string
		values  map[string]any
		message string
	}{
		{"openvino.Gather-8", map[string]any{"axis": "first"}, `openvino.Gather-8's axis cannot be "first"; it is an integer`},
		{"stablehlo.dynamic_gather", nil, "stablehlo.dynamic_gather needs its input slice_sizes"},
		{"torch.take", map[string]any{"axis": 0}, "torch.take has no attribute axis"},
		{"torch.embedding", map[string]any{"dim": 0}, "torch.embedding has no attribute dim; it has padding_idx"},
	} {
		_, err := find(t, tt.op).New(tt.values)
		ruletest.Refused(t, err, "attribute", tt.message)
	}
}

// TestCopies holds which operators compute what they give: those of bags and of stored
// elements. A policy changes nothing.
func TestCopies(t *testing.T) {
	var computing []string
	for _, o := range operators.All() {
		copies := garner.Copies(o.Zero)
		if garner.Copies(garner.WithNegative(o.Zero, garner.FromEnd)) != copies {
			t.Errorf("%s: its policy changes whether it copies", o.Name)
		}
		if !copies {
			computing = append(computing, o.Name)
		} else if len(o.Further()) > 0 {
			t.Errorf("%s copies, and takes %v", o.Name, o.Further())
		}
	}
	slices.Sort(computing)
	want := strings.Fields(`com.microsoft.GatherBlockQuantized-1 gguf.dequantize gguf.get_rows
		openvino.EmbeddingBagOffsets-15 openvino.EmbeddingBagOffsetsSum-3 openvino.EmbeddingBagPacked-15 openvino.EmbeddingBagPackedSum-3
		openvino.EmbeddingSegmentsSum-3 openvino.compressed-gather
		tensorflow.embedding_lookup_sparse tensorflow.safe_embedding_lookup_sparse
		tensorflow.sparse_segment_mean tensorflow.sparse_segment_sqrtn tensorflow.sparse_segment_sum
		tflite.hybrid-embedding-lookup torch.embedding_bag torch.quantized_embedding torch.quantized_embedding_bag torch.quantized_embedding_unpack`)
	if !slices.Equal(computing, want) {
		t.Errorf("%v compute, want %v", computing, want)
	}
}
