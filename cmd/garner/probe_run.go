package main

import (
	"context"
	"errors"
	"fmt"
	"math/bits"
	"math/rand/v2"
	"os"
	"runtime"
	"slices"
	"time"

	"github.com/garner-go/garner"
	"github.com/garner-go/garner/internal/mapped"
	"github.com/garner-go/garner/internal/pages"
	"github.com/garner-go/garner/internal/ring"
	"github.com/garner-go/garner/source"
)

const (
	probedBatch = 16 << 20 // limit of a batch, in bytes
	probedPool  = 64 << 20 // limit of the pages of the warm rows, in bytes
	probedBytes = 1 << 30  // limit of the bytes read from the disk
	probedTurns = 50       // limit of the cold batches per way and size

	// probedFirst is the least time for the warm rows of the largest batch, without
	// which that has no figures: a short --seconds on a busy machine is no reason to
	// leave them out, or to fail.
	probedFirst = 10 * time.Second

	diskPage  = 4096 // minimum size of a disk read
	diskDepth = 64   // random reads in flight: a usual choice for fio
)

// pageSize is the page size of the page cache.
var pageSize = int64(os.Getpagesize())

// errLong is the cause of an abandoned batch.
var errLong = errors.New("garner: a batch took too long")

// A prober reads rows of a table and times the reads.
type prober struct {
	open  func() (*source.File, error)
	spend time.Duration

	file     *source.File
	count    int   // rows
	rowBytes int64 // of a row
	size     int   // bytes read of each row
	stored   int64 // size of the table in its files
	parts    []probedPart
	files    map[string]*probedFile
	random   *rand.Rand
	dst      []byte

	ours  map[pageAt]bool // pages that this run brought into the page cache
	drawn map[int]bool    // rows of the batch that is being drawn
	left  int64           // bytes left to read
}

// A probedPart is a piece of the table's stored bytes.
type probedPart struct {
	file   *probedFile
	from   int64 // offset among all stored bytes
	offset int64 // offset in the file
	bytes  int64
}

// A probedFile is a file of the table, opened in addition to the source.File that
// reads it. Mapped pages that were accessed cannot be dropped, so the prober never
// accesses view.
type probedFile struct {
	path string
	file *os.File
	view *mapped.File // nil if it cannot be mapped
	told bool         // mincore reports the truth for this file
}

// A pageAt is a page of a file.
type pageAt struct {
	file *probedFile
	page int64
}

// begin opens the table.
func (r *prober) begin() (err error) {
	if r.file, err = r.open(); err != nil {
		return err
	}
	if len(r.file.Segments()) == 0 {
		r.file.Close()
		return garner.Errorf(garner.ErrShape, "TABLE %s%s has no elements, and no rows to read; name another", r.file.Spec().DType, shapeOf(r.file.Spec()))
	}
	table, err := source.NewTable(r.file)
	if err != nil {
		r.file.Close()
		return err
	}
	r.count, r.rowBytes = table.Len(), int64(table.RowBytes())
	r.size = int(min(r.rowBytes, probedBatch))
	r.random = rand.New(rand.NewPCG(uint64(time.Now().UnixNano()), 1))
	r.ours, r.drawn, r.files, r.left = map[pageAt]bool{}, map[int]bool{}, map[string]*probedFile{}, probedBytes
	for _, s := range r.file.Segments() {
		f := r.files[s.Path]
		if f == nil {
			f = &probedFile{path: s.Path}
			if f.file, _, err = mapped.OpenFile(s.Path); err != nil {
				r.end()
				return err
			}
			r.files[s.Path] = f
			mapped.Alone(f.file)
			if f.view, err = mapped.Map(s.Path, f.file); err == nil {
				_, f.told = f.view.Resident(int(s.Offset), int(s.Offset)+1)
			}
		}
		r.parts = append(r.parts, probedPart{f, r.stored, s.Offset, s.Bytes})
		r.stored += s.Bytes
	}
	return nil
}

func shapeOf(spec garner.Spec) garner.Shape {
	shape, _ := spec.Shape()
	return shape
}

// end closes all files, and drops the pages that were read from the page cache.
func (r *prober) end() {
	r.file.Close()
	r.drop(r.ours)
	for _, f := range r.files {
		if f.view != nil {
			f.view.Close()
		}
		f.file.Close()
	}
}

func (r *prober) paths() (paths []string) {
	for path := range r.files {
		paths = append(paths, path)
	}
	return paths
}

