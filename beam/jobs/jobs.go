// Package jobs submits pipelines to an engine by Beam's job service, and tells
// how they go: Flink, Spark, Prism and any other engine with a job service.
// Package flink asks Flink for the figures that the job service does not give.
//
//	client, err := jobs.Dial(ctx, "localhost:8099")
//	id, err := client.Submit(ctx, p, environment, jobs.Options{Name: "rows", Parallelism: 4})
//	err = client.Wait(ctx, id, nil)
//
// Unlike the runners of Beam's Go SDK, Submit returns the id of the job before
// the job ends, so that a driver can show, cancel and leave it, and it stages no
// binary.
package jobs

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"maps"
	"net"
	"net/http"
	"net/url"
	"regexp"
	"slices"
	"strings"
	"time"

	"github.com/apache/beam/sdks/v2/go/pkg/beam"
	"github.com/apache/beam/sdks/v2/go/pkg/beam/core/runtime/graphx"
	jobpb "github.com/apache/beam/sdks/v2/go/pkg/beam/model/jobmanagement_v1"
	pipepb "github.com/apache/beam/sdks/v2/go/pkg/beam/model/pipeline_v1"
	"github.com/apache/beam/sdks/v2/go/pkg/beam/runners/universal/runnerlib"
	"github.com/apache/beam/sdks/v2/go/pkg/beam/util/grpcx"
	"github.com/garner-go/garner"
	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"
	"google.golang.org/protobuf/encoding/protowire"
	"google.golang.org/protobuf/proto"
)

var (
	reach  = 5 * time.Second  // for a host to answer that a port is there
	answer = 30 * time.Second // for a job service that is there to begin to talk
)

// proxyOf is the proxy that the environment names for an address.
var proxyOf = http.ProxyFromEnvironment

const (
	poll   = 200 * time.Millisecond // between two questions for a state
	linger = 5 * time.Second        // for the message of a job that has failed
)

// A Client talks to one job service. It is safe for concurrent use.
type Client struct {
	service   jobpb.JobServiceClient
	close     func() error
	cancelled func() // called behind each cancelling; nil where the engine needs none
}

// Dial connects to the job service at an endpoint, HOST:PORT. A connection that is refused
// is an error at once, and a host that does not answer is one after 5 seconds. A service
// that has the connection may take 30 seconds before it talks.
func Dial(ctx context.Context, endpoint string) (*Client, error) {
	err := probe(ctx, endpoint)
	var conn *grpc.ClientConn
	if err == nil {
		conn, err = grpcx.DefaultDial(ctx, endpoint, answer)
	}
	if cause := context.Cause(ctx); err != nil && cause != nil {
		return nil, cause
	}
	if err != nil {
		return nil, garner.Errorf(err, "no job service of Beam answers at %s: %s; start one, or give its HOST:PORT", endpoint, reason(err))
	}
	return &Client{service: jobpb.NewJobServiceClient(conn), close: conn.Close}, nil
}

// probe makes a connection and ends it: gRPC tries again until its time is over, also where nobody
// listens. Behind a proxy, only gRPC knows how to connect.
func probe(ctx context.Context, endpoint string) error {
	proxy, err := proxyOf(&http.Request{URL: &url.URL{Scheme: "https", Host: endpoint}})
	if proxy != nil || err != nil {
		return nil
	}
	conn, err := (&net.Dialer{Timeout: reach}).DialContext(ctx, "tcp", endpoint)
	if err != nil {
		return err
	}
	return conn.Close()
}

// reason is an error of Beam on one line.
func reason(err error) string {
	return strings.ReplaceAll(err.Error(), "\n\tcaused by:\n", ": ")
}

// Close ends the connection. Jobs go on, except those of Prism in this process.
func (c *Client) Close() error { return c.close() }

// Options of a job.
type Options struct {
	Name        string // as the engine shows it; Flink's job has it too
	Parallelism int    // of each stage; 0 is the engine's own
	Experiments []string
	Display     map[string]string // what Client.Display returns to whoever asks
}

