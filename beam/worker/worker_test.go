package worker

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"log"
	"math"
	"net"
	"os"
	"os/exec"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	fnpb "github.com/apache/beam/sdks/v2/go/pkg/beam/model/fnexecution_v1"
	pipepb "github.com/apache/beam/sdks/v2/go/pkg/beam/model/pipeline_v1"
	"google.golang.org/grpc"
	"google.golang.org/grpc/metadata"
	"google.golang.org/protobuf/proto"
)

func TestMain(m *testing.M) {
	if Called(os.Args[1:]) {
		if err := Main(context.Background(), os.Args[1:]); err != nil {
			log.SetFlags(0)
			log.Fatal(err)
		}
		return
	}
	os.Exit(m.Run())
}

func TestCalled(t *testing.T) {
	for _, tt := range []struct {
		args string
		want bool
	}{
		{"--id=1-1 --provision_endpoint=localhost:40000", true}, // Flink, Spark
		{"--id='w1' --provision_endpoint=localhost:40000", true},
		{"--id=1-1 --logging_endpoint=a:1 --artifact_endpoint=a:1 --provision_endpoint=a:1 --control_endpoint=a:1", true}, // a container
		{"worker --id 1-1 --provision_endpoint localhost:40000", true},
		{"-provision_endpoint=a:1", true},
		{"gather table.npy ids.npy -o rows/", false},
		{"gather table.npy --provision_endpoints", false},
		{"worker", false},
		{"", false},
	} {
		if got := Called(strings.Fields(tt.args)); got != tt.want {
			t.Errorf("Called(%s) = %v", tt.args, got)
		}
	}
}

func TestParse(t *testing.T) {
	for _, tt := range []struct {
		args string
		want arguments
		err  string
	}{
		{"--id=1-1 --provision_endpoint=a:1", arguments{id: "1-1", provision: "a:1"}, ""},
		{"--id='w1' --provision_endpoint=a:1", arguments{id: "w1", provision: "a:1"}, ""},
		{
			"--id=7 --logging_endpoint=l:1 --artifact_endpoint=a:1 --provision_endpoint=p:1 --control_endpoint=c:1 --semi_persist_dir=/tmp",
			arguments{id: "7", provision: "p:1", control: "c:1", logging: "l:1"}, "",
		},
		{"--provision_endpoint=a:1", arguments{}, "--id is missing"},
		{"--id=1-1", arguments{}, "--provision_endpoint is missing"},
		{"worker --id 1-1 --provision_endpoint a:1", arguments{id: "1-1", provision: "a:1"}, ""}, // an entry point of two words
		{"--id=1-1 --provision_endpoint=a:1 more", arguments{}, `found argument "more"`},
		{"--id=1-1 --provision_endpoint=a:1 --unknown=1", arguments{}, "-unknown"},
	} {
		got, err := parse(strings.Fields(tt.args))
		if tt.err != "" {
			if err == nil || !strings.Contains(err.Error(), tt.err) || !strings.Contains(err.Error(), "--id=ID --provision_endpoint=HOST:PORT") {
				t.Errorf("%s: %v, want %s", tt.args, err, tt.err)
			}
			continue
		}
		if err != nil || got != tt.want {
			t.Errorf("%s: %+v, %v, want %+v", tt.args, got, err, tt.want)
		}
	}
}

func TestEnvironments(t *testing.T) {
	env, err := Process("/opt/garner-beam", map[string]string{"GOMEMLIMIT": "1GiB"})
	if err != nil {
		t.Fatal(err)
	}
	var process pipepb.ProcessPayload
	if err := proto.Unmarshal(env.GetPayload(), &process); err != nil {
		t.Fatal(err)
	}
	if process.GetCommand() != "/opt/garner-beam" || process.GetEnv()["GOMEMLIMIT"] != "1GiB" || env.GetUrn() != "beam:env:process:v1" || len(env.GetCapabilities()) == 0 {
		t.Errorf("PROCESS: %v, %v", env, &process)
	}
	image, err := Docker("registry/garner-beam:1")
	if err != nil {
		t.Fatal(err)
	}
	var docker pipepb.DockerPayload
	if err := proto.Unmarshal(image.GetPayload(), &docker); err != nil {
		t.Fatal(err)
	}
	if docker.GetContainerImage() != "registry/garner-beam:1" || image.GetUrn() != "beam:env:docker:v1" {
		t.Errorf("DOCKER: %v, %v", image, &docker)
	}
	for _, e := range []*pipepb.Environment{env, image} {
		if n := len(e.GetDependencies()); n != 0 {
			t.Errorf("%s stages %d artifacts", e.GetUrn(), n)
		}
	}
}

// An engine is the side of a runner: the services that a worker asks.
type engine struct {
	fnpb.UnimplementedProvisionServiceServer
	fnpb.UnimplementedBeamFnControlServer
	fnpb.UnimplementedBeamFnLoggingServer
	info      *fnpb.ProvisionInfo
	connected chan string // ids of workers
	end       chan struct{}
}

func (e *engine) GetProvisionInfo(context.Context, *fnpb.GetProvisionInfoRequest) (*fnpb.GetProvisionInfoResponse, error) {
	return &fnpb.GetProvisionInfoResponse{Info: e.info}, nil
}

