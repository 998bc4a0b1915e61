package test

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/chromedp/chromedp"
)

// tags is a text that does harm where it is read as HTML.
const tags = `<img src=x onerror="window.harmed=1"><script>window.harmed=1</script><b>bold</b>`

// unharmed fails the test where something of tags became an element, or ran.
func (p *page) unharmed() {
	p.Helper()
	if evaluate[bool](p, `window.harmed !== undefined || document.querySelector("main img, main script, main b > b, main iframe, main a[href^=javascript], [onerror], [onclick], [onload]") !== null
		|| [...document.querySelectorAll("b")].some((b) => b.textContent === "bold")`) {
		p.Error("a text became HTML")
	}
}

// TestHostileTexts puts HTML wherever the page takes text.
func TestHostileTexts(t *testing.T) {
	both(t, func(t *testing.T, s site) {
		word := strings.ReplaceAll(tags, `"`, `'`)
		p := s.open(t, fragment("data", `["`+word+`"]`, "indices", "[0]", "operator", "onnx.Gather-13", "picture", "1"))
		p.wait(`document.getElementById("code").textContent.includes("<img") && document.querySelector("#drawing svg")`)
		if got := p.answers()["onnx.Gather-13"]; !strings.Contains(got, word) {
			t.Errorf("the answer is %q, want the text as it is", got)
		}
		p.unharmed()
		for _, field := range []string{"data", "indices"} {
			p = s.open(t, fragment(map[string]string{"data": "indices", "indices": "data"}[field], "[0]", field, tags))
			if c := p.complaints(); len(c) != 1 {
				t.Errorf("%s: complaints %q", field, c)
			}
			p.unharmed()
		}
		for _, link := range []string{
			fragment(tags, "1"), fragment("operator", tags), fragment("axis", tags), fragment("data_dtype", tags),
			fragment("operand:"+tags, tags), fragment("attribute:"+tags+":x", "1"), fragment("attribute:*:"+strings.ReplaceAll(tags, ":", ""), `"`+word+`"`),
		} {
			p = s.open(t, "data=[1]&indices=[0]&"+link)
			if c := p.complaints(); len(c) == 0 {
				t.Errorf("%.60s: no complaint", link)
			}
			p.unharmed()
		}
	})
}

// TestHostileFile opens a file whose name, tensors and metadata are HTML.
func TestHostileFile(t *testing.T) {
	both(t, func(t *testing.T, s site) {
		word := strings.ReplaceAll(tags, `"`, `'`)
		header := fmt.Sprintf(`{"__metadata__":{"a":%q},%q:{"dtype":"U8","shape":[1],"data_offsets":[0,1]}}`, word, word)
		content := append([]byte{byte(len(header)), byte(len(header) >> 8), 0, 0, 0, 0, 0, 0}, header...)
		name := filepath.Join(t.TempDir(), "<img src=x onerror='window.harmed=1'>.safetensors")
		if err := os.WriteFile(name, append(content, 7), 0o666); err != nil {
			t.Fatal(err)
		}
		p := s.open(t, "")
		p.drop(name)
		p.wait(`document.querySelector("#opened-content table")`)
		if got := p.text("#opened"); !strings.Contains(got, word) || !strings.Contains(got, filepath.Base(name)) {
			t.Errorf("the page shows %q", got)
		}
		p.unharmed()
	})
}

