package atomicfile

import (
	"bufio"
	"crypto/sha256"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"time"

	"github.com/garner-go/garner"
)

// A Pair is a file, and one beside it that the first one refers to, while they are written. Both
// appear or neither does, and no reader finds one beside an old one of the other: where a
// file is replaced, there is none for a moment.
//
// The files stand in a folder beside their places, .garner-NAME.tmp, under the names that they
// will have. The folder has the first file's name, and is locked: of two processes that
// write to one place, the later one is refused. Of a process that is killed the folder
// remains; the next one that writes to the place finds it, and puts the old files back
// where they are missing.
type Pair struct {
	places [2]Place // the second has no Path where there is no file beside
	folder string
	lock   *os.File
	files  [2]*os.File
	drop   bool   // the old file refers to the old one beside, which goes with it
	kept   bool   // the old one beside stays
	shared string // another file that refers to the old one beside, which so stays
}

// The names in the folder, beside those of the two files.
const (
	lockName  = "lock"
	readyName = "ready" // both files are whole; it has the size and the time of the one beside
	oldName   = "old"   // with the index of the file
)

// PairOptions say what a Pair may do with the files that are there.
type PairOptions struct {
	Inputs []string // as of Find

	// Uses gives the files that an old file at the path refers to. A file beside is replaced
	// only where it is one of them, and removed where no new one is written; and neither where
	// another file of the path's extension, or one that begins as a model of it, refers to it too: in the path's folder, in one
	// in that, or in the one around it.
	Uses func(path string) []string
	// Keeps reports whether a file beside that is there stays, because it is as the new one
	// would be. It may be nil.
	Keeps func(beside string) (bool, error)
}

// NewPair begins to write the file at path, and one at beside. beside may be "". It refuses
// what Find refuses; a path that is a link, or no regular file, where there is a beside; and a
// path that another process is writing to.
//
// Every Pair ends with Put or Abort.
func NewPair(path, beside string, o PairOptions) (*Pair, error) {
	p := &Pair{}
	if err := p.find(path, beside, o); err != nil {
		return nil, err
	}
	target := p.places[0].Target
	base := filepath.Base(target)
	if len(base) > 230 {
		base = fmt.Sprintf("%x", sha256.Sum256([]byte(base)))
	}
	p.folder = filepath.Join(filepath.Dir(target), ".garner-"+base+".tmp")
	if err := p.begin(); err != nil {
		return nil, err
	}
	fail := func(err error) (*Pair, error) {
		p.unlock()
		return nil, err
	}
	if err := p.restore(); err != nil {
		return fail(err)
	}
	p.clear()
	if err := p.find(path, beside, o); err != nil { // there may be old files now
		return fail(err)
	}
	if p.places[0].exists && p.places[1].exists && !p.kept {
		if info, err := os.Stat(p.places[1].Target); err == nil {
			_, p.drop = InputOf(info, o.Uses(target))
		}
		if p.drop {
			var err error
			if p.shared, err = p.other(o); err != nil {
				return fail(err)
			}
			p.drop = p.shared == ""
		}
	}
	return p, nil
}

