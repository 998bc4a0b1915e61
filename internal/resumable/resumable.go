// Package resumable writes large files that appear whole or not at all; a later
// run can continue one that was interrupted.
//
// While a file BASE is written, two files stand beside it:
//
//	.garner-BASE.part    its contents so far
//	.garner-BASE.resume  the journal: what the contents are made of, and which of
//	                     their bytes have reached the disk
//
// A journal is text. Its first line gives the size of the file and its Identity;
// each further line gives a range of bytes of the contents and their CRC-32C. Every
// line ends with a checksum over itself and the first line's checksum; a reader
// stops at the first line whose checksum is wrong. A line is appended once a second
// or every 64 MiB, and only after its bytes were flushed to the disk. So the bytes
// that the journal names are good, however a run ends:
//
//   - A killed process loses what it wrote in the last second.
//   - A power failure may also lose the journal's last lines; it then names fewer
//     bytes than the part file has. A new run replaces an older journal, and
//     flushes that, before it writes its first byte.
//   - Commit flushes the contents, appends the journal's last line, renames the
//     contents, flushes the folder, and removes the journal last.
//
// A run that resumes reads what is kept once and compares it with the checksums. It
// continues behind the last line that holds. A run may end between any two of its
// steps; the next one that resumes finds one of these states:
//
//	state                                              a run that resumes
//	no journal, with a part or without                 starts anew
//	a journal without a whole first line: empty, torn  starts anew
//	a journal of another version, and bytes are kept   is refused
//	a journal that another process has locked          waits 0.3 s, then is refused
//	other Identity or size, and bytes are kept         is refused
//	other Identity or size, and no bytes are kept      starts anew
//	no part, the result has the journal's checksums    is done
//	no part, the result is another or not there        starts anew
//	a part or a journal that is no regular file        is refused
//	a part of which no line of the journal holds       starts anew
//	a part that is shorter than the journal says       continues behind the last line that holds
//	a part that differs from the journal's checksums   continues behind the last line that holds
//	a part that is longer than the file will be        continues, and cuts the rest off
//	a journal whose last line is torn                  continues behind the line before
//
// It is refused only where it would discard bytes that another run can continue,
// or that garner did not write.
package resumable

import (
	"bufio"
	"cmp"
	"context"
	"errors"
	"fmt"
	"hash/crc32"
	"io"
	"io/fs"
	"iter"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"time"
	"unicode/utf8"

	"github.com/garner-go/garner"
	"github.com/garner-go/garner/internal/atomicfile"
)

// An Identity lists what a file is made of. Only a run with the same Identity can
// continue the file.
type Identity []Fact

// A Fact is one thing that the contents depend on.
type Fact struct {
	What  string // its name in messages: "the indices"
	Value string // compared, and shown where it differs
}

// A File is a file that one goroutine writes. Every File ends with Commit, Keep or
// Abort; a killed process leaves what Keep would.
type File struct {
	place   atomicfile.Place
	size    int64
	journal *os.File // locked
	part    *os.File // nil where the file is whole
	whole   bool     // an earlier run has renamed the contents
	resumed bool
	stale   bool

	write    func(b []byte, at int64) (int, error) // part's WriteAt
	flush    func() error                          // flushes part to the disk
	every    time.Duration                         // between two lines of the journal
	step     int64                                 // bytes between two lines of the journal
	at       int64                                 // offset of the next write
	noted    int64                                 // bytes that the journal names, or will when flushing is done
	sum      uint32                                // of the bytes noted … at-1
	last     time.Time                             // of the last line
	flushing sync.WaitGroup
	closed   bool

	mu      sync.Mutex
	err     error  // the first failure; nothing is written after it
	safe    int64  // bytes in the journal
	end     int64  // bytes of the journal
	pending []byte // lines that the journal does not have yet
	head    uint32 // checksum of its first line
}

const (
	interval = time.Second
	stride   = 64 << 20 // bytes
)

// ErrKept is the class of refusals to continue what an earlier run has left. A run
// that does not resume discards it.
var ErrKept = errors.New("an earlier run has left another file")

// Options say how a file is begun.
type Options struct {
	Resume bool // continue what a run with the same Identity left

	// Checked is told how many of the kept bytes have been compared with the
	// journal, and how many there are, once a mebibyte.
	Checked func(done, total int64)
}

