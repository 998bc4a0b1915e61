package garner_test

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"

	"github.com/garner-go/garner/internal/corpus"
)

// TestConformance holds garner against every recorded answer in
// testdata/conformance, except those that testdata/disputed.txt refutes.
func TestConformance(t *testing.T) {
	files, err := filepath.Glob("testdata/conformance/*.jsonl")
	if err != nil {
		t.Fatal(err)
	}
	for _, family := range []string{"openvino", "openvino-ir", "onnx", "microsoft", "tensorflow", "numpy", "torch", "jax", "suites", "edges", "bags-openvino", "bags-tensorflow", "bags-torch", "quantised-gguf", "quantised-microsoft", "quantised-microsoftfp8", "quantised-openvino", "quantised-torch", "rounded-torch"} {
		if name := filepath.Join("testdata", "conformance", family+".jsonl"); !slices.Contains(files, name) {
			t.Errorf("%s is missing", name)
		}
	}
	text, err := os.ReadFile("testdata/disputed.txt")
	if err != nil {
		t.Fatal(err)
	}
	disputed, err := readDisputed(string(text))
	if err != nil {
		t.Fatal(err)
	}
	for _, file := range files {
		name := filepath.Base(file)
		known := disputed[name] // the subtests run when disputed is empty
		delete(disputed, name)
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			lines := readLines(t, file)
			if len(lines) == 0 {
				t.Fatal("the corpus holds no case")
			}
			ran := runLines(t, lines, known)
			if ran != len(lines) {
				t.Errorf("%d cases ran; the corpus has %d lines", ran, len(lines))
			}
		})
	}
	for name := range disputed {
		t.Errorf("testdata/disputed.txt names a corpus %s that is not there", name)
	}
}

// TestONNXDirectories holds garner against test directories in ONNX's own form.
func TestONNXDirectories(t *testing.T) {
	cases, err := corpus.Dir("testdata/onnx")
	if err != nil {
		t.Fatal(err)
	}
	models, err := filepath.Glob("testdata/onnx/*/model.onnx")
	if err != nil {
		t.Fatal(err)
	}
	ran := 0
	for c := range cases {
		ran++
		if r := c.Run(); r.Status != corpus.Pass {
			t.Errorf("%s (%s): %s", r.Name, r.Op, r.Detail)
		}
	}
	if ran < len(models) || len(models) == 0 {
		t.Errorf("%d cases ran; there are %d models", ran, len(models))
	}
}

func readLines(t *testing.T, file string) [][]byte {
	t.Helper()
	b, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	return bytes.Split(bytes.TrimSuffix(b, []byte("\n")), []byte("\n"))
}

// runLines runs the cases of a corpus on all cores and returns how many there
// were. A disputed case is run twice: with its recorded answer, which must fail,
// and with the one that garner gives.
func runLines(t *testing.T, lines [][]byte, disputed map[string]map[string]json.RawMessage) int {
	cases := make(chan corpus.Case)
	var workers sync.WaitGroup
	for range runtime.GOMAXPROCS(0) {
		workers.Go(func() {
			for c := range cases {
				r := c.Run()
				if disputed[r.Name] != nil {
					if r.Status != corpus.Fail {
						t.Errorf("%s (%s) is disputed, and passes as recorded", r.Name, r.Op)
					}
				} else if r.Status == corpus.Skip && strconv.IntSize == 32 {
					t.Logf("%s (%s) is skipped: %s", r.Name, r.Op, r.Detail)
				} else if r.Status != corpus.Pass {
					t.Errorf("%s (%s): %s", r.Name, r.Op, r.Detail)
				}
			}
		})
	}
	ran, found := 0, 0
	for c := range corpus.Load(bytes.NewReader(bytes.Join(lines, []byte("\n")))) {
		if answer := disputed[c.Name]; answer != nil {
			found++
			line, err := withAnswer(lines[ran], answer)
			if err != nil {
				t.Error(err)
			}
			for own := range corpus.Load(bytes.NewReader(line)) {
				if r := own.Run(); r.Status != corpus.Pass {
					t.Errorf("%s (%s) is disputed, and garner does not answer as said: %s", r.Name, r.Op, r.Detail)
				}
			}
		}
		ran++
		cases <- c
	}
	close(cases)
	workers.Wait()
	if found != len(disputed) {
		t.Errorf("%d of the %d disputed cases are in the corpus", found, len(disputed))
	}
	return ran
}

// withAnswer is a corpus line with another answer in place of the recorded one.
func withAnswer(line []byte, answer map[string]json.RawMessage) ([]byte, error) {
	var fields map[string]json.RawMessage
	if err := json.Unmarshal(line, &fields); err != nil {
		return nil, err
	}
	for _, name := range []string{"outputs", "error", "output_shape"} {
		delete(fields, name)
	}
	maps.Copy(fields, answer)
	return json.Marshal(fields)
}

// readDisputed reads the lines FILE NAME | evidence | answer: by file and case,
// the fields of the answer.
func readDisputed(text string) (map[string]map[string]map[string]json.RawMessage, error) {
	all := make(map[string]map[string]map[string]json.RawMessage)
	lines := bufio.NewScanner(strings.NewReader(text))
	for number := 1; lines.Scan(); number++ {
		line := strings.TrimSpace(lines.Text())
		if line == "" || strings.HasPrefix(line, "#") {
			continue
		}
		parts := strings.SplitN(line, " | ", 3)
		if len(parts) != 3 || strings.TrimSpace(parts[1]) == "" {
			return nil, fmt.Errorf("line %d is no FILE NAME | evidence | answer", number)
		}
		file, name, ok := strings.Cut(parts[0], " ")
		if !ok {
			return nil, fmt.Errorf("line %d names no case", number)
		}
		var answer map[string]json.RawMessage
		if err := json.Unmarshal([]byte(parts[2]), &answer); err != nil {
			return nil, fmt.Errorf("line %d: %w", number, err)
		}
		if len(answer) == 0 {
			return nil, fmt.Errorf("line %d has no answer", number)
		}
		if all[file] == nil {
			all[file] = make(map[string]map[string]json.RawMessage)
		}
		all[file][name] = answer
	}
	return all, errors.Join(lines.Err())
}

// TestDisputed disputes a case that is wrong, and sees its line accepted.
func TestDisputed(t *testing.T) {
	disputed, err := readDisputed(`
# a comment
made-up.jsonl wrong | 2 is the third element of 5, 4, 2 | {"outputs":[{"dtype":"i64","shape":[],"values":[2]}]}
`)
	if err != nil {
		t.Fatal(err)
	}
	lines := [][]byte{
		[]byte(`{"name":"wrong","op":"onnx.Gather-13","inputs":[{"dtype":"i64","shape":[3],"values":[5,4,2]},{"dtype":"i64","shape":[],"values":[2]}],"outputs":[{"dtype":"i64","shape":[],"values":[3]}]}`),
		[]byte(`{"name":"right","op":"onnx.Gather-13","inputs":[{"dtype":"i64","shape":[3],"values":[5,4,2]},{"dtype":"i64","shape":[],"values":[3]}],"error":"index-out-of-range"}`),
	}
	if n := runLines(t, lines, disputed["made-up.jsonl"]); n != 2 {
		t.Errorf("%d cases ran; want 2", n)
	}
	for _, bad := range []string{"a.jsonl b", "a.jsonl b | c | d", "a.jsonl | c | {}", "a.jsonl b | | {\"error\":\"dtype\"}", "a.jsonl b | c | {}"} {
		if _, err := readDisputed(bad); err == nil {
			t.Errorf("%q is accepted", bad)
		}
	}
}
