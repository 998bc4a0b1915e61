package test

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"os"
	"strings"
	"testing"

	cdpbrowser "github.com/chromedp/cdproto/browser"
	"github.com/chromedp/chromedp"
	"github.com/chromedp/chromedp/kb"
)

// axe is axe-core's script, which npm ci installs here.
func axe(t *testing.T) string {
	t.Helper()
	const want = "29348999450cdf2849a8e70b7912fc2da85a849da39c0d0d5394f51d4a9ed95c" // of 4.14.1
	text, err := os.ReadFile("node_modules/axe-core/axe.min.js")
	if err != nil {
		t.Fatalf("%v; run npm ci in docs/play/test", err)
	}
	if sum := sha256.Sum256(text); hex.EncodeToString(sum[:]) != want {
		t.Fatalf("axe.min.js has another checksum than that of package.json's version; run npm ci in docs/play/test")
	}
	return string(text)
}

// TestAxe holds that axe-core finds no violation in the states of the page, dark
// and light, wide and narrow.
func TestAxe(t *testing.T) {
	script := axe(t)
	whole := fragment("data", "[[1,2],[3,4],[5,6]]", "indices", "[0,-1,3]", "operator", "stablehlo.gather", "picture", "1",
		"attribute:stablehlo.gather:offset_dims", "[1]", "attribute:stablehlo.gather:start_index_map", "[0]",
		"attribute:stablehlo.gather:index_vector_dim", "1", "attribute:stablehlo.gather:slice_sizes", "[1,2]", "attribute:stablehlo.gather:collapsed_slice_dims", "[0]",
		"operand:offsets", "[0]", "operand:nothing", "[0]")
	long := fragment("data", "0:3000", "indices", "0:3000", "operator", "numpy.take", "picture", "1", "language", "go")
	nothing := func(*page) {}
	states := []struct {
		name, link string
		narrow     bool // it is looked at on a narrow screen, too
		then       func(p *page)
	}{
		{"example", "", true, nothing},
		{"refused", fragment("data", "[1", "indices", "[0]"), false, nothing},
		{"stale", fragment("data", "[1]", "indices", "[0]"), true, func(p *page) {
			p.set("data", "[1")
			p.settled()
			if !evaluate[bool](p, `document.body.classList.contains("stale")`) {
				p.Error("the old answers are not marked")
			}
		}},
		{"bad link", "axis=x&data=[1]&indices=[7]", false, nothing},
		{"operator", fragment("data", "[[1,2],[3,4],[5,6]]", "indices", "[0,-1,3]", "operator", "numpy.take", "picture", "1"), true, func(p *page) {
			p.wait(`document.querySelector("#drawing .cell") && !document.getElementById("code").hidden`)
			p.do(chromedp.Focus(chromedp.CSS("#drawing .cell[tabindex='0']")))
		}},
		{"own attributes", whole, false, nothing},
		{"long", long, false, func(p *page) { p.wait(`document.querySelector("#drawing .cell")`) }},
		{"not asked", fragment("data", "[1]", "indices", "[0]", "operator", "jax.lax.gather"), false, func(p *page) {
			p.click("#not-asked summary")
		}},
		{"model", "", true, func(p *page) {
			p.drop(root + "/lint/testdata/quantised.onnx")
			p.wait(`document.querySelector("#opened-content .items")`)
		}},
	}
	for _, name := range []string{"light", "dark"} {
		for _, width := range []int64{390, 1440} {
			for _, state := range states {
				if width < 500 && (!state.narrow || name == "dark") {
					continue // colours do not depend on the width
				}
				t.Run(fmt.Sprint(name, " ", width, " ", state.name), func(t *testing.T) {
					p := static.tab(t)
					p.do(scheme(name), chromedp.EmulateViewport(width, 900))
					p.visit(state.link)
					state.then(p)
					p.do(chromedp.Evaluate[chromedp.Void](script))
					found := evaluate[[]string](p, `axe.run(document).then((r) => r.violations.flatMap((v) =>
						v.nodes.map((n) => v.id + " (" + v.impact + ") " + n.html.slice(0, 200) + " " + n.failureSummary)))`)
					for _, f := range found {
						t.Error(f)
					}
				})
			}
		}
	}
}

