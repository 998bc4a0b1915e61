package main

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"strings"
	"sync"
	"time"

	"github.com/garner-go/garner/beam"
	"github.com/garner-go/garner/internal/cmdline"
	"github.com/garner-go/garner/internal/terminal"
	"github.com/garner-go/garner/internal/units"
)

const (
	look   = 500 * time.Millisecond // between two looks at how far a job is
	ending = time.Minute            // for an engine to end a job that is cancelled
)

// errLeft ends the wait for a job that is to run on.
var errLeft = errors.New("garner-beam: the job runs on")

// A following is a wait for a job: what a terminal shows meanwhile, and what Ctrl-C does.
type following struct {
	*program
	flags *gatherFlags
	job   *beam.Running

	mu     sync.Mutex
	meter  *terminal.Meter
	stage  string // that the meter shows
	asking bool   // a question is on the terminal, and nothing else is written
	held   []string
}

// follow waits until a job has ended. On a terminal it shows how far the job is.
func (p *program) follow(ctx context.Context, flags *gatherFlags, job *beam.Running) error {
	f := &following{program: p, flags: flags, job: job}
	p.following.Store(f)
	defer p.following.Store(nil)
	var message func(string)
	shown := make(chan struct{})
	watching, stop := context.WithCancel(ctx)
	if terminal.Is(p.Stderr) {
		if flags.runner == beam.FlinkRunner {
			message = f.tell
			f.tell(fmt.Sprintf("job %s: %d shards, %s", job.ID, job.Shards, units.Bytes(job.Bytes)))
			if flags.flink == "" {
				f.tell("without --flink HOST:8081 nobody tells how far it is")
			}
		}
		go func() {
			defer close(shown)
			f.watch(watching)
		}()
	} else {
		close(shown)
	}
	err := job.Wait(ctx, message)
	stop()
	<-shown
	f.end()
	switch {
	case err == nil || ctx.Err() == nil:
		return err
	case errors.Is(context.Cause(ctx), errLeft):
		return p.leave(flags, job.ID)
	}
	return f.cancel(context.WithoutCancel(ctx))
}

// watch shows how far the job is until ctx ends.
func (f *following) watch(ctx context.Context) {
	var before int64 // bytes of shards of an earlier run
	tick := time.NewTicker(look)
	defer tick.Stop()
	stage, done, total := "1/4 checking indices", int64(0), int64(-1)
	for {
		f.show(stage, done, total, before)
		select {
		case <-ctx.Done():
			return
		case <-tick.C:
		}
		// An engine that does not answer now may answer later, and Wait tells why it does not.
		c, err := f.job.Counts(ctx)
		if err != nil {
			continue
		}
		if c.ShardsWritten == 0 {
			before = c.BytesMade
		}
		if what, bytes, of := stageOf(c, f.job); what != "" {
			stage, done, total = what, bytes, of
		}
	}
}

// stageOf tells which stage of a job counts, and how many bytes of how many it has done: 0
// where their number is not known. It is "" before the indices are checked.
func stageOf(c beam.Counts, job *beam.Running) (what string, done, total int64) {
	switch {
	case c.ShardsWritten > 0, c.RowPayload > 0 && c.RowPayload >= c.BytesWanted:
		return fmt.Sprintf("4/4 writing %d shards", job.Shards), c.BytesMade, job.Bytes
	case c.RowPayload > 0:
		return fmt.Sprintf("3/4 reading %d rows", c.RowsWanted), c.RowPayload, c.BytesWanted
	case c.RowsWanted > 0 || c.ShardsKept > 0:
		return "2/4 finding rows", c.BytesWanted, 0
	}
	return "", 0, 0
}

// show shows a stage. before are the bytes that an earlier run has made.
func (f *following) show(stage string, done, total, before int64) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.asking {
		return
	}
	if stage != f.stage {
		f.meter.Stop()
		f.meter, f.stage = f.Meter(stage, total), stage
		if strings.HasPrefix(stage, "4/4") {
			f.meter.From(before)
		}
	}
	f.meter.Set(done)
}

// tell writes what an engine says, one line, above the meter.
func (f *following) tell(text string) {
	text, _, _ = strings.Cut(strings.TrimSpace(text), "\n")
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.asking {
		f.held = append(f.held, text)
		return
	}
	f.hide()
	f.say("%s", text)
}

// hide removes the meter. The next show makes another.
func (f *following) hide() {
	f.meter.Stop()
	f.meter, f.stage = nil, ""
}

// end removes the meter, and leaves the line of a question.
func (f *following) end() {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.asking {
		fmt.Fprintln(f.Stderr)
	}
	f.hide()
}

// ask asks on a terminal what is to become of the job, and returns the cause by which the
// wait ends: nil where it goes on. Without a terminal the job is to be cancelled.
func (f *following) ask() error {
	if !terminal.Is(f.stdin) || !terminal.Is(f.Stderr) {
		return cmdline.ErrInterrupted
	}
	f.mu.Lock()
	f.hide()
	f.asking = true
	question := "\nThe job runs in this process and ends with it. Cancel it? y cancels; anything else goes on: "
	if f.flags.runner == beam.FlinkRunner {
		question = fmt.Sprintf("\nCancel job %s? y cancels; d leaves it running and ends this command; anything else waits on: ", f.job.ID)
	}
	fmt.Fprint(f.Stderr, question)
	f.mu.Unlock()
	answer := f.answer()
	f.mu.Lock()
	f.asking = false
	held := f.held
	f.held = nil
	f.mu.Unlock()
	for _, text := range held {
		f.tell(text)
	}
	switch {
	case strings.HasPrefix(answer, "y"):
		return cmdline.ErrInterrupted
	case strings.HasPrefix(answer, "d") && f.flags.runner == beam.FlinkRunner:
		return errLeft
	}
	return nil
}

// answer reads a line from the terminal.
func (f *following) answer() string {
	line, _ := bufio.NewReader(f.stdin).ReadString('\n')
	return strings.ToLower(strings.TrimSpace(line))
}

// cancel cancels the job, and tells what is left of it.
func (f *following) cancel(ctx context.Context) error {
	ctx, stop := context.WithTimeout(ctx, ending)
	defer stop()
	text := f.flags.interrupted()
	switch err := f.job.Cancel(ctx); {
	case err != nil:
		text = fmt.Sprintf("interrupted; job %s is perhaps not cancelled: %s", f.job.ID, cmdline.Bare(err))
	case f.flags.runner == beam.FlinkRunner && f.flags.flink == "":
		text += fmt.Sprintf("; the job server calls job %s cancelled, and Flink may run it to its end: only its REST API cancels it, which --flink names", f.job.ID)
	}
	return cmdline.Interrupted(text)
}

// interrupted says what a job that is cancelled leaves.
func (f *gatherFlags) interrupted() string {
	return fmt.Sprintf("interrupted; what is made of %s stays, and the same command goes on", f.out)
}

// leave prints the id of a job that runs on, and how to ask for it.
func (p *program) leave(f *gatherFlags, id string) error {
	if _, err := io.WriteString(p.Stdout, id+"\n"); err != nil {
		return cmdline.NotPrinted(err)
	}
	more := ""
	if f.flink != "" {
		more = " --flink " + f.flink
	}
	p.say("the job runs on; \"garner-beam status %s --endpoint %s%s\" tells how far it is", id, f.endpoint, more)
	return nil
}

// say writes a message for people.
func (p *program) say(format string, args ...any) {
	fmt.Fprintf(p.Stderr, "%s: %s\n", p.Name, terminal.Printable(fmt.Sprintf(format, args...)))
}