// Begin begins a file of size bytes at a place with a Target, or continues one; the
// table of the package says when. A continued file begins at byte At, which the
// caller may lower with Back. Where the system can, Begin reserves the disk space at
// once, so that a full disk is reported before the work. It refuses a file that
// another run is writing, and a place whose part or journal is an input.
//
// To resume costs one read of the kept bytes. It ends with the cause of ctx, when
// that is done. A refusal leaves everything as it is, and so does the end of ctx.
func Begin(ctx context.Context, place atomicfile.Place, id Identity, size int64, o Options) (_ *File, err error) {
	f := &File{place: place, size: size, every: interval, step: stride, last: time.Now()}
	for _, end := range []string{".part", ".resume"} {
		if input, ok := place.Input(name(place, end)); ok {
			return nil, garner.Errorf(nil, "cannot write %s: what is written stands in %s until it is whole, and that is the input %s; write to another file", place.Path, name(place, end), input)
		}
	}
	if f.journal, err = lock(ctx, place); err != nil {
		return nil, err
	}
	defer func() {
		if err != nil && !f.closed {
			f.leave()
		}
	}()
	was, err := read(f.journal)
	if err != nil {
		return nil, place.Failed(err)
	}
	if o.Resume {
		if err := f.find(ctx, was, id, o.Checked); err != nil {
			return nil, err
		}
		if f.resumed {
			return f, nil
		}
	} else if part, err := os.Lstat(name(place, ".part")); err == nil {
		f.stale = part.Size() > 0 && (was.safe > 0 || was.other)
	}
	if err := f.begin(id); err != nil {
		f.Abort()
		return nil, err
	}
	return f, nil
}

// find continues what an earlier run left, and sets resumed, or finds that there is
// nothing to continue.
func (f *File) find(ctx context.Context, was past, id Identity, checked func(done, total int64)) error {
	path := name(f.place, ".part")
	part, err := os.Lstat(path)
	switch {
	case err != nil && !errors.Is(err, fs.ErrNotExist):
		return f.place.Failed(err)
	case err == nil && !part.Mode().IsRegular():
		return garner.Errorf(nil, "%s cannot be continued: %s is no regular file; remove it", f.place.Path, path)
	case err == nil && part.Size() > 0 && was.other:
		return garner.Errorf(ErrKept, "%s cannot be continued: another version of garner has begun it, whose journal is %s; continue with that version, or begin anew", f.place.Path, f.journal.Name())
	case !was.ok || was.safe == 0:
		return nil
	}
	differs := f.compare(was, id)
	switch {
	case err == nil && part.Size() > 0 && differs != nil:
		return differs
	case differs != nil:
		return nil
	case err != nil:
		return f.placed(ctx, was, checked)
	}
	return f.resume(ctx, was, checked)
}

// placed finds out whether an earlier run has renamed the contents already.
func (f *File) placed(ctx context.Context, was past, checked func(done, total int64)) error {
	info, err := os.Lstat(f.place.Target)
	if err != nil || !info.Mode().IsRegular() || info.Size() != f.size || was.safe != f.size {
		return nil
	}
	file, err := os.OpenFile(f.place.Target, os.O_RDONLY|atomicfile.NoFollow, 0)
	if err != nil {
		return nil
	}
	defer file.Close()
	safe, _, err := f.held(ctx, was, file, checked)
	if err == nil && safe == f.size {
		f.at, f.noted, f.safe = safe, safe, safe
		f.whole, f.resumed = true, true
	}
	return err
}

// resume continues the part behind the last line of the journal that holds.
func (f *File) resume(ctx context.Context, was past, checked func(done, total int64)) error {
	part, err := os.OpenFile(name(f.place, ".part"), os.O_RDWR|atomicfile.NoFollow, 0)
	if err != nil {
		return f.place.Failed(err)
	}
	f.part = part
	safe, end, err := f.held(ctx, was, part, checked)
	if err != nil {
		return err
	}
	f.stale = safe < was.safe
	if safe == 0 {
		f.part = nil
		return part.Close()
	}
	f.connect()
	f.at, f.noted, f.safe, f.end, f.head, f.resumed = safe, safe, safe, end, was.head, true
	if info, err := part.Stat(); err != nil {
		return f.place.Failed(err)
	} else if info.Size() > f.size {
		if err := part.Truncate(f.size); err != nil {
			return f.place.Failed(err)
		}
	}
	if err := f.journal.Truncate(end); err != nil { // lines that do not hold
		return f.place.Failed(err)
	}
	return f.reserve()
}

