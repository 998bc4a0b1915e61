// Package model holds what every reader of model files returns: a graph of
// nodes, the values between them, and the constants in the model's files. A
// [Node] keeps its framework's names for the operator and the attributes. A node
// that is a gather also has the operator's name in package operators.
//
//	m, err := modelproto.Open("model.onnx") // or ir.Open("model.xml")
//	defer m.Close()
//	for n := range m.Gathers() {
//		fmt.Println(n.Name, n.Operator, n.Inputs[0].Spec, n.Inputs[1].Spec)
//	}
//
// Constants stay in their files, which are mapped: a model of 10 GB opens in
// milliseconds and takes a few MB of memory. [Constant.Open] hands a constant to
// package source. A model is read-only, and safe for concurrent use, Close included.
package model

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"iter"
	"slices"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"

	"github.com/garner-go/garner"
	"github.com/garner-go/garner/internal/names"
	"github.com/garner-go/garner/source"
)

// Unknown is the Spec of a value whose dtype and rank are unknown. Its dtype is
// garner.Invalid.
var Unknown = garner.SpecOfRank(garner.Invalid, garner.AnyDim)

// A Model is one model file and the files beside it that hold its constants.
type Model struct {
	Path     string         // the path given to the reader
	Format   string         // "ONNX", "OpenVINO IR", "TFLite", "StableHLO"
	Producer string         // the program that wrote it; "" where the file does not say
	Opsets   map[string]int // the opset of each domain, in formats that declare it for the whole file; "" is ONNX's own domain
	Graph    *Graph

	// Signatures are the keys of the signatures whose graphs Graph has together, where those are
	// several, as a .tflite file may have. nil: Graph is one that a program calls.
	Signatures []string

	// Files lists every file that the model consists of, Path first; what is written
	// while the model is open must be none of them. It is empty for one in memory.
	Files []string

	closing sync.Mutex // held while closers run
	closers []func() error
}

// OnClose makes Close call f. Close calls the last f first. Readers use it to
// close their files.
func (m *Model) OnClose(f func() error) { m.closers = append(m.closers, f) }

// Close unmaps the model's files, behind calls in progress that read a constant.
// Calls that begin later, of constants of any format and of tensors and arrays over their
// files, are an fs.ErrClosed; an array that Open gave before is good until its own Close.
// Several goroutines may call Close: each returns when the model is closed, and all but the
// first do nothing. It visits each constant once.
func (m *Model) Close() error {
	m.closing.Lock()
	defer m.closing.Unlock()
	for _, v := range m.holders() {
		v.Constant.closed.Store(true)
	}
	for n := range m.Nodes() {
		for _, a := range n.Attributes {
			if c, ok := a.(*Constant); ok {
				c.closed.Store(true)
			}
		}
	}
	var all []error
	for len(m.closers) > 0 {
		last := len(m.closers) - 1
		f := m.closers[last]
		m.closers = m.closers[:last]
		all = append(all, f())
	}
	return errors.Join(all...)
}

// A Graph is a list of nodes with the graph's inputs and outputs.
type Graph struct {
	Name    string
	Inputs  []*Value // in order; the Constant of an input is its default
	Outputs []Result // in order
	Nodes   []*Node  // in topological order

	// Constants lists the constants that the file holds in this graph, without those
	// of sub-graphs; nothing needs to read them.
	Constants []*Value
}

// A Result is a named output of a graph. Two results may be the same value.
type Result struct {
	Name  string
	Value *Value
}

