package main

import (
	"encoding/json"
	"testing"
)

func TestPathsAreBytes(t *testing.T) {
	for _, c := range []struct{ json, want string }{
		{`"a.npy"`, "a.npy"}, {`""`, ""}, {`"\udcff"`, "\xff"}, {`"a\udc80\udcffb"`, "a\x80\xffb"}, {`"\\udcff"`, `\udcff`}, {`"\\\udcff"`, "\\\xff"},
		{`"\ud83d\ude00\udcff"`, "\U0001f600\xff"}, {`"\ud83d\udc80"`, "\U0001f480"}, {`"\u00e9\n\"\udce9\""`, "é\n\"\xe9\""}, {`"\udc00"`, "\ufffd"}, {`"é"`, "é"},
	} {
		var l location
		if err := json.Unmarshal([]byte(`{"file": `+c.json+`}`), &l); err != nil || string(l.File) != c.want {
			t.Errorf("%s: %q, %v; want %q", c.json, l.File, err, c.want)
		}
	}
	for _, bad := range []string{"3", "[1]", `{"a": 1}`} {
		var p path
		if json.Unmarshal([]byte(bad), &p) == nil {
			t.Errorf("%s is a path: %q", bad, p)
		}
	}
}

func TestPathsComeBack(t *testing.T) {
	for text, want := range map[path]string{
		"": `""`, "a.npy": `"a.npy"`, "\xff": `"\udcff"`, "a\x80\xe9": `"a\udc80\udce9"`, "é\"\\": `"é\"\\"`, "\ufffd": "\"\ufffd\"", "\xed\xb3\xbf<": `"\udced\udcb3\udcbf\u003c"`,
	} {
		b, err := json.Marshal(text)
		if err != nil || string(b) != want {
			t.Errorf("%q: %s, %v; want %s", text, b, err, want)
		}
		var back path
		if err := json.Unmarshal(b, &back); err != nil || back != text {
			t.Errorf("%q comes back as %q, %v", text, back, err)
		}
	}
}
