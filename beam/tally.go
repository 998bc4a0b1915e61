package beam

import (
	"context"
	"encoding/json"
	"os"
	"path/filepath"
	"sync"
	"time"

	"github.com/apache/beam/sdks/v2/go/pkg/beam/core/metrics"
)

// An engine hears of a counter when a bundle ends, and on Flink a bundle is all that a slot
// gets of a stage: Beam's job server 2.62.0 never asks a worker for the progress of a bundle.
// So each worker keeps a file in the job's folder of what it has counted, also in the bundles
// that run: Progress adds these files.

// progressName is the folder of these files. The driver empties it, and the job's last
// step removes it with all that is in _garner.
const progressName = "progress"

func progressFolder(out string) string { return filepath.Join(workFolder(out), progressName) }

// tallyTick is the time between two looks of a worker at its counters.
const tallyTick = time.Second

// fresh makes the folder of the workers' files, and takes away those of an earlier run. Workers of
// another driver that runs the job now write theirs again, with all that they have counted.
func (t *task) fresh() error {
	folder := progressFolder(t.Out)
	if err := os.MkdirAll(folder, 0o777); err != nil {
		return err
	}
	entries, err := os.ReadDir(folder)
	for _, e := range entries {
		os.Remove(filepath.Join(folder, e.Name())) // one that stays makes the progress wrong, and no result
	}
	return err
}

// tallied is the content of a worker's file.
type tallied struct {
	Counts map[string]int64      // by the names of the counters
	Began  time.Time             // the first bundle that checks indices, or finds rows
	Last   [stageCount]time.Time // when a counter of a stage was last seen to rise
}

// A tally is what this process has done for a task. The zero tally is ready.
type tally struct {
	mu    sync.Mutex
	live  map[*stage]*bundle
	ended map[string]int64 // of bundles that have ended
	began time.Time
	last  [stageCount]time.Time
	name  string // of the file
	dirty bool   // the file lacks something
	stop  chan struct{}
}

// A bundle is one that runs.
type bundle struct {
	stage int
	store *metrics.Store
	was   map[string]int64
}

// look reads the counters of a bundle.
func (t *tally) look(b *bundle) {
	now := make(map[string]int64)
	rose := false
	metrics.Extractor{SumInt64: func(l metrics.Labels, v int64) {
		if l.Namespace() == counters {
			now[l.Name()] += v
		}
	}}.ExtractFrom(b.store)
	for name, v := range now {
		rose = rose || v != b.was[name]
	}
	if rose {
		b.was, t.last[b.stage], t.dirty = now, time.Now(), true
	}
}

// begin counts what a bundle of a stage does.
func (s *stage) begin(ctx context.Context, number int) {
	store := metrics.GetStore(ctx)
	if store == nil {
		return // whoever calls it counts nothing
	}
	t := &s.o.tally
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.name == "" {
		t.name, t.live, t.ended = newToken(), make(map[*stage]*bundle), make(map[string]int64)
	}
	if number <= findingRows && t.began.IsZero() {
		t.began = time.Now()
	}
	t.live[s] = &bundle{stage: number, store: store}
	if t.stop == nil {
		t.stop = make(chan struct{})
		go t.watch(t.stop, s.o.Out)
	}
}

// end takes a bundle that ends into the tally. A bundle that has failed counts too, as the engine
// repeats it.
func (s *stage) end() {
	if s.o == nil {
		return
	}
	t := &s.o.tally
	t.mu.Lock()
	defer t.mu.Unlock()
	b := t.live[s]
	if b == nil {
		return
	}
	t.look(b)
	for name, v := range b.was {
		t.ended[name] += v
	}
	delete(t.live, s)
	if len(t.live) == 0 {
		close(t.stop)
		t.stop = nil
		t.write(s.o.Out)
	}
}

// watch writes the file of a process while bundles run.
func (t *tally) watch(stop <-chan struct{}, out string) {
	tick := time.NewTicker(tallyTick)
	defer tick.Stop()
	for {
		select {
		case <-stop:
			return
		case <-tick.C:
		}
		t.mu.Lock()
		for _, b := range t.live {
			t.look(b)
		}
		t.write(out)
		t.mu.Unlock()
	}
}

// write writes the file, where it would change. No result depends on it: where it cannot be
// written, nobody hears of this worker before its bundles end. It makes no folder, which the
// job's last step may have removed.
func (t *tally) write(out string) {
	if !t.dirty {
		return
	}
	is := tallied{make(map[string]int64), t.began, t.last}
	for name, v := range t.ended {
		is.Counts[name] += v
	}
	for _, b := range t.live {
		for name, v := range b.was {
			is.Counts[name] += v
		}
	}
	text, err := json.Marshal(is)
	if err != nil {
		return
	}
	path := filepath.Join(progressFolder(out), t.name)
	if os.WriteFile(path+".tmp", text, 0o666) == nil && os.Rename(path+".tmp", path) == nil {
		t.dirty = false
	}
}

// The stages that a tally counts begin and end their bundles here. Beam wants the side inputs
// and the emitters of ProcessElement in both.

func (f *checkFn) StartBundle(ctx context.Context, _ func(string)) { f.begin(ctx, checkingIndices) }
func (f *checkFn) FinishBundle(_ context.Context, _ func(string))  { f.end() }
func (f *wantFn) StartBundle(ctx context.Context, _ func(*string) bool, _ func(int64, []byte), _ func(string)) {
	f.begin(ctx, findingRows)
}
func (f *wantFn) FinishBundle(_ context.Context, _ func(*string) bool, _ func(int64, []byte), _ func(string)) {
	f.end()
}
func (f *fetchFn) StartBundle(ctx context.Context, _ func(int64, []byte)) { f.begin(ctx, readingRows) }
func (f *fetchFn) FinishBundle(_ context.Context, _ func(int64, []byte))  { f.end() }
func (f *writeFn) StartBundle(ctx context.Context, _ func(string))        { f.begin(ctx, writingShards) }
func (f *writeFn) FinishBundle(_ context.Context, _ func(string))         { f.end() }
