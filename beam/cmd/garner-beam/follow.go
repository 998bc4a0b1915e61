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
	total  int64  // of the meter
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
	number, begun := 0, beam.Stage{Name: "checking indices", Total: -1}
	for {
		f.show(number, begun)
		asked := time.Now()
		// An engine that does not answer now may answer later, and Wait tells why it does not.
		if all, err := f.job.Progress(ctx); err == nil {
			// The last step of a job takes away what its workers tell.
			if n, stage := current(all); n >= number && stage.State != beam.Waiting {
				number, begun = n, stage
			}
		}
		// A folder of many workers takes its time.
		select {
		case <-ctx.Done():
			return
		case <-time.After(max(look, 10*time.Since(asked))):
		}
	}
}

// current is the first stage of a job that is not done, or the last.
func current(all []beam.Stage) (number int, stage beam.Stage) {
	for number, stage = range all {
		if stage.State != beam.Done {
			break
		}
	}
	return number, stage
}

// show shows a stage.
func (f *following) show(number int, stage beam.Stage) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.asking {
		return
	}
	name := fmt.Sprintf("%d/4 %s", number+1, stage.Name)
	if name != f.stage || stage.Total != f.total {
		f.meter.Stop()
		f.meter, f.stage, f.total = f.Meter(name, stage.Total), name, stage.Total
		f.meter.From(stage.Before)
	}
	f.meter.Set(stage.Done)
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