// other finds another file that refers to the file beside by its name, or by a link to it; "" where
// there is none. It looks at the files of the first one's extension, and of none, in its folder, in the folders in that
// one, and in the one around it; of those without an extension at small ones, because Uses reads all of a file. A hard link of the file
// beside keeps what it has.
func (p *Pair) other(o PairOptions) (string, error) {
	target := p.places[0].Target
	beside, err := filepath.EvalSymlinks(p.places[1].Target)
	if err != nil {
		return "", p.places[1].Failed(err)
	}
	folder := filepath.Dir(target)
	entries, err := os.ReadDir(folder)
	if err != nil {
		return "", p.places[0].Failed(err)
	}
	folders := []string{folder, filepath.Join(folder, "..")}
	for _, e := range entries {
		if e.IsDir() {
			folders = append(folders, filepath.Join(folder, e.Name()))
		}
	}
	for i, folder := range folders {
		if i > 0 { // what cannot be listed is not of this user's models
			if entries, err = os.ReadDir(folder); err != nil {
				continue
			}
		}
		for _, e := range entries {
			path := filepath.Join(folder, e.Name())
			if e.IsDir() || path == target || path == p.places[1].Target {
				continue
			}
			info, err := os.Stat(path)
			if err != nil || !info.Mode().IsRegular() { // a pipe would wait
				continue
			}
			extension := filepath.Ext(target)
			if !strings.EqualFold(filepath.Ext(path), extension) && !beginsAs(extension, path, info.Size()) {
				continue
			}
			for _, used := range o.Uses(path) {
				if real, err := filepath.EvalSymlinks(used); err == nil && real == beside {
					return path, nil
				}
			}
		}
	}
	return "", nil
}

// Kept reports whether the file beside stays as it is.
func (p *Pair) Kept() bool { return p.kept }

func (p *Pair) find(path, beside string, o PairOptions) error {
	p.kept = false
	for i, path := range []string{path, beside} {
		if path == "" && i == 1 {
			continue
		}
		if i == 1 && o.Keeps != nil && exists(path) {
			keep, err := o.Keeps(path)
			if err != nil {
				return err
			}
			if keep {
				p.kept = true
				p.places[1] = Place{Path: path, Target: path, exists: true}
				continue
			}
		}
		place, err := Find(path, o.Inputs...)
		if err != nil {
			return err
		}
		if place.Target == "" || beside != "" && place.Target != path {
			why := "and it is read back before it is put in place"
			if beside != "" {
				why = "and a model has a file beside it"
			}
			return garner.Errorf(nil, "cannot write %s: it is a link, or no regular file, %s; name a file", path, why)
		}
		p.places[i] = place
	}
	return nil
}

// dying is how long a killed process may take to end, and so to release its lock.
const dying = 300 * time.Millisecond

// begin makes the folder, or takes over one that a killed process has left, and locks it.
func (p *Pair) begin() error {
	until := time.Now().Add(dying)
	for try := 0; ; try++ {
		err := os.Mkdir(p.folder, 0o700)
		if err != nil && !errors.Is(err, fs.ErrExist) {
			return p.places[0].Failed(err)
		}
		info, err := os.Lstat(p.folder)
		if err == nil && (!info.IsDir() || !ours(info)) {
			return garner.Errorf(nil, "cannot write %s: %s, where it is written first, is there and is no folder of this user; remove it", p.places[0].Path, p.folder)
		}
		var file *os.File
		if err == nil {
			file, err = os.OpenFile(filepath.Join(p.folder, lockName), os.O_RDWR|os.O_CREATE|NoFollow, 0o600)
		}
		if errors.Is(err, fs.ErrNotExist) && try < 100 {
			continue // its process has ended just now, and removed it
		}
		if err != nil {
			return p.places[0].Failed(err)
		}
		got, err := TryLock(file)
		if err != nil {
			file.Close()
			return p.places[0].Failed(err)
		}
		if !got {
			file.Close()
			if time.Now().Before(until) {
				time.Sleep(dying / 30)
				try--
				continue
			}
			return garner.Errorf(nil, "cannot write %s: another garner is writing it; wait for that one, or write to another file", p.places[0].Path)
		}
		// Who had it may have removed it between the two calls.
		held, err := file.Stat()
		named, missing := os.Lstat(file.Name())
		if err == nil && missing == nil && os.SameFile(held, named) {
			p.lock = file
			return nil
		}
		file.Close()
		if try == 100 {
			return p.places[0].Failed(errors.Join(err, missing))
		}
	}
}

