package beam

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/garner-go/garner"
	"github.com/garner-go/garner/files"
	"github.com/garner-go/garner/format/shards"
	"github.com/garner-go/garner/source"
)

// serveVariable makes the test binary a worker that serves the task on its standard input
// until that ends.
const serveVariable = "GARNER_TEST_SERVE"

func TestMain(m *testing.M) {
	if os.Getenv(serveVariable) == "" {
		os.Exit(m.Run())
	}
	line, rest := make([]byte, 0, 4096), os.Stdin
	for b := make([]byte, 1); ; {
		if _, err := rest.Read(b); err != nil || b[0] == '\n' {
			break
		}
		line = append(line, b[0])
	}
	if _, err := acquire(context.Background(), string(line)); err != nil {
		fmt.Println(err)
		os.Exit(1)
	}
	fmt.Println("serving")
	io.Copy(io.Discard, rest)
}

// other starts a worker on another node, which serves a task until the test ends.
func other(t *testing.T, name string, of *task) {
	t.Helper()
	text, err := json.Marshal(of)
	if err != nil {
		t.Fatal(err)
	}
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	cmd := exec.Command(self)
	cmd.Env = append(os.Environ(), serveVariable+"=1", "GARNER_NODE="+name)
	in, err := cmd.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		in.Close()
		cmd.Wait()
	})
	if _, err := in.Write(append(text, '\n')); err != nil {
		t.Fatal(err)
	}
	said := make([]byte, 4096)
	if n, _ := out.Read(said); !strings.HasPrefix(string(said[:n]), "serving") {
		t.Fatalf("worker %s: %s", name, said[:n])
	}
}

// spread writes a table of three shards, of which two other nodes alone have, and
// returns its folder and the whole table. Rows lie across the ends of shards.
func spread(t *testing.T) (dir string, table garner.Tensor) {
	t.Helper()
	dir = t.TempDir()
	x, err := garner.New(garner.F32, 3000, 16)
	if err != nil {
		t.Fatal(err)
	}
	values, _ := garner.Values[float32](x)
	for i := range values {
		values[i] = float32(i)
	}
	m := &shards.Manifest{DType: garner.F32, Shape: garner.Shape{3000, 16}}
	first := 0
	for i, n := range []int{16_005, 17_000, 14_995} {
		node := []string{"a", "b", ""}[i]
		name := fmt.Sprintf("shard-%d.npy", i)
		if node == "b" {
			name = filepath.Join(t.TempDir(), name) // a disk of its own
		}
		part := garner.Of(values[first:first+n], n)
		if err := files.Save(t.Context(), filepath.Join(dir, filepath.Base(name)), part, files.CreateOptions{}); err != nil {
			t.Fatal(err)
		}
		if node == "b" {
			if err := os.Rename(filepath.Join(dir, filepath.Base(name)), name); err != nil {
				t.Fatal(err)
			}
		}
		m.Shards = append(m.Shards, shards.Shard{File: filepath.ToSlash(name), Elements: int64(n), Node: node})
		first += n
	}
	if err := shards.Write(dir, m); err != nil {
		t.Fatal(err)
	}
	if err := shards.Finish(dir); err != nil {
		t.Fatal(err)
	}
	return dir, x
}

// TestElsewhere holds that shards which one node alone has are read there.
func TestElsewhere(t *testing.T) {
	t.Setenv("GARNER_NODE", "a")
	t.Setenv(AddressVariable, "127.0.0.1")
	dir, table := spread(t)
	at := garner.Of(ids(5000, 0, 3000), 5000)
	op := Description{Operator: "onnx.Gather-13", Data: Operand{Text: dir}, Indices: Operand{Text: keep(t, filepath.Join(t.TempDir(), "ids.npy"), at)}}
	if _, err := op.line().Open(t.Context()); !errors.Is(err, shards.ErrNode) {
		t.Errorf("a table of other nodes opens: %v", err)
	}
	for name, to := range map[string]string{"as they are": "", "converted": "f16"} {
		t.Run(name, func(t *testing.T) {
			op.Data.To = to
			job := Job{Description: op, Out: filepath.Join(t.TempDir(), "rows")}
			task, err := prepare(t.Context(), job, 1)
			if err != nil {
				t.Fatal(err)
			}
			other(t, "b", task)
			r, err := task.start(t.Context(), Runner{})
			if err != nil {
				t.Fatal(err)
			}
			defer r.Close()
			if err := r.Wait(t.Context(), nil); err != nil {
				t.Fatal(err)
			}
			_, got := folder(t, job.Out)
			data := source.Memory(table)
			if to != "" {
				if data, err = source.Convert(data, garner.F16); err != nil {
					t.Fatal(err)
				}
			}
			var want bytes.Buffer
			o, err := Description{Operator: "onnx.Gather-13", Data: Operand{Text: "[1]"}, Indices: Operand{Text: "[0]"}}.line().Open(t.Context())
			if err != nil {
				t.Fatal(err)
			}
			defer o.Close()
			if err := source.Gather(t.Context(), o.Op, data, source.Memory(at), &want, source.Options{}); err != nil {
				t.Fatal(err)
			}
			if !bytes.Equal(got, want.Bytes()) {
				t.Error("other bytes than the whole table's")
			}
		})
	}
}

