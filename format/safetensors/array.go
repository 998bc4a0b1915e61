package safetensors

import (
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/garner-go/garner"
	"github.com/garner-go/garner/format/layout"
	"github.com/garner-go/garner/internal/jsonfile"
	"github.com/garner-go/garner/internal/names"
	"github.com/garner-go/garner/source"
)

// IndexSuffix ends the name of an index.
const IndexSuffix = ".safetensors.index.json"

// A Listing is the contents of the headers of a model's files. It holds no file
// open and is safe for concurrent use.
type Listing struct {
	path    string
	tensors []Tensor
	byName  map[string]int
}

// A Tensor describes a tensor as its header does.
type Tensor struct {
	Name  string
	Kind  string       // the format's name of its dtype: F32, F8_E4M3
	DType garner.DType // Invalid for an unsupported kind
	Shape garner.Shape
	Path  string // of its file
	At    int64  // its offset in the file, in bytes
	Bytes int64

	header *layout.Header
}

// List reads the header of a file. If path ends in IndexSuffix, it reads the index
// and the headers of all files in it. It maps nothing and reads no tensor.
//
// The files of an index must lie in its folder or below, after links are resolved.
// Where the index itself is a link, the folder of its target is allowed too, which
// the caches of model hubs need. Any other file is an ErrFormat, and so is a tensor
// that its file does not have.
func List(path string) (*Listing, error) {
	if !isIndex(path) {
		return listFile(path, nil)
	}
	ix, err := openIndex(path)
	if err != nil {
		return nil, err
	}
	l := &Listing{path: path, byName: map[string]int{}}
	for _, shard := range ix.shards {
		found, err := ix.list(shard)
		if err != nil {
			return nil, err
		}
		for _, t := range found.tensors {
			if ix.weights[t.Name] == shard {
				l.add(t)
			}
		}
	}
	for name, shard := range ix.weights {
		if _, ok := l.byName[name]; !ok {
			return nil, names.Error(path, formatError("it says that tensor %s is in %s, and it is not; the files are of different models: copy all of them again", names.Quote(name), names.Quote(shard)))
		}
	}
	return l, nil
}

func isIndex(path string) bool { return strings.HasSuffix(strings.ToLower(path), IndexSuffix) }

func (l *Listing) add(t Tensor) {
	l.byName[t.Name] = len(l.tensors)
	l.tensors = append(l.tensors, t)
}

// listFile reads the header of one file; header is the open file, or nil.
func listFile(path string, header *layout.Header) (*Listing, error) {
	if header == nil {
		var err error
		if header, err = layout.OpenHeader(path); err != nil {
			return nil, err
		}
	}
	defer header.Close()
	l := &Listing{path: path, byName: map[string]int{}}
	list, err := Describe(header, header.Size())
	if err != nil {
		return nil, names.Error(path, err)
	}
	for _, t := range list {
		t.Path, t.header = path, header
		l.add(t)
	}
	return l, nil
}

// Describe reads the header at the beginning of a file of size bytes, and returns the
// tensors in the order of their bytes. They have no Path. A violation of the format is an
// ErrFormat.
func Describe(r io.Reader, size int64) ([]Tensor, error) {
	start, entries, err := readEntries(r, size)
	if err != nil {
		return nil, err
	}
	list := make([]Tensor, len(entries))
	for n, e := range entries {
		list[n] = Tensor{Name: e.name, Kind: e.dtype, Shape: e.shape, At: start + int64(e.begin), Bytes: int64(e.end - e.begin)}
		if i, ok := byName[e.dtype]; ok {
			list[n].DType = dtypes[i].dtype
		}
	}
	return list, nil
}

// readEntries reads the header of a file of size bytes, and returns the offset of
// the tensors' bytes.
func readEntries(r io.Reader, size int64) (start int64, entries []entry, err error) {
	var length [8]byte
	first := length[:min(size, 8)]
	if _, err := io.ReadFull(r, first); err != nil {
		return 0, nil, notRead(err)
	}
	n, err := headerLen(first, size)
	if err != nil {
		return 0, nil, err
	}
	text := make([]byte, n)
	if _, err := io.ReadFull(r, text); err != nil {
		return 0, nil, notRead(err)
	}
	start = int64(8 + n)
	entries, _, err = parseHeader(text, uint64(size-start))
	return start, entries, err
}

