package beam

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"

	"github.com/apache/beam/sdks/v2/go/pkg/beam"
	"github.com/apache/beam/sdks/v2/go/pkg/beam/register"
	"github.com/garner-go/garner"
	"github.com/garner-go/garner/beam/internal/wire"
	"github.com/garner-go/garner/files"
	"github.com/garner-go/garner/format/shards"
	"github.com/garner-go/garner/internal/atomicfile"
	"github.com/garner-go/garner/source"
)

func init() {
	register.DoFn3x0[context.Context, []byte, func(int64)](&numbersFn{})
	register.DoFn1x0[int64](&serveFn{})
	register.DoFn3x1[context.Context, int64, func(string), error](&checkFn{})
	register.DoFn4x1[context.Context, int, func(*string) bool, func(string), error](&decideFn{})
	register.DoFn5x1[context.Context, int64, func(*string) bool, func(int64, []byte), func(string), error](&wantFn{})
	register.DoFn4x1[context.Context, int64, func(*[]byte) bool, func(int64, []byte), error](&fetchFn{})
	register.DoFn4x1[context.Context, int64, func(*[]byte) bool, func(string), error](&writeFn{})
	register.DoFn4x1[context.Context, int, func(*string) bool, func(string), error](&finishFn{})
	register.Emitter1[int64]()
	register.Emitter1[string]()
	register.Emitter2[int64, []byte]()
	register.Iter1[string]()
	register.Iter1[[]byte]()
}

// What the stages count, as the engine reports it.
const counters = "garner"

var (
	indicesChecked  = beam.NewCounter(counters, "indices_checked")
	shardsFound     = beam.NewCounter(counters, "shards_found")
	requestElements = beam.NewCounter(counters, "request_elements")
	requestBytes    = beam.NewCounter(counters, "request_bytes")
	rowElements     = beam.NewCounter(counters, "row_elements")
	rowPayload      = beam.NewCounter(counters, "row_payload")
	rowHeads        = beam.NewCounter(counters, "row_heads")
	rowsWanted      = beam.NewCounter(counters, "rows_wanted")
	bytesWanted     = beam.NewCounter(counters, "bytes_wanted")
	bytesRead       = beam.NewCounter(counters, "bytes_read")
	shardsWritten   = beam.NewCounter(counters, "shards_written")
	shardsKept      = beam.NewCounter(counters, "shards_kept")
	bytesMade       = beam.NewCounter(counters, "bytes_made")
)

// A stage is what all stages share: the task, and its operands while the stage runs.
type stage struct {
	Task string

	o *opened
}

func (s *stage) Setup(ctx context.Context) (err error) {
	s.o, err = acquire(ctx, s.Task)
	return err
}

func (s *stage) Teardown() error {
	if s.o != nil {
		s.end()
		release(s.Task)
		s.o = nil
	}
	return nil
}

// numbersFn emits 0 … N-1.
type numbersFn struct{ N int64 }

func (f *numbersFn) ProcessElement(_ context.Context, _ []byte, emit func(int64)) {
	for n := range f.N {
		emit(n)
	}
}

// serveFn has every worker open the task, so that it serves its shards to the others.
type serveFn struct{ stage }

// serveElements is enough for each worker to get one of them.
const serveElements = 1 << 10

func (f *serveFn) ProcessElement(int64) {}

// checkFn surveys a block of indices.
type checkFn struct{ stage }

// A surveyed block is what checkFn found.
type surveyed struct {
	Block  int64
	Survey garner.Survey
}

func (f *checkFn) ProcessElement(ctx context.Context, block int64, emit func(string)) error {
	r, err := f.o.resolver()
	if err != nil {
		return err
	}
	total, _ := f.o.Plan.Indices.Len()
	first := int(block * f.o.Block)
	n := min(int(f.o.Block), total-first)
	s, err := r.SurveyPart(ctx, first, n)
	if err != nil {
		return err
	}
	indicesChecked.Inc(ctx, int64(n))
	text, err := json.Marshal(surveyed{block, s})
	if err != nil {
		return err
	}
	emit(string(text))
	return nil
}

// decideFn adds the surveys in the order of the indices, and emits the refusal where an
// index is refused. It is the job's result, and no error: an engine would try again.
type decideFn struct{ stage }

func (f *decideFn) ProcessElement(_ context.Context, _ int, surveys func(*string) bool, emit func(string)) error {
	var all []surveyed
	for text := ""; surveys(&text); {
		var s surveyed
		if err := json.Unmarshal([]byte(text), &s); err != nil {
			return err
		}
		all = append(all, s)
	}
	slices.SortFunc(all, func(a, b surveyed) int { return int(a.Block - b.Block) })
	var sum garner.Survey
	for _, s := range all {
		sum.Add(s.Survey)
	}
	if sum.First == nil {
		return nil
	}
	text, err := json.Marshal(refusal{sum.First})
	if err != nil {
		return err
	}
	if err := note(f.o.Out, refusedFile(f.o.Out, f.o.Driver), text); err != nil {
		return err
	}
	emit(string(text))
	return nil
}

