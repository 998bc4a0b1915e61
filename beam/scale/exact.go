package scale

import (
	"fmt"
	"slices"

	"github.com/garner-go/garner/beam/internal/wire"
)

// Exact counts a job whose index values are at, in their order; len(at) is
// j.Indices. It writes every message, without payload, and measures it: some
// 100 ns and 16 bytes an index.
func Exact(j Job, at []int64) (Counts, error) {
	if err := j.check(); err != nil {
		return Counts{}, err
	}
	if int64(len(at)) != j.Indices {
		return Counts{}, fmt.Errorf("scale: %d index values for %d indices", len(at), j.Indices)
	}
	for i, row := range at {
		if row < 0 || row >= j.Table {
			return Counts{}, fmt.Errorf("scale: index %d is %d, outside 0…%d", i, row, j.Table-1)
		}
	}
	c := Counts{Units: ceil(j.Table*j.Row, j.unit())}
	units := map[int64]*Group{}
	var message []byte
	for first := int64(0); first < j.Indices; first += j.shardRows() {
		rows := wire.Rows{Size: int(j.Row), At: positions(at[first:min(first+j.shardRows(), j.Indices)], j.Row)}
		shard := c.Shards
		var group Group
		for number, wanted := range rows.Units(j.unit()) {
			n := int64(len(wanted.At))
			message = wire.Request{Shard: shard, Rows: wanted}.Append(message[:0], number*j.unit())
			c.RequestElements++
			c.RequestRows += n
			c.RequestBytes += int64(len(message))
			c.RequestKeys += varint(wire.Unit{Number: number}.Key())
			g := units[number]
			if g == nil {
				g = &Group{}
				units[number] = g
			}
			g.Elements++
			g.Rows += n
			g.Bytes += int64(len(message))

			each := int64(wire.PerPiece(int(j.Row)))
			for from := int64(0); from < n; from += each {
				rows := min(each, n-from)
				message = wire.Piece{Unit: wire.Unit{Number: number}, Size: int(j.Row), First: int(from)}.Append(message[:0])
				c.RowElements++
				c.RowPayload += rows * j.Row
				c.RowHeads += int64(len(message))
				c.RowKeys += varint(shard)
				group.Elements++
				group.Rows += rows
				group.Bytes += int64(len(message)) + rows*j.Row
			}
		}
		group.Distinct = group.Rows
		c.LargestShard.cover(group)
		c.Shards++
	}
	all := wire.Rows{Size: int(j.Row), At: positions(at, j.Row)}
	c.Fetched = int64(len(all.At))
	for number, wanted := range all.Units(j.unit()) {
		units[number].Distinct = int64(len(wanted.At))
		c.LargestUnit.cover(*units[number])
		reads, bytes := reads(wanted, j.Table*j.Row)
		c.Reads += reads
		c.ReadBytes += bytes
	}
	return c, nil
}

// positions returns where the rows of index values begin, each once, ascending.
func positions(at []int64, row int64) []int64 {
	rows := slices.Clone(at)
	slices.Sort(rows)
	rows = slices.Compact(rows)
	for i := range rows {
		rows[i] *= row
	}
	return rows
}

// reads returns the requests, and their bytes, by which source.File fetches rows
// of a table that is one file of the given bytes.
func reads(rows wire.Rows, end int64) (n, bytes int64) {
	size, done := int64(rows.Size), int64(-1) // a request has read all before done
	for i := 0; i < len(rows.At); {
		if rows.At[i]+size <= done {
			i++
			continue
		}
		from := max(done, rows.At[i])
		limit := min(from+readBytes, end)
		to := min(rows.At[i]+size, limit)
		for _, at := range rows.At[i+1:] {
			// A row that this request would cut begins the next one, unless this
			// one covers its first bytes already.
			if to == limit || at > to+gapBytes || at >= limit || at >= to && at+size > limit {
				break
			}
			to = min(at+size, limit)
		}
		n++
		bytes += to - from
		done = to
	}
	return n, bytes
}
