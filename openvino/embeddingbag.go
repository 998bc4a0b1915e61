package openvino

import "github.com/garner-go/garner"

// The further operands of OpenVINO's bags.
var (
	offsets          = garner.Operand{Name: "offsets", Types: garner.IntegerTypes}
	segmentIDs       = garner.Operand{Name: "segment_ids", Types: garner.IntegerTypes}
	perSampleWeights = garner.Operand{Name: "per_sample_weights", Types: garner.ElementType, Optional: true}
)

// lowerBags is the lowering that all bags of OpenVINO share. The first term begins
// a sum, and quotients of integers round toward zero.
func lowerBags(l *garner.Lowering, bag garner.Bag, defaultIndex *int, count garner.Dim) {
	l.NeedNumbers(true)      // OBO.1, OBN.1, OBP.1, OBK.1, OBS.1
	if defaultIndex != nil { // OBO.5, OBN.6, OBS.6
		bag.Empty = garner.PositionAt(*defaultIndex)
		l.NameEmpty("default_index")
	}
	l.NeedRanks(1, 0)         // OBO.2, OBN.3, OBP.2, OBK.3, OBS.2
	l.Bags(bag, count)        // OBO.3, OBO.4, OBN.4, OBN.5, OBP.3, OBK.4, OBS.3, OBS.4: the rows and the bags
	l.Copy()                  // the columns
	l.Negative(garner.Reject) // OBO.6, OBN.7, OBP.4, OBK.5, OBS.7
	l.Outside(garner.Error)   // OBO.6, OBN.7, OBP.4, OBK.5, OBS.7
}

// zeros leaves out a default_index of -1, which stands for zeros.
func zeros(defaultIndex *int) *int {
	if defaultIndex != nil && *defaultIndex == -1 {
		return nil
	}
	return defaultIndex
}

// reduce returns the reduction of an attribute.
func reduce(l *garner.Lowering, reduction string) garner.Reduction {
	switch reduction {
	case "", "sum":
		return garner.Sum
	case "mean":
		if _, weighted := l.Operand(perSampleWeights.Name); weighted { // OBN.2, OBK.2
			l.FailAttribute("per_sample_weights go with the reduction sum alone; the reduction is mean")
		}
		return garner.Mean
	}
	l.FailAttribute("reduction %q; there are sum and mean", reduction) // OBN.2, OBK.2
	return garner.Sum
}
