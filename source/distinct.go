package source

import "context"

// A sorter finds the distinct values among many row positions. It keeps its
// memory from call to call.
type sorter struct {
	keys, spare []key
	at          []int64
}

// A key is a row's position in the array and its number in the batch.
type key struct {
	at    int64
	index int
}

// distinct returns the positions of rows in ascending order, each once. Negative
// rows are left out and keep their value. Every other rows[i] becomes the
// position of its row in a buffer that holds the distinct rows of size bytes, in
// order. The result is valid until the next call.
//
// It is a radix sort by bytes: one pass over the rows for each byte in which
// positions differ. It looks at ctx between passes.
func (s *sorter) distinct(ctx context.Context, rows []int64, size int) ([]int64, error) {
	if cap(s.keys) < len(rows) {
		s.keys, s.spare, s.at = make([]key, len(rows)), make([]key, len(rows)), make([]int64, len(rows))
	}
	keys, high := s.keys[:0], int64(0)
	ordered, last := true, int64(-1)
	for i, row := range rows {
		if row >= 0 {
			keys = append(keys, key{row, i})
			high |= row
			ordered, last = ordered && row >= last, row
		}
	}
	if ordered {
		high = 0 // no pass is needed
	}
	// The lowest byte first: each pass is stable.
	spare := s.spare[:len(keys)]
	for shift := 0; shift < 63 && high>>shift > 0; shift += 8 {
		if ctx.Err() != nil {
			return nil, context.Cause(ctx)
		}
		var from [257]int
		for _, k := range keys {
			from[int(uint8(k.at>>shift))+1]++
		}
		if from[1] == len(keys) {
			continue
		}
		for i := range 256 {
			from[i+1] += from[i]
		}
		for _, k := range keys {
			b := uint8(k.at >> shift)
			spare[from[b]] = k
			from[b]++
		}
		keys, spare = spare, keys
	}
	at, last := s.at[:0], int64(-1)
	for _, k := range keys {
		if k.at != last {
			at = append(at, k.at)
			last = k.at
		}
		rows[k.index] = int64(len(at)-1) * int64(size)
	}
	return at, nil
}

// ascending reports whether rows ascend strictly and none is negative.
func ascending(rows []int64) bool {
	last := int64(-1)
	for _, row := range rows {
		if row <= last {
			return false
		}
		last = row
	}
	return true
}
