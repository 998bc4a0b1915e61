package beam

import (
	"context"
	"path/filepath"

	"github.com/garner-go/garner"
	"github.com/garner-go/garner/beam/internal/wire"
	"github.com/garner-go/garner/format/shards"
	"github.com/garner-go/garner/source"
)

// The driver's work before a pipeline runs.

// memoryBytes is the budget of a shard's run where the job gives none.
const memoryBytes = 128 << 20

// rowsPerShard is the most rows of a shard. It is a multiple of the elements of a byte.
const rowsPerShard = 1 << 20

// positionBytes is what the position of a row that is far from others takes in a request.
const positionBytes = 3

// blockIndices is the most indices that are checked at a time.
const blockIndices = 1 << 20

// prepare opens the operands, plans the job and makes its folder ready. The task is
// done where the folder has the result already. Each of the workers gets indices to check.
func prepare(ctx context.Context, job Job, workers int) (*task, error) {
	return prepareAs(ctx, job, workers, "")
}

// prepareAs is prepare for a driver that leaves the folder when its job has ended.
func prepareAs(ctx context.Context, job Job, workers int, driver string) (*task, error) {
	if err := job.Check(); err != nil {
		return nil, err
	}
	if job.ShardBytes == 0 {
		job.ShardBytes = DefaultShardBytes
	}
	t := &task{Driver: driver, Gather: job.line(), Out: filepath.Clean(job.Out), Memory: job.Memory}
	if t.Memory == 0 {
		t.Memory = memoryBytes
	}
	o, err := t.open(ctx)
	if err != nil {
		return nil, err
	}
	defer o.Close()
	if t.DType, t.Shape = o.Plan.DType, o.Plan.Out; t.DType == garner.String {
		return nil, garner.Errorf(garner.ErrDType, "strings have no rows of one size; gather them with garner gather")
	}
	n, _ := o.Plan.Out.Len()
	t.Elements, t.Tables = int64(n), o.specs()
	if o.Plan.Bag != nil {
		if err := t.cutBags(ctx, o, job.ShardBytes); err != nil {
			return nil, err
		}
	} else {
		t.cut(job.ShardBytes, o.Plan.Slice)
		if len(o.Plan.Axes) > 0 {
			n, _ := o.Plan.Indices.Len()
			total := int64(n)
			t.Block = max(min(total/int64(max(workers, 1))+1, blockIndices), 1)
			t.Blocks = (total + t.Block - 1) / t.Block
			size, _ := o.Indices.Spec().Bytes()
			t.measure.Indices, t.measure.IndicesBytes = total, size
		}
	}
	if t.Shards > shards.MaxShards {
		return nil, garner.Errorf(garner.ErrShape, "%d shards of %d bytes; a folder has up to %d: make them larger, or gather in parts", t.Shards, job.ShardBytes, shards.MaxShards)
	}
	t.Manifest, t.unknown = t.manifest(o), o.Identity == nil
	t.Operands = o.found
	if err := o.Changed(); err != nil {
		return nil, err
	}
	if t.Serve = o.Opened.Spread != nil; t.Serve {
		t.Token, t.Patience, t.elsewhere = newToken(), patience, o.Opened.Spread.Manifest.Shards
	}
	rows := min(t.PerShard, t.Elements) / int64(max(o.Plan.Slice, 1))
	if o.Plan.Bag != nil {
		n, _ := o.Plan.Indices.Len()
		rows = int64(n) / t.Shards
	}
	request, shardBytes := int64(wire.RequestRows), rows*int64(o.Plan.Slice)*int64(t.DType.Bits())/8
	if rows > 0 && (o.perShard()+shardBytes/positionsShare)/rows < positionBytes {
		request = 8 * derivedRows // whose positions are left out: some five of them a shard
	}
	t.Unit = wire.UnitBytes(t.Tables[0].Bytes, rows, request)
	t.measure.Out, t.measure.Shards, t.measure.Bytes = t.Out, t.Shards, (t.Elements*int64(t.DType.Bits())+7)/8
	if t.done, err = t.begin(); err == nil && !t.done {
		err = t.fresh()
	}
	return t, err
}

