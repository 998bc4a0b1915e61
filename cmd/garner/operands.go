package main

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"github.com/garner-go/garner"
	"github.com/garner-go/garner/format/layout"
	"github.com/garner-go/garner/format/npy"
	"github.com/garner-go/garner/format/raw"
	"github.com/garner-go/garner/internal/catalog"
	"github.com/garner-go/garner/internal/literal"
	"github.com/garner-go/garner/internal/terminal"
	"github.com/garner-go/garner/source"
	"github.com/spf13/cobra"
)

// stdinPath is a name of standard input where the system has one, by which an
// output is known to be the file that is being read.
const stdinPath = "/dev/stdin"

// An operand is DATA or INDICES, opened.
type operand struct {
	tensor garner.Tensor
	array  source.Array // the same; nil for strings
	paths  []string     // of its files; none for a literal
	descr  string       // NumPy's name of its dtype, where it matters to what is written
	close  func() error
}

// arrayFlags say what is in the file of DATA or INDICES, where it does not say
// so itself.
type arrayFlags struct {
	dtype  dtypeFlag
	shape  shapeFlag
	offset number
	raw    bool
}

// add adds the flags of DATA, or with a prefix those of INDICES.
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

func (a *arrayFlags) options() catalog.ArrayOptions {
	return catalog.ArrayOptions{DType: garner.DType(a.dtype), Shape: a.shape, Offset: a.offset.value, Raw: a.raw}
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
	if *s, err = raw.ParseShape(text); err != nil {
		return errors.New(bare(err))
	}
	return nil
}

func (s *shapeFlag) Type() string { return "SHAPE" }

// checkOperands refuses what cannot be an operand before any of them is opened.
func checkOperands(args []string) error {
	if args[0] == "-" && args[1] == "-" {
		return wrong("DATA and INDICES cannot both be -, there is one standard input; put one of them in a file")
	}
	for i, text := range args {
		role := operandRoles[i]
		if text == "-" || literal.IsLiteral(text) {
			continue
		}
		format, path, name, ok := catalog.ParseOperand(text)
		switch {
		case text == "":
			return wrong("%s is empty; give a literal such as '[1, 2]', a file, or - for npy on standard input", role)
		case !ok:
			return wrong("%s %q is neither a literal such as '[1, 2]' nor a file that garner reads: %s, or - for npy on standard input", role, text, catalog.Readable())
		case !format.Named || name != "":
		case path != text:
			return wrong("%s %s names no tensor; put its name after the #", role, text)
		case !catalog.Unnamed(path):
			return wrong("%s %s names no tensor: write %s#NAME%s", role, text, text, tensorsOf(text))
		}
	}
	return nil
}

var operandRoles = [...]string{"DATA", "INDICES"}

// tensorsOf lists the tensors of a file for a message.
func tensorsOf(path string) string {
	list, err := catalog.List(path, catalog.ArrayOptions{})
	const most = 10
	switch {
	case err != nil || len(list) == 0:
		return ""
	case len(list) > most:
		return fmt.Sprintf("; it has %d, the first of them %s", len(list), strings.Join(namesOf(list[:most]), ", "))
	}
	return "; it has " + strings.Join(namesOf(list), ", ")
}

func namesOf(list []catalog.ArrayInfo) []string {
	names := make([]string, len(list))
	for i, a := range list {
		names[i] = a.Name
	}
	return names
}

// open opens an operand that checkOperands let pass, and has it in memory: as a
// view of its file where it can be one.
func (p *program) open(ctx context.Context, role, text string, o catalog.ArrayOptions) (*operand, error) {
	switch {
	case text == "-":
		meter := p.meter("reading", 0)
		f, err := npy.OpenReader(contextReader{ctx, p.stdin, meter}, npy.Options{DType: o.DType})
		meter.Stop()
		if err != nil {
			return nil, about(role+": ", err)
		}
		return inMemory(f.Tensor(), []string{stdinPath}, f.Descr(), f.Close), nil
	case literal.IsLiteral(text):
		t, err := literal.Parse(text, o.DType)
		if err != nil {
			return nil, about(role+": ", err)
		}
		return inMemory(t, nil, "", func() error { return nil }), nil
	}
	a, err := p.openArray(role, text, o)
	if err != nil {
		return nil, err
	}
	t, err := p.load(ctx, a)
	if err != nil {
		a.Close()
		return nil, ofRole(role, err)
	}
	return &operand{tensor: t, array: a.Array, paths: a.Paths, descr: a.Descr, close: a.Close}, nil
}

