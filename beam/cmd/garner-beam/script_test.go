package main

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log"
	"log/slog"
	"math/rand/v2"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/apache/beam/sdks/v2/go/pkg/beam/runners/prism"
	"github.com/garner-go/garner"
	"github.com/garner-go/garner/files"
	"github.com/garner-go/garner/format/shards"
	"github.com/garner-go/garner/internal/cmdline"
	"github.com/rogpeppe/go-internal/testscript"
	"google.golang.org/grpc"
)

func TestMain(m *testing.M) {
	testscript.Main(tests{m}, map[string]func(){"garner-beam": main})
}

// tests runs all tests with garner of this checkout in PATH.
type tests struct{ *testing.M }

func (t tests) Run() int {
	dir, err := os.MkdirTemp("", "garner")
	if err != nil {
		log.Fatal(err)
	}
	defer os.RemoveAll(dir)
	build := exec.Command("go", "build", "-o", filepath.Join(dir, "garner"), "./cmd/garner")
	build.Dir = "../../.."
	if out, err := build.CombinedOutput(); err != nil {
		log.Fatalf("%v: %v: %s", build, err, out)
	}
	os.Setenv("PATH", dir+string(filepath.ListSeparator)+os.Getenv("PATH"))
	return t.M.Run()
}

// TestScripts runs every script of testdata/script with the real command.
func TestScripts(t *testing.T) {
	testscript.Run(t, testscript.Params{
		Dir:                 "testdata/script",
		RequireExplicitExec: true,
		RequireUniqueNames:  true,
		Cmds: map[string]func(*testscript.TestScript, bool, []string){
			"array":  makeArray,
			"ended":  ended,
			"engine": func(ts *testscript.TestScript, _ bool, _ []string) { ts.Setenv("ENGINE", engine()) },
			"exits":  exits,
			"refused": func(ts *testscript.TestScript, _ bool, args []string) {
				if err := waited(ts, args[0]); !exited(err, cmdline.StatusRefused) {
					ts.Fatalf("%v; the job was to refuse an index", err)
				}
			},
			"refuse": refuse,
			"same": func(ts *testscript.TestScript, _ bool, args []string) {
				ts.Check(same(ts.MkAbs(args[0]), ts.MkAbs(args[1])))
			},
		},
	})
}

// engine is the endpoint of a job server, Prism's, that starts workers as processes.
var engine = sync.OnceValue(func() string {
	free, err := net.Listen("tcp", "localhost:0")
	if err != nil {
		log.Fatal(err)
	}
	slog.SetDefault(slog.New(slog.DiscardHandler)) // of the job server
	port := free.Addr().(*net.TCPAddr).Port
	free.Close()
	if _, err := prism.CreateJobServer(context.Background(), prism.Options{Port: port}); err != nil {
		log.Fatal(err)
	}
	return fmt.Sprintf("localhost:%d", port)
})

// makeArray saves an array of random elements, integers from 0 to BELOW-1.
//
//	array FILE DTYPE BELOW DIM...
func makeArray(ts *testscript.TestScript, _ bool, args []string) {
	d, err := garner.ParseDType(args[1])
	ts.Check(err)
	below, err := strconv.Atoi(args[2])
	ts.Check(err)
	var shape []int
	for _, text := range args[3:] {
		dim, err := strconv.Atoi(text)
		ts.Check(err)
		shape = append(shape, dim)
	}
	ts.Check(random(ts.MkAbs(args[0]), d, below, shape...))
}

// random saves an array of random integers from 0 to below-1.
func random(path string, d garner.DType, below int, shape ...int) error {
	n := 1
	for _, dim := range shape {
		n *= dim
	}
	all := make([]int64, n)
	r := rand.New(rand.NewPCG(uint64(below), uint64(len(all))))
	for i := range all {
		all[i] = r.Int64N(int64(below))
	}
	x := garner.Of(all, shape...)
	switch d {
	case garner.F32:
		x = garner.Of(converted[float32](all), shape...)
	case garner.I32:
		x = garner.Of(converted[int32](all), shape...)
	case garner.U8:
		x = garner.Of(converted[uint8](all), shape...)
	}
	if x.DType() != d {
		return fmt.Errorf("no random %s", d)
	}
	return files.Save(context.Background(), path, x, files.CreateOptions{})
}

func converted[T float32 | int32 | uint8](all []int64) []T {
	out := make([]T, len(all))
	for i, v := range all {
		out[i] = T(v)
	}
	return out
}

// same holds that a folder has nothing but a whole result, which has the shape, the dtype
// and the bytes of the array of a file.
func same(folder, file string) error {
	ctx := context.Background()
	m, err := shards.Read(folder)
	if err != nil {
		return err
	}
	want := []string{shards.SuccessName, shards.ManifestName}
	for _, s := range m.Shards {
		want = append(want, s.File)
		if err := s.Verify(ctx, folder); err != nil {
			return err
		}
	}
	slices.Sort(want)
	if names := listed(folder); !slices.Equal(names, want) {
		return fmt.Errorf("%s has %v, want %v", folder, names, want)
	}
	var specs [2]string
	var all [2][]byte
	for i, path := range []string{folder, file} {
		x, closeIt, err := files.Tensor(ctx, path, files.Options{})
		if err != nil {
			return err
		}
		defer closeIt()
		if x, err = x.Clone(); err != nil {
			return err
		}
		specs[i] = garner.SpecOf(x.DType(), x.Shape()...).String()
		if all[i], err = x.Bytes(); err != nil {
			return err
		}
	}
	if specs[0] != specs[1] || !bytes.Equal(all[0], all[1]) {
		return fmt.Errorf("%s is %s and %s is %s, or their elements differ", folder, specs[0], file, specs[1])
	}
	return nil
}

