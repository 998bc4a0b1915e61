//go:build unix

package main

import (
	"bytes"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/garner-go/garner/beam/jobs"
	"github.com/garner-go/garner/internal/cmdline"
)

// TestStatusOfFlink asks a job server, and a REST API with recorded answers of Flink.
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
			name = "running.json" // which has another id
		default:
			name = "accumulators.json"
		}
		text, err := os.ReadFile(filepath.Join(answers, name))
		if err != nil {
			t.Error(err)
		}
		w.Write(text)
	}))
	defer api.Close()
	at := strings.TrimPrefix(api.URL, "http://")
	status, out, said := ask("status", id, "--endpoint", engine(), "--flink", at)
	for _, want := range []string{"job    " + id + "\nstate  ", "\nflink  ", " RUNNING for ", "\nstage  state ", "\n1      ", " KiB ", "\npairs  1000\n"} {
		if !strings.Contains(out, want) {
			t.Errorf("status lacks %q:\n%s", want, out)
		}
	}
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