// told reports whether mincore reports the truth for all files.
func (r *prober) told() bool {
	for _, f := range r.files {
		if !f.told {
			return false
		}
	}
	return true
}

// pages calls f for each page that a row lies in.
func (r *prober) pages(row int, f func(pageAt)) {
	// A codec stores all rows in the same size.
	all := uint64(r.count) * uint64(r.rowBytes)
	begin := uint64(row) * uint64(r.rowBytes)
	high, low := bits.Mul64(begin, uint64(r.stored))
	q, _ := bits.Div64(high, low, all) // less than stored
	from := int64(q)
	high, low = bits.Mul64(begin+uint64(r.size), uint64(r.stored))
	q, rest := bits.Div64(high, low, all)
	to := int64(q)
	if rest > 0 {
		to++
	}
	i, _ := slices.BinarySearchFunc(r.parts, from, func(p probedPart, at int64) int {
		if p.from+p.bytes <= at {
			return -1
		}
		return 1
	})
	for ; from < to && i < len(r.parts); i++ {
		p := &r.parts[i]
		end := min(to, p.from+p.bytes)
		for page := (p.offset + from - p.from) / pageSize; page <= (p.offset+end-p.from-1)/pageSize; page++ {
			f(pageAt{p.file, page})
		}
		from = end
	}
}

// resident reports whether the kernel reports a page as in the page cache.
func (p pageAt) resident() bool {
	if p.file.view == nil {
		return false
	}
	from := p.page * pageSize
	to := min(from+pageSize, int64(p.file.view.Size()))
	in, known := p.file.view.Resident(int(from), int(to))
	return in && known
}

// drop drops pages from the page cache, except mapped pages that were accessed.
func (r *prober) drop(list map[pageAt]bool) bool {
	done := true
	for p := range list {
		done = forget(p.file.file, p.page*pageSize, pageSize) && done
	}
	return done
}

// dropWhole drops a page of a large folio. Folios have a power of two of pages, begin
// at multiples of their size, and are dropped whole or not at all. A dirty one stays
// until it is written.
func (r *prober) dropWhole(p pageAt) {
	at := p.page * pageSize
	written(p.file.file, at, pageSize)
	const largest = 4 << 20
	for n := pageSize; n <= largest && p.resident(); n *= 2 {
		forget(p.file.file, at&^(n-1), n)
	}
}

// run measures.
func (r *prober) run(ctx context.Context, found *probed, sizes []int, tell func(done int64)) error {
	begin := time.Now()
	until := func(part float64) time.Time { return begin.Add(time.Duration(part * float64(r.spend))) }
	tick := func() { tell(min(time.Since(begin), r.spend).Milliseconds()) }
	var batches []int
	for _, n := range sizes {
		n = min(n, r.count, max(1, probedBatch/r.size))
		if !slices.Contains(batches, n) {
			batches = append(batches, n)
		}
	}
	largest := batches[len(batches)-1]
	r.dst = make([]byte, largest*r.size)
	for i := 0; i < len(r.dst); i += diskPage {
		r.dst[i] = 1 // faults the page in before the first read is timed
	}
	var ways []source.Way
	ways = append(append(ways, r.file.Ways()...), source.Auto)

	var err error
	if found.Disk, err = r.disk(ctx, until(0.05)); err != nil {
		return err
	}
	gave := map[source.Way]bool{}
	for i, n := range batches {
		tick()
		part := 0.05 + 0.52*float64(i+1)/float64(len(batches))
		points, how, err := r.cold(ctx, ways, n, until(part), gave)
		var none *notCold
		if errors.As(err, &none) {
			found.ColdMissing = none.why
			break
		}
		if err != nil {
			return err
		}
		found.ColdHow = how
		found.Points = append(found.Points, points...)
	}
	if found.ColdMissing != "" {
		found.ColdHow, found.Points = "", nil
	}
	// The speed of a shared disk varies: take the better of the measurements before and
	// after.
	again, err := r.disk(ctx, until(0.62))
	if err != nil {
		return err
	}
	if again.ReadsPerS > found.Disk.ReadsPerS {
		found.Disk = again
	}
	pool, err := r.pool(ctx, largest, until(0.7))
	if err != nil {
		return err
	}
	for i, n := range batches {
		tick()
		points, err := r.warm(ctx, ways, min(n, len(pool)), pool, until(0.7+0.3*float64(i+1)/float64(len(batches))))
		if err != nil {
			return err
		}
		found.Points = append(found.Points, points...)
	}
	return nil
}

// A notCold is the reason why rows cannot be read cold.
type notCold struct{ why string }

