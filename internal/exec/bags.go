package exec

import "github.com/garner-go/garner/internal/kernel"

// A Reduction says what a bag makes of its terms.
type Reduction uint8

// The reductions. A Mean and a SqrtN are a sum, divided.
const (
	Sum Reduction = iota
	Mean
	SqrtN
	Max
)

// Ends says what an operand tells of the ends of bags.
type Ends uint8

// The ends.
const (
	Even     Ends = iota // nothing: each bag has as many terms
	Starts               // the first term of each bag
	Segments             // the bag of each term
)

// A Bag says how the rows of a nest, its terms, are reduced. A row number, a
// position and a stride count elements.
type Bag struct {
	Number     kernel.Number
	Reduction  Reduction
	Zero       bool // sums begin at +0
	Reciprocal bool // an unweighted quotient is a product with the rounded reciprocal
	Rounded    bool // a quotient is of the sum rounded to elements
	Fused      bool // a product and its addition are rounded once
	Away       bool // a sum of bf16 halfway between two is rounded away from 0
	Summed     bool // the Decoder's Summer sums rows, which are not decoded first

	Ends     Ends
	Bounded  bool // Starts has one element more, the end of the last bag
	First    bool // element 0 of Starts must be 0
	Width    kernel.Width
	EndsStep int // from an element of the ends to the next

	Count int // bags
	Each  int // terms of each bag, of Even
	Out   int // from a bag of the result to the next

	Weighted bool
	Weights  [2]int // from the weight of a bag's term to the next bag's and to the next term's; of ragged bags the first is 0

	Padding        int  // the position whose terms are left out; -1: none
	SkipNegative   bool // terms of negative indices are left out
	SkipWeightless bool // terms whose weight is not above 0 are left out
	Empty          int  // the position of the row of a bag without terms; -1: zeros, below: none, so that such a bag is refused
}

// divides reports whether a sum is divided.
func (b *Bag) divides() bool { return b.Reduction == Mean || b.Reduction == SqrtN }

// Bags is a program that reduces the rows of a nest. It is immutable between calls of
// Set, and any number of Runners can run it at a time.
type Bags struct {
	Program
	bag   Bag
	skips bool // some terms can be left out: the resolver gives positions
	group int  // bags of a unit
	chunk int  // elements of a row that a unit reduces
	parts int  // chunks of a row
	units int
	turns int    // of the loops between the pieces of a row that lie in one piece
	piece int    // terms that are resolved at a time
	ahead int    // prefetch distance, in terms
	reach int    // bytes of a term, of all turns
	room  int    // stored terms that are decoded at a time
	sum   Summer // of Summed; else nil
}

// Set makes p the program of bags: loops walk their terms in the order of the indices,
// columns the elements of one row. of has the element size, policies and fill. It
// allocates nothing if p has held as many loops and axes before. No run of p may be in
// progress.
func (p *Bags) Set(of *Nest, axes []Axis, loops, columns []Loop, bag Bag, t *Tuning, threads int) {
	n := &p.nest
	n.Bits, n.Width, n.Policy, n.Fill, n.Reach, n.Decoder, n.Axes = of.Bits, of.Width, of.Policy, of.Fill, of.Reach, of.Decoder, axes
	n.Walk(columns, 1)
	p.bag = bag
	p.skips = bag.Padding >= 0 || bag.SkipNegative || bag.SkipWeightless
	p.cut = append(p.cut[:0], loops...)
	for i := range p.cut {
		p.cut[i].Data, p.cut[i].Out = 0, 0
	}
	p.resolver.set(n, Join(p.cut))
	if p.skips {
		p.resolver.positions()
		if p.resolver.policy.Outside == kernel.Error {
			p.resolver.policy.Outside = kernel.Fill
		}
	}
	size := n.elem()
	p.turns = turns(n.Free)
	p.reach = n.Slice * size * p.turns
	terms := p.resolver.total
	if n.Empty {
		p.reach = 0
	}
	p.elements = int64(bag.Count) * int64(n.Slice) * int64(p.turns)
	p.cores = 1
	if product(terms, max(p.reach, 1)) > t.AloneBytes {
		p.cores = max(threads, 1)
	}
	each := max(terms/max(bag.Count, 1), 1)
	p.group = min(max(t.UnitBytes/max(product(each, p.reach), 1), 1), t.TileRows)
	p.chunk = min(n.Slice, max(t.UnitBytes/4/size, 1))
	groups := (bag.Count + p.group - 1) / p.group
	if most := n.Slice * size / 256; p.cores > 1 && groups < 4*p.cores && most > 1 {
		cut := min((4*p.cores+groups-1)/max(groups, 1), most)
		line := max(64/size, 1)
		p.chunk = min(p.chunk, (n.Slice/cut+line-1)/line*line)
	}
	p.parts = (n.Slice + max(p.chunk, 1) - 1) / max(p.chunk, 1)
	p.units = groups * p.parts
	if p.reach == 0 || bag.Count == 0 {
		p.units = 0
	}
	p.piece = min(t.TileRows, max(4*t.UnitBytes/max(p.chunk*size*p.turns, 1), 8))
	p.room = min(p.piece, max(decodedBytes/max(p.chunk*size, 1), 1))
	p.setSummer()
	p.ahead = 0
	if n.Reach > t.NearBytes && p.units > 0 {
		touched := p.chunk * size
		if n.Decoder != nil {
			touched = 0
			for _, s := range n.Decoder.Spans(0, p.chunk) {
				touched += int(s.To - s.From)
			}
		}
		p.ahead = min(max(t.AheadLines*64/max(touched, 1), 1), 32)
	}
}

// setSummer sets what sums the terms.
func (p *Bags) setSummer() {
	p.sum = nil
	if p.bag.Summed {
		p.sum = p.nest.Decoder.Summer()
	}
}

// SetDecoder is that of Program, and replaces the Summer too.
func (p *Bags) SetDecoder(d Decoder) {
	p.Program.SetDecoder(d)
	p.setSummer()
}

// decodedBytes is the most room for decoded terms, unless one is larger: they are read
// again from the first-level cache.
const decodedBytes = 16 << 10

// endsOfUnit is the number of ends that a unit checks.
const endsOfUnit = 16 << 10

// endCount returns the number of elements of the ends.
func (p *Bags) endCount() int {
	switch {
	case p.bag.Ends == Segments:
		return p.resolver.total
	case p.bag.Bounded:
		return p.bag.Count + 1
	}
	return p.bag.Count
}

// Chosen returns how p runs.
func (p *Bags) Chosen() Chosen {
	return Chosen{Way: Reduced, Size: p.nest.Slice * p.nest.elem(), Ahead: p.ahead, Threads: p.cores}
}