// A Node is one use of an operator. Parameters, results and constants are no
// nodes: a parameter is in Graph.Inputs, a result in Graph.Outputs, and a constant
// is a Value.
type Node struct {
	Name string // from the file, or made of Op and its place where the file has none; names may repeat, see Model.Find
	At   string // its place in the file: "line 12, column 5", "node 3 of graph.then_branch"

	Domain  string // of Op; "" is the framework's own domain (ai.onnx)
	Op      string // the framework's name of the operator: "Gather", "ShapeOf"
	Version int    // the opset of Domain; 0 where it is unknown

	// Operator is the name of a gather in package operators: "onnx.Gather-13",
	// "openvino.GatherND-8", "com.microsoft.GatherND-1". It is "" for other nodes.
	Operator string

	// Attributes has the attributes by name. Each is an int64, a bool, a float64, a
	// string, a slice of one of those, or a *Constant. Those of a gather suit
	// operators.Operator.Bind. Attributes that are graphs are in Graphs.
	Attributes map[string]any

	Inputs  []*Value // nil for an optional input that the node leaves out
	Outputs []*Value // nil for an optional output that the node leaves out

	Graphs []Subgraph // of If, Loop, Scan, TensorIterator

	// Awaited says that a node runs behind this one without reading it: a control edge of TensorFlow.
	Awaited bool
}

// IsGather reports whether the node is a gather that package operators has.
func (n *Node) IsGather() bool { return n.Operator != "" }

// A Subgraph is a graph inside a node, with the framework's name for it:
// "then_branch", "body". Its nodes may read values of the enclosing graphs.
type Subgraph struct {
	Name  string
	Graph *Graph
}

// A Value is one edge of a graph: a tensor that a node computes, that the caller
// gives, or that the file holds.
type Value struct {
	Name    string
	Aliases []string // other names for it in the file

	// Spec is the dtype and the shape as far as the file declares them or the
	// reader infers them; Unknown where neither does.
	Spec     garner.Spec
	DimNames []string // names of unknown dims, "" for dims without a name; nil where no dim has one

	From     *Node     // the node that computes it; nil for an input of a graph and for a constant
	Constant *Constant // its elements, where the file holds them; the default of an input
	Default  bool      // Constant is what an input is where the caller does not give it

	// Quantised says for which reals the elements stand, in formats that keep that beside
	// the type; nil where they stand for themselves.
	Quantised *Quantised

	// Takes lists the values that this one takes its elements from where a
	// sub-graph is between: for a parameter of a sub-graph the input of the node,
	// and in a loop the result of the turn before; for an output of the node the
	// results of its sub-graphs. It is nil for every other value.
	Takes []*Value
	Turn  bool // a parameter that is the number of a loop's turn, from 0; Takes is how many turns there are
}

// Fixed gives the constant whose elements the value has in every run: nil for any other value,
// and for an input with a default, which a caller may give other elements.
func (v *Value) Fixed() *Constant {
	if v == nil || v.Default {
		return nil
	}
	return v.Constant
}

// passing are the operators whose result is their first input itself, by the name that they have
// in ONNX, TensorFlow or both.
var passing = map[string]bool{"Identity": true, "ReadVariableOp": true, "StopGradient": true, "PreventGradient": true, "Snapshot": true}

// Held is Fixed of the value that this one is a copy of, behind nodes such as Identity and
// TensorFlow's ReadVariableOp: the table of a gather whose data is a variable. nil where an
// input or another node makes the elements.
func (v *Value) Held() *Constant {
	for from := v.Copied(); from != nil; from = v.Copied() {
		v = from
	}
	return v.Fixed()
}

// Copied is the value that this one is a copy of, as Held says, one node on; nil of any other value.
func (v *Value) Copied() *Value {
	if v == nil || v.Constant != nil || v.From == nil || v.From.Domain != "" || !passing[v.From.Op] || len(v.From.Inputs) == 0 {
		return nil
	}
	return v.From.Inputs[0]
}

// Quantised says for which reals integers stand:
//
//	real = (element - zero)·scale
type Quantised struct {
	Scales []float32 // one, or one for each position along Axis
	Zeros  []int64   // as many
	Axis   int       // along which Scales lie where that are several
	Blocks bool      // blocks along an axis have scales of their own, which are not here
}

