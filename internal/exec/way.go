package exec

// A Way is how the rows of a nest are moved. No result depends on it.
type Way uint8

// The ways. All but those straight from the indices resolve a tile and then
// move it. Rows that several turns of the free loops use are resolved once,
// before any row moves.
const (
	Nothing       Way = iota // the result has no element: indices are resolved, nothing moves
	Strings                  // by assignment, so that the garbage collector sees every pointer written
	Bits                     // elements narrower than a byte
	Near                     // rows of near data, which is in the caches: no prefetch
	Ahead                    // rows of far data, each prefetched some rows ahead
	Linear                   // elements of a tile that reads most lines of a short stretch of data, which is prefetched sequentially
	Turning                  // as Ahead, but prefetches the rows of the next free turn
	TurningLinear            // as Linear, but prefetches the stretch of the next free turn
	Across                   // few tuples under many free turns: each tuple moves for a run of turns at a time
	Direct                   // single elements or short slices of near data, straight from their indices
	DirectAhead              // single elements or short slices of far data, straight from their indices, each prefetched some rows ahead
	DirectLinear             // as Linear, straight from their indices
	Columns                  // tuples of neighbouring columns, straight from their indices
	Strips                   // as Columns, from strips of far data that are first copied into a near buffer
	Decoded                  // rows of stored data, each decoded into its place; of far data, prefetched some rows ahead
	Reduced                  // rows are reduced into bags: see Bags
)

var wayNames = [...]string{
	Nothing: "nothing", Strings: "strings", Bits: "bits", Near: "near", Ahead: "ahead", Linear: "linear", Turning: "turning", TurningLinear: "turning-linear", Across: "across",
	Direct: "direct", DirectAhead: "direct-ahead", DirectLinear: "direct-linear", Columns: "columns", Strips: "strips", Decoded: "decoded", Reduced: "reduced",
}

// String returns the name of the constant, in lower case with hyphens.
func (w Way) String() string { return wayNames[w] }

// direct reports whether elements go straight from their indices.
func (w Way) direct() bool { return w == Direct || w == DirectAhead || w == DirectLinear }

// linear reports whether data is prefetched sequentially.
func (w Way) linear() bool { return w == Linear || w == TurningLinear || w == DirectLinear }

// turning reports whether the data of the next free turn is prefetched.
func (w Way) turning() bool { return w == Turning || w == TurningLinear }

// columnar reports whether a unit is some columns of some tuples.
func (w Way) columnar() bool { return w == Columns || w == Strips }
