// Package corpus holds garner against recorded answers. It reads the cases of
// .jsonl corpora and of ONNX's test directories, runs them, and reports which
// pass.
//
// testdata/conformance/README.md describes the format of a corpus. Reading is
// strict: a field that is unknown, or given twice, fails its case, so that no
// request of a case is ignored.
package corpus

import (
	"bufio"
	"bytes"
	"fmt"
	"io"
	"io/fs"
	"iter"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/garner-go/garner"
)

// maxLine is the longest line of a corpus, in bytes. maxBytes is the largest
// tensor that a case describes without listing its elements, and the largest
// result that is held in memory; a larger one, up to maxResult, is compared in
// pieces. They bound what a hostile corpus makes the program allocate, and its
// time.
const (
	maxLine         = 64 << 20
	maxBytes        = 512 << 20
	maxResult int64 = 3 << 30
)

// A Status is the outcome of a case.
type Status string

// The statuses of a case. A case that is not understood fails. Only a case that
// is too large for a 32-bit machine is skipped.
const (
	Pass Status = "pass"
	Fail Status = "fail"
	Skip Status = "skip"
)

// A Result is the outcome of one case.
type Result struct {
	Name   string `json:"name"`
	Op     string `json:"op"`
	Status Status `json:"status"`
	Detail string `json:"detail"` // why it failed
}

// A Case is one recorded answer: an operator, its operands, and the result or
// the error. Text that is not understood is a Case too, whose Run fails.
type Case struct {
	Name   string // unique in its file
	Op     string // DIALECT.OPERATOR-VERSION
	Source string // its file or directory

	err        error // why it cannot run
	opset      int   // of ONNX, where Op has no version
	attributes map[string]any
	policy     policy
	inputs     []operand // data, indices and further inputs of the operator
	ir         *irModel  // the model that describes the case in OpenVINO IR; nil: none
	want       want
}

// policy overrides the operator's own policies.
type policy struct {
	negative *garner.Negative
	outside  *garner.Outside
}

// operand is an input: its spec, and its value where that is known.
type operand struct {
	spec  garner.Spec
	value func() (garner.Tensor, error) // nil: not known
}

// Load reads a corpus: one case per line, each a JSON object. It reads one line
// at a time. A line longer than 64 MiB, or that cannot be read, is a case that
// fails. Empty lines are skipped.
func Load(r io.Reader) iter.Seq[Case] { return load(r, "") }

func load(r io.Reader, source string) iter.Seq[Case] {
	return func(yield func(Case) bool) {
		b := bufio.NewReaderSize(r, 64<<10)
		seen := make(map[string]bool)
		for number := 1; ; number++ {
			line, long, err := readLine(b)
			text := bytes.TrimSpace(line)
			if err == io.EOF && len(text) == 0 && !long {
				return
			}
			c := Case{Source: source}
			switch {
			case err != nil && err != io.EOF:
				c.err = err
			case long:
				c.err = fmt.Errorf("the line is longer than %d bytes", maxLine)
			case len(text) == 0:
				continue
			default:
				c = parseLine(text)
				c.Source = source
				if c.err == nil && seen[c.Name] {
					c.err = fmt.Errorf("another case before it has the same name")
				}
				seen[c.Name] = true
			}
			if c.Name == "" {
				c.Name = fmt.Sprintf("line %d", number)
			}
			if !yield(c) || err != nil {
				return
			}
		}
	}
}

// readLine reads a line and keeps at most maxLine bytes of it.
func readLine(r *bufio.Reader) (line []byte, long bool, err error) {
	for {
		part, err := r.ReadSlice('\n')
		if !long && len(line)+len(part) > maxLine {
			long, line = true, nil
		}
		if !long {
			line = append(line, part...)
		}
		if err != bufio.ErrBufferFull {
			return line, long, err
		}
	}
}

