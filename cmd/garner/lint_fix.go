package main

import (
	"errors"
	"slices"
	"strings"

	"github.com/garner-go/garner"
	"github.com/garner-go/garner/internal/cmdline"
	"github.com/garner-go/garner/lint"
	"github.com/garner-go/garner/lint/fix"
	"github.com/garner-go/garner/stablehlo/text"
	"github.com/spf13/cobra"
)

// mended are the formats of the models that --fix writes.
var mended = []string{"ONNX", "OpenVINO IR"}

// lintFix is lint with --fix.
func (p *program) lintFix(cmd *cobra.Command, path string, f lintFlags, o lint.Options, least lint.Severity) error {
	switch {
	case !f.fix:
		return cmdline.Usage(cmd, "-o and --rules are for --fix; add it")
	case f.out == "":
		return cmdline.Usage(cmd, "--fix writes a mended copy of %s; name it with -o OUT", path)
	case f.format == "sarif":
		return cmdline.Usage(cmd, "--format sarif lists findings; with --fix it is text or json")
	case f.opening.Lenient:
		return cmdline.Usage(cmd, "--fix changes a text that is XML; mend by hand what --lenient accepts")
	}
	options := fix.Options{Lint: o}
	if f.rules != "" {
		for rule := range strings.SplitSeq(f.rules, ",") {
			options.Rules = append(options.Rules, strings.ToUpper(strings.TrimSpace(rule)))
		}
	}
	// The messages of files that are no models are those of lint.
	m, err := openModel(path, f.opening)
	if err != nil {
		return err
	}
	if err := errors.Join(graphless(m, "mend"), m.Close()); err != nil {
		return err
	}
	if !slices.Contains(mended, m.Format) {
		remedy := "convert it first, garner convert " + plain(path) + " -o OUT.onnx, and mend that"
		if m.Format == text.Format { // of which garner writes no other format
			remedy = "mend by hand the program that it is exported from, by what lint without --fix prints"
		}
		return garner.Errorf(nil, "%s is a model of %s, and --fix writes .onnx and .xml (OpenVINO IR) alone; %s", path, m.Format, remedy)
	}
	defer limitJudged(path)()
	if cmd.Flags().Changed("fail-on") {
		options.Accept = func(report *fix.Report) error {
			if n := report.AtLeast(least); n > 0 {
				return garner.Errorf(nil, "%s is not written: %d of %d findings that would remain are of severity %s or above", f.out, n, len(report.Remaining), least)
			}
			return nil
		}
	}
	report, refused := fix.File(cmd.Context(), path, f.out, options)
	if report == nil {
		err := refused
		if errors.Is(err, garner.ErrAttribute) && (strings.Contains(err.Error(), "cannot write ") || strings.Contains(err.Error(), "there is no rule")) {
			return cmdline.Wrong("%s", strings.TrimPrefix(err.Error(), "garner: "))
		}
		return ofModel(err)
	}
	to := p.printer()
	if f.format == "json" {
		err = report.WriteJSON(to.buf)
	} else {
		err = report.WriteText(to.buf)
	}
	if err != nil {
		return cmdline.NotPrinted(err)
	}
	if err := to.flush(); err != nil {
		return err
	}
	return refused
}
