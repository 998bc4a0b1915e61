package source

import (
	"context"
	"sync"

	"github.com/garner-go/garner"
	"github.com/garner-go/garner/internal/exec"
)

// A decoded Array is the elements of stored data, for one run: rows of codes, and of
// scales and zero points that lie apart, are fetched and decoded to their places. One
// goroutine calls it at a time.
type decoded struct {
	form    *garner.Stored
	spec    garner.Spec // of the elements
	size    int64       // bytes of them
	width   int         // bytes of an element
	of      [3]Array    // data, the scales and the zero points, row-major, for callers that hold them; nil: there are none
	sizes   [3]int64    // bytes of each
	most    int64       // bytes of scratch
	threads int

	runner   exec.Runner
	fetchers [3]fetcher
	from     [3][]int64 // where the bytes of each row begin in each operand
	at       [3][]int64 // where they begin in src
	src      [3][]byte
}

// newDecoded returns the elements of the data of a plan. Operands that are not
// row-major are read whole.
func (g *gather) newDecoded(ctx context.Context) (*decoded, error) {
	form := g.plan.Stored
	d := &decoded{form: form, spec: form.Elements(), size: g.dataBytes, threads: g.threads, most: decodedBytes}
	d.width = d.spec.DType.Bits() / 8
	if g.o.Memory > 0 {
		d.most = min(d.most, max(g.o.Memory/8, 1))
	}
	scales, zeros := form.Operands()
	for i, a := range [...]Array{g.data, g.further(scales), g.further(zeros)} {
		if a == nil {
			continue
		}
		if !rowMajor(a.Spec()) {
			t, err := g.copied(ctx, a)
			if err != nil {
				return nil, err
			}
			a = Memory(t)
		}
		var err error
		if d.sizes[i], err = sizeOf(a.Spec()); err != nil {
			return nil, err
		}
		d.of[i] = fetches(a, g.o.Memory > 0, g.threads)
	}
	return d, nil
}

// decodedBytes is the most scratch of a decoded Array. It holds some thousand rows, so
// that the wait for the last of them is short beside the reads.
const decodedBytes = 8 << 20

// rowMajor reports whether elements are stored in row-major order.
func rowMajor(spec garner.Spec) bool {
	shape, _ := spec.Shape()
	n := 1
	for i := len(shape) - 1; i >= 0 && spec.Strides != nil; i-- {
		if shape[i] == 0 {
			return true
		}
		if shape[i] != 1 && spec.Strides[i] != n {
			return false
		}
		n *= shape[i]
	}
	return true
}

// Spec returns the dtype and the shape of the elements.
func (d *decoded) Spec() garner.Spec { return d.spec }

// Fetch fetches and decodes rows. A row whose stored bytes exceed the scratch is decoded
// in pieces.
func (d *decoded) Fetch(ctx context.Context, rows Rows) error {
	if err := checkRows(rows, d.size); err != nil || len(rows.At) == 0 || rows.Size == 0 {
		return err
	}
	n := rows.Size / d.width
	first := int(rows.At[0]) / d.width
	piece := n
	for piece > 1 && d.bytesOf(first, piece) > d.most && d.bytesOf(first, piece/2) < d.bytesOf(first, piece) {
		piece /= 2
	}
	const perOperand = 2*8 + 2*16 + 8                                                    // the place and the begin of a row, a sorter's keys and position
	each := int(max(1, d.most/(d.bytesOf(first, piece)+int64(perOperand*d.operands())))) // rows
	for inside := 0; inside < n; inside += piece {
		for i := 0; i < len(rows.At); i += each {
			end := min(i+each, len(rows.At))
			part := Rows{At: rows.At[i:end], Size: rows.Size, Dst: rows.Dst[i*rows.Size : end*rows.Size]}
			if err := d.fetchPart(ctx, part, inside, min(piece, n-inside)); err != nil {
				return err
			}
		}
	}
	return nil
}

// operands returns the number of operands that hold the elements.
func (d *decoded) operands() (n int) {
	for _, a := range d.of {
		if a != nil {
			n++
		}
	}
	return n
}

// bytesOf returns how many bytes n elements from one on are stored in.
func (d *decoded) bytesOf(first, n int) (bytes int64) {
	for _, s := range d.form.Spans(first, n) {
		bytes += s.To - s.From
	}
	return bytes
}

// fetchPart decodes n elements, from element inside on, of each row. It fetches what
// several rows share once.
func (d *decoded) fetchPart(ctx context.Context, rows Rows, inside, n int) error {
	var size [3]int64 // bytes of a row in each operand
	for k := range d.from {
		d.from[k] = d.from[k][:0]
	}
	for _, at := range rows.At {
		for k, s := range d.form.Spans(int(at)/d.width+inside, n) {
			d.from[k] = append(d.from[k], s.From)
			size[k] = max(size[k], s.To-s.From)
		}
	}
	if err := d.fetchOperands(ctx, size); err != nil {
		return err
	}
	unit := max(exec.Tuned.TileBytes/(n*d.width), 1) // rows
	threads := d.threads
	if len(rows.At)*n*d.width <= exec.Tuned.AloneBytes {
		threads = 1
	}
	decode := func(u int) {
		var parts exec.Stored
		var from [3]int64
		for i := u * unit; i < min((u+1)*unit, len(rows.At)); i++ {
			for k := range d.of {
				if d.of[k] != nil && size[k] > 0 {
					at := d.at[k][i]
					parts[k], from[k] = d.src[k][at:at+size[k]], d.from[k][i]
				}
			}
			at := i*rows.Size + inside*d.width
			d.form.DecodeParts(rows.Dst[at:at+n*d.width], &parts, &from, int(rows.At[i])/d.width+inside, n)
		}
	}
	if d.runner.RunEach(ctx, (len(rows.At)+unit-1)/unit, threads, decode) == exec.Stopped {
		return context.Cause(ctx)
	}
	return nil
}

// fetchOperands fetches the bytes of rows, of so many in each operand, side by side. An
// error cancels the operands behind; it is that of the first operand that has one, and so is
// a panic.
func (d *decoded) fetchOperands(ctx context.Context, size [3]int64) error {
	var wait sync.WaitGroup
	var panics [3]exec.Panics // of the Arrays
	var errs [3]error
	for k, a := range d.of {
		if a == nil || size[k] == 0 {
			continue
		}
		d.at[k] = d.at[k][:0]
		for i, from := range d.from[k] {
			from = min(from, d.sizes[k]-size[k]) // a row at the end may be stored in fewer bytes than others
			d.from[k][i] = from
			d.at[k] = append(d.at[k], from)
		}
		own := ctx
		behind, cancel := context.WithCancelCause(own)
		defer cancel(nil)
		wait.Go(func() {
			errs[k] = errPanicked
			defer func() {
				if errs[k] != nil {
					cancel(errs[k])
				}
			}()
			panics[k].Run(func() { d.src[k], errs[k] = d.fetchers[k].fetchDistinct(own, a, d.at[k], int(size[k])) })
		})
		ctx = behind
	}
	wait.Wait()
	for k := range errs {
		if panics[k].Rethrow(); errs[k] != nil {
			return errs[k]
		}
	}
	return nil
}
