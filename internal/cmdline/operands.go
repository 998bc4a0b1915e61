package cmdline

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"math"
	"os"
	"path/filepath"
	"runtime"
	"runtime/debug"
	"slices"
	"strings"

	"github.com/garner-go/garner"
	"github.com/garner-go/garner/files"
	"github.com/garner-go/garner/internal/limits"
	"github.com/garner-go/garner/internal/literal"
	"github.com/garner-go/garner/internal/names"
	"github.com/garner-go/garner/internal/run"
	"github.com/garner-go/garner/internal/terminal"
	"github.com/garner-go/garner/internal/units"
	"github.com/spf13/cobra"
)

// StdinPath is the name of standard input, on systems that have one. It lets
// garner see that an output is the file it reads, and that two operands are one pipe.
const StdinPath = "/dev/stdin"

// An Operand is DATA, INDICES, TABLE or an --input as the command line has it.
// It is parsed once, by ParseOperand.
type Operand struct {
	Kind OperandKind
	Text string
	File files.Operand // of kindFile
	Err  error         // of kindUnreadable, where more is known than that
}

// An OperandKind is one of the meanings of an operand.
type OperandKind int

// The kinds of operands.
const (
	KindUnreadable OperandKind = iota // matches no other kind
	KindLiteral
	KindStdin
	KindFile
)

// ParseOperand parses an operand, and opens no file of a known extension.
func ParseOperand(text string) Operand {
	if text == "-" {
		return Operand{Kind: KindStdin, Text: text}
	}
	if literal.IsLiteral(text) {
		return Operand{Kind: KindLiteral, Text: text}
	}
	if strings.HasPrefix(text, "-#") {
		return Operand{Text: text, Err: namedStdin(text)}
	}
	f, err := files.Parse(text)
	switch {
	case err == nil:
		return Operand{Kind: KindFile, Text: text, File: f}
	case errors.Is(err, files.ErrUnknown) && !errors.Is(err, files.ErrForeign):
		err = nil
	}
	return Operand{Text: text, Err: err}
}

// namedStdin is the error of -#NAME.
func namedStdin(text string) error {
	return garner.Errorf(garner.ErrAttribute, "%s: standard input holds one array, which has no name; leave %s out", text, text[1:])
}

// ParseOperands parses DATA and INDICES, and refuses what cannot be an operand
// before any of them is opened.
func ParseOperands(args []string) (operands [2]Operand, err error) {
	for i := range args {
		operands[i] = ParseOperand(unshielded(args[i]))
	}
	if operands[0].Kind == KindStdin && operands[1].Kind == KindStdin {
		return operands, Wrong("DATA and INDICES cannot both be -, there is one standard input; put one of them in a file")
	}
	if OnePipe(operands[0], operands[1]) {
		return operands, ReadOnce(OperandRoles[0], operands[0], OperandRoles[1], operands[1])
	}
	for i, o := range operands[:len(args)] {
		role := OperandRoles[i]
		switch {
		case o.Text == "":
			return operands, Wrong("%s is empty; give a literal such as '[1, 2]', a file, or - for standard input", role)
		case o.Kind == KindUnreadable:
			return operands, Unreadable(role, o)
		case o.Kind == KindFile && o.File.NeedsName():
			return operands, nameless(role, o)
		}
	}
	return operands, nil
}

// nameless is the error of an operand that names a file of several tensors alone.
func nameless(role string, o Operand) error {
	if strings.HasSuffix(o.Text, "#") {
		return Wrong("%s %s names no tensor; put its name after the #%s", role, o.Text, TensorsOf(o.File))
	}
	return Wrong("%s %s names no tensor: write %s#NAME%s", role, o.Text, o.Text, TensorsOf(o.File))
}

