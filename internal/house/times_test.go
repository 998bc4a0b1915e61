package house

import (
	"go/ast"
	"go/parser"
	"go/token"
	"path/filepath"
	"strings"
	"testing"
)

// measures reports whether an expression has a length of time that was measured, or one that is
// written with a unit of package time. measured are the variables that have such a length.
func measures(e ast.Expr, measured map[string]bool) (found bool) {
	ast.Inspect(e, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.SelectorExpr:
			of, _ := n.X.(*ast.Ident)
			switch n.Sel.Name {
			case "Since", "Nanosecond", "Microsecond", "Millisecond", "Second", "Minute", "Hour":
				found = found || of != nil && of.Name == "time"
			case "UserTime", "SystemTime", "Elapsed":
				found = true
			}
		case *ast.Ident:
			found = found || measured[n.Name]
		case *ast.FuncLit:
			return false
		}
		return !found
	})
	return found
}

// judged lists where a file compares lengths of time.
func judged(file *ast.File) (at []token.Pos) {
	measured := map[string]bool{}
	ast.Inspect(file, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.FuncDecl:
			clear(measured)
		case *ast.AssignStmt:
			for i, v := range n.Lhs {
				if name, ok := v.(*ast.Ident); ok && len(n.Lhs) == len(n.Rhs) && measures(n.Rhs[i], nil) {
					measured[name.Name] = true
				}
			}
		case *ast.BinaryExpr:
			switch n.Op {
			case token.LSS, token.GTR, token.LEQ, token.GEQ:
				if measures(n.X, measured) || measures(n.Y, measured) {
					at = append(at, n.OpPos)
				}
			}
		}
		return true
	})
	return at
}

// mayCompare lists the test files that compare lengths of time, and how often, which no test
// fails by.
var mayCompare = map[string]int{
	"beam/jobs/dial_test.go":     1, // how long a connection may take, from try to try
	"internal/exec/crew_test.go": 1, // how long a helper waits
}

// TestNoTestJudgesATime holds that no test, of nested modules either, passes or fails by how long
// something took: another machine, or this one at other work, takes as long as it takes. What a
// test holds of a cost is a count: of reads, bytes, values that are computed.
func TestNoTestJudgesATime(t *testing.T) {
	files := 0
	for _, name := range tree(t) {
		if !strings.HasSuffix(name, "_test.go") || strings.Contains(name, "testdata/") {
			continue
		}
		set := token.NewFileSet()
		syntax, err := parser.ParseFile(set, filepath.Join("../..", filepath.FromSlash(name)), nil, parser.SkipObjectResolution)
		if err != nil {
			t.Fatal(err)
		}
		files++
		if at := judged(syntax); len(at) != mayCompare[name] {
			for _, pos := range at {
				t.Errorf("%s:%d compares lengths of time", name, set.Position(pos).Line)
			}
			if len(at) == 0 {
				t.Errorf("%s compares none; mayCompare says %d", name, mayCompare[name])
			}
		}
	}
	if files < 200 {
		t.Errorf("only %d files of tests", files)
	}
}

// TestTimesAreFound holds what judged finds.
func TestTimesAreFound(t *testing.T) {
	for code, want := range map[string]int{
		`if took := time.Since(from); took > 5*time.Second { t.Error() }`:           1,
		`if time.Since(from) > limit { t.Error() }`:                                 1,
		`few, many := time.Since(a), time.Since(b); if many > 10*few { t.Error() }`: 1,
		`if used := p.UserTime() + p.SystemTime(); used > most { t.Error() }`:       1,
		`for time.Now().Before(end) { f() }`:                                        0,
		`select { case <-done: case <-time.After(time.Minute): t.Error() }`:         0,
		`if n > 5 { time.Sleep(time.Second) }`:                                      0,
		`t.Logf("%v", time.Since(from))`:                                            0,
	} {
		file, err := parser.ParseFile(token.NewFileSet(), "a_test.go", "package a\nfunc f() { "+code+" }", 0)
		if err != nil {
			t.Fatal(err)
		}
		if at := judged(file); len(at) != want {
			t.Errorf("%s: %d, want %d", code, len(at), want)
		}
	}
}