// held compares a file with the journal. It returns how many bytes from the first on
// are those that the journal names, and where the last line that holds ends.
func (f *File) held(ctx context.Context, was past, file *os.File, checked func(done, total int64)) (safe, end int64, err error) {
	const piece = 1 << 20
	end = was.start
	var buf []byte
	for l := range was.lines(f.journal) {
		if l.from > safe || l.to <= safe {
			break
		}
		sum := uint32(0)
		for at := l.from; at < l.to; {
			if ctx.Err() != nil {
				return 0, 0, context.Cause(ctx)
			}
			if buf == nil {
				buf = make([]byte, min(piece, f.size))
			}
			n, err := file.ReadAt(buf[:min(int64(len(buf)), l.to-at)], at)
			sum = crc32.Update(sum, table, buf[:n])
			at += int64(n)
			if err == io.EOF && at < l.to {
				return safe, end, nil
			}
			if err != nil && err != io.EOF {
				return 0, 0, garner.Errorf(errors.Join(ErrKept, err), "%s cannot be continued: what is kept of it in %s cannot be read: %v; copy that to another disk, or begin anew", f.place.Path, file.Name(), err)
			}
			if checked != nil {
				checked(at, was.safe)
			}
		}
		if sum != l.sum {
			break
		}
		safe, end = l.to, l.end
	}
	return safe, end, nil
}

// begin writes a new journal and makes a new part.
func (f *File) begin(id Identity) (err error) {
	place, part := f.place, name(f.place, ".part")
	// The journal first: it must never name bytes that are gone.
	line, head := first(id, f.size)
	if err := f.journal.Truncate(0); err != nil {
		return place.Failed(err)
	}
	if _, err := f.journal.WriteAt(line, 0); err != nil {
		return place.Failed(err)
	}
	if err := f.journal.Sync(); err != nil {
		return place.Failed(err)
	}
	f.end, f.head = int64(len(line)), head
	if err := os.Remove(part); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return place.Failed(err)
	}
	if f.part, err = os.OpenFile(part, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o666); err != nil {
		return place.Failed(err)
	}
	f.connect()
	if err := place.Permit(f.part); err != nil {
		return err
	}
	if err := f.reserve(); err != nil {
		return err
	}
	return place.Failed(atomicfile.SyncDir(filepath.Dir(part)))
}

func (f *File) connect() {
	f.write = f.part.WriteAt
	f.flush = func() error { return flush(f.part) }
}

// reserve reserves the file's disk space. It compares the free space first: a
// reservation that fails halfway fills the disk.
func (f *File) reserve() error {
	if room, ok := free(f.part); ok && f.size > room {
		return garner.Errorf(syscall.ENOSPC, "cannot write %s: it takes %d bytes, and its disk has room for %d; make room on the disk, or write to another one", f.place.Path, f.size, room)
	}
	if err := reserve(f.part, f.size); err != nil {
		return f.place.Failed(err)
	}
	return nil
}

// name is the path of the part file or the journal, by its ending.
func name(place atomicfile.Place, end string) string {
	dir, base := filepath.Split(place.Target)
	// The common file systems allow names of 255 bytes.
	if most := 255 - len(".garner-.resume"); len(base) > most {
		sum := fmt.Sprintf("-%08x", crc32.Checksum([]byte(base), table))
		cut := most - len(sum)
		for cut > 0 && !utf8.RuneStart(base[cut]) {
			cut--
		}
		base = base[:cut] + sum
	}
	return dir + ".garner-" + base + end
}

// A killed process may take some time to end, and so to release its lock: that of so many
// looks, each after a pause. Looks are counted, as a busy machine may leave this process less time between two of them.
const (
	looks = 30
	pause = 10 * time.Millisecond
)

