package flink

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/garner-go/garner/beam/jobs"
)

// recorded serves answers of a cluster by path: files of testdata, which Flink
// 1.19.3 gave while TestFlink of package jobs ran.
func recorded(t *testing.T, answers map[string]string) *Client {
	t.Helper()
	return serve(t, func(w http.ResponseWriter, r *http.Request) {
		name, ok := answers[r.URL.Path]
		if !ok {
			http.Error(w, `{"errors":["Not found: `+r.URL.Path+`"]}`, http.StatusNotFound)
			return
		}
		text, err := os.ReadFile(filepath.Join("testdata", name))
		if err != nil {
			t.Error(err)
		}
		w.Write(text)
	})
}

func serve(t *testing.T, handler http.HandlerFunc) *Client {
	t.Helper()
	server := httptest.NewServer(handler)
	t.Cleanup(server.Close)
	c, err := New(strings.TrimPrefix(server.URL, "http://"))
	if err != nil {
		t.Fatal(err)
	}
	return c
}

func TestJob(t *testing.T) {
	const spread = "CHAIN MapPartition (MapPartition at [1]jobs_test.spread) -> FlatMap (FlatMap at ExtractOutput[0])"
	for _, tt := range []struct {
		file  string
		job   Job   // without stages
		first Stage // of those that read anything
		count int   // stages
	}{
		{
			"finished.json",
			Job{ID: "2dc18a00aa5d6ffe0dcef8883627fcd6", Name: "testflink0done-root-1123030055-a5cd59a7", State: "FINISHED", Start: time.UnixMilli(1795402877624).UTC(), Duration: 22516 * time.Millisecond},
			Stage{Name: spread, State: "FINISHED", Parallelism: 4, Duration: 21298 * time.Millisecond, ReadBytes: 34, ReadRecords: 1, WriteBytes: 3400, WriteRecords: 1016, Complete: true, Tasks: map[string]int{"finished": 4}, Inputs: []string{"Forward"}},
			5,
		},
		{
			"running.json",
			Job{ID: "", Name: "testflinkloses-root-1123030328-ec1ea98a", State: "RUNNING", Start: time.UnixMilli(1795403023549).UTC()},
			Stage{Name: spread, State: "RUNNING", Parallelism: 4, ReadBytes: 26, ReadRecords: 1, WriteBytes: 3400, WriteRecords: 1016, Tasks: map[string]int{"finished": 2, "running": 2}, Inputs: []string{"Forward"}},
			5,
		},
		{
			"restarting.json",
			Job{Name: "testflink0failed-root-1123030246-9111bb58", State: "RESTARTING", Start: time.UnixMilli(1795402987576).UTC()},
			Stage{},
			5,
		},
	} {
		t.Run(tt.file, func(t *testing.T) {
			c := recorded(t, map[string]string{"/jobs/x": tt.file})
			got, err := c.Job(t.Context(), "x")
			if err != nil {
				t.Fatal(err)
			}
			if len(got.Stages) != tt.count {
				t.Fatalf("%d stages, want %d", len(got.Stages), tt.count)
			}
			var first Stage
			for _, s := range got.Stages {
				if s.Start.IsZero() != (s.Duration == 0 && s.Tasks["created"] == s.Parallelism) {
					t.Errorf("stage %s: start %v, duration %v, tasks %v", s.Name, s.Start, s.Duration, s.Tasks)
				}
				if hash := slices.Equal(s.Inputs, []string{"Hash Partition on [0]"}); hash != strings.HasPrefix(s.Name, "GroupReduce") {
					t.Errorf("stage %s: inputs %q", s.Name, s.Inputs)
				}
				if s.ReadBytes > 0 && first.Name == "" {
					first = s
				}
			}
			first.Start = time.Time{}
			if tt.first.Duration == 0 { // it runs: what the cluster told is the moment's
				first.Duration, got.Duration = 0, 0
			}
			if tt.job.ID == "" {
				got.ID = ""
			}
			if tt.first.Name != "" {
				if cut := strings.Index(first.Name, ")"); !strings.HasPrefix(tt.first.Name, first.Name[:cut]) {
					t.Errorf("stage %s, want %s", first.Name, tt.first.Name)
				}
				first.Name = tt.first.Name
				if !reflect.DeepEqual(first, tt.first) {
					t.Errorf("stage\n %+v, want\n %+v", first, tt.first)
				}
			}
			got.Stages = nil
			if !reflect.DeepEqual(got, tt.job) {
				t.Errorf("job\n %+v, want\n %+v", got, tt.job)
			}
		})
	}
}

