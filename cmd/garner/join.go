package main

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"github.com/spf13/cobra"

	"github.com/garner-go/garner"
	"github.com/garner-go/garner/files"
	"github.com/garner-go/garner/internal/cmdline"
	"github.com/garner-go/garner/operators"
)

const joinHelp = `PARTS is a pattern of the files that the runs of one gather with --part wrote, in
quotes: garner joins them in the order of their numbers, along the first axis.

Where the names say K-of-N, as those of 'rows-{part}-of-{parts}.npy' do, all parts 1 to N
must be there. Of other names the numbers must have no gap, and whether the last part is
there cannot be told. Exit status 1 names the parts that are missing.

The parts stay. An interrupted join is continued by --resume, as a gather is. Other
commands need no join: they open the pattern as one array.`

func (p *program) joinCommand() *cobra.Command {
	f := &gatherFlags{}
	cmd := &cobra.Command{
		Use:     "join PARTS -o OUT",
		Short:   "Join the parts that gathers with --part wrote",
		Long:    joinHelp,
		Example: "  garner join 'rows-*-of-4.npy' -o rows.npy",
		Args: func(cmd *cobra.Command, args []string) error {
			switch {
			case len(args) > 1:
				return cmdline.Usage(cmd, "garner join takes one pattern; %d arguments were given: put it in quotes, so that the shell leaves it as it is", len(args))
			case len(args) == 0:
				return cmdline.Usage(cmd, "garner join takes a pattern of the parts, such as 'rows-*-of-64.npy'")
			}
			return nil
		},
		ValidArgsFunction: cmdline.CompleteOperand,
		RunE: func(cmd *cobra.Command, args []string) error {
			if f.out == "" {
				return cmdline.Usage(cmd, "say where to write the whole: -o OUT")
			}
			return p.join(cmd.Context(), f, args[0])
		},
	}
	flags := cmd.Flags()
	flags.StringVarP(&f.out, "output", "o", "", "write the whole to `OUT`: a .npy, .npz, .safetensors, .gguf or .raw file, or - for npy on standard output")
	flags.StringVar(&f.name, "name", "", "the `NAME` of the whole in a .npz (default arr_0), .safetensors or .gguf file (default output)")
	flags.Var(&f.stream.memory, "memory", "take at most `SIZE` of memory at a time, such as 512M or 2G (default: as much as is fastest)")
	flags.BoolVar(&f.stream.resume, "resume", false, "continue an interrupted run of the same command; safe on a first run")
	f.Data.Add(cmd, "")
	return cmd
}

// whole is the operator whose result is its data.
type whole struct{}

func (whole) Lower(l *garner.Lowering) { l.Copy() }
func (whole) Unindexed()               {}

func (p *program) join(ctx context.Context, f *gatherFlags, pattern string) error {
	if err := p.checkOutput(f.out, f.name); err != nil {
		return err
	}
	operands, err := cmdline.ParseOperands([]string{pattern})
	if err != nil {
		return err
	}
	parts := operands[0]
	if parts.Kind != cmdline.KindFile || !parts.File.IsPattern() {
		return cmdline.Wrong("%s is no pattern of files; give one that all parts match, such as 'rows-*-of-64.npy'", cmdline.Brief(pattern))
	}
	r := &cmdline.Request{
		Operator: operators.Operator{Name: "join"}, Op: whole{}, Operands: operands,
		Options: f.Data.Options(), Memory: f.stream.memory.Budget(),
	}
	if err := f.check(parts); err != nil {
		return err
	}
	if r.Data, err = p.OpenInPlace(ctx, "PARTS", parts, r.Options); err != nil {
		if errors.Is(err, files.ErrMemory) {
			return &cmdline.UsageError{Message: "PARTS " + cmdline.Bare(err), Err: err}
		}
		return err
	}
	defer r.Close()
	if missing := missingParts(r.Data.Paths); missing != "" {
		remedy := "make them, and join again"
		if _, of := partNumbers(r.Data.Paths); of < 0 {
			remedy = "give a pattern that matches those of one, such as 'rows-*-of-64.npy'"
		}
		return garner.Errorf(nil, "%s: %s; %s", pattern, missing, remedy)
	}
	return p.stream(ctx, f, r)
}

