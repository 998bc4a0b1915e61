package main

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"log"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"testing"

	"github.com/garner-go/garner"
	"github.com/garner-go/garner/format/npy"
	"github.com/garner-go/garner/format/npz"
	"github.com/garner-go/garner/format/safetensors"
	"github.com/garner-go/garner/internal/literal"
	"github.com/rogpeppe/go-internal/testscript"
	"github.com/spf13/cobra"
)

// raceOptions removes the race detector's delay of a second at the end of each
// command.
const raceOptions = "atexit_sleep_ms=0"

func TestMain(m *testing.M) {
	os.Setenv("GORACE", raceOptions)
	testscript.Main(tests{m}, map[string]func(){"garner": main})
}

// tests runs all tests with a garner in PATH that runs.
type tests struct{ *testing.M }

// Run runs the tests. Under an emulator (go test -exec qemu-aarch64) the system
// cannot start the command itself, so garner is a script that starts it under
// the same emulator.
func (t tests) Run() int {
	garner, err := exec.LookPath("garner")
	if err != nil {
		log.Fatal(err)
	}
	err = exec.Command(garner, "--version").Run()
	if errors.Is(err, syscall.ENOEXEC) {
		err = underEmulator(garner)
	}
	if err != nil {
		log.Fatalf("the tests' own garner does not run: %v", err)
	}
	return t.M.Run()
}

// emulated is true if garner runs under an emulator.
var emulated bool

func underEmulator(garner string) error {
	emulated = true
	emulator, err := exec.LookPath(map[string]string{"arm64": "qemu-aarch64", "386": "qemu-i386", "amd64": "qemu-x86_64"}[runtime.GOARCH])
	if err != nil {
		return err
	}
	dir := filepath.Join(filepath.Dir(garner), "emulated")
	if err := os.Mkdir(dir, 0o777); err != nil {
		return err
	}
	script := fmt.Sprintf("#!/bin/sh\nexec %q %q \"$@\"\n", emulator, garner)
	if err := os.WriteFile(filepath.Join(dir, "garner"), []byte(script), 0o777); err != nil {
		return err
	}
	return os.Setenv("PATH", dir+string(filepath.ListSeparator)+os.Getenv("PATH"))
}

// TestScripts runs every script of testdata/script with the real command.
func TestScripts(t *testing.T) {
	testscript.Run(t, testscript.Params{
		Dir:                 "testdata/script",
		RequireExplicitExec: true,
		RequireUniqueNames:  true,
		Setup: func(env *testscript.Env) error {
			env.Setenv("GORACE", raceOptions)
			repository, err := filepath.Abs("../..")
			env.Setenv("REPOSITORY", repository)
			return err
		},
		Condition: func(name string) (bool, error) {
			if name == "root" {
				return os.Geteuid() == 0, nil // whom no permission stops
			}
			return false, fmt.Errorf("no condition %s", name)
		},
		Cmds: map[string]func(*testscript.TestScript, bool, []string){
			"exits":          exits,
			"link":           link,
			"npy":            makeNpy,
			"npyis":          npyIs,
			"npz":            makeNpz,
			"rawnpy":         rawNpy,
			"safetensors":    makeSafetensors,
			"rawsafetensors": rawSafetensors,
		},
	})
}