func (e *notCold) Error() string { return e.why }

// cold times batches of n rows that are not in the page cache, each way in turn,
// until the time or the turns are used up.
func (r *prober) cold(ctx context.Context, ways []source.Way, n int, until time.Time, gave map[source.Way]bool) (points []probedPoint, how string, err error) {
	times := make([][]float64, len(ways))
	took := make([]map[source.Way]int, len(ways))
	points = make([]probedPoint, len(ways))
	for i, way := range ways {
		points[i] = probedPoint{Way: way.String(), State: cold, BatchRows: n}
		took[i] = map[source.Way]int{}
	}
	dropped := false
	for turn := range probedTurns {
		for i, way := range ways {
			if turn > 0 && (!time.Now().Before(until) || r.left <= 0) {
				break
			}
			if gave[way] {
				continue
			}
			rows, again, err := r.draw(n)
			if err != nil {
				return nil, "", err
			}
			dropped = dropped || again
			if way == source.Auto {
				took[i][r.file.Way(r.rows(rows))]++
			}
			// A slow disk must not use up the time before every way had a turn.
			spent, err := r.timed(ctx, way, rows, max(time.Until(until), r.spend/20))
			if errors.Is(err, errLong) {
				// A way with earlier timings keeps them.
				if len(times[i]) == 0 {
					gave[way], points[i].GaveUp = true, spent.Seconds()
				}
				continue
			}
			if err != nil {
				return nil, "", err
			}
			times[i] = append(times[i], float64(spent)/1000/float64(n))
		}
	}
	for i := range points {
		points[i].sum(times[i], took[i])
	}
	switch {
	case !r.told():
		how = "of rows chosen at random, dropped before; the system does not tell whether they were in the page cache"
	case dropped:
		how = "not in the page cache: they were dropped from it"
	default:
		how = "not in the page cache"
	}
	return points, how, nil
}

// sum stores the median and the minimum of times in a point.
func (p *probedPoint) sum(times []float64, took map[source.Way]int) {
	if len(times) == 0 {
		return
	}
	slices.Sort(times)
	p.Micros, p.Least, p.Batches = times[len(times)/2], times[0], len(times)
	p.GaveUp = 0
	most := 0
	for way, n := range took {
		if n > most {
			most, p.Took = n, way.String()
		}
	}
}

// rows returns the offsets of rows by their numbers.
func (r *prober) rows(numbers []int) source.Rows {
	at := make([]int64, len(numbers))
	for i, row := range numbers {
		at[i] = int64(row) * r.rowBytes
	}
	return source.Rows{At: at, Size: r.size, Dst: r.dst[:len(at)*r.size]}
}

// timed reads rows and returns the time; errLong if it exceeds the limit.
func (r *prober) timed(ctx context.Context, way source.Way, numbers []int, most time.Duration) (time.Duration, error) {
	rows := r.rows(numbers)
	limited, cancel := context.WithTimeoutCause(ctx, most, errLong)
	defer cancel()
	begin := time.Now()
	err := r.file.FetchBy(limited, way, rows)
	spent := time.Since(begin)
	if err != nil && ctx.Err() != nil {
		err = context.Cause(ctx)
	}
	return spent, err
}

// draw draws n rows without a page in the page cache, ascending. If there are too
// few, it drops the pages of the drawn rows, and only those, and reports that.
func (r *prober) draw(n int) (rows []int, dropped bool, err error) {
	if rows = r.drawFresh(n); len(rows) == n {
		return r.take(rows), false, nil
	}
	// Rows that this run has read can be read again after they are dropped. Pages that
	// were accessed through a mapping can be dropped only after it is unmapped.
	if err := r.reopen(); err != nil {
		return nil, false, err
	}
	if !r.drop(r.ours) {
		return nil, false, &notCold{"this system drops nothing from the page cache that a program asks it to, and too few rows are not in there"}
	}
	clear(r.ours)
	if rows = r.drawFresh(n); len(rows) == n {
		return r.take(rows), true, nil
	}
	rows = r.drawAny(n)
	list := map[pageAt]bool{}
	for _, row := range rows {
		r.pages(row, func(p pageAt) { list[p] = true })
	}
	r.drop(list)
	stay := 0
	for p := range list {
		if !p.resident() {
			continue
		}
		r.dropWhole(p)
		if p.resident() {
			stay++
		}
	}
	if stay > len(list)/50 {
		return nil, false, &notCold{fmt.Sprintf("the system keeps the table's pages in memory though it is asked to drop them (%d of %d); it lies in memory (tmpfs), or another program has it mapped", stay, len(list))}
	}
	return r.take(rows), true, nil
}

