package exec

import (
	"fmt"
	"testing"

	"github.com/garner-go/garner/internal/kernel"
)

// nestOf is a nest over f32 data of so many bytes, indices of i64.
func nestOf(reach int, axes []Axis, slice int, loops ...Loop) Nest {
	n := Nest{Bits: 32, Width: kernel.Width{Bits: 64}, Axes: axes, Reach: reach}
	n.Walk(loops, slice)
	return n
}

// TestChoose holds which way a nest is moved, on both sides of what decides.
func TestChoose(t *testing.T) {
	const mib = 1 << 20
	tuned := Tuned
	tuned.CacheBytes = 32 * mib
	vector := func(dim int) []Axis { return []Axis{{Dim: dim, Data: 1}} }
	rows := func(dim, slice int) []Axis { return []Axis{{Dim: dim, Data: slice}} }
	for _, tt := range []struct {
		name   string
		nest   Nest
		way    Way
		byRows Way
		stream bool
		alone  bool
		little bool
	}{
		{"a few rows", nestOf(400, rows(10, 10), 10, Loop{Extent: 3, Index: 1, Out: 10}), Near, Near, false, true, true},
		{"near rows", nestOf(NearMost, rows(1<<11, 64), 64, Loop{Extent: 1 << 14, Index: 1, Out: 64}), Near, Near, false, false, false},
		{"near short rows", nestOf(mib/4, rows(1<<14, 3), 3, Loop{Extent: 1 << 18, Index: 1, Out: 3}), Direct, Direct, false, false, false},
		{"near short rows, past the caches", nestOf(mib/4, rows(1<<13, 8), 8, Loop{Extent: mib, Index: 1, Out: 8}), Near, Near, true, false, false},
		{"near short rows that are apart", nestOf(mib/4, rows(1<<13, 8), 3, Loop{Extent: 1 << 18, Index: 1, Out: 3}), Near, Near, false, false, false},
		{"far short rows", nestOf(mib, rows(1<<16, 3), 3, Loop{Extent: 1 << 18, Index: 1, Out: 3}), DirectAhead, DirectAhead, false, false, false},
		{"far rows", nestOf(NearMost+1, rows(1<<13, 16), 16, Loop{Extent: 1 << 14, Index: 1, Out: 16}), DirectAhead, DirectAhead, false, false, false},
		{"a result below the threshold of its stores", nestOf(mib, rows(1<<14, 16), 16, Loop{Extent: 24*mib/64 - 1, Index: 1, Out: 16}), DirectAhead, DirectAhead, false, false, false},
		{"a result from it on", nestOf(mib, rows(1<<14, 16), 16, Loop{Extent: 24 * mib / 64, Index: 1, Out: 16}), Ahead, Ahead, true, false, false},
		{"near elements", nestOf(4096, vector(1024), 1, Loop{Extent: 1 << 18, Index: 1, Out: 1}), Direct, Direct, false, false, false},
		{"far elements", nestOf(64*mib, vector(16*mib), 1, Loop{Extent: 1 << 20, Index: 1, Out: 1}), DirectAhead, DirectAhead, false, false, false},
		{"far elements that stay, past the caches", nestOf(4*mib, vector(mib), 1, Loop{Extent: 8 * mib, Index: 1, Out: 1}), Direct, Direct, true, false, false},
		{"elements along the last axis", nestOf(64*mib, vector(4096), 1, Loop{Extent: 4096, Data: 4096, Index: 1024, Out: 1024}, Loop{Extent: 1024, Index: 1, Out: 1}), Columns, Ahead, false, false, false},
		{"elements along the first axis", nestOf(64*mib, rows(4096, 4096), 1, Loop{Extent: 1024, Index: 4096, Out: 4096}, Loop{Extent: 4096, Data: 1, Index: 1, Out: 1}), Strips, Ahead, false, false, false},
		{"of which few are wanted", nestOf(64*mib, rows(4096, 4096), 1, Loop{Extent: 100, Index: 4096, Out: 4096}, Loop{Extent: 4096, Data: 1, Index: 1, Out: 1}), Ahead, Ahead, false, false, false},
		{"Gather along the last axis", nestOf(64*mib, vector(4096), 1, Loop{Extent: 4096, Data: 4096, Out: 1024}, Loop{Extent: 1024, Index: 1, Out: 1}), Columns, TurningLinear, false, false, false},
		{"Gather of slices along a middle axis", nestOf(64*mib, rows(64, 64), 64, Loop{Extent: 4096, Data: 4096, Out: 2048}, Loop{Extent: 32, Index: 1, Out: 64}), Turning, Turning, true, false, false},
		{"no element", nestOf(64*mib, rows(10, 0), 0, Loop{Extent: 100, Index: 1}), Nothing, Nothing, false, true, false},
	} {
		l := choose(&tt.nest, &tuned, 2, nil)
		if l.way != tt.way || l.byRows != tt.byRows || l.stream != tt.stream && !l.way.columnar() || l.alone != tt.alone || l.little != tt.little {
			t.Errorf("%s: %s, by rows %s, stream %t, alone %t, little %t; want %s, %s, %t, %t, %t",
				tt.name, l.way, l.byRows, l.stream, l.alone, l.little, tt.way, tt.byRows, tt.stream, tt.alone, tt.little)
		}
	}
	short := nestOf(mib/4, rows(1<<14, 3), 3, Loop{Extent: 1 << 18, Index: 1, Out: 3})
	for _, short.Width = range []kernel.Width{{Bits: 8}, {Bits: 32}, {Bits: 64, Unsigned: true}} {
		if l := choose(&short, &tuned, 2, nil); l.way != Direct {
			t.Errorf("near short rows by %+v: %s, want direct", short.Width, l.way)
		}
	}
	// A larger cache keeps larger results of near data.
	large := nestOf(mib/4, rows(1<<12, 16), 16, Loop{Extent: 40 * mib / 64, Index: 1, Out: 16})
	for cache, stream := range map[int]bool{0: true, 32 * mib: true, 480 * mib: false} {
		tuned.CacheBytes = cache
		if l := choose(&large, &tuned, 2, nil); l.stream != stream {
			t.Errorf("a result of 40 MiB of near data, cache of %d MiB: non-temporal stores %t, want %t", cache/mib, l.stream, stream)
		}
	}
	for bits, want := range map[int]Way{0: Strings, 4: Bits} {
		n := Nest{Bits: bits, Width: kernel.Width{Bits: 64}, Axes: rows(10, 3), Reach: 64 * mib}
		n.Walk([]Loop{{Extent: 3, Index: 1, Out: 3}}, 3)
		if l := choose(&n, &tuned, 2, nil); l.way != want || l.little {
			t.Errorf("elements of %d bits: %s, want %s", bits, l.way, want)
		}
	}
}

