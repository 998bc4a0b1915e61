package files

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"sort"
	"sync"

	"github.com/garner-go/garner"
	"github.com/garner-go/garner/format/shards"
	"github.com/garner-go/garner/internal/names"
	"github.com/garner-go/garner/source"
)

// Elsewhere fetches rows of a shard of a manifest that another node has. Their
// positions count from the shard's first byte. Many goroutines call it at once.
type Elsewhere func(ctx context.Context, m *shards.Manifest, shard int, rows source.Rows) error

// A Spread is the array of a manifest some of whose shards other nodes have; see
// Options.Elsewhere. It reads rows of this node's shards, and asks for those of others.
type Spread struct {
	Manifest *shards.Manifest

	spec      garner.Spec
	ends      []int64 // the byte behind each shard, from the array's first
	elsewhere func(ctx context.Context, shard int, rows source.Rows) error
	open      []func() (Array, error) // of the shards that this node has

	mu     sync.Mutex
	opened []Array
	closed bool
}

// isSpread reports whether an error says that another node has a shard, and that the
// caller knows how to ask it.
func (o Options) isSpread(err error) bool {
	return o.Elsewhere != nil && errors.Is(err, shards.ErrNode)
}

// openSpread opens the array of a manifest. It opens a shard when a row of it is read.
func openSpread(path string, o Options) (*Spread, error) {
	m, err := shards.Read(path)
	if err != nil {
		return nil, err
	}
	if o.DType != garner.Invalid && o.DType != m.DType {
		return nil, garner.Errorf(garner.ErrDType, "%s is %s itself and the dtype asked for is %s; leave that out", path, m.DType, o.DType)
	}
	s := &Spread{Manifest: m, spec: m.Spec(), open: make([]func() (Array, error), len(m.Shards))}
	elements := int64(0)
	for i, shard := range m.Shards {
		elements += shard.Elements
		s.ends = append(s.ends, (elements*int64(m.DType.Bits())+7)/8)
		s.open[i] = sync.OnceValues(func() (Array, error) {
			a, err := OpenShard(context.Background(), m, i)
			if err != nil {
				return nil, err
			}
			s.mu.Lock()
			defer s.mu.Unlock()
			s.opened = append(s.opened, a)
			return a, nil
		})
	}
	s.elsewhere = func(ctx context.Context, shard int, rows source.Rows) error {
		return o.Elsewhere(ctx, m, shard, rows)
	}
	return s, nil
}

// Spec returns the dtype and the dims of the whole array.
func (s *Spread) Spec() garner.Spec { return s.spec }

// Fetch reads rows; see source.Array. A row may lie in several shards.
func (s *Spread) Fetch(ctx context.Context, rows source.Rows) error {
	size := int64(rows.Size)
	if len(rows.At) == 0 || size == 0 {
		return nil
	}
	for i := 0; i < len(rows.At); {
		at := rows.At[i]
		shard := sort.Search(len(s.ends), func(k int) bool { return s.ends[k] > at })
		if shard == len(s.ends) || at < 0 {
			return garner.Errorf(garner.ErrShape, "a row at byte %d of %s; it has none there", at, s.spec)
		}
		begin := int64(0)
		if shard > 0 {
			begin = s.ends[shard-1]
		}
		end := s.ends[shard]
		n := sort.Search(len(rows.At)-i, func(k int) bool { return rows.At[i+k]+size > end })
		part := source.Rows{Size: rows.Size, Dst: rows.Dst[i*rows.Size : (i+n)*rows.Size]}
		if n == 0 { // it goes on in the next shard
			first := end - at
			part = source.Rows{Size: int(first), Dst: rows.Dst[i*rows.Size:][:first]}
			rest := source.Rows{At: []int64{end}, Size: int(size - first), Dst: rows.Dst[i*rows.Size:][first:size]}
			if err := s.Fetch(ctx, rest); err != nil {
				return err
			}
			n = 1
		}
		for _, at := range rows.At[i : i+n] {
			part.At = append(part.At, at-begin)
		}
		if err := s.FetchShard(ctx, shard, part); err != nil {
			return err
		}
		i += n
	}
	return nil
}

// FetchShard reads rows of one shard, whose positions count from its first byte.
func (s *Spread) FetchShard(ctx context.Context, shard int, rows source.Rows) error {
	if shard < 0 || shard >= len(s.open) {
		return garner.Errorf(garner.ErrShape, "%s has no shard %d", names.Quote(s.Manifest.Path), shard)
	}
	if !s.Manifest.Shards[shard].Local() {
		return s.elsewhere(ctx, shard, rows)
	}
	s.mu.Lock()
	closed := s.closed
	s.mu.Unlock()
	if closed {
		return errClosed
	}
	a, err := s.open[shard]()
	if err != nil {
		return err
	}
	return a.Fetch(ctx, rows)
}

var errClosed = garner.Errorf(fs.ErrClosed, "the array is closed")

// Changed is the error of a shard of this node that is no longer what it was when it
// was opened; see source.File.Changed.
func (s *Spread) Changed() error {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, a := range s.opened {
		if c, ok := a.(interface{ Changed() error }); ok {
			if err := c.Changed(); err != nil {
				return err
			}
		}
	}
	return nil
}

// Close closes the shards that are open.
func (s *Spread) Close() error {
	s.mu.Lock()
	defer s.mu.Unlock()
	var all error
	for _, a := range s.opened {
		all = errors.Join(all, a.Close())
	}
	s.opened, s.closed = nil, true
	return all
}

// identity differs between manifests that say different things, and between states of the
// shards that this node has.
func (s *Spread) identity() (string, error) {
	is := *s.Manifest
	is.Path = ""
	b, err := json.Marshal(is)
	if err != nil {
		return "", err
	}
	for _, shard := range is.Shards {
		if !shard.Local() {
			continue
		}
		if info, err := os.Stat(shard.Path(s.Manifest.Dir())); err == nil {
			b = fmt.Appendf(b, "\n%s %d %v", shard.File, info.Size(), info.ModTime().UTC())
		}
	}
	sum := sha256.Sum256(b)
	return "manifest " + hex.EncodeToString(sum[:]), nil
}
