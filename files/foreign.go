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

// foreign has formats that garner does not read: how their files begin, and what is in a folder of one. What a file of
// one is saved as instead is no other than what garner reads.
var foreign = []struct {
	name   string
	begins string
	holds  []string // in a folder, by the whole name or by the extension
	remedy string
}{
	{"Zarr", "", []string{"zarr.json", ".zarray", ".zgroup"}, "save the array as FILE.npy, as numpy.save does"},
	{"Parquet", "PAR1", []string{".parquet"}, "save a column as FILE.npy, as numpy.save does"},
	{"HDF5", "\x89HDF\r\n\x1a\n", []string{".h5", ".hdf5"}, "save the array as FILE.npy, as numpy.save does"},
	{"Arrow", "ARROW1", []string{".arrow", ".feather"}, "save a column as FILE.npy, as numpy.save does"},
	{"PyTorch", "", []string{".pt", ".pth"}, "save its tensors as FILE.safetensors, as safetensors.torch.save_file does"},
}

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
		if f.begins != "" && bytes.HasPrefix(head, []byte(f.begins)) || f.name == "PyTorch" && isTorch(head) {
			return unknownError{garner.Errorf(garner.ErrAttribute, "%s is of %s, which garner does not read; %s", path, f.name, f.remedy)}
		}
	}
	return nil
}

func refuseFolder(path, name string) error {
	folder, err := os.Open(path)
	if err != nil {
		return nil
	}
	defer folder.Close()
	entries, _ := folder.ReadDir(folderEntries) // what was read before an error is enough for a message
	slices.SortFunc(entries, func(a, b fs.DirEntry) int { return strings.Compare(a.Name(), b.Name()) })
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
		return unknownError{garner.Errorf(garner.ErrAttribute, "%s is a folder, which is no array itself; it holds %s: name %s#%s", path, at, filepath.Join(path, at), array)}
	}
	if npy {
		return unknownError{garner.Errorf(garner.ErrAttribute, "%s is a folder, which is no array itself; name one of its files, or join all of them along axis 0 with the pattern %s", path, filepath.Join(path, "*.npy"))}
	}
	for _, f := range foreign {
		for _, e := range entries {
			if lower := lowerASCII(e.Name()); slices.ContainsFunc(f.holds, func(x string) bool { return lower == x || filepath.Ext(lower) == x && lower != x }) {
				return unknownError{garner.Errorf(garner.ErrAttribute, "%s is a folder of %s, by its %s, which garner does not read; %s", path, f.name, e.Name(), f.remedy)}
			}
		}
	}
	return nil
}

// isTorch reports whether a file begins as the .zip that torch.save writes, whose first entry is NAME/data.pkl.
func isTorch(head []byte) bool {
	const fixed = 30 // bytes of an entry's header before its name
	if !bytes.HasPrefix(head, []byte("PK\x03\x04")) || len(head) < fixed {
		return false
	}
	end := min(fixed+int(binary.LittleEndian.Uint16(head[26:])), len(head))
	return bytes.HasSuffix(head[fixed:end], []byte("/data.pkl"))
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
