package jobs

import (
	"errors"
	"io"
	"sync/atomic"
	"testing"
	"time"

	fnpb "github.com/apache/beam/sdks/v2/go/pkg/beam/model/fnexecution_v1"
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