// take records that rows are about to be read.
func (r *prober) take(rows []int) []int {
	for _, row := range rows {
		r.pages(row, func(p pageAt) {
			r.left -= pageSize
			r.ours[p] = true
		})
	}
	slices.Sort(rows)
	return rows
}

// drawAny draws n rows at random.
func (r *prober) drawAny(n int) []int {
	if n > r.count/2 {
		return r.random.Perm(r.count)[:n]
	}
	clear(r.drawn)
	rows := make([]int, 0, n)
	for len(rows) < n {
		if row := r.random.IntN(r.count); !r.drawn[row] {
			r.drawn[row] = true
			rows = append(rows, row)
		}
	}
	return rows
}

// drawFresh draws n rows without a page that is in the page cache by the kernel's
// account or was read by this run; fewer if it finds too few.
func (r *prober) drawFresh(n int) []int {
	rows := make([]int, 0, n)
	add := func(row int) {
		fresh := true
		r.pages(row, func(p pageAt) {
			fresh = fresh && !r.ours[p] && !p.resident()
		})
		if fresh {
			rows = append(rows, row)
		}
	}
	if n > r.count/4 {
		for _, row := range r.random.Perm(r.count) {
			if add(row); len(rows) == n {
				break
			}
		}
		return rows
	}
	clear(r.drawn)
	for range 8*n + 2000 { // most of the file may be in the page cache
		row := r.random.IntN(r.count)
		if r.drawn[row] {
			continue
		}
		r.drawn[row] = true
		if add(row); len(rows) == n {
			break
		}
	}
	return rows
}

// reopen opens the table anew, so that none of its pages is mapped.
func (r *prober) reopen() error {
	file, err := r.open()
	if err != nil {
		return err
	}
	r.file.Close()
	r.file = file
	if len(file.Segments()) != len(r.parts) {
		return garner.Errorf(source.ErrChanged, "the table is another than it was when the run began; probe one that is left alone")
	}
	file.Ways() // allocates now, not in the first timed read
	return nil
}

// pool draws the warm rows, unsorted, and reads as many of them as the time allows;
// those of the largest batch have probedFirst at least.
func (r *prober) pool(ctx context.Context, largest int, until time.Time) ([]int, error) {
	each := 0 // bytes of its pages
	r.pages(0, func(pageAt) { each += int(pageSize) })
	rows := r.drawAny(min(r.count, max(largest, min(4*largest, probedPool/each))))
	patient := time.Now().Add(probedFirst)
	for at := 0; at < len(rows); {
		limit := until
		if at < largest && patient.After(until) {
			limit = patient
		}
		if at > 0 && !time.Now().Before(limit) {
			return rows[:at], nil
		}
		end := min(len(rows), at+largest, at+max(1, (1<<20)/each))
		part := slices.Clone(rows[at:end])
		for _, row := range part {
			// Pages that were there before stay when this run ends.
			r.pages(row, func(p pageAt) {
				if !p.resident() {
					r.ours[p] = true
				}
			})
		}
		slices.Sort(part)
		most := max(time.Until(limit), r.spend/20)
		_, err := r.timed(ctx, source.Auto, part, most)
		if errors.Is(err, errLong) && at > 0 {
			return rows[:at], nil
		}
		if err != nil {
			if errors.Is(err, errLong) {
				err = garner.Errorf(err, "the first %d rows were not read within %s; give more time with --seconds", len(part), inTime(float64(most)))
			}
			return nil, err
		}
		at = end
	}
	return rows, nil
}

