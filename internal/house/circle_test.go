package house

import (
	"fmt"
	"go/ast"
	"go/build"
	"go/importer"
	"go/parser"
	"go/token"
	"go/types"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// TestNoCircleOfFiles holds that the files of the packages that run gathers
// have a reading order: no two files refer to each other, directly or through
// others. A file refers to another if it uses a declaration of the other,
// according to the type checker.
func TestNoCircleOfFiles(t *testing.T) {
	for _, pkg := range []string{"", "internal/exec"} {
		t.Run("garner/"+pkg, func(t *testing.T) {
			refers := references(t, filepath.Join("..", "..", filepath.FromSlash(pkg)))
			if len(refers) < 5 {
				t.Fatalf("only %d files refer to others", len(refers))
			}
			for _, circle := range circles(refers) {
				var why []string
				for _, from := range circle {
					for to, name := range refers[from] {
						if slices.Contains(circle, to) {
							why = append(why, fmt.Sprintf("%s uses %s of %s", from, name, to))
						}
					}
				}
				slices.Sort(why)
				t.Errorf("files in a circle:\n%s", strings.Join(why, "\n"))
			}
		})
	}
}

// TestCirclesAreFound holds that circles finds a circle.
func TestCirclesAreFound(t *testing.T) {
	refers := map[string]map[string]string{
		"a": {"b": "x"}, "b": {"c": "x", "d": "x"}, "c": {"a": "x"}, "d": {"e": "x"}, "e": nil,
	}
	if got := fmt.Sprint(circles(refers)); got != "[[a b c]]" {
		t.Errorf("%s, want [[a b c]]", got)
	}
}

// references maps each file of a package to the files that it refers to, each
// with one declaration that it uses.
func references(t *testing.T, dir string) map[string]map[string]string {
	t.Helper()
	listed, err := build.ImportDir(dir, 0)
	if err != nil {
		t.Fatal(err)
	}
	files := token.NewFileSet()
	var syntax []*ast.File
	for _, name := range listed.GoFiles {
		f, err := parser.ParseFile(files, filepath.Join(dir, name), nil, parser.SkipObjectResolution)
		if err != nil {
			t.Fatal(err)
		}
		syntax = append(syntax, f)
	}
	info := types.Info{Uses: map[*ast.Ident]types.Object{}, Selections: map[*ast.SelectorExpr]*types.Selection{}}
	config := types.Config{Importer: importer.ForCompiler(files, "source", nil)}
	if _, err := config.Check(module, files, syntax, &info); err != nil {
		t.Fatal(err)
	}
	refers := map[string]map[string]string{}
	use := func(at token.Pos, used types.Object) {
		if !used.Pos().IsValid() || used.Pkg() == nil || used.Pkg().Path() != module {
			return
		}
		from, to := filepath.Base(files.Position(at).Filename), filepath.Base(files.Position(used.Pos()).Filename)
		if from == to {
			return
		}
		if refers[from] == nil {
			refers[from] = map[string]string{}
		}
		if refers[to] == nil {
			refers[to] = map[string]string{}
		}
		if name, ok := refers[from][to]; !ok || used.Name() < name {
			refers[from][to] = used.Name()
		}
	}
	for ident, used := range info.Uses {
		use(ident.Pos(), used)
	}
	for selector, selection := range info.Selections {
		use(selector.Sel.Pos(), selection.Obj())
	}
	return refers
}

// circles returns the sets of files in which each file refers to every other,
// directly or through others.
func circles(refers map[string]map[string]string) [][]string {
	reach := map[string]map[string]bool{}
	for from := range refers {
		seen := map[string]bool{}
		var visit func(string)
		visit = func(at string) {
			for to := range refers[at] {
				if !seen[to] {
					seen[to] = true
					visit(to)
				}
			}
		}
		visit(from)
		reach[from] = seen
	}
	var found [][]string
	taken := map[string]bool{}
	for from := range refers {
		if taken[from] || !reach[from][from] {
			continue
		}
		var circle []string
		for other := range reach[from] {
			if reach[other][from] {
				circle, taken[other] = append(circle, other), true
			}
		}
		slices.Sort(circle)
		found = append(found, circle)
	}
	slices.SortFunc(found, slices.Compare[[]string])
	return found
}
