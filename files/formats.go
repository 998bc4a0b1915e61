package files

import (
	"bytes"
	"context"
	"encoding/binary"
	"errors"
	"io"
	"os"
	"slices"
	"strings"

	"github.com/garner-go/garner"
	"github.com/garner-go/garner/format/gguf"
	"github.com/garner-go/garner/format/layout"
	"github.com/garner-go/garner/format/npy"
	"github.com/garner-go/garner/format/npz"
	"github.com/garner-go/garner/format/raw"
	"github.com/garner-go/garner/format/safetensors"
	"github.com/garner-go/garner/format/shards"
	"github.com/garner-go/garner/format/text"
	"github.com/garner-go/garner/internal/names"
	"github.com/garner-go/garner/tensorflow/graphdef"
)

// builtin lists the formats of this package. A new one is a package in format/
// and a line here. The arrays of a model file are its constants.
var builtin = []Format{
	{Name: "npy", Extensions: []string{".npy"}, Begins: begins("\x93NUMPY"), Layout: npyLayout, Open: npyOpen, List: npyList, Form: npyForm, Strings: npyStrings},
	{Name: "npz", Extensions: []string{".npz"}, Named: true, Sole: true, Result: "arr_0", Begins: begins("PK\x03\x04", "PK\x05\x06"), Layout: npzLayout, Open: npzOpen, List: npzList, listed: npzListed, NewWriter: npzWriter, Strings: npzStrings},
	{Name: "safetensors", Extensions: []string{".safetensors"}, Indexes: []string{safetensors.IndexSuffix}, Named: true, Result: "output", Begins: safetensorsBegins, Layout: safetensorsLayout, List: safetensorsList, Files: safetensors.Files, Form: safetensorsForm},
	{Name: "gguf", Extensions: []string{".gguf"}, Named: true, Quantised: true, Result: "output", Begins: begins("GGUF"), Layout: ggufLayout, List: ggufList, Files: gguf.Files, Form: gguf.Form},
	{Name: "raw", Extensions: []string{".raw", ".bin"}, Headerless: true, Layout: rawLayout, List: rawList, Form: rawForm},
	{Name: "onnx", Extensions: []string{".onnx"}, Named: true, Open: constantOpen, List: constantList, listed: constantListed, Files: constantFiles},
	{Name: "openvino", Extensions: []string{".xml"}, Named: true, Open: constantOpen, List: constantList, listed: constantListed, Files: constantFiles},
	{Name: "tflite", Extensions: []string{".tflite"}, Named: true, Open: constantOpen, List: constantList, listed: constantListed, Files: constantFiles},
	{Name: "stablehlo", Extensions: []string{".mlir"}, Named: true, Open: constantOpen, List: constantList, listed: constantListed, Files: constantFiles},
	{Name: "tensorflow", Extensions: []string{".pb"}, Indexes: []string{".index", ".meta"}, Folder: graphdef.SavedModel, Named: true, Open: constantOpen, List: constantList, listed: constantListed, Files: constantFiles},
	{Name: "text", Extensions: []string{".txt", ".csv"}, Begins: text.Is, Open: textOpen, List: textList},
	{Name: "shards", Extensions: []string{".json"}, Folder: shards.ManifestName, Layout: shardsLayout, List: shardsList, Files: shardsFiles},
}

// begins tells files by their first bytes.
func begins(words ...string) func([]byte) bool {
	return func(head []byte) bool {
		return slices.ContainsFunc(words, func(w string) bool { return bytes.HasPrefix(head, []byte(w)) })
	}
}

func npyLayout(path, _ string, o Options) (layout.Array, error) {
	return npy.Layout(path, npy.Options{DType: o.DType})
}

func npyOpen(_ context.Context, path, _ string, o Options) (*Input, error) {
	f, err := npy.Open(path, npy.Options{DType: o.DType, Memory: o.Memory})
	if err != nil {
		return nil, err
	}
	in := Hold(f.Tensor())
	in.Paths, in.Descr = []string{path}, f.Descr()
	if f.Copied() {
		return in, f.Close()
	}
	in.Closer = f
	return in, nil
}

func npyForm(_ string, spec garner.Spec) (layout.Form, error) { return npy.Form(spec) }

func npyStrings(w io.Writer, _ string, t garner.Tensor, descr string) error {
	if descr == "" {
		return npy.Write(w, t)
	}
	return npy.WriteStrings(w, t, descr)
}

func npyList(path string, o Options) ([]Info, error) {
	info, _, err := npy.Stat(path, npy.Options{DType: o.DType})
	if err != nil && !errors.Is(err, layout.ErrMemory) && (!errors.Is(err, garner.ErrDType) || info.Descr == "") {
		return nil, err
	}
	a := npyInfo(info, err)
	a.Path, a.Bytes = path, info.Bytes
	return []Info{a}, nil
}

