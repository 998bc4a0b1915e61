package worker

import (
	"bytes"
	"testing"
	"time"

	fnpb "github.com/apache/beam/sdks/v2/go/pkg/beam/model/fnexecution_v1"
	"google.golang.org/grpc"
)

// A dataEngine takes the data streams of workers.
type dataEngine struct {
	fnpb.UnimplementedBeamFnDataServer
	take func(fnpb.BeamFnData_DataServer) error
}

func (e *dataEngine) Data(s fnpb.BeamFnData_DataServer) error { return e.take(s) }

// TestDataStream holds that a worker hears of a data stream that the engine has ended, and of
// one from which it takes nothing, and not of one that goes on.
func TestDataStream(t *testing.T) {
	for _, tt := range []struct {
		name  string
		stall time.Duration
		take  func(fnpb.BeamFnData_DataServer) error
		want  error
	}{
		{"taken", time.Hour, func(s fnpb.BeamFnData_DataServer) error {
			for {
				if _, err := s.Recv(); err != nil {
					return err
				}
			}
		}, nil},
		{"ended", time.Hour, func(s fnpb.BeamFnData_DataServer) error {
			_, err := s.Recv()
			return err
		}, errData},
		{"stalled", 200 * time.Millisecond, func(s fnpb.BeamFnData_DataServer) error {
			<-s.Context().Done()
			return nil
		}, errStall},
	} {
		t.Run(tt.name, func(t *testing.T) {
			_, server, endpoint := start(t, false, func(s *grpc.Server) { fnpb.RegisterBeamFnDataServer(s, &dataEngine{take: tt.take}) })
			defer server.Stop()
			broken := make(chan error, 100)
			conn, err := dialer(tt.stall, func(err error) { broken <- err })(t.Context(), endpoint, 2*time.Minute)
			if err != nil {
				t.Fatal(err)
			}
			defer conn.Close()
			stream, err := fnpb.NewBeamFnDataClient(conn).Data(t.Context())
			if err != nil {
				t.Fatal(err)
			}
			sent := make(chan error, 1)
			go func() {
				message := &fnpb.Elements{Data: []*fnpb.Elements_Data{{InstructionId: "1", TransformId: "2", Data: make([]byte, 4e6)}}}
				var err error
				for n := 0; err == nil && (tt.want != nil || n < 32); n++ { // a stream that breaks is written to until then
					err = stream.Send(message)
				}
				sent <- err
			}()
			hears := func(err error) {
				if err != tt.want {
					t.Errorf("the worker hears %v, want %v", err, tt.want)
				}
			}
			select {
			case err := <-broken:
				hears(err)
			case err := <-sent:
				select {
				case err := <-broken: // before sending ended
					hears(err)
				default:
					if tt.want != nil || err != nil {
						t.Errorf("the worker has heard nothing, and sending ended with %v; want %v", err, tt.want)
					}
				}
			case <-time.After(2 * time.Minute):
				t.Error("the worker waits for ever")
			}
		})
	}
}

// TestDial holds that a worker does not wait longer than it is told for an engine that is not there.
func TestDial(t *testing.T) {
	if conn, err := dialer(stall, nil)(t.Context(), "localhost:1", 100*time.Millisecond); err == nil {
		conn.Close()
		t.Error("connected to nothing")
	}
}

// TestFewMessages holds that an output of 1000 messages arrives whole, in order and in fewer
// than the 100 that an engine holds, and that what was sent may be overwritten.
func TestFewMessages(t *testing.T) {
	type arrived struct {
		messages int
		data     []byte
	}
	all := make(chan arrived, 1)
	_, _, endpoint := start(t, false, func(s *grpc.Server) {
		fnpb.RegisterBeamFnDataServer(s, &dataEngine{take: func(s fnpb.BeamFnData_DataServer) error {
			var got arrived
			for {
				m, err := s.Recv()
				if err != nil {
					return err
				}
				got.messages++
				for _, d := range m.GetData() {
					got.data = append(got.data, d.GetData()...)
					if d.GetIsLast() {
						all <- got
						return nil
					}
				}
			}
		}})
	})
	conn, err := dialer(time.Hour, func(err error) { t.Error(err) })(t.Context(), endpoint, 2*time.Minute)
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close()
	stream, err := fnpb.NewBeamFnDataClient(conn).Data(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	var want []byte
	piece := make([]byte, 1000)
	for n := range 1000 {
		for i := range piece {
			piece[i] = byte(n + i)
		}
		want = append(want, piece...)
		if err := stream.Send(&fnpb.Elements{Data: []*fnpb.Elements_Data{{InstructionId: "1", TransformId: "2", Data: piece}}}); err != nil {
			t.Fatal(err)
		}
	}
	if err := stream.Send(&fnpb.Elements{Data: []*fnpb.Elements_Data{{InstructionId: "1", TransformId: "2", IsLast: true}}}); err != nil {
		t.Fatal(err)
	}
	select {
	case got := <-all:
		if got.messages >= 100 || !bytes.Equal(got.data, want) {
			t.Errorf("%d bytes in %d messages; want %d, the same, in fewer than 100", len(got.data), got.messages, len(want))
		}
	case <-time.After(2 * time.Minute):
		t.Fatal("the output has no end")
	}
}
