package tensorflow

import "github.com/garner-go/garner"

// GatherNd is the raw operator GatherNd: slices of params at index tuples, which
// lie along the last dimension of the indices.
//
//	output[i_0…i_{q-2}, :] = params[indices[i_0…i_{q-2}, 0…k-1], :]
//
// for tuples of length k up to the rank of params.
//
// Spec: https://www.tensorflow.org/api_docs/python/tf/raw_ops/GatherNd
type GatherNd struct {
	BadIndicesPolicy string `attr:"bad_indices_policy" values:"DEFAULT,ERROR,IGNORE"` // "", DEFAULT or ERROR: an error; IGNORE: zeros
}

// Lower spends the operands' axes; see garner.Op.
func (g GatherNd) Lower(l *garner.Lowering) {
	outside := badIndices(l, g.BadIndicesPolicy) // TNd.5
	lowerGatherNd(l, 0)                          // TNd.1, TNd.2, TNd.3
	l.Outside(outside)                           // TNd.4, TNd.5
}

// badIndices returns the policy that the attribute bad_indices_policy names.
func badIndices(l *garner.Lowering, policy string) garner.Outside {
	switch policy {
	case "", "DEFAULT", "ERROR":
		return garner.Error
	case "IGNORE":
		return garner.Zero
	}
	l.FailAttribute("bad_indices_policy %q; there are DEFAULT, ERROR and IGNORE", policy)
	return garner.Error
}

// lowerGatherNd is the lowering that GatherNd and gather_nd share, all but the
// policy for indices outside.
func lowerGatherNd(l *garner.Lowering, batchDims int) {
	l.NeedRanks(1, 1)             // TNd.1, Tnd.1
	b := l.BatchDimsND(batchDims) // Tnd.2
	k := l.TupleLen(b)            // TNd.2, Tnd.3
	l.Batch(b)                    // Tnd.4
	l.Components(k)               // TNd.3: indices[…, 0…k-1]
	l.Tuples()                    // TNd.3: i_0 … i_{q-2}
	l.Copy()                      // TNd.3: the slice
	l.Negative(garner.Reject)     // TNd.4, Tnd.5
}