// Equal reports whether elements stand for the same reals.
func (q *Quantised) Equal(other *Quantised) bool {
	if q == nil || other == nil {
		return q == other
	}
	return slices.Equal(q.Scales, other.Scales) && slices.Equal(q.Zeros, other.Zeros) && (len(q.Scales) < 2 || q.Axis == other.Axis) && !q.Blocks && !other.Blocks
}

// String gives the scales and the zero points in words, as "scale 0.5, zero point -3".
func (q *Quantised) String() string {
	switch {
	case q.Blocks:
		return "scales of blocks"
	case len(q.Scales) != 1:
		return fmt.Sprintf("%d scales along axis %d", len(q.Scales), q.Axis)
	case q.Zeros[0] == 0:
		return fmt.Sprintf("scale %v", q.Scales[0])
	}
	return fmt.Sprintf("scale %v, zero point %d", q.Scales[0], q.Zeros[0])
}

// String gives the name and the type: input_ids i64[batch,?].
func (v *Value) String() string { return strings.TrimSpace(v.Name + " " + v.Type()) }

// Type gives Spec.String with the names of dims: i64[batch,?].
func (v *Value) Type() string {
	if v.DimNames == nil || !v.Spec.Rank.Known() {
		return v.Spec.String()
	}
	dims := make([]string, len(v.Spec.Dims))
	for i, d := range v.Spec.Dims {
		dims[i] = d.String()
		if i < len(v.DimNames) && v.DimNames[i] != "" && !d.Known() {
			dims[i] = v.DimNames[i]
		}
	}
	head, _, _ := strings.Cut(v.Spec.String(), "[")
	return head + "[" + strings.Join(dims, ",") + "]"
}

// Refine gives the value the spec that follows from the operands of its node.
// What the file says fills in where that leaves something open: the dtype, the
// rank and each dim, unless it contradicts. The names of dims go with a rank that
// was wrong.
func (v *Value) Refine(inferred garner.Spec) {
	said := v.Spec
	if inferred.DType == garner.Invalid {
		inferred.DType = said.DType
	}
	if !inferred.Rank.Known() {
		if said.Rank.Known() && inferred.Rank.Min <= said.Rank.Min && said.Rank.Min <= inferred.Rank.Max {
			inferred.Rank, inferred.Dims = said.Rank, said.Dims
		}
	} else if said.Rank == inferred.Rank {
		dims := slices.Clone(inferred.Dims)
		for i, d := range said.Dims {
			low, high := max(d.Min, dims[i].Min), min(d.Max, dims[i].Max)
			if low <= high {
				dims[i] = garner.Dim{Min: low, Max: high}
			}
		}
		inferred.Dims = dims
	}
	if said.Rank != inferred.Rank {
		v.DimNames = nil
	}
	v.Spec = inferred
}

// A Constant is a tensor in the model's files. Tensor, Array and Open read it;
// nothing else does. Reading a nil one, that of a value that is no constant, is an *Error of
// class garner.ErrAttribute.
type Constant struct {
	Name string      // of the initializer, layer or node that holds it
	Spec garner.Spec // dtype and shape; every dim is known

	// The elements are Size bytes from Offset on of File, row-major and
	// little-endian. File is "" where they are encoded or are in no file.
	File         string
	Offset, Size int64

	// State is the state of File when the reader looked at it; zero without a File.
	// Open refuses a file that has changed since.
	State source.FileState

	// More are the ranges of files behind that one, where the elements lie in several, one
	// behind the other. Size is then that of all, and Encoded is set: Tensor joins them.
	More []Range

	// Tiles are where the elements lie, without a File, if each row of theirs lies in several places: Open
	// reads the parts of a row there, and Tensor joins all. SetTiles sets them.
	Tiles []Tile

	// Slices is how many slices of a tensor the files have, of one that they do not have in
	// one piece, such as a partitioned variable of TensorFlow 1; else 0.
	Slices int

	// Whole is the name of the constant that these elements are a slice of; "" of one that is no
	// slice of another.
	Whole string

	// Encoded says that Tensor makes the elements in new memory on each call.
	Encoded bool

	// Verify reads all elements of File and compares their checksum with the one that the
	// model's files have. nil: they have none, or Tensor compares it.
	Verify func(ctx context.Context) error

	load      func() (garner.Tensor, error)
	pieces    func(do func(b []byte) error) error // of NewEncoded
	held      atomic.Pointer[garner.Tensor]       // of Hold
	openTiles func(c *Constant) (Array, error)    // of SetTiles
	unread    bool                                // as NewUnread says
	closed    atomic.Bool                         // its model is
}

