package graphdef

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"

	"github.com/garner-go/garner"
	"github.com/garner-go/garner/internal/beside"
	"github.com/garner-go/garner/internal/mapped"
	"github.com/garner-go/garner/internal/protofile"
	"github.com/garner-go/garner/model"
	"github.com/garner-go/garner/tensorflow/graphdef/internal/bundle"
)

// objectGraph is the key of the objects whose variables a checkpoint has.
const objectGraph = "_CHECKPOINTABLE_OBJECT_GRAPH"

// valueSuffix ends the key of a variable of TensorFlow 2.
const valueSuffix = "/.ATTRIBUTES/VARIABLE_VALUE"

// checkedBytes is the size of a tensor in bytes up to which its checksum is checked when it
// is first read in memory: 1 MiB takes some 0.1 ms. Of a larger one, rows are read that the
// checksum of the whole says nothing of.
const checkedBytes = 1 << 20

// A checkpoint is the index of a checkpoint, and its files of elements.
type checkpoint struct {
	path   string // of the index
	name   string // its prefix in the folder
	folder *beside.Folder
	index  *bundle.Index
	made   map[string]*model.Constant // by key
}

// open opens the checkpoint of a prefix; r.checkpoint stays nil where there is none.
func (r *reader) open(m *model.Model, prefix string) error {
	path := prefix + ".index"
	if _, err := os.Stat(path); errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	file, info, err := mapped.OpenFile(path)
	if err != nil {
		return err
	}
	defer file.Close()
	if info.Size() > bundle.MostBytes {
		return &model.Error{Path: path, Err: fmt.Errorf("the index has %d bytes; that of a real checkpoint has less than %d", info.Size(), bundle.MostBytes)}
	}
	b, err := io.ReadAll(io.LimitReader(file, bundle.MostBytes))
	if err != nil {
		return err
	}
	index, err := bundle.Read(b)
	if err != nil {
		return model.InFile(path, err)
	}
	r.Structure += int64(len(b))
	c := &checkpoint{path, filepath.Base(prefix), beside.In(filepath.Dir(prefix)), index, map[string]*model.Constant{}}
	r.checkpoint = c
	m.OnClose(c.folder.Close)
	m.Files = append(m.Files, path)
	var shards []string
	for _, n := range index.Used() {
		shards = append(shards, bundle.Shard(c.name, n, index.Shards))
	}
	m.Files = append(m.Files, c.folder.Names(shards)...)
	return nil
}

// inIndex names an entry of the index for a message, unless err names one.
func (c *checkpoint) inIndex(key string, err error) error {
	if e, ok := err.(*model.Error); ok && e.At != "" {
		return e
	}
	return &model.Error{Path: c.path, At: tensorNamed(key), Err: err}
}

// list makes a constant of each tensor of the checkpoint.
func (r *reader) list() error {
	if r.checkpoint == nil {
		return nil
	}
	for i := range r.checkpoint.index.Entries {
		e := &r.checkpoint.index.Entries[i]
		if e.Key == objectGraph {
			continue
		}
		c, err := r.stored(e)
		if err != nil {
			return err
		}
		v := &model.Value{Name: e.Key, Spec: c.Spec, Constant: c, Aliases: r.aliases(e.Key)}
		r.top.Constants = append(r.top.Constants, v)
	}
	return nil
}

// aliases are the other names of a variable: its key without the end that all have, and its
// own name.
func (r *reader) aliases(key string) []string {
	var list []string
	if short, ok := strings.CutSuffix(key, valueSuffix); ok {
		list = append(list, short)
	}
	if name := r.names[key]; name != "" && !slices.Contains(list, name) {
		list = append(list, name)
	}
	return list
}

// place checks where the elements of an entry are, and gives the file.
func (c *checkpoint) place(e *bundle.Entry) (*beside.File, error) {
	file, err := c.folder.Find(bundle.Shard(c.name, e.Shard, c.index.Shards))
	if err != nil {
		return nil, err
	}
	if have := file.State.Size; e.Offset > have || e.Size > have-e.Offset {
		return nil, fmt.Errorf("its elements are %d bytes from %d on of %s, which has %d bytes: the file is cut short or another one; get it again", e.Size, e.Offset, file.Path, have)
	}
	if e.Size > math.MaxInt || e.Offset > math.MaxInt {
		return nil, fmt.Errorf("its elements are %d bytes from %d on of %s, more than this 32-bit build of garner can count; use a 64-bit one", e.Size, e.Offset, file.Path)
	}
	return file, nil
}

