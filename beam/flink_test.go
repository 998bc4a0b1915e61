//go:build flink

package beam

import (
	"bufio"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"log"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/garner-go/garner"
	"github.com/garner-go/garner/beam/flink"
	"github.com/garner-go/garner/beam/worker"
	"github.com/garner-go/garner/files"
	"github.com/garner-go/garner/format/shards"
)

// The test binary is its own worker.
func init() {
	if worker.Called(os.Args[1:]) {
		if err := worker.Main(context.Background(), os.Args[1:]); err != nil {
			log.Fatal(err)
		}
		os.Exit(0)
	}
}

// onFlink is the cluster of beam/test-flink.
func onFlink(t *testing.T) (Runner, *flink.Client) {
	t.Helper()
	r := Runner{Name: FlinkRunner, Endpoint: os.Getenv("BEAM_ENDPOINT"), FlinkREST: os.Getenv("FLINK_REST"), Workers: 4}
	if r.Endpoint == "" || r.FlinkREST == "" {
		t.Fatal("BEAM_ENDPOINT or FLINK_REST is not set: run beam/test-flink")
	}
	cluster, err := flink.New(r.FlinkREST)
	if err != nil {
		t.Fatal(err)
	}
	return r, cluster
}

const (
	flinkTable = 4_000_000 // rows
	flinkRows  = 1_000_000
	flinkWidth = 64 // f32 in a row
)

// flinkJob writes the table and the indices of a job of 10⁶ of 4·10⁶ rows of 256 bytes, and
// returns the SHA-256 of the bytes that NumPy gathers.
func flinkJob(t *testing.T) (Description, string) {
	t.Helper()
	dir := t.TempDir()
	table, at := filepath.Join(dir, "table.npy"), filepath.Join(dir, "ids.npy")
	random := rand.NewChaCha8([32]byte{18})
	randomTable(t, table, random, flinkTable)
	keep(t, at, garner.Of(ids(flinkRows, 0, flinkTable), flinkRows))
	return Description{Operator: "onnx.Gather-13", Data: Operand{Text: table}, Indices: Operand{Text: at}}, numpys(t, at, table)
}

// manyRows writes a table of 10⁶ rows in 8 files and 3·10⁶ indices, and returns what flinkJob
// returns: each of 4 workers sends 192 MB of rows on the average, and one of them more than
// 300 MB, which are 100 messages of Beam's Go side with three pieces in each.
func manyRows(t *testing.T) (Description, string) {
	t.Helper()
	const rows, parts, want = 1_000_000, 8, 3_000_000
	dir := t.TempDir()
	at, random := filepath.Join(dir, "ids.npy"), rand.NewChaCha8([32]byte{81})
	var tables []string
	for i := range parts {
		tables = append(tables, filepath.Join(dir, fmt.Sprintf("part-%05d-of-%05d.npy", i, parts)))
		randomTable(t, tables[i], random, rows/parts)
	}
	keep(t, at, garner.Of(ids(want, 0, rows), want))
	return Description{Operator: "onnx.Gather-13", Data: Operand{Text: filepath.Join(dir, "part-*.npy")}, Indices: Operand{Text: at}}, numpys(t, at, tables...)
}

// randomTable writes a table of so many rows of flinkWidth.
func randomTable(t *testing.T, path string, random *rand.ChaCha8, rows int) {
	t.Helper()
	out, err := files.Create(t.Context(), path, garner.SpecOf(garner.F32, rows, flinkWidth), files.CreateOptions{})
	if err != nil {
		t.Fatal(err)
	}
	defer out.Abort()
	w := bufio.NewWriterSize(out, 1<<20)
	block := make([]byte, 1<<20)
	for left := rows * flinkWidth * 4; left > 0; left -= len(block) {
		block = block[:min(left, len(block))]
		random.Read(block)
		if _, err := w.Write(block); err != nil {
			t.Fatal(err)
		}
	}
	if err := errors.Join(w.Flush(), out.Commit()); err != nil {
		t.Fatal(err)
	}
}

