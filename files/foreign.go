package files

import (
	"bytes"
	"encoding/binary"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/garner-go/garner"
)

// A foreignFormat is a format that garner does not read: how their files begin, and what is in a folder of one. What a file of
// one is saved as instead is no other than what garner reads.
type foreignFormat struct {
	name   string
	begins string
	holds  []string // in a folder, by the whole name or by the extension
	remedy string
	model  string // what a model of one is saved as instead; "" for those that hold arrays alone
}

var foreign = []foreignFormat{
	{"Zarr", "", []string{"zarr.json", ".zarray", ".zgroup"}, "save the array as FILE.npy, as numpy.save does", ""},
	{"Parquet", "PAR1", []string{".parquet"}, "save a column as FILE.npy, as numpy.save does", ""},
	{"HDF5", "\x89HDF\r\n\x1a\n", []string{".h5", ".hdf5"}, "save the array as FILE.npy, as numpy.save does", keras},
	{"Arrow", "ARROW1", []string{".arrow", ".feather"}, "save a column as FILE.npy, as numpy.save does", ""},
	{"PyTorch", "", []string{".pt", ".pth"}, "save its tensors as FILE.safetensors, as safetensors.torch.save_file does", "export it as FILE.onnx, as torch.onnx.export does"},
	{"Keras", "", []string{".keras"}, "save its weights as FILE.npy, as numpy.save does, or " + keras, keras},
}

// keras is what a model of Keras is saved as.
const keras = "export it as a SavedModel, as the export of a Keras model does"

// folderEntries is how many names of a folder are looked at for a message.
const folderEntries = 1000

// refuseForeign is the error of a file or a folder of a format that garner does not read but knows, and of a folder with
// files that it reads; nil for others. An operand may name an array of it.
func refuseForeign(text string) error {
	path, name := text, ""
	info, err := os.Stat(path)
	if err != nil {
		if path, name, _ = strings.Cut(text, "#"); path == "" {
			return nil
		}
		if info, err = os.Stat(path); err != nil {
			return nil
		}
	}
	switch {
	case info.IsDir():
		return refuseFolder(path, name)
	case !info.Mode().IsRegular():
		return nil
	}
	head := headOf(path)
	for _, f := range foreign {
		if f.is(head) {
			return foreignError{garner.Errorf(garner.ErrAttribute, "%s is of %s, which garner does not read; %s", path, f.name, f.remedy)}
		}
	}
	return nil
}

// entriesOf has what a message looks at of a folder, by name: nothing where it cannot be read.
func entriesOf(path string) []fs.DirEntry {
	folder, err := os.Open(path)
	if err != nil {
		return nil
	}
	defer folder.Close()
	entries, _ := folder.ReadDir(folderEntries) // what was read before an error is enough for a message
	slices.SortFunc(entries, func(a, b fs.DirEntry) int { return strings.Compare(a.Name(), b.Name()) })
	return entries
}

func refuseFolder(path, name string) error {
	entries := entriesOf(path)
	// Files that are read come first: that of the format that is first in the list, and of its files the index of shards.
	at, index, best, npy := "", false, len(formats()), false
	for _, e := range entries {
		lower := lowerASCII(e.Name())
		if npy = npy || strings.HasSuffix(lower, ".npy"); e.IsDir() {
			continue
		}
		for i, f := range formats() {
			isIndex := slices.ContainsFunc(f.Indexes, func(x string) bool { return strings.HasSuffix(lower, x) })
			if f.Named && (isIndex || slices.ContainsFunc(f.Extensions, func(x string) bool { return strings.HasSuffix(lower, x) })) && (i < best || i == best && isIndex && !index) {
				at, index, best = e.Name(), isIndex, i
			}
		}
	}
	if at != "" {
		array := "NAME"
		if name != "" {
			array = name
		}
		return foreignError{garner.Errorf(garner.ErrAttribute, "%s is a folder, which is no array itself%s; it holds %s: name %s#%s", path, stateFault(path), at, filepath.Join(path, at), array)}
	}
	if npy {
		return foreignError{garner.Errorf(garner.ErrAttribute, "%s is a folder, which is no array itself; name one of its files, or join all of them along axis 0 with the pattern %s", path, filepath.Join(path, "*.npy"))}
	}
	for _, f := range foreign {
		for _, e := range entries {
			if lower := lowerASCII(e.Name()); slices.ContainsFunc(f.holds, func(x string) bool { return lower == x || filepath.Ext(lower) == x && lower != x }) {
				return foreignError{garner.Errorf(garner.ErrAttribute, "%s is a folder of %s, by its %s, which garner does not read; %s", path, f.name, e.Name(), f.remedy)}
			}
		}
	}
	return nil
}

// is reports whether a file that begins with head is of the format.
func (f foreignFormat) is(head []byte) bool {
	switch f.name {
	case "PyTorch":
		return isTorch(head)
	case "Keras":
		return isKeras(head)
	}
	return f.begins != "" && bytes.HasPrefix(head, []byte(f.begins))
}

// isTorch reports whether a file begins as the .zip that torch.save writes, whose first entry is NAME/data.pkl.
func isTorch(head []byte) bool { return strings.HasSuffix(firstEntry(head), "/data.pkl") }

// isKeras reports whether a file begins as the .zip that Keras writes, whose first entries are metadata.json and config.json.
func isKeras(head []byte) bool {
	first := firstEntry(head)
	return first == "metadata.json" || first == "config.json"
}

// firstEntry is the name of the first entry of a .zip, "" for what is none.
func firstEntry(head []byte) string {
	const fixed = 30 // bytes of an entry's header before its name
	if !bytes.HasPrefix(head, []byte("PK\x03\x04")) || len(head) < fixed {
		return ""
	}
	return string(head[fixed:min(fixed+int(binary.LittleEndian.Uint16(head[26:])), len(head))])
}

// headOf returns the first bytes of a file, by which formats are known, as far as it can be read. Where /dev/stdin shares its
// position with standard input, ReadAt leaves it.
func headOf(path string) []byte {
	file, err := os.Open(path)
	if err != nil {
		return nil
	}
	defer file.Close()
	head := make([]byte, 512)
	n, _ := file.ReadAt(head, 0)
	return head[:n]
}
