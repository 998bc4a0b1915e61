package main

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"

	"github.com/garner-go/garner"
	"github.com/garner-go/garner/files"
	"github.com/garner-go/garner/internal/cmdline"
	"github.com/garner-go/garner/internal/corpus"
	"github.com/garner-go/garner/internal/terminal"
	"github.com/spf13/cobra"
)

func (p *program) verifyCommand() *cobra.Command {
	asJSON := false
	cmd := &cobra.Command{
		Use:   "verify PATH...",
		Short: "Compare garner with recorded answers",
		Long: `PATH is a corpus (.jsonl, one case per line), a directory of ONNX's operator tests
(a model.onnx beside test_data_set_0), or a folder that contains these at any depth.

verify prints every failure with its reason, and at the end the number of cases that
passed. A result of more than 512 MiB is not held in memory: garner makes it piece by
piece, compares each, and holds one piece in 32 against the definition. With --json every case is a line {"name","op","status","detail"}, where status
is pass, fail or skip, and the last line is {"passed","failed","skipped"}. An unknown
operator or field is a failure.

Exit status: 0 all passed; 1 there are failures, or a PATH could not be read; 2 the
command was wrong; 130 interrupted.`,
		Example: `  garner verify testdata/conformance/microsoft.jsonl
  garner verify testdata/onnx --json`,
		Args: func(cmd *cobra.Command, args []string) error {
			if len(args) == 0 {
				return cmdline.Usage(cmd, "verify takes one PATH or more: .jsonl files, or folders")
			}
			return nil
		},
		ValidArgsFunction: func(*cobra.Command, []string, string) ([]string, cobra.ShellCompDirective) {
			return []string{"jsonl"}, cobra.ShellCompDirectiveFilterFileExt
		},
		RunE: func(cmd *cobra.Command, args []string) error {
			return p.verify(cmd.Context(), args, asJSON)
		},
	}
	cmd.Flags().BoolVar(&asJSON, "json", false, "print a line of JSON for every case")
	return cmd
}

// tally is the last line of verify --json.
type tally struct {
	Passed  int `json:"passed"`
	Failed  int `json:"failed"`
	Skipped int `json:"skipped"`
}

func (p *program) verify(ctx context.Context, paths []string, asJSON bool) error {
	for _, path := range paths {
		if err := files.NoURL(path); err != nil {
			return cmdline.About("PATH ", err)
		}
		if _, err := os.Stat(path); errors.Is(err, fs.ErrNotExist) {
			return cmdline.NoFile("PATH", path)
		}
	}
	cases, err := corpus.Open(paths...)
	if err != nil {
		return err
	}
	to := p.printer()
	lines := to.json()
	var sum tally
	for c := range cases {
		if ctx.Err() != nil {
			return context.Cause(ctx)
		}
		r := c.Run()
		switch r.Status {
		case corpus.Pass:
			sum.Passed++
		case corpus.Skip:
			sum.Skipped++
		default:
			sum.Failed++
		}
		if asJSON {
			err = lines.Encode(r)
		} else if r.Status != corpus.Pass {
			// A line break in a name would look like another verdict.
			to.printf("%s\n", terminal.Printable(fmt.Sprintf("%s %s %s (%s): %s", r.Status, c.Source, r.Name, r.Op, r.Detail)))
		}
		// Print each verdict at once, and stop if the reader closed the pipe.
		if err = errors.Join(err, to.buf.Flush()); err != nil {
			return cmdline.NotPrinted(err)
		}
	}
	if asJSON {
		if err := lines.Encode(sum); err != nil {
			return cmdline.NotPrinted(err)
		}
	} else {
		to.printf("%d passed, %d failed, %d skipped\n", sum.Passed, sum.Failed, sum.Skipped)
	}
	if err := to.flush(); err != nil {
		return err
	}
	if sum.Failed > 0 {
		return garner.Errorf(nil, "%d of %d cases failed", sum.Failed, sum.Passed+sum.Failed+sum.Skipped)
	}
	return nil
}