// OnePipe reports whether two operands name one pipe, such as - and /dev/stdin: the second
// would find nothing in it. A pipe that has a name of its own may be filled twice.
func OnePipe(a, b Operand) bool {
	x, y := PipeOf(a), PipeOf(b)
	if x == nil || y == nil || !os.SameFile(x, y) {
		return false
	}
	_, err := filepath.EvalSymlinks(a.File.Path)
	return err != nil || a.Kind == KindStdin || b.Kind == KindStdin
}

// PipeOf is the pipe or the socket that an operand reads; nil of what is none.
func PipeOf(o Operand) os.FileInfo {
	path := o.File.Path
	switch {
	case o.Kind == KindStdin:
		path = StdinPath
	case o.Kind != KindFile || o.File.IsURL():
		return nil
	}
	info, err := os.Stat(path)
	if err != nil || info.Mode()&(fs.ModeNamedPipe|fs.ModeSocket) == 0 {
		return nil
	}
	return info
}

// ReadOnce is the error of two operands that are OnePipe.
func ReadOnce(role string, of Operand, otherRole string, other Operand) error {
	return Wrong("%s %s and %s %s are one pipe, which can be read once; put one of them in a file", role, of.Text, otherRole, other.Text)
}

// Unreadable is the error of an operand of no kind.
func Unreadable(role string, o Operand) error {
	if o.Err != nil {
		return About(role+" ", o.Err)
	}
	return Wrong("%s %q is neither a literal such as '[1, 2]' nor a file that garner reads: %s, or - for standard input", role, o.Text, files.Readable())
}

// OperandRoles are how messages name the operands.
var OperandRoles = [...]string{"DATA", "INDICES"}