// Temporary gives the path of the first file, or of the one beside it, until it is put in
// place. One that has none beside it is in the folder of its place: it may refer to files
// there.
func (p *Pair) Temporary(i int) string {
	if p.places[1].Path == "" {
		return strings.TrimSuffix(p.folder, ".tmp") + ".new.tmp"
	}
	return filepath.Join(p.folder, filepath.Base(p.places[i].Target))
}

func (p *Pair) old(i int) string { return filepath.Join(p.folder, fmt.Sprint(oldName, i)) }

// Free refuses a pair with a file beside where an unrelated one is there.
func (p *Pair) Free() error {
	if p.shared != "" {
		return garner.Errorf(nil, "cannot write %s: its weights would be in %s, to which %s refers too; name another file, or remove that model", p.places[0].Path, p.places[1].Path, p.shared)
	}
	if beside := p.places[1]; beside.exists && !p.drop {
		return garner.Errorf(nil, "cannot write %s: its weights would be in %s, which is there, and no old %s refers to it; name another file, or remove that one", p.places[0].Path, beside.Path, filepath.Base(p.places[0].Path))
	}
	return nil
}

// Create makes a file of the pair, with the permissions of the one that it replaces. The
// caller may close it; Put does, else.
func (p *Pair) Create(i int) (*os.File, error) {
	if i == 1 {
		if err := p.Free(); err != nil {
			return nil, err
		}
	}
	file, err := os.OpenFile(p.Temporary(i), os.O_RDWR|os.O_CREATE|os.O_EXCL, 0o666)
	if err != nil {
		return nil, p.places[i].Failed(err)
	}
	p.files[i] = file
	return file, p.places[i].Permit(file)
}

// Writer is Create with a buffer. Written ends it, and not Commit.
func (p *Pair) Writer(i int) (*File, error) {
	file, err := p.Create(i)
	if err != nil {
		return nil, err
	}
	return &File{place: p.places[i], file: file, buf: bufio.NewWriterSize(file, bufferSize)}, nil
}

// Failed is Place.Failed of a file of the pair.
func (p *Pair) Failed(i int, err error) error { return p.places[i].Failed(err) }

// Put flushes the files to the disk, and renames them to their places. A file beside is
// one that Create has made, or whatever stands at Temporary(1). On an error the old files are
// in their places.
func (p *Pair) Put() error {
	defer p.Abort()
	var made [2]fs.FileInfo
	for i, place := range p.places {
		if p.files[i] != nil {
			err := p.files[i].Sync()
			if err := errors.Join(err, p.files[i].Close()); err != nil {
				return place.Failed(err)
			}
		}
		if place.Path == "" {
			continue
		}
		info, err := os.Lstat(p.Temporary(i))
		if err != nil && (i == 0 || !errors.Is(err, fs.ErrNotExist)) {
			return place.Failed(err)
		}
		if err == nil {
			made[i] = info
		}
	}
	if made[1] != nil {
		if err := p.Free(); err != nil {
			return err
		}
		if beside := p.places[1]; !beside.exists && exists(beside.Target) {
			return garner.Errorf(nil, "cannot write %s: another program has written %s since; write it again when nothing else writes there", p.places[0].Path, beside.Path)
		}
	}
	if made[1] == nil && !p.drop {
		if err := os.Rename(p.Temporary(0), p.places[0].Target); err != nil {
			return p.places[0].Failed(err)
		}
	} else if at, err := p.putBoth(made[1]); err != nil {
		return errors.Join(p.places[at].Failed(err), p.restore())
	}
	for i, place := range p.places {
		if info, err := os.Lstat(place.Target); made[i] != nil && (err != nil || !os.SameFile(info, made[i])) {
			return garner.Errorf(nil, "%s was written, and another program has replaced or removed it since; write it again when nothing else writes there", place.Path)
		}
	}
	if err := SyncDir(filepath.Dir(p.places[0].Target)); err != nil {
		return garner.Errorf(err, "%s is written, but its folder could not be seen to the disk: %v; write it again if the machine stops now", p.places[0].Path, err)
	}
	return nil
}