// A Range is Size bytes from Offset on of a file, and the state that the file had when the
// reader looked at it.
type Range struct {
	File         string
	Offset, Size int64
	State        source.FileState
}

// Append adds size bytes of the elements of another constant with a File, from byte at of
// them on, behind those that c has.
func (c *Constant) Append(from *Constant, at, size int64) {
	for _, r := range from.ranges() {
		skip := min(at, r.Size)
		at, r.Offset, r.Size = at-skip, r.Offset+skip, r.Size-skip
		r.Size = min(r.Size, size)
		size -= r.Size
		switch {
		case r.Size == 0:
		case c.File == "":
			c.File, c.Offset, c.Size, c.State = r.File, r.Offset, r.Size, r.State
		default:
			c.More = append(c.More, r)
			c.Size += r.Size
		}
	}
}

// ranges are those of c.
func (c *Constant) ranges() []Range {
	first := Range{c.File, c.Offset, c.Size, c.State}
	for _, m := range c.More {
		first.Size -= m.Size
	}
	return append([]Range{first}, c.More...)
}

// NewConstant makes a constant that load reads. Every call of Tensor calls load,
// several goroutines at once. Errors of load name the file and the constant.
func NewConstant(name string, spec garner.Spec, load func() (garner.Tensor, error)) *Constant {
	return &Constant{Name: name, Spec: spec, load: load}
}

// NewUnread makes a constant that garner does not read, such as a sparse one: every read of it is
// err, which names the file and the constant. See Unread.
func NewUnread(name string, spec garner.Spec, err error) *Constant {
	return &Constant{Name: name, Spec: spec, unread: true, load: func() (garner.Tensor, error) { return garner.Tensor{}, err }}
}

// Unread reports whether garner does not read the constant, whatever state its file is in. Any
// other error of a read is one of that read, and says nothing of the model.
func (c *Constant) Unread() bool { return c != nil && c.unread }

// open is an fs.ErrClosed where the model is closed, and an ErrAttribute of no constant.
func (c *Constant) open() error {
	if c == nil {
		return &Error{At: "Constant", Err: garner.Errorf(garner.ErrAttribute, "it is nil, because a node or a caller gives the value its elements; take Value.Held, which finds the constant behind Identity and ReadVariableOp, and test it for nil")}
	}
	if !c.closed.Load() {
		return nil
	}
	return &Error{Path: c.File, At: "constant " + names.Quote(c.Name), Err: garner.Errorf(fs.ErrClosed, "its model was closed; read constants before that")}
}

// Tensor gives the elements. Where File names the only file, the tensor is a view of the
// mapped file, which the model keeps: see garner.Tensor.KeptBy and Close.
// Encoded elements (ONNX's typed fields, strings) are decoded on each call, unless Hold holds
// them, and those of several ranges of files are joined.
func (c *Constant) Tensor() (garner.Tensor, error) {
	if err := c.open(); err != nil {
		return garner.Tensor{}, err
	}
	if t := c.held.Load(); t != nil {
		return *t, nil
	}
	return c.load()
}

// Hold decodes encoded elements once: until release is called, Tensor gives these. Of a constant
// that is not encoded it does nothing.
func (c *Constant) Hold() (release func(), err error) {
	if c != nil && !c.Encoded {
		return func() {}, nil
	}
	t, err := c.Tensor()
	if err != nil {
		return nil, err
	}
	c.held.Store(&t)
	return func() { c.held.Store(nil) }, nil
}

