package main

import (
	"bufio"
	"context"
	"fmt"
	"strings"

	"github.com/garner-go/garner"
	"github.com/garner-go/garner/internal/cmdline"
	"github.com/garner-go/garner/internal/literal"
	"github.com/garner-go/garner/internal/run"
	"github.com/garner-go/garner/internal/terminal"
	"github.com/garner-go/garner/source"
)

// printed is the largest number of elements, or empty lists, of a result that is printed
// without --all.
const printed = literal.Printed

// shown is the number of elements at either end of a result that a summary has.
const shown = 5

// How a result is written instead of printed, for messages.
const (
	toOut = "-o - writes npy, and -o OUT a file"
	toDir = "and -o DIR writes files"
)

// allUsage is the usage text of --all.
const allUsage = "print the result whole, however large it is"

// long reports whether a result is too large to be printed without --all. Where
// it is printed onto no terminal, that is an error: a program reads all of it or
// nothing, never a summary.
// files says how it is written into files instead.
func (p *program) long(name string, spec garner.Spec, files string) (bool, error) {
	shape, _ := spec.Shape()
	if literal.Lists(shape, printed) <= printed {
		return false, nil
	}
	if terminal.Is(p.Stdout) {
		return true, nil
	}
	much := fmt.Sprintf("more than %d empty lists", printed)
	if n, _ := shape.Len(); n > 0 {
		much = fmt.Sprintf("%d elements", n)
	}
	return true, cmdline.Wrong("%s is %s%s, %s; outside a terminal more than %d are printed only if that is asked for: --all prints all, %s",
		name, spec.DType, shape, much, printed, files)
}

// print prints a result: as nested lists, or as a summary where it is long and
// --all is not given.
func (p *program) print(t garner.Tensor, all bool) error {
	long, err := p.long("the result", t.Spec(), toOut)
	to := p.printer()
	switch {
	case all || !long:
		err = writeLists(to.buf, t)
		to.printf("\n")
	case err == nil:
		var text string
		text, err = summary(t)
		to.printf("%s", text)
	}
	if err != nil {
		return err
	}
	return to.flush()
}

// writeLists writes a tensor as nested lists, as Tensor.Text makes them, a part at
// a time. It copies each part, because a mapped file may be cut short meanwhile.
func writeLists(to *bufio.Writer, t garner.Tensor) error {
	if literal.Lists(t.Shape(), printed) <= printed {
		t, err := t.Clone()
		if err == nil {
			_, err = to.WriteString(t.Text())
			err = cmdline.NotPrinted(err)
		}
		return err
	}
	rows, rest := t.Shape()[0], t.Shape()[1:]
	step := max(1, printed/literal.Lists(rest, printed))
	to.WriteByte('[')
	for at := 0; at < rows; at += step {
		if at > 0 {
			to.WriteString(", ")
		}
		part, err := t.Slice(0, at, min(at+step, rows), 1)
		if err != nil {
			return err
		}
		if literal.Lists(part.Shape(), printed) > printed { // one row
			if part, err = part.Reshape(rest...); err == nil {
				err = writeLists(to, part)
			}
			if err != nil {
				return err
			}
			continue
		}
		if part, err = part.Clone(); err != nil {
			return err
		}
		text := part.Text()
		if _, err := to.WriteString(text[1 : len(text)-1]); err != nil {
			return cmdline.NotPrinted(err)
		}
	}
	return cmdline.NotPrinted(to.WriteByte(']'))
}

// summary is a large tensor's dtype, shape, first and last elements.
func summary(t garner.Tensor) (string, error) {
	return summed(t.DType(), t.Shape(), func(first, n int) (string, error) {
		words := make([]string, n)
		for i := range words {
			at, rest := make([]int, t.Rank()), first+i
			for axis := t.Rank() - 1; axis >= 0; axis-- {
				at[axis], rest = rest%t.Shape()[axis], rest/t.Shape()[axis]
			}
			var err error
			if words[i], err = t.At(at...); err != nil {
				return "", err
			}
		}
		return "[" + strings.Join(words, ", ") + "]", nil
	})
}

// summed is the summary of a tensor, of which part gives n elements in row-major
// order from first on, as a list.
func summed(dtype garner.DType, shape garner.Shape, part func(first, n int) (string, error)) (string, error) {
	n, _ := shape.Len()
	if n == 0 {
		return fmt.Sprintf("%s%s, which has no elements\n", dtype, shape), nil
	}
	first, err := part(0, min(shown, n))
	if err != nil {
		return "", err
	}
	last, err := part(max(0, n-shown), min(shown, n))
	if err != nil {
		return "", err
	}
	return fmt.Sprintf("%s%s, %d elements\nfirst %s\nlast  %s\n\"-o FILE.npy\" writes them all, and \"--all\" prints them\n", dtype, shape, n, first, last), nil
}

// gatherPrinted runs a gather whose result is printed, without what the result does
// not need: of a long one that is copied, only the ends, and of DATA in a file only rows.
// done is false where both operands are tensors and all of the result is wanted.
func (p *program) gatherPrinted(ctx context.Context, f *gatherFlags, r *cmdline.Request, plan *garner.Plan) (done bool, err error) {
	if plan.Copies() && literal.Lists(plan.Out, printed) > printed && !f.all {
		if done, err := p.summarise(ctx, f, r, plan); done || err != nil {
			return done, err
		}
	}
	if r.DataTensor.DType() != garner.Invalid {
		return false, nil
	}
	more, _ := r.Arrays()
	out, err := newResult(plan, r.Memory.Left())
	if err != nil {
		return false, err
	}
	meter := p.Meter("gathering", cmdline.Volume(out.DType(), int64(out.Len())))
	err = source.GatherInto(ctx, r.Op, r.Data.Array, r.IndexArray(), out, source.Options{
		Threads: int(f.threads.Value), Further: more, Progress: func(done, _ int64) { meter.Set(done) },
	})
	meter.Stop()
	if err != nil {
		return false, f.Policy.Remedy(err)
	}
	return true, p.print(out, f.all)
}

// summarise prints the summary of a gather whose result is long. It looks at every
// index, and reads the rows of the shown elements alone. Strings have no rows that
// could be read alone; done is then false.
func (p *program) summarise(ctx context.Context, f *gatherFlags, r *cmdline.Request, plan *garner.Plan) (done bool, err error) {
	long := func() error {
		_, err := p.long("the result", garner.SpecOf(plan.DType, plan.Out...), toOut)
		return err
	}
	if r.IndicesTensor.Len() > cmdline.FewIndices {
		if err := long(); err != nil {
			return false, err
		}
	}
	// What is wrong with the operands outranks where the result goes.
	if err := plan.Check(ctx, r.IndicesTensor, r.More()...); err != nil {
		return false, f.Policy.Remedy(err)
	}
	if err := r.Changed(); err != nil {
		return false, err
	}
	if err := long(); err != nil || plan.DType == garner.String {
		return false, err
	}
	text, err := summed(plan.DType, plan.Out, func(first, n int) (string, error) {
		t, err := run.Part(ctx, r.Op, r.Data.Array, r.Indices.Array, plan.DType, first, n)
		return t.Text(), err
	})
	if err == nil {
		err = r.Changed()
	}
	if err != nil {
		return false, err
	}
	to := p.printer()
	to.printf("%s", text)
	return true, to.flush()
}
