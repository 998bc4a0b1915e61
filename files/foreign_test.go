package files

import (
	"archive/zip"
	"bytes"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"testing"

	"github.com/garner-go/garner"
)

// Files and folders of formats that garner does not read are refused by their names, with what to do.
func TestForeign(t *testing.T) {
	t.Chdir(t.TempDir())
	zipped := func(names ...string) string {
		var b bytes.Buffer
		w := zip.NewWriter(&b)
		for _, name := range names {
			must(must(w.Create(name)).Write([]byte("x")))
		}
		if err := w.Close(); err != nil {
			t.Fatal(err)
		}
		return b.String()
	}
	for name, content := range map[string]string{
		"v3.zarr/zarr.json": "{}", "v2.zarr/.zarray": "{}", "group/.zgroup": "{}", "hf/config.json": "{}", "hf/model.safetensors": "", "hf/tokenizer.json": "{}",
		"sharded/model-00001-of-00002.safetensors": "", "sharded/model.safetensors.index.json": "{}", "many/part-0.npy": "", "many/part-1.npy": "",
		"table/part-0.parquet": "", "keras/m.h5": "", "weights/m.pt": "", "export/model.onnx": "", "t.parquet": "PAR1....", "t.feather": "ARROW1..", "m.h5": "\x89HDF\r\n\x1a\n....",
		"m.pt": zipped("m/data.pkl", "m/data/0"), "m.keras": zipped("metadata.json", "config.json", "model.weights.h5"), "other/x.txt.bak": "",
	} {
		if err := os.MkdirAll(filepath.Dir(name), 0o777); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(name, []byte(content), 0o666); err != nil {
			t.Fatal(err)
		}
	}
	path := filepath.Join
	for text, want := range map[string]string{
		"v3.zarr":   "v3.zarr is a folder of Zarr, by its zarr.json, which garner does not read; save the array as FILE.npy, as numpy.save does",
		"v2.zarr":   "v2.zarr is a folder of Zarr, by its .zarray",
		"v3.zarr#a": "v3.zarr is a folder of Zarr, by its zarr.json",
		"group":     "group is a folder of Zarr, by its .zgroup",
		"hf":        "hf is a folder, which is no array itself; it holds model.safetensors: name " + path("hf", "model.safetensors") + "#NAME",
		"hf#w":      "name " + path("hf", "model.safetensors") + "#w",
		"sharded":   "it holds model.safetensors.index.json: name " + path("sharded", "model.safetensors.index.json") + "#NAME",
		"export":    "name " + path("export", "model.onnx") + "#NAME",
		"many":      "with the pattern " + path("many", "*.npy"),
		"table":     "table is a folder of Parquet, by its part-0.parquet, which garner does not read; save a column as FILE.npy",
		"keras":     "keras is a folder of HDF5, by its m.h5",
		"weights":   "weights is a folder of PyTorch, by its m.pt, which garner does not read; save its tensors as FILE.safetensors",
		"t.parquet": "t.parquet is of Parquet, which garner does not read",
		"t.feather": "t.feather is of Arrow",
		"m.h5":      "m.h5 is of HDF5",
		"m.pt":      "m.pt is of PyTorch, which garner does not read; save its tensors as FILE.safetensors",
		"m.pt#w":    "m.pt is of PyTorch",
		"m.keras":   "m.keras is of Keras, which garner does not read; save its weights as FILE.npy",
		"other":     "other is a folder without saved_model.pb or manifest.json",
	} {
		_, err := Parse(text)
		if !errors.Is(err, ErrUnknown) {
			t.Errorf("%s: %v is no ErrUnknown", text, err)
		}
		refused(t, err, garner.ErrAttribute, want)
		if !errors.Is(err, ErrForeign) {
			t.Errorf("%s: %v is no ErrForeign", text, err)
		}
	}
	for text, want := range map[string]string{
		"m.pt":                "m.pt is of PyTorch, which garner does not read; export it as FILE.onnx",
		"m.keras":             "m.keras is of Keras, which garner does not read; export it as a SavedModel",
		"m.h5":                "m.h5 is of HDF5, which garner does not read; export it as a SavedModel",
		"export":              "export is a folder, which is no model itself; it holds model.onnx: name " + path("export", "model.onnx"),
		"other":               "other is a folder without saved_model.pb, by which a folder is a model",
		"export/model.onnx#w": "export/model.onnx#w names w of export/model.onnx, and a model is named whole: leave out #w",
	} {
		_, err := OpenModel(text, ModelOptions{})
		refused(t, err, garner.ErrAttribute, want)
		if !errors.Is(err, ErrForeign) {
			t.Errorf("%s: %v is no ErrForeign", text, err)
		}
	}
	for _, text := range []string{"none", "none/at.all", "none#w"} {
		_, err := OpenModel(text, ModelOptions{})
		refused(t, err, fs.ErrNotExist, "there is no file "+text+"; check the name and the folder")
	}
	_, err := OpenModel("t.parquet", ModelOptions{})
	if refused(t, err, garner.ErrAttribute, "t.parquet is no model file by its extension"); errors.Is(err, ErrForeign) {
		t.Errorf("%v is an ErrForeign", err)
	}
}