// cut cuts the result into shards of whole elements of its first axis, where such a one
// fits into a shard, else of whole elements and bytes.
func (t *task) cut(most int64, slice int) {
	bits := int64(t.DType.Bits())
	t.PerShard = max(most*8/bits, 1)
	if per := max(8/bits, 1); t.PerShard >= per {
		t.PerShard -= t.PerShard % per
	} else {
		t.PerShard = per
	}
	// Places and positions of rows take more memory than short rows themselves.
	t.PerShard = min(t.PerShard, rowsPerShard*int64(max(slice, 1)))
	if slab := t.slab(); slab > 0 && slab <= t.PerShard {
		whole := slab // elements of the first axis that end at a byte
		for whole*bits%8 != 0 {
			whole += slab
		}
		if whole <= t.PerShard {
			t.PerShard -= t.PerShard % whole
		}
	}
	t.Shards = max((t.Elements+t.PerShard-1)/t.PerShard, 1)
}

// cutBags cuts a result of bags into shards whose bags have rows of at most ShardBytes
// together, and one bag at least. It checks the operands first, as the run does.
func (t *task) cutBags(ctx context.Context, o *opened, most int64) error {
	indices, further := o.whole()
	if err := o.Plan.Check(ctx, indices, further...); err != nil {
		return err
	}
	t.cut(most, o.Plan.Slice)
	columns := o.Plan.Slice
	for _, l := range o.Plan.Loops[2:] {
		columns *= l.Extent
	}
	if t.Elements == 0 || columns == 0 {
		return nil
	}
	row := int64(columns) * int64(t.DType.Bits()/8)
	terms := o.Plan.BagTerms(indices, further...)
	begun, taken := int64(0), int64(0) // the first element of a shard, and the bytes of its rows
	for bag := range t.Elements / int64(columns) {
		first, end := terms.Bag(int(bag))
		rows := int64(end-first+1) * row
		at := bag * int64(columns)
		if at > begun && (taken+rows > most || at+int64(columns)-begun > t.PerShard) {
			t.Ends = append(t.Ends, at)
			begun, taken = at, 0
		}
		taken += rows
	}
	t.Ends = append(t.Ends, t.Elements)
	t.Shards = int64(len(t.Ends))
	return nil
}

// isTable reports whether a further operand is a table, whose rows travel.
func (o *opened) isTable(further int) bool {
	at := garner.PositionAt(further)
	return o.at[1] == at || o.at[2] == at
}

// holdBags takes the indices, ends and weights of bags into memory, once for all runs, each
// of which needs them whole.
func (o *opened) holdBags(ctx context.Context) error {
	hold := func(a *source.Array) error {
		t, err := inMemory(ctx, *a)
		if err == nil {
			*a = source.Memory(t)
		}
		return err
	}
	if err := hold(&o.Indices); err != nil {
		return err
	}
	for i := range o.Further {
		if o.Further[i] == nil || o.isTable(i) {
			continue
		}
		if err := hold(&o.Further[i]); err != nil {
			return err
		}
	}
	return nil
}

// whole returns the operands of bags.
func (o *opened) whole() (indices garner.Tensor, further []garner.Tensor) {
	tensor := func(a source.Array) garner.Tensor {
		t, _ := a.(interface{ Tensor() (garner.Tensor, bool) }).Tensor()
		return t
	}
	further = make([]garner.Tensor, len(o.Further))
	for i, a := range o.Further {
		if a != nil && !o.isTable(i) {
			further[i] = tensor(a)
		}
	}
	return tensor(o.Indices), further
}

// inMemory returns an array in memory.
func inMemory(ctx context.Context, a source.Array) (garner.Tensor, error) {
	spec := a.Spec()
	size, _ := spec.Bytes()
	b := make([]byte, size)
	if size > 0 {
		if err := a.Fetch(ctx, source.Rows{At: []int64{0}, Size: len(b), Dst: b}); err != nil {
			return garner.Tensor{}, err
		}
	}
	shape, _ := spec.Shape()
	if spec.Strides == nil {
		return garner.FromBytes(spec.DType, b, shape...)
	}
	return garner.FromStrided(spec.DType, b, 0, shape, spec.Strides)
}

// manifest returns the manifest of the result but for its shards.
func (t *task) manifest(o *opened) *shards.Manifest {
	m := &shards.Manifest{DType: t.DType, Shape: t.Shape, Operator: &shards.Operator{Name: t.Gather.Operator, Attributes: t.Gather.Attributes, Negative: t.Gather.Negative, Outside: t.Gather.Outside}}
	known := make(map[string]string)
	for _, f := range o.Identity {
		known[f.What] = f.Value
	}
	for _, in := range o.inputs() {
		what := map[string]string{"data": "DATA", "indices": "INDICES"}[in.name]
		if what == "" {
			what = "--operand " + in.name
		}
		m.Inputs = append(m.Inputs, shards.Input{Operand: in.name, Text: in.text, Identity: known[what]})
	}
	return m
}
