package beam

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"sync"
	"time"

	"github.com/garner-go/garner"
	"github.com/garner-go/garner/format/shards"
	"github.com/garner-go/garner/internal/cmdline"
	"github.com/garner-go/garner/source"
)

// A task is a Job with what its driver has found out, as the workers get it.
type task struct {
	Gather   cmdline.Description
	Out      string       // the folder
	Driver   string       // whose pipeline it is; "" of one that Build made
	Memory   int64        // of one shard's run
	DType    garner.DType // of the result
	Shape    garner.Shape // of the result
	Elements int64        // of the result
	PerShard int64        // elements of a shard; the last may have fewer
	Ends     []int64      // of bags, the element behind the last one of each shard; else nil
	Shards   int64
	Block    int64 // indices that are checked at a time
	Blocks   int64 // of them; 0: the driver has checked the indices, or there are none
	Unit     int64 // bytes of a table that are read at a time
	Tables   []tableOf
	Operands []operandOf
	Manifest *shards.Manifest // without its shards
	Serve    bool             // workers serve shards of DATA to each other: see elsewhere.go
	Token    string           // of a task that they serve
	Patience time.Duration    // with nodes of shards where no worker answers

	done      bool // the folder has the result
	measure   measure
	elsewhere []shards.Shard // of DATA, of which other nodes have some
	unknown   bool           // what an operand holds cannot be told from what it held: no other run goes on with this one's shards
}

// A tableOf is what every worker must find where it opens a table.
type tableOf struct {
	Spec  string
	Bytes int64
}

// An operandOf is what every worker must find where it opens the files of an operand: their
// sizes, and when they were written to.
type operandOf struct {
	Name  string
	Files []fileOf
}

type fileOf struct {
	Path     string
	Size     int64
	Modified time.Time
}

// shard returns the elements of the result that a shard has.
func (t *task) shard(n int64) (first, end int64) {
	if t.Ends == nil {
		return min(n*t.PerShard, t.Elements), min((n+1)*t.PerShard, t.Elements)
	}
	if n > 0 {
		first = t.Ends[n-1]
	}
	return first, t.Ends[n]
}

// shardShape returns the dims of the file of a shard: those of the result where it has
// whole elements of the first axis, else all its elements in a row.
func (t *task) shardShape(n int64) garner.Shape {
	first, end := t.shard(n)
	if slab := t.slab(); len(t.Shape) > 0 && slab > 0 && first%slab == 0 && end%slab == 0 {
		return append(garner.Shape{int((end - first) / slab)}, t.Shape[1:]...)
	}
	if t.Elements == 0 {
		return t.Shape
	}
	return garner.Shape{int(end - first)}
}

// slab returns the elements behind one of the first axis.
func (t *task) slab() int64 {
	if len(t.Shape) == 0 {
		return 1
	}
	n, _ := t.Shape[1:].Len()
	return int64(n)
}

// file returns the name of a shard's file.
func (t *task) file(n int64) string { return shards.FileName(t.DType, int(n), int(t.Shards)) }

// opened is a task on the worker that works on it, with its operands open.
type opened struct {
	*task
	*cmdline.Opened
	tables []source.Array // whose rows travel: data, scales, zero points; nil: there is none
	at     [3]garner.Position

	tally    tally
	found    []operandOf // the files of the operands, as they were opened
	resolver func() (*source.Resolver, error)
}

// openTask opens the operands of a task.
func openTask(ctx context.Context, text string) (*opened, error) {
	t := new(task)
	if err := json.Unmarshal([]byte(text), t); err != nil {
		return nil, fmt.Errorf("garner-beam: a task that this build does not know: %w; run one build of garner-beam on all workers", err)
	}
	o, err := t.open(ctx)
	if err == nil {
		if err = o.same(); err == nil && t.Serve {
			err = o.serve()
		}
		if err != nil {
			o.Close()
		}
	}
	if err != nil {
		return nil, err
	}
	return o, nil
}

// open opens the operands.
func (t *task) open(ctx context.Context) (_ *opened, err error) {
	o := &opened{task: t}
	if o.Opened, err = t.Gather.OpenElsewhere(ctx, (&asker{task: t}).ask); err != nil {
		return nil, err
	}
	defer func() {
		if err != nil {
			o.Close()
		}
	}()
	if !garner.TakesIndices(o.Op) {
		o.Indices = nil
	}
	o.tables = []source.Array{o.Data, nil, nil}
	if o.Plan.Stored != nil {
		o.at[1], o.at[2] = o.Plan.Stored.Operands()
		for i := range o.at {
			if i > 0 && o.at[i].Given && o.at[i].At < len(o.Further) {
				o.tables[i] = o.Further[o.at[i].At]
			}
		}
	}
	if o.found, err = o.states(); err != nil {
		return nil, err
	}
	if o.Plan.Bag != nil {
		if err := o.holdBags(ctx); err != nil {
			return nil, err
		}
	}
	o.resolver = sync.OnceValues(func() (*source.Resolver, error) {
		return source.NewResolver(o.Plan, o.Indices, o.Memory)
	})
	return o, nil
}

