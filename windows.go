package garner

import "slices"

// DimensionNumbers relate the dims of the result, the operand and start_indices
// in a gather of windows, in StableHLO's terms:
//
//   - the result's dims in OffsetDims walk the window: the operand's dims that
//     are neither collapsed nor batching, in order;
//   - the result's other dims walk start_indices without IndexVectorDim, in order;
//   - OperandBatchingDims[i] moves with StartIndicesBatchingDims[i];
//   - component c of every index tuple is the start of the window along operand
//     dim StartIndexMap[c].
//
// Tuples lie along IndexVectorDim of start_indices. If IndexVectorDim equals
// their rank, tuples have one component.
type DimensionNumbers struct {
	OffsetDims               []int
	CollapsedSliceDims       []int
	OperandBatchingDims      []int
	StartIndicesBatchingDims []int
	StartIndexMap            []int
	IndexVectorDim           int
}

// Windows spends every axis of both operands as the dimension numbers say.
// sizes is the extent of the window along each dim of data, or Unknown if it is
// known only when the model runs. lenient skips the check of sizes against data
// if there are no windows.
//
// Nothing is transposed: each dim of the result is a loop with the strides of
// its source dims. A start is bounded so that the window stays inside its dim.
func (l *Lowering) Windows(d DimensionNumbers, sizes []int, lenient bool) {
	if rank := len(d.OffsetDims) + len(d.CollapsedSliceDims) + len(d.OperandBatchingDims); rank >= l.data.Rank.Min && rank <= l.data.Rank.Max {
		l.narrow(&l.data, Exactly(rank)) // HG.7
	}
	if !l.ranked() {
		l.spent = AnyDim
		return
	}
	l.odd = true
	if l.err != nil || !l.checkWindows(d, sizes, lenient) {
		return
	}
	tuples := d.IndexVectorDim < len(l.indices.Dims)
	if tuples {
		l.component = d.IndexVectorDim
	}
	dataStride := func(axis int) int {
		if l.dataStride == nil {
			return 0
		}
		return l.dataStride[axis]
	}
	indexStride := func(axis int) int {
		if l.indexStride == nil {
			return 0
		}
		return l.indexStride[axis]
	}
	// Each dim of the result walks a dim of the window or of start_indices.
	window, start := 0, 0
	rank := len(d.OffsetDims) + len(l.indices.Dims)
	if tuples {
		rank--
	}
	for at := range rank {
		if slices.Contains(d.OffsetDims, at) {
			for slices.Contains(d.CollapsedSliceDims, window) || slices.Contains(d.OperandBatchingDims, window) {
				window++
			}
			extent := AnyDim
			if sizes[window] != Unknown {
				extent = Exactly(sizes[window])
			}
			l.nest = append(l.nest, nestLoop{extent: extent, data: dataStride(window)})
			window++
			continue
		}
		if tuples && start == d.IndexVectorDim {
			start++
		}
		loop := nestLoop{extent: l.indices.Dims[start], index: indexStride(start)}
		if i := slices.Index(d.StartIndicesBatchingDims, start); i >= 0 {
			both := d.OperandBatchingDims[i]
			var ok bool
			if loop.extent, ok = loop.extent.intersect(l.data.Dims[both]); !ok { // HG.9
				l.Fail(KindMismatch, "batching dim %d of data %s and %d of indices %s differ", both, l.data, start, l.indices)
				return
			}
			loop.data = dataStride(both)
		}
		l.nest = append(l.nest, loop)
		start++
	}
	empty := slices.ContainsFunc(l.nest, func(n nestLoop) bool { return n.extent.Min == 0 })
	for _, dim := range d.CollapsedSliceDims {
		if l.data.Dims[dim].Max == 0 && !empty && !slices.Contains(d.StartIndexMap, dim) { // HG.13
			l.Fail(KindMismatch, "collapsed dim %d of data %s is empty; a window has no position along it", dim, l.data)
			return
		}
	}
	step := 0
	if tuples {
		step = indexStride(d.IndexVectorDim)
	}
	for c, dim := range d.StartIndexMap {
		// A collapsed dim of size 0 still reads one position.
		reach := sizes[dim]
		if reach == Unknown || slices.Contains(d.CollapsedSliceDims, dim) {
			reach = 1
		}
		l.axes = append(l.axes, Axis{Number: dim, Dim: max(0, l.data.Dims[dim].Min-reach+1), Data: dataStride(dim), Index: c * step})
	}
	l.nextData, l.nextIndex = len(l.data.Dims), l.indexEnd()
}