func notRead(err error) error {
	if err == io.EOF || err == io.ErrUnexpectedEOF {
		return formatError("it was cut short while it was read; run again when nothing writes to it")
	}
	return garner.Errorf(err, "it cannot be read: %v", err)
}

// Tensors returns all tensors, file by file, in the order of their bytes.
func (l *Listing) Tensors() []Tensor { return slices.Clone(l.tensors) }

// Names returns the names of the tensors, in the order of Tensors.
func (l *Listing) Names() []string {
	all := make([]string, len(l.tensors))
	for i, t := range l.tensors {
		all[i] = t.Name
	}
	return all
}

// Layout returns the location of a tensor, for opening it or joining it with others.
// An unknown name is an fs.ErrNotExist that lists similar names; an unsupported
// dtype is a garner.ErrDType.
func (l *Listing) Layout(name string) (layout.Array, error) {
	i, ok := l.byName[name]
	if !ok {
		return layout.Array{}, names.Error(l.path, noTensor(name, l.Names()))
	}
	t := l.tensors[i]
	if t.DType == garner.Invalid {
		return layout.Array{}, names.Error(t.Path, unread(name, t.Kind))
	}
	return layout.Array{
		Spec:     garner.SpecOf(t.DType, t.Shape...),
		Segments: []source.Segment{{Path: t.Path, Offset: t.At, Bytes: t.Bytes}},
		Headers:  []*layout.Header{t.header},
	}, nil
}

func noTensor(name string, all []string) error {
	return garner.Errorf(fs.ErrNotExist, "it has no tensor %s; %s", names.Quote(name), names.Near(name, all))
}

func unread(name, kind string) error {
	return garner.Errorf(garner.ErrDType, "tensor %s is of %.100s, which garner does not read; convert it to a wider type", names.Quote(name), kind)
}

// Layout returns the location of one tensor of a file, or of the files of an index.
// With an index it reads only the header of the file that has the tensor.
func Layout(path, name string) (layout.Array, error) {
	if !isIndex(path) {
		l, err := listFile(path, nil)
		if err != nil {
			return layout.Array{}, err
		}
		return l.Layout(name)
	}
	ix, err := openIndex(path)
	if err != nil {
		return layout.Array{}, err
	}
	shard, ok := ix.weights[name]
	if !ok {
		return layout.Array{}, names.Error(path, noTensor(name, ix.names))
	}
	l, err := ix.list(shard)
	if err != nil {
		return layout.Array{}, err
	}
	return l.Layout(name)
}

// OpenArray opens one tensor of a file, or of the files of an index. Unlike Open it
// maps nothing, so files may have any size. Errors are those of List and
// Listing.Layout.
func OpenArray(path, name string) (*source.File, error) {
	a, err := Layout(path, name)
	if err != nil {
		return nil, err
	}
	return a.Open()
}

// Files returns the names of all files of the model that a file is part of: an index
// and its files, given any one of them. A file is part of the indexes beside it that
// name it, links resolved or not. Where there is none, Files returns the file alone;
// it leaves out an index that cannot be read.
func Files(path string) []string {
	all, indexes := []string{path}, []string{path}
	if !isIndex(path) {
		indexes = indexesBeside(path)
	}
	info, err := os.Stat(path)
	if err != nil {
		return all
	}
	for _, index := range indexes {
		ix, err := openIndex(index)
		if err != nil {
			continue
		}
		files := []string{index}
		for _, shard := range ix.shards {
			files = append(files, filepath.Join(filepath.Dir(index), filepath.FromSlash(shard)))
		}
		if slices.ContainsFunc(files, func(file string) bool {
			there, err := os.Stat(file)
			return err == nil && os.SameFile(info, there)
		}) {
			all = append(all, files...)
		}
	}
	return all
}

// indexesBeside lists the indexes in the folder of a file, and in that of the file
// that it links to.
func indexesBeside(path string) []string {
	dirs := []string{filepath.Dir(path)}
	if real, err := filepath.EvalSymlinks(path); err == nil && filepath.Dir(real) != dirs[0] {
		dirs = append(dirs, filepath.Dir(real))
	}
	var all []string
	for _, dir := range dirs {
		folder, err := os.Open(dir)
		if err != nil {
			continue // a folder may be readable file by file alone
		}
		for err == nil {
			var some []string // of what may be a million files
			some, err = folder.Readdirnames(1024)
			for _, name := range some {
				if isIndex(name) {
					all = append(all, filepath.Join(dir, name))
				}
			}
		}
		folder.Close()
	}
	return all
}