func TestFind(t *testing.T) {
	c := recorded(t, map[string]string{"/jobs/overview": "overview.json"})
	for _, tt := range []struct {
		beam, id string
		state    State
	}{
		{"testflink0done-root-1123030055-a5cd59a7_8fa0ed1e-0b6a-4c5e-a1d5-4a3f0f2a7a11", "2dc18a00aa5d6ffe0dcef8883627fcd6", "FINISHED"},
		{"testflink0cancelled-root-1123030219-69216796_x", "791267bfb4103275fb4cc955fabd43b5", "FAILED"},
		{"791267bfb4103275fb4cc955fabd43b5", "791267bfb4103275fb4cc955fabd43b5", "FAILED"},
	} {
		got, err := c.Find(t.Context(), tt.beam)
		if err != nil || got.ID != tt.id || got.State != tt.state || got.Duration == 0 {
			t.Errorf("Find(%s) = %+v, %v, want %s, %s", tt.beam, got, err, tt.id, tt.state)
		}
	}
	for _, beam := range []string{"testflink0done-root-1123030055_a5cd59a7", "none", ""} {
		if got, err := c.Find(t.Context(), beam); !errors.Is(err, ErrUnknown) {
			t.Errorf("Find(%q) = %+v, %v, want ErrUnknown", beam, got, err)
		}
	}
}

func TestCounters(t *testing.T) {
	c := recorded(t, map[string]string{"/jobs/x/accumulators": "accumulators.json"})
	got, err := c.Counters(t.Context(), "x")
	want := []jobs.Counter{{Namespace: "test", Name: "pairs", Value: 1000}}
	if err != nil || !reflect.DeepEqual(got, want) {
		t.Errorf("Counters = %v, %v, want %v", got, err, want)
	}
	c = serve(t, func(w http.ResponseWriter, r *http.Request) {
		fmt.Fprint(w, `{"job-accumulators":[],"user-task-accumulators":[{"name":"__metricscontainers","value":"{ nothing"}]}`)
	})
	if got, err := c.Counters(t.Context(), "x"); err == nil || !strings.Contains(err.Error(), "job x: counters") {
		t.Errorf("Counters = %v, %v, want an error", got, err)
	}
	c = serve(t, func(w http.ResponseWriter, r *http.Request) { fmt.Fprint(w, `{"user-task-accumulators":[]}`) })
	if got, err := c.Counters(t.Context(), "x"); err != nil || len(got) != 0 {
		t.Errorf("Counters = %v, %v, want none: no task has begun", got, err)
	}
}

