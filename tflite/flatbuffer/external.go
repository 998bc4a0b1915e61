package flatbuffer

import (
	"github.com/garner-go/garner"
	"github.com/garner-go/garner/internal/names"
	"github.com/garner-go/garner/model"
)

// An external is a buffer in a file beside the model, or in one that the application gives.
type external struct {
	group        uint32 // the number of the file
	offset, size uint64
	packing      string
}

// readExternal reads the external buffers and the files that hold them.
func (r *reader) readExternal(root table) {
	groups := root.vector(8, "ExternalBufferGroup", 4)
	r.spend(inputBytes * groups.n)
	for i := 0; i < groups.n && r.err == nil; i++ {
		r.groups = append(r.groups, r.string(groups.tableAt(i), 0))
	}
	buffers := root.vector(9, "ExternalBuffer", 4)
	r.spend(inputBytes * buffers.n)
	for i := 0; i < buffers.n && r.err == nil; i++ {
		t := buffers.tableAt(i)
		id := t.index(0)
		if _, twice := r.external[id]; twice {
			r.failf("it has two external buffers with the id %d; give each its own", id)
			return
		}
		if r.external == nil {
			r.external = make(map[uint32]external)
		}
		r.external[id] = external{t.index(1), t.u64(2), t.u64(3), r.string(t, 4)}
	}
}

// outside makes a constant of a tensor whose elements are in an external buffer.
func (r *reader) outside(t *tensor) (*model.Constant, error) {
	e, ok := r.external[t.external]
	fail := func(format string, args ...any) (*model.Constant, error) {
		return nil, r.atTensor(t, garner.Errorf(nil, format, args...))
	}
	switch {
	case !ok:
		return fail("its elements are in the external buffer %d, and there is none of that id: the file is damaged; get it again", t.external)
	case int64(e.group) >= int64(len(r.groups)):
		return fail("its external buffer is in file %d, and there are %d: the file is damaged; get it again", e.group, len(r.groups))
	case e.packing != "" && e.packing != "unpacked":
		return fail("its external buffer is packed as %s, which garner does not read; write it unpacked", names.Quote(e.packing))
	case t.spec.DType == garner.String || t.sparse || t.spec.DType == garner.Invalid:
		return fail("its external buffer holds no numbers; write them in the model")
	case r.folder == nil:
		return fail("its elements are in another file, %s, which is not read here; open the model by its path", names.Quote(r.groups[e.group]))
	}
	if err := r.checked(t, e.size); err != nil {
		return nil, r.atTensor(t, err)
	}
	file, err := r.folder.Find(r.groups[e.group])
	if err != nil {
		return nil, r.atTensor(t, err)
	}
	if have := uint64(file.State.Size); e.offset > have || e.size > have-e.offset {
		return fail("its elements are %d bytes from %d on of %s, which has %d bytes: the file is cut short or another one; get it again", e.size, e.offset, file.Path, have)
	}
	dtype, shape, name, path := t.spec.DType, t.shape, t.name, r.path
	c := model.NewConstant(name, garner.SpecOf(dtype, shape...), func() (garner.Tensor, error) {
		made, err := file.Tensor(int(e.offset), int(e.size), func(b []byte) (garner.Tensor, error) { return model.View(dtype, b, shape...) })
		if err != nil {
			err = &model.Error{Path: path, At: tensorNamed(name), Err: err}
		}
		return made, err
	})
	c.File, c.Offset, c.Size, c.State = file.Path, int64(e.offset), int64(e.size), file.State
	return c, nil
}