// numpys returns the SHA-256 of the bytes that NumPy gathers from the files of a table.
func numpys(t *testing.T, at string, tables ...string) string {
	t.Helper()
	sum, err := exec.Command(os.Getenv("FLINK_PYTHON"), append([]string{"-c",
		"import hashlib,sys,numpy as n; t=[n.load(p,mmap_mode='r') for p in sys.argv[2:]]; t=t[0] if len(t)==1 else n.concatenate(t); print(hashlib.sha256(t[n.load(sys.argv[1])].tobytes()).hexdigest())", at}, tables...)...).Output()
	if err != nil {
		t.Fatal(err)
	}
	return strings.TrimSpace(string(sum))
}

// holds compares the result of a job with NumPy's.
func holds(t *testing.T, out, want string) {
	t.Helper()
	_, b := folder(t, out)
	sum := sha256.Sum256(b)
	if got := hex.EncodeToString(sum[:]); got != want {
		t.Errorf("the rows have the SHA-256 %s; NumPy's have %s", got, want)
	}
}

// kill ends a task manager at once.
func kill(t *testing.T, n int) {
	t.Helper()
	text, err := os.ReadFile(filepath.Join(os.Getenv("FLINK_PIDS"), fmt.Sprintf("taskmanager-%d", n)))
	if err != nil {
		t.Fatal(err)
	}
	pid, err := strconv.Atoi(strings.TrimSpace(string(text)))
	if err == nil {
		err = syscall.Kill(pid, syscall.SIGKILL)
	}
	if err != nil {
		t.Fatal(err)
	}
	t.Logf("task manager %d is killed", n)
}

// when waits until what a job's stages are doing is as the test wants.
func when(t *testing.T, cluster *flink.Client, r *Running, what string, is func(flink.Job) bool) {
	t.Helper()
	for until := time.Now().Add(5 * time.Minute); time.Now().Before(until); time.Sleep(20 * time.Millisecond) {
		job, err := cluster.Find(t.Context(), r.ID)
		if err == nil {
			job, err = cluster.Job(t.Context(), job.ID)
		}
		if err != nil {
			continue
		}
		if is(job) {
			return
		}
		if job.State.Ended() {
			t.Fatalf("the job is %s before %s", job.State, what)
		}
	}
	t.Fatalf("no %s within 5 minutes", what)
}

// runs reports whether a stage is at work.
func runs(job flink.Job, name string) bool {
	for _, s := range job.Stages {
		if strings.Contains(s.Name, name) && s.State == "RUNNING" && s.Tasks["running"] > 0 {
			return true
		}
	}
	return false
}

func start(t *testing.T, runner Runner, gather Description, out string) *Running {
	t.Helper()
	r, err := Start(t.Context(), Job{Description: gather, Out: out}, runner)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { r.Close() })
	return r
}

func ends(t *testing.T, r *Running) {
	t.Helper()
	if err := r.Wait(t.Context(), func(text string) { t.Log(text) }); err != nil {
		t.Fatal(err)
	}
}

