package main

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"github.com/garner-go/garner"
	"github.com/garner-go/garner/files"
	"github.com/garner-go/garner/internal/cmdline"
	"github.com/garner-go/garner/internal/names"
	"github.com/garner-go/garner/model"
	"github.com/garner-go/garner/tensorflow/graphdef"
	"github.com/spf13/cobra"
)

// addOpening adds the flags of commands that read models.
func addOpening(cmd *cobra.Command, o *files.ModelOptions) {
	cmdline.AddLenient(cmd, &o.Lenient)
	addSignature(cmd, &o.Signature)
}

func addSignature(cmd *cobra.Command, name *string) {
	cmd.Flags().StringVar(name, "signature", "", "of a TensorFlow or TFLite model, the signature `NAME`; of TensorFlow also a function (default serving_default, or the only one; model and lint take all of TFLite)")
}

func oneModel(cmd *cobra.Command, args []string) error {
	if len(args) == 1 {
		return nil
	}
	return cmdline.Usage(cmd, "%s takes one MODEL, %s; %d were given", cmd.Name(), modelFiles(), len(args))
}

// modelFiles lists the files that are models, for a message.
func modelFiles() string {
	var list []string
	for _, f := range files.ModelFormats() {
		list = append(list, "a "+f.Extension+" file")
		if f.Folder != "" {
			list = append(list, "a folder with "+f.Folder)
		}
	}
	return strings.Join(list, " or ")
}

func completeModel(_ *cobra.Command, args []string, _ string) ([]string, cobra.ShellCompDirective) {
	if len(args) > 0 {
		return nil, cobra.ShellCompDirectiveNoFileComp
	}
	var extensions []string
	for _, f := range files.ModelFormats() {
		extensions = append(extensions, f.Extension[1:])
	}
	return extensions, cobra.ShellCompDirectiveFilterFileExt
}

// openModel opens MODEL. What is of no model format is a usage error.
func openModel(path string, o files.ModelOptions) (*model.Model, error) {
	if err := files.NoURL(path); err != nil {
		return nil, cmdline.About("MODEL ", err)
	}
	format, err := files.ModelFormatOf(path)
	switch {
	case errors.Is(err, fs.ErrNotExist) && path != "-":
		return nil, cmdline.NoFile("MODEL", path)
	case errors.Is(err, files.ErrForeign):
		return nil, cmdline.About("MODEL ", err)
	case err != nil:
		if info, err := os.Stat(path); path == "-" || err == nil && !info.IsDir() && !info.Mode().IsRegular() {
			return nil, cmdline.Wrong("MODEL %s is a stream, and models are read from files; save it, and name %s", path, modelFiles())
		}
		return nil, cmdline.Wrong("MODEL %q is no model that garner reads: %s", path, modelFiles())
	}
	m, err := files.OpenModel(path, o)
	if _, missing := os.Stat(path); errors.Is(err, fs.ErrNotExist) && errors.Is(missing, fs.ErrNotExist) && strings.EqualFold(filepath.Ext(path), format.Extension) {
		return nil, cmdline.NoFile("MODEL", path)
	}
	if err != nil && o.Signature != "" && errors.Is(err, garner.ErrAttribute) {
		return nil, cmdline.About("--signature: ", err)
	}
	if errors.Is(err, model.ErrSignature) {
		return nil, err // of the command, which names none
	}
	return m, ofModel(err)
}

// openOne is openModel for what works on one graph: of a model with several signatures it needs
// to know which.
func openOne(path string, o files.ModelOptions) (*model.Model, error) {
	m, err := openModel(path, o)
	if err == nil && m.Signatures != nil {
		m.Close()
		return nil, cmdline.Wrong("%s has %d signatures; name one with --signature; %s", path, len(m.Signatures), names.First(m.Signatures))
	}
	return m, err
}

// graphless refuses a checkpoint alone, of which there is nothing to judge, or what else is
// asked. It is nil of a model with a graph.
func graphless(m *model.Model, what string) error {
	if g := m.Graph; m.Format != graphdef.Format || len(g.Inputs)+len(g.Nodes)+len(g.Outputs) > 0 {
		return nil
	}
	return garner.Errorf(nil, "%s holds variables and no graph, so that there is nothing to %s; name the model that reads them, a .meta file or a SavedModel's folder; \"garner info %[1]s\" lists the variables", m.Path, what)
}

// judgedHeap is about the heap that lint and model get for each MiB of a model file that
// has begun, beside the program's own. Without a limit the heap doubles before the
// garbage collector runs.
const judgedHeap = 48 << 20

// limitJudged keeps the heap near what a model takes that is listed or judged, until the
// function that it returns is called.
func limitJudged(path string) (restore func()) {
	size := int64(0)
	if info, err := os.Stat(path); err == nil {
		size = info.Size()
	}
	return cmdline.LimitHeap(judgedHeap * (1 + min(size, 1<<40)>>20))
}

// ofModel keeps an attribute error of a model from being taken for a usage error
// of the command.
func ofModel(err error) error {
	if err == nil {
		return nil
	}
	return &modelError{err}
}

// A modelError is an error in a model.
type modelError struct{ err error }

func (e *modelError) Error() string { return e.err.Error() }

// Is is errors.Is of the error inside, except for garner.ErrAttribute, the class
// of usage errors.
func (e *modelError) Is(target error) bool {
	return target != garner.ErrAttribute && errors.Is(e.err, target)
}

// As is errors.As of the error inside.
func (e *modelError) As(target any) bool { return errors.As(e.err, target) }
