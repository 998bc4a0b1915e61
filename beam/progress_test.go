package beam

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/apache/beam/sdks/v2/go/pkg/beam"
	"github.com/apache/beam/sdks/v2/go/pkg/beam/core/metrics"
	"github.com/garner-go/garner"
	"github.com/garner-go/garner/beam/flink"
	"github.com/garner-go/garner/beam/jobs"
)

// TestStages tells the stages by what is known.
func TestStages(t *testing.T) {
	at := func(seconds int) time.Time { return time.Unix(1_000_000+int64(seconds), 0) }
	last := func(seconds ...int) (all [stageCount]time.Time) {
		for i, s := range seconds {
			if s > 0 {
				all[i] = at(s)
			}
		}
		return all
	}
	m := measure{Indices: 1000, IndicesBytes: 8000, Shards: 10, Bytes: 20_000}
	none := measure{Shards: 10, Bytes: 20_000} // the driver has checked the indices
	huge := measure{Indices: 1 << 40, IndicesBytes: 1 << 43, Shards: 1 << 20, Bytes: 1 << 60}
	s := func(state string, done, total int64, took, left time.Duration) Stage {
		return Stage{State: state, Done: done, Total: total, Took: took * time.Second, Left: left}
	}
	const second = time.Second
	for _, tt := range []struct {
		name string
		of   measure
		k    known
		want [stageCount]Stage
	}{
		{"before", m, known{}, [...]Stage{s(Waiting, 0, 8000, 0, -1), s(Waiting, 0, 20_000, 0, -1), s(Waiting, 0, 0, 0, -1), s(Waiting, 0, 20_000, 0, -1)}},
		{"begun", m, known{began: at(90)}, [...]Stage{s(Working, 0, 8000, 10, -1), s(Waiting, 0, 20_000, 0, -1), s(Waiting, 0, 0, 0, -1), s(Waiting, 0, 20_000, 0, -1)}},
		{
			"checking", m, known{Counts: Counts{IndicesChecked: 250}, began: at(90), last: last(99)},
			[...]Stage{s(Working, 2000, 8000, 10, 30*second), s(Waiting, 0, 20_000, 0, -1), s(Waiting, 0, 0, 0, -1), s(Waiting, 0, 20_000, 0, -1)},
		},
		{
			"finding", m, known{Counts: Counts{IndicesChecked: 1000, ShardsFound: 5, BytesWanted: 300}, began: at(80), last: last(90, 99)},
			[...]Stage{s(Done, 8000, 8000, 10, 0), s(Working, 10_000, 20_000, 10, 10*second), s(Waiting, 0, 0, 0, -1), s(Waiting, 0, 20_000, 0, -1)},
		},
		{ // the file of a worker that checks is a second old
			"finding early", m, known{Counts: Counts{IndicesChecked: 900, ShardsFound: 5, BytesWanted: 300}, began: at(80), last: last(90, 99)},
			[...]Stage{s(Done, 8000, 8000, 10, 0), s(Working, 10_000, 20_000, 10, 10*second), s(Waiting, 0, 0, 0, -1), s(Waiting, 0, 20_000, 0, -1)},
		},
		{
			"without indices", none, known{Counts: Counts{ShardsFound: 5}, began: at(90), last: last(0, 99)},
			[...]Stage{s(Done, 0, 0, 0, 0), s(Working, 10_000, 20_000, 10, 10*second), s(Waiting, 0, 0, 0, -1), s(Waiting, 0, 20_000, 0, -1)},
		},
		{ // the engine has ended the stage before it tells the counters
			"early", m, known{began: at(80), last: last(85, 90), done: [stageCount]bool{true, true}},
			[...]Stage{s(Done, 8000, 8000, 5, 0), s(Done, 20_000, 20_000, 5, 0), s(Working, 0, 0, 10, -1), s(Waiting, 0, 20_000, 0, -1)},
		},
		{
			"reading", m, known{Counts: Counts{IndicesChecked: 1000, ShardsFound: 10, BytesWanted: 6000, RowPayload: 2000}, began: at(70), last: last(80, 90, 99)},
			[...]Stage{s(Done, 8000, 8000, 10, 0), s(Done, 20_000, 20_000, 10, 0), s(Working, 2000, 6000, 10, 20*second), s(Waiting, 0, 20_000, 0, -1)},
		},
		{ // 4 of 10 shards stay; those of this run take 2 s each
			"writing", m, known{Counts: Counts{IndicesChecked: 1000, ShardsFound: 6, ShardsKept: 4, BytesWanted: 6000, RowPayload: 6000, ShardsWritten: 5, BytesMade: 18_000}, began: at(60), last: last(70, 80, 90, 99)},
			[...]Stage{s(Done, 8000, 8000, 10, 0), s(Done, 20_000, 20_000, 10, 0), s(Done, 6000, 6000, 10, 0), {State: Working, Done: 18_000, Total: 20_000, Before: 8000, Took: 10 * second, Left: 2 * second}},
		},
		{
			"kept", m, known{Counts: Counts{IndicesChecked: 1000, ShardsKept: 10, BytesMade: 20_128}, began: at(90), last: last(92, 95)},
			[...]Stage{s(Done, 8000, 8000, 2, 0), s(Done, 20_000, 20_000, 3, 0), s(Done, 0, 0, 0, 0), {State: Done, Done: 20_000, Total: 20_000, Before: 20_000}},
		},
		{ // a worker was killed in finding rows, and its work is done again
			"again", m, known{Counts: Counts{IndicesChecked: 1500, ShardsFound: 14, BytesWanted: 8000, RowPayload: 2000}, began: at(70), last: last(80, 90, 99)},
			[...]Stage{s(Done, 8000, 8000, 10, 0), s(Done, 20_000, 20_000, 10, 0), s(Working, 2000, 8000, 10, 30*second), s(Waiting, 0, 20_000, 0, -1)},
		},
		{
			"huge", huge, known{Counts: Counts{IndicesChecked: 1 << 40, ShardsFound: 1 << 19}, began: at(0), last: last(50, 99)},
			[...]Stage{s(Done, 1<<43, 1<<43, 50, 0), s(Working, 1<<59, 1<<60, 50, 50*second), s(Waiting, 0, 0, 0, -1), s(Waiting, 0, 1<<60, 0, -1)},
		},
	} {
		t.Run(tt.name, func(t *testing.T) {
			for i, got := range tt.of.stages(tt.k, at(100)) {
				want := tt.want[i]
				want.Name = []string{"checking indices", "finding rows", "reading rows", "writing shards"}[i]
				if got != want {
					t.Errorf("%+v\nwant %+v", got, want)
				}
			}
		})
	}
}

