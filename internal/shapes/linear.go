package shapes

import (
	"slices"
	"strings"

	"github.com/garner-go/garner"
)

// matMul is the dims of a product of matrices in NumPy's sense. transposed operands have their last two
// dims in the other order, where they have two.
func matMul(d garner.DType, a, b fact, transposeA, transposeB bool) fact {
	if !a.ranked() || !b.ranked() {
		switch {
		case a.rank.Min >= 2 && b.rank.Min >= 2:
			return ofUnknown(d, garner.Dim{Min: max(a.rank.Min, b.rank.Min), Max: max(a.rank.Max, b.rank.Max)})
		}
		return fact{dtype: d, rank: garner.AnyDim}
	}
	if len(a.dims) == 0 || len(b.dims) == 0 {
		return fact{dtype: d, rank: garner.AnyDim}
	}
	x, y := a.dims, b.dims
	rowA, columnB := len(x) > 1, len(y) > 1
	if !rowA {
		x = []number{exactly(1), x[0]}
		transposeA = false
	}
	if !columnB {
		y = []number{y[0], exactly(1)}
		transposeB = false
	}
	rows, columns := x[len(x)-2], y[len(y)-1]
	if transposeA {
		rows = x[len(x)-1]
	}
	if transposeB {
		columns = y[len(y)-2]
	}
	dims := slices.Clone(broadcastDims(x[:len(x)-2], y[:len(y)-2]))
	if rowA {
		dims = append(dims, rows)
	}
	if columnB {
		dims = append(dims, columns)
	}
	return of(d, dims...)
}

// product2 is the rule of a product of two matrices, of which each may be transposed.
func (c *call) product2(d garner.DType, i, j int, transposeA, transposeB bool) {
	made := of(d, anyExtent, anyExtent)
	if f := c.at(i); f.ranked() && len(f.dims) == 2 {
		made.dims[0] = f.dims[boolToInt(transposeA)]
	}
	if f := c.at(j); f.ranked() && len(f.dims) == 2 {
		made.dims[1] = f.dims[1-boolToInt(transposeB)]
	}
	c.set(0, made)
}

// einsum is the rule of a sum that an equation names. One with an ellipsis is not followed.
func (c *call) einsum(d garner.DType, equation string, operands []fact) {
	equation = strings.ReplaceAll(equation, " ", "")
	left, right, explicit := strings.Cut(equation, "->")
	terms := strings.Split(left, ",")
	if strings.Contains(equation, ".") || len(terms) != len(operands) || len(right) > garner.MaxRank {
		c.set(0, fact{dtype: d, rank: garner.AnyDim})
		return
	}
	found, count := map[byte]number{}, map[byte]int{}
	for i, term := range terms {
		f := operands[i]
		for k := range len(term) {
			count[term[k]]++
			e := anyExtent
			if f.ranked() && len(f.dims) == len(term) {
				e = f.dims[k]
			}
			if before, ok := found[term[k]]; ok {
				e = broadcastDim(before, e)
			}
			found[term[k]] = e
		}
	}
	if !explicit { // the letters that stand once, in their order
		var list []byte
		for letter, n := range count {
			if n == 1 {
				list = append(list, letter)
			}
		}
		slices.Sort(list)
		right = string(list)
	}
	dims := make([]number, len(right))
	for k := range dims {
		e, ok := found[right[k]]
		if !ok {
			e = anyExtent
		}
		dims[k] = e
	}
	c.set(0, of(d, dims...))
}
