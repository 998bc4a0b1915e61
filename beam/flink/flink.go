// Package flink asks a Flink cluster, by its REST API, for what Beam's job
// service does not tell: the bytes and records of each stage, counters while a
// job runs, and whether a job that is to be cancelled has ended.
package flink

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"time"

	jobpb "github.com/apache/beam/sdks/v2/go/pkg/beam/model/jobmanagement_v1"
	"github.com/garner-go/garner/beam/jobs"
	"google.golang.org/protobuf/encoding/protojson"
)

const (
	answer  = 30 * time.Second // for one question
	reach   = 5 * time.Second  // for a host to answer that a port is there
	poll    = 200 * time.Millisecond
	settle  = 5 * time.Second // for a job server to hand over a job that it was to cancel
	largest = 64 << 20        // bytes of an answer: a job of many stages and tasks has a few megabytes
)

// A Client talks to one cluster. It is safe for concurrent use.
type Client struct {
	base *url.URL
	http http.Client
}

// New returns a client for the address of a REST API, HOST:PORT or a URL. It
// asks nothing yet.
func New(address string) (*Client, error) {
	if !strings.Contains(address, "://") {
		address = "http://" + address
	}
	base, err := url.Parse(address)
	if err != nil || base.Host == "" {
		return nil, fmt.Errorf("flink: %q is no address of a REST API; it is HOST:PORT, such as localhost:8081, or a URL", address)
	}
	transport := http.DefaultTransport.(*http.Transport).Clone()
	transport.DialContext = (&net.Dialer{Timeout: reach}).DialContext
	return &Client{base: base, http: http.Client{Timeout: answer, Transport: transport}}, nil
}

// ErrUnknown is the error for a job that the cluster does not know.
var ErrUnknown = errors.New("the cluster does not know the job")

// ask sends a request and reads the answer into v, unless that is nil.
func (c *Client) ask(ctx context.Context, method, query string, v any, path ...string) error {
	at := c.base.JoinPath(path...)
	at.RawQuery = query
	request, err := http.NewRequestWithContext(ctx, method, at.String(), nil)
	if err != nil {
		return fmt.Errorf("flink: %w", err)
	}
	response, err := c.http.Do(request)
	if err != nil {
		if cause := context.Cause(ctx); cause != nil {
			return cause
		}
		var failed *url.Error
		if errors.As(err, &failed) {
			err = failed.Err
		}
		return fmt.Errorf("flink: no REST API of Flink answers at %s: %w; start Flink, or give its HOST:PORT", c.base.Host, err)
	}
	defer response.Body.Close()
	body, err := io.ReadAll(io.LimitReader(response.Body, largest+1))
	switch {
	case err != nil:
		return fmt.Errorf("flink: %s: %w", at, err)
	case len(body) > largest:
		return fmt.Errorf("flink: %s: the answer has more than %d bytes", at, largest)
	case response.StatusCode == http.StatusNotFound:
		return fmt.Errorf("flink: %s: %w", at, ErrUnknown)
	case response.StatusCode/100 != 2:
		return fmt.Errorf("flink: %s: %s: %s", at, response.Status, reason(body))
	case v == nil:
		return nil
	}
	if err := json.Unmarshal(body, v); err != nil {
		return fmt.Errorf("flink: %s: the answer is not Flink's: %w", at, err)
	}
	return nil
}

// reason is the first line of what Flink says is wrong. Stack traces follow it.
func reason(body []byte) string {
	var said struct{ Errors []string }
	if json.Unmarshal(body, &said) != nil || len(said.Errors) == 0 {
		return fmt.Sprintf("%.200q", body)
	}
	line, _, _ := strings.Cut(said.Errors[0], "\n")
	return line
}

// A State is that of a job or a stage, such as RUNNING or RESTARTING.
type State string

// Ended reports whether a job in this state does not change any more.
func (s State) Ended() bool {
	return slices.Contains([]State{"FINISHED", "FAILED", "CANCELED"}, s)
}

