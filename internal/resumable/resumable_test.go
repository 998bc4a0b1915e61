package resumable

import (
	"bytes"
	"errors"
	"math/rand/v2"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/garner-go/garner/internal/atomicfile"
)

var identity = Identity{{"the operator", "gather"}, {"the table", "t.npy"}, {"the indices", "abc"}}

func find(t *testing.T, path string) atomicfile.Place {
	t.Helper()
	place, err := atomicfile.Find(path)
	if err != nil {
		t.Fatal(err)
	}
	return place
}

func create(t *testing.T, path string, size int64) *File {
	t.Helper()
	f, err := Create(find(t, path), identity, size)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(f.Abort)
	return f
}

func resume(t *testing.T, path string, size int64) *File {
	t.Helper()
	f, err := Resume(find(t, path), identity, size)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(f.Abort)
	return f
}

func put(t *testing.T, f *File, b string) {
	t.Helper()
	if n, err := f.Write([]byte(b)); n != len(b) || err != nil {
		t.Fatal(n, err)
	}
}

// holds fails unless the folder of path holds just the files named, and path
// the text.
func holds(t *testing.T, path, text string, names ...string) {
	t.Helper()
	entries, err := os.ReadDir(filepath.Dir(path))
	if err != nil {
		t.Fatal(err)
	}
	var got []string
	for _, e := range entries {
		got = append(got, e.Name())
	}
	if strings.Join(got, " ") != strings.Join(names, " ") {
		t.Errorf("there stand %q, want %q", got, names)
	}
	if text == "" {
		return
	}
	if b, err := os.ReadFile(path); err != nil || string(b) != text {
		t.Errorf("%q, %v; want %q", b, err, text)
	}
}

func refused(t *testing.T, err error, message string) {
	t.Helper()
	if err == nil || !strings.HasPrefix(err.Error(), "garner: ") || !strings.Contains(err.Error(), message) {
		t.Errorf("%v; want %q", err, message)
	}
}

func TestCommit(t *testing.T) {
	path := filepath.Join(t.TempDir(), "out")
	if err := os.WriteFile(path, []byte("before"), 0o600); err != nil {
		t.Fatal(err)
	}
	f := create(t, path, 6)
	put(t, f, "abc")
	holds(t, path, "before", ".garner-out.part", ".garner-out.resume", "out")
	put(t, f, "def")
	if err := f.Commit(); err != nil {
		t.Fatal(err)
	}
	holds(t, path, "abcdef", "out")
	if info, err := os.Stat(path); err != nil || runtime.GOOS != "windows" && info.Mode().Perm() != 0o600 {
		t.Errorf("%v, %v", info.Mode(), err)
	}
	refused(t, f.Commit(), "it is closed")
	if _, err := f.Write([]byte("x")); err == nil {
		t.Error("written after the end")
	}
	f.Abort()
	if f.Keep() != 0 {
		t.Error("kept after the end")
	}
	holds(t, path, "abcdef", "out")
}

// TestSize ends files that have fewer or more bytes than was said.
func TestSize(t *testing.T) {
	path := filepath.Join(t.TempDir(), "out")
	f := create(t, path, 6)
	put(t, f, "abc")
	refused(t, f.Commit(), "only 3 of its 6 bytes came")
	f = create(t, path, 6)
	_, err := f.Write([]byte("abcdefg"))
	refused(t, err, "more than its 6 bytes came")
	refused(t, f.Commit(), "more than its 6 bytes came")
	holds(t, path, "")
}

func TestResume(t *testing.T) {
	path := filepath.Join(t.TempDir(), "out")
	for _, back := range []int64{5, 3, -1} {
		f := create(t, path, 10)
		put(t, f, "abc")
		put(t, f, "de")
		if n := f.Keep(); n != 5 {
			t.Fatalf("%d bytes are kept", n)
		}
		holds(t, path, "", ".garner-out.part", ".garner-out.resume")
		f = resume(t, path, 10)
		if f.At() != 5 || f.Safe() != 5 {
			t.Errorf("goes on at %d of %d", f.At(), f.Safe())
		}
		f.Back(7)
		f.Back(back)
		rest := "abcdefghij"[f.At():]
		put(t, f, rest[:len(rest)-1])
		if n := f.Keep(); n != 9 {
			t.Fatalf("%d bytes are kept", n)
		}
		f = resume(t, path, 10)
		put(t, f, "j")
		if err := f.Commit(); err != nil {
			t.Fatal(err)
		}
		holds(t, path, "abcdefghij", "out")
		os.Remove(path)
	}
}

// TestKeepNothing keeps a file of which nothing was written.
func TestKeepNothing(t *testing.T) {
	path := filepath.Join(t.TempDir(), "out")
	if n := create(t, path, 10).Keep(); n != 0 {
		t.Errorf("%d bytes are kept", n)
	}
	holds(t, path, "")
}

