// Package scale counts what a pipeline of package beam moves, without moving
// it: elements and bytes of each stage, the memory of a worker, the reads of the
// table. [Exact] counts for indices that are given, [Expect] gives expected
// numbers by formula, for jobs of any size. Both fill [Counts], as the counters of
// a run do.
//
// A job here is one gather of whole rows: N indices, M rows of a table, one
// operand. docs/scale.md reads a large one.
package scale

import (
	"fmt"
	"math"

	"github.com/garner-go/garner/beam/internal/wire"
)

const (
	// MaxPiece is the most bytes of rows in one element, unless one row is longer.
	MaxPiece = wire.PieceBytes

	defaultShard = 16 << 20

	// gapBytes and readBytes are the widest gap that a read bridges, and the
	// longest read, of source.File.
	gapBytes  = 8 << 10
	readBytes = 128 << 10
)

// A Job is a gather of rows: Indices of them, of a table of Table rows.
type Job struct {
	Indices int64 // the number of indices, and of rows of the result
	Table   int64 // the number of rows of the table
	Row     int64 // bytes of a row
	Shard   int64 // most bytes of a shard of the result; 0 is 16 MiB
	Unit    int64 // bytes of a unit of the table; 0 is what wire.UnitBytes says
}

// shardRows returns the rows of every shard but the last.
func (j Job) shardRows() int64 { return max(1, j.shard()/j.Row) }

func (j Job) shard() int64 {
	if j.Shard == 0 {
		return defaultShard
	}
	return j.Shard
}

func (j Job) unit() int64 {
	if j.Unit == 0 {
		return wire.UnitBytes(j.Table*j.Row, min(j.Indices, j.shardRows()), wire.RequestRows)
	}
	return j.Unit
}

// check refuses a job that has no meaning, or whose bytes an int64 does not count.
func (j Job) check() error {
	for _, f := range []struct {
		name  string
		value int64
		least int64
	}{{"Indices", j.Indices, 0}, {"Table", j.Table, 0}, {"Row", j.Row, 1}, {"Shard", j.Shard, 0}, {"Unit", j.Unit, 0}} {
		if f.value < f.least {
			return fmt.Errorf("scale: %s is %d; the least is %d", f.name, f.value, f.least)
		}
	}
	if most := math.MaxInt64 / j.Row; j.Indices > most || j.Table > most {
		return fmt.Errorf("scale: %d and %d rows of %d bytes are more than 2^63 bytes", j.Indices, j.Table, j.Row)
	}
	if j.Table == 0 && j.Indices > 0 {
		return fmt.Errorf("scale: %d indices of a table without rows", j.Indices)
	}
	return nil
}

// Counts are what the stages of one run move. A run's counters and a simulation
// fill the same fields. Bytes of messages are those of package wire; keys and the
// frames that an engine puts around elements come on top, see [Counts.Shuffled].
type Counts struct {
	Shards int64 // shards of the result
	Units  int64 // units of the table

	RequestElements int64 // from want to fetch: one for each unit that a shard wants rows of
	RequestRows     int64 // rows in them: those that are distinct within a shard
	RequestBytes    int64 // their messages
	RequestKeys     int64 // their keys, as varints

	RowElements int64 // from fetch to write: pieces of rows
	RowPayload  int64 // their rows
	RowHeads    int64 // all other bytes of their messages
	RowKeys     int64 // their keys, as varints

	Fetched   int64 // rows that are fetched: those that are distinct within a unit
	Reads     int64 // requests to the disks, of 128 KiB at most
	ReadBytes int64 // their bytes: the rows, and the gaps of up to 8 KiB that a request bridges

	LargestUnit  Group // the requests for one unit
	LargestShard Group // the pieces of one shard
}

// A Group is what a GroupByKey gathers under one key: the largest of each number
// over all keys.
type Group struct {
	Elements int64
	Rows     int64 // rows in these elements, as often as they travel
	Distinct int64 // the same, each once
	Bytes    int64 // messages
}

// cover enlarges g to the largest of both.
func (g *Group) cover(h Group) {
	g.Elements, g.Rows = max(g.Elements, h.Elements), max(g.Rows, h.Rows)
	g.Distinct, g.Bytes = max(g.Distinct, h.Distinct), max(g.Bytes, h.Bytes)
}

// Shuffled returns the bytes that go through the engine: messages, keys, and
// frame bytes for each element.
func (c Counts) Shuffled(frame int64) (requests, rows int64) {
	requests = c.RequestBytes + c.RequestKeys + frame*c.RequestElements
	rows = c.RowPayload + c.RowHeads + c.RowKeys + frame*c.RowElements
	return requests, rows
}

// FetchMemory returns the bytes that fetch holds for the largest unit: the
// messages of the group, which an engine may keep whole, with their frames; the
// positions of its distinct rows, and these rows; one piece.
func (c Counts) FetchMemory(j Job, frame int64) int64 {
	g := c.LargestUnit
	return g.Bytes + frame*g.Elements + g.Distinct*(8+j.Row) + MaxPiece
}

// WriteMemory returns the bytes that write holds for the largest shard: the
// messages of the group with their frames, the positions of its rows, and the shard.
func (c Counts) WriteMemory(j Job, frame int64) int64 {
	g := c.LargestShard
	return g.Bytes + frame*g.Elements + g.Rows*8 + j.shardRows()*j.Row
}

// ceil returns a/b, rounded up.
func ceil(a, b int64) int64 { return (a + b - 1) / b }

// varint returns the bytes of v as an unsigned varint.
func varint(v int64) int64 {
	n := int64(1)
	for ; v >= 128; v >>= 7 {
		n++
	}
	return n
}
