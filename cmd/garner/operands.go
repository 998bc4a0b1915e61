package main

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"math"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"

	"github.com/garner-go/garner"
	"github.com/garner-go/garner/files"
	"github.com/garner-go/garner/internal/limits"
	"github.com/garner-go/garner/internal/literal"
	"github.com/garner-go/garner/internal/names"
	"github.com/garner-go/garner/internal/terminal"
	"github.com/garner-go/garner/internal/units"
	"github.com/garner-go/garner/operators"
	"github.com/spf13/cobra"
)

// stdinPath is the name of standard input, on systems that have one. It lets
// garner see that an output is the file it reads, and that two operands are one pipe.
const stdinPath = "/dev/stdin"

// An operand is DATA, INDICES, TABLE or an --input as the command line has it.
// It is parsed once, by parseOperand.
type operand struct {
	kind operandKind
	text string
	file files.Operand // of kindFile
	err  error         // of kindUnreadable, where more is known than that
}

// An operandKind is one of the meanings of an operand.
type operandKind int

const (
	kindUnreadable operandKind = iota // matches no other kind
	kindLiteral
	kindStdin
	kindFile
)

func parseOperand(text string) operand {
	if text == "-" {
		return operand{kind: kindStdin, text: text}
	}
	if literal.IsLiteral(text) {
		return operand{kind: kindLiteral, text: text}
	}
	if strings.HasPrefix(text, "-#") {
		return operand{text: text, err: namedStdin(text)}
	}
	f, err := files.Parse(text)
	switch {
	case err == nil:
		return operand{kind: kindFile, text: text, file: f}
	case errors.Is(err, files.ErrUnknown):
		err = nil
	}
	return operand{text: text, err: err}
}

// namedStdin is the error of -#NAME.
func namedStdin(text string) error {
	return garner.Errorf(garner.ErrAttribute, "%s: standard input holds one array, which has no name; leave %s out", text, text[1:])
}

// parseOperands parses DATA and INDICES, and refuses what cannot be an operand
// before any of them is opened.
func parseOperands(args []string) (operands [2]operand, err error) {
	for i := range args {
		operands[i] = parseOperand(unshielded(args[i]))
	}
	if operands[0].kind == kindStdin && operands[1].kind == kindStdin {
		return operands, wrong("DATA and INDICES cannot both be -, there is one standard input; put one of them in a file")
	}
	if onePipe(operands[0], operands[1]) {
		return operands, readOnce(operandRoles[0], operands[0], operandRoles[1], operands[1])
	}
	for i, o := range operands[:len(args)] {
		role := operandRoles[i]
		switch {
		case o.text == "":
			return operands, wrong("%s is empty; give a literal such as '[1, 2]', a file, or - for standard input", role)
		case o.kind == kindUnreadable:
			return operands, unreadable(role, o)
		case o.kind == kindFile && o.file.NeedsName():
			return operands, nameless(role, o)
		}
	}
	return operands, nil
}

// nameless is the error of an operand that names a file of several tensors alone.
func nameless(role string, o operand) error {
	if o.file.Path != o.text {
		return wrong("%s %s names no tensor; put its name after the #", role, o.text)
	}
	return wrong("%s %s names no tensor: write %s#NAME%s", role, o.text, o.text, tensorsOf(o.file))
}

// onePipe reports whether two operands name one pipe, such as - and /dev/stdin: the second
// would find nothing in it. A pipe that has a name of its own may be filled twice.
func onePipe(a, b operand) bool {
	x, y := pipeOf(a), pipeOf(b)
	if x == nil || y == nil || !os.SameFile(x, y) {
		return false
	}
	_, err := filepath.EvalSymlinks(a.file.Path)
	return err != nil || a.kind == kindStdin || b.kind == kindStdin
}