// lock opens the journal, which it makes where there is none, and locks it for this
// process.
func lock(ctx context.Context, place atomicfile.Place) (*os.File, error) {
	path := name(place, ".resume")
	for left := looks; ; {
		if there, err := os.Lstat(path); err == nil && !there.Mode().IsRegular() {
			return nil, garner.Errorf(nil, "cannot write %s: %s is no regular file; remove it", place.Path, path)
		}
		file, err := os.OpenFile(path, os.O_RDWR|os.O_CREATE|atomicfile.NoFollow, 0o666)
		if err != nil {
			return nil, place.Failed(err)
		}
		got, err := atomicfile.TryLock(file)
		if err != nil || !got {
			file.Close()
			if err != nil {
				return nil, place.Failed(err)
			}
			if left > 0 {
				left--
				select {
				case <-ctx.Done():
					return nil, context.Cause(ctx)
				case <-time.After(pause):
				}
				continue
			}
			return nil, garner.Errorf(nil, "cannot write %s: another garner is writing it; wait for that one, or write to another file", place.Path)
		}
		// Between the open and the lock, the run that held the lock may have removed
		// the journal.
		mine, err := file.Stat()
		if err != nil {
			file.Close()
			return nil, place.Failed(err)
		}
		if there, err := os.Lstat(path); err == nil && os.SameFile(there, mine) {
			return file, nil
		}
		file.Close()
	}
}

var table = crc32.MakeTable(crc32.Castagnoli)

// every version of a journal begins with family; version is this one.
const (
	family  = "garner-resume-"
	version = family + "2 "
)

// first makes the first line of a journal, and its checksum.
func first(id Identity, size int64) ([]byte, uint32) {
	b := strconv.AppendInt([]byte(version), size, 10)
	for _, fact := range id {
		b = strconv.AppendQuote(append(b, ' '), fact.What)
		b = strconv.AppendQuote(append(b, ' '), fact.Value)
	}
	head := crc32.Checksum(b, table)
	return fmt.Appendf(b, " %08x\n", head), head
}

// entry makes a further line: bytes from … to-1 of the contents have the CRC-32C
// sum.
func entry(from, to int64, sum, head uint32) []byte {
	b := fmt.Appendf(nil, "%d %d %08x", from, to, sum)
	return fmt.Appendf(b, " %08x\n", crc32.Update(head, table, b))
}

// A past is what a journal says of an earlier run.
type past struct {
	ok    bool // it has a whole first line of this version
	other bool // it has one of another version
	size  int64
	id    Identity
	head  uint32 // checksum of the first line
	start int64  // end of the first line
	safe  int64  // bytes that its lines name, from the first on
}

// A span is a line of a journal behind the first.
type span struct {
	from, to int64
	sum      uint32
	end      int64 // of the line in the journal
}

// most bounds a journal, in bytes. A line a second makes fewer in two months.
const most = 256 << 20

// read reads a journal. What is no journal is one without a whole first line.
func read(journal io.ReaderAt) (was past, err error) {
	line, err := bufio.NewReader(io.NewSectionReader(journal, 0, most)).ReadString('\n')
	if err != nil {
		if err == io.EOF {
			err = nil
		}
		return past{}, err
	}
	text, check, _ := cutLast(strings.TrimSuffix(line, "\n"))
	head := crc32.Checksum([]byte(text), table)
	if check != fmt.Sprintf("%08x", head) || !strings.HasPrefix(text, family) {
		return past{}, nil
	}
	rest, mine := strings.CutPrefix(text, version)
	if !mine {
		return past{other: true}, nil
	}
	was = past{ok: true, head: head, start: int64(len(line))}
	number, rest, _ := strings.Cut(rest, " ")
	if was.size, err = strconv.ParseInt(number, 10, 64); err != nil {
		return past{}, nil
	}
	for rest != "" {
		var fact Fact
		for _, to := range []*string{&fact.What, &fact.Value} {
			quoted, err := strconv.QuotedPrefix(rest)
			if err != nil {
				return past{}, nil
			}
			if *to, err = strconv.Unquote(quoted); err != nil {
				return past{}, nil
			}
			rest = strings.TrimPrefix(rest[len(quoted):], " ")
		}
		was.id = append(was.id, fact)
	}
	if again, _ := first(was.id, was.size); string(again) != line {
		return past{}, nil
	}
	for l := range was.lines(journal) {
		was.safe = max(was.safe, l.to)
	}
	return was, nil
}

