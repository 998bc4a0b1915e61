package shapes

import (
	"math"

	"github.com/garner-go/garner"
)

// A window is how a convolution or a pool moves along one spatial dim.
type window struct {
	size             number // of the kernel
	stride, dilation int64
	before, after    int64 // padding
	same             bool  // padded so that the result is the extent over the stride, rounded up
	valid            bool  // not padded
	up               bool  // a part of a stride at the end counts
}

// windowsOf has a window for each spatial dim, with the numbers of lists where those are as many.
func windowsOf(n int, sizes []number, strides, dilations, begins, ends []int64, same, valid, up bool) []window {
	list := make([]window, n)
	number := func(all []int64, i int, otherwise int64) int64 {
		if len(all) == n {
			return all[i]
		}
		return otherwise
	}
	for i := range list {
		list[i] = window{size: anyExtent, stride: number(strides, i, 1), dilation: number(dilations, i, 1), before: number(begins, i, 0), after: number(ends, i, 0), same: same, valid: valid, up: up}
		if len(sizes) == n {
			list[i].size = sizes[i]
		}
	}
	return list
}

// most is how large strides, dilations and paddings are that are followed.
const most = 1 << 24

// over is the extent of the result along a dim of d.
func (w window) over(d number) number {
	if w.stride < 1 || w.dilation < 1 || max(w.stride, w.dilation, w.before, w.after, -w.before, -w.after) > most {
		return anyExtent
	}
	if w.same {
		return roundedUp(d, w.stride)
	}
	if w.valid {
		w.before, w.after = 0, 0
	}
	if w.size.high > most {
		return number{low: 0, high: saturated(sum(d.high, w.before+w.after))}
	}
	reach := func(size int64) int64 { return (size-1)*w.dilation + 1 }
	if w.size.known() && w.stride == 1 && reach(w.size.low) == w.before+w.after+1 {
		return d
	}
	steps := func(d, size int64, up bool, short int64) int64 {
		if d > math.MaxInt64/2 {
			return math.MaxInt64
		}
		room := d + w.before + w.after - reach(size)
		if room < 0 {
			return short
		}
		if up {
			return (room+w.stride-1)/w.stride + 1
		}
		return room/w.stride + 1
	}
	// A kernel that does not fit is none or one step: runtimes round a quotient below 0 their own ways.
	return number{low: steps(d.low, max(w.size.high, 1), false, 0), high: steps(d.high, max(w.size.low, 1), w.up, 1)}
}

func roundedUp(d number, by int64) number {
	if by == 1 {
		return d
	}
	up := func(n int64) int64 {
		if n == math.MaxInt64 {
			return n
		}
		return n/by + min(n%by, 1)
	}
	return number{low: up(d.low), high: up(d.high)}
}

// moved is the dims of a value along whose spatial dims, from first on, windows move.
func moved(dims []number, first int, list []window) {
	for i, w := range list {
		dims[first+i] = w.over(dims[first+i])
	}
}

// back is the extent that a transposed convolution gives.
func (w window) back(d number, more int64) number {
	if w.stride < 1 || w.dilation < 1 || max(w.stride, w.dilation, w.before, w.after, more) > most || min(w.before, w.after, more) < 0 {
		return anyExtent
	}
	if w.size.high > most || d.high > math.MaxInt64/most/4 || d.low < 1 {
		return anyExtent
	}
	if w.valid {
		w.before, w.after = 0, 0
	}
	at := func(d, size int64) int64 { return w.stride*(d-1) + more + (size-1)*w.dilation + 1 - w.before - w.after }
	return number{low: at(d.low, w.size.low), high: at(d.high, w.size.high)}.extent()
}

// recurrent is the rule of LSTM, GRU and RNN of ONNX and OpenVINO's sequences.
func recurrent(d garner.DType, sequence, directions, batch, hidden number, batchFirst bool) (all, last fact) {
	if batchFirst {
		return of(d, batch, sequence, directions, hidden), of(d, batch, directions, hidden)
	}
	return of(d, sequence, directions, batch, hidden), of(d, directions, batch, hidden)
}