// checkWindows checks the dimension numbers against the operands and each
// other.
func (l *Lowering) checkWindows(d DimensionNumbers, sizes []int, lenient bool) bool {
	r, q := len(l.data.Dims), len(l.indices.Dims)
	if d.IndexVectorDim < 0 || d.IndexVectorDim > q { // HG.1
		l.Fail(KindAxis, "index_vector_dim %d of indices %s; it may be 0…%d", d.IndexVectorDim, l.indices, q)
		return false
	}
	k, starts := Exactly(1), q
	if d.IndexVectorDim < q {
		k, starts = l.indices.Dims[d.IndexVectorDim], q-1
	}
	lists := []struct {
		name   string
		dims   []int
		rank   int
		sorted bool
	}{
		{"offset_dims", d.OffsetDims, len(d.OffsetDims) + starts, true},
		{"collapsed_slice_dims", d.CollapsedSliceDims, r, true},
		{"operand_batching_dims", d.OperandBatchingDims, r, true},
		{"start_indices_batching_dims", d.StartIndicesBatchingDims, q, false},
		{"start_index_map", d.StartIndexMap, r, false},
	}
	for _, list := range lists {
		for _, dim := range list.dims {
			if dim < 0 || dim >= list.rank { // HG.2
				l.Fail(KindAxis, "%s %v names dim %d; it may be %s", list.name, list.dims, dim, between(0, list.rank-1))
				return false
			}
		}
	}
	for _, list := range lists {
		sorted := slices.Clone(list.dims)
		slices.Sort(sorted)
		if len(slices.Compact(sorted)) != len(list.dims) { // HG.3
			l.Fail(KindMismatch, "%s %v names a dim twice", list.name, list.dims)
		}
		if list.sorted && !slices.IsSorted(list.dims) { // HG.4
			l.Fail(KindMismatch, "%s %v must ascend", list.name, list.dims)
		}
	}
	if share(d.CollapsedSliceDims, d.OperandBatchingDims) || share(d.StartIndexMap, d.OperandBatchingDims) || slices.Contains(d.StartIndicesBatchingDims, d.IndexVectorDim) { // HG.5
		l.Fail(KindMismatch, "a batching dim is also collapsed, addressed or the index vector's: operand_batching_dims %v, collapsed_slice_dims %v, start_index_map %v, start_indices_batching_dims %v, index_vector_dim %d",
			d.OperandBatchingDims, d.CollapsedSliceDims, d.StartIndexMap, d.StartIndicesBatchingDims, d.IndexVectorDim)
	}
	if len(d.OperandBatchingDims) != len(d.StartIndicesBatchingDims) { // HG.6
		l.Fail(KindMismatch, "operand_batching_dims %v and start_indices_batching_dims %v must be as many", d.OperandBatchingDims, d.StartIndicesBatchingDims)
	}
	if len(d.OffsetDims)+len(d.CollapsedSliceDims)+len(d.OperandBatchingDims) != r { // HG.7
		l.Fail(KindMismatch, "offset_dims %v, collapsed_slice_dims %v and operand_batching_dims %v are not as many as the dims of data %s", d.OffsetDims, d.CollapsedSliceDims, d.OperandBatchingDims, l.data)
	}
	if n := len(d.StartIndexMap); n < k.Min || n > k.Max { // HG.8
		l.Fail(KindMismatch, "start_index_map %v has %d dims and the tuples of indices %s %s components", d.StartIndexMap, n, l.indices, k)
	}
	if len(sizes) != r { // HG.10
		l.Fail(KindMismatch, "slice_sizes %v are not as many as the dims of data %s", sizes, l.data)
		return false
	}
	if lenient {
		// There are no windows only if a dim off the index vector is empty.
		lenient = false
		for i, dim := range l.indices.Dims {
			lenient = lenient || i != d.IndexVectorDim && dim.Min == 0
		}
	}
	for i, size := range sizes {
		one := slices.Contains(d.CollapsedSliceDims, i) || slices.Contains(d.OperandBatchingDims, i)
		switch {
		case size == Unknown:
			l.partial, l.open = true, true
		case size < 0, one && size > 1, !lenient && size > l.data.Dims[i].Max: // HG.11
			top := l.data.Dims[i]
			if one {
				top.Max = min(top.Max, 1)
			}
			l.Fail(KindMismatch, "slice_sizes %v along dim %d of data %s; it may be 0…%d", sizes, i, l.data, top.Max)
		}
	}
	return l.err == nil
}

// share reports whether two lists have a dim in common.
func share(a, b []int) bool {
	return slices.ContainsFunc(a, func(dim int) bool { return slices.Contains(b, dim) })
}