// wantFn finds out which rows a shard needs, and asks for them. It leaves out a shard that
// an earlier run has put in place, and makes one that needs none.
type wantFn struct{ stage }

func (f *wantFn) ProcessElement(ctx context.Context, shard int64, refused func(*string) bool, ask func(int64, []byte), whole func(string)) error {
	if text := ""; refused(&text) {
		return nil
	}
	if done, ok, err := f.o.kept(ctx, shard); err != nil {
		return err
	} else if ok {
		shardsKept.Inc(ctx, 1)
		whole(done)
		return nil
	}
	parts, err := f.o.wanted(ctx, shard)
	if err != nil {
		return err
	}
	shardsFound.Inc(ctx, 1)
	if len(parts) == 0 {
		done, err := f.o.write(ctx, shard, nil)
		if err == nil {
			whole(done)
		}
		return err
	}
	for i, b := range f.o.requests(shard, parts) {
		p := parts[i]
		requestElements.Inc(ctx, 1)
		requestBytes.Inc(ctx, int64(len(b)))
		rowsWanted.Inc(ctx, int64(len(p.rows.At)))
		bytesWanted.Inc(ctx, p.bytes())
		ask(p.unit.Key(), b)
	}
	return nil
}

// A part is the rows of one size that a shard wants of a unit of a table.
type part struct {
	unit wire.Unit
	rows wire.Rows
}

func (p part) bytes() int64 { return int64(len(p.rows.At)) * int64(p.rows.Size) }

// wanted returns what a shard wants, by running it over tables that record what is fetched.
// It says the same to whoever asks, since the run depends on the task and the indices alone.
func (o *opened) wanted(ctx context.Context, shard int64) ([]part, error) {
	recorders := make([]*recorder, len(o.tables))
	err := o.run(ctx, shard, func(i int, spec garner.Spec) source.Array {
		recorders[i] = &recorder{spec: spec}
		return recorders[i]
	}, io.Discard)
	if err != nil {
		return nil, err
	}
	var parts []part
	for i, r := range recorders {
		if r == nil {
			continue
		}
		for _, rows := range rows(cut(r.extents(), wire.PieceBytes, o.endOf)) {
			for number, of := range rows.Units(o.Unit) {
				parts = append(parts, part{wire.Unit{Operand: i, Number: number}, of})
			}
		}
	}
	return parts, nil
}

// derivedRows is the least rows of a request at which another run of the shard costs less
// than the positions: some 50 ns for each row of the shard, of which there are 2²⁰ at most.
const derivedRows = 1 << 15

// requests returns the message of each part. Positions are paid for by the indices where each
// names a row or two. Where an index stands for many short rows they are compressed, or left
// out for the reader to find by a run of its own.
func (o *opened) requests(shard int64, parts []part) [][]byte {
	all := make([][]byte, len(parts))
	sum, payload := int64(0), int64(0)
	message := func(p part, derived bool, form func(wire.Request, []byte, int64) []byte) []byte {
		return form(wire.Request{Shard: shard, Rows: p.rows, Derived: derived}, nil, p.unit.Number*o.Unit)
	}
	for i, p := range parts {
		all[i] = message(p, false, wire.Request.Append)
		sum, payload = sum+int64(len(all[i])), payload+p.bytes()
	}
	if sum <= payload/positionsShare+o.perShard() {
		return all
	}
	for i, p := range parts {
		if all[i] = message(p, false, wire.Request.AppendPacked); int64(len(all[i])) > p.bytes()/positionsShare && len(p.rows.At) >= derivedRows {
			all[i] = message(p, true, wire.Request.Append)
		}
	}
	return all
}

// positionsShare is the part of the bytes of rows that their positions may have in addition
// to the bytes of the indices: a 32nd.
const positionsShare = 32

// perShard returns the bytes of the indices, of 8 bytes each, over the shards.
func (o *opened) perShard() int64 {
	n, _ := o.Plan.Indices.Len()
	return 8 * int64(n) / max(o.Shards, 1)
}

// endOf returns where the range of a table ends whose bytes are asked for together.
func (t *task) endOf(at int64) int64 { return (at/t.Unit + 1) * t.Unit }

// fetchFn reads the rows of a unit of a table that any shard wants, each once, and sends
// each shard those that it wants.
type fetchFn struct{ stage }

