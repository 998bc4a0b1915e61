package lint

import (
	"slices"
	"strings"

	"github.com/garner-go/garner"
)

// A Runtime is a system that runs models.
type Runtime string

// The runtimes that rules cover.
const (
	OpenVINO    Runtime = "openvino"
	ONNXRuntime Runtime = "onnxruntime"
	TensorFlow  Runtime = "tensorflow"
	Torch       Runtime = "torch"
	JAX         Runtime = "jax"
	WebNN       Runtime = "webnn"
	LiteRT      Runtime = "litert"
	XLA         Runtime = "xla"
)

// runtimes lists all runtimes with their display name, the recorded version, and
// the dialects of package operators that they run.
var runtimes = []struct {
	Runtime
	name     string
	recorded string
	dialects []string
}{
	{OpenVINO, "OpenVINO", "openvino 2026.4.1 CPU", []string{"openvino"}},
	{ONNXRuntime, "ONNX Runtime", "onnxruntime 1.31.1 CPU", []string{"onnx", "com.microsoft"}},
	{TensorFlow, "TensorFlow", "tensorflow 2.21.0 CPU", []string{"tensorflow"}},
	{Torch, "PyTorch", "torch 2.15.0 CPU", []string{"torch"}},
	{JAX, "JAX", "jax 0.10.2 CPU (x64 on)", []string{"jax"}},
	{WebNN, "WebNN", "", []string{"webnn"}}, // its cases come from web-platform-tests
	{LiteRT, "LiteRT", "tf.lite 2.21.0 CPU", []string{"tflite"}},
	{XLA, "XLA", "xla of jax 0.10.2 CPU", []string{"stablehlo"}},
}

// AllRuntimes lists every runtime.
func AllRuntimes() []Runtime {
	var list []Runtime
	for _, r := range runtimes {
		list = append(list, r.Runtime)
	}
	return list
}

// Name gives the display name: ONNX Runtime.
func (r Runtime) Name() string {
	for _, of := range runtimes {
		if of.Runtime == r {
			return of.name
		}
	}
	return string(r)
}

// Recorded gives the version whose answers were recorded; "" where the cases come
// from published tests.
func (r Runtime) Recorded() string {
	for _, of := range runtimes {
		if of.Runtime == r {
			return of.recorded
		}
	}
	return ""
}

// runtimeOf gives the runtime of an operator; "" where rules cover none.
func runtimeOf(operator string) Runtime {
	for _, of := range runtimes {
		for _, d := range of.dialects {
			if strings.HasPrefix(operator, d+".") {
				return of.Runtime
			}
		}
	}
	return ""
}

func runtimesOf(evidence []Evidence) []Runtime {
	var list []Runtime
	for _, r := range runtimes {
		if slices.ContainsFunc(evidence, func(e Evidence) bool { return e.Runtime() == r.Runtime }) {
			list = append(list, r.Runtime)
		}
	}
	return list
}

// An Answer says what a runtime does, as a verb and its object.
type Answer string

// The answers that were recorded.
const (
	Takes         Answer = "takes it"
	Refuses       Answer = "refuses it"
	Counts        Answer = "counts it from the end"
	Zeros         Answer = "writes zeros"
	Fills         Answer = "writes NaN, or its type's fill value"
	Clamps        Answer = "takes the nearest position"
	ReadsOther    Answer = "reads other memory"
	LeavesUnset   Answer = "leaves the result's memory as it was"
	Narrows       Answer = "computes it in 32 bits"
	Misplaces     Answer = "reads the wrong elements"
	Ends          Answer = "ends the process"
	Cuts          Answer = "loses every string of a slice but the first"
	Stretches     Answer = "stretches data's batch dim of 1"
	Repeats       Answer = "repeats it"
	Flattens      Answer = "multiplies the batch dims into one"
	Keeps         Answer = "keeps every batch dim"
	Shortens      Answer = "gives only the rows that there are"
	Slices        Answer = "takes a slice whose end counts from the end: other rows, or none"
	GivesElements Answer = "makes a scalar 0 of it, and gives elements where there are none"
	Halts         Answer = "refuses it; on one thread it stops there without an error, the rest unset"
	Sorts         Answer = "adds each term to its segment wherever it stands, and leaves out a term of no segment"
	OtherBatch    Answer = "reads a row of another batch"
	Spreads       Answer = "takes each batch of data for as many batches of the indices in a row"
)

