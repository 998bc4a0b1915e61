package exec

// A Way is how a nest's rows are moved. No result depends on it.
type Way uint8

// The ways. A tile is resolved and then moved in all of them but those that go
// straight from the indices; rows that several turns of the free loops want are
// resolved once, before anything moves.
const (
	Nothing       Way = iota // the result has no element: indices are resolved, nothing moves
	Strings                  // by assignment, so that the garbage collector sees every pointer written
	Bits                     // elements narrower than a byte
	Near                     // rows of data that is in the caches: no prefetch
	Ahead                    // rows of far data, each prefetched some rows before its turn
	Linear                   // elements whose tile reads most of a short stretch of data: it is prefetched end to end
	Turning                  // as Ahead, but what is prefetched is the next free turn's rows
	TurningLinear            // as Linear, but what is prefetched is the next free turn's stretch
	Direct                   // single elements of near data, straight from their indices
	DirectAhead              // single elements of far data, each prefetched before its turn
	DirectLinear             // as Linear, straight from their indices
	Columns                  // tuples of neighbouring columns, straight from their indices
	Strips                   // as Columns, from strips of far data that are copied into a near buffer first
)

var wayNames = [...]string{
	Nothing: "nothing", Strings: "strings", Bits: "bits", Near: "near", Ahead: "ahead", Linear: "linear", Turning: "turning", TurningLinear: "turning-linear",
	Direct: "direct", DirectAhead: "direct-ahead", DirectLinear: "direct-linear", Columns: "columns", Strips: "strips",
}

// String is the name of the constant, in lower case with hyphens.
func (w Way) String() string { return wayNames[w] }

// direct reports whether elements go straight from their indices.
func (w Way) direct() bool { return w == Direct || w == DirectAhead || w == DirectLinear }

// linear reports whether data is prefetched end to end.
func (w Way) linear() bool { return w == Linear || w == TurningLinear || w == DirectLinear }

// turning reports whether the next free turn is what is prefetched.
func (w Way) turning() bool { return w == Turning || w == TurningLinear }

// columnar reports whether a unit is columns of tuples.
func (w Way) columnar() bool { return w == Columns || w == Strips }
