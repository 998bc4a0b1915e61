package flatbuffer

import (
	"fmt"

	"github.com/garner-go/garner"
)

// A kind says how a field of an operator's options is read.
type kind int

const (
	number     kind = iota // i32
	small                  // i8
	flag                   // bool
	list                   // i32s
	dtype                  // a TensorType, as the name of garner's dtype
	activation             // an ActivationFunctionType, by its name
	float                  // f32
	wide                   // i64
	wideList               // i64s
	subgraph               // an i32 that is the number of a subgraph: a sub-graph of the node, and no attribute
	subgraphs              // i32s that are
)

// An option is a field of an operator's options.
type option struct {
	name  string
	field int // its number in the schema
	kind  kind
}

// options are the options of an operator that the reader knows: their number in the
// union that has them, of which there are two, and their fields.
type options struct {
	union  int // 1 or 2
	number uint8
	fields []option
}

func of(number uint8, fields ...option) options { return options{1, number, fields} }

func of2(number uint8, fields ...option) options { return options{2, number, fields} }

var (
	fused     = option{"fused_activation_function", 0, activation}
	reduction = []option{{"keep_dims", 0, flag}}
)

// known has the options of the operators that gather, of those around gathers, and of those that
// have subgraphs. The options of all others are left out.
var known = map[string]options{
	"GATHER":                  of(23, option{"axis", 0, number}, option{"batch_dims", 1, number}),
	"EMBEDDING_LOOKUP_SPARSE": of(20, option{"combiner", 0, small}),
	"CONCATENATION":           of(10, option{"axis", 0, number}, option{"fused_activation_function", 1, activation}),
	"ADD":                     of(11, fused),
	"MUL":                     of(21, fused),
	"SUB":                     of(28, fused),
	"DIV":                     of(29, fused),
	"RESHAPE":                 of(17, option{"new_shape", 0, list}),
	"SQUEEZE":                 of(30, option{"squeeze_dims", 0, list}),
	"STRIDED_SLICE": of(32, option{"begin_mask", 0, number}, option{"end_mask", 1, number}, option{"ellipsis_mask", 2, number},
		option{"new_axis_mask", 3, number}, option{"shrink_axis_mask", 4, number}, option{"offset", 5, flag}),
	"SPLIT":        of(35, option{"num_splits", 0, number}),
	"SPLIT_V":      of(79, option{"num_splits", 0, number}),
	"CAST":         of(37, option{"in_data_type", 0, dtype}, option{"out_data_type", 1, dtype}),
	"ARG_MAX":      of(40, option{"output_type", 0, dtype}),
	"ARG_MIN":      of(57, option{"output_type", 0, dtype}),
	"SHAPE":        of(55, option{"out_type", 0, dtype}),
	"PACK":         of(59, option{"values_count", 0, number}, option{"axis", 1, number}),
	"UNPACK":       of(64, option{"num", 0, number}, option{"axis", 1, number}),
	"MIRROR_PAD":   of(77, option{"mode", 0, small}),
	"ONE_HOT":      of(61, option{"axis", 0, number}),
	"BATCH_MATMUL": of(101, option{"adj_x", 0, flag}, option{"adj_y", 1, flag}),
	"UNIQUE":       of(80, option{"idx_out_type", 0, dtype}),
	"CUMSUM":       of(102, option{"exclusive", 0, flag}, option{"reverse", 1, flag}),
	"SUM":          of(27, reduction...),
	"MEAN":         of(27, reduction...),
	"REDUCE_PROD":  of(27, reduction...),
	"REDUCE_MAX":   of(27, reduction...),
	"REDUCE_MIN":   of(27, reduction...),
	"REDUCE_ANY":   of(27, reduction...),
	"REDUCE_ALL":   of(27, reduction...),

	"IF":        of(92, option{"then_subgraph", 0, subgraph}, option{"else_subgraph", 1, subgraph}),
	"WHILE":     of(93, option{"cond_subgraph", 0, subgraph}, option{"body_subgraph", 1, subgraph}),
	"CALL_ONCE": of(103, option{"init_subgraph", 0, subgraph}),
	"CALL":      of(16, option{"subgraph", 0, subgraph}),

	"STABLEHLO_COMPOSITE": of2(21, option{"decomposition_subgraph", 1, subgraph}),
	"STABLEHLO_WHILE":     of2(15, option{"cond_subgraph", 0, subgraph}, option{"body_subgraph", 1, subgraph}),
	"STABLEHLO_CASE":      of2(23, option{"branch_subgraphs", 0, subgraphs}),
	"STABLEHLO_REDUCE":    of2(6, option{"body_subgraph", 1, subgraph}),

	"STABLEHLO_REDUCE_WINDOW": of2(13, option{"body_subgraph", 5, subgraph}),
	"STABLEHLO_SORT":          of2(14, option{"comparator_subgraph", 2, subgraph}),
	"STABLEHLO_SCATTER":       of2(7, option{"update_computation_subgraph", 6, subgraph}),
	"STABLEHLO_GATHER": of2(16, option{"offset_dims", 0, wideList}, option{"collapsed_slice_dims", 1, wideList}, option{"start_index_map", 2, wideList},
		option{"index_vector_dim", 3, wide}, option{"slice_sizes", 4, wideList}, option{"indices_are_sorted", 5, flag}),
}