// NearMost is the most bytes of data that are near.
const NearMost = 512 << 10

// TestChooseIsPure holds that choosing changes no nest, also where its columns are
// cut, and that choosing again is the same choice and allocates nothing.
func TestChooseIsPure(t *testing.T) {
	loops := []Loop{{Extent: 100, Index: 8192, Out: 8192}, {Extent: 8192, Data: 1, Index: 1, Out: 1}}
	n := nestOf(64<<20, []Axis{{Dim: 4096, Data: 4096}}, 1, loops...)
	was := fmt.Sprint(n)
	p := NewProgram(n, &Tuned, 2)
	if is := fmt.Sprint(n); is != was {
		t.Errorf("the nest was %s and is %s", was, is)
	}
	want := p.Chosen()
	if allocations := testing.AllocsPerRun(20, func() {
		p.SetLoops(&n, p.nest.Axes, loops, 1, false, &Tuned, 2)
	}); allocations != 0 {
		t.Errorf("%v allocations", allocations)
	}
	if got := p.Chosen(); got != want || len(p.nest.Index) != 2 || len(p.choice.index) != 3 {
		t.Errorf("%v with %d loops of %d; want %v, and 3 of 2, for the columns are cut", got, len(p.choice.index), len(p.nest.Index), want)
	}
}

