package house

import (
	"go/ast"
	"go/token"
	"regexp"
	"slices"
	"strings"
	"testing"
)

// flagOfCommand matches a flag of the command in a text.
var flagOfCommand = regexp.MustCompile("(^|[ (\"`])--[a-z]")

// TestLibrariesNameNoFlags holds that no text of a library names a flag of the command: a
// program has none. Left out are the command line itself, and what writes and reads
// command lines: the examples of package operators, the generator of documents, calls as code.
func TestLibrariesNameNoFlags(t *testing.T) {
	texts := 0
	writers := []string{"operators", "internal/gendocs", "internal/play/code", "internal/play/calls"}
	for _, s := range sources(t) {
		if s.test() || s.pkg() == "internal/cmdline" || slices.Contains(writers, s.pkg()) || strings.HasPrefix(s.pkg(), "cmd/") || strings.HasPrefix(s.pkg(), "bench") {
			continue
		}
		ast.Inspect(s.syntax, func(n ast.Node) bool {
			text, ok := n.(*ast.BasicLit)
			if ok && text.Kind == token.STRING {
				texts++
				if flagOfCommand.MatchString(text.Value) {
					t.Errorf("%s: %s names a flag of the command; name what a program sets", s.files.Position(text.Pos()), text.Value)
				}
			}
			return true
		})
	}
	if texts < 1000 {
		t.Errorf("only %d texts were looked at", texts)
	}
}