// activations are the functions that an operator may have behind it, by their numbers.
var activations = []string{"NONE", "RELU", "RELU_N1_TO_1", "RELU6", "TANH", "SIGN_BIT"}

// optionsOf gives the table of an operator's options; one that is not there where the
// operator has none, or those of another, which the Interpreter does not look at: all
// have their defaults.
func optionsOf(o table, known options) table {
	number, field := 3, 4
	if known.union == 2 {
		number, field = 11, 12
	}
	if o.u8(number, 0) != known.number {
		return table{flat: o.flat}
	}
	return o.sub(field, "options")
}

// attributes reads the options of an operator that are no subgraphs.
func (r *reader) attributes(o table, op string) map[string]any {
	known, ok := known[op]
	if !ok {
		return nil
	}
	t := optionsOf(o, known)
	all := make(map[string]any)
	for _, f := range known.fields {
		switch f.kind {
		case number:
			all[f.name] = int64(t.i32(f.field))
		case small:
			all[f.name] = int64(t.i8(f.field))
		case flag:
			all[f.name] = t.flag(f.field)
		case list, wideList:
			width := 4
			if f.kind == wideList {
				width = 8
			}
			v := t.vector(f.field, "option "+f.name, width)
			if v.n > garner.MaxRank {
				t.failf("the option %s has %d numbers; a tensor has at most %d dims", f.name, v.n, garner.MaxRank)
				return nil
			}
			if f.kind == wideList {
				all[f.name] = v.list64()
			} else if v.n > 0 {
				all[f.name] = v.list32()
			}
			r.spend(8 * v.n)
		case dtype:
			if d := dtypeOf(t.u8(f.field, 0)); d != garner.Invalid {
				all[f.name] = d.String()
			}
		case activation:
			n := int(t.u8(f.field, 0))
			if n >= len(activations) {
				t.failf("it has the activation function %d, and there are %d", n, len(activations))
				return nil
			}
			if n > 0 {
				all[f.name] = activations[n]
			}
		case float:
			all[f.name] = float64(t.f32(f.field))
		case wide:
			all[f.name] = int64(t.u64(f.field))
		}
	}
	r.spend(attributeBytes * len(all))
	return all
}

// A reference is a subgraph that an operator refers to.
type reference struct {
	name   string // of the option: then_subgraph
	number int
}

// references lists the subgraphs that an operator refers to. A number below 0 is none.
func (r *reader) references(o table, op string) []reference {
	known, ok := known[op]
	if !ok {
		return nil
	}
	var all []reference
	t := optionsOf(o, known)
	add := func(name string, n int32) {
		if n >= 0 && t.there() {
			all = append(all, reference{name, int(n)})
		}
	}
	for _, f := range known.fields {
		switch f.kind {
		case subgraph:
			add(f.name, t.i32(f.field))
		case subgraphs:
			v := t.vector(f.field, "option "+f.name, 4)
			r.spend(16 * v.n)
			for i := 0; i < v.n && r.err == nil; i++ {
				add(f.name, v.i32(i))
			}
		}
	}
	return all
}

// dtypes are garner's dtypes by the numbers of TensorType: Invalid for RESOURCE and
// VARIANT, which are no tensors.
var dtypes = []garner.DType{
	garner.F32, garner.F16, garner.I32, garner.U8, garner.I64, garner.String, garner.Bool, garner.I16, garner.Complex64, garner.I8, garner.F64,
	garner.Complex128, garner.U64, garner.Invalid, garner.Invalid, garner.U32, garner.U16, garner.I4, garner.BF16, garner.I2, garner.U4,
}

// dtypeOf gives the dtype of a TensorType; Invalid for one that garner lacks.
func dtypeOf(number uint8) garner.DType {
	if int(number) >= len(dtypes) {
		return garner.Invalid
	}
	return dtypes[number]
}

// code reads an operator code: the name of the operator, the domain of a custom one, and
// the version. A number that this garner does not know is no error: such an operator is
// one that it does not run.
func (r *reader) code(c table) code {
	// Numbers from 127 on are in a later field; the first field is the greater where the
	// file is older than that field.
	n := max(int(c.i8(0)), int(c.i32(3)))
	made := code{version: int(c.number32(2, 1))}
	switch {
	case n == custom:
		made.op, made.domain = r.string(c, 1), "custom"
		if made.op == "" {
			made.op = "CUSTOM"
		}
	case n < 0 || n >= len(builtins):
		made.op = fmt.Sprint("BUILTIN_", n)
	default:
		made.op = builtins[n]
	}
	return made
}

// A code says which operator a node is.
type code struct {
	op, domain string
	version    int
}

// custom is the number of operators that have a name instead.
const custom = 32
