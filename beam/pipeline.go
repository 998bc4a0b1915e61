package beam

import (
	"context"
	"encoding/json"

	"github.com/apache/beam/sdks/v2/go/pkg/beam"
)

// Build adds a job to a pipeline. It opens the operands here, once, to plan the job and to
// refuse what no worker could do; the workers open them again. The job is done when the
// folder has its _SUCCESS; Outcome says how it ended, when the pipeline has. Errors are those of Run that come
// before a worker begins.
//
// A job needs its pipeline's windows to be global, and nothing else.
func Build(scope beam.Scope, job Job) error {
	t, err := prepare(context.Background(), job, 1)
	if err != nil {
		return err
	}
	if t.done {
		beam.Impulse(scope) // a pipeline without a stage is an error
		return nil
	}
	_, err = t.build(scope)
	return err
}

// build adds the stages, and returns the task as they get it:
//
//	blocks of indices → check → decide → (side input: is an index refused?)
//	shards → want → group by unit of a table → fetch → group by shard → write → finish
func (t *task) build(s beam.Scope) (task string, err error) {
	text, err := json.Marshal(t)
	if err != nil {
		return "", err
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

	done := beam.Flatten(s, whole, written)
	beam.ParDo0(s.Scope("finish"), &finishFn{of}, beam.GroupByKey(s, beam.AddFixedKey(s, done)))
	return of.Task, nil
}

// numbers are 0 … n-1, on all workers.
func numbers(s beam.Scope, n int64) beam.PCollection {
	return beam.Reshuffle(s, beam.ParDo(s, &numbersFn{n}, beam.Impulse(s)))
}
