package kernel

import (
	"encoding/binary"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"sync"
	"testing"
	"time"
	"unsafe"

	"github.com/garner-go/garner/internal/pages"
)

// One iteration of most benchmarks moves a block of rows, as the engine does. Names
// are key=value, for benchstat. docs/kernels.md has the results and the thresholds
// that follow from them.

// benchRows is the number of rows per iteration. benchList is the number of random
// rows before they repeat: their cache lines exceed the caches.
const (
	benchRows = 1024
	benchList = 1 << 20
)

// benchTables are the tables that rows are read from: near fits into the
// second-level cache, far into none.
var benchTables = []struct {
	name  string
	bytes int
}{{"near", 256 << 10}, {"far", 256 << 20}}

// benchMemory returns memory for the largest table, on huge pages and written
// once, so that no benchmark measures page faults.
var benchMemory = sync.OnceValue(func() []byte {
	b, err := pages.Alloc(benchTables[len(benchTables)-1].bytes)
	if err != nil {
		panic(err)
	}
	for i := range b {
		b[i] = byte(i)
	}
	return b
})

// randomOffsets returns n random rows of size bytes in a table. The first ones
// follow once more, for prefetches behind the last.
func randomOffsets(n, size, table int) []int64 {
	r := rand.New(rand.NewPCG(1, uint64(size)))
	rows := make([]int64, n+benchRows)
	for i := range n {
		rows[i] = int64(r.IntN(table/size) * size)
	}
	copy(rows[n:], rows)
	return rows
}

// aheadLines is the engine's prefetch distance in cache lines.
const aheadLines = 128

// aheadRows is the engine's prefetch distance in rows of size bytes.
func aheadRows(size int) int {
	touched, under := (size+63)&^63, aheadLines
	if size%64 != 0 && 64%size != 0 {
		touched = size + 63
	}
	if touched >= 512 {
		under = under * 3 / 4
	}
	return max(4, under*64/touched)
}

// rowForms lists the forms that differ for slices of size bytes.
func rowForms(size int) []string {
	distinct := []string{"Generic", "AMD64"}
	if size > 32 {
		distinct = []string{"Generic", "AVX2", "AVX512"}
	}
	return slices.DeleteFunc(distinct, func(name string) bool { return !slices.Contains(Forms(), name) })
}

// elementForms lists the forms that differ for single elements.
func elementForms() []string {
	return slices.DeleteFunc([]string{"Generic", "AMD64", "AVX512"}, func(name string) bool { return !slices.Contains(Forms(), name) })
}

// perRow reports the time per row, beside the time per iteration.
func perRow(b *testing.B, rows int) {
	b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/float64(rows), "ns/row")
}

// moveBlocks moves one block of random rows per iteration.
func moveBlocks(b *testing.B, table []byte, size, ahead int, stream bool, out []byte) {
	rows := randomOffsets(benchList, size, len(table))
	b.SetBytes(int64(benchRows * size))
	next, at := 0, 0
	for b.Loop() {
		m := Move{At: at, Step: size, Size: size, Elem: 1, Stream: stream}
		if ahead > 0 {
			m.Ahead.Rows = rows[next+ahead:][:benchRows]
		}
		Rows(out, table, rows[next:next+benchRows], m, nil)
		if next += benchRows; next == benchList {
			next = 0
		}
		if at += benchRows * size; at+benchRows*size > len(out) {
			at = 0
		}
	}
	perRow(b, benchRows)
}

func BenchmarkRows(b *testing.B) {
	for _, size := range []int{1, 2, 3, 4, 7, 8, 12, 16, 20, 32, 60, 64, 100, 128, 256, 3072} {
		for _, table := range benchTables {
			for _, form := range rowForms(size) {
				b.Run(fmt.Sprintf("size=%d/table=%s/form=%s", size, table.name, form), func(b *testing.B) {
					defer Use(form)()
					ahead := 0
					if table.name == "far" {
						ahead = aheadRows(size)
					}
					moveBlocks(b, benchMemory()[:table.bytes], size, ahead, false, make([]byte, benchRows*size))
				})
			}
		}
	}
}

