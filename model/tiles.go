package model

import (
	"context"
	"errors"
	"fmt"
	"math"
	"sort"
	"strings"

	"github.com/garner-go/garner"
	"github.com/garner-go/garner/source"
)

// A Tile is a constant that holds a box of the elements of another: those from At on along each
// axis, as many as it has itself.
type Tile struct {
	At       []int
	Constant *Constant // with a File, of the dtype and the rank of the other
}

// tiled is the array of a constant in tiles. A row is put together of its parts.
type tiled struct {
	spec  garner.Spec
	size  int64   // bytes of all elements
	dims  []int64 // up to the last axis that is cut; those behind it make a unit
	unit  int64   // bytes
	tiles []openTile
}

// openTile is a tile as it is read.
type openTile struct {
	file     *source.File
	from, to []int64 // along each of the dims
	width    int64   // bytes along the last of them
}

// SetTiles says where the elements of a constant lie, each row of them in several places.
func (c *Constant) SetTiles(tiles []Tile) {
	c.Tiles, c.openTiles = tiles, openTiles // by a value: a program that reads no such format does not hold what reads parts of rows
}

// openTiles opens a constant in tiles.
func openTiles(c *Constant) (Array, error) {
	if err := c.open(); err != nil {
		return nil, err
	}
	shape, _ := c.Spec.Shape()
	size, ok := c.Spec.Bytes()
	last := 0
	for _, t := range c.Tiles {
		own, known := t.Constant.Spec.Shape()
		if ok = ok && known && len(own) == len(shape) && len(t.At) == len(shape) && len(shape) > 0; !ok {
			break
		}
		for axis := last; axis < len(shape); axis++ {
			if own[axis] != shape[axis] {
				last = axis
			}
		}
	}
	if !ok || c.Spec.DType.Bits()%8 != 0 {
		return nil, garner.Errorf(garner.ErrShape, "constant %.200q: its tiles are no boxes of %s", c.Name, c.Spec)
	}
	a := &tiled{spec: c.Spec, size: size, unit: int64(c.Spec.DType.Bits() / 8)}
	for axis, d := range shape {
		if axis <= last {
			a.dims = append(a.dims, int64(d))
		} else {
			a.unit *= int64(d)
		}
	}
	for _, t := range c.Tiles {
		if n, _ := t.Constant.Bytes(); n == 0 {
			continue
		}
		own, _ := t.Constant.Spec.Shape()
		file, err := t.Constant.OpenAs(t.Constant.Spec)
		if err != nil {
			a.Close()
			return nil, err
		}
		made := openTile{file: file}
		for axis := range a.dims {
			made.from, made.to = append(made.from, int64(t.At[axis])), append(made.to, int64(t.At[axis]+own[axis]))
		}
		made.width = int64(own[len(a.dims)-1]) * a.unit
		a.tiles = append(a.tiles, made)
	}
	return a, nil
}

// Spec returns the dtype and the dims of the whole.
func (a *tiled) Spec() garner.Spec { return a.spec }

// Fetch reads rows; see source.Array. A row may lie in several tiles. The time is in proportion to the parts of
// rows that lie in one piece, and to the tiles.
func (a *tiled) Fetch(ctx context.Context, rows source.Rows) error {
	return a.fetch(ctx, rows, &parts{})
}

// fetch is Fetch; b says afterwards how many lines it looked at.
func (a *tiled) fetch(ctx context.Context, rows source.Rows, b *parts) error {
	size, last := int64(rows.Size), len(a.dims)-1
	if size == 0 || len(rows.At) == 0 {
		return nil
	}
	if rows.At[0] < 0 || rows.At[len(rows.At)-1] > a.size-size {
		return garner.Errorf(garner.ErrShape, "rows of %d bytes from %d to %d of %s; it has none there", size, rows.At[0], rows.At[len(rows.At)-1], a.spec)
	}
	line := a.dims[last] * a.unit // bytes along the last axis that is cut
	for i := range a.tiles {
		t := &a.tiles[i]
		if err := context.Cause(ctx); err != nil {
			return err
		}
		for k := 0; k < len(rows.At); {
			at, dst := rows.At[k], rows.Dst[int64(k)*size:][:size]
			end, begin := at+size, int64(0)
			for n := at / line; ; n++ {
				b.lines++
				var number int64
				if n, number = t.line(a.dims, n); n < 0 {
					begin = math.MaxInt64
					break
				}
				if begin = n*line + t.from[last]*a.unit; begin >= end {
					break
				}
				if from, to := max(at, begin), min(end, begin+t.width); from < to {
					if err := b.add(ctx, t.file, number*t.width+from-begin, dst[from-at:to-at]); err != nil {
						return err
					}
				}
				if begin+t.width > end {
					break
				}
			}
			// What the tile has behind this row begins at begin, or goes on: rows between the two have nothing of it.
			if k++; k < len(rows.At) && rows.At[k] >= end {
				k += sort.Search(len(rows.At)-k, func(i int) bool { return rows.At[k+i]+size > begin })
			}
		}
		if err := b.fetch(ctx, t.file); err != nil {
			return err
		}
	}
	return nil
}