// TestElsewhereMissing holds what is said of a node that takes no part, of a shard that
// its node lacks, and of those who ask without a right.
func TestElsewhereMissing(t *testing.T) {
	t.Setenv("GARNER_NODE", "a")
	t.Setenv(AddressVariable, "127.0.0.1")
	dir, _ := spread(t)
	job := jobOn(t, dir, "[0, 1500]")
	of, err := prepare(t.Context(), job, 1)
	if err != nil {
		t.Fatal(err)
	}
	of.Patience = 300 * time.Millisecond
	o, err := of.open(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	defer o.Close()
	row := source.Rows{At: []int64{1500 * 64}, Size: 64, Dst: make([]byte, 64)}
	if err := o.Data.Fetch(t.Context(), row); !errors.Is(err, shards.ErrNode) || !strings.Contains(err.Error(), `no worker there answers; start one with GARNER_NODE=b`) {
		t.Errorf("no worker b: %v", err)
	}
	other(t, "b", of)
	of.Patience = 2 * time.Minute // for what answers
	if err := o.Data.Fetch(t.Context(), row); err != nil || row.Dst[0] == 0 && row.Dst[3] == 0 {
		t.Errorf("worker b: %v, %v", row.Dst, err)
	}
	m, err := shards.Read(dir)
	if err != nil {
		t.Fatal(err)
	}
	if err := os.Truncate(m.Shards[1].File, 1000); err != nil {
		t.Fatal(err)
	}
	row.At[0] += 64
	if err := o.Data.Fetch(t.Context(), row); err == nil || !strings.Contains(err.Error(), "shard-1.npy") {
		t.Errorf("a shard that was cut short: %v", err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if err := (&asker{task: of}).ask(ctx, m, 1, source.Rows{At: []int64{0}, Size: 4, Dst: make([]byte, 4)}); err == nil {
		t.Error("a cancelled question is answered")
	}

	s, err := serving()
	if err != nil {
		t.Fatal(err)
	}
	if err := o.serve(); err != nil {
		t.Fatal(err)
	}
	defer o.stop()
	for _, tt := range []struct {
		token, node, shard, body string
		status                   int
	}{
		{of.Token, "a", "0", "\x08\x01\x00", http.StatusOK},
		{"", "a", "0", "\x08\x01\x00", http.StatusNotFound},
		{newToken(), "a", "0", "\x08\x01\x00", http.StatusNotFound},
		{of.Token, "b", "0", "\x08\x01\x00", http.StatusNotFound},
		{of.Token, "a", "1", "\x08\x01\x00", http.StatusBadRequest},
		{of.Token, "a", "-1", "\x08\x01\x00", http.StatusBadRequest},
		{of.Token, "a", "9", "\x08\x01\x00", http.StatusBadRequest},
		{of.Token, "a", "x", "\x08\x01\x00", http.StatusBadRequest},
		{of.Token, "a", "0", "\x08\x01\x00\x00", http.StatusBadRequest},
		{of.Token, "a", "0", "\x08\x01\xff\xff\xff\x0f", http.StatusBadRequest},
		{of.Token, "a", "0", "", http.StatusBadRequest},
	} {
		r, err := http.NewRequestWithContext(t.Context(), http.MethodPost, "http://"+s.addresses[0]+"/rows", strings.NewReader(tt.body))
		if err != nil {
			t.Fatal(err)
		}
		r.Header.Set(proofHeader, proof(tt.token, asks(tt.node, tt.shard, []byte(tt.body))...))
		r.Header.Set(nodeHeader, tt.node)
		r.Header.Set(shardHeader, tt.shard)
		answer, err := peers.Do(r)
		if err != nil {
			t.Fatal(err)
		}
		b, _ := io.ReadAll(answer.Body)
		answer.Body.Close()
		if answer.StatusCode != tt.status || tt.status == http.StatusOK && len(b) != 4 {
			t.Errorf("%+v: %d, %q", tt, answer.StatusCode, b)
		}
	}
}

// TestElsewhereOnPrism holds that a job whose shards the node of Prism has not is refused at
// once, and leaves nothing.
func TestElsewhereOnPrism(t *testing.T) {
	t.Setenv("GARNER_NODE", "a")
	dir, _ := spread(t)
	job := jobOn(t, dir, "[0, 1500]")
	if err := Run(t.Context(), job, Runner{}); !errors.Is(err, shards.ErrNode) {
		t.Error(err)
	}
	if _, err := os.Stat(job.Out); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("something is left: %v", err)
	}
}

// TestLyingPeer holds that what answers at the address of a worker, and is none, neither gets
// the job's secret passed on nor gives rows of another length, and does not hang the job.
func TestLyingPeer(t *testing.T) {
	t.Setenv("GARNER_NODE", "a")
	dir, _ := spread(t)
	job := jobOn(t, dir, "[0, 1500]")
	of, err := prepare(t.Context(), job, 1)
	if err != nil {
		t.Fatal(err)
	}
	of.Patience = 300 * time.Millisecond
	elsewhere := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
		t.Errorf("a redirection is followed: %s", r.URL)
	}))
	defer elsewhere.Close()
	for name, answer := range map[string]http.HandlerFunc{
		"redirects": func(w http.ResponseWriter, r *http.Request) {
			http.Redirect(w, r, elsewhere.URL, http.StatusTemporaryRedirect)
		},
		"longer":  func(w http.ResponseWriter, _ *http.Request) { w.Write(make([]byte, 65)) },
		"shorter": func(w http.ResponseWriter, _ *http.Request) { w.Write(make([]byte, 63)) },
		"in pieces": func(w http.ResponseWriter, _ *http.Request) {
			w.Write(make([]byte, 32))
			w.(http.Flusher).Flush()
			w.Write(make([]byte, 32))
		},
		"hangs": func(_ http.ResponseWriter, r *http.Request) {
			io.Copy(io.Discard, r.Body) // else the server does not see that the client is gone
			<-r.Context().Done()
		},
		"as long": func(w http.ResponseWriter, _ *http.Request) { w.Write(make([]byte, 64)) },
		"with escape": func(w http.ResponseWriter, _ *http.Request) {
			http.Error(w, "\x1b[2Jgone", http.StatusInternalServerError)
		},
	} {
		t.Run(name, func(t *testing.T) {
			peer := httptest.NewServer(answer)
			defer peer.Close()
			b, err := json.Marshal(post{"b", []string{strings.TrimPrefix(peer.URL, "http://")}})
			if err != nil {
				t.Fatal(err)
			}
			if err := putFile(filepath.Join(postsFolder(of.Out), "peer"), b); err != nil {
				t.Fatal(err)
			}
			m, err := shards.Read(dir)
			if err != nil {
				t.Fatal(err)
			}
			err = (&asker{task: of}).ask(t.Context(), m, 1, source.Rows{At: []int64{0}, Size: 64, Dst: make([]byte, 64)})
			if err == nil || strings.Contains(err.Error(), "\x1b") {
				t.Errorf("%v", err)
			}
		})
	}
}