// kOfN finds the number of a part, and of parts, in a name.
var kOfN = regexp.MustCompile(`(\d+)[-_. ]?of[-_. ]?(\d+)`)

// missingParts says which parts the names of files lack; "" where none.
func missingParts(paths []string) string {
	numbers, of := partNumbers(paths)
	if of < 0 {
		return "these are parts of several results, by the number behind \"of\""
	}
	if numbers == nil {
		return ""
	}
	first, last := 1, of
	if of == 0 {
		first, last = min(numbers[0], 1), numbers[len(numbers)-1]
	}
	var lacking []string
	at := first
	gap := func(end int) { // the parts at … end-1
		switch end - at {
		case 0:
		case 1:
			lacking = append(lacking, strconv.Itoa(at))
		default:
			lacking = append(lacking, fmt.Sprintf("%d to %d", at, end-1))
		}
	}
	for _, n := range numbers {
		if n < at {
			return fmt.Sprintf("part %d is there twice", n)
		}
		if of > 0 && n > of {
			return fmt.Sprintf("there is a part %d of %d", n, of)
		}
		gap(n)
		at = n + 1
	}
	gap(last + 1)
	if len(lacking) == 0 {
		return ""
	}
	const most = 20
	if len(lacking) > most {
		lacking = append(lacking[:most], "others")
	}
	total := ""
	if of > 0 {
		total = fmt.Sprintf(" of %d", of)
	}
	n := len(lacking)
	if n == 1 && !strings.Contains(lacking[0], " ") {
		return "part " + lacking[0] + total + " is missing"
	}
	text := strings.Join(lacking[:n-1], ", ")
	if n > 1 {
		text += " and "
	}
	return "parts " + text + lacking[n-1] + total + " are missing"
}

// partNumbers returns the numbers of parts that names say, ascending, and how many parts
// there are; 0 where the names do not say it, and -1 where they say several numbers. It
// returns nil for names that differ in more than one number.
func partNumbers(paths []string) (numbers []int, of int) {
	names := make([]string, len(paths))
	for i, path := range paths {
		names[i] = filepath.Base(path)
	}
	var all []int
	for _, name := range names {
		m := kOfN.FindStringSubmatch(name)
		if m == nil {
			all = nil
			break
		}
		k, err := strconv.Atoi(m[1])
		n, err2 := strconv.Atoi(m[2])
		if err != nil || err2 != nil {
			return nil, 0
		}
		if of > 0 && n != of {
			return nil, -1
		}
		all, of = append(all, k), n
	}
	if all == nil {
		all, of = varying(names), 0
	}
	slices.Sort(all)
	return all, of
}

var digitRuns = regexp.MustCompile(`\d+`)

// varying returns the one number that differs among names; nil where there are others, or
// none.
func varying(names []string) []int {
	var runs [][]string
	differs := -1
	for _, name := range names {
		r := digitRuns.FindAllString(name, -1)
		if len(runs) > 0 {
			if len(r) != len(runs[0]) || digitRuns.ReplaceAllString(name, "0") != digitRuns.ReplaceAllString(names[0], "0") {
				return nil
			}
			for i := range r {
				if r[i] == runs[0][i] {
					continue
				}
				if differs >= 0 && differs != i {
					return nil
				}
				differs = i
			}
		}
		runs = append(runs, r)
	}
	if differs < 0 {
		return nil
	}
	numbers := make([]int, len(names))
	for i, r := range runs {
		n, err := strconv.Atoi(r[differs])
		if err != nil {
			return nil
		}
		numbers[i] = n
	}
	return numbers
}