// lines ranges over the lines behind the first, up to the first that is not good.
func (was past) lines(journal io.ReaderAt) iter.Seq[span] {
	return func(yield func(span) bool) {
		r := bufio.NewReader(io.NewSectionReader(journal, was.start, max(most-was.start, 0)))
		for end := was.start; ; {
			line, err := r.ReadString('\n')
			end += int64(len(line))
			l, ok := parse(line, was.head)
			if err != nil || !ok || l.to > was.size {
				return
			}
			l.end = end
			if !yield(l) {
				return
			}
		}
	}
}

// parse reads a line behind the first.
func parse(line string, head uint32) (l span, ok bool) {
	fields := strings.Split(line, " ")
	if len(fields) != 4 {
		return span{}, false
	}
	from, err := strconv.ParseInt(fields[0], 10, 64)
	to, also := strconv.ParseInt(fields[1], 10, 64)
	sum, third := strconv.ParseUint(fields[2], 16, 32)
	l = span{from: from, to: to, sum: uint32(sum)}
	ok = err == nil && also == nil && third == nil && 0 <= from && from < to
	return l, ok && line == string(entry(from, to, l.sum, head))
}

func cutLast(line string) (before, after string, found bool) {
	i := strings.LastIndexByte(line, ' ')
	if i < 0 {
		return line, "", false
	}
	return line[:i], line[i+1:], true
}

// compare returns an error that names the first thing in which two runs differ.
func (f *File) compare(was past, id Identity) error {
	before := append(slices.Clip(was.id), Fact{"its size", fmt.Sprintf("%d bytes", was.size)})
	now := append(slices.Clip(id), Fact{"its size", fmt.Sprintf("%d bytes", f.size)})
	for i := range max(len(before), len(now)) {
		var a, b Fact
		if i < len(before) {
			a = before[i]
		}
		if i < len(now) {
			b = now[i]
		}
		if a == b {
			continue
		}
		what, none := b.What, "not there"
		if a.What != b.What && a.What != "" {
			what, b = a.What, Fact{}
		}
		a.Value, b.Value = cmp.Or(a.Value, none), cmp.Or(b.Value, none)
		return garner.Errorf(ErrKept, "%s was begun with something else: %s: then %s, now %s; go on as it was begun, or begin anew", f.place.Path, what, a.Value, b.Value)
	}
	return nil
}

// At is the offset of the next Write; where Begin continues a file, that of the
// first byte that is not kept.
func (f *File) At() int64 { return f.at }

// Back lowers At to an offset at which the caller can continue.
func (f *File) Back(at int64) {
	if at = max(at, 0); at < f.at && !f.whole {
		f.at, f.noted, f.sum = at, at, 0
	}
}

// Resumed reports whether Begin continues what an earlier run left.
func (f *File) Resumed() bool { return f.resumed }

// Whole reports whether an earlier run has written the whole file under its name;
// Commit then removes its journal alone.
func (f *File) Whole() bool { return f.whole }

// Stale reports whether Begin discarded bytes that an earlier run had kept: without
// Resume all of them, with it those that are not what the journal says.
func (f *File) Stale() bool { return f.stale }

// Safe is how many bytes a later run could continue behind at this moment.
func (f *File) Safe() int64 {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.safe
}

// Write appends to the file. After an error every further Write and Commit return
// that error.
func (f *File) Write(b []byte) (int, error) {
	if f.closed {
		return 0, garner.Errorf(fs.ErrClosed, "cannot write %s: it is closed", f.place.Path)
	}
	if err := f.failed(); err != nil {
		return 0, err
	}
	if int64(len(b)) > f.size-f.at {
		return 0, f.fail(garner.Errorf(nil, "cannot write %s: more than its %d bytes came; this is a mistake in garner", f.place.Path, f.size))
	}
	if len(b) == 0 {
		return 0, nil // a whole file takes no more
	}
	n, err := f.write(b, f.at)
	f.at += int64(n)
	f.sum = crc32.Update(f.sum, table, b[:n])
	if err != nil {
		return n, f.fail(f.place.Failed(err))
	}
	if f.at-f.noted >= f.step || f.at > f.noted && time.Since(f.last) >= f.every {
		f.note()
	}
	return n, nil
}