// An Evidence says what one operator of a runtime does.
type Evidence struct {
	Operator string // its name in package operators
	Answer   Answer
	DType    garner.DType // of data or of the indices, where the answer depends on it
	Run      string       // the mode that the case ran in, where it is not the default: "tf.function, XLA"
	Case     string       // the case in testdata/conformance, or where it begins with "lint-" in lint/testdata; "" where nothing is recorded
	Source   string       // the source of the claim, where nothing is recorded
}

// Runtime gives the runtime of the operator.
func (e Evidence) Runtime() Runtime { return runtimeOf(e.Operator) }

// Who gives the runtime's name with the mode that it ran in: TensorFlow (XLA).
func (e Evidence) Who() string {
	name := e.Runtime().Name()
	if e.Run != "" {
		name += " (" + strings.TrimPrefix(e.Run, "tf.function, ") + ")"
	}
	return name
}

// String gives the case, or says that nothing is recorded.
func (e Evidence) String() string {
	if e.Case != "" {
		return e.Case
	}
	return "not recorded: " + e.Source
}

// Modes other than the default.
const (
	xla      = "tf.function, XLA"
	unknown  = "tf.function, unknown shapes"
	dynamic  = "dynamic dimensions"
	fromONNX = "reading ONNX"

	fromTFLite  = "reading TFLite"
	fromTF      = "reading TensorFlow"
	ignoring    = "bad_indices_policy IGNORE"
	static      = "static dims"
	openRank    = "data of open rank"
	shortVector = "a vector of up to 64 integers" // which has a path of its own, without checks
	folding     = "all operands constant"         // it is computed before the first run, and not by the CPU plugin
	unoptimised = "no optimisation"
	byDefault   = "default level"
)

// recorded makes evidence from a recorded case.
func recorded(operator string, answer Answer, name string) Evidence {
	return Evidence{Operator: operator, Answer: answer, Case: name}
}

// in gives the same evidence in another mode.
func (e Evidence) in(run string) Evidence {
	e.Run = run
	return e
}

// typed makes evidence from cases of one operator that differ in the dtype only.
// A case's name is prefix and the dtype's name in the corpora.
func typed(operator string, answer Answer, prefix string, dtypes ...garner.DType) []Evidence {
	var list []Evidence
	for _, d := range dtypes {
		list = append(list, Evidence{Operator: operator, Answer: answer, DType: d, Case: prefix + corpusNames[d]})
	}
	return list
}

// unrecorded makes evidence for dtypes that no case covers, from another source.
func unrecorded(operator string, answer Answer, source string, dtypes ...garner.DType) []Evidence {
	var list []Evidence
	for _, d := range dtypes {
		list = append(list, Evidence{Operator: operator, Answer: answer, DType: d, Source: source})
	}
	return list
}

// corpusNames has the dtypes' names in the names of cases.
var corpusNames = map[garner.DType]string{
	garner.String: "string", garner.U1: "uint1", garner.U2: "uint2", garner.F4E2M1: "float4-e2m1fn",
	garner.I4: "int4", garner.U4: "uint4", garner.I8: "int8", garner.I16: "int16", garner.I32: "int32",
	garner.U8: "uint8", garner.U16: "uint16", garner.U32: "uint32", garner.U64: "uint64", garner.BF16: "bfloat16",
	garner.Complex64: "complex64", garner.Complex128: "complex128",
	garner.F8E4M3FN: "float8-e4m3fn", garner.F8E5M2: "float8-e5m2", garner.F8E8M0: "float8-e8m0fnu",
}
