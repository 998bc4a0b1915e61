package main

import (
	"bytes"
	"path/filepath"
	"strings"
	"testing"

	"github.com/garner-go/garner"
	"github.com/garner-go/garner/internal/cmdline"
	"github.com/garner-go/garner/source"
	"github.com/spf13/cobra"
)

// TestDescribedErrors holds that a gather that is described, and opened in another folder, is
// refused with the text and the exit status of the command.
func TestDescribedErrors(t *testing.T) {
	dir := t.TempDir()
	t.Chdir(dir)
	for path, of := range map[string][2]string{ // DATA and INDICES
		"f.npy":      {"f32[[1,2],[3,4]]", "0:2"},
		"i.npy":      {"[[1,2],[3,4]]", "0:2"},
		"ids.npy":    {"[1,0]", "0:2"},
		"bad.npy":    {"[0,5,7]", "0:3"},
		"low.npy":    {"[0,-1]", "0:2"},
		"half.npy":   {"[0.5,1.5]", "0:2"},
		"none.npy":   {"f32[[1,2]]", "i64[]"},
		"text.npy":   {`["a","b"]`, "0:2"},
		"scales.npy": {"f64[1,2]", "0:2"},
	} {
		var stderr bytes.Buffer
		if status := newProgram(nil, &bytes.Buffer{}, &stderr).run(t.Context(), []string{"gather", of[0], of[1], "-o", path}); status != cmdline.StatusDone {
			t.Fatal(path, stderr.String())
		}
	}
	bag := " --as torch.embedding_bag --attr mode=sum"
	for _, line := range []string{
		"gather f.npy bad.npy",
		"gather f.npy low.npy",
		"gather f.npy low.npy --as onnx.Gather-13 --axis 2",
		"gather f32[[1,2],[3,4]] bad.npy",
		"gather [1,2] [2] --outside error",
		"gather [1,2] -3 --negative from-end",
		"gather f.npy half.npy",
		"gather f.npy [0.5]",
		"gather f.npy ids.npy --axis 2",
		"gather f.npy ids.npy --batch-dims 3",
		"gather missing.npy ids.npy",
		"gather f.npy ids.npy --dtype f16",
		"gather f.npy ids.npy --indices-shape 2",
		"gather f.npy ids.npy --indices-offset 2",
		"gather [1] [0] --shape 1",
		"gather [1] [0] --indices-shape 1",
		"gather i.npy ids.npy --to f32",
		"gather i.npy ids.npy --outside fill=0.5",
		"gather f.npy ids.npy --outside fill=x",
		"gather f.npy text.npy",
		"gather f.npy ids.npy" + bag,
		"gather f.npy ids.npy" + bag + " --operand offsets=missing.npy",
		"gather f.npy ids.npy" + bag + " --operand offsets=half.npy",
		"gather f.npy ids.npy" + bag + " --operand offsets=[0,5]",
		"gather f.npy bad.npy" + bag + " --operand offsets=[0]",
		"gather f.npy ids.npy" + bag + " --operand offsets=[0] --operand per_sample_weights=scales.npy",
		"gather f.npy ids.npy" + bag + " --operand offsets=[0] --operand per_sample_weights=[1]",
		"gather f.npy ids.npy" + bag + " --operand offsets=[0] --to per_sample_weights=f32",
		"gathernd f.npy ids.npy --as openvino.GatherND-8 --batch-dims 1",
		"gathernd f.npy [[0,0,0]]",
		"elements f.npy ids.npy",
		"elements f.npy [[0,1]] --axis 5",
		"gather none.npy ids.npy",
	} {
		t.Run(line, func(t *testing.T) {
			t.Chdir(dir)
			var want, got bytes.Buffer
			words := strings.Split(line, " ")
			wantStatus := newProgram(strings.NewReader(""), &bytes.Buffer{}, &want).run(t.Context(), append(words, "-o", "out.npy"))
			p := newProgram(strings.NewReader(""), &bytes.Buffer{}, &got)
			err := described(t, p, words)
			if status := p.Report(err); wantStatus == cmdline.StatusDone || status != wantStatus || !sameText(got.String(), want.String(), dir) {
				t.Errorf("%s: described: %d, %s; the command: %d, %s", line, status, got.String(), wantStatus, want.String())
			}
		})
	}
}

// sameText compares messages, of which one has the absolute paths of files in a folder.
func sameText(absolute, relative, dir string) bool {
	plain := func(text string) string {
		text = strings.ReplaceAll(text, dir+string(filepath.Separator), "")
		return strings.ReplaceAll(text, " here; check its name, or give its folder too", "; check its name")
	}
	return plain(absolute) == plain(relative)
}

// described runs a command line by way of its description, from another folder.
func described(t *testing.T, p *program, words []string) error {
	t.Helper()
	f, cmd := &cmdline.Flags{}, &cobra.Command{}
	var kind cmdline.Command
	for _, k := range cmdline.Commands {
		if string(k.Kind) == words[0] {
			kind = k
		}
	}
	f.Add(cmd, kind)
	f.AddTo(cmd)
	if err := cmd.ParseFlags(shielded(words[1:])); err != nil {
		t.Fatal(err)
	}
	r, err := p.Ask(t.Context(), kind.Kind, f, cmd.Flags().Args(), (&cmdline.SizeFlag{}).Budget(), nil)
	if err != nil {
		return err
	}
	d, err := r.Describe(f)
	if err != nil {
		return err
	}
	t.Chdir(t.TempDir())
	o, err := d.Open(t.Context())
	if err != nil {
		return err
	}
	defer o.Close()
	out, err := garner.New(o.Plan.DType, o.Plan.Out...)
	if err != nil {
		return err
	}
	return o.Remedy(source.GatherInto(t.Context(), o.Op, o.Data, o.Indices, out, source.Options{Further: o.Further}))
}

// shielded allows a negative number as an operand, as the command does.
func shielded(words []string) []string {
	all := make([]string, len(words))
	for i, w := range words {
		if all[i] = w; strings.HasPrefix(w, "-") && !strings.HasPrefix(w, "--") {
			all[i] = " " + w
		}
	}
	return all
}