// benchPlaces are the places of src and dst in a page. A processor can be many times slower
// at a few of them: by the address of a file, the header of which is padded to 8 bytes, by the
// 16 bytes in front of a large allocation of C.
var benchPlaces = []int{0, 8, 16, 64, 2064}

// placed returns n bytes that begin at a place in a page.
func placed(b []byte, n, place int) []byte {
	from := (place - int(uintptr(unsafe.Pointer(unsafe.SliceData(b))))) & 4095
	return b[from:][:n]
}

// BenchmarkRowsPlaces moves long slices between all pairs of places. Measure a kernel for them by
// it; a mean over places hides one that is slow.
func BenchmarkRowsPlaces(b *testing.B) {
	memory := benchMemory()
	for _, c := range []struct{ size, table, result int }{
		{2048, 1 << 20, 4 << 20}, {4096, 256 << 10, 256 << 10}, {4096, 1 << 20, 4 << 20}, {4100, 1 << 20, 4 << 20}, {8192, 4 << 20, 8 << 20}, {4096, 64 << 20, 4 << 20},
	} {
		rows := randomOffsets(c.result/c.size, c.size, c.table)
		out := make([]byte, c.result+8192)
		for _, ahead := range []int{0, aheadRows(c.size)} {
			for _, from := range benchPlaces {
				for _, to := range benchPlaces {
					b.Run(fmt.Sprintf("size=%d/table=%d/result=%d/ahead=%d/src=%d/dst=%d", c.size, c.table, c.result, ahead, from, to), func(b *testing.B) {
						src, dst := placed(memory, c.table, from), placed(out, c.result, to)
						n := c.result / c.size
						m := Move{Step: c.size, Size: c.size, Elem: 1}
						if ahead > 0 {
							m.Ahead.Rows = rows[ahead:][:n]
						}
						least := time.Duration(math.MaxInt64)
						b.SetBytes(int64(n * c.size))
						for b.Loop() {
							begun := time.Now()
							Rows(dst, src, rows[:n], m, nil)
							least = min(least, time.Since(begun))
						}
						b.ReportMetric(float64(least.Nanoseconds())/float64(n), "least-ns/row")
					})
				}
			}
		}
	}
}

// BenchmarkRowsAhead varies the prefetch distance.
func BenchmarkRowsAhead(b *testing.B) {
	for _, size := range []int{4, 64, 256, 3072} {
		for _, ahead := range []int{0, 4, 8, 16, 32, 64, 128, 192} {
			b.Run(fmt.Sprintf("size=%d/ahead=%d", size, ahead), func(b *testing.B) {
				moveBlocks(b, benchMemory(), size, ahead, false, make([]byte, benchRows*size))
			})
		}
	}
}

// BenchmarkRowsNear finds the table size from which prefetching pays.
func BenchmarkRowsNear(b *testing.B) {
	for _, table := range []int{256 << 10, 1 << 20, 4 << 20, 16 << 20, 64 << 20} {
		for _, ahead := range []int{0, aheadLines} {
			b.Run(fmt.Sprintf("size=64/table=%dK/ahead=%d", table>>10, ahead), func(b *testing.B) {
				moveBlocks(b, benchMemory()[:table], 64, ahead, false, make([]byte, benchRows*64))
			})
		}
	}
}

// BenchmarkRowsStream finds the output size from which non-temporal stores pay.
func BenchmarkRowsStream(b *testing.B) {
	for _, size := range []int{16, 32, 60, 64, 100, 256, 1200} {
		for _, table := range benchTables {
			for _, output := range []int{4 << 20, 16 << 20, 64 << 20} {
				for _, stream := range []bool{false, true} {
					b.Run(fmt.Sprintf("size=%d/table=%s/output=%dM/stream=%t", size, table.name, output>>20, stream), func(b *testing.B) {
						out, err := pages.Alloc(output)
						if err != nil {
							b.Fatal(err)
						}
						defer pages.Free(out)
						for i := 0; i < len(out); i += 4096 {
							out[i] = 1
						}
						ahead := 0
						if table.name == "far" {
							ahead = aheadRows(size)
						}
						moveBlocks(b, benchMemory()[:table.bytes], size, ahead, stream, out)
					})
				}
			}
		}
	}
}

