package main

import (
	"bytes"
	"context"
	"runtime/debug"
	"strings"
	"testing"

	"github.com/garner-go/garner"
)

// garnerRun runs a command line in this process.
func garnerRun(args ...string) (status int, stdout, stderr string) {
	var out, err bytes.Buffer
	p := newProgram(strings.NewReader(""), &out, &err)
	status = p.run(context.Background(), args)
	return status, out.String(), err.String()
}

// TestPaste prints a tensor of every type, and pastes what was printed: it
// prints the same again, given the type.
func TestPaste(t *testing.T) {
	for _, d := range garner.DTypes() {
		text := "[[1, 0], [0, 1]]"
		switch {
		case d == garner.Bool:
			text = "[[true, false], [false, true]]"
		case d == garner.String:
			text = `[["a, b", "\"]"], ["", "é\n"]]`
		case d == garner.F8E8M0:
			text = "[[1, 0.5], [NaN, 2]]"
		case d.IsFloat() && d.Bits() > 4:
			text = "[[1.5, -0.25], [NaN, 0]]"
		case d.IsComplex():
			text = "[[1.5-2i, NaN+1i], [0, 3]]"
		case d == garner.I64:
			text = "[[9223372036854775807, -9223372036854775808], [0, 1]]"
		case d == garner.U64:
			text = "[[18446744073709551615, 0], [0, 1]]"
		}
		want := ""
		for range 2 {
			status, out, message := garnerRun("gather", text, "[0,1]", "--dtype", d.String())
			if status != statusDone {
				t.Fatalf("%s %s: status %d: %s", d, text, status, message)
			}
			if want != "" && out != want {
				t.Errorf("%s: %q comes back as %q", d, want, out)
			}
			want, text = out, strings.TrimSpace(out)
		}
	}
}

func TestBuildVersion(t *testing.T) {
	setting := func(revision, modified string) []debug.BuildSetting {
		return []debug.BuildSetting{{Key: "vcs.revision", Value: revision}, {Key: "vcs.modified", Value: modified}}
	}
	for _, tt := range []struct {
		info debug.BuildInfo
		want string
	}{
		{debug.BuildInfo{Main: debug.Module{Version: "v1.2.3"}}, "v1.2.3"},
		{debug.BuildInfo{Main: debug.Module{Version: "(devel)"}}, "(devel)"},
		{debug.BuildInfo{Settings: setting("0123456789abcdef", "false")}, "(devel) 0123456789ab"},
		{debug.BuildInfo{Settings: setting("0123456789abcdef", "true")}, "(devel) 0123456789ab+dirty"},
	} {
		if got := buildVersion(&tt.info); got != tt.want {
			t.Errorf("%+v: %q; want %q", tt.info, got, tt.want)
		}
	}
}
