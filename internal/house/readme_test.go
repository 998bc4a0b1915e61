package house

import (
	"bytes"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path"
	"path/filepath"
	"reflect"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/garner-go/garner"
	"github.com/garner-go/garner/internal/literal"
	"github.com/garner-go/garner/operators"
)

// dialects maps the package of each dialect to the framework's name in the
// README. garner's own operators (package strict) have no framework.
var dialects = map[string]string{
	"strict":     "",
	"openvino":   "OpenVINO",
	"onnx":       "ONNX",
	"tensorflow": "TensorFlow",
	"numpy":      "NumPy",
	"torch":      "PyTorch",
	"webnn":      "WebNN",
	"tflite":     "LiteRT",
	"stablehlo":  "StableHLO",
	"jax":        "JAX",
	"gguf":       "GGUF",
}

// TestDialects holds that each dialect is complete: its package, its operators,
// and its name in the README's first paragraph, in the changelog and in
// docs/newcomer.md.
func TestDialects(t *testing.T) {
	registered := map[string]bool{} // packages of the operators' types
	for _, op := range operators.All() {
		pkg := strings.TrimPrefix(reflect.TypeOf(op.Zero).PkgPath(), module+"/")
		registered[pkg] = true
		if _, ok := dialects[pkg]; !ok {
			t.Errorf("%s: its package %s is not in the list of dialects", op.Name, pkg)
		}
	}
	folders := map[string]bool{}
	for _, s := range sources(t) {
		if pkg := s.pkg(); !s.test() && pkg != "" && layer(pkg) == layer("dialects") && !slices.Contains(layers[layer("dialects")], pkg) {
			folders[pkg] = true
		}
	}
	_, intro, _ := strings.Cut(string(read(t, "README.md")), "\n\n")
	intro, _, _ = strings.Cut(intro, "\n\n")
	changes := string(read(t, "CHANGELOG.md"))
	places := places(t)
	for pkg := range folders {
		if _, ok := dialects[pkg]; !ok {
			t.Errorf("package %s is neither a dialect in this list nor in layers", pkg)
		}
	}
	for pkg, framework := range dialects {
		if !folders[pkg] {
			t.Errorf("the dialect %s has no package", pkg)
		}
		if !registered[pkg] {
			t.Errorf("the dialect %s has no operator in the list of operators", pkg)
		}
		if !slices.Contains(places, pkg) {
			t.Errorf("docs/newcomer.md: the table of places lacks %s", pkg)
		}
		if framework == "" {
			continue
		}
		word := regexp.MustCompile(`\b` + regexp.QuoteMeta(framework) + `\b`)
		if !word.MatchString(intro) {
			t.Errorf("README.md: the first paragraph lacks %s", framework)
		}
		if !word.MatchString(changes) {
			t.Errorf("CHANGELOG.md lacks %s", framework)
		}
	}
}

// rows returns the cells of the table under a header row of a document.
func rows(t *testing.T, name, header string) [][]string {
	t.Helper()
	_, table, found := strings.Cut(string(read(t, name)), "\n"+header+"\n")
	if !found {
		t.Fatalf("%s has no table %q", name, header)
	}
	var list [][]string
	for line := range strings.SplitSeq(table, "\n") {
		if !strings.HasPrefix(line, "|") {
			break
		}
		if strings.HasPrefix(line, "|---") {
			continue
		}
		cells := strings.Split(strings.Trim(line, "|"), "|")
		for i, cell := range cells {
			cells[i] = strings.TrimSpace(cell)
		}
		list = append(list, cells)
	}
	if len(list) == 0 {
		t.Fatalf("%s: the table %q has no rows", name, header)
	}
	return list
}

// spelledOut returns the full names of the operators in a cell of the README's
// table: ".Gather-7" continues the dialect before it, and "-11" the operator
// before it.
func spelledOut(cell string) []string {
	var names []string
	for _, word := range strings.FieldsFunc(cell, func(r rune) bool { return r == ',' || r == ';' || r == ' ' }) {
		last := ""
		if len(names) > 0 {
			last = names[len(names)-1]
		}
		switch word[0] {
		case '.':
			word = last[:strings.LastIndexByte(last, '.')] + word
		case '-':
			word = last[:strings.LastIndexByte(last, '-')] + word
		}
		names = append(names, word)
	}
	return names
}

