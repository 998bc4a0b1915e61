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
	"github.com/garner-go/garner/format/safetensors"
	"github.com/garner-go/garner/internal/literal"
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

const safetensorsMark = ".safetensors#"

// checkOperands refuses what cannot be an operand before any of them is opened.
func checkOperands(args []string) error {
	if args[0] == "-" && args[1] == "-" {
		return wrong("DATA and INDICES cannot both be -, there is one standard input; put one of them in a file")
	}
	for i, text := range args {
		role := operandRoles[i]
		switch lower := strings.ToLower(text); {
		case text == "-", literal.IsLiteral(text), strings.HasSuffix(lower, ".npy"):
		case strings.Contains(lower, safetensorsMark):
			if strings.HasSuffix(lower, safetensorsMark) {
				return wrong("%s %s names no tensor; put its name after the #", role, text)
			}
		case strings.HasSuffix(lower, ".safetensors"):
			return wrong("%s %s names no tensor: write %s#NAME%s", role, text, text, tensorsOf(text))
		case text == "":
			return wrong("%s is empty; give a literal such as '[1, 2]', a file, or - for npy on standard input", role)
		default:
			return wrong("%s %q is neither a literal such as '[1, 2]' nor a file that garner reads: .npy, .safetensors#NAME, or - for npy on standard input", role, text)
		}
	}
	return nil
}

var operandRoles = [...]string{"DATA", "INDICES"}

// tensorsOf lists the tensors of a file for a message.
func tensorsOf(path string) string {
	f, err := safetensors.Open(path)
	if err != nil {
		return ""
	}
	defer f.Close()
	names := f.Names()
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
	switch lower := strings.ToLower(text); {
	case text == "-":
		f, err := npy.OpenReader(contextReader{ctx, p.stdin}, npy.Options{DType: dtype})
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
	case strings.HasSuffix(lower, ".npy"):
		f, err := npy.Open(text, npy.Options{DType: dtype})
		if err != nil {
			return nil, notOpened(role, text, err)
		}
		return &operand{tensor: f.Tensor(), path: text, descr: f.Descr(), close: f.Close}, nil
	default:
		i := strings.Index(lower, safetensorsMark)
		path, name := text[:i+len(safetensorsMark)-1], text[i+len(safetensorsMark):]
		f, err := safetensors.Open(path)
		if err != nil {
			return nil, notOpened(role, path, err)
		}
		t, err := f.Tensor(name)
		if err == nil && dtype != garner.Invalid && dtype != t.DType() {
			err = garner.Errorf(garner.ErrDType, "%s is %s itself and the dtype asked for is %s; leave that out", text, t.DType(), dtype)
		}
		if err != nil {
			f.Close()
			return nil, err
		}
		return &operand{tensor: t, path: path, close: f.Close}, nil
	}
}

// notOpened says more of a file that is not there, and names the flag that is
// the remedy for bytes without a type.
func notOpened(role, path string, err error) error {
	if !errors.Is(err, fs.ErrNotExist) {
		if role == operandRoles[1] && errors.Is(err, garner.ErrDType) {
			return &toldError{strings.ReplaceAll(err.Error(), "--dtype", "--indices-dtype"), err}
		}
		return err
	}
	if filepath.IsAbs(path) {
		return garner.Errorf(err, "%s: there is no file %s; check its name", role, path)
	}
	return garner.Errorf(err, "%s: there is no file %s here; check its name, or give its folder too", role, path)
}

// completeOperand offers files, and the tensors of a safetensors file, to the
// shell.
func completeOperand(_ *cobra.Command, args []string, typed string) ([]string, cobra.ShellCompDirective) {
	if len(args) >= len(operandRoles) {
		return nil, cobra.ShellCompDirectiveNoFileComp
	}
	i := strings.Index(strings.ToLower(typed), safetensorsMark)
	if i < 0 {
		return []string{"npy", "safetensors"}, cobra.ShellCompDirectiveFilterFileExt
	}
	path := typed[:i+len(safetensorsMark)-1]
	f, err := safetensors.Open(path)
	if err != nil {
		return nil, cobra.ShellCompDirectiveNoFileComp
	}
	defer f.Close()
	var names []string
	for _, name := range f.Names() {
		names = append(names, path+"#"+name)
	}
	return names, cobra.ShellCompDirectiveNoFileComp
}