// An Array is a source.Array that keeps its file open until Close.
type Array interface {
	source.Array
	io.Closer
}

// Open gives the constant as an array of its own, for source.Gather,
// source.GatherInto and source.NewTable. Where File names a file, the array is a
// *source.File: it reads rows that are not resident many at a time, and it is good
// until its Close, also after the model is closed. So is that of Tiles. Other constants are in memory,
// decoded here once where they are encoded, and good until the model is closed.
//
// A file that was changed or replaced since the model was opened is a
// source.ErrChanged. Other errors are those of Tensor and source.Open, and an
// ErrDType for strings, which have no elements of a fixed width.
func (c *Constant) Open() (Array, error) {
	if c != nil && c.openTiles != nil {
		return c.openTiles(c)
	}
	if c == nil || c.File == "" || c.Size == 0 {
		a, err := c.Array()
		if err != nil {
			return nil, err
		}
		return a.(Array), nil // source.Memory has a Close, which does nothing
	}
	return c.OpenAs(c.Spec)
}

// OpenAs is Open of a constant with a File as an array of another shape, or with
// dims in another order: spec has the constant's dtype and as many elements, and
// strides where they are not row-major. A spec that does not fit the elements is an
// ErrShape.
func (c *Constant) OpenAs(spec garner.Spec) (*source.File, error) {
	if err := c.open(); err != nil {
		return nil, err
	}
	var segments []source.Segment
	for _, at := range c.ranges() {
		segments = append(segments, source.Segment{Path: at.File, Offset: at.Offset, Bytes: at.Size})
	}
	f, err := source.Open(spec, nil, segments...)
	if err != nil {
		return nil, err
	}
	if err := c.unchanged(f); err != nil {
		f.Close()
		return nil, err
	}
	return f, nil
}

// unchanged refuses a file that is not the one that the reader looked at.
func (c *Constant) unchanged(f *source.File) error {
	states, err := f.States()
	if err != nil {
		return err
	}
	ranges := c.ranges()
	for i, now := range states { // of ranges that are not empty: there is no other, or but one
		if at := ranges[i]; at.State != (source.FileState{}) {
			if err := Unchanged(at.File, at.State, now); err != nil {
				return err
			}
		}
	}
	return nil
}

// Unchanged is a source.ErrChanged where a file of a model is another than it was when
// the model was opened. Readers call it where they open a file again.
func Unchanged(path string, was, now source.FileState) error {
	if now == was {
		return nil
	}
	return Changed(path)
}

// Changed is the error of a file that is not as it was when its model was opened.
func Changed(path string) error {
	return garner.Errorf(source.ErrChanged, "%s was changed or replaced after the model was opened; open the model again when nothing writes to it", path)
}

// Array gives the tensor of Tensor as a source.Array, without a file of its own to
// close: it is good until the model is closed, and a row that is not resident costs
// a page fault. Open reads such rows faster. Errors are those of Tensor, and an
// ErrDType for strings.
func (c *Constant) Array() (source.Array, error) {
	if err := c.open(); err != nil {
		return nil, err
	}
	if c.Spec.DType == garner.String {
		return nil, garner.Errorf(garner.ErrDType, "constant %s is %s; an array has elements of a fixed width, so take its tensor instead", names.Quote(c.Name), c.Spec)
	}
	t, err := c.Tensor()
	if err != nil {
		return nil, err
	}
	return source.Memory(t), nil
}

// View makes a tensor of the bytes of a constant, for readers. It is a view of b.
// The exception is a packed dtype whose last byte has unused bits that are not 0,
// as a tensor needs them: then it is a copy. View reads that byte only.
func View(dtype garner.DType, b []byte, shape ...int) (garner.Tensor, error) {
	t, err := garner.FromBytes(dtype, b, shape...)
	if err != nil || !dtype.Packed() || len(b) == 0 {
		return t, err
	}
	per := 8 / dtype.Bits()
	if used := t.Len() % per * dtype.Bits(); used > 0 && b[len(b)-1]>>used != 0 {
		return t.Clone()
	}
	return t, nil
}

