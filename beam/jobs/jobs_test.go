package jobs_test

import (
	"context"
	"errors"
	"fmt"
	"log"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"
	"time"

	"github.com/apache/beam/sdks/v2/go/pkg/beam"
	"github.com/apache/beam/sdks/v2/go/pkg/beam/register"
	"github.com/apache/beam/sdks/v2/go/pkg/beam/util/grpcx"
	"github.com/garner-go/garner/beam/jobs"
	"github.com/garner-go/garner/beam/worker"
)

// TestMain makes this test binary its own worker, as garner-beam is.
func TestMain(m *testing.M) {
	if worker.Called(os.Args[1:]) {
		if err := worker.Main(context.Background(), os.Args[1:]); err != nil {
			log.Fatal(err)
		}
		return
	}
	untouched = reflect.ValueOf(grpcx.Dial).Pointer() == reflect.ValueOf(grpcx.DefaultDial).Pointer()
	beam.Init()
	os.Exit(m.Run())
}

// untouched is whether Beam connects by its own dialer before a test has begun.
var untouched bool

// TestImport holds that a program which imports package jobs, and does not call Prism, connects as Beam does.
func TestImport(t *testing.T) {
	if !untouched {
		t.Error("the import of package jobs has set Beam's grpcx.Dial")
	}
}

func init() {
	register.DoFn3x0[context.Context, []byte, func(int, int)](&spread{})
	register.DoFn3x2[context.Context, int, func(*int) bool, string, error](&add{})
	register.Emitter2[int, int]()
	register.Iter1[int]()
}

// spread makes N pairs (j % Groups, j).
type spread struct{ N, Groups int }

func (s *spread) ProcessElement(ctx context.Context, _ []byte, emit func(int, int)) {
	for j := range s.N {
		beam.NewCounter("test", "pairs").Inc(ctx, 1)
		emit(j%s.Groups, j)
	}
}

// add writes the sum of a group, and who added it, to a file of Dir. It begins
// once the file Hold exists, where one is named.
type add struct{ Dir, Hold string }

func (a *add) ProcessElement(ctx context.Context, group int, values func(*int) bool) (string, error) {
	sum, v := 0, 0
	for values(&v) {
		sum += v
	}
	if a.Hold != "" {
		held := filepath.Join(a.Dir, fmt.Sprintf("held-%d", group))
		if err := os.WriteFile(held, fmt.Append(nil, os.Getpid()), 0o666); err != nil {
			return "", err
		}
		for {
			if _, err := os.Stat(a.Hold); err == nil {
				break
			}
			if _, err := os.Stat(a.Dir); err != nil { // the test is gone
				return "", err
			}
			time.Sleep(20 * time.Millisecond)
		}
	}
	if sum < 0 {
		return "", errors.New("a sum below zero")
	}
	name := filepath.Join(a.Dir, fmt.Sprintf("group-%d", group))
	return name, os.WriteFile(name, fmt.Appendf(nil, "%d %s", sum, os.Getenv("GARNER_NODE")), 0o666)
}

// sums is a pipeline of one Impulse, two ParDos and a GroupByKey.
func sums(n, groups int, dir, hold string) *beam.Pipeline {
	p, s := beam.NewPipelineWithRoot()
	pairs := beam.ParDo(s, &spread{n, groups}, beam.Impulse(s))
	beam.ParDo(s, &add{dir, hold}, beam.GroupByKey(s, pairs))
	return p
}

// check holds the files against the sums, and returns who wrote them.
func check(t *testing.T, n, groups int, dir string) (by map[string]int) {
	t.Helper()
	by = map[string]int{}
	for g := range groups {
		text, err := os.ReadFile(filepath.Join(dir, fmt.Sprintf("group-%d", g)))
		if err != nil {
			t.Error(err)
			continue
		}
		want := 0
		for j := g; j < n; j += groups {
			want += j
		}
		sum, name, _ := strings.Cut(string(text), " ")
		if sum != fmt.Sprint(want) {
			t.Errorf("group %d: sum %s, want %d", g, sum, want)
		}
		by[name]++
	}
	return by
}

// run submits sums, waits for it and returns its id.
func run(t *testing.T, client *jobs.Client, submit func(p *beam.Pipeline) (string, error)) string {
	t.Helper()
	const n, groups = 1000, 16
	dir := t.TempDir()
	id, err := submit(sums(n, groups, dir, ""))
	if err != nil {
		t.Fatal(err)
	}
	if err := client.Wait(t.Context(), id, func(text string) { t.Log(text) }); err != nil {
		t.Fatal(err)
	}
	t.Log("written by", check(t, n, groups, dir))
	if s, err := client.State(t.Context(), id); err != nil || s.String() != "DONE" {
		t.Errorf("state %v, %v", s, err)
	}
	counters, err := client.Counters(t.Context(), id)
	if err != nil || len(counters) != 1 || counters[0] != (jobs.Counter{Namespace: "test", Name: "pairs", Value: n}) {
		t.Errorf("counters %v, %v", counters, err)
	}
	return id
}