// TestHostileAnswers holds that even garner's own answers are text, and that of a
// picture only the elements and attributes of pictures get into the page.
func TestHostileAnswers(t *testing.T) {
	q := quoted(tags)
	svg := `<svg xmlns="http://www.w3.org/2000/svg" xmlns:xlink="http://www.w3.org/1999/xlink" width="9" height="9" onload="window.harmed=1" style="position:fixed">` +
		`<script>window.harmed=1</script><style>body{display:none}</style><foreignObject><img xmlns="http://www.w3.org/1999/xhtml" src="x" onerror="window.harmed=1"/></foreignObject>` +
		`<a xlink:href="javascript:window.harmed=1"><text>link</text></a><image href="http://127.0.0.1:9/x.png"/><use href="#x"/>` +
		`<animate attributeName="href" values="javascript:window.harmed=1"/><rect width="3" height="3" onclick="window.harmed=1" fill="url(http://127.0.0.1:9/y)"/>` +
		`<g data-cell="r0"><rect x="1" y="1" width="5" height="5" fill="#ff0000"/></g><text x="1" y="2" data-cell="r0">&lt;b&gt;bold&lt;/b&gt;</text></svg>`
	replies := map[string]string{
		"operators": `{"operators":[{"name":` + q + `,"kind":"bag","page":"javascript:window.harmed=1","attributes":[{"name":` + q + `,"type":"string","default":` + q +
			`,"values":[` + q + `],"help":` + q + `},{"name":` + q + `,"type":"ints","default":` + q + `}],"operands":[{"name":` + q + `}]}],"dtypes":[` + q + `],"examples":[{"title":` + q + `,"call":{"data":` + q + `,"indices":"1"}}]}`,
		"answers": `{"groups":[{"shape":[` + q + `],"dtype":` + q + `,"values":` + q + `,"error":"","operators":[{"name":` + q +
			`,"recorded":[{"runtime":` + q + `,"answer":` + q + `,"text":` + q + `,"follows":false,"case":` + q + `,"when":""}]}]},{"error":` + q + `,"operators":[{"name":"x","error":` + quoted(tags+"2") + `}]}],` +
			`"not_asked":[{"name":` + quoted(tags+"3") + `,"why":` + q + `}],"kind":` + q + `}`,
		"picture": `{"svg":` + quoted(svg) + `,"text":` + q + `,"cells":{"r0":{"at":` + q + `,"text":` + q + `,"related":[` + q + `]}}}`,
		"code":    `{"code":` + q + `}`,
	}
	s := answering(t, func(path string, body []byte) (int, string) {
		if path == "/open" {
			return 200, `{"kind":"model","note":` + q + `,"gathers":[{"name":` + q + `,"at":` + q + `,"operator":` + q + `,"attributes":` + q + `,"inputs":` + q + `,"result":` + q + `}],` +
				`"findings":[{"rule":` + q + `,"title":` + q + `,"severity":` + q + `,"node":` + q + `,"at":` + q + `,"message":` + q + `,"remedy":` + q + `,"runtimes":` + q + `}]}`
		}
		for name, reply := range replies {
			if strings.Contains(string(body), `{"ask":"`+name+`"`) {
				return 200, reply
			}
		}
		return 400, "what?"
	})
	p := s.open(t, fragment("data", "1", "indices", "0", "operator", tags, "picture", "1"))
	p.wait(`document.querySelector("#drawing svg .cell") && document.getElementById("code").textContent !== ""`)
	p.forgive("Executing inline event handler violates") // the picture as it is parsed, before anything of it is in the page
	p.forgive("Applying inline style violates")
	p.unharmed()
	if got := p.text("#answers pre.value"); got != tags {
		t.Errorf("the values are %q", got)
	}
	if got := evaluate[[]string](p, `[...new Set([...document.querySelectorAll("#drawing svg, #drawing svg *")].map((e) => e.localName))].sort()`); strings.Join(got, " ") != "g rect svg text" {
		t.Errorf("the picture has elements %v", got)
	}
	if got := evaluate[string](p, `[...document.querySelectorAll("#drawing svg, #drawing svg *")].flatMap((e) => [...e.attributes]).filter((a) => /^on|href|style/.test(a.name) || a.value.includes("127.0.0.1")).map((a) => a.name).join()`); got != "" {
		t.Errorf("the picture has attributes %s", got)
	}
	if evaluate[bool](p, `Boolean(document.querySelector("#operator-about a"))`) {
		t.Error("javascript: became a link")
	}
	p.drop("../index.html")
	p.wait(`document.querySelector("#opened-content .items")`)
	if got, want := strings.Count(p.text("#opened-content"), tags), 15; got != want {
		t.Errorf("the file's texts are shown %d times, want %d", got, want)
	}
	p.do(chromedp.Focus(chromedp.CSS("#drawing .cell[tabindex='0']")))
	if got := p.text("#cell"); got != tags {
		t.Errorf("the cell's words are %q", got)
	}
	p.unharmed()
}
