package house

import (
	"bytes"
	"encoding/json"
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"os"
	"os/exec"
	"path"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/garner-go/garner"
	"github.com/garner-go/garner/operators"
)

const module = "github.com/garner-go/garner"

// layers lists the packages from the bottom up. A package imports only packages
// of lower layers, so a dialect imports no other dialect and no executor.
var layers = [][]string{
	{"internal/guard", "internal/linuxtest", "internal/flattest"}, // flatbuffers, memory beside pages without access, terminals and mounts: for tests
	{"internal/float"}, // bits of narrow floats
	{"internal/kernel", "internal/pages", "internal/units"}, // bytes and numbers: nothing of tensors below this line
	{"internal/codec"},                       // stored blocks to floats: nothing of tensors
	{"internal/limits", "internal/terminal"}, // measured by both; terminals
	{"internal/exec"},                        // a nest of loops over memory: no operator, no tensor, no error text
	{""},                                     // package garner: the plan
	{"internal/convert"},                     // from one float dtype to another
	{"dialects", "gathertest", "internal/departures", "internal/explain", "internal/atomicfile", "internal/blocks", "internal/literal", "internal/mapped", "internal/names", "internal/ring"},
	{"internal/onnxedit", "internal/iredit"}, // the bytes of model files, changed
	{"source", "internal/jsonfile", "internal/resumable", "onnx/modelproto/internal/onnxpb", "tensorflow/graphdef/internal/tfpb"}, // arrays larger than memory, and the files that they are written to; what protoc made
	{"model"}, // nodes, values, constants
	{"internal/beside", "internal/protofile", "internal/trail", "tensorflow/graphdef/internal/bundle"}, // files beside a model, its messages, its checkpoint; from a value to its origin
	{"operators"},       // the only package that knows every dialect
	{"internal/shapes"}, // what the values of a model are
	{"openvino/ir", "onnx/modelproto", "stablehlo/text", "tensorflow/graphdef", "tflite/flatbuffer", "lint", "internal/run"}, // files of models; models judged and run
	{"convert", "lint/fix"}, // models written for another framework; models mended: what lint says, written as a file of its format
	{"format/layout"},       // what the file formats have in common
	{"format/npy", "format/raw", "format/safetensors", "format/shards", "format/text", "internal/ruletest"},
	{"format/gguf", "format/npz"}, // data as in raw files, members that are npy files
	{"files"},                     // the only package that knows every file format
	{"internal/play/recorded", "internal/play/code"}, // what runtimes answered, and calls as code
	{"internal/play", "internal/play/calls"},         // questions of a page, in JSON; calls to try
	{"internal/play/wasm", "docs/play"},              // garner for the page; the page
	{"internal/corpus", "internal/house"},
	{"internal/gendocs", "internal/genrecorded", "internal/gencalls", "internal/genplay"},
	{"internal/cmdline"}, // the command line of a gather, for any program
	{"cmd/garner", "bench/calls"},
}

// layer returns the index in layers of a package; -1 if layers does not list
// it. A package in the root folder that layers does not name is a dialect.
func layer(pkg string) int {
	if pkg != "" && !strings.Contains(pkg, "/") && !slices.Contains([]string{"gathertest", "source", "model", "operators", "files", "lint", "convert"}, pkg) {
		pkg = "dialects"
	}
	return slices.IndexFunc(layers, func(l []string) bool { return slices.Contains(l, pkg) })
}

// A source is one Go file of the module.
type source struct {
	name   string // from the root, with slashes
	text   []byte
	syntax *ast.File
	files  *token.FileSet
}

func (s source) pkg() string {
	if dir := path.Dir(s.name); dir != "." {
		return dir
	}
	return ""
}

func (s source) test() bool { return strings.HasSuffix(s.name, "_test.go") }