func TestPrism(t *testing.T) {
	client, env, err := jobs.Prism(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	defer client.Close()
	submit := func(p *beam.Pipeline) (string, error) {
		return client.Submit(t.Context(), p, env, jobs.Options{Name: "sums"})
	}
	t.Run("done", func(t *testing.T) { run(t, client, submit) })
	t.Run("process", func(t *testing.T) { run(t, client, process(t, client, 0)) })
	t.Run("cancelled", func(t *testing.T) {
		cancelled(t, client, submit, func(id string) error { return ended(client.Cancel(t.Context(), id)) })
	})
	t.Run("failed", func(t *testing.T) { failed(t, client, submit) })
}

// process submits with this binary as the command of a PROCESS environment.
func process(t *testing.T, client *jobs.Client, parallelism int) func(p *beam.Pipeline) (string, error) {
	t.Helper()
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	env, err := worker.Process(self, map[string]string{"GARNER_TEST": t.Name()})
	if err != nil {
		t.Fatal(err)
	}
	return func(p *beam.Pipeline) (string, error) {
		return client.Submit(t.Context(), p, env, jobs.Options{Name: name(t), Parallelism: parallelism})
	}
}

func name(t *testing.T) string { return strings.NewReplacer("/", "-", "_", "-").Replace(t.Name()) }

func ended(s jobs.State, err error) error {
	if err == nil && s.String() != "CANCELLED" {
		err = fmt.Errorf("the job ended as %s", s)
	}
	return err
}

// cancelled cancels a job whose functions wait, and holds that Wait tells so. It
// returns the job's id.
func cancelled(t *testing.T, client *jobs.Client, submit func(p *beam.Pipeline) (string, error), cancel func(id string) error) string {
	t.Helper()
	dir := t.TempDir()
	id, err := submit(sums(100, 4, dir, filepath.Join(dir, "never")))
	if err != nil {
		t.Fatal(err)
	}
	waitFor(t, "a held group", func() bool { return len(glob(t, dir, "held-*")) > 0 })
	waited := make(chan error, 1)
	go func() { waited <- client.Wait(t.Context(), id, nil) }()
	from := time.Now()
	if err := cancel(id); err != nil {
		t.Fatal(err)
	}
	if err := <-waited; !errors.Is(err, jobs.ErrCancelled) {
		t.Errorf("Wait: %v, want that the job was cancelled", err)
	}
	t.Logf("cancelled in %v", time.Since(from).Round(time.Millisecond))
	if err := cancel(id); err != nil {
		t.Errorf("again: %v", err)
	}
	list, err := client.List(t.Context())
	if err != nil || len(list) == 0 {
		t.Errorf("List: %v, %v", list, err)
	}
	if got := glob(t, dir, "group-*"); len(got) > 0 {
		t.Errorf("a cancelled job wrote %v", got)
	}
	return id
}

// failed runs a job whose folder is gone, and holds that Wait gives the error of
// its function.
func failed(t *testing.T, client *jobs.Client, submit func(p *beam.Pipeline) (string, error)) {
	t.Helper()
	id, err := submit(sums(100, 4, filepath.Join(t.TempDir(), "absent"), ""))
	if err != nil {
		t.Fatal(err)
	}
	if err := client.Wait(t.Context(), id, nil); err == nil || !strings.Contains(err.Error(), "absent") || !strings.Contains(err.Error(), id) {
		t.Errorf("Wait: %v, want the job's id and the function's error", err)
	}
}

func glob(t *testing.T, dir, pattern string) []string {
	t.Helper()
	list, err := filepath.Glob(filepath.Join(dir, pattern))
	if err != nil {
		t.Fatal(err)
	}
	return list
}

// waitFor waits until a condition holds, at most a minute.
func waitFor(t *testing.T, what string, holds func() bool) {
	t.Helper()
	for until := time.Now().Add(time.Minute); !holds(); time.Sleep(50 * time.Millisecond) {
		if time.Now().After(until) {
			t.Fatalf("no %s after a minute", what)
		}
	}
}

// TestFailedSays holds that the error of a job that failed is that of its function, on one line.
func TestFailedSays(t *testing.T) {
	client, env, err := jobs.Prism(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	defer client.Close()
	absent := filepath.Join(t.TempDir(), "absent")
	id, err := client.Submit(t.Context(), sums(100, 1, absent, ""), env, jobs.Options{Name: "sums"})
	if err != nil {
		t.Fatal(err)
	}
	err = client.Wait(t.Context(), id, nil)
	if want := fmt.Sprintf("job %s is FAILED: open %s: no such file or directory", id, filepath.Join(absent, "group-0")); err == nil || err.Error() != want {
		t.Errorf("%v; want %s", err, want)
	}
}

func TestDialRefused(t *testing.T) {
	ctx, cancel := context.WithTimeout(t.Context(), 2*time.Minute)
	defer cancel()
	if _, err := jobs.Dial(ctx, "localhost:1"); err == nil || !strings.Contains(err.Error(), "no job service of Beam answers at localhost:1") {
		t.Errorf("Dial: %v", err)
	}
}

func TestUnknownJob(t *testing.T) {
	client, _, err := jobs.Prism(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	defer client.Close()
	if s, err := client.State(t.Context(), "none"); !errors.Is(err, jobs.ErrUnknown) || !strings.Contains(err.Error(), "job none") {
		t.Errorf("State: %v, %v", s, err)
	}
	if err := client.Wait(t.Context(), "none", nil); err == nil {
		t.Error("Wait: no error")
	}
}