// An index maps each tensor of a model to its file.
type index struct {
	path    string
	homes   []string          // the folders, links resolved, that its files may lie in
	weights map[string]string // file of each tensor
	names   []string          // of the tensors, in the order of the index
	shards  []string          // the files, in numeric order
}

// maxIndex limits the length of an index in bytes, to that of a header.
const maxIndex = maxHeader

func openIndex(path string) (*index, error) {
	file, err := layout.OpenHeader(path)
	if err != nil {
		return nil, err
	}
	defer file.Close()
	ix := &index{path: path, weights: map[string]string{}}
	if err := ix.read(file, file.Size()); err != nil {
		return nil, names.Error(path, err)
	}
	for _, at := range []func() (string, error){
		func() (string, error) { return filepath.EvalSymlinks(filepath.Dir(path)) },
		func() (string, error) {
			real, err := filepath.EvalSymlinks(path)
			return filepath.Dir(real), err
		},
	} {
		home, err := at()
		if err == nil {
			home, err = filepath.Abs(home)
		}
		if err != nil {
			return nil, names.Error(path, garner.Errorf(err, "its folder cannot be found: %v; name it without links", err))
		}
		ix.homes = append(ix.homes, home)
	}
	return ix, nil
}

// read reads the JSON.
func (ix *index) read(r io.Reader, size int64) error {
	if size > maxIndex {
		return formatError("it has %d bytes, and an index of up to %d is read; it is no index of tensors", size, maxIndex)
	}
	p := jsonfile.New(r, "it", ErrFormat)
	seen := map[string]bool{}
	err := p.Object("the index", seen, func(key string) error {
		if key != "weight_map" {
			return p.Skip()
		}
		return p.Object(key, map[string]bool{}, func(name string) error {
			token, err := p.Token()
			if err != nil {
				return p.Spoilt(err)
			}
			shard, ok := token.(string)
			if !ok {
				return formatError("its weight_map has %.100v for tensor %s instead of a file's name; it is spoilt, save it again", token, names.Quote(name))
			}
			if err := checkShard(shard); err != nil {
				return err
			}
			ix.weights[name] = shard
			ix.names = append(ix.names, name)
			return nil
		})
	})
	if err != nil {
		return err
	}
	if err := p.End(); err != nil {
		return err
	}
	if !seen["weight_map"] {
		return formatError("it has no weight_map, which says what is in which file; it is no index of tensors")
	}
	for _, shard := range ix.weights {
		ix.shards = append(ix.shards, shard)
	}
	slices.SortFunc(ix.shards, names.Numeric)
	ix.shards = slices.Compact(ix.shards)
	return nil
}

// checkShard refuses the name of a file outside the index's folder.
func checkShard(shard string) error {
	if !filepath.IsLocal(shard) || strings.ContainsAny(shard, "\\:") || filepath.Clean(shard) == "." {
		return formatError("its weight_map names the file %s, which is not in its own folder; only files beside an index are read: copy them there", names.Quote(shard))
	}
	return nil
}

// list checks the location of one of the files and reads its header.
func (ix *index) list(shard string) (*Listing, error) {
	path := filepath.Join(filepath.Dir(ix.path), filepath.FromSlash(shard))
	header, err := layout.OpenHeader(path)
	if err != nil {
		return nil, names.Error(ix.path, err)
	}
	real, err := filepath.EvalSymlinks(path)
	if err == nil {
		real, err = filepath.Abs(real)
	}
	if err == nil {
		err = ix.holds(shard, real, header)
	}
	if err != nil {
		header.Close()
		return nil, names.Error(ix.path, err)
	}
	return listFile(path, header)
}

// holds checks that an open file, at a path without links, lies in one of the
// index's folders.
func (ix *index) holds(shard, real string, header *layout.Header) error {
	opened, err := header.Stat()
	if err != nil {
		return err
	}
	there, err := os.Stat(real)
	if err != nil {
		return err
	}
	for _, home := range ix.homes {
		below, err := filepath.Rel(home, real)
		if err == nil && filepath.IsLocal(below) && os.SameFile(opened, there) {
			return nil
		}
	}
	return formatError("its file %s is a link that leads out of its own folder, to %s; only files beside an index are read: copy it there", names.Quote(shard), names.Quote(real))
}
