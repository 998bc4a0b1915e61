package beam

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"math/big"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"time"

	"github.com/garner-go/garner/beam/flink"
	"github.com/garner-go/garner/beam/jobs"
	"github.com/garner-go/garner/format/shards"
)

// The stages of a job, in their order. Each begins when the one before is done.
const (
	checkingIndices = iota
	findingRows
	readingRows
	writingShards
	stageCount
)

// stages are their names for people, and the transforms that do their work.
var stages = [stageCount]struct{ name, transform string }{
	{"checking indices", "check"}, {"finding rows", "want"}, {"reading rows", "fetch"}, {"writing shards", "write"},
}

// States of a Stage.
const (
	Waiting = "waiting" // for the stage before, or for the engine
	Working = "running"
	Done    = "done"
)

// A Stage is one of the four that each job has, on every engine: checking indices, finding
// rows, reading rows, writing shards.
type Stage struct {
	Name        string
	State       string        // Waiting, Working or Done
	Done, Total int64         // bytes: of indices, of the result, of rows, of the result; Total is 0 where it is not known yet
	Before      int64         // of Done, what an earlier run has made
	Took        time.Duration // 0 where that is not known
	Left        time.Duration // until the stage is done, at its rate so far; -1 where that is not known
}

// A measure is what the driver knows of a job's amount of work. It goes with the job, for
// whoever asks how far it is.
type measure struct {
	Out           string
	Indices       int64 // that the workers check
	IndicesBytes  int64 // of them
	Shards, Bytes int64 // of the result
}

// label is the key of the measure among what a job displays.
const label = "garner"

// ErrForeign is the error for a job that is not one of this package. Watch returns the job
// too: its Counters are known, and it has no stages.
var ErrForeign = errors.New("the job is not one of garner-beam")

// Watch returns a job that runs, or that has ended, by its id at a job service, for its
// Progress and its Counts. rest is the REST API of the service's Flink; it may be nil. The
// caller closes the client, after its last question. Errors are those of the service, and ErrForeign.
func Watch(ctx context.Context, client *jobs.Client, rest *flink.Client, id string) (*Running, error) {
	shown, err := client.Display(ctx, id)
	if err != nil {
		return nil, err
	}
	r := &Running{ID: id, client: client, flink: rest, onFlink: rest != nil}
	if shown[label] == "" || json.Unmarshal([]byte(shown[label]), &r.size) != nil {
		return r, fmt.Errorf("job %s: %w", id, ErrForeign)
	}
	r.out, r.Shards, r.Bytes = r.size.Out, r.size.Shards, r.size.Bytes
	return r, nil
}

// Refused returns the index that a job has refused, a *garner.IndexError, as long as its driver
// has not waited for the end, which takes it away with the folder; else nil.
func (r *Running) Refused() error { return refusedIn(r.out) }

// Out returns the folder of the result, as the workers name it.
func (r *Running) Out() string { return r.out }

// Progress returns the stages of a job that has not ended. It reads what the workers tell in the folder
// of the result, each about once a second. Where that folder is not here it asks the engine,
// which hears of work when a bundle ends: on Flink that is all of a stage that a slot gets,
// and it answers while a job runs only where its REST API is known.
//
// Work that an engine repeats counts again.
func (r *Running) Progress(ctx context.Context) ([]Stage, error) {
	k, err := readTallies(r.out)
	if err != nil {
		if k, err = r.ask(ctx); err != nil {
			return nil, err
		}
		// Counters of an engine can lack something at the end: Prism loses those of bundles that end at one time.
		if _, err := os.Stat(filepath.Join(r.out, shards.SuccessName)); err == nil {
			k.done = [stageCount]bool{true, true, true, true}
		}
	}
	return r.size.stages(k, time.Now()), nil
}

// known is what is known of a job's work.
type known struct {
	Counts
	began time.Time
	last  [stageCount]time.Time // of work; of a stage that is done, its end
	done  [stageCount]bool      // as the engine says
}

// readTallies adds the files of all workers. It is an error where their folder is not.
func readTallies(out string) (k known, err error) {
	folder := progressFolder(out)
	entries, err := os.ReadDir(folder)
	if err != nil {
		return k, err
	}
	for _, e := range entries {
		text, err := os.ReadFile(filepath.Join(folder, e.Name()))
		var t tallied
		if err != nil || strings.HasSuffix(e.Name(), ".tmp") || json.Unmarshal(text, &t) != nil {
			continue // it is replaced in this moment
		}
		for name, v := range t.Counts {
			if at := k.of(name); at != nil {
				*at += v
			}
		}
		if k.began.IsZero() || !t.Began.IsZero() && t.Began.Before(k.began) {
			k.began = t.Began
		}
		for i, last := range t.Last {
			k.saw(i, last)
		}
	}
	return k, nil
}

