package names

import (
	"slices"
	"strings"
	"testing"
)

func TestNumeric(t *testing.T) {
	sorted := []string{
		"", "a", "part-.npy", "part-1.npy", "part-01.npy", "part-2.npy", "part-10.npy", "part-10b1.npy", "part-10b02.npy",
		"part-99999999999999999999998.npy", "part-99999999999999999999999.npy", "partition.npy",
	}
	// Of names that differ only in leading zeros, the one with more zeros sorts
	// first.
	sorted[3], sorted[4] = sorted[4], sorted[3]
	for i, a := range sorted {
		for j, b := range sorted {
			want := 0
			if i < j {
				want = -1
			} else if i > j {
				want = 1
			}
			if got := Numeric(a, b); got != want {
				t.Errorf("Numeric(%q, %q) = %d, want %d", a, b, got, want)
			}
		}
	}
}

func TestPlain(t *testing.T) {
	long := strings.Repeat("a", 200)
	for name, want := range map[string]string{
		"a b/c:0": "a b/c:0", "": `""`, "a\"b": `"a\"b"`, "a\x1b[2J\u202eb": `"a\x1b[2J\u202eb"`, long: long, long + "a": `"` + long + `"`, "é": "é",
	} {
		if got := Plain(name); got != want {
			t.Errorf("%s, not %s", got, want)
		}
	}
}

func TestNear(t *testing.T) {
	if got := Near("a", nil); got != "it holds none at all" {
		t.Error(got)
	}
	if got := Near("a", []string{"b", "c\n"}); got != `it has "b", "c\n"` {
		t.Error(got)
	}
	var many []string
	for i := range 30 {
		many = append(many, strings.Repeat("x", i+1))
	}
	many = append(many, "blk.0.attn_q.weight", "token_embd.weight", "long."+strings.Repeat("y", 1000))
	got := Near("token_embed.weight", many)
	if !strings.HasPrefix(got, `of its 33, the nearest are "x`) && !strings.HasPrefix(got, `of its 33, the nearest are "token_embd.weight"`) || !strings.Contains(got, "token_embd.weight") {
		t.Error(got)
	}
	if got := Near("attn_q", many); !strings.HasPrefix(got, `of its 33, the nearest are "blk.0.attn_q.weight"`) {
		t.Error(got)
	}
	if n := len(Quote(strings.Repeat("y", 1000))); n > 210 {
		t.Errorf("a quoted name of %d bytes", n)
	}
	if !slices.IsSortedFunc([]string{"2", "10"}, Numeric) {
		t.Error("10 before 2")
	}
}

func TestDistance(t *testing.T) {
	for _, tt := range []struct {
		a, b string
		want int
	}{
		{"", "", 0}, {"", "abc", 3}, {"abc", "", 3}, {"kitten", "sitting", 3}, {"same", "same", 0},
		{strings.Repeat("x", 300), "y" + strings.Repeat("x", 300), 0}, {strings.Repeat("x", 300), strings.Repeat("y", 300), 100},
	} {
		if got := Distance(end(tt.a), end(tt.b)); got != tt.want {
			t.Errorf("%.10q to %.10q is %d, want %d", tt.a, tt.b, got, tt.want)
		}
	}
}