// tree returns the module's files: those that git tracks or would add; without
// git, all files.
func tree(t *testing.T) []string {
	t.Helper()
	var names []string
	if _, err := os.Stat("../../.git"); err == nil {
		git := exec.Command("git", "ls-files", "-z", "--cached", "--others", "--exclude-standard")
		git.Dir = "../.."
		out, err := git.Output()
		if err != nil {
			t.Fatal(err)
		}
		names = strings.Split(strings.TrimSuffix(string(out), "\x00"), "\x00")
	} else {
		root := os.DirFS("../..")
		err := fs.WalkDir(root, ".", func(name string, d fs.DirEntry, err error) error {
			if err == nil && d.Type().IsRegular() {
				names = append(names, name)
			}
			return err
		})
		if err != nil {
			t.Fatal(err)
		}
	}
	// Git still tracks a file whose deletion is not committed.
	names = slices.DeleteFunc(names, func(name string) bool {
		_, err := os.Stat(filepath.Join("../..", filepath.FromSlash(name)))
		return err != nil
	})
	if len(names) < 50 {
		t.Fatalf("only %d files found", len(names))
	}
	return names
}

// sources are the Go files of the module for every system, without nested
// modules and test data.
func sources(t *testing.T) []source {
	t.Helper()
	names := tree(t)
	var nested []string
	for _, name := range names {
		if path.Base(name) == "go.mod" && name != "go.mod" {
			nested = append(nested, path.Dir(name)+"/")
		}
	}
	var list []source
	for _, name := range names {
		if !strings.HasSuffix(name, ".go") || strings.Contains(name, "testdata/") ||
			slices.ContainsFunc(nested, func(dir string) bool { return strings.HasPrefix(name, dir) }) {
			continue
		}
		s := source{name: name, text: read(t, name), files: token.NewFileSet()}
		var err error
		if s.syntax, err = parser.ParseFile(s.files, name, s.text, parser.ParseComments|parser.SkipObjectResolution); err != nil {
			t.Fatal(err)
		}
		list = append(list, s)
	}
	return list
}

func read(t *testing.T, name string) []byte {
	t.Helper()
	text, err := os.ReadFile(filepath.Join("../..", filepath.FromSlash(name)))
	if err != nil {
		t.Fatal(err)
	}
	return text
}

func TestImportsPointDown(t *testing.T) {
	for _, s := range sources(t) {
		if s.test() {
			continue
		}
		from := layer(s.pkg())
		if from < 0 {
			t.Errorf("%s: package %s has no layer; give it one in internal/house", s.name, s.pkg())
			continue
		}
		for _, spec := range s.syntax.Imports {
			name := strings.Trim(spec.Path.Value, `"`)
			if name != module && !strings.HasPrefix(name, module+"/") {
				continue
			}
			to := strings.TrimPrefix(strings.TrimPrefix(name, module), "/")
			if layer(to) >= from {
				t.Errorf("%s imports %s, which is not below it", s.name, name)
			}
		}
	}
}

// TestLinks holds which packages no program links by accident: a package that
// judges or runs a model links no reader of model files and no file format, and
// a file format links no operator.
func TestLinks(t *testing.T) {
	imports := map[string][]string{} // by package, from the module
	for _, s := range sources(t) {
		if s.test() {
			continue
		}
		for _, spec := range s.syntax.Imports {
			if name := strings.Trim(spec.Path.Value, `"`); name == module || strings.HasPrefix(name, module+"/") {
				imports[s.pkg()] = append(imports[s.pkg()], strings.TrimPrefix(strings.TrimPrefix(name, module), "/"))
			}
		}
	}
	format := func(pkg string) bool { return strings.HasPrefix(pkg, "format/") }
	tested := 0
	for from := range imports {
		var refused func(pkg string) bool
		switch {
		case slices.Contains([]string{"model", "operators", "lint", "internal/run"}, from):
			refused = func(pkg string) bool {
				return format(pkg) || slices.Contains([]string{"onnx/modelproto", "openvino/ir", "stablehlo/text", "tflite/flatbuffer", "files"}, pkg)
			}
		case format(from):
			refused = func(pkg string) bool {
				return pkg == "operators" || layer(pkg) == layer("dialects") && !strings.Contains(pkg, "/") && pkg != "gathertest"
			}
		default:
			continue
		}
		tested++
		seen := map[string]bool{from: true}
		for left := []string{from}; len(left) > 0; {
			pkg := left[len(left)-1]
			left = left[:len(left)-1]
			if pkg != from && refused(pkg) {
				t.Errorf("%s links %s", from, pkg)
			}
			for _, to := range imports[pkg] {
				if !seen[to] {
					seen[to] = true
					left = append(left, to)
				}
			}
		}
	}
	if tested < 8 {
		t.Errorf("only %d packages were looked at", tested)
	}
}

