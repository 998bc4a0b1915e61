package beam

import (
	"context"
	"encoding/json"

	"github.com/apache/beam/sdks/v2/go/pkg/beam"
	"github.com/apache/beam/sdks/v2/go/pkg/beam/register"
)

func init() {
	register.DoFn4x1[context.Context, int, func(*string) bool, func(string), error](&doneFn{})
}

// Build adds a job to a pipeline. It opens the operands here, once, to plan the job and to
// refuse what no worker could do, and begins the folder; the workers open the operands again.
// ctx is of this work alone: for bags, it reads all indices. Errors are those of Run that come
// before a worker begins.
//
// The result is a PCollection<string> for what is to happen behind the job: its only element
// is the path of the folder, when the result is whole there. It has none where an index was refused; Outcome
// says so, when the pipeline has ended. A job whose result is there already makes the element alone.
//
// A job needs its pipeline's windows to be global, and nothing else.
func Build(ctx context.Context, scope beam.Scope, job Job) (beam.PCollection, error) {
	t, err := prepare(ctx, job, 1)
	if err != nil {
		return beam.PCollection{}, err
	}
	if t.done {
		return beam.Create(scope, t.Out), nil
	}
	_, done, err := t.build(scope)
	return done, err
}

// build adds the stages, and returns the task as they get it, and what Build does:
//
//	blocks of indices → check → decide → (side input: is an index refused?)
//	shards → want → group by unit of a table → fetch → group by shard → write → finish
func (t *task) build(s beam.Scope) (task string, done beam.PCollection, err error) {
	text, err := json.Marshal(t)
	if err != nil {
		return "", done, err
	}
	s = s.Scope("garner")
	of := stage{Task: string(text)}

	if t.Serve {
		beam.ParDo0(s.Scope("serve"), &serveFn{of}, numbers(s.Scope("workers"), serveElements))
	}
	surveys := beam.ParDo(s.Scope("check"), &checkFn{of}, numbers(s.Scope("blocks"), t.Blocks))
	refused := beam.ParDo(s.Scope("decide"), &decideFn{of}, beam.GroupByKey(s, beam.AddFixedKey(s, surveys)))

	requests, whole := beam.ParDo2(s.Scope("want"), &wantFn{of}, numbers(s.Scope("shards"), t.Shards), beam.SideInput{Input: refused})
	rows := beam.ParDo(s.Scope("fetch"), &fetchFn{of}, beam.GroupByKey(s, requests))
	written := beam.ParDo(s.Scope("write"), &writeFn{of}, beam.GroupByKey(s, rows))

	placed := beam.Flatten(s, whole, written)
	done = beam.ParDo(s.Scope("finish"), &doneFn{finishFn{of}}, beam.GroupByKey(s, beam.AddFixedKey(s, placed)))
	return of.Task, done, nil
}

// doneFn is finishFn, and then tells those behind the job where its result is.
type doneFn struct{ finishFn }

func (f *doneFn) ProcessElement(ctx context.Context, key int, placed func(*string) bool, emit func(string)) error {
	if err := f.finishFn.ProcessElement(ctx, key, placed); err != nil {
		return err
	}
	emit(f.o.Out)
	return nil
}

// numbers are 0 … n-1, on all workers.
func numbers(s beam.Scope, n int64) beam.PCollection {
	return beam.Reshuffle(s, beam.ParDo(s, &numbersFn{n}, beam.Impulse(s)))
}