// npyInfo is what a .npy header says; err is why it has no layout.
func npyInfo(info npy.Info, err error) Info {
	a := Info{Kind: info.Descr, DType: info.DType, Shape: info.Shape}
	switch {
	case errors.Is(err, layout.ErrMemory):
		a.Note = "read whole"
	case err != nil:
		if inner := errors.Unwrap(err); inner != nil {
			err = inner // without the name of the file, or of the array in it
		}
		a.DType, a.Note = garner.Invalid, strings.TrimPrefix(err.Error(), "garner: ")
	case info.Fortran && len(info.Shape) > 1:
		a.Note = "Fortran order"
	}
	return a
}

func npzLayout(path, name string, o Options) (layout.Array, error) {
	f, err := npz.Open(path, npz.Options{DType: o.DType})
	if err != nil {
		return layout.Array{}, err
	}
	defer f.Close()
	return f.Layout(name)
}

func npzOpen(_ context.Context, path, name string, o Options) (*Input, error) {
	f, err := npz.Open(path, npz.Options{DType: o.DType, Inflated: o.Inflated, Memory: o.Memory})
	if err != nil {
		return nil, err
	}
	defer f.Close()
	a, err := f.Copy(name)
	if err != nil {
		return nil, err
	}
	in := Hold(a.Tensor)
	in.Paths, in.Descr = []string{path}, a.Descr
	return in, nil
}

func npzWriter(w io.Writer, name string, spec garner.Spec) (io.WriteCloser, error) {
	return npz.NewWriter(w, name, spec)
}

func npzStrings(w io.Writer, name string, t garner.Tensor, descr string) error {
	return npz.Write(w, []npz.Named{{Name: name, Tensor: t, Descr: descr}})
}

func npzList(path string, o Options) ([]Info, error) {
	f, err := npz.Open(path, npz.Options{DType: o.DType})
	if err != nil {
		return nil, err
	}
	defer f.Close()
	var all []Info
	for _, info := range f.List() {
		a := npyInfo(info.Info, info.Err)
		a.Name, a.Path, a.Bytes = info.Name, path, info.Bytes
		if info.Deflated || info.Descr == "" { // the file does not say how much of it the header takes
			a.Bytes = info.Packed
		}
		if info.Deflated && info.Err == nil {
			a.Note = "compressed, read whole"
		}
		all = append(all, a)
	}
	return all, nil
}

// npzListed gives the name of the array in a member, which ends in .npy.
func npzListed(_, name string, _ Options) string { return strings.TrimSuffix(name, ".npy") }

func safetensorsLayout(path, name string, _ Options) (layout.Array, error) {
	return safetensors.Layout(path, name)
}

func safetensorsForm(name string, spec garner.Spec) (layout.Form, error) {
	return safetensors.Form(name, spec, nil)
}

func safetensorsList(path string, _ Options) ([]Info, error) {
	l, err := safetensors.List(path)
	if err != nil {
		return nil, err
	}
	var all []Info
	for _, t := range l.Tensors() {
		a := Info{Name: t.Name, Kind: t.Kind, DType: t.DType, Shape: t.Shape, Bytes: t.Bytes, Path: t.Path}
		if t.DType == garner.Invalid {
			a.Note = "not read"
		}
		all = append(all, a)
	}
	return all, nil
}

// safetensorsBegins reports whether head is the length of a header and the { that
// begins it.
func safetensorsBegins(head []byte) bool {
	return len(head) > 8 && head[8] == '{' && binary.LittleEndian.Uint64(head) < 1<<32
}

func ggufLayout(path, name string, o Options) (layout.Array, error) {
	f, err := gguf.Open(path)
	if err != nil {
		return layout.Array{}, err
	}
	return f.Layout(name, gguf.Options{Raw: o.Raw, Blocks: o.Blocks})
}

func ggufList(path string, o Options) ([]Info, error) {
	f, err := gguf.Open(path)
	if err != nil {
		return nil, err
	}
	var all []Info
	for _, t := range f.Tensors() {
		a := Info{Name: t.Name, Kind: t.Kind, DType: t.DType, Shape: t.Shape, Bytes: t.Bytes, Path: t.Path}
		// What one would get.
		if at, err := f.Layout(t.Name, gguf.Options{Raw: o.Raw, Blocks: o.Blocks}); err == nil {
			a.DType = at.Spec.DType
			a.Shape, _ = at.Spec.Shape()
		} else if _, err := f.Layout(t.Name, gguf.Options{Raw: true}); err == nil {
			a.DType, a.Note = garner.Invalid, "only with Options.Raw"
		} else {
			a.DType, a.Note = garner.Invalid, "not read"
		}
		all = append(all, a)
	}
	return all, nil
}

func rawLayout(path, _ string, o Options) (layout.Array, error) {
	return raw.Layout(path, raw.Options{DType: o.DType, Shape: o.Shape, Offset: o.Offset})
}

