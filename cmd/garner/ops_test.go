package main

import (
	"bytes"
	"context"
	"strings"
	"testing"

	"github.com/garner-go/garner"
	"github.com/garner-go/garner/operators"
)

// TestOpsExamples runs every operator's example as it is shown, and explains and
// draws it too.
func TestOpsExamples(t *testing.T) {
	for _, o := range operators.All() {
		t.Run(o.Name, func(t *testing.T) {
			line, prints, ok := strings.Cut(exampleOf(o), "   # ")
			args, err := shellWords(line)
			if err != nil || !ok || args[0] != "garner" {
				t.Fatalf("%q is no example: %v", line, err)
			}
			run := func(args ...string) string {
				t.Helper()
				var stdout, stderr bytes.Buffer
				p := newProgram(strings.NewReader(""), &stdout, &stderr)
				if status := p.run(context.Background(), args); status != 0 {
					t.Fatalf("%v: status %d, %s", args, status, stderr.String())
				}
				return stdout.String()
			}
			if got := strings.TrimSpace(run(args[1:]...)); got != prints {
				t.Errorf("%s prints %s; the example says %s", line, got, prints)
			}
			explained := append([]string{"explain"}, args[1:]...)
			if got := run(explained...); !strings.HasPrefix(got, o.Name+"   data ") || strings.Contains(got, "wrong") {
				t.Errorf("explained, it is %s", got)
			}
			if got := run(append(explained, "-o", "-")...); !strings.Contains(got, "</svg>") {
				t.Errorf("drawn, it is %s", got)
			}
			described := run("ops", o.Name)
			policies := "negative: "
			if !garner.TakesIndices(o.Zero) {
				policies = "none: it decodes all of data"
			}
			for _, want := range []string{o.Spec, o.Shape, o.Types, line, policies} {
				if want == "" || !strings.Contains(described, want) {
					t.Errorf("ops does not say %q: %s", want, described)
				}
			}
		})
	}
}

func TestShellWords(t *testing.T) {
	for _, tt := range []struct{ line, want string }{
		{"", ""},
		{"a  b", "a|b"},
		{`'[["a b"]]' '' c'd e'f`, `[["a b"]]||cd ef`},
	} {
		words, err := shellWords(tt.line)
		if err != nil || strings.Join(words, "|") != tt.want {
			t.Errorf("%q splits into %q, %v", tt.line, words, err)
		}
	}
	if _, err := shellWords("'a"); err == nil {
		t.Error("a quote that is not closed is let pass")
	}
}
