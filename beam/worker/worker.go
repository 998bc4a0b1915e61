// Package worker is the process that runs a pipeline's functions for an engine:
// the SDK harness of Beam's portability, in the binary that submitted the job.
//
//	func main() {
//		if worker.Called(os.Args[1:]) {
//			if err := worker.Main(context.Background(), os.Args[1:]); err != nil {
//				log.Fatal(err)
//			}
//			return
//		}
//		…
//	}
//
// An engine starts the binary with --id and --provision_endpoint, in a PROCESS
// environment (see [Process]) or as the entry point of a container image (see
// [Docker]). [Main] asks the provision service for the endpoints and the options
// of the pipeline. It runs the functions in this process: unlike Beam's boot
// program, it stages no copy of the binary and starts no second process.
package worker

import (
	"context"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"slices"
	"strings"
	"time"

	"github.com/apache/beam/sdks/v2/go/container/tools"
	"github.com/apache/beam/sdks/v2/go/pkg/beam"
	"github.com/apache/beam/sdks/v2/go/pkg/beam/core/runtime"
	"github.com/apache/beam/sdks/v2/go/pkg/beam/core/runtime/graphx"
	"github.com/apache/beam/sdks/v2/go/pkg/beam/core/runtime/harness"
	fnpb "github.com/apache/beam/sdks/v2/go/pkg/beam/model/fnexecution_v1"
	pipepb "github.com/apache/beam/sdks/v2/go/pkg/beam/model/pipeline_v1"
	"github.com/apache/beam/sdks/v2/go/pkg/beam/util/grpcx"
)

// Process returns a PROCESS environment: the engine starts the command on each
// machine. The command is an absolute path there, one word, and is the same
// build as the driver's. The variables of env are added to the environment of
// the engine's own process. The environment stages no artifact.
func Process(command string, env map[string]string) (*pipepb.Environment, error) {
	config, err := json.Marshal(map[string]any{"command": command, "env": env})
	if err != nil {
		return nil, err
	}
	return environment(graphx.URNEnvProcess, string(config))
}

// Docker returns a DOCKER environment of an image whose entry point is a
// worker, as the Dockerfile of this module makes it. It stages no artifact.
func Docker(image string) (*pipepb.Environment, error) {
	return environment(graphx.URNEnvDocker, image)
}

// environment is Beam's environment of a urn without its artifact, the binary
// of the worker: an engine that has the binary at hand loads none.
func environment(urn, config string) (*pipepb.Environment, error) {
	env, err := graphx.CreateEnvironment(context.Background(), urn, func(context.Context) string { return config })
	if err != nil {
		return nil, err
	}
	env.Dependencies = nil
	return env, nil
}

// Called reports whether the arguments of a program, without its name, are
// those by which an engine starts a worker. The word worker may stand before
// them, as in the entry point of a container image.
func Called(args []string) bool {
	return slices.ContainsFunc(args, func(arg string) bool {
		name, _, _ := strings.Cut(arg, "=")
		return name == "--provision_endpoint" || name == "-provision_endpoint"
	})
}

// Main is a worker with the arguments by which an engine starts one (see
// [Called]): --id and --provision_endpoint. --control_endpoint and --logging_endpoint count where the
// provision service names none. It returns nil when the engine closes the
// control channel, and an error when the channel breaks, when the engine ends a
// data stream that a bundle writes to, when ctx ends, or when the process that
// started this one is gone. A program calls Main once, after
// its functions and types are registered, and exits when it returns: functions
// may still run.
func Main(ctx context.Context, args []string) error {
	a, err := parse(args)
	if err != nil {
		return err
	}
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	go orphaned(ctx, os.Getppid(), os.Getppid, func() { cancel(errOrphan) })
	grpcx.Dial = dialer(stall, cancel)
	if err := a.run(grpcx.WriteWorkerID(ctx, a.id)); err != nil {
		if cause := context.Cause(ctx); cause != nil {
			err = cause
		}
		return fmt.Errorf("worker %s: %w", a.id, err)
	}
	return nil
}

