package iredit

import (
	"strings"
	"testing"
)

const text = `<?xml version='1.0'?>
<!-- <layer id="9"> is none -->
<net name="n" version="11">
	<layers>
		<layer id="0" name="a" type="Parameter" version="opset1"><data shape="1"/><output><port id="0" precision="F&lt;"/></output></layer>
		<layer id='7' name='b' type='Old' version="opset1">
			<data batch_dims = "1" kept=">"/>
			<input><port id="3"/></input>
			<output>
				<port id="1" precision="FP32" names='x&amp;"y"'><dim>1</dim></port>
			</output>
			<rt_info><attribute name="layer"/></rt_info>
		</layer>
		<layer id="2" name="r" type="Result" version="opset1"><input><port id="0"/></input></layer>
	</layers>
	<edges>
		<edge from-layer="0" from-port="0" to-layer="7" to-port="3"></edge>
		<edge from-layer="7" from-port="1" to-layer="2" to-port="0"/>
	</edges>
</net>
`

func parse(t *testing.T, text string) *File {
	t.Helper()
	f, err := Parse([]byte(text))
	if err != nil {
		t.Fatal(err)
	}
	return f
}

// TestReplace puts layers before a layer, behind it, and in its place.
func TestReplace(t *testing.T) {
	one := Layer{Name: "new", Type: "Abs", Version: "opset1", Inputs: []Source{{Layer: -1}}, Result: Port{"FP32", []int64{-1}}}
	at := Place{6, 3}
	for _, tt := range []struct {
		name    string
		r       Replacement
		has, no []string
		same    int // lines of the text that stay
	}{
		{"before", Replacement{At: at, Layers: []Layer{one, {Inputs: []Source{{Layer: 0}}}}, Kept: 1, Changes: map[string]string{"batch_dims": "0"}},
			[]string{`<layer id="8" name="new" type="Abs" version="opset1">`, `<data batch_dims = "0" kept=">"/>`, `<edge from-layer="8" from-port="1" to-layer="7" to-port="3">`, `<edge from-layer="0" from-port="0" to-layer="8" to-port="0" />`}, nil, 18},
		{"behind", Replacement{At: at, Layers: []Layer{{Name: "moved", Inputs: []Source{{Layer: -1}}}, {Name: "b", Type: "Abs", Version: "opset1", Inputs: []Source{{Layer: 0}}}}, Kept: 0},
			[]string{`<layer id='8' name='moved' type='Old'`, `<layer id="7" name="b" type="Abs" version="opset1">`, `names="x&amp;&quot;y&quot;"`, `<edge from-layer="0" from-port="0" to-layer="8" to-port="3">`, `<edge from-layer="8" from-port="1" to-layer="7" to-port="0" />`, `<rt_info>`}, []string{`names='x`}, 17},
		{"in place", Replacement{At: at, Layers: []Layer{one}, Kept: -1},
			[]string{`<layer id="7" name="new" type="Abs"`, `<edge from-layer="0" from-port="0" to-layer="7" to-port="0" />`, `names="x&amp;&quot;y&quot;"`}, []string{"Old", `to-port="3"`, "rt_info"}, 12},
	} {
		made, err := parse(t, text).Replace([]Replacement{tt.r})
		if err != nil {
			t.Fatal(err)
		}
		for _, part := range tt.has {
			if strings.Count(string(made), part) != 1 {
				t.Errorf("%s: there is no %s, or several:\n%s", tt.name, part, made)
			}
		}
		for _, part := range tt.no {
			if strings.Contains(string(made), part) {
				t.Errorf("%s: there is %s:\n%s", tt.name, part, made)
			}
		}
		same, rest := 0, string(made)
		for line := range strings.Lines(text) {
			if i := strings.Index(rest, line); i >= 0 {
				same, rest = same+1, rest[i+len(line):]
			}
		}
		if same < tt.same {
			t.Errorf("%s: %d lines are as they were; want %d:\n%s", tt.name, same, tt.same, made)
		}
		parse(t, string(made))
	}
	if made, err := parse(t, text).Replace(nil); err != nil || string(made) != text {
		t.Errorf("%s, %v", made, err)
	}
}

// TestRefused holds what is no IR, and what cannot be replaced.
func TestRefused(t *testing.T) {
	for n := range text {
		f, err := Parse([]byte(text[:n]))
		if err != nil {
			continue
		}
		if made, err := f.Replace(nil); err != nil || string(made) != text[:n] {
			t.Errorf("cut at %d: %v", n, err)
		}
	}
	for _, tt := range []Replacement{
		{At: Place{1, 1}, Layers: []Layer{{}}},
		{At: Place{6, 3}},
		{At: Place{6, 3}, Layers: []Layer{{Inputs: []Source{{Layer: -1, Input: 4}}}}, Kept: -1},
		{At: Place{6, 3}, Layers: []Layer{{Inputs: []Source{{Layer: -1}}}}, Changes: map[string]string{"axis": "1"}},
	} {
		if made, err := parse(t, text).Replace([]Replacement{tt}); err == nil {
			t.Errorf("%+v gives %s", tt, made)
		}
	}
	if a, b := parse(t, text).Free("b"), parse(t, text).Free("new"); a != "b_1" || b != "new" {
		t.Errorf("the free names are %s and %s", a, b)
	}
}
