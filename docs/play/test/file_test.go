package test

import (
	"context"
	"fmt"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/chromedp/cdproto/cdp"
	"github.com/chromedp/cdproto/input"
	"github.com/chromedp/chromedp"
)

// drop drags a file over the page and lets it go.
func (p *page) drop(name string) {
	p.Helper()
	absolute, err := filepath.Abs(name)
	if err != nil {
		p.Fatal(err)
	}
	for _, kind := range []input.DispatchDragEventType{input.DispatchDragEventTypeDragEnter, input.DispatchDragEventTypeDragOver, input.DispatchDragEventTypeDrop} {
		p.do(chromedp.Func(func(ctx context.Context, t *chromedp.Target) error {
			_, err := cdp.Call(ctx, t, input.DispatchDragEvent, input.DispatchDragEventParams{
				Type: kind, X: 300, Y: 300, Data: &input.DragData{Items: []*input.DragDataItem{}, Files: []string{absolute}, DragOperationsMask: 1},
			})
			return err
		}))
	}
}

// TestFiles drops a model and tensors, and chooses one as a person without a
// pointer does.
func TestFiles(t *testing.T) {
	both(t, func(t *testing.T, s site) {
		p := s.open(t, "")
		answers := p.text("#groups")
		for _, tt := range []struct {
			file string
			want []string
		}{
			{"lint/testdata/quantised.onnx", []string{"gather", "data", "indices", "of lint", "Remedy"}},
			{"format/safetensors/testdata/plain.safetensors", []string{"tensors", "dtype", "shape"}},
		} {
			p.drop(filepath.Join(root, tt.file))
			p.wait(`document.getElementById("opened-title").textContent === ` + quoted(filepath.Base(tt.file)) + ` && document.querySelector("#opened-content table, #opened-content .items")`)
			for _, want := range tt.want {
				if got := p.text("#opened-content"); !strings.Contains(got, want) {
					t.Errorf("%s: shows %q, without %q", tt.file, got, want)
				}
			}
		}
		if p.text("#groups") != answers {
			t.Error("the answers went away")
		}
		p.click("#opened-close")
		if evaluate[bool](p, `document.getElementById("opened").checkVisibility()`) {
			t.Error("the file is not closed")
		}
		name, err := filepath.Abs(filepath.Join(root, "format/safetensors/testdata/plain.safetensors"))
		if err != nil {
			t.Fatal(err)
		}
		p.do(chromedp.SetUploadFiles(chromedp.CSS("#file"), []string{name}))
		p.wait(`document.querySelector("#opened-content table")`)
		if !strings.Contains(p.text("#file-note"), map[string]string{static.name: "stays in this browser", served.name: "garner process on this machine"}[s.name]) {
			t.Errorf("the page says of files %q", p.text("#file-note"))
		}
	})
}

// TestFindings reads what lint finds in a model on narrow and wide screens: nothing is cut,
// and the file's heading is in sight.
func TestFindings(t *testing.T) {
	for _, width := range []int64{390, 900, 1440} {
		t.Run(fmt.Sprint(width), func(t *testing.T) {
			p := static.tab(t)
			p.do(chromedp.EmulateViewport(width, 800))
			p.visit("")
			p.drop(root + "/lint/testdata/quantised.onnx")
			p.wait(`document.querySelector("#opened-content .items")`)
			if n := evaluate[int](p, `document.querySelectorAll("#opened .severity").length`); n == 0 {
				t.Error("no finding is shown")
			}
			if cut := evaluate[[]string](p, `[...document.querySelectorAll("#opened *")].filter((e) => {
				const r = e.getBoundingClientRect();
				return r.right > innerWidth || r.left < 0 || e.scrollWidth > e.clientWidth + 1 && getComputedStyle(e).display !== "inline";
			}).map((e) => e.outerHTML.slice(0, 80))`); len(cut) > 0 {
				t.Errorf("cut off: %q", cut)
			}
			if top := evaluate[float64](p, `document.getElementById("opened-title").getBoundingClientRect().top`); top < 0 || top > 700 {
				t.Errorf("the heading is at %.0f of 800 pixels", top)
			}
			if top := evaluate[float64](p, `document.querySelector("#opened .severity").getBoundingClientRect().top`); top > 700 {
				t.Errorf("the first finding is at %.0f of 800 pixels", top)
			}
			p.picture(filepath.Join(t.ArtifactDir(), "findings.png"), false)
		})
	}
	var findings []string
	for i := range 45 {
		findings = append(findings, fmt.Sprintf(`{"rule":"L.1","title":"rule","severity":"error","node":"n%d","message":"m%d"}`, i, i))
	}
	s := answering(t, func(path string, body []byte) (int, string) {
		if path == "/open" {
			return 200, `{"kind":"model","findings":[` + strings.Join(findings, ",") + `]}`
		}
		return 200, echo(body)
	})
	p := s.open(t, "data=[1]&indices=[0]")
	p.drop("../index.html")
	shows := func(want int) {
		t.Helper()
		p.wait(`document.querySelector("#opened .severity")`)
		if n := evaluate[int](p, `document.querySelectorAll("#opened .severity").length`); n != want {
			t.Errorf("%d findings are shown, want %d", n, want)
		}
	}
	shows(20)
	p.click("#opened-content button")
	shows(45)
	if got := p.focus(); !strings.Contains(got, "m20") {
		t.Errorf("then the focus is on %q", got)
	}
}