// Bytes gives the size of the elements in bytes, 0 for strings; ok is false where
// it overflows an int64, and of a nil Constant.
func (c *Constant) Bytes() (n int64, ok bool) {
	if c == nil {
		return 0, false
	}
	if c.Spec.DType == garner.String {
		return 0, true
	}
	return c.Spec.Bytes()
}

// Nodes ranges over all nodes. The nodes of a sub-graph follow the node that
// holds it.
func (m *Model) Nodes() iter.Seq[*Node] {
	return func(yield func(*Node) bool) { m.Graph.walk(yield) }
}

// Gathers ranges over the nodes that are gathers, in the order of Nodes.
func (m *Model) Gathers() iter.Seq[*Node] {
	return func(yield func(*Node) bool) {
		m.Graph.walk(func(n *Node) bool { return !n.IsGather() || yield(n) })
	}
}

func (g *Graph) walk(yield func(*Node) bool) bool {
	if g == nil {
		return true
	}
	for _, n := range g.Nodes {
		if !yield(n) {
			return false
		}
		for _, s := range n.Graphs {
			if !s.Graph.walk(yield) {
				return false
			}
		}
	}
	return true
}

// Find finds a node by a name of Names; NAME#0 is also a single node NAME. The bare
// name of several nodes is an ErrAttribute that gives their names. Where no node has
// the name, the ErrAttribute lists the gathers.
func (m *Model) Find(name string) (*Node, error) {
	var shared []string
	for unique, n := range m.Names() {
		if unique == name {
			return n, nil
		}
		if n.Name == name {
			shared = append(shared, unique)
		}
	}
	if len(shared) > 0 {
		return nil, garner.Errorf(garner.ErrAttribute, "%s has %d nodes named %s; ask for one of them as %s to %s",
			m.Path, len(shared), names.Quote(name), shared[0], shared[len(shared)-1])
	}
	if bare, ok := strings.CutSuffix(name, "#0"); ok {
		if n, err := m.Find(bare); err == nil {
			return n, nil
		}
	}
	return nil, garner.Errorf(garner.ErrAttribute, "%s has no node %s; %s", m.Path, names.Quote(name), m.gathers())
}

// Names ranges over the nodes in the order of Nodes, each with a name that Find
// takes: its own, or NAME#0, NAME#1 … for nodes that share one, without those that
// are the own name of a node.
func (m *Model) Names() iter.Seq2[string, *Node] {
	return func(yield func(string, *Node) bool) {
		var own []string
		for n := range m.Nodes() {
			own = append(own, n.Name)
		}
		made := unique(own)
		for n := range m.Nodes() {
			if !yield(made[0], n) {
				return
			}
			made = made[1:]
		}
	}
}

// unique makes each name that is there several times NAME#0, NAME#1 …, without those
// that are in the list themselves.
func unique(list []string) []string {
	count, next := make(map[string]int), make(map[string]int)
	for _, name := range list {
		count[name]++
	}
	made := slices.Clone(list)
	for i, name := range list {
		for count[name] > 1 && count[made[i]] > 0 {
			made[i] = name + "#" + strconv.Itoa(next[name])
			next[name]++
		}
	}
	return made
}

// gathers lists the gathers for a message.
func (m *Model) gathers() string {
	const most = 8
	var list []string
	more := 0
	for n := range m.Gathers() {
		if len(list) < most {
			list = append(list, names.Quote(n.Name))
		} else {
			more++
		}
	}
	switch {
	case len(list) == 0:
		return "it has no gather"
	case more > 0:
		return fmt.Sprintf("its gathers are %s and %d more", strings.Join(list, ", "), more)
	}
	return "its gathers are " + strings.Join(list, ", ")
}