// TestRootDependsOnLittle holds that the root package needs the standard
// library and golang.org/x/sys at most, itself and through what it imports.
func TestRootDependsOnLittle(t *testing.T) {
	for _, s := range sources(t) {
		if s.test() || layer(s.pkg()) > layer("") {
			continue
		}
		for _, spec := range s.syntax.Imports {
			name := strings.Trim(spec.Path.Value, `"`)
			first, _, _ := strings.Cut(name, "/")
			if strings.Contains(first, ".") && !strings.HasPrefix(name, module) && !strings.HasPrefix(name, "golang.org/x/sys/") {
				t.Errorf("%s imports %s", s.name, name)
			}
		}
	}
}

func TestPackagesHaveComments(t *testing.T) {
	comments := map[string]bool{}
	for _, s := range sources(t) {
		if s.test() {
			continue
		}
		want := "Package " + s.syntax.Name.Name + " "
		if s.syntax.Name.Name == "main" {
			want = "Command " + path.Base(s.pkg()) + " "
		}
		has := comments[s.pkg()]
		if doc := s.syntax.Doc.Text(); doc != "" {
			has = true
			if !strings.HasPrefix(doc, want) {
				t.Errorf("%s: the package comment begins %.30q, want %q", s.name, doc, want)
			}
		}
		comments[s.pkg()] = has
	}
	for pkg, has := range comments {
		if !has {
			t.Errorf("package %q has no comment", pkg)
		}
	}
}

func TestExportedNamesHaveComments(t *testing.T) {
	for _, s := range sources(t) {
		if s.test() || ast.IsGenerated(s.syntax) {
			continue
		}
		missing := func(name *ast.Ident) {
			t.Errorf("%v: %s has no comment", s.files.Position(name.Pos()), name.Name)
		}
		for _, decl := range s.syntax.Decls {
			switch d := decl.(type) {
			case *ast.FuncDecl:
				// The comment of the type describes its Error.
				if d.Name.IsExported() && d.Doc == nil && exportedReceiver(d) && d.Name.Name != "Error" {
					missing(d.Name)
				}
			case *ast.GenDecl:
				for _, spec := range d.Specs {
					switch spec := spec.(type) {
					case *ast.TypeSpec:
						if spec.Name.IsExported() && d.Doc == nil && spec.Doc == nil && spec.Comment == nil {
							missing(spec.Name)
						}
					case *ast.ValueSpec:
						for _, name := range spec.Names {
							if name.IsExported() && d.Doc == nil && spec.Doc == nil && spec.Comment == nil {
								missing(name)
							}
						}
					}
				}
			}
		}
	}
}

// exportedReceiver reports whether a function is not a method, or is a method
// of an exported type.
func exportedReceiver(d *ast.FuncDecl) bool {
	if d.Recv == nil {
		return true
	}
	for of := d.Recv.List[0].Type; ; {
		switch t := of.(type) {
		case *ast.StarExpr:
			of = t.X
		case *ast.IndexExpr:
			of = t.X
		case *ast.IndexListExpr:
			of = t.X
		case *ast.Ident:
			return t.IsExported()
		default:
			return true
		}
	}
}

// TestUnsafeStaysWhereItIs holds which files may use package unsafe.
func TestUnsafeStaysWhereItIs(t *testing.T) {
	for _, s := range sources(t) {
		if ast.IsGenerated(s.syntax) && strings.HasSuffix(s.name, ".pb.go") {
			continue // protoc-gen-go keeps a descriptor in a string, and reads it as bytes
		}
		if s.name == "tensor.go" || s.name == "overlap.go" || s.name == "tensor_test.go" || s.pkg() == "internal/kernel" || s.pkg() == "internal/mapped" ||
			s.pkg() == "internal/ring" { // the kernel and the program share memory there
			continue
		}
		for _, spec := range s.syntax.Imports {
			if spec.Path.Value == `"unsafe"` {
				t.Errorf("%s imports unsafe", s.name)
			}
		}
	}
}

