// Command gendocs writes docs/operators.md and its pictures: the examples of
// the operators' specifications, each with data, indices, the result and a
// picture of which cell goes where. It also writes docs/lint.md: the rules of
// package lint; and docs/answers.md: calls that frameworks answer differently.
//
//	go generate ./internal/gendocs
package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/garner-go/garner"
	"github.com/garner-go/garner/internal/explain"
	"github.com/garner-go/garner/internal/literal"
	"github.com/garner-go/garner/operators"
)

//go:generate go run . ../../docs

func main() {
	if len(os.Args) != 2 {
		fmt.Fprintln(os.Stderr, "garner: gendocs takes the folder of the documents, docs")
		os.Exit(2)
	}
	if err := write(os.Args[1]); err != nil {
		fmt.Fprintln(os.Stderr, "garner: "+strings.TrimPrefix(err.Error(), "garner: "))
		os.Exit(1)
	}
}

// write writes the documents into a folder. It removes pictures of examples
// that no longer exist.
func write(folder string) error {
	files, err := documents()
	if err != nil {
		return err
	}
	// The folder itself has to be there: a word that is none would become one.
	if err := os.Mkdir(filepath.Join(folder, "pictures"), 0o777); err != nil && !errors.Is(err, fs.ErrExist) {
		return err
	}
	old, err := filepath.Glob(filepath.Join(folder, "pictures", "*.svg"))
	if err != nil {
		return err
	}
	for _, name := range old {
		if _, ok := files["pictures/"+filepath.Base(name)]; !ok {
			if err := os.Remove(name); err != nil {
				return err
			}
		}
	}
	for name, content := range files {
		if err := os.WriteFile(filepath.Join(folder, filepath.FromSlash(name)), content, 0o666); err != nil {
			return err
		}
	}
	return nil
}

const head = `# The operators' own examples

The examples of the specifications of these operators, each with its data, its indices, garner's result, and a picture of which cell goes
where. A cell of the result has the colour of the row of data that it comes from. Dashed frames are batches, thick frames are index tuples.

"go generate ./internal/gendocs" writes this page, and a test holds that it is up to date. "garner explain ... -o plan.svg" draws the same
pictures. "garner ops" lists all operators; [rules.md](rules.md) has what each accepts and refuses.
`

// documents returns all files by their name in the folder.
func documents() (map[string][]byte, error) {
	files := map[string][]byte{}
	var page bytes.Buffer
	page.WriteString(head)
	for _, s := range sections {
		o, err := operators.Find(s.operator, 0)
		if err != nil {
			return nil, err
		}
		fmt.Fprintf(&page, "\n## %s\n\n<%s>\n\nResult: `%s`.\n", o.Name, o.Spec, o.Shape)
		if s.about != "" {
			fmt.Fprintf(&page, "%s\n", s.about)
		}
		for i, e := range s.examples {
			name := fmt.Sprintf("%s-%d.svg", strings.ReplaceAll(strings.ToLower(o.Name), ".", "-"), i+1)
			text, picture, err := e.document(o, name)
			if err != nil {
				return nil, fmt.Errorf("%s, %s: %w", o.Name, e.title, err)
			}
			page.WriteString(text)
			files["pictures/"+name] = picture
		}
	}
	files["operators.md"] = page.Bytes()
	files["lint.md"] = lintPage()
	var err error
	files["answers.md"], err = answersPage()
	return files, err
}

// document returns an example as a part of the page, and its picture.
func (e example) document(o operators.Operator, name string) (text string, picture []byte, err error) {
	numbers := map[string]any{}
	var given, flags []string
	for _, n := range e.numbers {
		numbers[n.name] = n.value
		given = append(given, fmt.Sprintf("%s=%d", n.name, n.value))
		flags = append(flags, fmt.Sprintf(" --%s %d", strings.ReplaceAll(n.name, "_", "-"), n.value))
	}
	op, err := o.New(numbers)
	if err != nil {
		return "", nil, err
	}
	if e.zero {
		op = garner.WithOutside(op, garner.Zero)
		flags = append(flags, " --outside zero")
	}
	data, err := literal.Parse(e.data, garner.Invalid)
	if err != nil {
		return "", nil, err
	}
	indices, err := literal.Parse(e.indices, garner.Invalid)
	if err != nil {
		return "", nil, err
	}
	further := make([]garner.Tensor, len(o.Further()))
	for _, operand := range e.operands {
		if further[slices.Index(o.Further(), operand.name)], err = literal.Parse(operand.text, garner.Invalid); err != nil {
			return "", nil, err
		}
		flags = append(flags, fmt.Sprintf(" --operand '%s=%s'", operand.name, operand.text))
	}
	result := ""
	out, err := garner.Gather(op, data, indices, further...)
	switch {
	case err == nil && !e.fails:
		result = "result  " + out.Text()
	case err != nil && e.fails:
		result = err.Error()
	default:
		return "", nil, fmt.Errorf("it ends with %v", err)
	}
	explained, err := explain.New(context.Background(), explain.Subject{Name: o.Name, Attributes: given, Op: op, Data: data, Indices: indices, Further: further})
	if err != nil {
		return "", nil, err
	}
	if picture, err = explained.SVG(); err != nil {
		return "", nil, err
	}
	var b strings.Builder
	fmt.Fprintf(&b, "\n### %s\n\n```\n", e.title)
	fmt.Fprintf(&b, "garner %s '%s' '%s' --as %s%s\n\n", o.Kind, e.data, e.indices, o.Name, strings.Join(flags, ""))
	fmt.Fprintf(&b, "data    %s\nindices %s\n%s\n```\n\n![%s: %s](pictures/%s)\n", data.Text(), indices.Text(), result, o.Name, e.title, name)
	return b.String(), picture, nil
}
