package shapes

import (
	"slices"

	"github.com/garner-go/garner"
)

// mostElements is how many elements a tensor may have whose elements are followed: shapes,
// axes, pads and their like have at most two for each of 64 dims, real ones at most a dozen.
const mostElements = 64

// A fact is what holds for a value in each run. Facts share their slices, which nobody changes.
type fact struct {
	dtype garner.DType // garner.Invalid: unknown
	rank  garner.Dim
	dims  []number // one for each dim where the rank is known; nil otherwise
	elems []number // of a tensor of integers or bools with at most mostElements elements, row-major; nil where they are not followed
}

var nothing = fact{rank: garner.AnyDim}

func ofRank(d garner.DType, rank garner.Dim) fact {
	f := fact{dtype: d, rank: rank}
	if rank.Known() {
		f.dims = slices.Repeat([]number{anyExtent}, rank.Min)
	}
	return f
}

// of is a fact of dims that are known as far as they say. A rank above garner.MaxRank is none
// that a tensor has here.
func of(d garner.DType, dims ...number) fact {
	if len(dims) > garner.MaxRank {
		return fact{dtype: d, rank: garner.AnyDim}
	}
	return fact{dtype: d, rank: garner.Exactly(len(dims)), dims: dims}
}

func scalar(d garner.DType) fact { return of(d) }

// ranked reports whether the rank is known.
func (f fact) ranked() bool { return f.rank.Known() }

// as is the dims of f with another dtype, and no elements.
func (f fact) as(d garner.DType) fact { return fact{dtype: d, rank: f.rank, dims: f.dims} }

// bare is f without its elements.
func (f fact) bare() fact { return f.as(f.dtype) }

// len gives the number of elements where all extents are known and there are few.
func (f fact) len() (int, bool) {
	if !f.ranked() {
		return 0, false
	}
	n := volume(f.dims)
	return int(n.low), n.known() && n.low <= mostElements
}

// with is f with elements, where it has that many.
func (f fact) with(elems []number) fact {
	f.elems = nil
	n, ok := f.len()
	if ok && len(elems) == n && (f.dtype.IsInteger() && f.dtype != garner.U64 || f.dtype == garner.Bool) {
		all := rangeOf(f.dtype)
		wraps := func(e number) bool { return e.low < all.low || e.high > all.high }
		if f.elems = elems; slices.ContainsFunc(elems, wraps) {
			f.elems = slices.Clone(elems)
			for i, e := range elems {
				if wraps(e) {
					f.elems[i] = all
				}
			}
		}
	}
	return f
}

// either is what holds of a value that is f or g.
func (f fact) either(g fact) fact {
	if f.dtype != g.dtype {
		f.dtype = garner.Invalid
	}
	if !f.ranked() || f.rank != g.rank {
		return fact{dtype: f.dtype, rank: garner.Dim{Min: min(f.rank.Min, g.rank.Min), Max: max(f.rank.Max, g.rank.Max)}}
	}
	made := fact{dtype: f.dtype, rank: f.rank, dims: unions(f.dims, g.dims)}
	if f.elems != nil && len(f.elems) == len(g.elems) && f.dtype != garner.Invalid {
		made = made.with(unions(f.elems, g.elems))
	}
	return made
}

// unions joins numbers one by one; it gives f itself where nothing changes.
func unions(f, g []number) []number {
	if len(f) == 0 || &f[0] == &g[0] {
		return f
	}
	made := f
	for i := range f {
		if u := f[i].union(g[i]); u != f[i] {
			if &made[0] == &f[0] {
				made = slices.Clone(f)
			}
			made[i] = u
		}
	}
	return made
}

// holds reports whether each value of g is one of f.
func (f fact) holds(g fact) bool {
	if f.dtype != garner.Invalid && f.dtype != g.dtype || g.rank.Min < f.rank.Min || g.rank.Max > f.rank.Max {
		return false
	}
	return f.holdsDims(g) && (f.elems == nil || len(f.elems) == len(g.elems) && all(f.elems, g.elems, number.holds))
}

func (f fact) holdsDims(g fact) bool { return !f.ranked() || all(f.dims, g.dims, number.holds) }

// holds reports whether n says nothing that m does not.
func (n number) holds(m number) bool {
	return n.low <= m.low && m.high <= n.high && (n.is == 0 || n.is == m.is || m.known() && n.known())
}

func all(f, g []number, ok func(n, m number) bool) bool {
	for i := range f {
		if !ok(f[i], g[i]) {
			return false
		}
	}
	return true
}

// declared is what a Spec says.
func declared(s garner.Spec) fact {
	f := fact{dtype: s.DType, rank: s.Rank}
	if s.Rank.Known() {
		f.dims = make([]number, len(s.Dims))
		for i, d := range s.Dims {
			f.dims[i] = numberOf(d)
		}
	}
	return f
}

// refined is f with what the file says filled in, by the rule of model.Value.Refine: where the
// two contradict, f is right.
func (f fact) refined(said garner.Spec) fact {
	if f.dtype == garner.Invalid {
		f.dtype = said.DType
	}
	switch {
	case !f.ranked():
		if said.Rank.Known() && f.rank.Min <= said.Rank.Min && said.Rank.Min <= f.rank.Max {
			f.rank, f.dims = said.Rank, declared(said).dims
		}
	case said.Rank == f.rank:
		own := f.dims
		for i, d := range said.Dims {
			if m := f.dims[i].meet(numberOf(d)); m != f.dims[i] {
				if len(own) > 0 && &own[0] == &f.dims[0] {
					own = slices.Clone(own)
				}
				own[i] = m
			}
		}
		f.dims = own
	}
	return f
}

// met is f with what is known of g filled in, a value with the same dtype and dims. Where the two contradict,
// there is no run.
func (f fact) met(g fact) fact {
	if f.dtype == garner.Invalid {
		f.dtype = g.dtype
	}
	switch {
	case !f.ranked():
		f.rank, f.dims = g.rank, g.dims
	case f.rank == g.rank:
		own := f.dims
		for i, d := range g.dims {
			if m := f.dims[i].meet(d); m != f.dims[i] {
				if &own[0] == &f.dims[0] {
					own = slices.Clone(own)
				}
				own[i] = m
			}
		}
		f.dims = own
	}
	return f
}