// focus is what has the focus: its id, else its text or label.
func (p *page) focus() string {
	p.Helper()
	return evaluate[string](p, `(document.activeElement.id || document.activeElement.getAttribute("aria-label") || document.activeElement.textContent).slice(0, 80)`)
}

// tabTo presses Tab until something has the focus. What has it on the way must
// look so.
func (p *page) tabTo(to string) {
	p.Helper()
	var way []string
	for range 150 {
		p.do(chromedp.KeyEvent(kb.Tab))
		at := p.focus()
		if way = append(way, at); !evaluate[bool](p, `(() => {
			const e = document.activeElement, s = getComputedStyle(e);
			return e === document.body || s.outlineStyle !== "none" || e.classList.contains("self");
		})()`) {
			p.Errorf("the focus on %q is not seen", at)
		}
		if at == to {
			return
		}
	}
	p.Fatalf("Tab does not come to %q: %q", to, way)
}

// TestKeyboard uses the page without a pointer.
func TestKeyboard(t *testing.T) {
	both(t, func(t *testing.T, s site) {
		p := s.open(t, "")
		p.tabTo("skip")
		p.do(chromedp.KeyEvent(kb.Enter))
		if got := p.focus(); got != "answers" {
			t.Errorf("the link to the answers leads to %q", got)
		}
		if hash := evaluate[string](p, "location.hash"); !strings.Contains(hash, "data=") {
			t.Errorf("the link to the answers left the address %q", hash)
		}
		p = s.open(t, "")
		p.tabTo("An index past the end")
		p.do(chromedp.KeyEvent(" "))
		p.settled()
		if got := p.answers()["openvino.Gather-8"]; got != "[1, 3, 0]" {
			t.Errorf("the example's openvino.Gather-8 answers %q", got)
		}
		p.tabTo("data")
		p.do(chromedp.KeyEvent("a", chromedp.KeyModifiers(chromedp.ModifierCtrl)), chromedp.KeyEvent("[10,20,30]"))
		p.tabTo("indices")
		p.do(chromedp.KeyEvent("a", chromedp.KeyModifiers(chromedp.ModifierCtrl)), chromedp.KeyEvent("[2,-1,0]"))
		p.settled()
		p.tabTo("numpy.take")
		p.do(chromedp.KeyEvent(kb.Enter))
		if got := p.focus(); got != "operator-name" {
			t.Errorf("choosing an operator leads to %q", got)
		}
		p.tabTo("attribute-1")
		p.tabTo("draw")
		p.do(chromedp.KeyEvent(kb.Enter))
		p.wait(`document.querySelector("#drawing .cell[tabindex='0']")`)
		p.do(chromedp.KeyEvent(kb.Tab))
		said := map[string]bool{}
		for _, key := range []string{kb.End, kb.Home, kb.ArrowRight, kb.ArrowDown, kb.ArrowLeft, kb.ArrowUp, kb.End} {
			p.do(chromedp.KeyEvent(key))
			words := p.text("#cell")
			if label := p.focus(); label != words {
				t.Errorf("the cell says %q, its label is %q", words, label)
			}
			said[words] = true
		}
		if len(said) != 3 {
			t.Errorf("the arrow keys led to %d cells, want the three of the result: %v", len(said), said)
		}
		if got := p.text("#cell"); !strings.Contains(got, "result[2]") || !strings.Contains(got, "data[0]") || !strings.Contains(got, "indices[2]") {
			t.Errorf("of the last cell the page says %q", got)
		}
		if n := evaluate[int](p, `document.querySelectorAll("#drawing .cell.lit").length`); n != 2 {
			t.Errorf("%d related cells are marked, want 2", n)
		}
		p.tabTo("garner command")
		p.do(chromedp.KeyEvent(kb.Enter))
		p.wait(`document.getElementById("code").textContent.startsWith("garner ")`)
		p.do(chromedp.KeyEvent(kb.Escape))
		if got := p.focus(); got != "numpy.take" {
			t.Errorf("Escape leads to %q", got)
		}
		if evaluate[bool](p, `document.getElementById("operator").checkVisibility()`) {
			t.Error("Escape leaves the operator open")
		}
	})
}