func (f *fetchFn) ProcessElement(ctx context.Context, key int64, requests func(*[]byte) bool, emit func(int64, []byte)) error {
	unit, err := wire.UnitOf(key)
	if err != nil {
		return err
	}
	if unit.Operand >= len(f.o.tables) || f.o.tables[unit.Operand] == nil {
		return fmt.Errorf("garner-beam: rows of operand %d, which the job has not; run one build of garner-beam on all workers", unit.Operand)
	}
	table := f.o.tables[unit.Operand]
	end := f.o.Tables[unit.Operand].Bytes
	if unit.Number > end/f.o.Unit {
		return fmt.Errorf("garner-beam: unit %d of a table of %d bytes; run one build of garner-beam on all workers", unit.Number, end)
	}
	wanted := &union{base: unit.Number * f.o.Unit, array: end}
	var kept [][]byte // the requests, which take few bytes a row
	for b := []byte(nil); requests(&b); b = nil {
		q, err := f.request(ctx, unit, b, end)
		if err != nil {
			return err
		}
		if q.Derived { // so that the shard does not run again
			q.Derived = false
			b = q.Append(nil, wanted.base)
		}
		kept = append(kept, b)
		wanted.add(q.Rows)
	}
	held, err := fetch(ctx, table, wanted.extents())
	if err != nil {
		return err
	}
	bytesRead.Inc(ctx, int64(len(held.bytes)))
	for _, b := range kept {
		q, err := f.request(ctx, unit, b, end)
		if err != nil {
			return err
		}
		p := wire.Piece{Unit: unit, Size: q.Rows.Size, Check: q.Rows.Check()}
		for at := range slices.Chunk(q.Rows.At, wire.PerPiece(p.Size)) {
			p.Data = p.Data[:0]
			for _, from := range at {
				p.Data = append(p.Data, held.row(from, int64(p.Size))...)
			}
			b := p.Append(nil)
			p.First += len(at)
			rowElements.Inc(ctx, 1)
			rowPayload.Inc(ctx, int64(len(p.Data)))
			rowHeads.Inc(ctx, int64(len(b)-len(p.Data)))
			emit(q.Shard, b)
		}
	}
	return f.o.Changed()
}

// request returns a request for rows of a unit of a table of end bytes, with its rows.
func (f *fetchFn) request(ctx context.Context, unit wire.Unit, b []byte, end int64) (wire.Request, error) {
	q, err := wire.ParseRequest(b, unit.Number*f.o.Unit, end)
	if err != nil {
		return q, err
	}
	if q.Rows.Size < 1 || q.Rows.Size > wire.PieceBytes || q.Shard >= f.o.Shards {
		return q, fmt.Errorf("garner-beam: shard %d of %d asks for rows of %d bytes; run one build of garner-beam on all workers", q.Shard, f.o.Shards, q.Rows.Size)
	}
	if !q.Derived {
		return q, nil
	}
	parts, err := f.o.wanted(ctx, q.Shard)
	if err != nil {
		return q, err
	}
	for _, p := range parts {
		if p.unit == unit && p.rows.Size == q.Rows.Size {
			q.Rows = p.rows
			return q, nil
		}
	}
	return q, f.o.other(q.Shard)
}

// other is the error of a shard that wanted other rows before.
func (o *opened) other(shard int64) error {
	if err := o.Changed(); err != nil {
		return err
	}
	return fmt.Errorf("garner-beam: shard %d asked for other rows than it does now; the indices have changed since they were read first, or the workers run different builds: run the job again", shard)
}

// writeFn makes a shard from the rows that arrived for it.
type writeFn struct{ stage }

func (f *writeFn) ProcessElement(ctx context.Context, shard int64, arrived func(*[]byte) bool, emit func(string)) error {
	if shard < 0 || shard >= f.o.Shards {
		return fmt.Errorf("garner-beam: shard %d of %d; run one build of garner-beam on all workers", shard, f.o.Shards)
	}
	var pieces []wire.Piece
	for b := []byte(nil); arrived(&b); b = nil {
		p, err := wire.ParsePiece(b)
		if err != nil {
			return err
		}
		pieces = append(pieces, p)
	}
	done, err := f.o.write(ctx, shard, pieces)
	if err == nil {
		emit(done)
	}
	return err
}