// TestRunKnown moves rows that are known, with fills and of packed types, against
// a loop that does it element after element.
func TestRunKnown(t *testing.T) {
	small := Tuning{TileRows: 8, UnitBytes: 64, UnitTiles: 2, AheadLines: 3, StreamBytes: 200}
	for _, tuning := range []Tuning{Tuned, small} {
		for _, tt := range []struct{ n, slice, bits int }{{1, 1, 8}, {5, 3, 8}, {100, 4, 32}, {1000, 16, 8}, {7, 300, 16}, {9, 3, 4}, {33, 5, 2}, {3, 0, 8}} {
			unit := tt.bits
			if tt.bits >= 8 {
				unit = tt.bits / 8
			}
			src := make([]byte, 4096)
			for i := range src {
				src[i] = byte(i * 7)
			}
			reach := len(src)
			if tt.bits < 8 {
				reach *= 8
			}
			rows := make([]int64, tt.n)
			for i := range rows {
				if rows[i] = int64(i*37%(reach/unit-tt.slice)) * int64(unit); i%5 == 3 {
					rows[i] = -1
				}
			}
			fill := []byte{0xa, 0xb, 0xc, 0xd}[:max(1, tt.bits/8)]
			if tt.bits < 8 {
				fill = []byte{0b1001 & (1<<tt.bits - 1)}
			}
			size := (tt.n*tt.slice*unit + 7) / 8
			if tt.bits >= 8 {
				size = tt.n * tt.slice * unit
			}
			want := make([]byte, size)
			for j := range tt.n * tt.slice {
				row := rows[j/tt.slice]
				for k := range unit {
					from := int(row) + j%tt.slice*unit + k
					switch {
					case tt.bits >= 8 && row < 0:
						want[j*unit+k] = fill[k]
					case tt.bits >= 8:
						want[j*unit+k] = src[from]
					case row < 0:
						want[(j*unit+k)/8] |= fill[0] >> k & 1 << ((j*unit + k) % 8)
					default:
						want[(j*unit+k)/8] |= src[from/8] >> (from % 8) & 1 << ((j*unit + k) % 8)
					}
				}
			}
			got := make([]byte, size)
			var u Runner
			var p Program
			for range 2 {
				clear(got)
				p.SetKnown(tt.n, tt.slice, tt.bits, len(src), fill, &tuning, 3)
				if how := u.RunKnown(t.Context(), &p, &Memory{Buf: src, Volatile: true}, &Memory{Buf: got}, rows, true); how != Done {
					t.Fatalf("%+v: outcome %d", tt, how)
				}
				if string(got) != string(want) {
					t.Errorf("%+v: %x, want %x", tt, got, want)
				}
			}
		}
	}
}

// TestShortRuns holds that AloneTime keeps on one core what is estimated to take no longer, by the
// place of data, and that 0 keeps nothing.
func TestShortRuns(t *testing.T) {
	const mib = 1 << 20
	waking := Tuned
	waking.AloneTime = 1_000_000
	elements := func(reach, n int) Nest {
		return nestOf(reach, []Axis{{Dim: reach / 4, Data: 1}}, 1, Loop{Extent: n, Index: 1, Out: 1})
	}
	rows := func(reach, n int) Nest {
		return nestOf(reach, []Axis{{Dim: reach / 4096, Data: 1024}}, 1024, Loop{Extent: n, Index: 1, Out: 1024})
	}
	for _, tt := range []struct {
		name  string
		nest  Nest
		alone bool
	}{
		{"near elements", elements(mib/4, 800_000), true},
		{"more of them", elements(mib/4, 900_000), false},
		{"elements in the last-level cache", elements(4*mib, 400_000), true},
		{"more of those", elements(4*mib, 500_000), false},
		{"far elements", elements(27*mib, 140_000), true},
		{"more of those, which are on all cores", elements(27*mib, 170_000), false},
		{"long rows", rows(mib/4, 7_000), true},
		{"more of those", rows(mib/4, 8_000), false},
		{"more than an int of 32 bits", elements(mib/4, 1<<31-1), false},
	} {
		for _, tuned := range []Tuning{waking, Tuned} {
			if got, want := choose(&tt.nest, &tuned, 2, nil).alone, tt.alone && tuned.AloneTime > 0; got != want {
				t.Errorf("%s, AloneTime %d: alone %t; want %t", tt.name, tuned.AloneTime, got, want)
			}
		}
	}
}
