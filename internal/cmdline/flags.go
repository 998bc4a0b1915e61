package cmdline

import (
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/garner-go/garner"
	"github.com/garner-go/garner/files"
	"github.com/garner-go/garner/operators"
	"github.com/spf13/cobra"
)

// A Command is one of the three kinds of gather commands. They differ in their operators
// and in the numbers that those take, and share all else.
type Command struct {
	Kind            operators.Kind
	Short           string
	axis, batchDims bool
}

// Commands are all kinds of gather commands.
var Commands = []Command{
	{Kind: operators.Gather, axis: true, batchDims: true, Short: "Take slices along one axis, at the positions of the indices"},
	{Kind: operators.GatherND, batchDims: true, Short: "Take slices at the tuples along the last axis of the indices"},
	{Kind: operators.Elements, axis: true, Short: "Take one element per index; the result has the shape of INDICES"},
}

// OperandsHelp says what DATA and INDICES may be, but for standard input; FurtherHelp says
// the same of further operands.
const (
	OperandsHelp = `DATA and INDICES are literals or files:
  '[[1,2],[3,4]]'           integers are i64, decimals f64; true and false are bool,
                            quoted text is string; 'f32[1,2]' and 'u8(3)' name a type
  0:100, 0:100:2, 9:-1:-1   the integers from the first on and before the second, by
                            steps of the third, as Python's range
  FILE.npy
  FILE.npz#NAME             the array NAME
  FILE.safetensors#NAME     the tensor NAME; MODEL.safetensors.index.json#NAME finds
                            it in any of the model's files
  FILE.gguf#NAME            the tensor NAME; quantised ones as f32, or as blocks with
                            --raw and for --as gguf.get_rows and gguf.dequantize
  FILE.onnx#NAME            the constant NAME of a model; also FILE.xml#NAME,
                            FILE.tflite#NAME, FILE.mlir#NAME
                            #NAME may be omitted if a file holds one array
  FILE.raw, FILE.bin        elements without a header: give --dtype, --shape, --offset
  'part-*.npy'              files joined along axis 0, part-2 before part-10
  FOLDER                    shards of one array, by its manifest.json; or that file
  FILE.txt, FILE.csv        integers as text, one on a line, or several with commas
                            between them, which give rank 2; or a literal
`
	FurtherHelp = `Some operators of gather take further operands: the offsets, segments and weights of
bags, the scales and zero points of codes. Give each as --operand NAME=VALUE, where
VALUE is a literal or a file as above; "garner ops OP" names them. A literal without a
type has the type that the operator takes.
`
)

// Flags are the flags that say what to gather, and how.
type Flags struct {
	Operator      OperatorFlags
	Policy        PolicyFlags
	to            toFlag
	Data, indices ArrayFlags
	further       FurtherFlags
}

// Add adds all of the flags but --to, which stands apart in a help.
func (f *Flags) Add(cmd *cobra.Command, k Command) {
	f.Operator.Add(cmd, " (default garner's own)", k.Kind)
	flags := cmd.Flags()
	// Every gather parses both, so that an operator that lacks one refuses it by
	// name; help shows those that the command's operators take.
	flags.Var(&f.Operator.Axis, "axis", "the axis of DATA; negative from the end (default 0)")
	flags.Var(&f.Operator.BatchDims, "batch-dims", "how many leading dims DATA and INDICES share (default 0)")
	flags.Lookup("axis").Hidden = !k.axis
	flags.Lookup("batch-dims").Hidden = !k.batchDims
	f.Policy.Add(cmd)
	if k.Kind == operators.Gather {
		f.further.Add(cmd, "FILE|LITERAL", "offsets=[0,2]")
	}
	f.Data.Add(cmd, "")
	f.indices.Add(cmd, "indices-")
}

// AddTo adds --to.
func (f *Flags) AddTo(cmd *cobra.Command) {
	cmd.Flags().Var(&f.to, "to", "convert DATA of any float type to `TYPE`: f32, f16, bf16 or f64; NAME=TYPE converts a further operand (default: as they are)")
	Complete(cmd, "to", toTypes...)
}

// TwoOperands refuses other arguments than DATA and INDICES, or than DATA where the operator
// takes it alone.
func TwoOperands(cmd *cobra.Command, args []string) error {
	if as := cmd.Flag("as"); as != nil {
		if o, err := operators.Find(as.Value.String(), 0); err == nil && !garner.TakesIndices(o.Zero) {
			if len(args) == 1 {
				return nil
			}
			return Usage(cmd, "%s takes DATA alone; %d arguments were given", o.Name, len(args))
		}
	}
	if len(args) == 2 {
		return nil
	}
	given := fmt.Sprintf("%d arguments were given", len(args))
	switch {
	case len(args) == 1:
		given = "1 argument was given"
	case len(args) > 2:
		given += "; put a literal in quotes, such as '[[1, 2], [3, 4]]'"
	}
	return Usage(cmd, "%s takes DATA and INDICES; %s", commandName(cmd), given)
}

// A DTypeFlag is the value of a flag that names a dtype.
type DTypeFlag garner.DType

// String is the value as it was given; "" where none is.
func (d *DTypeFlag) String() string {
	if d == nil || garner.DType(*d) == garner.Invalid {
		return ""
	}
	return garner.DType(*d).String()
}

// Set parses a value.
func (d *DTypeFlag) Set(text string) error {
	parsed, err := garner.ParseDType(text)
	if err != nil {
		return errors.New(Bare(err))
	}
	*d = DTypeFlag(parsed)
	return nil
}