// specs says what the tables are.
func (o *opened) specs() []tableOf {
	var all []tableOf
	for _, a := range o.tables {
		if a == nil {
			all = append(all, tableOf{})
			continue
		}
		size, _ := a.Spec().Bytes()
		all = append(all, tableOf{a.Spec().String(), size})
	}
	return all
}

// states says of which files the operands are.
func (o *opened) states() ([]operandOf, error) {
	var all []operandOf
	for _, in := range o.inputs() {
		file, inFiles := in.array.(*source.File)
		if !inFiles {
			continue
		}
		states, err := file.States()
		if err != nil {
			return nil, err
		}
		is := operandOf{Name: in.name}
		for i, s := range file.Segments() {
			is.Files = append(is.Files, fileOf{s.Path, states[i].Size, states[i].Modified.UTC()})
		}
		all = append(all, is)
	}
	return all, nil
}

// same refuses operands that are not those of the driver.
func (o *opened) same() error {
	now := o.found
	for i, was := range o.Operands {
		if i >= len(now) || len(now[i].Files) != len(was.Files) {
			return fmt.Errorf("garner-beam: %s has other files here than where the job was started; give every worker the same files", was.Name)
		}
		for k, f := range now[i].Files {
			if then := was.Files[k]; f.Size != then.Size || !f.Modified.Equal(then.Modified) {
				return garner.Errorf(source.ErrChanged, "%s: %s has %d bytes of %v here, and %d of %v where the job was started; run the job again, and give every worker the same files, copies with their time",
					was.Name, f.Path, f.Size, f.Modified, then.Size, then.Modified)
			}
		}
	}
	for i, is := range o.specs() {
		if was := o.Tables[i]; is != was {
			return fmt.Errorf("garner-beam: a table is %s of %d bytes here, and %s of %d bytes where the job was started; give every worker the same files", is.Spec, is.Bytes, was.Spec, was.Bytes)
		}
	}
	return nil
}

// run makes a shard of the result from tables that stand in for the operands.
func (o *opened) run(ctx context.Context, shard int64, table func(i int, spec garner.Spec) source.Array, to io.Writer) error {
	first, end := o.shard(shard)
	options := source.Options{Memory: o.Memory, Threads: 1, Range: &source.Range{First: first, End: end}, Further: append([]source.Array(nil), o.Further...)}
	data := table(0, o.Data.Spec())
	for i, a := range o.tables {
		if i > 0 && a != nil {
			options.Further[o.at[i].At] = table(i, a.Spec())
		}
	}
	return source.Gather(ctx, o.Op, data, o.Indices, to, options)
}

// tasks are those that this process works on.
var tasks struct {
	sync.Mutex
	open map[string]*shared
}

type shared struct {
	users int
	stays bool
	get   func() (*opened, error)
}

// acquire opens a task, once for all its stages in this process, until the last has
// released it.
func acquire(ctx context.Context, text string) (*opened, error) {
	tasks.Lock()
	s := tasks.open[text]
	if s == nil {
		ctx := context.WithoutCancel(ctx)
		s = &shared{get: sync.OnceValues(func() (*opened, error) { return openTask(ctx, text) })}
		if tasks.open == nil {
			tasks.open = make(map[string]*shared)
		}
		tasks.open[text] = s
	}
	s.users++
	tasks.Unlock()
	o, err := s.get()
	if err == nil && o.task.Serve {
		// It serves others, also between its own stages: until the process ends, or the
		// job that runs in it.
		tasks.Lock()
		if !s.stays {
			s.stays = true
			s.users++
		}
		tasks.Unlock()
	}
	if err != nil {
		release(text)
	}
	return o, err
}

// forget releases a task that has stayed to serve others.
func forget(text string) {
	tasks.Lock()
	s := tasks.open[text]
	stays := s != nil && s.stays
	if stays {
		s.stays = false
	}
	tasks.Unlock()
	if stays {
		release(text)
	}
}

func release(text string) {
	tasks.Lock()
	s := tasks.open[text]
	if s == nil {
		tasks.Unlock()
		return
	}
	if s.users--; s.users > 0 {
		tasks.Unlock()
		return
	}
	delete(tasks.open, text)
	tasks.Unlock()
	if o, err := s.get(); err == nil {
		if o.task.Serve {
			o.stop()
		}
		o.Close()
	}
}

// An input is an operand as the user named it.
type input struct {
	name, text string
	array      source.Array
}

// inputs lists the operands.
func (o *opened) inputs() []input {
	all := []input{{"data", o.Gather.Data.Text, o.Data}}
	if o.Indices != nil {
		all = append(all, input{"indices", o.Gather.Indices.Text, o.Indices})
	}
	names := garner.OperandsOf(o.Op)
	for i, a := range o.Further {
		if a != nil {
			all = append(all, input{names[i].Name, o.Gather.Further[names[i].Name].Text, a})
		}
	}
	return all
}
