// Package resumable writes large files that appear whole or not at all; a later
// run can continue one that was interrupted.
//
// While a file BASE is written, two files stand beside it:
//
//	.garner-BASE.part    its contents so far
//	.garner-BASE.resume  the journal: what the contents are made of, and how many
//	                     of their bytes have reached the disk
//
// A journal is text. Its first line names the inputs; each further line is a
// number of bytes. Every line ends with a checksum over itself and the first
// line's checksum; a reader stops at the first line whose checksum is wrong. A
// line is appended once a second or every 64 MiB, and only after its bytes were
// flushed to the disk. So the bytes that the journal names are good, however a
// run ends:
//
//   - A killed process loses what it wrote in the last second.
//   - A power failure may also lose the journal's last lines; it then names fewer
//     bytes than the part file has. A new run replaces an older journal, and
//     flushes that, before it writes its first byte.
//   - Commit flushes the contents, renames them, flushes the folder, and removes
//     the journal last. A power failure before the rename reaches the disk leaves
//     the part file and the journal.
package resumable

import (
	"encoding/json"
	"errors"
	"fmt"
	"hash/crc32"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
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
	part    *os.File
	stale   bool

	write    func(b []byte, at int64) (int, error) // part's WriteAt
	flush    func() error                          // flushes part to the disk
	every    time.Duration                         // between two lines of the journal
	at       int64                                 // offset of the next write
	noted    int64                                 // bytes that the journal names, or will when flushing is done
	last     time.Time                             // of the last line
	flushing sync.WaitGroup
	closed   bool

	mu   sync.Mutex
	err  error  // the first failure; nothing is written after it
	safe int64  // bytes in the journal
	end  int64  // bytes of the journal
	sum  uint32 // of its first line
}

const (
	interval = time.Second
	step     = 64 << 20 // bytes
)

// Create begins a new file of size bytes at a place with a Target. Where the
// system can, it reserves the disk space at once, so that a full disk is reported
// before the work. It discards what an earlier run left; Stale reports that. It
// refuses a file that another run is writing.
func Create(place atomicfile.Place, id Identity, size int64) (_ *File, err error) {
	f := newFile(place, size)
	if f.journal, err = lock(place, true); err != nil {
		return nil, err
	}
	defer func() {
		if err != nil {
			f.Abort()
		}
	}()
	part := name(place, ".part")
	_, earlier := os.Lstat(part)
	if _, safe, _, _, ok := parse(f.journal); ok && safe > 0 && earlier == nil {
		f.stale = true
	}
	// The journal first: it must never name bytes that are gone.
	line, sum, err := first(id)
	if err != nil {
		return nil, err
	}
	if err := f.journal.Truncate(0); err != nil {
		return nil, place.Failed(err)
	}
	if _, err := f.journal.WriteAt(line, 0); err != nil {
		return nil, place.Failed(err)
	}
	if err := f.journal.Sync(); err != nil {
		return nil, place.Failed(err)
	}
	f.end, f.sum = int64(len(line)), sum
	if err := os.Remove(part); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return nil, place.Failed(err)
	}
	if f.part, err = os.OpenFile(part, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o666); err != nil {
		return nil, place.Failed(err)
	}
	f.connect()
	if err := place.Permit(f.part); err != nil {
		return nil, err
	}
	if err := f.reserve(); err != nil {
		return nil, err
	}
	if err := atomicfile.SyncDir(filepath.Dir(part)); err != nil {
		return nil, place.Failed(err)
	}
	return f, nil
}

// ErrNone is the class of an error of Resume: no interrupted run has left a file.
var ErrNone = errors.New("nothing to go on with")

