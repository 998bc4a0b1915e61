package convert_test

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/garner-go/garner/convert"
)

// TestVerified holds that a constant whose checksum the source has is compared with it, and
// that nothing is written where it differs: the target has no checksum that would tell.
func TestVerified(t *testing.T) {
	dir := t.TempDir()
	text := strings.Replace(small("Gather", "opset8", "", "f32 ?,2", "?", "?,2"),
		`<layer id="0" name="x" type="Parameter" version="opset1"><data element_type="f32" shape="?,2"/>`,
		`<layer id="0" name="x" type="Const" version="opset1"><data element_type="f32" shape="200,2" offset="64" size="1600"/>`, 1)
	path := filepath.Join(dir, "source.xml")
	for name, b := range map[string]string{path: text, filepath.Join(dir, "source.bin"): strings.Repeat("\x00", 1664)} {
		if err := os.WriteFile(name, []byte(b), 0o666); err != nil {
			t.Fatal(err)
		}
	}
	wrong := errors.New("the checksum is wrong")
	for _, out := range []string{"out.onnx", "out.xml"} {
		for _, want := range []error{nil, wrong} {
			m, asked := open(t, path), 0
			for _, v := range m.Graph.Constants {
				if v.Constant.Size == 1600 {
					v.Constant.Verify = func(context.Context) error { asked++; return want }
				}
			}
			to := filepath.Join(t.TempDir(), out)
			if _, err := convert.File(t.Context(), m, to, convert.Options{}); !errors.Is(err, want) {
				t.Errorf("%s: %v, want %v", out, err, want)
			}
			if _, err := os.Stat(to); (err == nil) != (want == nil) || asked == 0 {
				t.Errorf("%s: %v; it was asked %d times", out, err, asked)
			}
		}
	}
}