// Open finds the cases of files and directories, at any depth: .jsonl corpora,
// and ONNX tests (a model.onnx beside test_data_set_N). A path that does not
// exist, or has no case, is an error. An error while reading is a case that
// fails.
func Open(paths ...string) (iter.Seq[Case], error) {
	var all []iter.Seq[Case]
	for _, path := range paths {
		found, err := find(path)
		if err != nil {
			return nil, err
		}
		all = append(all, found...)
	}
	return func(yield func(Case) bool) {
		for _, cases := range all {
			for c := range cases {
				if !yield(c) {
					return
				}
			}
		}
	}, nil
}

func find(path string) ([]iter.Seq[Case], error) {
	info, err := os.Stat(path)
	if err != nil {
		return nil, fmt.Errorf("garner: %w", err)
	}
	if !info.IsDir() {
		if !strings.HasSuffix(path, ".jsonl") {
			return nil, fmt.Errorf("garner: %s is no corpus; give a .jsonl file, or a directory of corpora or of ONNX tests", path)
		}
		if empty, err := blank(path); err != nil {
			return nil, fmt.Errorf("garner: %w", err)
		} else if empty {
			return nil, fmt.Errorf("garner: %s holds no case", path)
		}
		return []iter.Seq[Case]{file(path)}, nil
	}
	var found []iter.Seq[Case]
	// os.DirFS follows a link that the path itself is; WalkDir on the path
	// does not.
	err = fs.WalkDir(os.DirFS(path), ".", func(name string, entry fs.DirEntry, err error) error {
		at := filepath.Join(path, filepath.FromSlash(name))
		switch {
		case err != nil || entry.IsDir():
		case entry.Name() == modelFile:
			found = append(found, testDir(path, filepath.Dir(at)))
		case strings.HasSuffix(name, ".jsonl"):
			found = append(found, file(at))
		}
		return err
	})
	if err != nil {
		return nil, fmt.Errorf("garner: %w", err)
	}
	if len(found) == 0 {
		return nil, fmt.Errorf("garner: %s holds no case: neither a .jsonl file nor a directory with %s", path, modelFile)
	}
	return found, nil
}

// blank reports whether a file is only white space.
func blank(path string) (bool, error) {
	f, err := os.Open(path)
	if err != nil {
		return false, err
	}
	defer f.Close()
	b := bufio.NewReader(f)
	for {
		c, err := b.ReadByte()
		if err == io.EOF {
			return true, nil
		}
		if err != nil || !bytes.ContainsRune([]byte(" \t\r\n"), rune(c)) {
			return false, err
		}
	}
}

// file returns the cases of a corpus, which is open only while they are read.
func file(path string) iter.Seq[Case] {
	return func(yield func(Case) bool) {
		f, err := os.Open(path)
		if err != nil {
			yield(Case{Name: filepath.Base(path), Source: path, err: err})
			return
		}
		defer f.Close()
		load(f, path)(yield)
	}
}

// Dir finds every ONNX test below a directory: each test_data_set_N beside a
// model.onnx is a case, in the order of the names. A directory that does not
// exist or has no test is an error.
func Dir(path string) (iter.Seq[Case], error) {
	var dirs []string
	err := fs.WalkDir(os.DirFS(path), ".", func(name string, entry fs.DirEntry, err error) error {
		if err == nil && !entry.IsDir() && entry.Name() == modelFile {
			dirs = append(dirs, filepath.Join(path, filepath.Dir(filepath.FromSlash(name))))
		}
		return err
	})
	if err != nil {
		return nil, fmt.Errorf("garner: %w", err)
	}
	if len(dirs) == 0 {
		return nil, fmt.Errorf("garner: %s holds no ONNX test: no directory in it has a %s", path, modelFile)
	}
	slices.Sort(dirs)
	return func(yield func(Case) bool) {
		for _, dir := range dirs {
			for c := range testDir(path, dir) {
				if !yield(c) {
					return
				}
			}
		}
	}, nil
}
