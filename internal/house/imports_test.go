package house

import (
	"path"
	"slices"
	"strings"
	"testing"
)

// imports are all that a package may import of this module; layers say only what
// stands below it.
var imports = map[string][]string{
	"internal/float":   nil,
	"internal/kernel":  {"internal/float"},
	"internal/codec":   {"internal/float", "internal/kernel"},
	"internal/exec":    {"internal/kernel"},
	"":                 {"internal/codec", "internal/exec", "internal/float", "internal/kernel", "internal/pages"},
	"internal/convert": {"", "internal/float", "internal/kernel"},
	"dialects":         {""},
	"gathertest":       {"", "internal/codec", "internal/convert"},
	"source":           {"", "internal/convert", "internal/exec", "internal/kernel", "internal/mapped", "internal/pages", "internal/ring"},
	"model":            {"", "source", "internal/mapped", "internal/names"},
}

// dialectUsers may import a dialect, and others only package strict, whose
// operators are garner's own.
var dialectUsers = []string{"operators"}

// TestImports holds what the packages that run gathers import, and that operators
// is the only one that imports the dialects.
func TestImports(t *testing.T) {
	seen, all := map[string]bool{}, sources(t)
	dialects := dialectPackages(t, all)
	for _, s := range all {
		if s.test() {
			continue
		}
		from := s.pkg()
		if slices.Contains(dialects, from) {
			from = "dialects"
		}
		allowed, listed := imports[from]
		seen[from] = true
		for _, spec := range s.syntax.Imports {
			name := strings.Trim(spec.Path.Value, `"`)
			to, ours := strings.CutPrefix(name, module)
			to = strings.TrimPrefix(to, "/")
			switch {
			case !ours:
				if from == "internal/exec" && slices.Contains([]string{"errors", "fmt"}, name) {
					t.Errorf("%s imports %s; exec has no error text, its callers word an Outcome", s.name, name)
				}
			case listed && !slices.Contains(allowed, to):
				t.Errorf("%s imports %s; %q may import %q", s.name, name, from, allowed)
			case slices.Contains(dialects, to) && to != "strict" && !slices.Contains(dialectUsers, from):
				t.Errorf("%s imports dialect %s; ask package operators for the operator", s.name, name)
			}
		}
	}
	for pkg := range imports {
		if !seen[pkg] {
			t.Errorf("there is no package %q", pkg)
		}
	}
}

// dialectPackages are the packages in the root folder that layers do not name.
func dialectPackages(t *testing.T, files []source) []string {
	t.Helper()
	var all []string
	for _, s := range files {
		pkg := s.pkg()
		if pkg == "" || strings.Contains(pkg, "/") || path.Base(pkg) == "bench" || slices.Contains(all, pkg) {
			continue
		}
		if layer(pkg) == layer("dialects") && pkg != "gathertest" {
			all = append(all, pkg)
		}
	}
	if len(all) < 5 {
		t.Fatalf("only %q are dialects", all)
	}
	return all
}