// openArray opens an operand that is a file, or several, and reads no more of it
// than it must.
func (p *program) openArray(role, text string, o catalog.ArrayOptions) (*catalog.Opened, error) {
	var meter *terminal.Meter
	begun := false
	o.Inflated = func(done, total int64) {
		if !begun {
			begun, meter = true, p.meter("inflating", total)
		}
		meter.Set(done)
	}
	a, err := catalog.OpenArray(text, o)
	meter.Stop()
	if err != nil {
		_, path, _, _ := catalog.ParseOperand(text)
		return nil, notOpened(role, path, err)
	}
	return a, nil
}

// load has an array in memory, unless the machine has not so much.
func (p *program) load(ctx context.Context, a *catalog.Opened) (garner.Tensor, error) {
	if f, ok := a.Array.(*source.File); ok {
		if t, ok := f.Tensor(); ok {
			return t, nil
		}
		size, _, err := layout.Size(a.Spec())
		if err == nil && float64(size) > memory() {
			return garner.Tensor{}, garner.Errorf(garner.ErrShape, "%s %s takes %s in memory, and this machine has %s; gather from a file in which its bytes lie in one piece and as they are",
				strings.Join(a.Paths[:1], ""), a.Spec(), gib(float64(size)), gib(memory()))
		}
	}
	return a.Tensor(ctx)
}

// inMemory is an operand that is in memory.
func inMemory(t garner.Tensor, paths []string, descr string, closer func() error) *operand {
	o := &operand{tensor: t, paths: paths, descr: descr, close: closer}
	if t.DType() != garner.String {
		o.array = source.Memory(t)
	}
	return o
}

var indicesFlags = strings.NewReplacer("--dtype", "--indices-dtype", "--shape", "--indices-shape", "--offset", "--indices-offset")

// ofRole names the flags that are the remedy for bytes without a type.
func ofRole(role string, err error) error {
	if role == operandRoles[1] && (errors.Is(err, garner.ErrDType) || errors.Is(err, raw.ErrFormat) || errors.Is(err, garner.ErrAttribute)) {
		return &toldError{indicesFlags.Replace(err.Error()), err}
	}
	return err
}

// notOpened says more of a file that is not there.
func notOpened(role, path string, err error) error {
	if _, missing := os.Stat(path); !errors.Is(err, fs.ErrNotExist) || !errors.Is(missing, fs.ErrNotExist) || catalog.IsPattern(path) {
		return ofRole(role, err)
	}
	if filepath.IsAbs(path) {
		return garner.Errorf(err, "%s: there is no file %s; check its name", role, path)
	}
	return garner.Errorf(err, "%s: there is no file %s here; check its name, or give its folder too", role, path)
}

// completeOperand offers files, and the tensors of an archive, to the shell.
func completeOperand(_ *cobra.Command, args []string, typed string) ([]string, cobra.ShellCompDirective) {
	if len(args) >= len(operandRoles) {
		return nil, cobra.ShellCompDirectiveNoFileComp
	}
	format, path, _, ok := catalog.ParseOperand(typed)
	if !ok || !format.Named || path == typed {
		var extensions []string
		for _, f := range catalog.ArrayFormats() {
			for _, e := range f.Extensions {
				extensions = append(extensions, e[1:])
			}
		}
		return extensions, cobra.ShellCompDirectiveFilterFileExt
	}
	list, err := catalog.List(path, catalog.ArrayOptions{})
	if err != nil {
		return nil, cobra.ShellCompDirectiveNoFileComp
	}
	var names []string
	for _, a := range list {
		names = append(names, path+"#"+a.Name)
	}
	return names, cobra.ShellCompDirectiveNoFileComp
}
