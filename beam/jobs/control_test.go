package jobs

import (
	"context"
	"errors"
	"io"
	"net"
	"sync/atomic"
	"testing"
	"time"

	fnpb "github.com/apache/beam/sdks/v2/go/pkg/beam/model/fnexecution_v1"
	"github.com/apache/beam/sdks/v2/go/pkg/beam/util/grpcx"
	"google.golang.org/grpc"
)

// A script is a stream that gives requests, then an error, and keeps what is sent.
type script struct {
	grpc.ClientStream
	requests []*fnpb.InstructionRequest
	end      error
	sent     int
	sending  error
}

func (s *script) RecvMsg(m any) error {
	if len(s.requests) == 0 {
		return s.end
	}
	q := m.(*fnpb.InstructionRequest)
	q.InstructionId, q.Request = s.requests[0].InstructionId, s.requests[0].Request
	s.requests = s.requests[1:]
	return nil
}

func (s *script) SendMsg(any) error {
	s.sent++
	return s.sending
}

func bundle(id string) *fnpb.InstructionRequest {
	return &fnpb.InstructionRequest{InstructionId: id, Request: &fnpb.InstructionRequest_ProcessBundle{ProcessBundle: &fnpb.ProcessBundleRequest{}}}
}

func answered(id string) *fnpb.InstructionResponse {
	return &fnpb.InstructionResponse{InstructionId: id}
}

// TestControlStream holds that the end of a control stream reaches a worker behind the answers of its
// bundles, and of nothing else, or when the time is over.
func TestControlStream(t *testing.T) {
	lost := errors.New("lost")
	recv := func(s *controlStream, n int) {
		for range n {
			if err := s.RecvMsg(new(fnpb.InstructionRequest)); err != nil {
				t.Fatal(err)
			}
		}
	}
	t.Run("held", func(t *testing.T) {
		from := &script{requests: []*fnpb.InstructionRequest{bundle("1"), bundle("2"), {InstructionId: "3"}}, end: io.EOF}
		s := newControlStream(from, time.Minute)
		recv(s, 3)
		if err := s.SendMsg(answered("1")); err != nil || from.sent != 1 {
			t.Errorf("%v, %d sent", err, from.sent)
		}
		var last atomic.Bool
		go func() {
			for ended := false; !ended; time.Sleep(time.Millisecond) {
				s.mu.Lock()
				ended = s.ended
				s.mu.Unlock()
			}
			s.SendMsg(answered("3")) // of no bundle
			s.SendMsg(answered("1")) // of one that has been answered
			time.Sleep(100 * time.Millisecond)
			last.Store(true)
			s.SendMsg(answered("2"))
		}()
		if err := s.RecvMsg(new(fnpb.InstructionRequest)); err != io.EOF {
			t.Errorf("%v", err)
		}
		if !last.Load() {
			t.Error("the end came before the answer of bundle 2")
		}
		if err := s.RecvMsg(new(fnpb.InstructionRequest)); err != io.EOF || from.sent != 1 {
			t.Errorf("%v, %d sent behind the end", err, from.sent)
		}
	})
	t.Run("without bundles", func(t *testing.T) {
		s := newControlStream(&script{requests: []*fnpb.InstructionRequest{bundle("1"), {InstructionId: "2"}}, end: lost, sending: lost}, time.Hour)
		recv(s, 2)
		if err := s.SendMsg(answered("1")); err != lost { // an answer that does not arrive is one too
			t.Errorf("%v", err)
		}
		if err := s.RecvMsg(new(fnpb.InstructionRequest)); err != lost {
			t.Errorf("%v", err)
		}
	})
	t.Run("too long", func(t *testing.T) {
		s := newControlStream(&script{requests: []*fnpb.InstructionRequest{bundle("1")}, end: lost}, 10*time.Millisecond)
		recv(s, 1)
		if err := s.RecvMsg(new(fnpb.InstructionRequest)); err != lost {
			t.Errorf("%v", err)
		}
		if err := s.SendMsg(answered("1")); err != nil {
			t.Errorf("%v", err)
		}
	})
}