// Resume continues a file that an earlier run left, at byte At, which the caller
// may lower with Back. It refuses a file with another Identity, naming the first
// fact that differs; one that does not exist (ErrNone); and one with fewer bytes
// than its journal names. It leaves a refused file as it is.
func Resume(place atomicfile.Place, id Identity, size int64) (_ *File, err error) {
	f := newFile(place, size)
	f.journal, err = lock(place, false)
	part := name(place, ".part")
	if errors.Is(err, fs.ErrNotExist) {
		return nil, garner.Errorf(ErrNone, "there is nothing of %s to go on with: no run onto it was interrupted", place.Path)
	}
	if err != nil {
		return nil, err
	}
	defer func() {
		if err != nil {
			f.close()
		}
	}()
	was, safe, end, sum, ok := parse(f.journal)
	if !ok {
		return nil, garner.Errorf(nil, "%s cannot be continued: its journal %s is damaged; run without --resume", place.Path, f.journal.Name())
	}
	if err := compare(place, was, id); err != nil {
		return nil, err
	}
	info, err := os.Lstat(part)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return nil, garner.Errorf(err, "%s cannot be continued: what was written of it, %s, is gone; run without --resume", place.Path, part)
	case err != nil:
		return nil, place.Failed(err)
	case !info.Mode().IsRegular():
		return nil, garner.Errorf(nil, "%s cannot be continued: %s is no regular file; remove it and run without --resume", place.Path, part)
	case info.Size() < safe:
		return nil, garner.Errorf(nil, "%s cannot be continued: %s has %d bytes, and its journal says %d; run without --resume", place.Path, part, info.Size(), safe)
	case safe > size:
		return nil, garner.Errorf(nil, "%s cannot be continued: %d bytes were written of what takes %d; run without --resume", place.Path, safe, size)
	}
	if f.part, err = os.OpenFile(part, os.O_WRONLY, 0); err != nil {
		return nil, place.Failed(err)
	}
	f.connect()
	f.at, f.noted, f.safe, f.end, f.sum = safe, safe, safe, end, sum
	if err := f.reserve(); err != nil {
		return nil, err
	}
	return f, nil
}