// benchValues returns n random values below dim, of width bytes each, aligned.
func benchValues(n, width int, dim int64) []byte {
	b := unsafe.Slice((*byte)(unsafe.Pointer(unsafe.SliceData(make([]int64, (n*width+7)/8)))), n*width)
	r := rand.New(rand.NewPCG(2, uint64(dim)))
	for i := range n {
		if v := r.Int64N(dim); width == 8 {
			binary.LittleEndian.PutUint64(b[8*i:], uint64(v))
		} else {
			binary.LittleEndian.PutUint32(b[4*i:], uint32(v))
		}
	}
	return b
}

func BenchmarkElements(b *testing.B) {
	for _, size := range []int{1, 2, 4, 8} {
		for _, width := range []int{4, 8} {
			for _, table := range benchTables {
				for _, form := range elementForms() {
					b.Run(fmt.Sprintf("size=%d/index=%d/table=%s/form=%s", size, width, table.name, form), func(b *testing.B) {
						defer Use(form)()
						ahead := 0
						if table.name == "far" {
							ahead = aheadLines
						}
						elementBlocks(b, size, width, table.bytes, ahead)
					})
				}
			}
		}
	}
}

// BenchmarkElementsNear finds the table size from which prefetching pays.
func BenchmarkElementsNear(b *testing.B) {
	for _, table := range []int{256 << 10, 1 << 20, 4 << 20, 16 << 20, 64 << 20} {
		for _, ahead := range []int{0, aheadLines} {
			b.Run(fmt.Sprintf("size=4/table=%dK/ahead=%d", table>>10, ahead), func(b *testing.B) {
				elementBlocks(b, 4, 8, table, ahead)
			})
		}
	}
}

func elementBlocks(b *testing.B, size, width, table, ahead int) {
	const block = 16 << 10
	dim := table / size
	values := benchValues(benchList, width, int64(dim))
	out, memory := make([]byte, block*size), benchMemory()[:table]
	b.SetBytes(block * int64(size))
	next := 0
	for b.Loop() {
		v := Values{Bytes: values[next*width:], Width: width, Dim: dim, Ahead: ahead}
		if Elements(out, memory, block, size, v) != block {
			b.Fatal("an index was refused")
		}
		if next += block; next == benchList {
			next = 0
		}
	}
	perRow(b, block)
}

// BenchmarkColumns gathers from a strip of 64 columns, where each column selects
// its own row: 16 tuples per iteration.
func BenchmarkColumns(b *testing.B) {
	const wide, rows, tuples = 64, 1024, 16
	for _, size := range []int{1, 2, 4, 8} {
		for _, width := range []int{4, 8} {
			for _, form := range elementForms() {
				b.Run(fmt.Sprintf("size=%d/index=%d/form=%s", size, width, form), func(b *testing.B) {
					defer Use(form)()
					out, memory := make([]byte, tuples*wide*size), benchMemory()[:rows*wide*size]
					c := Columns{
						Values: Values{Bytes: benchValues(wide*benchRows, width, rows), Width: width, Dim: rows},
						From:   wide * width, To: wide * size, Tuples: tuples, Wide: wide, Stride: wide, Lane: 1,
					}
					b.SetBytes(int64(len(out)))
					for b.Loop() {
						if Gather(out, memory, size, c) != tuples {
							b.Fatal("an index was refused")
						}
						if c.First += tuples * c.From; c.First == len(c.Bytes) {
							c.First = 0
						}
					}
					perRow(b, tuples*wide)
				})
			}
		}
	}
}