// exits runs "garner ARGS..." and compares its exit status with the first
// argument. If the status is not 0, it also holds the rules of every refusal:
// one message, no stack trace, no new file, and no change to the file with the
// output's name.
//
//	exits STATUS ARGS...
func exits(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) == 0 {
		ts.Fatalf("usage: exits STATUS ARGS...")
	}
	want, err := strconv.Atoi(args[0])
	ts.Check(err)
	args = args[1:]
	var output string
	if i := slices.Index(args, "-o"); i >= 0 && i+1 < len(args) && args[i+1] != "-" {
		output = ts.MkAbs(args[i+1])
	}
	before := standing(output)

	got := 0
	var failed *exec.ExitError
	if err := ts.Exec("garner", args...); errors.As(err, &failed) {
		got = failed.ExitCode()
	} else {
		ts.Check(err)
	}
	message := ts.ReadFile("stderr")
	if got != want {
		ts.Fatalf("garner exits %d; want %d", got, want)
	}
	texts := message
	if len(args) > 0 && slices.Contains([]string{"info", "model", "lint", "run", "convert"}, args[0]) { // notes and findings
		texts += ts.ReadFile("stdout")
	}
	if flags := foreignFlags(args, texts); len(flags) > 0 {
		ts.Fatalf("it names %v, which the command does not take", flags)
	}
	if left, _ := filepath.Glob(ts.MkAbs(".garner-*")); len(left) > 0 {
		ts.Fatalf("garner left %v", left)
	}
	if want == 0 {
		return
	}
	if err := refusal(message); err != nil {
		ts.Fatalf("%v", err)
	}
	if after := standing(output); after != before {
		ts.Fatalf("garner refused, and yet %s changed: %q became %q", output, before, after)
	}
}

// namedFlag matches a flag in a text, and calledCommand the command that a text says to run.
var (
	namedFlag     = regexp.MustCompile(`(?:^|[ ("])--([a-z][a-z-]*)`)
	calledCommand = regexp.MustCompile("garner ([a-z]+)")
)

// foreignFlags lists the flags that a message names and that neither the command of args has, nor
// args, nor a command that the message names.
func foreignFlags(args []string, message string) (foreign []string) {
	root := newProgram(strings.NewReader(""), io.Discard, io.Discard).command()
	commands := []*cobra.Command{root}
	if cmd, _, err := root.Find(args); err == nil {
		commands = append(commands, cmd)
	}
	for _, m := range calledCommand.FindAllStringSubmatch(message, -1) {
		if cmd, _, err := root.Find(m[1:]); err == nil && m[1] != "help" {
			commands = append(commands, cmd)
		}
	}
	for _, m := range namedFlag.FindAllStringSubmatch(message, -1) {
		name := m[1]
		has := slices.ContainsFunc(commands, func(cmd *cobra.Command) bool {
			return cmd.Flags().Lookup(name) != nil || cmd.InheritedFlags().Lookup(name) != nil
		})
		given := slices.ContainsFunc(args, func(arg string) bool { return arg == "--"+name || strings.HasPrefix(arg, "--"+name+"=") })
		if !has && !given && name != "help" && name != "version" {
			foreign = append(foreign, m[0])
		}
	}
	return append(foreign, ofLibrary.FindAllString(message, -1)...)
}

// ofLibrary matches what an option is in Go, which the command has by another name.
var ofLibrary = regexp.MustCompile(`Options\.[A-Z]\w*|\bset [A-Z]\w* to\b`)

// refusal returns an error if a message on standard error has the wrong form.
func refusal(message string) error {
	switch {
	case !strings.HasPrefix(message, "garner: "):
		return fmt.Errorf("the message does not begin with \"garner: \": %q", message)
	case strings.Count(message, "garner: ") > 1:
		return fmt.Errorf("the message says \"garner: \" more than once: %q", message)
	case strings.Contains(message, "goroutine ") || strings.Contains(message, "panic"):
		return fmt.Errorf("a trace of the stack: %q", message)
	case strings.Count(message, "\n") > 2:
		return fmt.Errorf("the message has more than two lines: %q", message)
	}
	return nil
}

// standing returns the mode and the contents of the file with a name.
func standing(path string) string {
	info, err := os.Lstat(path)
	if err != nil {
		return "nothing"
	}
	b, err := os.ReadFile(path)
	if err != nil {
		return info.Mode().String()
	}
	return info.Mode().String() + " " + string(b)
}

// makeNpy makes an npy file of a literal.
//
//	npy FILE LITERAL [DTYPE]
func makeNpy(ts *testscript.TestScript, _ bool, args []string) {
	t := parse(ts, args[1:])
	var b bytes.Buffer
	ts.Check(npy.Write(&b, t))
	ts.Check(os.WriteFile(ts.MkAbs(args[0]), b.Bytes(), 0o666))
}

