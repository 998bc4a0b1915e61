package test

import (
	"context"
	"os"
	"path/filepath"
	"strings"
	"testing"

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
			{"lint/testdata/quantised.onnx", []string{"gather", "data", "indices"}},
			{"format/safetensors/testdata/plain.safetensors", []string{"tensors", "dtype", "shape"}},
		} {
			p.drop(filepath.Join(root, tt.file))
			p.wait(`document.getElementById("opened-title").textContent === ` + quoted(filepath.Base(tt.file)) + ` && document.querySelector("#opened-content table")`)
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
		if err := os.Truncate(large, 200_000_001); err != nil {
			t.Fatal(err)
		}
		p.drop(large)
		p.wait(`document.getElementById("opened-content").textContent.includes("at most 200")`)
		p.set("indices", "[0,0]")
		p.settled()
		if got := p.answers()["onnx.Gather-13"]; got != "[1, 1]" {
			t.Errorf("after bad files onnx.Gather-13 answers %q", got)
		}
	})
}
