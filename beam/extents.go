package beam

import (
	"cmp"
	"slices"
	"sort"

	"github.com/garner-go/garner/beam/internal/wire"
)

// An extent is bytes from … to-1 of an array.
type extent struct{ from, to int64 }

// disjoint sorts extents, and joins those that overlap. It reuses their memory. Those that
// only touch stay apart, so that equal rows stay equally long.
func disjoint(all []extent) []extent {
	slices.SortFunc(all, func(a, b extent) int { return cmp.Or(cmp.Compare(a.from, b.from), cmp.Compare(a.to, b.to)) })
	kept := all[:0]
	for _, e := range all {
		if n := len(kept); n > 0 && (e.from < kept[n-1].to || e == kept[n-1]) {
			kept[n-1].to = max(kept[n-1].to, e.to)
			continue
		}
		kept = append(kept, e)
	}
	return kept
}

// A union is what several requests want of a unit of an array, each byte once.
type union struct {
	base, array int64 // where the unit begins, and the bytes of the array
	all         []extent
	most        int      // of them, from which on repeats are worth a search
	blocks      []uint64 // a bit for each block of the unit that is wanted; nil: all says what
}

// Many rows that are shorter than an extent takes are wanted by blocks, as long as a page of a disk, so
// that a unit takes little more memory than its bytes.
const (
	blockBytes = 4 << 10
	shortRow   = 16
)

func (u *union) add(r wire.Rows) {
	if u.blocks == nil && r.Size < shortRow && len(u.all)+len(r.At) > distinctAt {
		for _, e := range u.all {
			u.mark(e)
		}
		u.all = nil
		if u.blocks == nil {
			u.blocks = make([]uint64, 1)
		}
	}
	for _, at := range r.At {
		e := extent{at, at + int64(r.Size)}
		if u.blocks != nil {
			u.mark(e)
			continue
		}
		u.all = append(u.all, e)
	}
	if len(u.all) > max(u.most, distinctAt) { // repeats of many shards
		u.all = disjoint(u.all)
		u.most = 2 * len(u.all)
	}
}

// mark marks the blocks of an extent.
func (u *union) mark(e extent) {
	for k := (e.from - u.base) / blockBytes; k <= (e.to-1-u.base)/blockBytes; k++ {
		for int(k/64) >= len(u.blocks) {
			u.blocks = append(u.blocks, 0)
		}
		u.blocks[k/64] |= 1 << (k % 64)
	}
}

// extents returns what is wanted: extents that ascend and do not overlap.
func (u *union) extents() []extent {
	if u.blocks == nil {
		return disjoint(u.all)
	}
	var all []extent
	for k := range int64(len(u.blocks)) * 64 {
		if u.blocks[k/64]>>(k%64)&1 == 1 {
			from := u.base + k*blockBytes
			all = append(all, extent{from, min(from+blockBytes, u.array)})
		}
	}
	return all
}

// cut cuts extents at multiples of limit from their beginning, and where end says that a
// range of the array ends which holds a byte: no piece is longer, or goes beyond.
func cut(all []extent, limit int64, end func(at int64) int64) []extent {
	if !slices.ContainsFunc(all, func(e extent) bool { return e.to-e.from > limit || e.to > end(e.from) }) {
		return all
	}
	var pieces []extent
	for _, e := range all {
		for e.from < e.to {
			to := min(e.to, e.from+limit, end(e.from))
			pieces = append(pieces, extent{e.from, to})
			e.from = to
		}
	}
	return pieces
}

// rows groups ascending extents by their length, as a Fetch and a message take them.
func rows(all []extent) []wire.Rows {
	bySize := make(map[int64][]int64)
	for _, e := range all {
		bySize[e.to-e.from] = append(bySize[e.to-e.from], e.from)
	}
	var groups []wire.Rows
	for size, at := range bySize {
		groups = append(groups, wire.Rows{Size: int(size), At: at})
	}
	slices.SortFunc(groups, func(a, b wire.Rows) int { return cmp.Compare(a.Size, b.Size) })
	return groups
}

// A held is the bytes of extents of an array, which ascend and do not overlap.
type held struct {
	extents []extent
	at      []int64 // where the bytes of each begin in bytes
	bytes   []byte
}

// hold returns room for the bytes of disjoint extents. Those that touch are joined, so
// that a row of several pieces lies in one piece; the bytes that touch do so in memory too.
func hold(all []extent) *held {
	h := &held{}
	n := int64(0)
	for _, e := range all {
		if last := len(h.extents) - 1; last >= 0 && h.extents[last].to == e.from {
			h.extents[last].to = e.to
		} else {
			h.extents, h.at = append(h.extents, e), append(h.at, n)
		}
		n += e.to - e.from
	}
	h.bytes = make([]byte, n)
	return h
}

// row returns where bytes at … at+size-1 of the array are held; nil if they are not.
func (h *held) row(at, size int64) []byte {
	i := sort.Search(len(h.extents), func(i int) bool { return h.extents[i].from > at }) - 1
	if i < 0 || at+size > h.extents[i].to {
		return nil
	}
	from := h.at[i] + at - h.extents[i].from
	return h.bytes[from : from+size : from+size]
}