func BenchmarkTuples(b *testing.B) {
	for k := 1; k <= MaxTuple; k++ {
		for _, width := range []int{4, 8} {
			b.Run(fmt.Sprintf("k=%d/index=%d", k, width), func(b *testing.B) {
				axes := make([]Component, k)
				for c := range axes {
					axes[c] = Component{Dim: 100, Stride: 4}
				}
				values, rows := benchValues(benchRows*k, width, 100), make([]int64, benchRows)
				b.SetBytes(int64(benchRows * k * width))
				for b.Loop() {
					if Tuples(rows, values, width, 0, 0, axes, false) > 0 {
						b.Fatal("an index was refused")
					}
				}
				perRow(b, benchRows)
			})
		}
	}
}

// BenchmarkResolve measures index values that Tuples does not take: other integer
// types, and the policies clamp and wrap.
func BenchmarkResolve(b *testing.B) {
	for _, outside := range []struct {
		name string
		Outside
	}{{"error", Error}, {"clamp", Clamp}, {"wrap", Wrap}} {
		for _, w := range []Width{{Bits: 16}, {Bits: 64}, {Bits: 64, Unsigned: true}} {
			b.Run(fmt.Sprintf("outside=%s/bits=%d/unsigned=%t", outside.name, w.Bits, w.Unsigned), func(b *testing.B) {
				src := make([]byte, benchRows*8)
				for i := range src {
					src[i] = byte(i / 8 * (1 - min(1, i%(w.Bits/8)))) // small values
				}
				rows, values := make([]int64, benchRows), make([]int64, benchRows)
				b.SetBytes(int64(benchRows * w.Bits / 8))
				for b.Loop() {
					Start(rows, 0, 0)
					Load(values, src, 0, 1, w, 256)
					if Resolve(rows, values, 256, 4, Policy{Outside: outside.Outside}) > 0 {
						b.Fatal("an index was refused")
					}
				}
				perRow(b, benchRows)
			})
		}
	}
}

func BenchmarkBits(b *testing.B) {
	for _, size := range []int{4, 12, 64, 4096} {
		for _, shift := range []int{0, 4} {
			b.Run(fmt.Sprintf("bits=%d/shift=%d", size, shift), func(b *testing.B) {
				const n = 64
				r := rand.New(rand.NewPCG(3, uint64(size)))
				src, dst, rows := make([]byte, n*size/8+8), make([]byte, n*size/8+8), make([]int64, n)
				for i := range rows {
					rows[i] = int64(r.IntN(n) * size)
				}
				b.SetBytes(int64(n * size / 8))
				for b.Loop() {
					Bits(dst, src, rows, Move{Step: size, Bias: shift, Size: size, Elem: 4}, 0)
				}
				perRow(b, n)
			})
		}
	}
}

// BenchmarkFilled moves rows with one fill in fifty.
func BenchmarkFilled(b *testing.B) {
	for _, size := range []int{4, 64, 512} {
		for _, table := range benchTables {
			for _, form := range []string{"Generic", Form()} {
				b.Run(fmt.Sprintf("size=%d/table=%s/form=%s", size, table.name, form), func(b *testing.B) {
					defer Use(form)()
					rows := randomOffsets(benchList, size, table.bytes)
					for i := 0; i < len(rows); i += 50 {
						rows[i] = -1
					}
					out, memory := make([]byte, benchRows*size), benchMemory()[:table.bytes]
					b.SetBytes(int64(len(out)))
					next := 0
					for b.Loop() {
						m := Move{Step: size, Size: size, Elem: 4, Filled: true}
						if table.name == "far" {
							m.Ahead.Rows = rows[next+aheadRows(size):][:benchRows]
						}
						Rows(out, memory, rows[next:next+benchRows], m, nil)
						if next += benchRows; next == benchList {
							next = 0
						}
					}
					perRow(b, benchRows)
				})
			}
		}
	}
}