// listed are the names in a folder, sorted; none where it does not exist.
func listed(folder string) []string {
	entries, _ := os.ReadDir(folder)
	var names []string
	for _, e := range entries {
		names = append(names, e.Name())
	}
	return names
}

// exits runs "garner-beam ARGS..." and compares its exit status with the first argument.
//
//	exits STATUS ARGS...
func exits(ts *testscript.TestScript, _ bool, args []string) {
	got := 0
	var failed *exec.ExitError
	if err := ts.Exec("garner-beam", args[1:]...); errors.As(err, &failed) {
		got = failed.ExitCode()
	} else {
		ts.Check(err)
	}
	if fmt.Sprint(got) != args[0] {
		ts.Fatalf("garner-beam exits %d; want %s", got, args[0])
	}
	if message := ts.ReadFile("stderr"); got == 1 && (!strings.HasPrefix(message, "garner-beam: ") || strings.Count(message, "\n") != 1) {
		ts.Fatalf("the message is not one line: %q", message)
	}
}

// refuse holds that garner-beam refuses what garner refuses, with the same status and text,
// and leaves no folder. The last argument is the folder; garner gets a file.
//
//	refuse PATTERN ARGS... -o DIR
func refuse(ts *testscript.TestScript, _ bool, args []string) {
	var status [2]int
	var said [2]string
	for i, name := range []string{"garner", "garner-beam"} {
		line := slices.Clone(args[1:])
		if i == 0 {
			line[len(line)-1] += ".npy"
		}
		var failed *exec.ExitError
		if err := ts.Exec(name, line...); errors.As(err, &failed) {
			status[i] = failed.ExitCode()
		} else {
			ts.Check(err)
		}
		said[i] = ts.ReadFile("stderr")
	}
	said[0] = strings.ReplaceAll(strings.ReplaceAll(said[0], "garner: ", "garner-beam: "), `"garner `, `"garner-beam `)
	if status[0] == 0 || status[0] != status[1] || said[0] != said[1] {
		ts.Fatalf("garner exits %d, %q; garner-beam exits %d, %q", status[0], said[0], status[1], said[1])
	}
	if !regexp.MustCompile(args[0]).MatchString(said[1]) {
		ts.Fatalf("%q; want %s", said[1], args[0])
	}
	if _, err := os.Stat(ts.MkAbs(args[len(args)-1])); err == nil {
		ts.Fatalf("garner-beam refused, and made %s", args[len(args)-1])
	}
}

// ended asks for the job of an engine whose id is in a file until it has ended. Until then
// the exit status is 3.
//
//	ended FILE
func ended(ts *testscript.TestScript, _ bool, args []string) {
	ts.Check(waited(ts, args[0]))
}

// waited returns the error of status for the job whose id is in a file, once it has ended.
func waited(ts *testscript.TestScript, file string) error {
	id := strings.TrimSpace(ts.ReadFile(file))
	for until := time.Now().Add(time.Minute); ; time.Sleep(100 * time.Millisecond) {
		err := ts.Exec("garner-beam", "status", id, "--endpoint", ts.Getenv("ENGINE"))
		if !exited(err, statusRunning) || time.Now().After(until) {
			return err
		}
	}
}

// exited reports whether a command has ended with a status.
func exited(err error, status int) bool {
	var exit *exec.ExitError
	return errors.As(err, &exit) && exit.ExitCode() == status
}

// TestImage runs the entry point of the Dockerfile as an engine does, where none answers.
func TestImage(t *testing.T) {
	text, err := os.ReadFile("../../Dockerfile")
	if err != nil {
		t.Fatal(err)
	}
	var entry []string
	for line := range strings.Lines(string(text)) {
		if args, ok := strings.CutPrefix(line, "ENTRYPOINT "); ok {
			if err := json.Unmarshal([]byte(args), &entry); err != nil {
				t.Fatal(err)
			}
		}
	}
	if len(entry) == 0 || entry[0] != "/garner-beam" {
		t.Fatalf("the entry point is %q", entry)
	}
	// A server that is no engine answers at once.
	listener, err := net.Listen("tcp", "localhost:0")
	if err != nil {
		t.Fatal(err)
	}
	server := grpc.NewServer()
	defer server.Stop()
	go server.Serve(listener)
	at := listener.Addr().String()
	cmd := exec.Command("garner-beam", append(entry[1:], "--id=1-1", "--logging_endpoint=l:1", "--artifact_endpoint=a:1", "--control_endpoint=c:1", "--provision_endpoint="+at)...)
	out, err := cmd.CombinedOutput()
	var failed *exec.ExitError
	if want := "garner-beam: worker 1-1: provision service " + at + ": "; !errors.As(err, &failed) || failed.ExitCode() != 1 || !strings.HasPrefix(string(out), want) {
		t.Errorf("a worker without an engine: %v, %s; want status 1, %s", err, out, want)
	}
}