// Submit starts a job and returns its id. The environment says where the
// pipeline's functions run: see package worker.
func (c *Client) Submit(ctx context.Context, p *beam.Pipeline, env *pipepb.Environment, o Options) (id string, err error) {
	if !beam.Initialized() {
		return "", errors.New("jobs: beam.Init has not been called")
	}
	edges, _, err := p.Build()
	if err != nil {
		return "", fmt.Errorf("jobs: pipeline: %w", err)
	}
	pipeline, err := graphx.Marshal(edges, &graphx.Options{Environment: env})
	if err != nil {
		return "", fmt.Errorf("jobs: pipeline: %w", err)
	}
	for _, key := range slices.Sorted(maps.Keys(o.Display)) {
		payload, err := proto.Marshal(&pipepb.LabelledPayload{Label: key, Key: key, Value: &pipepb.LabelledPayload_StringValue{StringValue: o.Display[key]}})
		if err != nil {
			return "", fmt.Errorf("jobs: pipeline: %w", err)
		}
		pipeline.DisplayData = append(pipeline.DisplayData, &pipepb.DisplayData{Urn: labelled, Payload: payload})
	}
	parallelism := o.Parallelism
	if parallelism == 0 {
		parallelism = -1 // what Beam's own flag has where none is given
	}
	job := &runnerlib.JobOptions{Name: o.Name, Experiments: o.Experiments, Parallelism: parallelism}
	prepared, staging, token, err := runnerlib.Prepare(ctx, c.service, pipeline, job)
	if err != nil {
		return "", fmt.Errorf("jobs: %w", err)
	}
	// The service asks for no file, but it wants to be told so.
	if token, err = runnerlib.Stage(ctx, prepared, staging, "", token); err != nil {
		return "", fmt.Errorf("jobs: staging: %w", err)
	}
	if id, err = runnerlib.Submit(ctx, c.service, prepared, token); err != nil {
		return "", fmt.Errorf("jobs: %w", err)
	}
	return id, nil
}

// A State is a job's, such as RUNNING.
type State = jobpb.JobState_Enum

// Ended reports whether a job in this state does not change any more.
func Ended(s State) bool {
	return slices.Contains([]State{jobpb.JobState_DONE, jobpb.JobState_FAILED, jobpb.JobState_CANCELLED, jobpb.JobState_UPDATED, jobpb.JobState_DRAINED}, s)
}

// A Job is one that the service knows. It forgets jobs when it is restarted.
type Job struct {
	ID, Name string
	State    State
}

// List returns the jobs that the service knows.
func (c *Client) List(ctx context.Context) ([]Job, error) {
	got, err := c.service.GetJobs(ctx, &jobpb.GetJobsRequest{})
	if err != nil {
		return nil, fmt.Errorf("jobs: %w", err)
	}
	var list []Job
	for _, info := range got.GetJobInfo() {
		list = append(list, Job{info.GetJobId(), info.GetJobName(), info.GetState()})
	}
	return list, nil
}

// State returns the state of a job. It looks for it among all: what Prism answers to a
// question for one has a data race with the job (GetState of Beam 2.77).
func (c *Client) State(ctx context.Context, id string) (State, error) {
	all, err := c.List(ctx)
	if err != nil {
		return 0, fmt.Errorf("job %s: %w", id, err)
	}
	for _, job := range all {
		if job.ID == id {
			return job.State, nil
		}
	}
	return 0, missing(id, errors.New("not found"))
}

// missing is the error of a question for a job.
func missing(id string, err error) error {
	if status.Code(err) == codes.NotFound || strings.Contains(err.Error(), "not found") { // as Flink's job server says it, and as Prism does
		return fmt.Errorf("job %s: %w; it forgets its jobs when it is restarted", id, ErrUnknown)
	}
	return fmt.Errorf("job %s: %w", id, err)
}

// labelled says of display data that it is a LabelledPayload.
const labelled = "beam:display_data:labelled:v1"

// Display returns what the driver of a job displays of it, by key: Options.Display of
// Submit, or what another driver displays as strings.
func (c *Client) Display(ctx context.Context, id string) (map[string]string, error) {
	got, err := c.service.GetPipeline(ctx, &jobpb.GetJobPipelineRequest{JobId: id})
	if err != nil {
		return nil, missing(id, err)
	}
	shown := make(map[string]string)
	for _, d := range got.GetPipeline().GetDisplayData() {
		var is pipepb.LabelledPayload
		if d.GetUrn() == labelled && proto.Unmarshal(d.GetPayload(), &is) == nil {
			shown[is.GetKey()] = is.GetStringValue()
		}
	}
	return shown, nil
}

// ErrUnknown is the error for a job that a service does not know.
var ErrUnknown = errors.New("the job service does not know the job")

// ErrCancelled is the error of a job that was cancelled, by whomever.
var ErrCancelled = errors.New("the job was cancelled")

