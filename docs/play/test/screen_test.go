package test

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"testing"

	"github.com/chromedp/cdproto/cdp"
	"github.com/chromedp/cdproto/emulation"
	"github.com/chromedp/chromedp"
)

// scheme makes the page dark or light.
func scheme(name string) chromedp.Action[chromedp.Void] {
	return chromedp.Func(func(ctx context.Context, t *chromedp.Target) error {
		_, err := cdp.Call(ctx, t, emulation.SetEmulatedMedia, emulation.SetEmulatedMediaParams{
			Features: []*emulation.MediaFeature{{Name: "prefers-color-scheme", Value: name}},
		})
		return err
	})
}

// picture writes a screenshot of the page: of all of it, or of what the screen shows.
func (p *page) picture(name string, whole bool) {
	p.Helper()
	shot := chromedp.CaptureScreenshot()
	if whole {
		shot = chromedp.FullScreenshot(100)
	}
	png, err := chromedp.Run(p.ctx, shot)
	if err != nil {
		p.Fatal(err)
	}
	if err := os.WriteFile(name, png, 0o666); err != nil {
		p.Fatal(err)
	}
}

// TestScreens draws the page in three widths, dark and light. With -artifacts the
// pictures stay, to be looked at. Nothing may be wider than the screen.
func TestScreens(t *testing.T) {
	folder := t.ArtifactDir()
	call := fragment("data", "[[1,2],[3,4],[5,6]]", "indices", "[0,-1,3]", "operator", "numpy.take", "picture", "1")
	for _, name := range []string{"light", "dark"} {
		for _, width := range []int64{390, 900, 1440} {
			t.Run(fmt.Sprint(name, " ", width), func(t *testing.T) {
				p := static.tab(t)
				p.do(scheme(name), chromedp.EmulateViewport(width, 900))
				p.visit(call)
				p.wait(`document.querySelector("#drawing").childElementCount && document.getElementById("code").textContent + document.getElementById("copied").textContent`)
				if over := evaluate[int](p, `document.documentElement.scrollWidth - innerWidth`); over > 0 {
					t.Errorf("the page is %d pixels wider than the screen", over)
				}
				p.picture(filepath.Join(folder, fmt.Sprintf("%s-%d.png", name, width)), true)
			})
		}
	}
}

// TestPicture draws docs/pictures/play.png as -artifacts keeps it.
func TestPicture(t *testing.T) {
	p := served.tab(t)
	p.do(scheme("light"), chromedp.EmulateViewport(1440, 1000))
	p.visit(fragment("data", "[[1,2],[3,4],[5,6]]", "indices", "[0,-1,3]", "axis", "0", "operator", "openvino.Gather-8", "picture", "1"))
	p.wait(`document.querySelector("#drawing .cell") && document.getElementById("code").textContent !== ""`)
	p.do(chromedp.Evaluate[chromedp.Void](`document.querySelector(".cell[data-name=r2]").dispatchEvent(new PointerEvent("pointerover", { bubbles: true }))`))
	if got := p.text("#cell"); got == "" {
		t.Error("the page says nothing of a cell")
	}
	p.picture(filepath.Join(t.ArtifactDir(), "play.png"), false)
}