// link makes another name of a file.
//
//	link NEW OLD
func link(ts *testscript.TestScript, _ bool, args []string) {
	ts.Check(os.Link(ts.MkAbs(args[1]), ts.MkAbs(args[0])))
}

func parse(ts *testscript.TestScript, args []string) garner.Tensor {
	dtype := garner.Invalid
	if len(args) > 1 {
		var err error
		dtype, err = garner.ParseDType(args[1])
		ts.Check(err)
	}
	t, err := literal.Parse(args[0], dtype)
	ts.Check(err)
	return t
}

// npyIs holds an npy file against a literal: dtype, shape and values. FILE may
// be stdout.
//
//	npyis FILE LITERAL [DTYPE]
func npyIs(ts *testscript.TestScript, _ bool, args []string) {
	want := parse(ts, args[1:])
	got, err := npy.Read(strings.NewReader(ts.ReadFile(args[0])), npy.Options{})
	if want.DType().Packed() || err != nil {
		got, err = npy.Read(strings.NewReader(ts.ReadFile(args[0])), npy.Options{DType: want.DType()})
	}
	ts.Check(err)
	if got.DType() != want.DType() || !got.Shape().Equal(want.Shape()) || got.Text() != want.Text() {
		ts.Fatalf("%s holds %s; want %s", args[0], got, want)
	}
}

// rawNpy makes an npy file from the text of its header and a number of zero
// bytes.
//
//	rawnpy FILE HEADER BYTES
func rawNpy(ts *testscript.TestScript, _ bool, args []string) {
	b := append([]byte("\x93NUMPY\x01\x00"), 0, 0)
	header := args[1] + "\n"
	binary.LittleEndian.PutUint16(b[8:], uint16(len(header)))
	writeSparse(ts, args[0], append(b, header...), args[2])
}

// rawSafetensors makes a safetensors file from the text of its header and a
// number of zero bytes. LENGTH is the header length that the file declares;
// "right" for the true length.
//
//	rawsafetensors FILE LENGTH HEADER BYTES
func rawSafetensors(ts *testscript.TestScript, _ bool, args []string) {
	n := uint64(len(args[2]))
	if args[1] != "right" {
		var err error
		n, err = strconv.ParseUint(args[1], 0, 64)
		ts.Check(err)
	}
	writeSparse(ts, args[0], append(binary.LittleEndian.AppendUint64(nil, n), args[2]...), args[3])
}

func writeSparse(ts *testscript.TestScript, name string, head []byte, zeros string) {
	n, err := strconv.ParseInt(zeros, 0, 64)
	ts.Check(err)
	path := ts.MkAbs(name)
	ts.Check(os.WriteFile(path, head, 0o666))
	ts.Check(os.Truncate(path, int64(len(head))+n))
}

// makeNpz makes an npz file of literals.
//
//	npz FILE NAME=LITERAL...
func makeNpz(ts *testscript.TestScript, _ bool, args []string) {
	var arrays []npz.Named
	for _, a := range args[1:] {
		name, text, _ := strings.Cut(a, "=")
		arrays = append(arrays, npz.Named{Name: name, Tensor: parse(ts, []string{text})})
	}
	var b bytes.Buffer
	ts.Check(npz.Write(&b, arrays))
	ts.Check(os.WriteFile(ts.MkAbs(args[0]), b.Bytes(), 0o666))
}

// makeSafetensors makes a safetensors file of literals.
//
//	safetensors FILE NAME=LITERAL...
func makeSafetensors(ts *testscript.TestScript, _ bool, args []string) {
	var tensors []safetensors.Named
	for _, a := range args[1:] {
		name, text, _ := strings.Cut(a, "=")
		tensors = append(tensors, safetensors.Named{Name: name, Tensor: parse(ts, []string{text})})
	}
	var b bytes.Buffer
	ts.Check(safetensors.Write(&b, tensors, nil))
	ts.Check(os.WriteFile(ts.MkAbs(args[0]), b.Bytes(), 0o666))
}