// TestAnew begins again what was interrupted.
func TestAnew(t *testing.T) {
	path := filepath.Join(t.TempDir(), "out")
	f := create(t, path, 10)
	if f.Stale() {
		t.Error("there was nothing before")
	}
	put(t, f, "abc")
	f.Keep()
	f = create(t, path, 3)
	if !f.Stale() {
		t.Error("what was there before was not told")
	}
	put(t, f, "xyz")
	if err := f.Commit(); err != nil {
		t.Fatal(err)
	}
	holds(t, path, "xyz", "out")
}

// TestSecondRun begins a file that is being written.
func TestSecondRun(t *testing.T) {
	path := filepath.Join(t.TempDir(), "out")
	f := create(t, path, 3)
	put(t, f, "abc")
	const message = "another garner is writing it"
	_, err := Create(find(t, path), identity, 3)
	refused(t, err, message)
	_, err = Resume(find(t, path), identity, 3)
	refused(t, err, message)
	if err := f.Commit(); err != nil {
		t.Fatal(err)
	}
	holds(t, path, "abc", "out")
}

// TestOther goes on with what is not what the run would write, or not there:
// refused, and what was there stays.
func TestOther(t *testing.T) {
	dir := t.TempDir()
	path := filepath.Join(dir, "out")
	part, journal := filepath.Join(dir, ".garner-out.part"), filepath.Join(dir, ".garner-out.resume")
	_, err := Resume(find(t, path), identity, 10)
	refused(t, err, "nothing of "+path+" to go on with: no run onto it was interrupted")
	if !errors.Is(err, ErrNone) {
		t.Errorf("%v is of another class", err)
	}
	holds(t, path, "")

	f := create(t, path, 10)
	put(t, f, "abcde")
	f.Keep()
	whole, err := os.ReadFile(journal)
	if err != nil {
		t.Fatal(err)
	}
	for _, tt := range []struct {
		id      Identity
		size    int64
		message string
	}{
		{Identity{{"the operator", "gather"}, {"the table", "u.npy"}, {"the indices", "abc"}}, 10, "the table: then t.npy, now u.npy; go on as it was begun, or run without --resume"},
		{identity[:2], 10, "the indices: then abc, now not there"},
		{append(identity[:3:3], Fact{"the flags", "x"}), 10, "the flags: then not there, now x"},
		{Identity{{"the operator", "gather"}, {"the indices", "abc"}}, 10, "the table: then t.npy, now not there"},
		{identity, 4, "5 bytes were written of what takes 4"},
	} {
		_, err := Resume(find(t, path), tt.id, tt.size)
		refused(t, err, tt.message)
		refused(t, err, "run without --resume")
	}
	if err := os.Truncate(part, 4); err != nil {
		t.Fatal(err)
	}
	_, err = Resume(find(t, path), identity, 10)
	refused(t, err, "has 4 bytes, and its journal says 5; run without --resume")
	os.Remove(part)
	_, err = Resume(find(t, path), identity, 10)
	refused(t, err, part+", is gone; run without --resume")
	if err := os.Mkdir(part, 0o777); err != nil {
		t.Fatal(err)
	}
	_, err = Resume(find(t, path), identity, 10)
	refused(t, err, "is no regular file")
	os.Remove(part)
	if now, err := os.ReadFile(journal); err != nil || !bytes.Equal(now, whole) {
		t.Errorf("the journal is now %q, %v", now, err)
	}
	for _, damaged := range []string{"", "x", "\n", version + "[] 00000000\n", strings.Replace(string(whole), "gather", "father", 1)} {
		if err := os.WriteFile(journal, []byte(damaged), 0o666); err != nil {
			t.Fatal(err)
		}
		_, err = Resume(find(t, path), identity, 10)
		refused(t, err, "its journal "+journal+" is damaged; run without --resume")
	}
	// And without it goes on.
	f = create(t, path, 1)
	put(t, f, "x")
	if err := f.Commit(); err != nil {
		t.Fatal(err)
	}
	holds(t, path, "x", "out")
}

// TestTorn cuts a journal anywhere, and puts anything behind it: the lines
// before hold, and no other.
func TestTorn(t *testing.T) {
	line, sum, err := first(identity)
	if err != nil {
		t.Fatal(err)
	}
	journal := bytes.Clone(line)
	ends := []int{len(line)}
	for _, n := range []int64{0, 7, 7, 1 << 40} {
		journal = append(journal, entry(n, sum)...)
		ends = append(ends, len(journal))
	}
	safe := []int64{0, 0, 7, 7, 1 << 40}
	r := rand.New(rand.NewPCG(1, 2))
	for cut := range len(journal) + 1 {
		for range 4 {
			torn := bytes.Clone(journal[:cut])
			if r.IntN(2) == 0 { // blocks that were allocated and not written
				torn = append(torn, make([]byte, r.IntN(20))...)
			}
			_, got, end, _, ok := parse(bytes.NewReader(torn))
			want, at := int64(-1), 0
			for i, e := range ends {
				if cut >= e {
					want, at = safe[i], e
				}
			}
			if ok != (want >= 0) || ok && (got != want || end != int64(at)) {
				t.Fatalf("cut at %d: %d, %d, %v; want %d, %d", cut, got, end, ok, want, at)
			}
		}
	}
	// Less than before, another journal's line, and a number that is none.
	for _, bad := range []string{string(entry(3, sum)), string(entry(1<<41, sum+1)), "x 00000000\n", "+9 00000000\n"} {
		if _, got, end, _, ok := parse(strings.NewReader(string(journal) + bad)); !ok || got != 1<<40 || end != int64(len(journal)) {
			t.Errorf("%q: %d, %d, %v", bad, got, end, ok)
		}
	}
}