// stored makes the constant of an entry, once.
func (r *reader) stored(e *bundle.Entry) (*model.Constant, error) {
	c := r.checkpoint
	if made := c.made[e.Key]; made != nil {
		return made, nil
	}
	if err := r.Spend(protofile.ConstantBytes + 3*len(e.Key)); err != nil {
		return nil, c.inIndex(e.Key, err)
	}
	made, err := r.constantOf(e, e.Key)
	if shape, known := shapeOf(e.Shape); err != nil && r.constants && errors.Is(err, fs.ErrNotExist) && known == nil {
		dtype, _ := dtypeOf(e.DType)
		made, err = model.NewUnread(e.Key, garner.SpecOf(dtype, shape...), c.inIndex(e.Key, err)), nil
	}
	if err != nil {
		return nil, c.inIndex(e.Key, err)
	}
	c.made[e.Key] = made
	return made, nil
}

// constantOf makes a constant of an entry: of a tensor, or of a slice of one.
func (r *reader) constantOf(e *bundle.Entry, name string) (*model.Constant, error) {
	c := r.checkpoint
	shape, err := shapeOf(e.Shape)
	if err != nil {
		return nil, err
	}
	dtype, readable := dtypeOf(e.DType)
	spec := garner.SpecOf(dtype, shape...)
	if len(e.Slices) > 0 {
		return r.joined(e, name, spec)
	}
	file, err := c.place(e)
	if err != nil {
		return nil, err
	}
	offset, size := int(e.Offset), int(e.Size)
	if dtype == garner.String {
		n, _ := shape.Len()
		if n > size {
			return nil, fmt.Errorf("it has %d bytes for %d strings: the index is corrupt; get it again", size, n)
		}
		made := model.NewConstant(name, spec, func() (garner.Tensor, error) {
			t, err := file.Tensor(offset, size, func(b []byte) (garner.Tensor, error) {
				list, err := bundle.Texts(b, n, e.Sum)
				if err != nil {
					return garner.Tensor{}, err
				}
				return garner.FromSlice(list, shape...)
			})
			return t, atConstant(file.Path, name, err)
		})
		made.Encoded = true
		return made, nil
	}
	if !readable {
		return unreadable(file.Path, name, spec, "its elements are %s, which garner does not read; cast it to another type", e.DType), nil
	}
	if want, ok := spec.Bytes(); !ok || want != e.Size {
		return nil, fmt.Errorf("it has %d bytes by its own account; %s takes %d", e.Size, spec, want)
	}
	var once sync.Once
	var bad error
	made := model.NewConstant(name, spec, func() (garner.Tensor, error) {
		t, err := file.Tensor(offset, size, func(b []byte) (garner.Tensor, error) {
			if size <= checkedBytes {
				once.Do(func() { bad = sumOf(bundle.Sum(b), e) })
			}
			if bad != nil {
				return garner.Tensor{}, bad
			}
			return model.View(dtype, b, shape...)
		})
		return t, atConstant(file.Path, name, err)
	})
	made.File, made.Offset, made.Size, made.State = file.Path, e.Offset, e.Size, file.State
	made.Verify = func(ctx context.Context) error {
		sum := bundle.Summer{}
		if size > 0 {
			err := made.Pieces(ctx, func(_ int64, b []byte) error { sum.Add(b); return nil })
			if cause := context.Cause(ctx); cause != nil {
				return cause
			}
			if err != nil {
				return atConstant(file.Path, name, err)
			}
		}
		return atConstant(file.Path, name, sumOf(sum.Sum(), e))
	}
	return made, nil
}

// sumOf compares a checksum with that of an entry.
func sumOf(sum uint32, e *bundle.Entry) error {
	if sum == e.Sum {
		return nil
	}
	return fmt.Errorf("its checksum is %#x, and the index says %#x: the checkpoint is corrupt; get it again", sum, e.Sum)
}

// atConstant adds the file and the constant's name to err; nil stays nil.
func atConstant(path, name string, err error) error {
	if err == nil {
		return nil
	}
	return &model.Error{Path: path, At: tensorNamed(name), Err: err}
}

func tensorNamed(name string) string { return fmt.Sprintf("tensor %.200q", name) }

// unreadable makes a constant whose Tensor is an error.
func unreadable(path, name string, spec garner.Spec, format string, args ...any) *model.Constant {
	err := atConstant(path, name, fmt.Errorf(format, args...))
	return model.NewUnread(name, spec, err)
}