func (e *engine) Control(stream fnpb.BeamFnControl_ControlServer) error {
	md, _ := metadata.FromIncomingContext(stream.Context())
	e.connected <- strings.Join(md["worker_id"], ",")
	select {
	case <-e.end:
	case <-stream.Context().Done():
	}
	return nil
}

func (e *engine) Logging(stream fnpb.BeamFnLogging_LoggingServer) error {
	<-stream.Context().Done()
	return nil
}

// start returns an engine, its server and its endpoint.
func start(t *testing.T, named bool, further ...func(*grpc.Server)) (*engine, *grpc.Server, string) {
	t.Helper()
	listener, err := net.Listen("tcp", "localhost:0")
	if err != nil {
		t.Fatal(err)
	}
	endpoint := listener.Addr().String()
	e := &engine{info: &fnpb.ProvisionInfo{}, connected: make(chan string, 1), end: make(chan struct{})}
	if named {
		at := &pipepb.ApiServiceDescriptor{Url: endpoint}
		e.info.ControlEndpoint, e.info.LoggingEndpoint = at, at
	}
	server := grpc.NewServer(grpc.MaxRecvMsgSize(math.MaxInt32)) // as engines have it
	fnpb.RegisterProvisionServiceServer(server, e)
	fnpb.RegisterBeamFnControlServer(server, e)
	fnpb.RegisterBeamFnLoggingServer(server, e)
	for _, register := range further {
		register(server)
	}
	go server.Serve(listener)
	t.Cleanup(server.Stop)
	return e, server, endpoint
}

// launch starts this binary as a worker.
func launch(t *testing.T, args ...string) (*exec.Cmd, *bytes.Buffer) {
	t.Helper()
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	cmd := exec.Command(self, args...)
	var said bytes.Buffer
	cmd.Stderr = &said
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	kill := time.AfterFunc(2*time.Minute, func() { cmd.Process.Kill() })
	t.Cleanup(func() { kill.Stop(); cmd.Process.Kill() })
	return cmd, &said
}

// TestEnds holds that a worker lives as long as its control channel, takes the
// endpoints of its arguments where the engine names none, and tells why it ends.
func TestEnds(t *testing.T) {
	t.Run("engine closes", func(t *testing.T) {
		e, _, endpoint := start(t, true)
		cmd, said := launch(t, "--id=1-1", "--provision_endpoint="+endpoint)
		if id := <-e.connected; id != "1-1" {
			t.Errorf("worker_id %q, want 1-1", id)
		}
		close(e.end)
		if err := cmd.Wait(); err != nil {
			t.Errorf("the worker ended with %v: %s", err, said)
		}
	})
	t.Run("engine dies", func(t *testing.T) {
		e, server, endpoint := start(t, false)
		cmd, said := launch(t, "--id=1-2", "--provision_endpoint="+endpoint, "--control_endpoint="+endpoint, "--logging_endpoint="+endpoint)
		<-e.connected
		server.Stop()
		from := time.Now()
		err := cmd.Wait()
		t.Logf("the worker ended %v after the engine", time.Since(from))
		// One that does not end is killed, which is a negative code.
		if cmd.ProcessState.ExitCode() < 1 || !strings.Contains(said.String(), "worker 1-2: control.Recv failed") {
			t.Errorf("the worker ended with %v: %s", err, said)
		}
	})
	t.Run("no endpoint", func(t *testing.T) {
		_, _, endpoint := start(t, false)
		cmd, said := launch(t, "--id=1-3", "--provision_endpoint="+endpoint)
		if err := cmd.Wait(); err == nil || !strings.Contains(said.String(), "names no control endpoint, and --control_endpoint is not given") {
			t.Errorf("the worker ended with %v: %s", err, said)
		}
	})
}

// TestOrphan holds that a worker whose parent is killed ends, also while it waits
// for a service that never answers.
func TestOrphan(t *testing.T) {
	silent, err := net.Listen("tcp", "localhost:0") // takes connections and says nothing
	if err != nil {
		t.Fatal(err)
	}
	defer silent.Close()
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	out, in, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	defer out.Close()
	parent := exec.Command("sh", "-c", fmt.Sprintf("'%s' --id=1-1 --provision_endpoint=%s & wait", self, silent.Addr()))
	parent.Stderr = in // the worker has it too, so it ends with the last of them
	if err := parent.Start(); err != nil {
		t.Fatal(err)
	}
	in.Close()
	conn, err := silent.Accept() // the worker is up
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close()
	if err := parent.Process.Kill(); err != nil {
		t.Fatal(err)
	}
	parent.Wait()
	out.SetReadDeadline(time.Now().Add(2 * time.Minute))
	said, err := io.ReadAll(out)
	if err != nil || !strings.Contains(string(said), "worker 1-1: the process that started this worker is gone") {
		t.Errorf("the orphan said %q, %v", said, err)
	}
}

func TestOrphanedStops(t *testing.T) {
	var parent atomic.Int64
	parent.Store(7)
	ctx, cancel := context.WithCancel(t.Context())
	done := make(chan bool, 1)
	go func() {
		orphaned(ctx, 7, func() int { return int(parent.Load()) }, func() { t.Error("gone, though the parent lives") })
		done <- true
	}()
	cancel()
	<-done
}