// write makes a shard from the pieces that arrived for it.
func (o *opened) write(ctx context.Context, shard int64, pieces []wire.Piece) (done string, err error) {
	placed, err := o.place(ctx, shard, pieces)
	if err != nil {
		return "", err
	}
	path := filepath.Join(o.Out, o.file(shard))
	format, err := files.OutputFormat(path)
	if err != nil {
		return "", err
	}
	file, err := atomicfile.Create(path)
	if err != nil {
		return "", err
	}
	defer file.Abort()
	// The sum is of what is written, not of what a disk made of it.
	sha := sha256.New()
	out, err := files.NewWriter(ctx, io.MultiWriter(file, sha), garner.SpecOf(o.DType, o.shardShape(shard)...), files.CreateOptions{Format: format.Name})
	if err != nil {
		return "", err
	}
	err = o.run(ctx, shard, func(i int, spec garner.Spec) source.Array { return newSparse(spec, placed[i]) }, out)
	if err != nil {
		return "", err
	}
	if err := o.Changed(); err != nil {
		return "", err
	}
	if err := out.Commit(); err != nil {
		return "", err
	}
	n := out.Size()
	text, err := json.Marshal(shardFile{shard, n, hex.EncodeToString(sha.Sum(nil))})
	if err != nil {
		return "", err
	}
	// The record comes first: where the run ends between the two, it is of no file, and is
	// taken for none. A file without a record would be made again.
	if err := note(o.Out, o.record(shard), text); err != nil {
		return "", err
	}
	if err := file.Commit(); err != nil {
		return "", err
	}
	bytesMade.Inc(ctx, n)
	shardsWritten.Inc(ctx, 1)
	return string(text), nil
}

// place finds out where the rows of each table lie that arrived for a shard.
func (o *opened) place(ctx context.Context, shard int64, pieces []wire.Piece) ([][]placed, error) {
	all := make([][]placed, len(o.tables))
	if len(pieces) == 0 {
		return all, nil
	}
	parts, err := o.wanted(ctx, shard)
	if err != nil {
		return nil, err
	}
	type key struct {
		unit wire.Unit
		size int
	}
	of := make(map[key]part, len(parts))
	check := make(map[key]uint32, len(parts))
	for _, p := range parts {
		k := key{p.unit, p.rows.Size}
		of[k], check[k] = p, p.rows.Check()
	}
	for _, p := range pieces {
		k := key{p.Unit, p.Size}
		wanted, ok := of[k]
		end := p.First + len(p.Data)/p.Size
		if !ok || p.Check != check[k] || end > len(wanted.rows.At) {
			return nil, o.other(shard)
		}
		all[p.Unit.Operand] = append(all[p.Unit.Operand], placed{wire.Rows{Size: p.Size, At: wanted.rows.At[p.First:end]}, p.Data})
	}
	return all, nil
}

// A shardFile is what the manifest says of a shard.
type shardFile struct {
	Shard  int64
	Bytes  int64
	SHA256 string
}

// sum reads a shard's file, and returns what the manifest says of it.
func sum(ctx context.Context, shard int64, path string) (text []byte, bytes int64, err error) {
	bytes, sha, err := shards.Sum(ctx, path)
	if err != nil {
		return nil, 0, err
	}
	text, err = json.Marshal(shardFile{shard, bytes, sha})
	return text, bytes, err
}

// kept reports whether a shard is in place as its record says. One that was damaged, or whose
// writer did not come to the record, is made again.
func (o *opened) kept(ctx context.Context, shard int64) (text string, ok bool, err error) {
	record, err := os.ReadFile(o.record(shard))
	if errors.Is(err, fs.ErrNotExist) {
		return "", false, nil
	}
	if err != nil {
		return "", false, err
	}
	is, n, err := sum(ctx, shard, filepath.Join(o.Out, o.file(shard)))
	switch {
	case errors.Is(err, fs.ErrNotExist) || err == nil && string(is) != string(record):
		return "", false, nil
	case err != nil:
		return "", false, err
	}
	bytesMade.Inc(ctx, n)
	return string(is), true, nil
}

// finishFn writes the manifest when every shard is in place, takes away what the job has
// no more use for, and says at last that the result is there.
type finishFn struct{ stage }

func (f *finishFn) ProcessElement(ctx context.Context, _ int, done func(*string) bool, emit func(string)) error {
	all := make([]shardFile, f.o.Shards)
	n := int64(0)
	for text := ""; done(&text); {
		var s shardFile
		if err := json.Unmarshal([]byte(text), &s); err != nil {
			return err
		}
		if s.Shard < 0 || s.Shard >= f.o.Shards {
			return fmt.Errorf("garner-beam: shard %d of %d; run one build of garner-beam on all workers", s.Shard, f.o.Shards)
		}
		if all[s.Shard].SHA256 == "" {
			n++
		}
		all[s.Shard] = s
	}
	if n != f.o.Shards {
		return fmt.Errorf("garner-beam: %d of %d shards are in place; run the job again, which makes the others", n, f.o.Shards)
	}
	if err := f.o.finish(all); err != nil {
		return err
	}
	emit(f.o.Out)
	return nil
}