// TestHover points at cells.
func TestHover(t *testing.T) {
	p := static.open(t, fragment("data", "[[1,2],[3,4]]", "indices", "[1]", "operator", "onnx.Gather-13", "picture", "1"))
	p.wait(`document.querySelector("#drawing .cell")`)
	for name, want := range map[string]struct{ words, lit string }{
		"r1": {"result[0,1] = 4 is data[1,1], by indices[0] = 1", "d3 i0"}, "d2": {"data[1,0] = 3", "i0 r0"}, "d0": {"data[0,0] = 1", ""}, "i0": {"indices[0] = 1", "d2 d3 r0 r1"},
	} {
		at := evaluate[[]float64](p, fmt.Sprintf(`(() => {
			const c = document.querySelector(".cell[data-name=%s]");
			c.scrollIntoView({ block: "center" });
			const r = c.getBoundingClientRect();
			return [r.x + r.width / 2, r.y + r.height / 2];
		})()`, name))
		p.do(chromedp.MouseEvent(chromedp.MouseMoved, at[0], at[1]))
		p.wait(fmt.Sprintf(`document.querySelector(".cell.self")?.dataset.name === %q`, name))
		if got := p.text("#cell"); !strings.HasPrefix(got, want.words) {
			t.Errorf("at %s the page says %q, want %q", name, got, want.words)
		}
		if got := evaluate[string](p, `[...document.querySelectorAll(".cell.lit")].map((c) => c.dataset.name).sort().join(" ")`); got != want.lit {
			t.Errorf("at %s the page marks %q, want %q", name, got, want.lit)
		}
	}
}

// permission grants a permission, or denies it.
func permission(name string, setting cdpbrowser.PermissionSetting) chromedp.Action[chromedp.Void] {
	return chromedp.Func(func(ctx context.Context, _ *chromedp.Target) error {
		_, err := chromedp.CallBrowser(ctx, cdpbrowser.SetPermission, cdpbrowser.SetPermissionParams{
			Permission: &cdpbrowser.PermissionDescriptor{Name: name, AllowWithoutSanitization: false}, Setting: setting,
		})
		return err
	})
}

// TestCopy copies a link and code.
func TestCopy(t *testing.T) {
	both(t, func(t *testing.T, s site) {
		p := s.open(t, fragment("data", "[1,2,3]", "indices", "[0,-1]", "operator", "numpy.take"))
		p.do(permission("clipboard-write", cdpbrowser.PermissionSettingGranted), permission("clipboard-read", cdpbrowser.PermissionSettingGranted))
		p.wait(`document.getElementById("code").textContent !== ""`)
		clipboard := func() string {
			return evaluate[string](p, `(window.focus(), navigator.clipboard.readText())`)
		}
		for language, want := range map[string]string{"python": "import numpy", "go": "package main", "garner": "garner gather"} {
			p.click("#languages [data-language=" + language + "]")
			p.wait(`document.getElementById("code").textContent.startsWith(` + quoted(want[:6]) + `)`)
			p.click("#copy-code")
			p.wait(`document.getElementById("copied").textContent === "Copied."`)
			if got := clipboard(); !strings.Contains(got, want) || got != p.text("#code") {
				t.Errorf("%s: copied %q", language, got)
			}
		}
		p.click("#copy-link")
		p.wait(`document.getElementById("copy-link").textContent === "Link copied"`)
		if got, want := clipboard(), evaluate[string](p, "location.href"); got != want || !strings.Contains(got, "operator=numpy.take") {
			t.Errorf("copied %q, want %q", got, want)
		}
		// A link to this machine is one for those who run garner play, too.
		note := map[string]string{static.name: "", served.name: "The link opens wherever garner play listens on " + strings.TrimSuffix(strings.TrimPrefix(s.url, "http://"), "/") + "."}[s.name]
		if got := p.text("#link-note"); got != note || evaluate[bool](p, `document.getElementById("link-note").checkVisibility()`) != (note != "") {
			t.Errorf("of links it says %q, want %q", got, note)
		}
		p.do(permission("clipboard-write", cdpbrowser.PermissionSettingDenied))
		p.click("#copy-code")
		p.wait(`document.getElementById("copied").textContent.includes("selected")`)
		if got := evaluate[string](p, `getSelection().toString().trim()`); got != strings.TrimSpace(p.text("#code")) {
			t.Errorf("selected %q", got)
		}
		p.do(permission("clipboard-write", cdpbrowser.PermissionSettingGranted))
	})
}