// TestNothingOfThisMachine holds that no file contains a path of its author's
// machine.
func TestNothingOfThisMachine(t *testing.T) {
	// Each pattern is written so that it does not match this file.
	paths := regexp.MustCompile(`(?:^|[^A-Za-z0-9_.])/(?:work|root|home)/`)
	beside := regexp.MustCompile(`(?:^|[^A-Za-z0-9_-])share[d]/`)
	for _, name := range tree(t) {
		text := read(t, name)
		if bytes.IndexByte(text, 0) >= 0 || name == "go.sum" {
			continue
		}
		for i, line := range bytes.Split(text, []byte("\n")) {
			if paths.Match(line) {
				t.Errorf("%s:%d names a path of one machine", name, i+1)
			}
			if name != ".ci/run" && beside.Match(line) {
				t.Errorf("%s:%d names a folder that is not in this tree", name, i+1)
			}
		}
	}
}

var (
	ruleLine = regexp.MustCompile(`(?m)^- \*\*([A-Za-z]+[0-9]*\.[0-9]+)\*\* `)
	ruleID   = regexp.MustCompile(`\b[A-Z][A-Za-z]{0,2}[0-9]?\.[0-9]+\b`)
)

// rules returns the rule numbers in docs/rules.md.
func rules(t *testing.T) map[string]bool {
	t.Helper()
	numbers := map[string]bool{}
	for _, m := range ruleLine.FindAllStringSubmatch(string(read(t, "docs/rules.md")), -1) {
		if numbers[m[1]] {
			t.Errorf("docs/rules.md has %s twice", m[1])
		}
		if !ruleID.MatchString(m[1]) {
			t.Errorf("docs/rules.md: %s is not of the form that the tests look for", m[1])
		}
		numbers[m[1]] = true
	}
	if len(numbers) < 100 {
		t.Fatalf("docs/rules.md has only %d rules", len(numbers))
	}
	return numbers
}

// TestRulesAreHeld holds that the code and a test name every numbered rule, and
// that the code names no other.
func TestRulesAreHeld(t *testing.T) {
	numbers := rules(t)
	families := map[string]bool{}
	for id := range numbers {
		family, _, _ := strings.Cut(id, ".")
		families[family] = true
	}
	code, tests := map[string]bool{}, map[string]bool{}
	for _, s := range sources(t) {
		if s.pkg() == "internal/house" {
			continue
		}
		if s.test() {
			for _, id := range ruleID.FindAllString(string(s.text), -1) {
				tests[id] = true
			}
			continue
		}
		for _, group := range s.syntax.Comments {
			for _, comment := range group.List {
				// A comment that begins with a rule's number refers to that rule.
				text := strings.TrimSpace(strings.TrimPrefix(comment.Text, "//"))
				for _, at := range ruleID.FindAllStringIndex(text, -1) {
					id := text[at[0]:at[1]]
					family, _, _ := strings.Cut(id, ".")
					if numbers[id] {
						code[id] = true
					} else if at[0] == 0 || families[family] {
						t.Errorf("%v: docs/rules.md has no rule %s", s.files.Position(comment.Pos()), id)
					}
				}
			}
		}
	}
	for _, name := range tree(t) {
		if strings.HasSuffix(name, ".txtar") {
			for _, id := range ruleID.FindAllString(string(read(t, name)), -1) {
				tests[id] = true
			}
		}
	}
	for id := range numbers {
		if !code[id] {
			t.Errorf("%s is not named in the code", id)
		}
		if !tests[id] {
			t.Errorf("%s is not named in a test", id)
		}
	}
}

// TestOperatorsAreDocumented holds that every operator has a section in
// docs/rules.md, with its specification's address.
func TestOperatorsAreDocumented(t *testing.T) {
	sections := map[string]string{} // by operator
	for _, section := range strings.Split(string(read(t, "docs/rules.md")), "\n## ")[1:] {
		head, body, _ := strings.Cut(section, "\n")
		for name := range strings.SplitSeq(head, ", ") {
			sections[name] = body
		}
	}
	for _, op := range operators.All() {
		if op.Spec == "" {
			t.Errorf("%s has no specification", op.Name)
			continue
		}
		switch body, ok := sections[op.Name]; {
		case !ok:
			t.Errorf("%s has no section in docs/rules.md", op.Name)
		case !strings.Contains(body, "<"+op.Spec+">"):
			t.Errorf("%s: its section does not name %s", op.Name, op.Spec)
		case !ruleLine.MatchString(body):
			t.Errorf("%s: its section has no rule", op.Name)
		}
	}
}

