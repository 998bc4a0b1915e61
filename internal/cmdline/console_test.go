package cmdline

import (
	"runtime/debug"
	"testing"
)

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