// TestSlowFile holds that calls are answered while a file is read, however long that takes,
// and that closing the file ends it.
func TestSlowFile(t *testing.T) {
	ended := make(chan struct{})
	process := replying(t, func(w http.ResponseWriter, r *http.Request, body []byte) {
		if r.URL.Path == "/open" {
			<-r.Context().Done()
			close(ended)
			return
		}
		io.WriteString(w, echo(body))
	})
	wasm := standing(t, `self.garnerOpen = () => { for (;;); }; self.garnerAsk = (text) => {
		const r = JSON.parse(text);
		return JSON.stringify(r.call ? { groups: [{ values: r.call.data, error: "", shape: [], dtype: "i64", operators: [{ name: "a.b" }] }] } : { operators: [], dtypes: [], examples: [] });
	};`)
	name := filepath.Join(t.TempDir(), "slow.npy")
	if err := os.WriteFile(name, []byte("slow"), 0o666); err != nil {
		t.Fatal(err)
	}
	for _, s := range []site{process, wasm} {
		t.Run(s.name, func(t *testing.T) {
			p := s.open(t, "data=[1]&indices=[0]")
			p.drop(name)
			p.wait(`document.getElementById("opened-content").textContent.startsWith("Reading")`)
			p.set("data", "[5]")
			p.settled()
			if got := p.answers()["a.b"]; got != "[5]" {
				t.Errorf("beside a slow file it answers %q: %s", got, p.text("#status"))
			}
			p.click("#opened-close")
			p.set("data", "[6]")
			p.settled()
			if got := p.answers()["a.b"]; got != "[6]" || evaluate[bool](p, `document.getElementById("opened").checkVisibility()`) {
				t.Errorf("after the file is closed it answers %q", got)
			}
			if s == process {
				select { // before the tab is closed, which would end it too
				case <-ended:
				case <-time.After(patience):
					t.Error("the request with the file goes on after the file is closed")
				}
			}
		})
	}
}

// TestBadFiles drops files that are not what their names say, and one that is too
// large.
func TestBadFiles(t *testing.T) {
	both(t, func(t *testing.T, s site) {
		folder := t.TempDir()
		p := s.open(t, "")
		for name, content := range map[string]string{
			"cut.onnx": "\x08\x07\x12", "empty.npy": "", "text.safetensors": "hello, is this a file?", "bad.xml": "<net><layers>", "what.zip": "PK", "none": "x",
		} {
			file := filepath.Join(folder, name)
			if err := os.WriteFile(file, []byte(content), 0o666); err != nil {
				t.Fatal(err)
			}
			p.drop(file)
			p.wait(`document.getElementById("opened-title").textContent === ` + quoted(name) + ` && document.querySelector("#opened-content .error")`)
		}
		large := filepath.Join(folder, "large.npy")
		if err := os.WriteFile(large, nil, 0o666); err != nil {
			t.Fatal(err)
		}
		if err := os.Truncate(large, 209_715_201); err != nil {
			t.Fatal(err)
		}
		p.drop(large)
		p.wait(`document.getElementById("opened-content").textContent.includes("at most 210")`)
		p.set("indices", "[0,0]")
		p.settled()
		if got := p.answers()["onnx.Gather-13"]; got != "[1, 1]" {
			t.Errorf("after bad files onnx.Gather-13 answers %q", got)
		}
	})
}
