package house

import (
	"go/ast"
	"go/token"
	"path"
	"slices"
	"strings"
	"testing"
)

// TestFormatsStayBehindFiles holds that package files is the only package that
// imports format/*, apart from the formats themselves, tests and benchmarks, and from the
// two formats that the page reads. A program that needs one format imports it directly and
// links no other.
func TestFormatsStayBehindFiles(t *testing.T) {
	importers := 0
	for _, s := range sources(t) {
		if s.test() || path.Dir(s.pkg()) == "format" || strings.HasPrefix(s.pkg(), "bench/") {
			continue
		}
		for _, spec := range s.syntax.Imports {
			name := strings.Trim(spec.Path.Value, `"`)
			switch {
			case !strings.HasPrefix(name, module+"/format/"):
			case s.pkg() == "files":
				importers++
			case s.pkg() == "internal/play" && (path.Base(name) == "npy" || path.Base(name) == "safetensors"):
				// It is sent to browsers: 3.0 MB by gzip, and with all formats 3.6, above the limit of genplay.
			default:
				t.Errorf("%s imports %s; use package files", s.name, name)
			}
		}
	}
	if importers == 0 {
		t.Error("files imports no format; the test looks for the wrong name")
	}
}

// TestFilesIsPublic holds that no exported declaration of package files names a
// type of an internal package.
func TestFilesIsPublic(t *testing.T) {
	for _, s := range sources(t) {
		if s.test() || s.pkg() != "files" {
			continue
		}
		for _, name := range exportedSelectors(s) {
			for _, spec := range s.syntax.Imports {
				if p := strings.Trim(spec.Path.Value, `"`); strings.Contains(p, "/internal/") && path.Base(p) == name.pkg {
					t.Errorf("%s: %s is in an exported declaration, and its package is internal", s.files.Position(name.pos), name.pkg)
				}
			}
		}
	}
}

// A selected is one use of an imported package's name.
type selected struct {
	pkg string
	pos token.Pos
}

// exportedSelectors returns the packages that a file's exported declarations
// name in function signatures, exported fields and types.
func exportedSelectors(s source) (all []selected) {
	look := func(n ast.Node) {
		ast.Inspect(n, func(n ast.Node) bool {
			if t, ok := n.(*ast.StructType); ok {
				t.Fields.List = slices.DeleteFunc(t.Fields.List, func(f *ast.Field) bool { return len(f.Names) > 0 && !f.Names[0].IsExported() })
			}
			if sel, ok := n.(*ast.SelectorExpr); ok {
				if x, ok := sel.X.(*ast.Ident); ok {
					all = append(all, selected{x.Name, sel.Pos()})
				}
			}
			return true
		})
	}
	for _, decl := range s.syntax.Decls {
		switch d := decl.(type) {
		case *ast.FuncDecl:
			if d.Name.IsExported() && exportedReceiver(d) {
				look(d.Type)
			}
		case *ast.GenDecl:
			for _, spec := range d.Specs {
				if t, ok := spec.(*ast.TypeSpec); ok && t.Name.IsExported() {
					look(t.Type)
				}
			}
		}
	}
	return all
}