// TestReadmeOperators holds the README's table of operators: every operator is
// in exactly one row, and the cells of its row say what its plans do with a
// negative index and with an index outside.
func TestReadmeOperators(t *testing.T) {
	row := map[string][]string{}
	for _, cells := range rows(t, "README.md", "| operators | a negative index | an index outside |") {
		if len(cells) != 3 {
			t.Fatalf("README.md: the row %q has %d cells", cells, len(cells))
		}
		for _, name := range spelledOut(cells[0]) {
			if row[name] != nil {
				t.Errorf("README.md: the table of operators has %s twice", name)
			}
			row[name] = cells
		}
	}
	for _, op := range operators.All() {
		cells := row[op.Name]
		delete(row, op.Name)
		if cells == nil {
			t.Errorf("README.md: the table of operators lacks %s", op.Name)
			continue
		}
		negative, outside := policies(t, op)
		if cells[1] != negative || cells[2] != outside {
			t.Errorf("README.md: the row of %s says\n\t| %s | %s |\nits plans say\n\t| %s | %s |", op.Name, cells[1], cells[2], negative, outside)
		}
	}
	for name := range row {
		t.Errorf("README.md: the table of operators has %s, which is no operator", name)
	}
}

// policies returns the cells of an operator in the README's table, from the
// plans of its example: with its defaults, and with every word that one of its
// attributes takes.
func policies(t *testing.T, op operators.Operator) (negative, outside string) {
	t.Helper()
	n, o := policy(t, op, "", "")
	var negatives, outsides []string // that an attribute chooses
	for _, attribute := range op.Attributes() {
		var byNegative, byOutside []string // per word
		words := op.Values(attribute)
		for _, word := range words {
			n, o := policy(t, op, attribute, word)
			byNegative, byOutside = append(byNegative, n), append(byOutside, o)
		}
		negatives = append(negatives, byWord(t, n, attribute, words, byNegative)...)
		outsides = append(outsides, byWord(t, o, attribute, words, byOutside)...)
	}
	if negative = strings.Join(negatives, "; "); negative == "" {
		negative = n
	}
	if outside = strings.Join(outsides, "; "); outside == "" {
		outside = o
	}
	return negative, outside
}

// byWord returns the part of a policy's cell that an attribute chooses, the default
// word first; nothing if the attribute changes nothing.
func byWord(t *testing.T, otherwise, attribute string, words, policies []string) []string {
	var distinct []string
	of := map[string][]string{}
	for i, p := range policies {
		if of[p] == nil {
			distinct = append(distinct, p)
		}
		of[p] = append(of[p], words[i])
	}
	if len(distinct) < 2 {
		return nil
	}
	if policies[0] != otherwise {
		t.Errorf("%s: the first word of %s is not the default, as the README says", otherwise, attribute)
	}
	for i, p := range distinct {
		distinct[i] = fmt.Sprintf("%s (%s)", p, strings.Join(of[p], ", "))
	}
	return []string{fmt.Sprintf("by `%s`: %s", attribute, strings.Join(distinct, ", "))}
}

// policy returns, in the README's words, the policies of the plan of an
// operator's example, with one attribute set to a word.
func policy(t *testing.T, op operators.Operator, attribute, word string) (negative, outside string) {
	t.Helper()
	if !garner.TakesIndices(op.Zero) {
		return "no indices", "no indices"
	}
	command, _, _ := strings.Cut(op.Example, "   # ")
	args := strings.Fields(strings.ReplaceAll(command, "'", ""))
	values := map[string]any{}
	further := make([]garner.Tensor, len(op.Further()))
	for i := 2; i+1 < len(args); i += 2 {
		name, text := strings.ReplaceAll(strings.TrimPrefix(args[i], "--"), "-", "_"), args[i+1]
		if name == "attr" {
			name, text, _ = strings.Cut(text, "=")
		}
		if name == "operand" {
			name, text, _ = strings.Cut(text, "=")
			operand, err := literal.Parse(text, garner.Invalid)
			if err != nil {
				t.Fatalf("%s: its example: %v", op.Name, err)
			}
			further[slices.Index(op.Further(), name)] = operand
			continue
		}
		values[name] = text
		if n, err := strconv.ParseInt(text, 10, 64); err == nil {
			values[name] = n
		} else if strings.HasPrefix(text, "[") {
			var list []int64
			if err := json.Unmarshal([]byte(text), &list); err != nil {
				t.Fatalf("%s: its example has %s: %v", op.Name, text, err)
			}
			values[name] = list
		}
	}
	switch {
	case word == "true", word == "false":
		values[attribute] = word == "true"
	case attribute != "":
		values[attribute] = word
	}
	bound, err := op.New(values)
	if err != nil {
		t.Fatalf("%s with %v: %v", op.Name, values, err)
	}
	var specs [2]garner.Spec
	for i := range specs {
		operand, err := literal.Parse(args[i], garner.Invalid)
		if err != nil {
			t.Fatalf("%s: its example: %v", op.Name, err)
		}
		specs[i] = operand.Spec()
	}
	prepared, err := garner.Prepare(bound, specs[0], specs[1], garner.FurtherTensors(further...))
	if err != nil {
		t.Fatalf("%s with %v: %v", op.Name, values, err)
	}
	plan := prepared.Plan()
	window := slices.Contains(op.Attributes(), "slice_sizes")
	switch {
	case window && plan.Outside == garner.Clamp:
		outside = "the window moves inside"
	default:
		outside = map[garner.Outside]string{garner.Error: "error", garner.Zero: "zero", garner.Fill: "filled", garner.Clamp: "nearest", garner.Wrap: "modulo"}[plan.Outside]
	}
	switch {
	case plan.Bag != nil && plan.Bag.SkipNegative:
		negative = "is left out"
	case plan.Negative == garner.FromEnd:
		negative = "counts from the end"
	case plan.Outside == garner.Clamp && !window:
		negative = "0"
	case plan.Outside == garner.Clamp, plan.Outside == garner.Wrap:
		negative = outside
	default:
		negative = "is outside"
	}
	return negative, outside
}

