package modelproto

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"sync"

	"github.com/garner-go/garner"
	"github.com/garner-go/garner/internal/mapped"
	"github.com/garner-go/garner/model"
	"github.com/garner-go/garner/onnx/modelproto/internal/onnxpb"
	"github.com/garner-go/garner/source"
)

// A folder is the model's folder, with those of its files that hold elements.
// find checks a file when the model is opened; mapping maps it on the first read.
type folder struct {
	path  string
	root  *os.Root // opened for the first file
	files map[string]*beside
}

// beside is a file of elements beside the model.
type beside struct {
	path  string // for messages
	name  string // in the folder
	state source.FileState
	root  *os.Root

	lock   sync.Mutex
	file   *mapped.File
	err    error
	closed bool
}

// find finds a file in the model's folder. It refuses a path that leads out of the
// folder, also through a symbolic link.
func (f *folder) find(location string) (*beside, error) {
	if b, ok := f.files[location]; ok {
		return b, b.err
	}
	name := filepath.FromSlash(location)
	if !filepath.IsLocal(name) {
		return nil, fmt.Errorf("its elements are said to be in %.200q, which is not in the model's folder; put the file beside the model and name it without a folder", location)
	}
	if f.root == nil {
		root, err := os.OpenRoot(f.path)
		if err != nil {
			return nil, err
		}
		f.root = root
	}
	b := &beside{path: filepath.Join(f.path, name), name: name, root: f.root}
	// Stat comes before Open, because opening a pipe waits for its writer.
	info, err := f.root.Stat(name)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		b.err = fmt.Errorf("its elements are in %s, and there is no such file; put it beside the model", b.path)
	case err != nil:
		// os.Root refuses a link out of the folder with an error of no class.
		b.err = fmt.Errorf("its elements are in %s, which cannot be looked at: %v; a file in the model's folder is wanted, not a link to another", b.path, err)
	case !info.Mode().IsRegular():
		b.err = fmt.Errorf("its elements are in %s, which is no regular file (%s); name a file", b.path, info.Mode())
	default:
		b.state, b.err = b.look()
	}
	if f.files == nil {
		f.files = make(map[string]*beside)
	}
	f.files[location] = b
	return b, b.err
}

// names gives the paths of files in the folder, each once, and leaves out what cannot
// be there.
func (f *folder) names(locations []string) []string {
	slices.Sort(locations)
	var all []string
	for _, location := range slices.Compact(locations) {
		if name := filepath.FromSlash(location); filepath.IsLocal(name) {
			all = append(all, filepath.Join(f.path, name))
		}
	}
	return all
}

// look returns the state of the file.
func (b *beside) look() (source.FileState, error) {
	file, err := b.root.Open(b.name)
	if err != nil {
		return source.FileState{}, err
	}
	defer file.Close()
	stamp, err := mapped.StampOf(file)
	return source.FileState(stamp), err
}

// mapping gives the mapped file, the one that look saw.
func (b *beside) mapping() (*mapped.File, error) {
	b.lock.Lock()
	defer b.lock.Unlock()
	if b.closed {
		return nil, errClosed
	}
	if b.file == nil {
		file, err := b.root.Open(b.name)
		if err != nil {
			return nil, err
		}
		view, err := mapped.Map(b.path, file)
		if err != nil {
			file.Close()
			return nil, err
		}
		if err := model.Unchanged(b.path, b.state, source.FileState(view.Stamp())); err != nil {
			view.Close()
			return nil, err
		}
		b.file = view
	}
	return b.file, nil
}

func (f *folder) close() error {
	var all []error
	for _, b := range f.files {
		b.lock.Lock()
		b.closed = true
		if b.file != nil {
			all = append(all, b.file.Close())
			b.file = nil
		}
		b.lock.Unlock()
	}
	if f.root != nil {
		all = append(all, f.root.Close())
		f.root = nil
	}
	return errors.Join(all...)
}

// external makes a constant whose elements are in another file.
func (r *reader) external(t *onnxpb.TensorProto, name string, dtype garner.DType, shape garner.Shape) (*model.Constant, error) {
	if dtype == garner.String {
		return nil, errors.New("its strings are said to be in another file, where only numbers can be; write them in string_data")
	}
	size, ok := garner.SpecOf(dtype, shape...).Bytes()
	if !ok {
		return nil, fmt.Errorf("its shape %s takes more bytes than garner can count", shape)
	}
	var location string
	var offset int64
	length := size
	for _, entry := range t.ExternalData {
		var err error
		switch value := entry.GetValue(); entry.GetKey() {
		case "location":
			location = value
		case "offset":
			offset, err = parseBytes("offset", value)
		case "length":
			length, err = parseBytes("length", value)
		}
		if err != nil {
			return nil, err
		}
	}
	switch {
	case location == "":
		return nil, errors.New("its elements are in another file that is not named; set location in external_data")
	case length != size:
		return nil, fmt.Errorf("it has %d bytes in %.200q by its own account; %s%s takes %d", length, location, dtype, shape, size)
	case r.alone:
		c := r.unreadable(name, garner.SpecOf(dtype, shape...), "its elements are in another file, %.200q, which is not at hand", location)
		r.absent[c] = true
		return c, nil
	case r.folder == nil:
		return nil, fmt.Errorf("its elements are in another file, %.200q, which is not read here; open the model by its path", location)
	}
	file, err := r.folder.find(location)
	if err != nil {
		return nil, err
	}
	if have := file.state.Size; offset > have || size > have-offset {
		return nil, fmt.Errorf("its elements are %d bytes from %d on of %s, which has %d bytes: the file is cut short or another one; get it again", size, offset, file.path, have)
	}
	c := model.NewConstant(name, garner.SpecOf(dtype, shape...), func() (made garner.Tensor, err error) {
		b, err := file.mapping()
		if err == nil {
			made, err = readMapped(b, int(offset), int(size), func(b []byte) (garner.Tensor, error) { return model.View(dtype, b, shape...) })
		}
		return made, r.atTensor(name, err)
	})
	c.File, c.Offset, c.Size, c.State = file.path, offset, size, file.state
	return c, nil
}
