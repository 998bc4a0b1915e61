package dial

import (
	"context"
	"io"
	"net"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	fnpb "github.com/apache/beam/sdks/v2/go/pkg/beam/model/fnexecution_v1"
	"google.golang.org/grpc"
)

// An engine ends each data stream after two messages.
type engine struct {
	fnpb.UnimplementedBeamFnDataServer
}

func (engine) Data(s fnpb.BeamFnData_DataServer) error {
	for range 2 {
		if err := s.Send(&fnpb.Elements{}); err != nil {
			return err
		}
	}
	return nil
}

func listen(t *testing.T) net.Listener {
	t.Helper()
	l, err := net.Listen("tcp", "localhost:0")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { l.Close() })
	return l
}

// TestDial holds that streams are wrapped by method, and that several goroutines may ask for the
// end of one.
func TestDial(t *testing.T) {
	ctx, cancel := context.WithTimeout(t.Context(), 2*time.Minute)
	defer cancel()
	l, server := listen(t), grpc.NewServer()
	fnpb.RegisterBeamFnDataServer(server, engine{})
	go server.Serve(l)
	defer server.Stop()
	var methods []string
	conn, err := Dial(ctx, l.Addr().String(), 2*time.Minute, func(method string, s grpc.ClientStream) grpc.ClientStream {
		methods = append(methods, method)
		if _, ok := s.(*single); !ok {
			t.Errorf("the stream of %s is a %T, which several goroutines may not read", method, s)
		}
		return s
	})
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close()
	stream, err := fnpb.NewBeamFnDataClient(conn).Data(ctx)
	if err != nil {
		t.Fatal(err)
	}
	if len(methods) != 1 || methods[0] != "/org.apache.beam.model.fn_execution.v1.BeamFnData/Data" {
		t.Errorf("%q", methods)
	}
	if n := drain(t, ctx, 4, func() error { _, err := stream.Recv(); return err }); n != 2 {
		t.Errorf("%d messages of 2", n)
	}
}

// drain calls recv from several goroutines until each has met the end, and returns how many messages
// came. The test ends where ctx ends before.
func drain(t *testing.T, ctx context.Context, readers int, recv func() error) int {
	t.Helper()
	type end struct {
		n   int
		err error
	}
	ends := make(chan end, readers)
	for range readers {
		go func() {
			n := 0
			err := recv()
			for ; err == nil; err = recv() {
				n++
			}
			ends <- end{n, err}
		}()
	}
	sum := 0
	for range readers {
		select {
		case e := <-ends:
			sum += e.n
			if e.err != io.EOF {
				t.Error(e.err)
			}
		case <-ctx.Done():
			t.Fatal("a reader has not met the end: ", ctx.Err())
		}
	}
	return sum
}

// A strict stream has some messages. It counts the reads that begin during another, and those behind
// its end.
type strict struct {
	grpc.ClientStream
	reading               atomic.Int32
	messages              atomic.Int32 // that are left
	beside, behind, ended atomic.Int32
}

func (s *strict) RecvMsg(any) error {
	if s.reading.Add(1) > 1 {
		s.beside.Add(1)
	}
	defer s.reading.Add(-1)
	time.Sleep(10 * time.Millisecond) // for another read to begin
	if s.messages.Add(-1) >= 0 {
		return nil
	}
	if s.ended.Add(1) > 1 {
		s.behind.Add(1)
	}
	return io.EOF
}

// TestSingle holds that of several goroutines one reads a stream at a time, and none behind its end.
func TestSingle(t *testing.T) {
	ctx, cancel := context.WithTimeout(t.Context(), 2*time.Minute)
	defer cancel()
	from := new(strict)
	from.messages.Store(8)
	s := &single{ClientStream: from}
	if n := drain(t, ctx, 4, func() error { return s.RecvMsg(nil) }); n != 8 {
		t.Errorf("%d messages of 8", n)
	}
	if beside, behind := from.beside.Load(), from.behind.Load(); beside != 0 || behind != 0 {
		t.Errorf("%d reads during another, %d behind the end", beside, behind)
	}
}

// TestDialRefused holds that an engine which does not talk is an error when the time is over.
func TestDialRefused(t *testing.T) {
	at := listen(t).Addr().String()
	ctx, cancel := context.WithTimeout(t.Context(), 2*time.Minute)
	defer cancel()
	_, err := Dial(ctx, at, 100*time.Millisecond, nil)
	if err == nil || !strings.Contains(err.Error(), "cannot connect to "+at+": context deadline exceeded") {
		t.Errorf("%v", err)
	}
}
