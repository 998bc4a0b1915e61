//go:build unix

package main

import (
	"bytes"
	"fmt"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"syscall"
	"testing"

	"github.com/garner-go/garner/beam/jobs"
	"github.com/garner-go/garner/internal/cmdline"
)

// TestStatusStopped stops a question that a job server does not answer.
func TestStatusStopped(t *testing.T) {
	silent, err := net.Listen("tcp", "localhost:0")
	if err != nil {
		t.Fatal(err)
	}
	defer silent.Close()
	for _, s := range []syscall.Signal{syscall.SIGINT, syscall.SIGTERM} {
		p := start(t, t.TempDir(), nil, "status", "job", "--endpoint", silent.Addr().String())
		for range 2 { // the probe, and gRPC
			conn, err := silent.Accept()
			if err != nil {
				t.Fatal(err)
			}
			defer conn.Close()
		}
		if err := p.cmd.Process.Signal(s); err != nil {
			t.Fatal(err)
		}
		if got := p.status(); got != cmdline.StatusInterrupted || p.stderr.String() != "garner-beam: interrupted; a job goes on as it was\n" || p.stdout.Len() > 0 {
			t.Errorf("%v: status %d, %q, %q", s, got, p.stdout.String(), p.stderr.String())
		}
	}
}

// TestStatusOfFlink asks a job server, and a REST API with recorded answers of Flink: in the
// folder of the result, and where that is not.
func TestStatusOfFlink(t *testing.T) {
	answers, err := filepath.Abs("../../flink/testdata")
	if err != nil {
		t.Fatal(err)
	}
	t.Chdir(t.TempDir())
	ask := func(args ...string) (int, string, string) {
		var stdout, stderr bytes.Buffer
		status := newProgram(strings.NewReader(""), &stdout, &stderr).run(t.Context(), args)
		return status, stdout.String(), stderr.String()
	}
	status, id, said := ask("gather", "[1,2]", "[0]", "-o", "rows", "--runner", "flink", "--endpoint", engine(), "--worker", held(t, filepath.Join(t.TempDir(), "never")), "--detach")
	id = strings.TrimSpace(id)
	if status != 0 || id == "" || !strings.Contains(said, id) {
		t.Fatalf("%d, %q, %q", status, id, said)
	}
	knows := true
	api := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		name := ""
		switch r.URL.Path {
		case "/jobs/overview":
			fmt.Fprint(w, `{"jobs":[`)
			if knows {
				fmt.Fprintf(w, `{"jid":"791267","name":%q,"state":"RUNNING"}`, id)
			}
			fmt.Fprint(w, `]}`)
			return
		case "/jobs/791267":
			name = "reading.json" // which has another id
		default:
			name = "reading-accumulators.json"
		}
		text, err := os.ReadFile(filepath.Join(answers, name))
		if err != nil {
			t.Error(err)
		}
		w.Write(text)
	}))
	defer api.Close()
	at := strings.TrimPrefix(api.URL, "http://")
	holds := func(out string, want ...string) {
		t.Helper()
		for _, want := range append(want, "^job    "+id+"$", "^state  [A-Z]+$", "^flink  791267 RUNNING for ", "^out    .*rows$", "^stage +state +done +of +% +took +left$", `^bytes_wanted +377827072$`) {
			if !regexp.MustCompile("(?m)" + want).MatchString(out) {
				t.Errorf("status lacks %q:\n%s", want, out)
			}
		}
	}
	_, out, _ := ask("status", id, "--endpoint", engine(), "--flink", at)
	holds(out, `^1/4 checking indices +waiting +0 B +8 B +0 *$`, `^4/4 writing shards +waiting +0 B `)
	// Of a worker.
	tell := func(name, text string) {
		if err := os.WriteFile(filepath.Join("rows", "_garner", "progress", name), []byte(text), 0o666); err != nil {
			t.Fatal(err)
		}
	}
	tell("1", `{"Counts":{"indices_checked":1,"shards_found":1,"bytes_wanted":4096},"Began":"2026-01-02T00:00:00Z","Last":["2026-01-02T00:00:02Z","2026-01-02T00:00:05Z"]}`)
	tell("2", `{"Counts":{"row_payload":1024},"Began":"2026-01-02T00:00:01Z","Last":["0001-01-01T00:00:00Z","0001-01-01T00:00:00Z","2026-01-02T00:00:09Z"]}`)
	_, out, _ = ask("status", id, "--endpoint", engine(), "--flink", at)
	holds(out, `^1/4 checking indices +done +8 B +8 B +100 +2 s *$`, `^2/4 finding rows +done +8 B +8 B +100 +3 s *$`, `^3/4 reading rows +running +1 KiB +4 KiB +25 +\d+ \w+ +\d+ \w+$`, `^4/4 writing shards +waiting +0 B +8 B +0 *$`)
	// Where the folder is not, the engine tells.
	if err := os.Rename("rows", "elsewhere"); err != nil {
		t.Fatal(err)
	}
	status, out, said = ask("status", id, "--endpoint", engine(), "--flink", at)
	holds(out, `^1/4 checking indices +done +8 B +8 B +100 +18 s *$`, `^2/4 finding rows +done +8 B +8 B +100 +0 s *$`, `^3/4 reading rows +running +47.2 MiB +360.3 MiB +13 +\d+ \w+ +\d+ \w+$`, `^4/4 writing shards +waiting +0 B +8 B +0 *$`)
	if status != statusRunning || said != "" {
		t.Errorf("%d, %q; want %d, as the job has not ended", status, said, statusRunning)
	}
	knows = false
	if status, out, said = ask("status", id, "--endpoint", engine(), "--flink", at); status != statusRunning || !strings.Contains(out, "\nflink  does not know the job") || said != "" {
		t.Errorf("before Flink knows the job: %d, %q, %q", status, out, said)
	}
	// A job that was cancelled.
	client, err := jobs.Dial(t.Context(), engine())
	if err != nil {
		t.Fatal(err)
	}
	defer client.Close()
	if _, err := client.Cancel(t.Context(), id); err != nil {
		t.Fatal(err)
	}
	if status, out, said = ask("status", id, "--endpoint", engine()); status != cmdline.StatusRefused || !strings.Contains(out, "state  CANCELLED") || said != "garner-beam: job "+id+" is CANCELLED\n" {
		t.Errorf("cancelled: %d, %q, %q", status, out, said)
	}
}
