package beam

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync"

	"github.com/apache/beam/sdks/v2/go/pkg/beam"
	pipepb "github.com/apache/beam/sdks/v2/go/pkg/beam/model/pipeline_v1"
	"github.com/garner-go/garner"
	"github.com/garner-go/garner/beam/flink"
	"github.com/garner-go/garner/beam/jobs"
	"github.com/garner-go/garner/beam/worker"
	"github.com/garner-go/garner/format/shards"
	"github.com/garner-go/garner/internal/names"
)

// Run runs a job, and returns when its result is whole or refused. A job whose result is in
// its folder already is done at once; one that an earlier run has begun goes on: shards that
// are whole stay. A refused index is a *garner.IndexError, the one of garner.Gather, and
// nothing is written then. When ctx ends, Run cancels the job; what is whole stays.
//
// Errors are also those of Check and CheckOut, of the operands, files.ErrKept where the
// folder has shards of another job, and the engine's.
func Run(ctx context.Context, job Job, runner Runner) error {
	r, err := Start(ctx, job, runner)
	if err != nil {
		return err
	}
	defer r.Close()
	if err := r.Wait(ctx, nil); err == nil || ctx.Err() == nil {
		return err
	}
	if err := r.Cancel(context.WithoutCancel(ctx)); err != nil {
		return errors.Join(context.Cause(ctx), err)
	}
	return context.Cause(ctx)
}

// A Running job is one that an engine has taken.
type Running struct {
	ID     string // the engine's; "" where the result was in the folder already
	Shards int64  // of the result
	Bytes  int64  // of its elements

	out    string
	driver string
	size   measure
	text   string // the task

	mu      sync.Mutex
	ended   bool // and Wait has said so, with
	outcome error
	client  *jobs.Client
	onFlink bool
	flink   *flink.Client // nil with other runners, and where its REST API is not known
}

// initialised calls beam.Init, which may be called once.
var initialised = sync.OnceFunc(func() {
	if !beam.Initialized() {
		beam.Init()
	}
})

// Start begins a job. The caller closes it. Errors are those of Run that come before a
// worker begins.
func Start(ctx context.Context, job Job, runner Runner) (*Running, error) {
	if err := runner.Check(); err != nil {
		return nil, err
	}
	t, err := prepareAs(ctx, job, runner.Workers, newToken())
	if err != nil {
		return nil, err
	}
	if err := t.reachable(runner); err != nil {
		_ = leave(t.Out, t.Driver)
		return nil, err
	}
	return t.start(ctx, runner)
}

// reachable refuses shards that no worker of a runner can read: those of Prism are this process.
func (t *task) reachable(runner Runner) error {
	if runner.Name == FlinkRunner {
		return nil
	}
	for _, s := range t.elsewhere {
		if !s.Local() {
			return garner.Errorf(shards.ErrNode, "shard %s can be read on node %s alone, and the only worker of %s is this process, on %s; run on an engine whose workers run on these nodes",
				names.Quote(s.File), names.Quote(s.Node), PrismRunner, names.Quote(shards.Node()))
		}
	}
	return nil
}

// start gives a task to an engine.
func (t *task) start(ctx context.Context, runner Runner) (*Running, error) {
	r := &Running{onFlink: runner.Name == FlinkRunner, Shards: t.Shards, Bytes: t.measure.Bytes, out: t.Out, driver: t.Driver, size: t.measure}
	if t.done {
		return r, nil
	}
	initialised()
	env, err := r.connect(ctx, runner)
	if err != nil {
		_ = leave(t.Out, t.Driver)
		return nil, err
	}
	p, s := beam.NewPipelineWithRoot()
	if r.text, _, err = t.build(s); err == nil {
		submit := ctx
		if runner.Name != FlinkRunner {
			submit = context.WithoutCancel(ctx)
		}
		var shown []byte
		if shown, err = json.Marshal(r.size); err == nil {
			r.ID, err = r.client.Submit(submit, p, env, jobs.Options{Name: jobTitle(t.Out), Parallelism: runner.Workers, Display: map[string]string{label: string(shown)}})
		}
	}
	if err != nil {
		_ = leave(t.Out, t.Driver)
		r.Close()
		return nil, err
	}
	return r, nil
}

// jobTitle is the name of a job as engines show it. They send it in headers and put it
// into ids, so it has letters, digits and hyphens alone.
func jobTitle(out string) string {
	return "garner-" + strings.Map(func(r rune) rune {
		switch {
		case r >= '0' && r <= '9', r >= 'a' && r <= 'z', r >= 'A' && r <= 'Z':
			return r
		}
		return '-'
	}, filepath.Base(out))
}

