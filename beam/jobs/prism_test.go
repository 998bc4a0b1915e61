package jobs

import (
	"context"
	"errors"
	"testing"
	"time"

	fnpb "github.com/apache/beam/sdks/v2/go/pkg/beam/model/fnexecution_v1"
	jobpb "github.com/apache/beam/sdks/v2/go/pkg/beam/model/jobmanagement_v1"
	"google.golang.org/grpc"
)

// An engine has one job, which runs until it is cancelled.
type engine struct {
	jobpb.JobServiceClient
	state jobpb.JobState_Enum
}

func (e *engine) GetJobs(context.Context, *jobpb.GetJobsRequest, ...grpc.CallOption) (*jobpb.GetJobsResponse, error) {
	return &jobpb.GetJobsResponse{JobInfo: []*jobpb.JobInfo{{JobId: "one", State: e.state}}}, nil
}

func (e *engine) Cancel(context.Context, *jobpb.CancelJobRequest, ...grpc.CallOption) (*jobpb.CancelJobResponse, error) {
	e.state = jobpb.JobState_CANCELLED
	return &jobpb.CancelJobResponse{}, nil
}

// TestWorkersOutliveCancelling holds that Prism's workers end, each and all, a while behind the
// cancelling of a job.
func TestWorkersOutliveCancelling(t *testing.T) {
	for _, all := range []bool{false, true} {
		p, err := startPool(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		defer p.close()
		c := &Client{service: &engine{state: jobpb.JobState_RUNNING}, close: p.close, cancelled: p.hold}
		if s, err := c.Cancel(t.Context(), "one"); err != nil || s.String() != "CANCELLED" {
			t.Fatal(s, err)
		}
		if all {
			err = c.Close()
		} else {
			_, err = p.StopWorker(t.Context(), &fnpb.StopWorkerRequest{WorkerId: "a"})
		}
		if err != nil {
			t.Error(err)
		}
		// Which of the two comes first is not a matter of speed: Cancel has set when the workers may end.
		if p.until.IsZero() || time.Now().Before(p.until) {
			t.Errorf("all: %v: the workers ended before %v, until which they are kept", all, p.until)
		}
	}
}

// TestDescribed holds that what a bundle is reaches a worker that has been told to end, and no other
// answer, and that Prism's workers end behind it.
func TestDescribed(t *testing.T) {
	p, err := startPool(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	defer p.close()
	ctx, cancel := context.WithCancel(t.Context())
	asked, answer, got := make(chan bool), make(chan bool), make(chan error, 1)
	call := func(ctx context.Context, _ string, _, _ any, _ *grpc.ClientConn, _ ...grpc.CallOption) error {
		asked <- true
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-answer:
			return nil
		}
	}
	go func() { got <- describe(ctx, describeMethod, nil, nil, nil, call) }()
	<-asked
	cancel()
	stopped := make(chan error, 1)
	go func() {
		_, err := p.StopWorker(t.Context(), &fnpb.StopWorkerRequest{WorkerId: "a"})
		stopped <- err
	}()
	select {
	case err := <-got:
		t.Errorf("the question ended without its answer: %v", err)
	case err := <-stopped:
		t.Errorf("the worker ended before: %v", err)
	case <-time.After(50 * time.Millisecond):
	}
	close(answer)
	if err := errors.Join(<-got, <-stopped); err != nil {
		t.Error(err)
	}
	go func() {
		got <- describe(ctx, "/another/Method", nil, nil, nil, func(ctx context.Context, _ string, _, _ any, _ *grpc.ClientConn, _ ...grpc.CallOption) error {
			return ctx.Err()
		})
	}()
	if err := <-got; !errors.Is(err, context.Canceled) {
		t.Errorf("another call: %v", err)
	}
}
