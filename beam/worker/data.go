package worker

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"time"

	fnpb "github.com/apache/beam/sdks/v2/go/pkg/beam/model/fnexecution_v1"
	"github.com/garner-go/garner/beam/internal/dial"
	"google.golang.org/grpc"
)

// stall is how long the engine may take no output of a bundle. Beam's runners in Java hold 100
// messages of a bundle, and take none of them before the bundle has ended: one with more never ends.
const stall = 2 * time.Minute

// dataMethod is the call by which the data of bundles travels.
var dataMethod = "/" + fnpb.BeamFnData_ServiceDesc.ServiceName + "/Data"

var errData = errors.New("the engine has ended the data stream while a bundle sent its output; the engine's log says why, such as a full Java heap")

var errStall = fmt.Errorf("the engine has taken no output of a bundle for %v; Beam's runners in Java hold at most 100 messages of a bundle: give the job more workers and slots", stall)

// dialer connects to an engine as Beam's grpcx.DefaultDial does. The function calls broken when a data
// stream takes no more output: Beam's Go side may then wait for ever, and the bundle never ends.
func dialer(stall time.Duration, broken func(error)) func(ctx context.Context, endpoint string, timeout time.Duration) (*grpc.ClientConn, error) {
	return func(ctx context.Context, endpoint string, timeout time.Duration) (*grpc.ClientConn, error) {
		return dial.Dial(ctx, endpoint, timeout, func(method string, s grpc.ClientStream) grpc.ClientStream {
			if method != dataMethod {
				return s
			}
			return &dataStream{s, stall, broken, map[string]*output{}}
		})
	}
}

// A dataStream takes the output of bundles to the engine. It makes few messages of an output:
// each has at least a sixteenth of what went before, so that 100 of them hold 10 GB.
// Beam's Go side calls SendMsg from one goroutine at a time.
type dataStream struct {
	grpc.ClientStream
	stall  time.Duration
	broken func(error)
	held   map[string]*output // of the instructions that are sending
}

// An output is what a bundle has sent, and what it has yet to send.
type output struct {
	sent, bytes int
	data        []*fnpb.Elements_Data
}

func (s *dataStream) SendMsg(m any) error {
	e, ok := m.(*fnpb.Elements)
	if !ok || len(e.GetData()) != 1 || len(e.GetTimers()) > 0 {
		return s.send(m)
	}
	d := e.GetData()[0]
	o := s.held[d.GetInstructionId()]
	if o == nil {
		o = new(output)
		s.held[d.GetInstructionId()] = o
	}
	o.data = append(o.data, &fnpb.Elements_Data{ // the sender uses its bytes again
		InstructionId: d.GetInstructionId(), TransformId: d.GetTransformId(), Data: bytes.Clone(d.GetData()), IsLast: d.GetIsLast(),
	})
	o.bytes += len(d.GetData())
	if !d.GetIsLast() && o.bytes < o.sent/16 {
		return nil
	}
	whole := &fnpb.Elements{Data: o.data}
	o.sent, o.bytes, o.data = o.sent+o.bytes, 0, nil
	if d.GetIsLast() { // a bundle with further outputs counts anew
		delete(s.held, d.GetInstructionId())
	}
	return s.send(whole)
}

func (s *dataStream) send(m any) error {
	late := time.AfterFunc(s.stall, func() { s.broken(errStall) })
	defer late.Stop()
	err := s.ClientStream.SendMsg(m)
	if errors.Is(err, io.EOF) {
		s.broken(errData)
	}
	return err
}
