package main

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"path/filepath"
	"strings"

	"github.com/garner-go/garner"
	"github.com/garner-go/garner/format/npy"
	"github.com/garner-go/garner/format/npz"
	"github.com/garner-go/garner/format/safetensors"
	"github.com/garner-go/garner/internal/literal"
	"github.com/garner-go/garner/internal/terminal"
	"github.com/spf13/cobra"
)

// stdinPath is a name of standard input where the system has one, by which an
// output is known to be the file that is being read.
const stdinPath = "/dev/stdin"

// An operand is DATA or INDICES, opened.
type operand struct {
	tensor garner.Tensor
	path   string // of its file; "" for a literal
	descr  string // NumPy's name of its dtype, where it has one
	close  func() error
}

// An archive is an opened file of several tensors.
type archive struct {
	names  func() []string
	tensor func(name string) (t garner.Tensor, descr string, err error)
	close  func() error
}

// archives are the kinds of file that hold several tensors, by the end of their
// names; an operand is FILE#NAME.
var archives = []struct {
	extension string
	open      func(path string, dtype garner.DType, tell func(done, total int64)) (*archive, error)
}{
	{".safetensors", openSafetensors},
	{".npz", openNpz},
}

func openSafetensors(path string, dtype garner.DType, _ func(done, total int64)) (*archive, error) {
	f, err := safetensors.Open(path)
	if err != nil {
		return nil, err
	}
	tensor := func(name string) (garner.Tensor, string, error) {
		t, err := f.Tensor(name)
		if err == nil && dtype != garner.Invalid && dtype != t.DType() {
			err = garner.Errorf(garner.ErrDType, "%s#%s is %s itself and the dtype asked for is %s; leave that out", path, name, t.DType(), dtype)
		}
		return t, "", err
	}
	return &archive{f.Names, tensor, f.Close}, nil
}

func openNpz(path string, dtype garner.DType, tell func(done, total int64)) (*archive, error) {
	f, err := npz.Open(path, npz.Options{DType: dtype, Inflated: tell})
	if err != nil {
		return nil, err
	}
	tensor := func(name string) (garner.Tensor, string, error) {
		a, err := f.Array(name)
		return a.Tensor, a.Descr, err
	}
	return &archive{f.Names, tensor, f.Close}, nil
}

// inArchive takes an operand apart that is of an archive: kind is the number in
// archives. An .npz may go without a name, where it holds one array.
func inArchive(text string) (kind int, path, name string, ok bool) {
	lower, at := strings.ToLower(text), len(text)
	for i, a := range archives {
		if k := strings.Index(lower, a.extension+"#"); k >= 0 && k < at {
			at, kind, ok = k, i, true
		}
	}
	if ok {
		path = text[:at+len(archives[kind].extension)]
		return kind, path, text[len(path)+1:], true
	}
	for i, a := range archives {
		if strings.HasSuffix(lower, a.extension) {
			return i, text, "", true
		}
	}
	return 0, "", "", false
}

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
		if kind, path, name, ok := inArchive(text); ok {
			switch {
			case name != "":
			case path != text:
				return wrong("%s %s names no tensor; put its name after the #", role, text)
			case archives[kind].extension != ".npz":
				return wrong("%s %s names no tensor: write %s#NAME%s", role, text, text, tensorsOf(kind, text))
			}
			continue
		}
		switch {
		case strings.HasSuffix(strings.ToLower(text), ".npy"):
		case text == "":
			return wrong("%s is empty; give a literal such as '[1, 2]', a file, or - for npy on standard input", role)
		default:
			return wrong("%s %q is neither a literal such as '[1, 2]' nor a file that garner reads: .npy, .npz#NAME, .safetensors#NAME, or - for npy on standard input", role, text)
		}
	}
	return nil
}

var operandRoles = [...]string{"DATA", "INDICES"}

// tensorsOf lists the tensors of a file for a message.
func tensorsOf(kind int, path string) string {
	f, err := archives[kind].open(path, garner.Invalid, nil)
	if err != nil {
		return ""
	}
	defer f.close()
	names := f.names()
	const most = 10
	switch {
	case len(names) == 0:
		return ""
	case len(names) > most:
		return fmt.Sprintf("; it has %d, the first of them %s", len(names), strings.Join(names[:most], ", "))
	}
	return "; it has " + strings.Join(names, ", ")
}

// open opens an operand that checkOperands let pass. dtype is what the elements
// of a literal, or of bytes without meaning in an npy file, are.
func (p *program) open(ctx context.Context, role, text string, dtype garner.DType) (*operand, error) {
	kind, path, name, ok := inArchive(text)
	switch {
	case text == "-":
		meter := p.meter("reading", 0)
		f, err := npy.OpenReader(contextReader{ctx, p.stdin, meter}, npy.Options{DType: dtype})
		meter.Stop()
		if err != nil {
			return nil, about(role+": ", err)
		}
		return &operand{tensor: f.Tensor(), path: stdinPath, descr: f.Descr(), close: f.Close}, nil
	case literal.IsLiteral(text):
		t, err := literal.Parse(text, dtype)
		if err != nil {
			return nil, about(role+": ", err)
		}
		return &operand{tensor: t, close: func() error { return nil }}, nil
	case ok:
		var meter *terminal.Meter
		begun := false
		tell := func(done, total int64) {
			if !begun {
				begun, meter = true, p.meter("inflating", total)
			}
			meter.Set(done)
		}
		f, err := archives[kind].open(path, dtype, tell)
		if err != nil {
			return nil, notOpened(role, path, err)
		}
		t, descr, err := f.tensor(name)
		meter.Stop()
		if err != nil {
			f.close()
			return nil, ofRole(role, err)
		}
		return &operand{tensor: t, path: path, descr: descr, close: f.close}, nil
	default:
		f, err := npy.Open(text, npy.Options{DType: dtype})
		if err != nil {
			return nil, notOpened(role, text, err)
		}
		return &operand{tensor: f.Tensor(), path: text, descr: f.Descr(), close: f.Close}, nil
	}
}

// ofRole names the flag that is the remedy for bytes without a type.
func ofRole(role string, err error) error {
	if role == operandRoles[1] && errors.Is(err, garner.ErrDType) {
		return &toldError{strings.ReplaceAll(err.Error(), "--dtype", "--indices-dtype"), err}
	}
	return err
}

// notOpened says more of a file that is not there.
func notOpened(role, path string, err error) error {
	if !errors.Is(err, fs.ErrNotExist) {
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
	kind, path, _, ok := inArchive(typed)
	if !ok || path == typed {
		extensions := []string{"npy"}
		for _, a := range archives {
			extensions = append(extensions, a.extension[1:])
		}
		return extensions, cobra.ShellCompDirectiveFilterFileExt
	}
	f, err := archives[kind].open(path, garner.Invalid, nil)
	if err != nil {
		return nil, cobra.ShellCompDirectiveNoFileComp
	}
	defer f.close()
	var names []string
	for _, name := range f.names() {
		names = append(names, path+"#"+name)
	}
	return names, cobra.ShellCompDirectiveNoFileComp
}