// pipeOf is the pipe or the socket that an operand reads; nil of what is none.
func pipeOf(o operand) os.FileInfo {
	path := o.file.Path
	switch {
	case o.kind == kindStdin:
		path = stdinPath
	case o.kind != kindFile || o.file.IsURL():
		return nil
	}
	info, err := os.Stat(path)
	if err != nil || info.Mode()&(fs.ModeNamedPipe|fs.ModeSocket) == 0 {
		return nil
	}
	return info
}

// readOnce is the error of two operands that are onePipe.
func readOnce(role string, of operand, otherRole string, other operand) error {
	return wrong("%s %s and %s %s are one pipe, which can be read once; put one of them in a file", role, of.text, otherRole, other.text)
}

// unreadable is the error of an operand of no kind.
func unreadable(role string, o operand) error {
	if o.err != nil {
		return about(role+" ", o.err)
	}
	return wrong("%s %q is neither a literal such as '[1, 2]' nor a file that garner reads: %s, or - for standard input", role, o.text, files.Readable())
}

var operandRoles = [...]string{"DATA", "INDICES"}

// tensorsOf lists the tensors of a file for a message; "" where there are none.
func tensorsOf(f files.Operand) string {
	list, err := f.List(context.Background(), files.Options{})
	if err != nil || len(list) == 0 {
		return ""
	}
	all := make([]string, len(list))
	for i, a := range list {
		all[i] = a.Name
	}
	return "; " + names.First(all)
}

// arrayFlags describe the file of DATA or INDICES if its format does not.
type arrayFlags struct {
	dtype  dtypeFlag
	shape  shapeFlag
	offset number
	raw    bool
}

// add adds the flags of DATA or, with a prefix, those of INDICES.
func (a *arrayFlags) add(cmd *cobra.Command, prefix string) {
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
	flags.Var(&a.dtype, prefix+"dtype", say["dtype"])
	flags.Var(&a.shape, prefix+"shape", say["shape"])
	flags.Var(&a.offset, prefix+"offset", say["offset"])
	if prefix == "" {
		flags.BoolVar(&a.raw, "raw", false, "read the blocks of a quantised DATA in a .gguf as u8, instead of its numbers")
	}
	var dtypes []string
	for _, d := range garner.DTypes() {
		dtypes = append(dtypes, d.String())
	}
	complete(cmd, prefix+"dtype", dtypes...)
}

func (a *arrayFlags) options() files.Options {
	return files.Options{DType: garner.DType(a.dtype), Shape: a.shape, Offset: a.offset.value, Raw: a.raw}
}

// misread is the usage error of blocks that --raw reads as bytes, where an operator would
// take the bytes for numbers, or for elements that are stored in another form.
func (a *arrayFlags) misread(o operators.Operator, op garner.Op, data garner.Spec) error {
	if !a.raw || data.DType != garner.U8 || strings.HasPrefix(o.Name, "gguf.") || garner.Copies(op) {
		return nil
	}
	return wrong("--raw gives the bytes of DATA's blocks, and %s would compute with them as with numbers; leave --raw out, or decode the blocks by --as gguf.get_rows", o.Name)
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
		return errors.New(bare(err))
	}
	return nil
}

func (s *shapeFlag) Type() string { return "SHAPE" }

// endOfInput is the key that ends what is typed into a terminal.
var endOfInput = map[bool]string{true: "Ctrl-Z and Enter", false: "Ctrl-D on a line of its own"}[runtime.GOOS == "windows"]