// places returns the names in the first column of docs/newcomer.md's table of
// places: files of the root, and folders.
func places(t *testing.T) []string {
	t.Helper()
	var names []string
	for _, cells := range rows(t, "docs/newcomer.md", "| where | what |") {
		for _, m := range regexp.MustCompile("`([^`]+)`").FindAllStringSubmatch(cells[0], -1) {
			if slices.Contains(names, m[1]) {
				t.Errorf("docs/newcomer.md: the table of places has %s twice", m[1])
			}
			names = append(names, m[1])
		}
	}
	return names
}

// TestPlaces holds that docs/newcomer.md's table of places lists every file of
// the root package, every package of the module, and nothing else.
func TestPlaces(t *testing.T) {
	names := places(t)
	used := map[string]bool{}
	for _, s := range sources(t) {
		if s.test() {
			continue
		}
		place := s.name // of a file in the root
		if s.pkg() != "" {
			place = s.pkg()
			// A folder, or a folder with a star, covers the folders in it.
			for !slices.Contains(names, place) && !slices.Contains(names, place+"/*") && path.Dir(place) != "." {
				place = path.Dir(place)
			}
			if slices.Contains(names, place+"/*") {
				place += "/*"
			}
		}
		if !slices.Contains(names, place) && !used[place] {
			t.Errorf("docs/newcomer.md: the table of places lacks %s", s.name)
		}
		used[place] = true
	}
	for _, name := range names {
		if !used[name] {
			t.Errorf("docs/newcomer.md: the table of places has %s, where there is no Go file", name)
		}
	}
}

// TestReadmeSnippets compiles and vets the README's Go programs as packages of
// this module, with the imports that they show. It runs those that have a main
// function and holds what they print against their comment "// Output: ".
func TestReadmeSnippets(t *testing.T) {
	root, err := filepath.Abs("../..")
	if err != nil {
		t.Fatal(err)
	}
	parts := strings.Split(string(read(t, "README.md")), "```go\n")[1:]
	if len(parts) == 0 {
		t.Fatal("README.md has no Go program")
	}
	ran := 0
	for i, part := range parts {
		text, _, found := strings.Cut(part, "```\n")
		if !found {
			t.Fatalf("README.md: program %d does not end", i+1)
		}
		t.Run(fmt.Sprintf("program %d", i+1), func(t *testing.T) {
			if strings.Contains(text, module+"/internal/") {
				t.Error("the program imports an internal package, which no other module can")
			}
			// The overlay adds the program to the module without a file in the tree.
			dir := t.TempDir()
			file := filepath.Join(dir, "snippet.go")
			if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
				t.Fatal(err)
			}
			const pkg = "docs" // go vet wants a folder that exists; this one has no Go file
			overlay, err := json.Marshal(map[string]map[string]string{"Replace": {filepath.Join(root, filepath.FromSlash(pkg), "snippet.go"): file}})
			if err != nil {
				t.Fatal(err)
			}
			list := filepath.Join(dir, "overlay.json")
			if err := os.WriteFile(list, overlay, 0o600); err != nil {
				t.Fatal(err)
			}
			run := func(args ...string) []byte {
				t.Helper()
				cmd := exec.Command("go", append(args, "-overlay", list, "./"+pkg)...)
				cmd.Dir = root
				// For this machine, also where the test is another's under an emulator.
				cmd.Env = append(os.Environ(), "GOOS=", "GOARCH=")
				var stdout, stderr bytes.Buffer
				cmd.Stdout, cmd.Stderr = &stdout, &stderr
				if err := cmd.Run(); err != nil {
					t.Fatalf("go %s: %v\n%s%s", args[0], err, stderr.Bytes(), text)
				}
				return stdout.Bytes()
			}
			run("vet")
			if !strings.HasPrefix(text, "package main\n") {
				run("build")
				return
			}
			ran++
			_, want, found := strings.Cut(text, "// Output: ")
			if !found {
				t.Fatal(`the program has no comment "// Output: "`)
			}
			want, _, _ = strings.Cut(want, "\n")
			if got := strings.TrimSpace(string(run("run"))); got != want {
				t.Errorf("it prints %q, the README says %q", got, want)
			}
		})
	}
	if ran == 0 {
		t.Error("README.md has no Go program with a main function")
	}
}
