package departures

// The order in which TensorFlow's CPU adds the floats of a bag without weights, R.29 in docs/rules.md.
const (
	LongBag  = 10 // the least number of terms of a bag that it does not add one after the other
	BagGroup = 8  // the terms of such a bag, behind its head, of which each sum is added to the head's
)

// BagHead returns how many terms of a bag are added one after the other, before the groups: all of a short one, and else
// what is left of groups, at least as many as in the shortest long bag.
func BagHead(terms int) int {
	if terms < LongBag {
		return terms
	}
	head := terms % BagGroup
	if head < LongBag-BagGroup {
		head += BagGroup
	}
	return head
}