// BenchmarkChecks measures the cost of bounds checks: the kernels against Go loops
// that do the same without a check.
func BenchmarkChecks(b *testing.B) {
	for _, table := range benchTables {
		ahead := 0
		if table.name == "far" {
			ahead = aheadLines
		}
		for _, checked := range []bool{true, false} {
			b.Run(fmt.Sprintf("of=elements/table=%s/checked=%t", table.name, checked), func(b *testing.B) {
				const block = 16 << 10
				dim := table.bytes / 4
				values, out := benchValues(benchList, 8, int64(dim)), make([]uint32, block)
				src := unsafe.Slice((*uint32)(unsafe.Pointer(unsafe.SliceData(benchMemory()))), dim)
				b.SetBytes(block * 4)
				next := 0
				for b.Loop() {
					at := unsafe.Slice((*int64)(unsafe.Pointer(&values[8*next])), block)
					if !checked {
						elementsUnchecked(out, src, at)
					} else if elements(out, src, at, 0) != block {
						b.Fatal("an index was refused")
					}
					if next += block; next == benchList {
						next = 0
					}
				}
				perRow(b, block)
			})
			for _, k := range []int{1, 3} {
				b.Run(fmt.Sprintf("of=rows/k=%d/size=64/table=%s/checked=%t", k, table.name, checked), func(b *testing.B) {
					dims := map[int][]int64{1: {int64(table.bytes / 64)}, 3: {16, 16, int64(table.bytes / 64 / 256)}}[k]
					axes := make([]Component, k)
					stride := int64(64)
					for c := k - 1; c >= 0; c-- {
						axes[c] = Component{Dim: dims[c], Stride: stride}
						stride *= dims[c]
					}
					resolvedRows(b, benchMemory()[:table.bytes], 64, axes, ahead, checked)
				})
			}
		}
	}
}

// BenchmarkElementsByRows moves the elements of BenchmarkElements by rows, to
// measure the gain of Elements.
func BenchmarkElementsByRows(b *testing.B) {
	for _, table := range benchTables {
		b.Run("size=4/index=8/table="+table.name, func(b *testing.B) {
			ahead := 0
			if table.name == "far" {
				ahead = aheadLines
			}
			resolvedRows(b, benchMemory()[:table.bytes], 4, []Component{{Dim: int64(table.bytes / 4), Stride: 4}}, ahead, true)
		})
	}
}

// BenchmarkSlices gathers short slices of a near table into 16 MiB: straight from
// index values, and by rows, resolved and moved one tile at a time.
func BenchmarkSlices(b *testing.B) {
	table := benchMemory()[:256<<10]
	out := make([]byte, 16<<20)
	for _, size := range []int{3, 8, 12, 20, 32, 60, 100, 128} {
		n, dim := len(out)/size&^7, len(table)/size
		values, rows := make([]int64, n), make([]int64, benchRows)
		r := rand.New(rand.NewPCG(4, 1))
		for i := range values {
			values[i] = r.Int64N(int64(dim))
		}
		in := Bytes(values)
		b.Run(fmt.Sprintf("size=%d/by=values", size), func(b *testing.B) {
			for b.Loop() {
				if Slices(out, table, n, size, Values{Bytes: in, Dim: dim}) != n {
					b.Fatal("an index was refused")
				}
			}
			perRow(b, n)
		})
		b.Run(fmt.Sprintf("size=%d/by=rows", size), func(b *testing.B) {
			axes := []Component{{Dim: int64(dim), Stride: int64(size)}}
			for b.Loop() {
				for first := 0; first < n; first += benchRows {
					rows := rows[:min(benchRows, n-first)]
					if Tuples(rows, in[8*first:], 8, 0, 0, axes, false) > 0 {
						b.Fatal("an index was refused")
					}
					Rows(out, table, rows, Move{At: first * size, Step: size, Size: size, Elem: 1}, nil)
				}
			}
			perRow(b, n)
		})
	}
}

