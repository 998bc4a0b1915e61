package jobs

import (
	"context"
	"net"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	fnpb "github.com/apache/beam/sdks/v2/go/pkg/beam/model/fnexecution_v1"
	"github.com/garner-go/garner/beam/internal/dial"
	"google.golang.org/grpc"
	"google.golang.org/grpc/resolver"
)

// controlMethod is the call by which an engine gives a worker its bundles.
var controlMethod = "/" + fnpb.BeamFnControl_ServiceDesc.ServiceName + "/Control"

// held is how long the end of a control stream waits for the bundles of its worker.
const held = 30 * time.Second

// A dialer is a function such as Beam's grpcx.Dial.
type dialer = func(ctx context.Context, endpoint string, timeout time.Duration) (*grpc.ClientConn, error)

// holding sets Beam's grpcx.Dial, once in a process: the workers of Prism are goroutines of this
// process, and connect by this variable.
var holding sync.Once

// dialHeld returns a dialer whose control streams end behind their bundles. It takes targets of the
// form HOST:PORT, as Prism gives them to its workers, and leaves all others to the dialer other.
func dialHeld(other dialer) dialer {
	return func(ctx context.Context, target string, timeout time.Duration) (*grpc.ClientConn, error) {
		if !hostPort(target) {
			return other(ctx, target, timeout)
		}
		return dial.Dial(ctx, target, timeout, func(method string, s grpc.ClientStream) grpc.ClientStream {
			if method != controlMethod {
				return s
			}
			return newControlStream(s, held)
		}, grpc.WithUnaryInterceptor(describe))
	}
}

// describeMethod is the call by which a worker asks what a bundle is.
var describeMethod = "/" + fnpb.BeamFnControl_ServiceDesc.ServiceName + "/GetProcessBundleDescriptor"

// describing is the number of these calls that go on.
var describing atomic.Int64

// describe lets a worker that ends have the answers for which it has asked. Where two bundles wait for
// one answer and it is an error, Beam 2.77.0 writes a map of both without its lock, which can end the
// process.
func describe(ctx context.Context, method string, q, answer any, conn *grpc.ClientConn, call grpc.UnaryInvoker, opts ...grpc.CallOption) error {
	if method == describeMethod {
		describing.Add(1)
		defer describing.Add(-1)
		var cancel context.CancelFunc
		ctx, cancel = context.WithTimeout(context.WithoutCancel(ctx), held)
		defer cancel()
	}
	return call(ctx, method, q, answer, conn, opts...)
}

// hostPort reports whether a target of gRPC is a host or an address, and the number of a port. What gRPC
// reads as a scheme is no host: dns:80 is the host 80.
func hostPort(target string) bool {
	host, port, err := net.SplitHostPort(target)
	if err != nil || resolver.Get(strings.ToLower(host)) != nil {
		return false
	}
	_, err = strconv.ParseUint(port, 10, 16)
	return err == nil
}

// A controlStream ends for its worker when the bundles that came by it have been answered, or after
// a while. Beam 2.77.0 closes the channel of a worker's answers as soon as the stream ends, and a
// bundle that ends in that moment sends to a closed channel: the process panics.
type controlStream struct {
	grpc.ClientStream
	held time.Duration

	mu      sync.Mutex
	running map[string]bool // bundles by the ids of their instructions
	ended   bool
	idle    chan struct{} // closed when no bundle is left behind the end
}

func newControlStream(s grpc.ClientStream, held time.Duration) *controlStream {
	return &controlStream{ClientStream: s, held: held, running: map[string]bool{}, idle: make(chan struct{})}
}

func (s *controlStream) RecvMsg(m any) error {
	err := s.ClientStream.RecvMsg(m)
	s.mu.Lock()
	if err == nil {
		if q, ok := m.(*fnpb.InstructionRequest); ok && q.GetProcessBundle() != nil {
			s.running[q.GetInstructionId()] = true
		}
		s.mu.Unlock()
		return nil
	}
	wait := len(s.running) > 0 && !s.ended
	s.ended = true
	s.mu.Unlock()
	if wait {
		timer := time.NewTimer(s.held)
		defer timer.Stop()
		select {
		case <-s.idle:
		case <-timer.C:
		}
	}
	return err
}

// SendMsg sends an answer, which nobody waits for once the stream has ended.
func (s *controlStream) SendMsg(m any) error {
	s.mu.Lock()
	ended := s.ended
	s.mu.Unlock()
	var err error
	if !ended {
		err = s.ClientStream.SendMsg(m)
	}
	if a, ok := m.(*fnpb.InstructionResponse); ok {
		s.mu.Lock()
		defer s.mu.Unlock()
		if s.running[a.GetInstructionId()] {
			delete(s.running, a.GetInstructionId())
			if s.ended && len(s.running) == 0 {
				close(s.idle)
			}
		}
	}
	return err
}