func newFile(place atomicfile.Place, size int64) *File {
	return &File{place: place, size: size, every: interval, last: time.Now()}
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

// lock opens the journal and locks it for this process.
func lock(place atomicfile.Place, create bool) (*os.File, error) {
	path := name(place, ".resume")
	flags := os.O_RDWR | noFollow
	if create {
		flags |= os.O_CREATE
	}
	for {
		file, err := os.OpenFile(path, flags, 0o666)
		if err != nil {
			if !create && errors.Is(err, fs.ErrNotExist) {
				return nil, err
			}
			return nil, place.Failed(err)
		}
		got, err := tryLock(file)
		if err != nil || !got {
			file.Close()
			if err != nil {
				return nil, place.Failed(err)
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
		there, err := os.Lstat(path)
		switch {
		case err == nil && !there.Mode().IsRegular():
			file.Close()
			return nil, garner.Errorf(nil, "cannot write %s: %s is no regular file; remove it", place.Path, path)
		case err == nil && os.SameFile(there, mine):
			return file, nil
		}
		file.Close()
	}
}

var table = crc32.MakeTable(crc32.Castagnoli)

const version = "garner-resume-1 "

// first makes the first line of a journal, and its checksum.
func first(id Identity) ([]byte, uint32, error) {
	text, err := json.Marshal(id)
	if err != nil {
		return nil, 0, err
	}
	b := append([]byte(version), text...)
	sum := crc32.Checksum(b, table)
	return fmt.Appendf(b, " %08x\n", sum), sum, nil
}

// entry makes a further line.
func entry(safe int64, sum uint32) []byte {
	b := strconv.AppendInt(nil, safe, 10)
	return fmt.Appendf(b, " %08x\n", crc32.Update(sum, table, b))
}

// parse reads a journal: the Identity, how many bytes of the file are safe, and
// where its last good line ends. ok is false without a good first line.
func parse(journal io.ReaderAt) (id Identity, safe, end int64, sum uint32, ok bool) {
	const most = 256 << 20 // bytes; a line a second fills less in years
	b, err := io.ReadAll(io.NewSectionReader(journal, 0, most))
	if err != nil {
		return nil, 0, 0, 0, false
	}
	line, rest, found := strings.Cut(string(b), "\n")
	text, check, _ := cutLast(line)
	sum = crc32.Checksum([]byte(text), table)
	if !found || check != fmt.Sprintf("%08x", sum) || !strings.HasPrefix(text, version) {
		return nil, 0, 0, 0, false
	}
	if err := json.Unmarshal([]byte(text[len(version):]), &id); err != nil {
		return nil, 0, 0, 0, false
	}
	end = int64(len(line) + 1)
	for {
		line, rest, found = strings.Cut(rest, "\n")
		text, _, _ := cutLast(line)
		n, err := strconv.ParseInt(text, 10, 64)
		if !found || err != nil || n < safe || line+"\n" != string(entry(n, sum)) {
			return id, safe, end, sum, true
		}
		safe, end = n, end+int64(len(line)+1)
	}
}

func cutLast(line string) (before, after string, found bool) {
	i := strings.LastIndexByte(line, ' ')
	if i < 0 {
		return line, "", false
	}
	return line[:i], line[i+1:], true
}

// compare returns an error that names the first fact in which two runs differ.
func compare(place atomicfile.Place, was, is Identity) error {
	for i := range max(len(was), len(is)) {
		var a, b Fact
		if i < len(was) {
			a = was[i]
		}
		if i < len(is) {
			b = is[i]
		}
		if a == b {
			continue
		}
		what, none := b.What, "not there"
		if a.What != b.What && a.What != "" {
			what, b = a.What, Fact{}
		}
		if a.Value == "" {
			a.Value = none
		}
		if b.Value == "" {
			b.Value = none
		}
		return garner.Errorf(nil, "%s was begun with something else: %s: then %s, now %s; go on as it was begun, or run without --resume", place.Path, what, a.Value, b.Value)
	}
	return nil
}

// At is the offset of the next Write; after Resume, that of the first byte that is
// not safe.
func (f *File) At() int64 { return f.at }

// Back lowers At to an offset at which the caller can continue.
func (f *File) Back(at int64) { f.at = min(f.at, max(at, 0)) }

// Stale reports whether Create discarded bytes of an earlier run.
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
	n, err := f.write(b, f.at)
	f.at += int64(n)
	if err != nil {
		return n, f.fail(f.place.Failed(err))
	}
	if f.at-f.noted >= step || f.at > f.noted && time.Since(f.last) >= f.every {
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
	f.noted, f.last = at, time.Now()
	f.flushing.Go(func() {
		if err := f.flush(); err != nil {
			// Which bytes did not reach the disk is unknown, and a second fsync may
			// succeed without them.
			f.fail(f.place.Failed(err))
			return
		}
		f.mu.Lock()
		defer f.mu.Unlock()
		line := entry(at, f.sum)
		// Without room for the line a later run continues further back. The next
		// line overwrites what there is of this one.
		if _, err := f.journal.WriteAt(line, f.end); err == nil && f.err == nil {
			f.safe, f.end = at, f.end+int64(len(line))
		}
	})
}

// Commit flushes the contents to the disk and renames the file. On an error the
// old file is untouched, and nothing that was written is left.
func (f *File) Commit() error {
	if f.closed {
		return garner.Errorf(fs.ErrClosed, "cannot write %s: it is closed", f.place.Path)
	}
	f.flushing.Wait()
	err := f.failed()
	if err == nil && f.at != f.size {
		err = garner.Errorf(nil, "cannot write %s: only %d of its %d bytes came; this is a mistake in garner", f.place.Path, f.at, f.size)
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

// close closes the files and leaves them as they are.
func (f *File) close() {
	f.closed = true
	if f.part != nil {
		f.part.Close()
	}
	f.journal.Close()
}