var errOrphan = errors.New("the process that started this worker is gone")

// arguments are what an engine passes to a worker.
type arguments struct {
	id                          string
	provision, control, logging string // host:port
}

func parse(args []string) (arguments, error) {
	var a arguments
	var unused string
	flags := flag.NewFlagSet("worker", flag.ContinueOnError)
	flags.SetOutput(io.Discard)
	flags.StringVar(&a.id, "id", "", "")
	flags.StringVar(&a.provision, "provision_endpoint", "", "")
	flags.StringVar(&a.control, "control_endpoint", "", "")
	flags.StringVar(&a.logging, "logging_endpoint", "", "")
	// An engine that starts containers passes these too. Nothing is staged here.
	flags.StringVar(&unused, "artifact_endpoint", "", "")
	flags.StringVar(&unused, "semi_persist_dir", "", "")
	if len(args) > 0 && args[0] == "worker" {
		args = args[1:]
	}
	if err := flags.Parse(args); err != nil {
		return a, fmt.Errorf("worker: %w; an engine starts a worker with --id=ID --provision_endpoint=HOST:PORT", err)
	}
	if flags.NArg() > 0 {
		return a, fmt.Errorf("worker: found argument %q; an engine starts a worker with --id=ID --provision_endpoint=HOST:PORT", flags.Arg(0))
	}
	// Prism 2.77 passes the id between quotes, which are no part of it.
	a.id = strings.Trim(a.id, "'")
	for _, required := range []struct{ flag, value string }{{"id", a.id}, {"provision_endpoint", a.provision}} {
		if required.value == "" {
			return a, fmt.Errorf("worker: --%s is missing; an engine starts a worker with --id=ID --provision_endpoint=HOST:PORT", required.flag)
		}
	}
	return a, nil
}

// run asks for what the worker needs and serves the engine until the control
// channel ends.
func (a arguments) run(ctx context.Context) error {
	info, err := tools.ProvisionInfo(ctx, a.provision)
	if err != nil {
		return fmt.Errorf("provision service %s: %w", a.provision, err)
	}
	if err := a.complete(info); err != nil {
		return err
	}
	var options runtime.RawOptionsWrapper
	if err := tools.ProtoToOptions(info.GetPipelineOptions(), &options); err != nil {
		return fmt.Errorf("options of the pipeline: %w", err)
	}
	runtime.GlobalOptions.Import(options.Options)
	if !beam.Initialized() {
		beam.Init()
	}
	return harness.MainWithOptions(ctx, a.logging, a.control, harness.Options{
		StatusEndpoint:     info.GetStatusEndpoint().GetUrl(),
		RunnerCapabilities: info.GetRunnerCapabilities(),
	})
}

// complete takes the endpoints that the provision service names; those of the
// arguments are for engines that name none.
func (a *arguments) complete(info *fnpb.ProvisionInfo) error {
	for _, endpoint := range []struct {
		name  string
		value *string
		named string
	}{
		{"control", &a.control, info.GetControlEndpoint().GetUrl()},
		{"logging", &a.logging, info.GetLoggingEndpoint().GetUrl()},
	} {
		if endpoint.named != "" {
			*endpoint.value = endpoint.named
		}
		if *endpoint.value == "" {
			return fmt.Errorf("provision service %s names no %s endpoint, and --%[2]s_endpoint is not given", a.provision, endpoint.name)
		}
	}
	return nil
}

const watch = time.Second // between two looks at the parent process

// orphaned calls gone when the parent process is another than the first, and
// returns then or when ctx ends. An engine that is killed closes its sockets, but
// a worker that waits for the provision service sees no socket.
func orphaned(ctx context.Context, first int, parent func() int, gone func()) {
	tick := time.NewTicker(watch)
	defer tick.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case <-tick.C:
			if parent() != first {
				gone()
				return
			}
		}
	}
}