// TestFlink runs a job on two task managers: alone, and where one of them is killed in fetch
// and the other in write.
func TestFlink(t *testing.T) {
	runner, cluster := onFlink(t)
	gather, want := flinkJob(t)
	t.Run("rows", func(t *testing.T) {
		out := filepath.Join(t.TempDir(), "rows")
		begun := time.Now()
		r := start(t, runner, gather, out)
		ends(t, r)
		t.Logf("%.1f s", time.Since(begun).Seconds())
		holds(t, out, want)
		c, err := r.Counts(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		least := c.RowPayload + 8*flinkRows
		found, err := cluster.Find(t.Context(), r.ID)
		if err != nil {
			t.Fatal(err)
		}
		job, err := cluster.Job(t.Context(), found.ID)
		if err != nil {
			t.Fatal(err)
		}
		moved := int64(0)
		for _, s := range job.Stages {
			t.Logf("%-60.60q reads %11d bytes %8d records, writes %11d bytes %8d records, %v", s.Name, s.ReadBytes, s.ReadRecords, s.WriteBytes, s.WriteRecords, s.Inputs)
			for _, in := range s.Inputs {
				if in != "Forward" { // what is forwarded stays on its task manager
					moved += s.ReadBytes
					break
				}
			}
		}
		t.Logf("%+v", c)
		t.Logf("%d bytes go through Flink: %.4f of the rows and 8 bytes an index", moved, float64(moved)/float64(least))
		if float64(moved) > 1.05*float64(least) {
			t.Errorf("%d bytes go through Flink, more than 1.05 of %d", moved, least)
		}
	})
	t.Run("many", func(t *testing.T) { // more output than an engine holds in 100 messages
		gather, want := manyRows(t)
		out := filepath.Join(t.TempDir(), "rows")
		begun := time.Now()
		ends(t, start(t, runner, gather, out))
		t.Logf("%.1f s", time.Since(begun).Seconds())
		holds(t, out, want)
	})
	t.Run("killed in fetch", func(t *testing.T) {
		out := filepath.Join(t.TempDir(), "rows")
		r := start(t, runner, gather, out)
		when(t, cluster, r, "fetch", func(job flink.Job) bool { return runs(job, "fetch") })
		kill(t, 1)
		ends(t, r)
		holds(t, out, want)
	})
	t.Run("killed in write", func(t *testing.T) {
		out := filepath.Join(t.TempDir(), "rows")
		r := start(t, runner, gather, out)
		when(t, cluster, r, "write", func(job flink.Job) bool {
			made, _ := filepath.Glob(filepath.Join(out, "part-*"))
			return runs(job, "write") && len(made) > 0
		})
		made, _ := filepath.Glob(filepath.Join(out, "part-*"))
		kill(t, 2)
		if len(made) == int(r.Shards) {
			t.Errorf("all %d shards were written before", r.Shards)
		}
		ends(t, r)
		holds(t, out, want)
	})
	t.Run("refused", func(t *testing.T) {
		bad := ids(flinkRows, 0, flinkTable)
		bad[700_123], bad[900_000] = flinkTable, -flinkTable-1
		gather := gather
		gather.Indices.Text = keep(t, filepath.Join(t.TempDir(), "bad.npy"), garner.Of(bad, flinkRows))
		for _, workers := range []int{1, 2, 4} {
			runner := runner
			runner.Workers = workers
			out := filepath.Join(t.TempDir(), "rows")
			r := start(t, runner, gather, out)
			err := r.Wait(t.Context(), nil)
			var is *garner.IndexError
			if !errors.As(err, &is) || is.Position[0] != 700_123 || is.Others != 1 {
				t.Errorf("%d workers: %v", workers, err)
			}
			if _, err := os.Stat(out); !errors.Is(err, os.ErrNotExist) {
				t.Errorf("%d workers: something is left: %v", workers, err)
			}
		}
	})
	t.Run("elsewhere", func(t *testing.T) { // shards that only one node has
		dir, table := spread(t)
		m, err := shards.Read(dir)
		if err != nil {
			t.Fatal(err)
		}
		for i := range m.Shards {
			m.Shards[i].Node = map[string]string{"a": "worker-1", "b": "worker-2"}[m.Shards[i].Node]
		}
		if err := shards.Write(dir, m); err != nil {
			t.Fatal(err)
		}
		whole := keep(t, filepath.Join(t.TempDir(), "table.npy"), table)
		job := Job{Description: Description{Operator: "onnx.Gather-13", Data: Operand{Text: whole}, Indices: Operand{Text: keep(t, filepath.Join(t.TempDir(), "ids.npy"), garner.Of(ids(5000, 0, 3000), 5000))}}}
		_, want, err := gathered(t, job)
		if err != nil {
			t.Fatal(err)
		}
		job.Data.Text, job.Out = dir, filepath.Join(t.TempDir(), "rows")
		if err := Run(t.Context(), job, runner); err != nil {
			t.Fatal(err)
		}
		if _, got := folder(t, job.Out); string(got) != string(want) {
			t.Error("other bytes than the whole table's")
		}
	})
}