// putBoth moves the old files into the folder, and the new ones out of it: the one beside first, so
// that the file is there only when what it refers to is. at says which file an error is of.
func (p *Pair) putBoth(beside fs.FileInfo) (at int, err error) {
	stamp := ""
	if beside != nil {
		stamp = stampOf(beside)
	}
	if err := os.WriteFile(filepath.Join(p.folder, readyName), []byte(stamp), 0o600); err != nil {
		return 0, err
	}
	for _, m := range p.moves(beside != nil) {
		if err := os.Rename(m.from, m.to); err != nil && !(m.old && errors.Is(err, fs.ErrNotExist)) {
			return m.file, err
		}
	}
	return 0, nil
}

// A move is one rename of putBoth.
type move struct {
	file     int
	from, to string
	old      bool // of an old file, which need not be there
}

func (p *Pair) moves(beside bool) []move {
	list := []move{{0, p.places[0].Target, p.old(0), true}, {1, p.places[1].Target, p.old(1), true}}
	if beside {
		list = append(list, move{1, p.Temporary(1), p.places[1].Target, false})
	}
	return append(list, move{0, p.Temporary(0), p.places[0].Target, false})
}

func stampOf(info fs.FileInfo) string { return fmt.Sprint(info.Size(), info.ModTime().UnixNano()) }

// restore undoes a putBoth that did not come to its end, in this process or in one that was
// killed, by what it finds.
func (p *Pair) restore() error {
	stamp, err := os.ReadFile(filepath.Join(p.folder, readyName))
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		return p.places[0].Failed(err)
	}
	if exists(p.places[0].Target) {
		return nil // it came to its end, or had not begun, or somebody wrote a file since
	}
	fail := func(err error) error {
		return garner.Errorf(err, "cannot write %s: what was there before an earlier run is in %s, and cannot be put back: %v; move it by hand", p.places[0].Path, p.folder, err)
	}
	beside := p.places[1].Target
	switch {
	case beside == "":
	case exists(p.old(1)):
		if err := os.Rename(p.old(1), beside); err != nil {
			return fail(err)
		}
	case !exists(p.Temporary(1)):
		// There was none, and there may be the new one now.
		if info, err := os.Lstat(beside); err == nil && stampOf(info) == string(stamp) {
			if err := os.Remove(beside); err != nil {
				return fail(err)
			}
		}
	}
	if exists(p.old(0)) {
		if err := os.Rename(p.old(0), p.places[0].Target); err != nil {
			return fail(err)
		}
	}
	return nil
}

func exists(path string) bool {
	_, err := os.Lstat(path)
	return err == nil
}

// clear removes what is in the folder but for the lock. It removes nothing of which an old file
// is the only one.
func (p *Pair) clear() {
	if exists(filepath.Join(p.folder, readyName)) && !exists(p.places[0].Target) && exists(p.old(0)) {
		return // restore has failed
	}
	paths := []string{p.old(0), p.old(1), p.Temporary(0), filepath.Join(p.folder, readyName)}
	if p.places[1].Path != "" {
		paths = append(paths, p.Temporary(1))
	}
	for _, path := range paths {
		os.Remove(path)
	}
}

// unlock removes the folder, where it is empty, and the lock.
func (p *Pair) unlock() {
	if runtime.GOOS == "windows" { // where an open file cannot be removed
		p.lock.Close()
	}
	os.Remove(p.lock.Name())
	os.Remove(p.folder)
	p.lock.Close()
}

// Abort removes what is not put in place. After Put it does nothing, so that it can be deferred.
func (p *Pair) Abort() {
	if p.lock == nil {
		return
	}
	for _, f := range p.files {
		if f != nil {
			f.Close() // one that is in place is closed
		}
	}
	p.clear()
	p.unlock()
	p.lock = nil
}
