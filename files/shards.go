package files

import (
	"context"
	"errors"
	"fmt"

	"github.com/garner-go/garner"
	"github.com/garner-go/garner/format/layout"
	"github.com/garner-go/garner/format/shards"
	"github.com/garner-go/garner/internal/names"
)

// shardsLayout joins the shards of a manifest.
func shardsLayout(path, _ string, o Options) (layout.Array, error) {
	m, err := shards.Read(path)
	if err != nil {
		return layout.Array{}, err
	}
	if len(m.Shards) == 0 {
		return layout.Array{Spec: m.Spec()}, nil
	}
	arrays := make([]layout.Array, len(m.Shards))
	for i := range arrays {
		if arrays[i], err = shardLayout(m, i); err != nil {
			return layout.Array{}, err
		}
	}
	joined, err := layout.Join(arrays)
	if err != nil {
		return layout.Array{}, names.Error(path, err)
	}
	joined.Spec = m.Spec()
	return joined, nil
}

// shardLayout is the layout of one shard, as the vector of its elements.
func shardLayout(m *shards.Manifest, i int) (layout.Array, error) {
	s, spec := m.Shards[i], m.ShardSpec(i)
	a, err := func() (layout.Array, error) {
		f, _, ok := formatOf(s.File)
		if !ok || f.Layout == nil || f.Folder != "" {
			return layout.Array{}, garner.Errorf(shards.ErrFormat, "its shard %s is of no format that a shard can have; write it as %s", names.Quote(s.File), shards.Extension(m.DType))
		}
		o := Options{DType: m.DType}
		if f.Headerless {
			size, _ := spec.Bytes()
			if s.Bytes != 0 && s.Bytes != size {
				return layout.Array{}, garner.Errorf(shards.ErrFormat, "its shard %s is said to have %d bytes, and %s takes %d; correct its line", names.Quote(s.File), s.Bytes, spec, size)
			}
			o.Shape, s.Bytes = []int{int(s.Elements)}, size
		}
		path, err := s.Find(m.Dir())
		if err != nil {
			return layout.Array{}, err
		}
		name, err := Operand{Format: f, Path: path, text: path}.name(o)
		if err != nil {
			return layout.Array{}, err
		}
		a, err := f.Layout(path, name, o)
		if other := (*DTypeError)(nil); errors.As(err, &other) {
			err = garner.Errorf(shards.ErrFormat, "its shard %s is of %s, and it says %s; make it again, or correct the dtype", names.Quote(s.File), other.DType, m.DType)
		}
		return a, err
	}()
	if err != nil {
		return a, names.Error(m.Path, err)
	}
	shape, ok := a.Spec.Shape()
	count, _ := shape.Len()
	switch {
	case a.Spec.DType != m.DType || !ok || int64(count) != s.Elements:
		return a, names.Error(m.Path, garner.Errorf(shards.ErrFormat, "its shard %s is %s, and it says %s; make it again, or correct its line", names.Quote(s.File), a.Spec, spec))
	case !a.RowMajor():
		return a, names.Error(m.Path, garner.Errorf(garner.ErrShape, "its shard %s is in Fortran order; save it in C order", names.Quote(s.File)))
	}
	a.Spec = spec
	return a, nil
}

// OpenShard opens shard i of a manifest alone, as the vector of its elements:
// Manifest.ShardSpec. Errors are those of Shard.Find, and those of Operand.Open.
func OpenShard(ctx context.Context, m *shards.Manifest, i int) (Array, error) {
	if ctx.Err() != nil {
		return nil, context.Cause(ctx)
	}
	a, err := shardLayout(m, i)
	if err != nil {
		return nil, err
	}
	return a.Open()
}

// shardsList reads the manifest alone: its shards may lie on other nodes.
func shardsList(path string, o Options) ([]Info, error) {
	m, err := shards.Read(path)
	if err != nil {
		return nil, err
	}
	kind := fmt.Sprintf("%d shards", len(m.Shards))
	if len(m.Shards) == 1 {
		kind = "1 shard"
	}
	a := Info{Kind: kind, DType: m.DType, Shape: m.Shape, Path: path}
	a.Bytes, _ = m.Spec().Bytes()
	for _, s := range m.Shards {
		if !s.Local() {
			a.Note = fmt.Sprintf("shard %s is read on node %s alone", names.Quote(s.File), names.Quote(s.Node))
			break
		}
	}
	return []Info{a}, nil
}

// shardsFiles lists a manifest and those of its shards that this node has.
func shardsFiles(path string) []string {
	all := []string{path}
	m, err := shards.Read(path)
	if err != nil {
		return all
	}
	for _, s := range m.Shards {
		if s.Local() {
			all = append(all, s.Path(m.Dir()))
		}
	}
	return all
}
