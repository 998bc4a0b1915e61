package dial

import (
	"io"
	"net"
	"strings"
	"sync"
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
// end of one (with the race detector).
func TestDial(t *testing.T) {
	l, server := listen(t), grpc.NewServer()
	fnpb.RegisterBeamFnDataServer(server, engine{})
	go server.Serve(l)
	defer server.Stop()
	var methods []string
	conn, err := Dial(t.Context(), l.Addr().String(), 10*time.Second, func(method string, s grpc.ClientStream) grpc.ClientStream {
		methods = append(methods, method)
		return s
	})
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close()
	stream, err := fnpb.NewBeamFnDataClient(conn).Data(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	if len(methods) != 1 || methods[0] != "/org.apache.beam.model.fn_execution.v1.BeamFnData/Data" {
		t.Errorf("%q", methods)
	}
	var wait sync.WaitGroup
	messages := make(chan int, 4)
	for range 4 {
		wait.Go(func() {
			n := 0
			for {
				if _, err := stream.Recv(); err != nil {
					if err != io.EOF {
						t.Error(err)
					}
					messages <- n
					return
				}
				n++
			}
		})
	}
	wait.Wait()
	if n := <-messages + <-messages + <-messages + <-messages; n != 2 {
		t.Errorf("%d messages of 2", n)
	}
}

// TestDialRefused holds that an engine which does not talk is an error when the time is over.
func TestDialRefused(t *testing.T) {
	at := listen(t).Addr().String()
	_, err := Dial(t.Context(), at, 100*time.Millisecond, nil)
	if err == nil || !strings.Contains(err.Error(), "cannot connect to "+at+": context deadline exceeded") {
		t.Errorf("%v", err)
	}
}
