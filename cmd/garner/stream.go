package main

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/garner-go/garner/files"
	"github.com/garner-go/garner/internal/cmdline"
	"github.com/garner-go/garner/internal/terminal"
	"github.com/garner-go/garner/internal/units"
	"github.com/garner-go/garner/source"
)

// lasting is the least size in bytes of a result that is written resumably
// without being asked for; a smaller one is soon made again.
const lasting = 64 << 20

// streamFlags are the flags of a gather out of a file.
type streamFlags struct {
	memory cmdline.SizeFlag
	resume bool
	part   partFlag
}

// flag is the first given flag that only a gather out of a file can do; "" where
// none is given.
func (f *streamFlags) flag() string {
	switch {
	case f.memory.Given:
		return "--memory " + f.memory.Text
	case f.resume:
		return "--resume"
	case f.part.given():
		return "--part " + f.part.String()
	}
	return ""
}

// check refuses flags that DATA or OUT rules out, before anything is opened.
func (f *gatherFlags) check(data cmdline.Operand) error {
	flag := f.stream.flag()
	format, _ := formatOf(f.out)
	switch {
	case flag == "":
		return nil
	case f.out == "":
		return cmdline.Wrong("%s: a result that is printed is made in memory; write it with -o OUT", flag)
	case data.Kind != cmdline.KindFile:
		return cmdline.Wrong("%s: DATA %s is in memory as a whole; put it into a file, such as a .npy", flag, cmdline.Brief(data.Text))
	case f.stream.resume && f.out == "-":
		return cmdline.Wrong("--resume: what went to standard output is gone; name a file with -o OUT")
	case f.stream.resume && format.Name == "npz":
		return cmdline.Wrong("--resume: a .npz file ends with sums of all its bytes, so that no other run can go on with it; write a .npy file")
	}
	return nil
}

// streams reports whether a gather may run block by block out of a file.
func (f *gatherFlags) streams(data cmdline.Operand) bool {
	return f.out != "" && data.Kind == cmdline.KindFile
}

// stream gathers from DATA in a file and writes the result block by block.
func (p *program) stream(ctx context.Context, f *gatherFlags, r *cmdline.Request) error {
	if f.stream.memory.Given {
		defer cmdline.LimitHeap(f.stream.memory.Bytes)()
	}
	a, err := p.OpenArrays(ctx, &f.Flags, r, &f.stream.memory)
	if err != nil {
		return err
	}
	plan := a.Plan
	if err := checkFirst(ctx, plan, r.Data.Spec(), r.Indices.Array, f.stream.memory.Bytes); err != nil {
		return f.Policy.Remedy(err)
	}
	o := source.Options{Threads: int(f.threads.Value), Further: a.Further}
	if !f.stream.memory.Given {
		if o.Memory = cmdline.Blocks(r.Memory.Left()); o.Memory > 0 {
			defer cmdline.LimitHeap(o.Memory)()
		}
	} else {
		o.Memory = f.stream.memory.Bytes - a.Held
		what := cmdline.OperandRoles[1] + " " + cmdline.Brief(r.Operands[1].Text)
		if a.Apart > a.Held/100 { // less is not worth a word
			what = strings.Join(r.Memory.Of, " and ")
		}
		remedy := cmdline.IntoFile
		if plan.Bag != nil {
			remedy = cmdline.GiveMemory
		}
		if err := f.stream.memory.Beside(what, a.Held, remedy); err != nil {
			return err
		}
	}
	create := files.CreateOptions{
		Name: f.name, Inputs: r.Paths(),
		Resume: f.stream.resume,
	}
	switch {
	case a.Facts != nil:
		create.Identity = a.Facts
		if f.stream.part.given() {
			create.Identity = append(create.Identity, files.Fact{What: "--part", Value: f.stream.part.String()})
		}
	case f.stream.resume:
		return cmdline.Wrong("--resume: DATA and INDICES of a URL cannot be told from others; put them into files")
	}
	if !f.stream.memory.Given && !f.stream.resume {
		create.ResumeFrom = lasting
	}
	spec, part, err := f.stream.part.of(plan)
	if err != nil {
		return err
	}
	var checking *terminal.Meter
	checked := false
	create.Checked = func(done, total int64) {
		if !checked {
			checked, checking = true, p.Meter("checking what is kept", total)
		}
		checking.Set(done)
	}
	to, err := p.create(ctx, f.out, spec, create)
	checking.Stop()
	if checked && errors.Is(err, cmdline.ErrInterrupted) {
		return cmdline.Interrupted(fmt.Sprintf("interrupted; what is kept of %s stays, and the same command with --resume goes on", f.out))
	}
	if errors.Is(err, files.ErrKept) {
		return cmdline.Told(err.Error()+": run without --resume", err)
	}
	if errors.Is(err, files.ErrNoResume) {
		return &cmdline.UsageError{Message: "--resume: " + cmdline.Bare(err) + " with -o OUT", Err: err}
	}
	if err != nil {
		return err
	}
	defer to.end()
	switch {
	case f.stream.resume && to.Discarded():
		fmt.Fprintf(p.Stderr, "garner: what is kept of %s is damaged behind its first %s, and this run makes that again\n", f.out, units.Bytes(to.From()))
	case f.stream.resume && !to.Resumed():
		// So a job that is restarted needs only one command.
		fmt.Fprintf(p.Stderr, "garner: there is nothing of %s to go on with, so this run starts it\n", f.out)
	case to.Discarded():
		fmt.Fprintf(p.Stderr, "garner: what an interrupted run had written of %s is thrown away, and this one starts anew; --resume would have gone on\n", f.out)
	}
	o.Range = &source.Range{First: part.First + to.Rest().First, End: part.End}
	meter := p.Meter("gathering", int64(cmdline.SpaceOf(spec)))
	meter.From(to.From())
	o.Progress = func(done, _ int64) { meter.Set(to.From() + done) }
	err = source.Gather(ctx, r.Op, r.Data.Array, r.Indices.Array, to, o)
	if err == nil {
		err = context.Cause(ctx)
	}
	if err == nil {
		err = to.Commit()
	}
	meter.Stop()
	if errors.Is(err, cmdline.ErrInterrupted) {
		if kept := to.Keep(); kept > 0 {
			return cmdline.Interrupted(fmt.Sprintf("interrupted; %s of the %s of %s are kept, and the same command with --resume goes on", units.Bytes(kept), units.Bytes(to.Size()), f.out))
		}
	}
	return f.Policy.Remedy(err)
}