// TestReadmeCounts holds the README's number of element types. The README gives
// no number of operators, so a new operator need not change it.
func TestReadmeCounts(t *testing.T) {
	if want := fmt.Sprintf("%d types", len(garner.DTypes())); !strings.Contains(string(read(t, "README.md")), want) {
		t.Errorf("README.md does not say %q", want)
	}
}

// TestOperatorsHaveARival holds that bench/rival.py has a definition of every operator,
// without which it ends at once.
func TestOperatorsHaveARival(t *testing.T) {
	defined := append(read(t, "bench/rival_cases.py"), read(t, "bench/rival_computed.py")...)
	for _, op := range operators.All() {
		if !bytes.Contains(defined, []byte(`"`+op.Name+`"`)) {
			t.Errorf("no file bench/rival_*.py defines %s", op.Name)
		}
	}
}

// TestOperatorsAreRecorded holds that testdata/conformance has a recorded
// answer of the framework for each of its operators. garner's own operators
// have no framework.
func TestOperatorsAreRecorded(t *testing.T) {
	recorded := map[string]int{}
	for _, name := range tree(t) {
		if path.Dir(name) != "testdata/conformance" || path.Ext(name) != ".jsonl" {
			continue
		}
		for line := range bytes.Lines(read(t, name)) {
			var c struct {
				Op    string
				Opset int
			}
			if err := json.Unmarshal(line, &c); err != nil {
				t.Fatalf("%s: %v", name, err)
			}
			if op, err := operators.Find(c.Op, c.Opset); err == nil {
				recorded[op.Name]++
			}
		}
	}
	for _, op := range operators.All() {
		if !strings.HasPrefix(op.Name, "garner.") && recorded[op.Name] == 0 {
			t.Errorf("%s has no recording in testdata/conformance", op.Name)
		}
	}
}

var assembly = regexp.MustCompile(`(?m)^TEXT\s+·(\w+)\(SB\)`)

// TestAssemblyIsDeclaredAndRuns holds that every assembly function has a Go
// declaration without a body in the same package, and that a Go function of
// that package uses it. The tests of internal/kernel hold its results.
func TestAssemblyIsDeclaredAndRuns(t *testing.T) {
	functions := map[string]string{} // the file of each
	for _, name := range tree(t) {
		if path.Ext(name) != ".s" {
			continue
		}
		found := assembly.FindAllSubmatch(read(t, name), -1)
		if len(found) == 0 {
			t.Errorf("%s has no function", name)
		}
		for _, m := range found {
			function := path.Dir(name) + "." + string(m[1])
			if at, twice := functions[function]; twice && strings.TrimSuffix(at, ".s") == strings.TrimSuffix(name, ".s") {
				t.Errorf("%s: %s stands there twice", name, m[1])
			}
			functions[function] = name
		}
	}
	if len(functions) < 10 {
		t.Fatalf("only %d functions in assembly were found", len(functions))
	}
	declared, used := map[string]bool{}, map[string]bool{}
	for _, s := range sources(t) {
		if s.test() {
			continue
		}
		for _, decl := range s.syntax.Decls {
			f, ok := decl.(*ast.FuncDecl)
			if !ok {
				continue
			}
			if f.Body == nil {
				declared[s.pkg()+"."+f.Name.Name] = true
				continue
			}
			ast.Inspect(f.Body, func(n ast.Node) bool {
				if id, ok := n.(*ast.Ident); ok {
					used[s.pkg()+"."+id.Name] = true
				}
				return true
			})
		}
	}
	for function, at := range functions {
		if !declared[function] {
			t.Errorf("%s: %s is not declared in Go", at, function)
		}
		if !used[function] {
			t.Errorf("%s: nothing in Go uses %s", at, function)
		}
	}
	for function := range declared {
		if functions[function] == "" {
			t.Errorf("%s has neither a body nor assembly", function)
		}
	}
}
