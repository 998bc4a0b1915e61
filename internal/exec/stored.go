package exec

import "github.com/garner-go/garner/internal/kernel"

// Stored is the memory of data whose elements a Decoder makes: the operands that hold
// them, each whole and dense. A Decoder knows how many there are.
type Stored [3][]byte

// A Span is a range of the bytes of an operand.
type Span = kernel.Span

// A Decoder makes the elements of data out of what is stored. Elements count in
// row-major order. Many goroutines call it at once.
type Decoder interface {
	// Decode writes the elements first … first+n-1 to dst, which has their size. It
	// allocates nothing once calls have filled its free list.
	Decode(dst []byte, from *Stored, first, n int)

	// DecodeRows is Decode of n elements of each row, one row behind the other in dst: row
	// j begins with the element that lies rows[j]+bias bytes behind the first, counted as
	// elements lie in memory. It returns false, and dst is any, where Decode of each row is
	// as fast.
	DecodeRows(dst []byte, from *Stored, rows []int64, bias, n int) bool

	// Spans returns the bytes of each operand that Decode of the same elements reads.
	Spans(first, n int) [3]Span

	// Summer returns what sums rows, or nil where rows can only be decoded first.
	Summer() Summer
}

// A Summer sums rows that are not decoded first, so that its sums are rounded otherwise.
// Many goroutines call it at once.
type Summer interface {
	// Sum is kernel.ReduceBags of rows of f32, whose places count as those of DecodeRows. It
	// allocates nothing once calls have filled its free list.
	Sum(dst []byte, from *Stored, t kernel.Terms, b kernel.Bags)
}