// A Job is one job of the cluster, and its stages in order, where they are known.
type Job struct {
	ID, Name string // Flink's id: 32 hexadecimal digits
	State    State
	Start    time.Time
	Duration time.Duration
	Stages   []Stage
}

// A Stage is a vertex of the job's graph: transforms that run without a shuffle
// between them. What it reads and writes is what goes from task to task, as Flink
// counts it: over the network where an input is partitioned, and within the task
// manager where it is forwarded. A task that runs again counts anew.
type Stage struct {
	Name                     string
	State                    State
	Parallelism              int
	Start                    time.Time // zero before it starts
	Duration                 time.Duration
	ReadBytes, ReadRecords   int64
	WriteBytes, WriteRecords int64
	Complete                 bool           // whether all its tasks have told what they read and wrote
	Tasks                    map[string]int // by state, in lower case, those without a task left out
	Inputs                   []string       // how each input arrives: Forward, Hash Partition on [0], Rebalance, Broadcast
}

// Jobs returns the jobs that the cluster knows, without their stages.
func (c *Client) Jobs(ctx context.Context) ([]Job, error) {
	var got struct{ Jobs []job }
	if err := c.ask(ctx, http.MethodGet, "", &got, "jobs", "overview"); err != nil {
		return nil, err
	}
	list := make([]Job, len(got.Jobs))
	for j, each := range got.Jobs {
		list[j] = each.job()
	}
	return list, nil
}

// Find returns the job that a job of Beam's job server has become: the server
// gives it the part of its own id before the last underscore as a name. A job
// has ErrUnknown before its jars are uploaded, and after the cluster forgot it.
func (c *Client) Find(ctx context.Context, beam string) (Job, error) {
	list, err := c.Jobs(ctx)
	if err != nil {
		return Job{}, err
	}
	name := beam
	if at := strings.LastIndexByte(beam, '_'); at >= 0 {
		name = beam[:at]
	}
	for _, each := range list {
		if each.Name == name || each.ID == beam {
			return each, nil
		}
	}
	return Job{}, fmt.Errorf("flink: job %s: %w", beam, ErrUnknown)
}

// Job returns a job and its stages by Flink's id.
func (c *Client) Job(ctx context.Context, id string) (Job, error) {
	var got job
	if err := c.ask(ctx, http.MethodGet, "", &got, "jobs", id); err != nil {
		return Job{}, err
	}
	return got.job(), nil
}

// Counters returns the counters of a job by Flink's id, while it runs too: the
// task managers tell them with their heartbeats.
func (c *Client) Counters(ctx context.Context, id string) ([]jobs.Counter, error) {
	var got struct {
		Tasks []struct{ Name, Value string } `json:"user-task-accumulators"`
	}
	if err := c.ask(ctx, http.MethodGet, "", &got, "jobs", id, "accumulators"); err != nil {
		return nil, err
	}
	for _, each := range got.Tasks {
		if each.Name != "__metricscontainers" {
			continue
		}
		var metrics jobpb.GetJobMetricsResponse
		if err := protojson.Unmarshal([]byte(each.Value), &metrics); err != nil {
			return nil, fmt.Errorf("flink: job %s: counters: %w", id, err)
		}
		return jobs.Sum(metrics.GetMetrics().GetAttempted())
	}
	return nil, nil
}

// Cancel cancels a job by Flink's id and waits until it has ended; ctx limits
// how long. It returns the state in which the job ended: one that was done before
// stays so. With an error that is the last state that Flink told; "" where it told none.
func (c *Client) Cancel(ctx context.Context, id string) (State, error) {
	asked, last := false, State("")
	for {
		now, err := c.Job(ctx, id)
		if err != nil {
			return last, err
		}
		if last = now.State; last.Ended() {
			return last, nil
		}
		if !asked {
			if err := c.ask(ctx, http.MethodPatch, "mode=cancel", nil, "jobs", id); err != nil {
				// The job may have ended between the two questions.
				if again, e := c.Job(ctx, id); e == nil && again.State.Ended() {
					return again.State, nil
				}
				return now.State, err
			}
			asked = true
		}
		select {
		case <-ctx.Done():
			return now.State, context.Cause(ctx)
		case <-time.After(poll):
		}
	}
}