// TestAskedAgain holds that a node is looked up once, and again when it no longer answers.
func TestAskedAgain(t *testing.T) {
	t.Setenv("GARNER_NODE", "a")
	dir, _ := spread(t)
	job := jobOn(t, dir, "[0, 1500]")
	of, err := prepare(t.Context(), job, 1)
	if err != nil {
		t.Fatal(err)
	}
	of.Patience = 2 * time.Minute
	m, err := shards.Read(dir)
	if err != nil {
		t.Fatal(err)
	}
	begin := func(says byte) *httptest.Server {
		peer := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			b := bytes.Repeat([]byte{says}, 64)
			w.Header().Set(proofHeader, proof(of.Token, []byte("answer"), []byte(r.Header.Get(proofHeader)), b))
			w.Header().Set("Content-Length", "64")
			w.Write(b)
		}))
		b, err := json.Marshal(post{"b", []string{strings.TrimPrefix(peer.URL, "http://")}})
		if err == nil {
			err = putFile(filepath.Join(postsFolder(of.Out), "peer"), b)
		}
		if err != nil {
			t.Fatal(err)
		}
		return peer
	}
	a := &asker{task: of}
	asked := func(what string, want byte) {
		t.Helper()
		row := source.Rows{At: []int64{0}, Size: 64, Dst: make([]byte, 64)}
		if err := a.ask(t.Context(), m, 1, row); err != nil || row.Dst[0] != want {
			t.Errorf("%s: %d, %v; want %d", what, row.Dst[0], err, want)
		}
	}
	first := begin(1)
	asked("a node that nobody has asked", 1)
	if err := os.RemoveAll(postsFolder(of.Out)); err != nil {
		t.Fatal(err)
	}
	asked("a node that has answered", 1)
	second := begin(2)
	defer second.Close()
	first.Close()
	asked("a node that is at another address", 2)
}

// TestChangedBetween holds that workers which find other files than the driver say so.
func TestChangedBetween(t *testing.T) {
	dir := t.TempDir()
	table := save(t, filepath.Join(dir, "table.npy"), garner.F32, 100, 4)
	job := jobOn(t, table, "[0, 50]")
	of, err := prepare(t.Context(), job, 1)
	if err != nil {
		t.Fatal(err)
	}
	text, err := json.Marshal(of)
	if err != nil {
		t.Fatal(err)
	}
	o, err := openTask(t.Context(), string(text))
	if err != nil {
		t.Fatal(err)
	}
	o.Close()
	later := time.Now().Add(time.Hour)
	if err := os.Chtimes(table, later, later); err != nil {
		t.Fatal(err)
	}
	if _, err := openTask(t.Context(), string(text)); !errors.Is(err, source.ErrChanged) || !strings.Contains(err.Error(), "data: "+table) {
		t.Errorf("a table that was written to: %v", err)
	}
	if _, err := openTask(t.Context(), "{"); err == nil {
		t.Error("half a task opens")
	}
}
