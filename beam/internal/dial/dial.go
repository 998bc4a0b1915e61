// Package dial connects the workers of a pipeline to their engine. It reads each
// stream in one goroutine at a time, and lets its caller wrap the streams.
//
// The callers differ by engine. Package jobs, whose workers of Prism are goroutines
// of this process, wraps the control stream: there its end waits for the running
// bundles. Package worker, whose workers are processes of Flink, of another engine or
// of Prism's PROCESS environment, wraps the data stream only: there the end of the
// control stream waits for nothing.
package dial

import (
	"context"
	"fmt"
	"math"
	"sync"
	"time"

	"google.golang.org/grpc"
	"google.golang.org/grpc/connectivity"
	"google.golang.org/grpc/credentials/insecure"
)

// Dial connects to an endpoint, HOST:PORT, as Beam's grpcx.DefaultDial does, and waits until the engine
// talks. A target with a scheme, such as "dns:///HOST:PORT", is no endpoint here: Dial would take all of it
// as a host and a port. wrap gives the stream that a caller of a method of streams gets, such as
// "/service/Method". The options are those of the connection beside.
func Dial(ctx context.Context, endpoint string, timeout time.Duration, wrap func(method string, s grpc.ClientStream) grpc.ClientStream, opts ...grpc.DialOption) (*grpc.ClientConn, error) {
	conn, err := grpc.NewClient("passthrough:///"+endpoint, append(opts,
		grpc.WithTransportCredentials(insecure.NewCredentials()),
		grpc.WithDefaultCallOptions(grpc.MaxCallRecvMsgSize(math.MaxInt32)),
		grpc.WithStreamInterceptor(func(ctx context.Context, desc *grpc.StreamDesc, conn *grpc.ClientConn, method string, call grpc.Streamer, opts ...grpc.CallOption) (grpc.ClientStream, error) {
			stream, err := call(ctx, desc, conn, method, opts...)
			if err != nil {
				return nil, err
			}
			return wrap(method, &single{ClientStream: stream}), nil
		}))...)
	if err != nil {
		return nil, err
	}
	ctx, cancel := context.WithTimeout(ctx, timeout)
	defer cancel()
	conn.Connect()
	for state := conn.GetState(); state != connectivity.Ready; state = conn.GetState() {
		if state == connectivity.Idle {
			conn.Connect()
		}
		if !conn.WaitForStateChange(ctx, state) {
			conn.Close()
			return nil, fmt.Errorf("cannot connect to %s: %w", endpoint, ctx.Err())
		}
	}
	return conn, nil
}

// A single stream is read by one goroutine at a time, and not beyond its end. gRPC forbids two readers.
// Beam 2.77.0 has two on a data stream and on a state stream: where a send fails, the goroutine that sent
// reads the stream for its error, while another goroutine reads it for messages.
type single struct {
	grpc.ClientStream
	mu  sync.Mutex
	end error
}

func (s *single) RecvMsg(m any) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.end == nil {
		s.end = s.ClientStream.RecvMsg(m)
	}
	return s.end
}