func TestRefused(t *testing.T) {
	for _, tt := range []struct {
		name, want string
		handler    http.HandlerFunc
	}{
		{"trace", "500 Internal Server Error: Internal server error.", func(w http.ResponseWriter, _ *http.Request) {
			w.WriteHeader(500)
			fmt.Fprint(w, `{"errors":["Internal server error.\n\tat java.base"]}`)
		}},
		{"no Flink", "the answer is not Flink's", func(w http.ResponseWriter, _ *http.Request) { fmt.Fprint(w, "<html>") }},
		{"proxy", `502 Bad Gateway: "bad\n"`, func(w http.ResponseWriter, _ *http.Request) { http.Error(w, "bad", http.StatusBadGateway) }},
		{"unknown", "the cluster does not know the job", http.NotFound},
		{"endless", "more than", func(w http.ResponseWriter, _ *http.Request) {
			for part := make([]byte, 1<<20); ; {
				if _, err := w.Write(part); err != nil {
					return
				}
			}
		}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			if got, err := serve(t, tt.handler).Job(t.Context(), "x"); err == nil || !strings.Contains(err.Error(), tt.want) {
				t.Errorf("Job = %+v, %v, want %q", got, err, tt.want)
			}
		})
	}
	for _, address := range []string{"", "http://", "a b:1", "http://%zz"} {
		if _, err := New(address); err == nil || !strings.Contains(err.Error(), "HOST:PORT") {
			t.Errorf("New(%q): %v", address, err)
		}
	}
	c, err := New("localhost:1")
	if err != nil {
		t.Fatal(err)
	}
	if _, err := c.Jobs(t.Context()); err == nil || !strings.Contains(err.Error(), "localhost:1") {
		t.Errorf("Jobs where nothing listens: %v", err)
	}
}

// TestCancel holds that Cancel asks once, waits until the job has ended, and
// takes one that ended first for what it is.
func TestCancel(t *testing.T) {
	for _, tt := range []struct {
		name   string
		states []string // one for each look at the job; the last one stays
		patch  int      // status of the answer to the request
		want   State
		asked  int
	}{
		{"running", []string{"RUNNING", "CANCELLING", "CANCELLING", "CANCELED"}, 202, "CANCELED", 1},
		{"failing", []string{"RESTARTING", "FAILED"}, 202, "FAILED", 1},
		{"done before", []string{"FINISHED"}, 404, "FINISHED", 0},
		{"done between", []string{"RUNNING", "FINISHED"}, 409, "FINISHED", 1},
	} {
		t.Run(tt.name, func(t *testing.T) {
			looks, asked := 0, 0
			c := serve(t, func(w http.ResponseWriter, r *http.Request) {
				if r.Method == http.MethodPatch {
					if r.URL.Query().Get("mode") != "cancel" {
						t.Errorf("PATCH %s", r.URL)
					}
					asked++
					w.WriteHeader(tt.patch)
					fmt.Fprint(w, "{}")
					return
				}
				fmt.Fprintf(w, `{"jid":"x","state":%q}`, tt.states[min(looks, len(tt.states)-1)])
				looks++
			})
			got, err := c.Cancel(t.Context(), "x")
			if err != nil || got != tt.want || asked != tt.asked {
				t.Errorf("Cancel = %s, %v after %d requests, want %s after %d", got, err, asked, tt.want, tt.asked)
			}
		})
	}
	t.Run("limit", func(t *testing.T) {
		// The time is over when Flink is asked for the third time: a clock might end it before the first answer.
		ctx, cancel := context.WithCancelCause(t.Context())
		defer cancel(nil)
		asked := 0
		c := serve(t, func(w http.ResponseWriter, _ *http.Request) {
			if asked++; asked == 3 {
				cancel(context.DeadlineExceeded)
			}
			fmt.Fprint(w, `{"state":"CANCELLING"}`)
		})
		if got, err := c.Cancel(ctx, "x"); !errors.Is(err, context.DeadlineExceeded) || got != "CANCELLING" {
			t.Errorf("Cancel = %s, %v, want that time is over", got, err)
		}
	})
	t.Run("refused", func(t *testing.T) {
		c := serve(t, func(w http.ResponseWriter, r *http.Request) {
			if r.Method == http.MethodPatch {
				http.Error(w, `{"errors":["no"]}`, http.StatusForbidden)
				return
			}
			fmt.Fprint(w, `{"state":"RUNNING"}`)
		})
		if got, err := c.Cancel(t.Context(), "x"); err == nil || !strings.Contains(err.Error(), "403 Forbidden: no") || got != "RUNNING" {
			t.Errorf("Cancel = %s, %v, want the refusal", got, err)
		}
	})
}