// resolvedRows resolves and moves one block of rows per iteration, as the engine
// does.
func resolvedRows(b *testing.B, table []byte, size int, axes []Component, ahead int, checked bool) {
	const list = benchList / 2
	k := len(axes)
	values := make([]int64, k*list)
	r := rand.New(rand.NewPCG(4, uint64(k)))
	for i := range values {
		values[i] = r.Int64N(axes[i%k].Dim)
	}
	bytes := unsafe.Slice((*byte)(unsafe.Pointer(&values[0])), 8*len(values))
	rows, out := make([]int64, benchRows+ahead), make([]byte, benchRows*size)
	b.SetBytes(int64(benchRows * size))
	next := 0
	for b.Loop() {
		if !checked {
			tuplesUnchecked(rows, values[k*next:], axes)
		} else if Tuples(rows, bytes[8*k*next:], 8, 0, 0, axes, false) > 0 {
			b.Fatal("an index was refused")
		}
		m := Move{Step: size, Size: size, Elem: 4, Ahead: Ahead{Rows: rows[ahead:]}}
		if ahead == 0 {
			m.Ahead.Rows = nil
		}
		Rows(out, table, rows[:benchRows], m, nil)
		if next += benchRows; next+benchRows+ahead > list {
			next = 0
		}
	}
	perRow(b, benchRows)
}

// elementsUnchecked is elements without bounds checks; the caller has checked the
// values.
func elementsUnchecked(dst, src []uint32, values []int64) {
	from := unsafe.Pointer(unsafe.SliceData(src))
	dst = dst[:len(values)]
	for j, v := range values {
		dst[j] = *(*uint32)(unsafe.Add(from, 4*v))
	}
}

// tuplesUnchecked is tuples for 1 and 3 components, without bounds checks.
func tuplesUnchecked(rows, values []int64, axes []Component) {
	if len(axes) == 1 {
		s0 := axes[0].Stride
		for j, v := range values[:len(rows)] {
			rows[j] = v * s0
		}
		return
	}
	s0, s1, s2 := axes[0].Stride, axes[1].Stride, axes[2].Stride
	for j := range rows {
		t := values[3*j : 3*j+3 : 3*j+3]
		rows[j] = t[0]*s0 + t[1]*s1 + t[2]*s2
	}
}

// BenchmarkFew measures calls that move few rows, where the call itself is most
// of the time.
func BenchmarkFew(b *testing.B) {
	memory := benchMemory()[:benchTables[0].bytes]
	for _, n := range []int{2, 4, 8, 16} {
		for _, size := range []int{4, 64, 256} {
			for _, ahead := range []int{0, n / 2, n} {
				b.Run(fmt.Sprintf("of=rows/n=%d/size=%d/ahead=%d", n, size, ahead), func(b *testing.B) {
					rows, out := randomOffsets(n, size, len(memory)), make([]byte, n*size)
					m := Move{Step: size, Size: size, Elem: 4, Ahead: Ahead{Rows: rows[:ahead]}}
					for b.Loop() {
						Rows(out, memory, rows[:n], m, nil)
					}
				})
			}
		}
		b.Run(fmt.Sprintf("of=elements/n=%d", n), func(b *testing.B) {
			out, v := make([]byte, n*4), Values{Bytes: benchValues(n, 8, 1000), Width: 8, Dim: 1000}
			for b.Loop() {
				Elements(out, memory, n, 4, v)
			}
		})
		b.Run(fmt.Sprintf("of=columns/n=%d", n), func(b *testing.B) {
			out := make([]byte, n*4)
			c := Columns{Values: Values{Bytes: benchValues(n, 8, 100), Width: 8, Dim: 100}, Tuples: 1, Wide: n, Stride: n, Lane: 1}
			for b.Loop() {
				Gather(out, memory, 4, c)
			}
		})
	}
	for _, k := range []int{1, 3, 5} {
		b.Run(fmt.Sprintf("of=tuples/n=16/k=%d", k), func(b *testing.B) {
			axes := make([]Component, k)
			for c := range axes {
				axes[c] = Component{Dim: 100, Stride: 4}
			}
			values, rows := benchValues(16*k, 8, 100), make([]int64, 16)
			for b.Loop() {
				Tuples(rows, values, 8, 0, 0, axes, false)
			}
		})
	}
}