func rawForm(_ string, spec garner.Spec) (layout.Form, error) { return raw.Form(spec) }

func rawList(path string, o Options) ([]Info, error) {
	asked := o
	if o.DType == garner.Invalid {
		asked.DType, asked.Shape = garner.U8, nil
	}
	at, err := rawLayout(path, "", asked)
	if err != nil {
		return nil, err
	}
	a := Info{DType: asked.DType, Bytes: at.Segments[0].Bytes, Path: path}
	a.Shape, _ = at.Spec.Shape()
	if o.DType == garner.Invalid {
		a.Note = "bytes; say what they are with Options.DType, Options.Shape and Options.Offset"
	}
	return []Info{a}, nil
}

func textOpen(_ context.Context, path, _ string, o Options) (*Input, error) {
	if o.InPlace {
		return nil, garner.Errorf(ErrMemory, "%s is text, which can only be read whole", path)
	}
	t, err := text.Open(path, text.Options{DType: o.DType, Memory: o.Memory})
	if err != nil {
		return nil, err
	}
	in := Hold(t)
	in.Paths = []string{path}
	return in, nil
}

// textList reads the file: text has no header.
func textList(path string, o Options) ([]Info, error) {
	t, err := text.Open(path, text.Options{DType: o.DType, Memory: o.Memory})
	if err != nil {
		return nil, err
	}
	info, err := os.Stat(path)
	if err != nil {
		return nil, err
	}
	return []Info{{Kind: "text", DType: t.DType(), Shape: t.Shape(), Bytes: info.Size(), Path: path, Note: "read whole"}}, nil
}

// stream is the format of a pipe or a device, of which nothing is read twice: its
// first bytes tell what it is, as those of standard input do.
var stream = Format{Name: "stream", Open: streamOpen, List: streamList}

func streamOpen(_ context.Context, path, _ string, o Options) (*Input, error) {
	if o.InPlace {
		return nil, garner.Errorf(ErrMemory, "%s is a pipe, which can only be read whole", path)
	}
	f, err := os.Open(path)
	if err != nil {
		return nil, garner.Errorf(err, "cannot open %s: %v", path, errors.Unwrap(err))
	}
	defer f.Close()
	in, err := Read(f, o)
	if err != nil {
		return nil, names.Error(path, err)
	}
	in.Paths = []string{path}
	return in, nil
}

func streamList(path string, o Options) ([]Info, error) {
	in, err := streamOpen(context.Background(), path, "", o)
	if err != nil {
		return nil, err
	}
	shape, _ := in.Spec().Shape()
	return []Info{{DType: in.Spec().DType, Shape: shape, Bytes: -1, Path: path, Note: "read whole"}}, in.Close()
}

// compressions are the programs that undo what a compressed stream begins with.
var compressions = []struct {
	name, undo string
	begins     func([]byte) bool
}{
	{"gzip", "gzip -dc", begins("\x1f\x8b")},
	{"zstd", "zstd -dc", begins("\x28\xb5\x2f\xfd")},
	{"xz", "xz -dc", begins("\xfd7zXZ\x00")},
	{"bzip2", "bzip2 -dc", begins("BZh")},
}

// fromFilesAlone refuses a stream that its first bytes, up to streamHead, show to be of a
// format that is read from files alone, or compressed.
func fromFilesAlone(head []byte) error {
	for _, f := range formats() {
		begins := f.Begins
		switch f.Name {
		case "npy", "text":
			continue
		case "onnx":
			begins = onnxBegins
		case "openvino":
			begins = xmlBegins
		}
		if begins == nil || !begins(head) {
			continue
		}
		as := "FILE" + f.Extensions[0]
		if f.Named {
			as += "#NAME"
		}
		return garner.Errorf(npy.ErrFormat, "the stream begins as a %s file, which cannot be read from a stream; save it, and name it as %s", f.Extensions[0], as)
	}
	for _, c := range compressions {
		if c.begins(head) {
			return garner.Errorf(npy.ErrFormat, "the stream is compressed by %s; send what %q makes of it", c.name, c.undo)
		}
	}
	return nil
}

// onnxBegins reports whether head is the version of ONNX's format, the first field of a
// model, and the key of another field. Text does not begin so, and a file of such bytes
// may be of another protocol: so no file is known by them.
func onnxBegins(head []byte) bool {
	return len(head) > 2 && head[0] == 0x08 && 0 < head[1] && head[1] < 0x80 && bytes.IndexByte([]byte("\x12\x1a\x22\x28\x32\x3a\x42\x72"), head[2]) >= 0
}

// xmlBegins reports whether head is the beginning of an XML file, as OpenVINO's models
// are. Any other XML is no array either, so no file is known by it.
func xmlBegins(head []byte) bool {
	return begins("<?xml", "<net", "<!--", "\xef\xbb\xbf<?xml")(head)
}