// Cancel cancels a job of Beam's job server on Flink, and waits until Flink has
// ended it; ctx limits how long. The job server alone does not do it: it stops
// to wait for a job without streams, which runs on. A job that Flink does not know is waited
// for some seconds, in which a job server may still be handing it over.
func Cancel(ctx context.Context, service *jobs.Client, cluster *Client, beam string) error {
	if _, err := service.Cancel(ctx, beam); err != nil {
		return err
	}
	job, err := cluster.Find(ctx, beam)
	for from := time.Now(); errors.Is(err, ErrUnknown); job, err = cluster.Find(ctx, beam) {
		if time.Since(from) > settle {
			return nil // its jars were not uploaded, and are not any more
		}
		select {
		case <-ctx.Done():
			return fmt.Errorf("%w; the job may still begin in Flink", context.Cause(ctx))
		case <-time.After(poll):
		}
	}
	if err != nil {
		return fmt.Errorf("%w; the job may go on in Flink", err)
	}
	if _, err := cluster.Cancel(ctx, job.ID); err != nil {
		return fmt.Errorf("%w; job %s may go on in Flink", err, job.ID)
	}
	return nil
}

// job is a job as /jobs/overview and /jobs/ID have it.
type job struct {
	ID       string `json:"jid"`
	Name     string
	State    State
	Start    int64 `json:"start-time"` // ms since 1970
	Duration int64 // ms
	Plan     struct {
		Nodes []struct {
			ID     string
			Inputs []struct {
				Ship string `json:"ship_strategy"`
			}
		}
	}
	Vertices []struct {
		ID          string
		Name        string
		Parallelism int
		Status      State
		Start       int64 `json:"start-time"` // ms; -1 before the start
		Duration    int64 // ms; -1 before the start
		Tasks       map[string]int
		Metrics     struct {
			ReadBytes       int64 `json:"read-bytes"`
			ReadBytesAll    bool  `json:"read-bytes-complete"`
			WriteBytes      int64 `json:"write-bytes"`
			WriteBytesAll   bool  `json:"write-bytes-complete"`
			ReadRecords     int64 `json:"read-records"`
			ReadRecordsAll  bool  `json:"read-records-complete"`
			WriteRecords    int64 `json:"write-records"`
			WriteRecordsAll bool  `json:"write-records-complete"`
		}
	}
}

func (j job) job() Job {
	out := Job{ID: j.ID, Name: j.Name, State: j.State, Start: moment(j.Start), Duration: time.Duration(j.Duration) * time.Millisecond}
	for _, v := range j.Vertices {
		m := v.Metrics
		s := Stage{
			Name: v.Name, State: v.Status, Parallelism: v.Parallelism,
			Start: moment(v.Start), Duration: time.Duration(max(v.Duration, 0)) * time.Millisecond,
			ReadBytes: m.ReadBytes, ReadRecords: m.ReadRecords, WriteBytes: m.WriteBytes, WriteRecords: m.WriteRecords,
			Complete: m.ReadBytesAll && m.WriteBytesAll && m.ReadRecordsAll && m.WriteRecordsAll,
			Tasks:    map[string]int{},
		}
		for state, n := range v.Tasks {
			if n > 0 {
				s.Tasks[strings.ToLower(state)] = n
			}
		}
		for _, node := range j.Plan.Nodes {
			if node.ID == v.ID {
				for _, input := range node.Inputs {
					s.Inputs = append(s.Inputs, input.Ship)
				}
			}
		}
		out.Stages = append(out.Stages, s)
	}
	return out
}

func moment(ms int64) time.Time {
	if ms < 0 {
		return time.Time{}
	}
	return time.UnixMilli(ms).UTC()
}
