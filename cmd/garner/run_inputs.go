package main

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/garner-go/garner"
	"github.com/garner-go/garner/files"
	"github.com/garner-go/garner/internal/cmdline"
	"github.com/garner-go/garner/internal/literal"
	"github.com/garner-go/garner/internal/run"
	"github.com/garner-go/garner/model"
	"github.com/spf13/cobra"
)

// A namedInput is one --input.
type namedInput struct {
	name  string
	value cmdline.Operand
}

// checkInputs parses the --input flags, as far as that needs no model.
func checkInputs(cmd *cobra.Command, list []string) ([]namedInput, error) {
	var named []namedInput
	streams := 0
	for _, text := range list {
		// The first = ends the name: files contain = more often than names.
		name, file, ok := strings.Cut(text, "=")
		if !ok || name == "" || file == "" {
			return nil, cmdline.Usage(cmd, "--input %s: write it as NAME=FILE, for example --input ids=ids.npy", text)
		}
		if slices.ContainsFunc(named, func(n namedInput) bool { return n.name == name }) {
			return nil, cmdline.Wrong("--input %s is given twice; give it once", name)
		}
		in := namedInput{name, cmdline.ParseOperand(file)}
		if err := in.check(); err != nil {
			return nil, err
		}
		if in.value.Kind == cmdline.KindStdin {
			streams++
		}
		for _, other := range named {
			if cmdline.OnePipe(in.value, other.value) && (in.value.Kind != cmdline.KindStdin || other.value.Kind != cmdline.KindStdin) {
				return nil, cmdline.ReadOnce("--input "+other.name+":", other.value, "--input "+in.name+":", in.value)
			}
		}
		named = append(named, in)
	}
	if streams > 1 {
		return nil, cmdline.Wrong("%d inputs cannot be -, there is one standard input; put all but one in files", streams)
	}
	return named, nil
}

// check refuses what cannot be an input, before anything is opened.
func (in namedInput) check() error {
	switch v := in.value; {
	case v.Kind == cmdline.KindUnreadable:
		return cmdline.Unreadable("--input "+in.name+":", v)
	case v.Kind == cmdline.KindFile && v.File.NeedsName():
		return cmdline.Wrong("--input %s: %s names no tensor; put its name after a #%s", in.name, v.Text, cmdline.TensorsOf(v.File))
	}
	return nil
}

// inputs opens the given inputs and checks them against the model.
func (r *modelRun) inputs(ctx context.Context, named []namedInput) error {
	targets := make([]*model.Value, len(named))
	for i, in := range named {
		v, err := r.value("--input", in.name)
		if err != nil {
			return err
		}
		if at := slices.Index(targets, v); at >= 0 {
			return cmdline.Wrong("--input %s and --input %s are the same value; give one of them", named[at].name, in.name)
		}
		targets[i] = v
	}
	for i, in := range named {
		v := targets[i]
		opened, t, err := r.open(ctx, in, v.Spec.DType)
		var other *files.DTypeError
		if errors.As(err, &other) && in.readOnce() { // where the model asks for the dtype, and no flag
			return cmdline.About("--input "+in.name+": ", garner.Errorf(err, "%s is %s (%s); the model wants %s; %s", plain(v.Name), other.DType, other.Descr, v.Type(), in.cast(other.DType, v.Spec.DType)))
		}
		if err != nil {
			return err
		}
		r.opened = append(r.opened, opened)
		r.memory.Take("other inputs", opened)
		expected := *v
		if v.From != nil || v.Constant != nil && !slices.Contains(r.model.Graph.Inputs, v) {
			// A value that stands for a node's result may have another shape.
			expected.Spec = garner.SpecOfRank(v.Spec.DType, garner.AnyDim)
		}
		if r.node != nil && slices.Contains(r.node.Inputs[1:], v) && t.DType().IsInteger() {
			expected.Spec.DType = garner.Invalid // a gather takes indices of any integer type
		}
		err = run.Check(&expected, t)
		if errors.Is(err, garner.ErrDType) {
			err = garner.Errorf(err, "%s; %s", cmdline.Bare(err), in.cast(t.DType(), v.Spec.DType))
		}
		if err != nil {
			return cmdline.About("--input "+in.name+": ", err)
		}
		r.given[v] = t
	}
	return nil
}

// readOnce reports whether an input is gone when it has been read.
func (in namedInput) readOnce() bool {
	return cmdline.PipeOf(in.value) != nil || in.value.Kind == cmdline.KindStdin
}

// cast says how an input of one dtype becomes one of another.
func (in namedInput) cast(is, wants garner.DType) string {
	switch {
	case in.value.Kind == cmdline.KindLiteral:
		return fmt.Sprintf("write it without %s", is)
	case in.readOnce():
		return fmt.Sprintf("cast it to %s before", wants)
	}
	return fmt.Sprintf("cast the file to %s", wants)
}

// open opens an input. A literal without a dtype and a pipe take the model's dtype. A file has
// its own, which Check compares with the model's; one that does not say its dtype takes the
// model's.
func (r *modelRun) open(ctx context.Context, in namedInput, dtype garner.DType) (*files.Input, garner.Tensor, error) {
	role, typed := "--input "+in.name, files.Options{DType: dtype}
	most := r.memory.Left()
	if in.value.Kind == cmdline.KindLiteral && literal.DType(in.value.Text) != garner.Invalid {
		typed = files.Options{}
	}
	if in.value.Kind != cmdline.KindFile || in.readOnce() {
		return r.program.Open(ctx, role, in.value, typed, most)
	}
	opened, t, err := r.program.Open(ctx, role, in.value, files.Options{}, most)
	if errors.Is(err, garner.ErrDType) && dtype != garner.Invalid {
		if opened, t, also := r.program.Open(ctx, role, in.value, typed, most); also == nil { // bytes without a type, as bf16 is saved
			return opened, t, nil
		}
	}
	return opened, t, err
}