// line finds the first line of the array along the last of dims, from the n-th on, that the tile has elements of; -1
// where there is none. number is its number in the tile.
func (t *openTile) line(dims []int64, n int64) (first, number int64) {
	last := len(dims) - 1
	var at [garner.MaxRank]int64
	for axis := last - 1; axis > 0; axis-- {
		at[axis], n = n%dims[axis], n/dims[axis]
	}
	if last == 0 && n > 0 {
		return -1, 0
	}
	at[0] = n // of the first axis, or of none
	for axis := range last {
		if at[axis] >= t.from[axis] && at[axis] < t.to[axis] {
			continue
		}
		if at[axis] >= t.to[axis] { // the next position along an axis before it
			for axis--; axis >= 0 && at[axis]+1 >= t.to[axis]; axis-- {
			}
			if axis < 0 {
				return -1, 0
			}
			at[axis]++
			axis++
		}
		copy(at[axis:last], t.from[axis:])
		break
	}
	for axis := range last {
		first = first*dims[axis] + at[axis]
		number = number*(t.to[axis]-t.from[axis]) + at[axis] - t.from[axis]
	}
	return first, number
}

// parts are parts of rows that a file has, of one size, which are read together.
type parts struct {
	at    []int64
	dst   [][]byte
	size  int
	buf   []byte
	lines int // of tiles that fetch looked at, which tests count
}

// add adds a part, and reads those before it where it does not go with them.
func (p *parts) add(ctx context.Context, file *source.File, at int64, dst []byte) error {
	if n := len(p.at); n > 0 && (len(dst) != p.size || at <= p.at[n-1] || (n+1)*p.size > pieceBytes) {
		if err := p.fetch(ctx, file); err != nil {
			return err
		}
	}
	p.at, p.dst, p.size = append(p.at, at), append(p.dst, dst), len(dst)
	return nil
}

// fetch reads the parts.
func (p *parts) fetch(ctx context.Context, file *source.File) error {
	rows := source.Rows{At: p.at, Size: p.size}
	switch n := len(p.at) * p.size; {
	case n == 0:
		return nil
	case len(p.at) == 1:
		rows.Dst = p.dst[0]
	default:
		if cap(p.buf) < n {
			p.buf = make([]byte, n)
		}
		rows.Dst = p.buf[:n]
	}
	way := file.Way(rows)
	if way == source.Mapped || way == source.WillNeed {
		way = source.Pread // mapped pages, which this process would keep, save little of what parts cost
	} else {
		way = source.Auto // where another call has the ring
	}
	if err := file.FetchBy(ctx, way, rows); err != nil {
		return err
	}
	if len(p.at) > 1 {
		for i, dst := range p.dst {
			copy(dst, rows.Dst[i*p.size:])
		}
	}
	p.at, p.dst = p.at[:0], p.dst[:0]
	return nil
}

// Files are those of the tiles: with the Spec and the Layout they identify the array.
func (a *tiled) Files() []*source.File {
	all := make([]*source.File, len(a.tiles))
	for i, t := range a.tiles {
		all[i] = t.file
	}
	return all
}

// Layout says where each tile stands.
func (a *tiled) Layout() string {
	var b strings.Builder
	for _, t := range a.tiles {
		fmt.Fprint(&b, t.from, t.to)
	}
	return b.String()
}

// Changed is the error of a file that is no longer what it was when it was opened.
func (a *tiled) Changed() error {
	for _, t := range a.tiles {
		if err := t.file.Changed(); err != nil {
			return err
		}
	}
	return nil
}

// Close closes the files.
func (a *tiled) Close() error {
	var all []error
	for _, t := range a.tiles {
		all = append(all, t.file.Close())
	}
	return errors.Join(all...)
}