// TestTally holds that the file of a worker tells of bundles that run, of those that have
// ended, and of those that have failed.
func TestTally(t *testing.T) {
	out := t.TempDir()
	work := &task{Out: out}
	for range 2 { // where there is no folder, and where an earlier run has left a file
		if err := work.fresh(); err != nil {
			t.Fatal(err)
		}
		if k, err := readTallies(out); err != nil || k != (known{}) {
			t.Fatalf("%+v, %v", k, err)
		}
		if err := os.WriteFile(filepath.Join(progressFolder(out), "earlier"), []byte(`{"Counts":{"indices_checked":9}}`), 0o666); err != nil {
			t.Fatal(err)
		}
	}
	if err := work.fresh(); err != nil {
		t.Fatal(err)
	}
	o := &opened{task: work}
	bundle := func() context.Context {
		return metrics.SetPTransformID(metrics.SetBundleID(t.Context(), newToken()), "stage")
	}
	told := func(what string, holds func(known) bool) known {
		t.Helper()
		for until := time.Now().Add(time.Minute); ; time.Sleep(10 * time.Millisecond) {
			k, err := readTallies(out)
			if err != nil {
				t.Fatal(err)
			}
			if holds(k) {
				return k
			}
			if time.Now().After(until) {
				t.Fatalf("%s: %+v", what, k)
			}
		}
	}
	check, write := &checkFn{stage{o: o}}, &writeFn{stage{o: o}}
	ctx := bundle()
	check.StartBundle(ctx, nil)
	indicesChecked.Inc(ctx, 5)
	k := told("a bundle that runs", func(k known) bool { return k.IndicesChecked == 5 })
	if k.began.IsZero() || k.last[checkingIndices].Before(k.began) || !k.last[writingShards].IsZero() {
		t.Errorf("times %v, %v", k.began, k.last)
	}
	indicesChecked.Inc(ctx, 2)
	check.FinishBundle(ctx, nil)
	if k, err := readTallies(out); err != nil || k.IndicesChecked != 7 {
		t.Errorf("a bundle that has ended: %+v, %v", k, err)
	}

	// Two bundles at a time. One fails, whose end Teardown tells.
	ctx = bundle()
	check.StartBundle(ctx, nil)
	indicesChecked.Inc(ctx, 3)
	other := bundle()
	write.StartBundle(other, nil)
	shardsWritten.Inc(other, 1)
	bytesMade.Inc(other, 100)
	told("two bundles", func(k known) bool { return k.IndicesChecked == 10 && k.ShardsWritten == 1 && k.BytesMade == 100 })
	if err := check.Teardown(); err != nil {
		t.Fatal(err)
	}
	write.FinishBundle(other, nil)
	if k, err := readTallies(out); err != nil || k.IndicesChecked != 10 || k.ShardsWritten != 1 || k.last[writingShards].IsZero() {
		t.Errorf("a bundle that has failed: %+v, %v", k, err)
	}

	// Another worker, and a file that is not whole.
	second := &opened{task: work}
	fetch := &fetchFn{stage{o: second}}
	ctx = bundle()
	fetch.StartBundle(ctx, nil)
	rowPayload.Inc(ctx, 64)
	fetch.FinishBundle(ctx, nil)
	if err := os.WriteFile(filepath.Join(progressFolder(out), "x"), []byte(`{"Counts":`), 0o666); err != nil {
		t.Fatal(err)
	}
	if k, err := readTallies(out); err != nil || k.RowPayload != 64 || k.IndicesChecked != 10 {
		t.Errorf("two workers: %+v, %v", k, err)
	}

	// The job's last step has taken the folder away: no worker makes it again.
	if err := os.RemoveAll(workFolder(out)); err != nil {
		t.Fatal(err)
	}
	ctx = bundle()
	fetch.StartBundle(ctx, nil)
	rowPayload.Inc(ctx, 64)
	fetch.FinishBundle(ctx, nil)
	if _, err := os.Stat(workFolder(out)); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("a worker has made the folder: %v", err)
	}
	if _, err := readTallies(out); err == nil {
		t.Error("a folder that is not there is no error")
	}
}

