package jobs

import (
	"context"
	"errors"
	"fmt"
	"net"
	"sync"
	"time"

	"github.com/apache/beam/sdks/v2/go/pkg/beam/core/runtime/graphx"
	fnpb "github.com/apache/beam/sdks/v2/go/pkg/beam/model/fnexecution_v1"
	pipepb "github.com/apache/beam/sdks/v2/go/pkg/beam/model/pipeline_v1"
	"github.com/apache/beam/sdks/v2/go/pkg/beam/runners/prism"
	"github.com/apache/beam/sdks/v2/go/pkg/beam/runners/universal/extworker"
	"github.com/apache/beam/sdks/v2/go/pkg/beam/util/grpcx"
	"google.golang.org/grpc"
)

// Prism starts Beam's Prism in this process, and a server of workers that are
// goroutines of this process: the environment is for Submit. Close ends the
// workers.
//
// The first call sets Beam's variable grpcx.Dial for the rest of the process, so
// that a job that is cancelled cannot end the process. From then on Beam connects
// to each HOST:PORT without TLS, as its grpcx.DefaultDial does, and to targets of
// another form by the function that the variable had. No other goroutine may use
// Beam during the first call.
func Prism(ctx context.Context) (*Client, *pipepb.Environment, error) {
	service, err := prism.CreateJobServer(ctx, prism.Options{})
	if err != nil {
		return nil, nil, fmt.Errorf("prism: %w", err)
	}
	workers, err := startPool(ctx)
	if err != nil {
		return nil, nil, fmt.Errorf("prism: workers: %w", err)
	}
	env, err := graphx.CreateEnvironment(ctx, graphx.URNEnvExternal, workers.address)
	if err != nil {
		return nil, nil, fmt.Errorf("prism: %w", errors.Join(err, workers.close()))
	}
	env.Dependencies = nil
	return &Client{service: service, close: workers.close, cancelled: workers.hold}, env, nil
}

// A pool starts workers for Prism as goroutines of this process. Prism 2.77.0 panics where a
// pool refuses to start a worker, or is not there, also of a job that was cancelled before it had one.
// So a pool that is closed goes on to answer for a while, and starts none.
type pool struct {
	*extworker.Loopback
	fnpb.UnimplementedBeamFnExternalWorkerPoolServer
	listener net.Listener
	server   *grpc.Server

	mu     sync.Mutex
	closed bool
	until  time.Time // before which no worker ends
}

// poolAnswers is how long a closed pool answers.
const poolAnswers = time.Minute

// settles is how long workers live on behind the cancelling of a job. Prism 2.77.0 cancels its own
// context, and then the goroutines that began before start their bundles: they send to a channel that
// Prism closes when its worker has ended, and the process panics. It takes them microseconds, if they run.
const settles = 250 * time.Millisecond

func startPool(ctx context.Context) (*pool, error) {
	workers, err := extworker.StartLoopback(ctx, 0)
	if err != nil {
		return nil, err
	}
	p := &pool{Loopback: workers, server: grpc.NewServer()}
	if p.listener, err = net.Listen("tcp", "localhost:0"); err != nil {
		return nil, errors.Join(err, workers.Stop(ctx))
	}
	fnpb.RegisterBeamFnExternalWorkerPoolServer(p.server, p)
	holding.Do(func() { grpcx.Dial = dialHeld(grpcx.Dial) }) // before a worker can start
	go p.server.Serve(p.listener)
	return p, nil
}

func (p *pool) address(context.Context) string { return p.listener.Addr().String() }

func (p *pool) StartWorker(ctx context.Context, q *fnpb.StartWorkerRequest) (*fnpb.StartWorkerResponse, error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.closed {
		return &fnpb.StartWorkerResponse{}, nil
	}
	return p.Loopback.StartWorker(ctx, q)
}

// hold keeps the workers for a while.
func (p *pool) hold() {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.until = time.Now().Add(settles)
}

// wait ends when no worker is kept, and none waits for what a bundle is, which an engine does not tell
// of workers that it has stopped.
func (p *pool) wait() {
	for until := time.Now().Add(held); time.Now().Before(until); {
		p.mu.Lock()
		rest := time.Until(p.until)
		p.mu.Unlock()
		if rest <= 0 && describing.Load() == 0 {
			return
		}
		time.Sleep(max(rest, 5*time.Millisecond))
	}
}

func (p *pool) StopWorker(ctx context.Context, q *fnpb.StopWorkerRequest) (*fnpb.StopWorkerResponse, error) {
	p.wait()
	return p.Loopback.StopWorker(ctx, q)
}

// close ends the workers.
func (p *pool) close() error {
	p.wait()
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.closed {
		return nil
	}
	p.closed = true
	time.AfterFunc(poolAnswers, p.server.Stop)
	return p.Loopback.Stop(context.Background())
}