// Wait waits until a job ends. It returns nil where the job is done, ErrCancelled,
// or the last error that the engine tells of a job that failed. It calls message,
// where that is not nil, with each state and each line that the engine tells. When
// ctx ends, Wait returns its error, and the job goes on.
func (c *Client) Wait(ctx context.Context, id string, message func(text string)) error {
	if message == nil {
		message = func(string) {}
	}
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	stream, err := c.service.GetMessageStream(ctx, &jobpb.JobMessagesRequest{JobId: id})
	if err != nil {
		return fmt.Errorf("job %s: %w", id, err)
	}
	state, said := jobpb.JobState_UNSPECIFIED, ""
	for !Ended(state) || state == jobpb.JobState_FAILED && said == "" {
		next, err := stream.Recv()
		if err != nil {
			if Ended(state) { // no message came
				break
			}
			if cause := context.Cause(ctx); cause != nil {
				return cause
			}
			if !errors.Is(err, io.EOF) {
				return fmt.Errorf("job %s: %w", id, err)
			}
			// A service may end the stream before it tells the last state.
			if state, err = c.end(ctx, id); err != nil {
				return err
			}
			break
		}
		if m := next.GetMessageResponse(); m != nil {
			message(m.GetMessageText())
			if m.GetImportance() >= jobpb.JobMessage_JOB_MESSAGE_ERROR {
				said = m.GetMessageText()
			}
		}
		if s := next.GetStateResponse(); s != nil {
			state = s.GetState()
			message(state.String())
			if Ended(state) {
				time.AfterFunc(linger, func() { cancel(nil) })
			}
		}
	}
	return outcome(id, state, said)
}

// outcome is the error of a job that has ended.
func outcome(id string, s State, said string) error {
	switch s {
	case jobpb.JobState_DONE:
		return nil
	case jobpb.JobState_CANCELLED:
		return fmt.Errorf("job %s: %w", id, ErrCancelled)
	}
	if said == "" {
		said = "the engine tells no reason; its logs do"
	}
	return fmt.Errorf("job %s is %s: %s", id, s, essence(said))
}

// failed is what Beam writes before the error of a function, and after all that it knows of the place.
var failed = regexp.MustCompile(`DoFn\[UID:[^\n]*\] failed:\n([^\n]+)`)

// essence is the error of a function, where the text of an engine has one, without Beam's
// plan before it and Java's stack after it. The engine's logs have all of it.
func essence(said string) string {
	all := failed.FindAllStringSubmatch(said, -1)
	if all == nil {
		return said
	}
	return strings.TrimPrefix(all[len(all)-1][1], "garner: ")
}

// end asks for the state of a job until it has ended.
func (c *Client) end(ctx context.Context, id string) (State, error) {
	for {
		s, err := c.State(ctx, id)
		if err != nil || Ended(s) {
			return s, err
		}
		select {
		case <-ctx.Done():
			return s, context.Cause(ctx)
		case <-time.After(poll):
		}
	}
}

// Cancel cancels a job and waits until it has ended; ctx limits how long. It
// returns the state in which the job ended: one that was done before stays so.
// On Flink, the job service calls a job cancelled that runs on: use flink.Cancel.
func (c *Client) Cancel(ctx context.Context, id string) (State, error) {
	s, err := c.State(ctx, id)
	if err != nil || Ended(s) {
		return s, err
	}
	if _, err := c.service.Cancel(ctx, &jobpb.CancelJobRequest{JobId: id}); err != nil {
		return s, fmt.Errorf("job %s: cancel: %w", id, err)
	}
	if c.cancelled != nil {
		c.cancelled()
	}
	return c.end(ctx, id)
}

// A Counter is a sum that a pipeline's functions count (see beam.NewCounter).
type Counter struct {
	Namespace, Name string
	Value           int64 // of all transforms
}

// Counters returns the counters of a job, in order of namespace and name.
// Prism counts while a job runs; Flink's and Spark's job servers tell nothing
// before the job has ended. Work that an engine repeats may count twice.
func (c *Client) Counters(ctx context.Context, id string) ([]Counter, error) {
	got, err := c.service.GetJobMetrics(ctx, &jobpb.GetJobMetricsRequest{JobId: id})
	if err != nil {
		return nil, fmt.Errorf("job %s: counters: %w", id, err)
	}
	infos := got.GetMetrics().GetCommitted()
	if len(infos) == 0 {
		infos = got.GetMetrics().GetAttempted()
	}
	return Sum(infos)
}

// Sum returns the counters among what an engine measured, in order of namespace
// and name, each over all transforms.
func Sum(infos []*pipepb.MonitoringInfo) ([]Counter, error) {
	var list []Counter
	for _, info := range infos {
		if info.GetUrn() != "beam:metric:user:sum_int64:v1" {
			continue
		}
		each := Counter{Namespace: info.GetLabels()["NAMESPACE"], Name: info.GetLabels()["NAME"]}
		v, n := protowire.ConsumeVarint(info.GetPayload())
		if n < 0 {
			return nil, fmt.Errorf("counter %s %s: the payload % x is no varint", each.Namespace, each.Name, info.GetPayload())
		}
		at, found := slices.BinarySearchFunc(list, each, func(a, b Counter) int {
			return cmp.Or(cmp.Compare(a.Namespace, b.Namespace), cmp.Compare(a.Name, b.Name))
		})
		if !found {
			list = slices.Insert(list, at, each)
		}
		list[at].Value += int64(v)
	}
	return list, nil
}