// TestProgress follows a job of Prism by what its workers tell.
func TestProgress(t *testing.T) {
	dir := t.TempDir()
	job := Job{ShardBytes: 1 << 20, Out: filepath.Join(dir, "rows"), Description: Description{
		Operator: "onnx.Gather-13",
		Data:     Operand{Text: save(t, filepath.Join(dir, "table.npy"), garner.F32, 5000, 16)},
		Indices:  Operand{Text: keep(t, filepath.Join(dir, "ids.npy"), garner.Of(ids(400_000, 0, 5000), 400_000))},
	}}
	r, err := Start(t.Context(), job, Runner{})
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	ended := make(chan error, 1)
	go func() { ended <- r.Wait(t.Context(), nil) }()
	seen := map[string]bool{}
	for over := false; !over; {
		select {
		case err := <-ended:
			if err != nil {
				t.Fatal(err)
			}
			over = true
		default:
		}
		all, err := r.Progress(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		for i, s := range all {
			if s.State != Waiting && i > 0 && all[i-1].State != Done || s.Done > s.Total {
				t.Fatalf("%+v", all)
			}
			if s.State == Working {
				seen[s.Name] = true
			}
		}
	}
	if !seen["finding rows"] && !seen["reading rows"] && !seen["writing shards"] {
		t.Errorf("only %v were seen", seen)
	}
	// The folder has nothing of it any more, and Prism knows.
	all, err := r.Progress(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	for _, s := range all {
		if s.State != Done || s.Done != s.Total {
			t.Errorf("a job that is done: %+v", s)
		}
	}
	if _, err := os.Stat(workFolder(job.Out)); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("the work folder: %v", err)
	}
	again, err := Start(t.Context(), job, Runner{})
	if err != nil {
		t.Fatal(err)
	}
	if all, err := again.Progress(t.Context()); err != nil || all[writingShards].State != Done {
		t.Errorf("a job whose result was there: %+v, %v", all, err)
	}
	seenBy, err := Watch(t.Context(), r.client, nil, r.ID)
	if err != nil || seenBy.Out() != job.Out || seenBy.Shards != r.Shards || seenBy.Bytes != r.Bytes || seenBy.size != r.size {
		t.Errorf("Watch: %+v, %v", seenBy, err)
	}
}

// TestForeign holds that a job of another program has counters, and no stages.
func TestForeign(t *testing.T) {
	initialised()
	client, env, err := jobs.Prism(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	defer client.Close()
	p, s := beam.NewPipelineWithRoot()
	beam.ParDo(s, &numbersFn{3}, beam.Impulse(s))
	id, err := client.Submit(t.Context(), p, env, jobs.Options{Name: "other", Display: map[string]string{"other": "x"}})
	if err != nil {
		t.Fatal(err)
	}
	if shown, err := client.Display(t.Context(), id); err != nil || len(shown) != 1 || shown["other"] != "x" {
		t.Errorf("Display: %q, %v", shown, err)
	}
	r, err := Watch(t.Context(), client, nil, id)
	if !errors.Is(err, ErrForeign) || r == nil {
		t.Fatalf("Watch: %+v, %v", r, err)
	}
	if err := client.Wait(t.Context(), id, nil); err != nil {
		t.Fatal(err)
	}
	if all, err := r.Counters(t.Context()); err != nil || len(all) != 0 {
		t.Errorf("counters %v, %v", all, err)
	}
	if _, err := Watch(t.Context(), client, nil, "none"); !errors.Is(err, jobs.ErrUnknown) {
		t.Errorf("a job that nobody knows: %v", err)
	}
}

// TestVertices maps the vertices of Flink's graph to the stages: Flink 1.19.3 gave these
// answers while it ran a job of 1,500,000 rows of 256 bytes, 46 shards.
func TestVertices(t *testing.T) {
	for _, tt := range []struct {
		answer string
		states [stageCount]string
		done   int64             // of the stage that runs
		took   [stageCount]int64 // ms, of stages that are done
	}{
		{"reading", [...]string{Done, Done, Working, Waiting}, 49_447_680, [...]int64{17_863, 376, 0, 0}},
		{"writing", [...]string{Done, Done, Done, Working}, 226_495_872, [...]int64{17_863, 376, 14_436, 0}},
	} {
		t.Run(tt.answer, func(t *testing.T) {
			rest := recorded(t, tt.answer)
			r := &Running{ID: "garner0rows-root-1123073254-4ea413ac_x", flink: rest, size: measure{Indices: 1_500_000, IndicesBytes: 12_000_000, Shards: 46, Bytes: 384_000_000}}
			k, err := r.ask(t.Context())
			if err != nil {
				t.Fatal(err)
			}
			for i, s := range r.size.stages(k, time.UnixMilli(1795419213663)) {
				t.Logf("%+v", s)
				if s.State != tt.states[i] {
					t.Errorf("%s is %s, want %s", s.Name, s.State, tt.states[i])
				}
				if s.State == Working && s.Done != tt.done {
					t.Errorf("%s: %d, want %d", s.Name, s.Done, tt.done)
				}
				if want := tt.took[i]; want != 0 && s.Took.Milliseconds() != want {
					t.Errorf("%s took %v, want %d ms", s.Name, s.Took, want)
				}
			}
		})
	}
}

// recorded serves answers of Flink in flink/testdata.
func recorded(t *testing.T, answer string) *flink.Client {
	t.Helper()
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		name := answer + ".json"
		switch r.URL.Path {
		case "/jobs/overview":
			fmt.Fprint(w, `{"jobs":[{"jid":"x","name":"garner0rows-root-1123073254-4ea413ac","state":"RUNNING"}]}`)
			return
		case "/jobs/x":
		default:
			name = answer + "-accumulators.json"
		}
		text, err := os.ReadFile(filepath.Join("flink", "testdata", name))
		if err != nil {
			t.Error(err)
		}
		w.Write(text)
	}))
	t.Cleanup(server.Close)
	c, err := flink.New(server.URL)
	if err != nil {
		t.Fatal(err)
	}
	return c
}