// A controlEngine gives each worker one bundle and ends the control stream. It has a stream of
// another method that does the same.
type controlEngine struct {
	fnpb.UnimplementedBeamFnControlServer
}

func (controlEngine) Control(s fnpb.BeamFnControl_ControlServer) error { return s.Send(bundle("1")) }

func other(_ any, s grpc.ServerStream) error { return s.SendMsg(bundle("1")) }

// TestDialHeld holds that a worker of a pool, which connects by Beam's grpcx.Dial, gets the end of a
// control stream behind the answer of its bundle, and the end of another stream at once; and that
// targets of other forms go to the dialer that was there before.
func TestDialHeld(t *testing.T) {
	ctx, cancel := context.WithTimeout(t.Context(), 2*time.Minute)
	defer cancel()
	p, err := startPool(ctx)
	if err != nil {
		t.Fatal(err)
	}
	defer p.close()
	l, err := net.Listen("tcp", "localhost:0")
	if err != nil {
		t.Fatal(err)
	}
	server := grpc.NewServer(grpc.UnknownServiceHandler(other))
	fnpb.RegisterBeamFnControlServer(server, controlEngine{})
	go server.Serve(l)
	defer server.Stop()
	connect := func(t *testing.T, target string) *grpc.ClientConn {
		t.Helper()
		conn, err := grpcx.Dial(ctx, target, 2*time.Minute)
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { conn.Close() })
		return conn
	}
	// begin opens a stream of a method and reads the bundle. The channel gets what ends the stream.
	begin := func(t *testing.T, target, method string) (grpc.ClientStream, chan error) {
		t.Helper()
		s, err := connect(t, target).NewStream(ctx, &grpc.StreamDesc{ServerStreams: true, ClientStreams: true}, method)
		if err != nil {
			t.Fatal(err)
		}
		if err := s.RecvMsg(new(fnpb.InstructionRequest)); err != nil {
			t.Fatal(err)
		}
		ended := make(chan error, 1)
		go func() { ended <- s.RecvMsg(new(fnpb.InstructionRequest)) }()
		return s, ended
	}
	t.Run("control", func(t *testing.T) {
		s, ended := begin(t, l.Addr().String(), controlMethod)
		select {
		case err := <-ended:
			t.Fatalf("the end came before the answer of the bundle: %v", err)
		case <-time.After(500 * time.Millisecond): // an end that does not wait comes within this time, or goes unseen
		}
		s.SendMsg(answered("1"))
		if err := <-ended; err != io.EOF {
			t.Errorf("%v", err)
		}
	})
	// These streams end though nothing is answered. That the end does not wait is told by what they are: it
	// would wait for half a minute.
	for name, at := range map[string][2]string{
		"another method": {l.Addr().String(), "/other/Control"},
		"scheme":         {"dns:///" + l.Addr().String(), controlMethod},
	} {
		t.Run(name, func(t *testing.T) {
			s, ended := begin(t, at[0], at[1])
			if _, is := s.(*controlStream); is {
				t.Error("the end waits for an answer, on a stream that is not to be changed")
			}
			if err := <-ended; err != io.EOF {
				t.Errorf("%v", err)
			}
		})
	}
	t.Run("targets", func(t *testing.T) {
		there, gone := errors.New("the dialer that was there before"), context.Canceled
		dial := dialHeld(func(context.Context, string, time.Duration) (*grpc.ClientConn, error) { return nil, there })
		ended, end := context.WithCancel(t.Context())
		end()
		for target, want := range map[string]error{
			"localhost:1": gone, "127.0.0.1:1": gone, "[::1]:1": gone, ":1": gone, "engine.example:65535": gone,
			"unix:///run/engine.sock": there, "unix:engine.sock": there, "unix:1": there, "dns:///localhost:1": there, "dns:1": there,
			"DNS:1": there, "passthrough:///localhost:1": there, "passthrough:1": there,
			"localhost": there, "localhost:http": there, "localhost:65536": there, "localhost:": there, "::1": there, "": there,
		} {
			if _, err := dial(ended, target, time.Second); !errors.Is(err, want) {
				t.Errorf("%q: %v, want %v", target, err, want)
			}
		}
	})
}