// Type names the value in a help.
func (d *DTypeFlag) Type() string { return "TYPE" }

// A toFlag is the value of --to: a dtype that source.Convert converts DATA to, and those
// of further operands by their names.
type toFlag struct {
	DTypeFlag
	operands map[string]garner.DType
}

var toTypes = []string{"f32", "f16", "bf16", "f64"}

func (f *toFlag) Set(text string) error {
	name, dtype, operand := strings.Cut(text, "=")
	if !operand {
		dtype = text
	}
	var to DTypeFlag
	if err := to.Set(dtype); err != nil || !slices.Contains(toTypes, to.String()) {
		return errors.New("give f32, f16, bf16 or f64, or NAME= and one of them for a further operand")
	}
	switch {
	case !operand:
		f.DTypeFlag = to
	case f.operands == nil:
		f.operands = map[string]garner.DType{name: garner.DType(to)}
	default:
		f.operands[name] = garner.DType(to)
	}
	return nil
}

// check refuses the names of operands that an operator does not take, and a conversion of
// blocks of a .gguf.
func (f *toFlag) check(o operators.Operator) error {
	if f.String() != "" && strings.HasPrefix(o.Name, "gguf.") {
		return Wrong("--to %s: %s takes the blocks of DATA, which are bytes, and its result is f32; without --as the numbers of a .gguf are converted", f, o.Name)
	}
	for _, name := range slices.Sorted(maps.Keys(f.operands)) {
		switch takes := o.Further(); {
		case slices.Contains(takes, name):
		case len(takes) == 0:
			return Wrong("--to %s=%s: %s takes no operand beyond DATA and INDICES", name, f.operands[name], o.Name)
		default:
			return Wrong("--to %s=%s: %s takes %s", name, f.operands[name], o.Name, strings.Join(takes, ", "))
		}
	}
	return nil
}

// convert has DATA converted where --to asks for it.
func (f *toFlag) convert(data *files.Input) error {
	if f.String() == "" {
		return nil
	}
	if err := data.Convert(garner.DType(f.DTypeFlag)); err != nil {
		return About(OperandRoles[0]+": ", err)
	}
	return nil
}

// ArrayFlags describe the file of DATA or INDICES if its format does not.
type ArrayFlags struct {
	DType  DTypeFlag
	shape  shapeFlag
	offset Number
	raw    bool

	lenient bool // of a model
}

// Add adds the flags of DATA or, with a prefix, those of INDICES.
func (a *ArrayFlags) Add(cmd *cobra.Command, prefix string) {
	flags := cmd.Flags()
	say := map[string]string{
		"dtype":  "the type of a literal DATA, of a .raw or .bin file, or of untyped bytes in a .npy (V1, V2), such as bf16",
		"shape":  "the shape of a .raw or .bin DATA, such as 1000,256 or ?,256",
		"offset": "bytes before the first element of a .raw or .bin DATA (default 0)",
	}
	if prefix != "" {
		for name := range say {
			say[name] = "the same for INDICES"
		}
	}
	flags.Var(&a.DType, prefix+"dtype", say["dtype"])
	flags.Var(&a.shape, prefix+"shape", say["shape"])
	flags.Var(&a.offset, prefix+"offset", say["offset"])
	if prefix == "" {
		flags.BoolVar(&a.raw, "raw", false, "read the blocks of a quantised DATA in a .gguf as u8, instead of its numbers")
		AddLenient(cmd, &a.lenient)
	}
	var dtypes []string
	for _, d := range garner.DTypes() {
		dtypes = append(dtypes, d.String())
	}
	Complete(cmd, prefix+"dtype", dtypes...)
}

// AddLenient adds the flag of commands that read models, or constants of them.
func AddLenient(cmd *cobra.Command, lenient *bool) {
	cmd.Flags().BoolVar(lenient, "lenient", false, "accept text of a .xml model that OpenVINO refuses if it has one sensible meaning")
}

// Options returns the options by which package files opens the operand.
func (a *ArrayFlags) Options() files.Options {
	return files.Options{DType: garner.DType(a.DType), Shape: a.shape, Offset: a.offset.Value, Raw: a.raw, Lenient: a.lenient}
}

// Misread is the usage error of blocks that --raw reads as bytes, where an operator would
// take the bytes for numbers, or for elements that are stored in another form.
func (a *ArrayFlags) Misread(o operators.Operator, op garner.Op, data garner.Spec) error {
	if !a.raw || data.DType != garner.U8 || strings.HasPrefix(o.Name, "gguf.") || garner.Copies(op) {
		return nil
	}
	return Wrong("--raw gives the bytes of DATA's blocks, and %s would compute with them as with numbers; leave --raw out, or decode the blocks by --as gguf.get_rows", o.Name)
}

// A shapeFlag is the value of a flag that gives extents.
type shapeFlag []int

func (s *shapeFlag) String() string {
	if s == nil || *s == nil {
		return ""
	}
	return strings.ReplaceAll(garner.Shape(*s).String(), "-1", "?")
}

func (s *shapeFlag) Set(text string) (err error) {
	if *s, err = files.ParseShape(text); err != nil {
		return errors.New(Bare(err))
	}
	return nil
}

func (s *shapeFlag) Type() string { return "SHAPE" }

// CommandNames are the names of Commands.
func CommandNames() []string {
	var names []string
	for _, k := range Commands {
		names = append(names, string(k.Kind))
	}
	return names
}
