package main

import (
	"bytes"
	"context"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/garner-go/garner"
	"github.com/garner-go/garner/files"
	"github.com/garner-go/garner/internal/cmdline"
)

func TestParseOperand(t *testing.T) {
	for text, want := range map[string]cmdline.OperandKind{
		"-":            cmdline.KindStdin,
		"[1, 2]":       cmdline.KindLiteral,
		"-1":           cmdline.KindLiteral,
		" -1":          cmdline.KindLiteral,
		"f32(2)":       cmdline.KindLiteral,
		"a.npy":        cmdline.KindFile,
		"a.gguf#b":     cmdline.KindFile,
		"part-*.npy":   cmdline.KindFile,
		"a.csv":        cmdline.KindFile,
		"a.parquet":    cmdline.KindUnreadable,
		"0:10:2":       cmdline.KindLiteral,
		"-5:0":         cmdline.KindLiteral,
		"a.npy#b":      cmdline.KindUnreadable,
		"none://a.npy": cmdline.KindUnreadable,
		"none://a":     cmdline.KindUnreadable,
		"":             cmdline.KindUnreadable,
	} {
		if got := cmdline.ParseOperand(text); got.Kind != want || got.Text != text || want == cmdline.KindFile && got.File.String() != text {
			t.Errorf("%q is of kind %d; want %d", text, got.Kind, want)
		}
	}
}

// TestURL gathers from a URL of a registered scheme, in memory and block by
// block, and writes to one.
func TestURL(t *testing.T) {
	written := &bytes.Buffer{}
	files.RegisterScheme(files.Scheme{
		Name: "test",
		Open: func(_ context.Context, url, _ string, _ files.Options) (*files.Input, error) {
			if url != "test://table" {
				return nil, garner.Errorf(os.ErrNotExist, "there is no object %s", url)
			}
			return files.Hold(garner.Of([]int16{1, 2, 3, 4, 5, 6}, 3, 2)), nil
		},
		Create: func(context.Context, string) (files.Sink, error) { return sunk{written}, nil },
	})
	out := filepath.Join(t.TempDir(), "out.npy")
	for _, tt := range []struct {
		args   []string
		status int
		stdout string
		stderr string
	}{
		{[]string{"gather", "test://table", "[2, 0]"}, cmdline.StatusDone, "[[5, 6], [1, 2]]\n", ""},
		{[]string{"gather", "test://table", "[2, 0]", "-o", out}, cmdline.StatusDone, "", ""},
		{[]string{"gather", out, "[0]"}, cmdline.StatusDone, "[[5, 6]]\n", ""},
		{[]string{"gather", "test://table", "[1]", "-o", out, "--memory", "1M"}, cmdline.StatusDone, "", ""},
		{[]string{"gather", out, "[0]"}, cmdline.StatusDone, "[[3, 4]]\n", ""},
		{[]string{"gather", "[1, 2]", "[1]", "-o", "test://out.npy"}, cmdline.StatusDone, "", ""},
		{[]string{"gather", "test://none", "[1]"}, cmdline.StatusRefused, "", "garner: there is no object test://none\n"},
		{[]string{"probe", "test://table"}, cmdline.StatusRefused, "", "garner: TABLE test://table can only be read whole"},
		{[]string{"info", "test://table"}, cmdline.StatusUsage, "", "garner: test://table cannot be listed"},
		{[]string{"gather", out, "[0]", "-o", "test://out.npy", "--resume"}, cmdline.StatusUsage, "", "garner: --resume: test://out.npy is no file on a disk, and what went into it is gone; name a file with -o OUT\n"},
	} {
		var stdout, stderr bytes.Buffer
		p := newProgram(strings.NewReader(""), &stdout, &stderr)
		if got := p.run(t.Context(), tt.args); got != tt.status || stdout.String() != tt.stdout || !strings.HasPrefix(stderr.String(), tt.stderr) || tt.stderr == "" && stderr.Len() > 0 {
			t.Errorf("%q: status %d, %q, %q", tt.args, got, stdout.String(), stderr.String())
		}
	}
	in, err := files.Read(written, files.Options{})
	if err != nil || in.Spec().String() != "i64[1]" {
		t.Errorf("%v, %v", in, err)
	}
}

// sunk is a Sink that keeps nothing back.
type sunk struct{ *bytes.Buffer }

func (sunk) Commit() error { return nil }
func (sunk) Abort()        {}