// TensorsOf lists the tensors of a file for a message; "" where there are none.
func TensorsOf(f files.Operand) string {
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

// endOfInput is the key that ends what is typed into a terminal.
var endOfInput = map[bool]string{true: "Ctrl-Z and Enter", false: "Ctrl-D on a line of its own"}[runtime.GOOS == "windows"]

// Open opens an operand of any kind, and has it in memory: as a view of its file
// where it can be one. What is read whole may take no more memory than most.
func (p *Console) Open(ctx context.Context, role string, from Operand, o files.Options, most limits.Bound) (*files.Input, garner.Tensor, error) {
	defer LimitHeap(most.Bytes)()
	if from.Kind != KindFile && (o.Shape != nil || o.Offset != 0) {
		what := "standard input, of which .npy and text are read"
		if from.Kind == KindLiteral {
			what = "a literal"
		}
		return nil, garner.Tensor{}, ofRole(role, garner.Errorf(garner.ErrAttribute, "%s is %s; --shape and --offset are for files without a header, .raw and .bin", role, what))
	}
	switch from.Kind {
	case KindStdin:
		if terminal.Is(p.stdin) {
			fmt.Fprintf(p.Stderr, "%s: %s: reading what you type: integers, or a literal; %s ends it\n", p.Name, role, endOfInput)
		}
		var meter *terminal.Meter // none over what is typed
		if !terminal.Is(p.stdin) {
			meter = p.Meter("reading", 0)
		}
		o.Memory = max(most.Bytes, 1) // 0 is no limit
		in, err := files.Read(contextReader{ctx, p.stdin, meter}, o)
		meter.Stop()
		if err != nil {
			return nil, garner.Tensor{}, About(role+": ", TooLarge(err, most))
		}
		in.Paths = []string{StdinPath}
		return p.loaded(ctx, role, in, most)
	case KindLiteral:
		if size, ok := rangeBytes(from.Text, o.DType); ok && size > float64(most.Bytes) {
			return nil, garner.Tensor{}, garner.Errorf(garner.ErrShape, "%s %s takes %s in memory, and %s; %s",
				role, strings.TrimSpace(from.Text), InMemory(size), most, shorter(role))
		}
		t, err := literal.Parse(from.Text, o.DType)
		if err != nil {
			return nil, garner.Tensor{}, About(role+": ", err)
		}
		return files.Hold(t), t, nil
	}
	in, err := p.openFile(ctx, role, from.File, o, most)
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

// InMemory is a number of bytes, of which GiB is the largest unit.
func InMemory(size float64) string {
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

// RangeSpec is the spec of an operand that is a range of more than FewIndices and takes
// no more memory than most; false of another.
func RangeSpec(from Operand, dtype garner.DType, most limits.Bound) (garner.Spec, bool) {
	n, ok := literal.Elements(from.Text)
	if from.Kind != KindLiteral || !ok || n <= FewIndices || n > math.MaxInt {
		return garner.Spec{}, false
	}
	if dtype == garner.Invalid {
		dtype = garner.I64
	}
	spec := garner.SpecOf(dtype, int(n))
	return spec, SpaceOf(spec) <= float64(most.Bytes)
}

// TooLarge adds to the error of an array that takes too much memory what limits it.
func TooLarge(err error, most limits.Bound) error {
	if !errors.Is(err, files.ErrTooLarge) {
		return err
	}
	return Told(err.Error()+"; "+most.String(), err)
}

// openFile opens an operand that is a file, or several, and reads no more of it
// than it must. What must be read whole may take no more memory than most.
func (p *Console) openFile(ctx context.Context, role string, from files.Operand, o files.Options, most limits.Bound) (*files.Input, error) {
	o.Memory = max(most.Bytes, 1) // 0 is no limit
	var meter *terminal.Meter
	begun := false
	o.Inflated = func(done, total int64) {
		if !begun {
			begun, meter = true, p.Meter("inflating", total)
		}
		meter.Set(done)
	}
	in, err := from.Open(ctx, o)
	meter.Stop()
	if err != nil {
		return nil, NotOpened(role, from, TooLarge(err, most))
	}
	return in, nil
}

// loaded has an array in memory, unless it takes more than most. On an error it closes
// the array.
func (p *Console) loaded(ctx context.Context, role string, in *files.Input, most limits.Bound) (*files.Input, garner.Tensor, error) {
	if t, ok := in.View(); ok {
		return in, t, nil
	}
	t, err := garner.Tensor{}, error(nil)
	if size := SpaceOf(in.Spec()); size > float64(most.Bytes) {
		remedy := "gather from a file in which its bytes lie in one piece and as they are"
		if most.By == limits.ByAddressSpace { // such a file is not mapped either
			remedy = "raise that limit, as with ulimit -v"
		}
		err = garner.Errorf(garner.ErrShape, "%s %s takes %s in memory, and %s; %s",
			strings.Join(in.Paths[:min(1, len(in.Paths))], ""), in.Spec(), InMemory(size), most, remedy)
	} else {
		t, err = in.Tensor(ctx)
	}
	if err != nil {
		in.Close()
		return nil, garner.Tensor{}, ofRole(role, err)
	}
	return in, t, nil
}

// SpaceOf returns about how many bytes an array takes in memory, without the
// text of strings; 0 if a dim is unknown.
func SpaceOf(spec garner.Spec) float64 {
	shape, ok := spec.Shape()
	n, fits := shape.Len()
	if !ok || !fits {
		return 0
	}
	return float64(Volume(spec.DType, int64(n)))
}

// OptionFlags has the flags of DATA for the options of package files, which its messages
// name; indicesFlags has those of INDICES.
var (
	OptionFlags  = strings.NewReplacer("Options.DType", "--dtype", "Options.Shape", "--shape", "Options.Offset", "--offset", "Options.Raw", "--raw", "Options.Lenient", "--lenient", "Options.Signature", "--signature", "Outside to Clamp", "--outside clamp")
	indicesFlags = strings.NewReplacer("--dtype", "--indices-dtype", "--shape", "--indices-shape", "--offset", "--indices-offset",
		"Options.DType", "--indices-dtype", "Options.Shape", "--indices-shape", "Options.Offset", "--indices-offset")
)

// ofDataAlone takes out the remedies whose flags are of DATA alone; each stands beside another.
var ofDataAlone = strings.NewReplacer(", or read the file with Options.Lenient", "",
	"read its blocks as bytes (Options.Raw), or ", "", ", or read its blocks as bytes (Options.Raw)", "")

// ofRole names the flags of INDICES where an error names those of DATA, and leaves out what no
// flag says of the operand. No flag is of a further operand or of an input of a model.
func ofRole(role string, err error) error {
	message := err.Error()
	what, _, _ := strings.Cut(role, " ")
	switch what {
	case OperandRoles[1]:
		message = ofDataAlone.Replace(indicesFlags.Replace(message))
	case "--operand", "--input":
		message = ofDataAlone.Replace(message)
		if said, _, found := strings.Cut(message, "; give the dtype ("); found {
			message = said + ", and no flag says it of " + unflagged[what] + "; save it with a dtype of .npy, or as .safetensors"
		}
	}
	if message == err.Error() {
		return err
	}
	return Told(message, err)
}

// unflagged are the operands that no flag describes, by the first word of their role.
var unflagged = map[string]string{"--operand": "an operand", "--input": "an input"}

// NotOpened says more of a file that is not there.
func NotOpened(role string, from files.Operand, err error) error {
	if _, missing := os.Stat(from.Path); !errors.Is(err, fs.ErrNotExist) || !errors.Is(missing, fs.ErrNotExist) || from.IsPattern() || from.IsURL() {
		return ofRole(role, err)
	}
	return NoFile(role, from.Path)
}

// NoFile is the error of a file or a folder that is not there.
func NoFile(role, path string) error {
	if filepath.IsAbs(path) {
		return garner.Errorf(fs.ErrNotExist, "%s: there is no file %s; check its name", role, path)
	}
	return garner.Errorf(fs.ErrNotExist, "%s: there is no file %s here; check its name, or give its folder too", role, path)
}

// CompleteOperand offers files, and the tensors of an archive, to the shell.
func CompleteOperand(_ *cobra.Command, args []string, typed string) ([]string, cobra.ShellCompDirective) {
	if len(args) >= len(OperandRoles) {
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

// A contextReader reads until its context ends.
type contextReader struct {
	ctx   context.Context
	r     io.Reader
	meter *terminal.Meter
}

func (r contextReader) Read(b []byte) (int, error) {
	if r.ctx.Err() != nil {
		return 0, context.Cause(r.ctx)
	}
	n, err := r.r.Read(b)
	r.meter.Add(int64(n))
	return n, err
}

// Volume returns how many bytes elements take in memory, strings without their
// text.
func Volume(d garner.DType, elements int64) int64 {
	return int64(run.Memory(garner.SpecOf(d, int(elements))))
}

// Brief is the beginning of an argument, for a message.
func Brief(text string) string {
	text = strings.TrimSpace(text)
	if runes := []rune(text); len(runes) > 40 {
		return string(runes[:40]) + "…"
	}
	return text
}

// OpenInPlace opens DATA or INDICES without reading elements. An array that can
// only be read whole is a files.ErrMemory.
func (p *Console) OpenInPlace(ctx context.Context, role string, from Operand, o files.Options) (*files.Input, error) {
	o.InPlace = true
	in, err := p.openFile(ctx, role, from.File, o, limits.Memory())
	if err == nil && in.Array == nil {
		in.Close()
		return nil, garner.Errorf(files.ErrMemory, "%s holds %s, which can only be read whole", from.Text, in.Spec())
	}
	return in, err
}

// LimitHeap makes the garbage collector keep what the heap gets beside what it has near
// a budget, in bytes, until the function that it returns is called. Without a limit the
// heap doubles before the garbage collector runs.
func LimitHeap(budget int64) (restore func()) {
	before := debug.SetMemoryLimit(-1)
	var has runtime.MemStats
	runtime.ReadMemStats(&has)
	program := 24<<20 + int64(has.HeapAlloc)
	debug.SetMemoryLimit(min(before, min(budget, math.MaxInt64-program)+program))
	return func() { debug.SetMemoryLimit(before) }
}
