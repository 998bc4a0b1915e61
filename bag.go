package garner

// A Bag says how a plan reduces rows. Loops[0] of the plan walks the bags, and
// Loops[1], whose Out stride is 0, the rows of one bag, its terms; the loops behind
// them walk one row. Terms are reduced in the order of the indices, whatever the
// number of threads. Where Ends is not Even, Loops[1] walks the terms of all bags,
// and an operand says where each bag ends:
//
//	out[b] = reduce(w_t · row_t for every term t of bag b)
//
// A product is rounded before it is added, and each sum is rounded, to the dtype of
// data; f16 and bf16 are reduced as f32, and the result is rounded. With Fused a product
// and its addition to a sum are rounded once, and a term of [Lowering.StoredRows] makes a
// sum a into fma(scale·w, code, a + bias·w), where w is its weight, or 1. Integers wrap.
// A term that is left out counts nowhere; its index may be any.
// A quotient by weights whose sum is 0 is 0.
type Bag struct {
	Reduction Reduction
	Ends      Ends
	EndsAt    Position // the further operand that says where bags end; none where Ends is Even
	Column    bool     // that operand is a matrix, whose first column says it; else it is a vector
	WeightsAt Position // the further operand with a weight for each index; none: terms have none

	FromZero   bool // a sum begins at +0, so that it is never -0; else at its first term
	Reciprocal bool // an unweighted Mean or SqrtN is a product with the rounded 1/n or 1/sqrt(n); else a quotient
	Rounded    bool // a Mean or SqrtN of f16 and bf16 is of the sum rounded to them
	Fused      bool // a product of floats and its addition are rounded once; concerns sums, and those that are divided
	Away       bool // a sum of bf16 halfway between two is rounded away from 0, not to the even one

	Padding        Position // terms of this row are left out
	SkipNegative   bool     // terms of negative indices are left out
	SkipWeightless bool     // terms whose weight is not above 0 are left out

	Empty      Position // the row that a bag without terms is; none: zeros
	EmptyOnUse bool     // an Empty that data does not have is refused only where a bag has no term; else always

	summed bool // rows are summed as they are stored: Lowering.Bags decides
}

// A Position is a position that may be missing: of a row on the gathered axis of data, or
// of an operand among the further ones, from 0.
type Position struct {
	Given bool
	At    int
}

// PositionAt returns the Position at.
func PositionAt(at int) Position { return Position{Given: true, At: at} }

// A Reduction says what a bag makes of its terms.
type Reduction uint8

const (
	Sum   Reduction = iota // of the terms
	Mean                   // the sum divided by the number of terms, or by the sum of their weights; integers round toward zero
	SqrtN                  // the sum divided by the root of the number of terms, or of the sum of the squares of their weights; floats only
	Max                    // the first term, or the first of the greatest that follow it: a NaN replaces nothing
)

var reductionNames = [...]string{Sum: "sum", Mean: "mean", SqrtN: "sqrtn", Max: "max"}

// String returns "sum", "mean", "sqrtn" or "max".
func (r Reduction) String() string {
	if int(r) < len(reductionNames) {
		return reductionNames[r]
	}
	return "?"
}

// Ends says what an operand tells of the ends of bags.
type Ends uint8

const (
	Even      Ends = iota // there is none: each bag has as many terms, the indices' second dim
	Starts                // element b is the first term of bag b; the last bag ends with the indices
	ZeroStart             // as Starts, and element 0 is 0
	Bounds                // as ZeroStart, and one more element is the end of the last bag
	Segments              // element t is the bag of term t; they never fall
)