func (f *File) failed() error {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.err
}

// fail keeps the first failure.
func (f *File) fail(err error) error {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.err == nil {
		f.err = err
	}
	return f.err
}

// note flushes what was written and appends a line to the journal, while further
// writes go on. It waits for the flush before it.
func (f *File) note() {
	f.flushing.Wait()
	at := f.at
	if at <= f.Safe() {
		return // written again after Back
	}
	line := entry(f.noted, at, f.sum, f.head)
	f.noted, f.sum, f.last = at, 0, time.Now()
	f.flushing.Go(func() {
		if err := f.flush(); err != nil {
			// Which bytes did not reach the disk is unknown, and a second fsync may
			// succeed without them.
			f.fail(f.place.Failed(err))
			return
		}
		f.mu.Lock()
		defer f.mu.Unlock()
		// Without room for the line a later run continues further back. It is written
		// again with the next one.
		f.pending = append(f.pending, line...)
		if _, err := f.journal.WriteAt(f.pending, f.end); err == nil && f.err == nil {
			f.safe, f.end, f.pending = at, f.end+int64(len(f.pending)), nil
		}
	})
}

// Commit flushes the contents to the disk and renames the file. On an error the
// old file is untouched, and nothing that was written is left.
func (f *File) Commit() error {
	if f.closed {
		return garner.Errorf(fs.ErrClosed, "cannot write %s: it is closed", f.place.Path)
	}
	if f.whole {
		err := atomicfile.SyncDir(filepath.Dir(f.place.Target))
		if err != nil {
			f.close()
			return f.place.Failed(err)
		}
		f.remove()
		return nil
	}
	f.flushing.Wait()
	err := f.failed()
	if err == nil && f.at != f.size {
		err = garner.Errorf(nil, "cannot write %s: only %d of its %d bytes came; this is a mistake in garner", f.place.Path, f.at, f.size)
	}
	if err == nil {
		// A run that finds the journal and no part knows its file by the last line.
		f.note()
		f.flushing.Wait()
		err = f.failed()
	}
	placed := false
	if err == nil {
		placed, err = f.place.Put(f.part)
	}
	if !placed {
		f.Abort()
		return err
	}
	f.remove()
	return err
}

// Keep ends this run: it flushes what was written and leaves it for a later one.
// It returns how many bytes are safe; where none are, it leaves nothing. After
// Commit or Abort it does nothing.
func (f *File) Keep() (safe int64) {
	if f.closed {
		return 0
	}
	if f.whole {
		f.close()
		return f.size
	}
	f.flushing.Wait()
	if f.at > f.safe && f.failed() == nil {
		f.note()
		f.flushing.Wait()
	}
	if f.safe == 0 {
		f.Abort()
		return 0
	}
	// Gives reserved space back, and cuts a torn line off.
	f.part.Truncate(f.safe)
	f.journal.Truncate(f.end)
	f.journal.Sync()
	f.close()
	return f.safe
}

// Abort removes what was written, an earlier run's part included. After Commit or
// Keep it does nothing, so that it can be deferred.
func (f *File) Abort() {
	if f.closed {
		return
	}
	f.flushing.Wait()
	if f.part != nil {
		f.part.Close()
	}
	os.Remove(name(f.place, ".part"))
	f.remove()
}

// remove removes the journal and closes the files.
func (f *File) remove() {
	path := f.journal.Name()
	if runtime.GOOS == "windows" { // which cannot remove an open file
		f.close()
		os.Remove(path)
		return
	}
	os.Remove(path) // before the lock is released
	f.close()
}

// leave ends a refused run: it leaves the files as they are, except for a journal
// that this run has made.
func (f *File) leave() {
	if info, err := f.journal.Stat(); err == nil && info.Size() == 0 {
		if f.part != nil {
			f.part.Close()
		}
		f.remove()
		return
	}
	f.close()
}

// close closes the files and leaves them as they are.
func (f *File) close() {
	f.closed = true
	if f.part != nil {
		f.part.Close()
	}
	f.journal.Close()
}