func (k *known) saw(stage int, at time.Time) {
	if at.After(k.last[stage]) {
		k.last[stage] = at
	}
}

// transforms matches the name of a vertex of Flink's graph that does the work of a stage:
// Beam names it after the transforms that run in it, [3]garner/{want, Flatten} or
// [1]garner/fetch/beam.fetchFn.
var transforms = regexp.MustCompile(`\]garner/\{?(\w+)`)

// ask asks the engine.
func (r *Running) ask(ctx context.Context) (k known, err error) {
	if k.Counts, err = r.Counts(ctx); err != nil || r.flink == nil {
		return k, err
	}
	job, err := r.flink.Find(ctx, r.ID)
	if err == nil {
		job, err = r.flink.Job(ctx, job.ID)
	}
	if errors.Is(err, flink.ErrUnknown) { // it has not begun
		return k, nil
	}
	for _, vertex := range job.Stages {
		found := transforms.FindStringSubmatch(vertex.Name)
		if found == nil || vertex.Start.IsZero() {
			continue
		}
		for i, s := range stages {
			if s.transform != found[1] {
				continue
			}
			if i == checkingIndices {
				k.began = vertex.Start
			}
			if vertex.State == "FINISHED" {
				k.done[i] = true
				k.saw(i, vertex.Start.Add(vertex.Duration))
			}
		}
	}
	return k, err
}

// stages tells the stages by what is known at a time.
func (m measure) stages(k known, now time.Time) []Stage {
	all := make([]Stage, stageCount)
	found := k.ShardsFound + k.ShardsKept
	made := k.ShardsWritten + k.ShardsKept
	all[checkingIndices] = Stage{Done: share(m.IndicesBytes, k.IndicesChecked, m.Indices), Total: m.IndicesBytes}
	all[findingRows] = Stage{Done: share(m.Bytes, found, m.Shards), Total: m.Bytes}
	all[readingRows] = Stage{Done: k.RowPayload}
	all[writingShards] = Stage{Done: min(k.BytesMade, m.Bytes), Total: m.Bytes, Before: min(share(k.BytesMade, k.ShardsKept, made), m.Bytes)}

	// A stage that has begun says that those before it are done.
	done := k.done
	done[checkingIndices] = done[checkingIndices] || k.IndicesChecked >= m.Indices
	done[findingRows] = done[findingRows] || found >= m.Shards
	// Flink says that a stage is done before it tells the counters.
	counted := found >= m.Shards || k.BytesWanted > 0
	done[readingRows] = done[readingRows] || done[findingRows] && counted && k.RowPayload >= k.BytesWanted
	done[writingShards] = done[writingShards] || made >= m.Shards
	if k.RowPayload > 0 {
		done[findingRows] = true
	}
	for i := stageCount - 1; i > 0; i-- {
		done[i-1] = done[i-1] || done[i] || i == findingRows && found > 0
	}
	if done[findingRows] {
		all[readingRows].Total = max(k.BytesWanted, k.RowPayload)
	}

	begun := k.began
	working := !begun.IsZero() || k.Counts != Counts{}
	for i := range all {
		s := &all[i]
		s.Name, s.State, s.Left = stages[i].name, Waiting, -1
		switch {
		case done[i]:
			s.State, s.Done, s.Left = Done, s.Total, 0
			if !begun.IsZero() && k.last[i].After(begun) {
				s.Took = k.last[i].Sub(begun)
			}
			if !k.last[i].IsZero() {
				begun = k.last[i]
			}
		case working:
			s.State, working = Working, false
			if !begun.IsZero() {
				s.Took = max(now.Sub(begun), 0)
			}
			if ran := s.Done - s.Before; ran > 0 && s.Total > 0 && s.Took > 0 {
				s.Left = time.Duration(float64(s.Took) * float64(max(s.Total-s.Done, 0)) / float64(ran))
			}
		}
	}
	return all
}

// share is whole·part/parts without an overflow, at most whole.
func share(whole, part, parts int64) int64 {
	if parts <= 0 {
		return 0
	}
	product := new(big.Int).Mul(big.NewInt(whole), big.NewInt(min(part, parts)))
	return product.Quo(product, big.NewInt(parts)).Int64()
}