// open opens an operand of any kind, and has it in memory: as a view of its file
// where it can be one. What is read whole may take no more memory than most.
func (p *program) open(ctx context.Context, role string, from operand, o files.Options, most limits.Bound) (*files.Input, garner.Tensor, error) {
	defer limitHeap(most.Bytes)()
	if from.kind != kindFile && (o.Shape != nil || o.Offset != 0) {
		what := "standard input, of which .npy and text are read"
		if from.kind == kindLiteral {
			what = "a literal"
		}
		return nil, garner.Tensor{}, ofRole(role, garner.Errorf(garner.ErrAttribute, "%s is %s; --shape and --offset are for files without a header, .raw and .bin", role, what))
	}
	switch from.kind {
	case kindStdin:
		if terminal.Is(p.stdin) {
			fmt.Fprintf(p.stderr, "garner: %s: reading what you type: integers, or a literal; %s ends it\n", role, endOfInput)
		}
		var meter *terminal.Meter // none over what is typed
		if !terminal.Is(p.stdin) {
			meter = p.meter("reading", 0)
		}
		o.Memory = max(most.Bytes, 1) // 0 is no limit
		in, err := files.Read(contextReader{ctx, p.stdin, meter}, o)
		meter.Stop()
		if err != nil {
			return nil, garner.Tensor{}, about(role+": ", tooLarge(err, most))
		}
		in.Paths = []string{stdinPath}
		return p.loaded(ctx, role, in, most)
	case kindLiteral:
		if size, ok := rangeBytes(from.text, o.DType); ok && size > float64(most.Bytes) {
			return nil, garner.Tensor{}, garner.Errorf(garner.ErrShape, "%s %s takes %s in memory, and %s; %s",
				role, strings.TrimSpace(from.text), inMemory(size), most, shorter(role))
		}
		t, err := literal.Parse(from.text, o.DType)
		if err != nil {
			return nil, garner.Tensor{}, about(role+": ", err)
		}
		return files.Hold(t), t, nil
	}
	in, err := p.openFile(ctx, role, from.file, o, most)
	if err != nil {
		return nil, garner.Tensor{}, err
	}
	return p.loaded(ctx, role, in, most)
}

// shorter says what to do about a range that is too long.
func shorter(role string) string {
	if isFurther(role) {
		return "give a shorter one"
	}
	return "gather a part of the range at a time"
}

// inMemory is a number of bytes, of which GiB is the largest unit.
func inMemory(size float64) string {
	return units.Of(min(size, units.GiB.Bytes)).Text(size)
}

// rangeBytes returns how many bytes a literal takes that is a range; false for another.
func rangeBytes(text string, dtype garner.DType) (float64, bool) {
	n, ok := literal.Elements(text)
	if dtype == garner.Invalid {
		dtype = garner.I64
	}
	return float64(n) * float64(dtype.Bits()) / 8, ok
}

// rangeSpec is the spec of an operand that is a range of more than fewIndices and takes
// no more memory than most; false of another.
func rangeSpec(from operand, dtype garner.DType, most limits.Bound) (garner.Spec, bool) {
	n, ok := literal.Elements(from.text)
	if from.kind != kindLiteral || !ok || n <= fewIndices || n > math.MaxInt {
		return garner.Spec{}, false
	}
	if dtype == garner.Invalid {
		dtype = garner.I64
	}
	spec := garner.SpecOf(dtype, int(n))
	return spec, spaceOf(spec) <= float64(most.Bytes)
}

// tooLarge adds to the error of an array that takes too much memory what limits it.
func tooLarge(err error, most limits.Bound) error {
	if !errors.Is(err, files.ErrTooLarge) {
		return err
	}
	return &toldError{err.Error() + "; " + most.String(), err}
}

// openFile opens an operand that is a file, or several, and reads no more of it
// than it must. What must be read whole may take no more memory than most.
func (p *program) openFile(ctx context.Context, role string, from files.Operand, o files.Options, most limits.Bound) (*files.Input, error) {
	o.Memory = max(most.Bytes, 1) // 0 is no limit
	var meter *terminal.Meter
	begun := false
	o.Inflated = func(done, total int64) {
		if !begun {
			begun, meter = true, p.meter("inflating", total)
		}
		meter.Set(done)
	}
	in, err := from.Open(ctx, o)
	meter.Stop()
	if err != nil {
		return nil, notOpened(role, from, tooLarge(err, most))
	}
	return in, nil
}

