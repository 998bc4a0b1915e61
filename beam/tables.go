package beam

import (
	"context"
	"fmt"
	"slices"
	"sync"

	"github.com/garner-go/garner"
	"github.com/garner-go/garner/beam/internal/wire"
	"github.com/garner-go/garner/source"
)

// A recorder stands in for a table whose rows nobody reads yet: it notes which bytes a
// run fetches, and gives zeros for them. Which rows a gather fetches depends on its
// indices alone, never on the bytes of a table.
type recorder struct {
	spec garner.Spec

	mu     sync.Mutex
	wanted []extent
	most   int // of them, from which on repeats are worth a search
}

func (r *recorder) Spec() garner.Spec { return r.spec }

func (r *recorder) Fetch(_ context.Context, rows source.Rows) error {
	clear(rows.Dst)
	r.mu.Lock()
	defer r.mu.Unlock()
	if rows.Size == 0 {
		return nil
	}
	if len(r.wanted) > max(r.most, 4*distinctAt) {
		r.wanted = disjoint(r.wanted)
		r.most = 2 * len(r.wanted)
	}
	for _, at := range rows.At {
		r.wanted = append(r.wanted, extent{at, at + int64(rows.Size)})
	}
	return nil
}

// distinctAt is a number of extents from which on repeats are worth a search.
const distinctAt = 1 << 18

// extents returns the distinct bytes that were fetched.
func (r *recorder) extents() []extent {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.wanted = disjoint(r.wanted)
	return r.wanted
}

// A sparse table has the rows that arrived for a shard, and no other.
type sparse struct {
	spec garner.Spec
	held *held
}

// A placed is rows that arrived.
type placed struct {
	rows wire.Rows
	data []byte // of the rows, in their order
}

// newSparse puts the rows of a table in their places. The same bytes may arrive twice.
func newSparse(spec garner.Spec, pieces []placed) *sparse {
	var all []extent
	for _, p := range pieces {
		for _, at := range p.rows.At {
			all = append(all, extent{at, at + int64(p.rows.Size)})
		}
	}
	s := &sparse{spec: spec, held: hold(disjoint(all))}
	for _, p := range pieces {
		for i, at := range p.rows.At {
			copy(s.held.row(at, int64(p.rows.Size)), p.data[i*p.rows.Size:])
		}
	}
	return s
}

func (s *sparse) Spec() garner.Spec { return s.spec }

func (s *sparse) Fetch(ctx context.Context, rows source.Rows) error {
	if ctx.Err() != nil {
		return context.Cause(ctx)
	}
	for i, at := range rows.At {
		if rows.Size == 0 {
			break
		}
		row := s.held.row(at, int64(rows.Size))
		if row == nil {
			return fmt.Errorf("garner-beam: bytes %d … %d of %s did not arrive; the indices have changed since they were read first, or the workers run different builds", at, at+int64(rows.Size)-1, s.spec)
		}
		copy(rows.Dst[i*rows.Size:], row)
	}
	return nil
}

// fetch reads extents of a table that ascend and do not overlap.
func fetch(ctx context.Context, table source.Array, all []extent) (*held, error) {
	h := hold(all)
	for _, r := range rows(all) {
		// Rows of a part are read side by side, as many as fit into a piece of scratch.
		for at := range slices.Chunk(r.At, max(1, fetchBytes/r.Size)) {
			dst := make([]byte, len(at)*r.Size)
			if err := table.Fetch(ctx, source.Rows{At: at, Size: r.Size, Dst: dst}); err != nil {
				return nil, err
			}
			for i, from := range at {
				copy(h.row(from, int64(r.Size)), dst[i*r.Size:])
			}
		}
	}
	return h, nil
}

// fetchBytes is the most scratch of a Fetch.
const fetchBytes = 4 << 20