// warm times batches of n rows that are in the page cache, each way in turn; several
// batches per timing if they are short.
func (r *prober) warm(ctx context.Context, ways []source.Way, n int, pool []int, until time.Time) ([]probedPoint, error) {
	points := make([]probedPoint, len(ways))
	took := make([]map[source.Way]int, len(ways))
	for i, way := range ways {
		points[i] = probedPoint{Way: way.String(), State: warm, BatchRows: n}
		took[i] = map[source.Way]int{}
	}
	var batches []source.Rows
	for at := 0; at+n <= len(pool) && len(batches) < 1024; at += n {
		part := slices.Clone(pool[at : at+n])
		slices.Sort(part)
		batches = append(batches, r.rows(part))
	}
	const (
		least = 256  // rows per timing, at least
		turns = 1000 // timings per way
	)
	// The first pass maps the pages; its time does not count as warm.
	for _, way := range ways {
		for _, b := range batches {
			if err := r.file.FetchBy(ctx, way, b); err != nil {
				return nil, err
			}
			if !time.Now().Before(until) {
				break
			}
		}
	}
	sample := min(len(batches), (least+n-1)/n)
	times := make([][]float64, len(ways))
	for turn := range turns {
		if turn > 0 && !time.Now().Before(until) {
			break
		}
		for i, way := range ways {
			// Each way reads rows of its own; otherwise the CPU caches would serve all but the
			// first.
			first := (turn*len(ways) + i) * sample
			begin := time.Now()
			for k := range sample {
				if err := r.file.FetchBy(ctx, way, batches[(first+k)%len(batches)]); err != nil {
					return nil, err
				}
			}
			times[i] = append(times[i], float64(time.Since(begin))/1000/float64(n*sample))
			if way == source.Auto {
				took[i][r.file.Way(batches[first%len(batches)])]++
			}
		}
	}
	for i := range points {
		points[i].sum(times[i], took[i])
		points[i].Batches *= sample
	}
	return points, nil
}

// disk measures random reads that bypass the page cache.
func (r *prober) disk(ctx context.Context, until time.Time) (probedDisk, error) {
	d := probedDisk{Depth: diskDepth}
	d.ReadBytes = int((min(r.storedRow(), 128<<10) + diskPage - 1) / diskPage * diskPage)
	if s := runtime.GOOS; s != "linux" {
		return probedDisk{Missing: "garner does not know how to read past the page cache of " + s}, nil
	}
	direct := map[*probedFile]*os.File{}
	defer func() {
		for _, f := range direct {
			f.Close()
		}
	}()
	for _, f := range r.files {
		file, err := openDirect(f.path)
		if err != nil {
			return probedDisk{Missing: fmt.Sprintf("%s cannot be read past the page cache (%v)", f.path, errors.Unwrap(err))}, nil
		}
		direct[f] = file
	}
	room, err := pages.Alloc(diskDepth * d.ReadBytes)
	if err != nil {
		return d, err
	}
	next := func() (*os.File, int64) {
		at := r.random.Int64N(r.stored)
		for i := range r.parts {
			if p := &r.parts[i]; at < p.from+p.bytes {
				// Read a whole aligned unit, if the part is long enough.
				at = min(at-p.from, max(0, p.bytes-int64(d.ReadBytes)))
				return direct[p.file], (p.offset + at) / diskPage * diskPage
			}
		}
		panic("garner: a byte of a table lies in none of its parts") // the parts cover all bytes
	}
	rng, err := ring.New(diskDepth)
	if err != nil {
		pages.Free(room)
		return probedDisk{Missing: "this system gives the program no io_uring to read with"}, nil
	}
	done, begin, failed := 0, time.Now(), error(nil)
	until = time.Now().Add(max(time.Until(until), 20*time.Millisecond))
	var free []int
	for i := range diskDepth {
		free = append(free, i)
	}
	flying := 0
	for {
		more := ctx.Err() == nil && failed == nil && time.Now().Before(until) && int64(done)*int64(d.ReadBytes) < probedBytes/4
		for more && len(free) > 0 {
			i := free[len(free)-1]
			free = free[:len(free)-1]
			file, at := next()
			rng.Push(file, room[i*d.ReadBytes:(i+1)*d.ReadBytes], at, i)
			flying++
		}
		if flying == 0 {
			break
		}
		err := rng.Wait(1, func(read ring.Read) {
			flying--
			free = append(free, read.Tag)
			if done++; read.Err != nil && failed == nil {
				failed = read.Err
			}
		})
		if err != nil {
			failed = err
			break
		}
	}
	spent := time.Since(begin)
	if err := rng.Close(); err == nil && flying == 0 {
		pages.Free(room) // otherwise the kernel may still write to it
	}
	switch {
	case ctx.Err() != nil:
		return d, context.Cause(ctx)
	case failed != nil:
		return probedDisk{Missing: fmt.Sprintf("reading past the page cache failed (%v)", failed)}, nil
	}
	d.ReadsPerS = float64(done) / spent.Seconds()
	d.MicrosPerOne = 1e6 / d.ReadsPerS
	d.How = "past the page cache (O_DIRECT), by io_uring"
	return d, nil
}

// storedRow returns about the size of a row in its file, in bytes.
func (r *prober) storedRow() int64 {
	return max(1, int64(float64(r.stored)/float64(r.count)/float64(r.rowBytes)*float64(r.size)))
}