// loaded has an array in memory, unless it takes more than most. On an error it closes
// the array.
func (p *program) loaded(ctx context.Context, role string, in *files.Input, most limits.Bound) (*files.Input, garner.Tensor, error) {
	if t, ok := in.View(); ok {
		return in, t, nil
	}
	t, err := garner.Tensor{}, error(nil)
	if size := spaceOf(in.Spec()); size > float64(most.Bytes) {
		remedy := "gather from a file in which its bytes lie in one piece and as they are"
		if most.By == limits.ByAddressSpace { // such a file is not mapped either
			remedy = "raise that limit, as with ulimit -v"
		}
		err = garner.Errorf(garner.ErrShape, "%s %s takes %s in memory, and %s; %s",
			strings.Join(in.Paths[:min(1, len(in.Paths))], ""), in.Spec(), inMemory(size), most, remedy)
	} else {
		t, err = in.Tensor(ctx)
	}
	if err != nil {
		in.Close()
		return nil, garner.Tensor{}, ofRole(role, err)
	}
	return in, t, nil
}

// spaceOf returns about how many bytes an array takes in memory, without the
// text of strings; 0 if a dim is unknown.
func spaceOf(spec garner.Spec) float64 {
	shape, ok := spec.Shape()
	n, fits := shape.Len()
	if !ok || !fits {
		return 0
	}
	return float64(volume(spec.DType, int64(n)))
}

// optionFlags has the flags of DATA for the options of package files, which its messages
// name; indicesFlags has those of INDICES.
var (
	optionFlags  = strings.NewReplacer("Options.DType", "--dtype", "Options.Shape", "--shape", "Options.Offset", "--offset", "Options.Raw", "--raw", "Options.Lenient", "--lenient")
	indicesFlags = strings.NewReplacer("--dtype", "--indices-dtype", "--shape", "--indices-shape", "--offset", "--indices-offset",
		"Options.DType", "--indices-dtype", "Options.Shape", "--indices-shape", "Options.Offset", "--indices-offset")
)

// ofRole names the flags of INDICES where an error names those of DATA. No flag is of a
// further operand.
func ofRole(role string, err error) error {
	if said, _, found := strings.Cut(err.Error(), "; give the dtype ("); found && isFurther(role) {
		return &toldError{said + ", and no flag says it of an operand; save it with a dtype of .npy, or as .safetensors", err}
	}
	if told := indicesFlags.Replace(err.Error()); role == operandRoles[1] && told != err.Error() {
		return &toldError{told, err}
	}
	return err
}

// notOpened says more of a file that is not there.
func notOpened(role string, from files.Operand, err error) error {
	if _, missing := os.Stat(from.Path); !errors.Is(err, fs.ErrNotExist) || !errors.Is(missing, fs.ErrNotExist) || from.IsPattern() || from.IsURL() {
		return ofRole(role, err)
	}
	if filepath.IsAbs(from.Path) {
		return garner.Errorf(err, "%s: there is no file %s; check its name", role, from.Path)
	}
	return garner.Errorf(err, "%s: there is no file %s here; check its name, or give its folder too", role, from.Path)
}

// completeOperand offers files, and the tensors of an archive, to the shell.
func completeOperand(_ *cobra.Command, args []string, typed string) ([]string, cobra.ShellCompDirective) {
	if len(args) >= len(operandRoles) {
		return nil, cobra.ShellCompDirectiveNoFileComp
	}
	from, err := files.Parse(typed)
	if err != nil || !from.Format.Named || from.Path == typed {
		var extensions []string
		for _, f := range files.Formats() {
			for _, e := range slices.Concat(f.Extensions, f.Indexes) {
				extensions = append(extensions, e[1:])
			}
		}
		return extensions, cobra.ShellCompDirectiveFilterFileExt
	}
	list, err := from.List(context.Background(), files.Options{})
	if err != nil {
		return nil, cobra.ShellCompDirectiveNoFileComp
	}
	var all []string
	for _, a := range list {
		if terminal.Printable(a.Name) == a.Name { // a shell cannot be given another
			all = append(all, from.Path+"#"+a.Name)
		}
	}
	return all, cobra.ShellCompDirectiveNoFileComp
}