// connect finds the engine, and says where its workers are.
func (r *Running) connect(ctx context.Context, runner Runner) (env *pipepb.Environment, err error) {
	if runner.Name != FlinkRunner {
		// Prism ends this process where its own context ends in the middle of a job.
		r.client, env, err = jobs.Prism(context.WithoutCancel(ctx))
		return env, err
	}
	if runner.Image != "" {
		env, err = worker.Docker(runner.Image)
	} else {
		command := runner.Worker
		if command == "" {
			if command, err = os.Executable(); err != nil {
				return nil, err
			}
		}
		env, err = worker.Process(command, nil)
	}
	if err != nil {
		return nil, err
	}
	if runner.FlinkREST != "" {
		if r.flink, err = flink.New(runner.FlinkREST); err != nil {
			return nil, err
		}
		if _, err = r.flink.Jobs(ctx); err != nil { // before a job runs that it cannot cancel
			return nil, err
		}
	}
	r.client, err = jobs.Dial(ctx, runner.Endpoint)
	return env, err
}

// Wait waits until the job has ended, and returns nil where its result is whole. It calls
// message, where that is not nil, with what the engine tells. When ctx ends, Wait returns its
// cause and the job goes on.
func (r *Running) Wait(ctx context.Context, message func(text string)) error {
	if r.client == nil {
		return nil
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.ended {
		return r.outcome
	}
	// A deadline that travels ends the engine's answers a moment before ctx does.
	plain, cancel := context.WithCancel(context.WithoutCancel(ctx))
	defer cancel()
	defer context.AfterFunc(ctx, cancel)()
	err := r.client.Wait(plain, r.ID, message)
	if err != nil && ctx.Err() != nil {
		return context.Cause(ctx)
	}
	outcome := outcome(r.out, refusalOf(refusedFile(r.out, r.driver)))
	switch {
	case err != nil && outcome != nil:
		return errors.Join(fmt.Errorf("garner-beam: %w", err), leave(r.out, r.driver))
	case err != nil: // another driver of the job has made the result
		_ = sweep(r.out) // of what this one has made meanwhile; the result is whole all the same
	}
	r.outcome, r.ended = outcome, true
	if outcome != nil {
		if err := leave(r.out, r.driver); err != nil {
			r.outcome = errors.Join(outcome, err)
		}
	}
	return r.outcome
}

// Cancel cancels the job and waits until it has ended. What is whole stays in its folder,
// and the same job goes on with it.
func (r *Running) Cancel(ctx context.Context) error {
	if r.client == nil {
		return nil
	}
	if r.flink != nil {
		if err := flink.Cancel(ctx, r.client, r.flink, r.ID); err != nil {
			return err
		}
	} else if _, err := r.client.Cancel(ctx, r.ID); err != nil || r.onFlink {
		return err // without its REST API it may run on
	}
	return leave(r.out, r.driver)
}

// Close ends the connection to the engine. A job of Flink goes on; one of Prism ends.
func (r *Running) Close() error {
	if r.client == nil {
		return nil
	}
	err := r.client.Close()
	forget(r.text)
	return err
}

// Counts are how far a job is, as its engine counts. Work that an engine repeats counts
// again.
type Counts struct {
	IndicesChecked, ShardsFound          int64 // ShardsFound: whose rows are known, without those kept
	RequestElements, RequestBytes        int64 // of rows, as they travel to the workers that read them
	RowElements, RowPayload, RowHeads    int64 // the rows as they travel on: messages, bytes of rows, all other bytes
	RowsWanted, BytesWanted, BytesRead   int64 // distinct rows of each shard, and their bytes; bytes of tables
	ShardsWritten, ShardsKept, BytesMade int64 // BytesMade: of the files of both
}

// Counts asks the engine how far the job is. Flink answers while a job runs only where the
// address of its REST API is known.
func (r *Running) Counts(ctx context.Context) (c Counts, err error) {
	all, err := r.Counters(ctx)
	for _, counter := range all {
		if at := c.of(counter.Name); counter.Namespace == counters && at != nil {
			*at = counter.Value
		}
	}
	return c, err
}

// Counters returns what Counts has, as a list, and the counters of other stages of its pipeline.
func (r *Running) Counters(ctx context.Context) ([]jobs.Counter, error) {
	switch {
	case r.flink != nil:
	case r.client != nil:
		return r.client.Counters(ctx, r.ID)
	default:
		return nil, nil // it was done before
	}
	job, err := r.flink.Find(ctx, r.ID)
	if errors.Is(err, flink.ErrUnknown) { // it has not begun
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	return r.flink.Counters(ctx, job.ID)
}

// of returns the field of a counter; nil of one that is not ours.
func (c *Counts) of(name string) *int64 {
	return map[string]*int64{
		"indices_checked": &c.IndicesChecked, "shards_found": &c.ShardsFound,
		"request_elements": &c.RequestElements, "request_bytes": &c.RequestBytes,
		"row_elements": &c.RowElements, "row_payload": &c.RowPayload, "row_heads": &c.RowHeads,
		"rows_wanted": &c.RowsWanted, "bytes_wanted": &c.BytesWanted, "bytes_read": &c.BytesRead,
		"shards_written": &c.ShardsWritten, "shards_kept": &c.ShardsKept, "bytes_made": &c.BytesMade,
	}[name]
}