func FuzzParse(f *testing.F) {
	line, sum, err := first(identity)
	if err != nil {
		f.Fatal(err)
	}
	f.Add([]byte{})
	f.Add(append(bytes.Clone(line), entry(77, sum)...))
	f.Fuzz(func(t *testing.T, b []byte) {
		_, safe, end, _, ok := parse(bytes.NewReader(b))
		if safe < 0 || end < 0 || end > int64(len(b)) || !ok && (safe != 0 || end != 0) {
			t.Errorf("%d, %d, %v", safe, end, ok)
		}
	})
}

// TestNotes sees what the journal says while a file is written: no byte that was
// not flushed.
func TestNotes(t *testing.T) {
	path := filepath.Join(t.TempDir(), "out")
	f := create(t, path, 1<<20)
	f.every = 0
	flushing, release := make(chan bool), make(chan error)
	f.flush = func() error { flushing <- true; return <-release }
	put(t, f, "abc")
	<-flushing
	if f.Safe() != 0 {
		t.Errorf("%d bytes are safe before they are flushed", f.Safe())
	}
	release <- nil
	for f.Safe() == 0 {
		time.Sleep(time.Millisecond)
	}
	b, err := os.ReadFile(filepath.Join(filepath.Dir(path), ".garner-out.resume"))
	if err != nil {
		t.Fatal(err)
	}
	if id, safe, end, _, ok := parse(bytes.NewReader(b)); !ok || safe != 3 || end != int64(len(b)) || len(id) != len(identity) {
		t.Errorf("the journal is %q", b)
	}
	// A flush that fails: nothing more is noted, and the file does not come to be.
	put(t, f, "def")
	<-flushing
	release <- syscall.EIO
	refused(t, f.Commit(), "cannot write "+path)
	holds(t, path, "")
}

// TestFull fills the disk while a file is written.
func TestFull(t *testing.T) {
	path := filepath.Join(t.TempDir(), "out")
	for _, keep := range []bool{false, true} {
		f := create(t, path, 1<<20)
		put(t, f, "abc")
		f.write = func(b []byte, at int64) (int, error) {
			n, _ := f.part.WriteAt(b[:1], at)
			return n, &os.PathError{Op: "write", Path: "x", Err: syscall.ENOSPC}
		}
		if n, err := f.Write([]byte("def")); n != 1 {
			t.Error(n)
		} else {
			refused(t, err, "cannot write "+path+": no space left on device; make room on the disk")
		}
		_, err := f.Write([]byte("ef"))
		refused(t, err, "no space left")
		if keep {
			if n := f.Keep(); n != 0 { // nothing was noted before
				t.Errorf("%d bytes are kept", n)
			}
		} else {
			refused(t, f.Commit(), "no space left")
		}
		holds(t, path, "")
	}
}

func TestNames(t *testing.T) {
	dir := t.TempDir()
	seen := map[string]bool{}
	for _, base := range []string{"a", strings.Repeat("x", 240), strings.Repeat("x", 254) + "a", strings.Repeat("x", 254) + "b", strings.Repeat("é", 127)} {
		f := create(t, filepath.Join(dir, base), 1)
		for _, file := range []*os.File{f.part, f.journal} {
			name := filepath.Base(file.Name())
			if len(name) > 255 || seen[name] || strings.ToValidUTF8(name, "") != name {
				t.Errorf("%q", name)
			}
			seen[name] = true
		}
	}
}

func TestFolder(t *testing.T) {
	place := find(t, filepath.Join(t.TempDir(), "none", "out"))
	_, err := Create(place, identity, 1)
	refused(t, err, "there is no folder")
	if _, err := Resume(place, identity, 1); !errors.Is(err, ErrNone) {
		t.Error(err)
	}
}

// TestLinks lays links where the files of a run would stand: they are not
// followed.
func TestLinks(t *testing.T) {
	dir := t.TempDir()
	path, victim := filepath.Join(dir, "out"), filepath.Join(t.TempDir(), "victim")
	if err := os.WriteFile(victim, []byte("mine"), 0o666); err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{".garner-out.part", ".garner-out.resume"} {
		if err := os.Symlink(victim, filepath.Join(dir, name)); err != nil {
			if runtime.GOOS == "windows" {
				t.Skip("making a link needs a privilege on Windows: ", err)
			}
			t.Fatal(err)
		}
		f, err := Create(find(t, path), identity, 1)
		if err == nil {
			put(t, f, "x")
			if err := f.Commit(); err != nil {
				t.Error(err)
			}
		} else if runtime.GOOS != "windows" && !strings.HasSuffix(name, ".resume") {
			t.Error(err)
		}
		if b, err := os.ReadFile(victim); err != nil || string(b) != "mine" {
			t.Errorf("%s: it is now %q, %v", name, b, err)
		}
	}
}
