package resumable

import (
	"bytes"
	"context"
	"errors"
	"math/rand/v2"
	"os"
	"path/filepath"
	"runtime"
	"slices"
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
	f, err := Begin(t.Context(), find(t, path), identity, size, Options{})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(f.Abort)
	return f
}

func resume(t *testing.T, path string, size int64) *File {
	t.Helper()
	f, err := again(t, path, identity, size)
	if err != nil {
		t.Fatal(err)
	}
	if !f.Resumed() {
		t.Fatal("it starts anew")
	}
	return f
}

// again begins a file with Resume.
func again(t *testing.T, path string, id Identity, size int64) (*File, error) {
	t.Helper()
	f, err := Begin(t.Context(), find(t, path), id, size, Options{Resume: true})
	if err == nil {
		t.Cleanup(f.Abort)
	}
	return f, err
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
	_, err := Begin(t.Context(), find(t, path), identity, 3, Options{})
	refused(t, err, message)
	_, err = again(t, path, identity, 3)
	refused(t, err, message)
	if err := f.Commit(); err != nil {
		t.Fatal(err)
	}
	holds(t, path, "abc", "out")
}

// TestDying begins a file whose writer is about to end: it waits for that.
func TestDying(t *testing.T) {
	path := filepath.Join(t.TempDir(), "out")
	f := create(t, path, 3)
	ctx, cancel := context.WithCancelCause(t.Context())
	cancel(syscall.EINTR)
	if _, err := Begin(ctx, find(t, path), identity, 3, Options{}); !errors.Is(err, syscall.EINTR) {
		t.Error(err)
	}
	put(t, f, "ab")
	w := &waited{Context: t.Context(), first: func() { f.Keep() }}
	again, err := Begin(w, find(t, path), identity, 3, Options{Resume: true})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(again.Abort)
	if w.times == 0 || !again.Resumed() || again.At() != 2 {
		t.Errorf("it waited %d times, resumed: %v, and goes on at %d of 2", w.times, again.Resumed(), again.At())
	}
}

// A waited is a context that calls a function where it is first waited for.
type waited struct {
	context.Context
	first func()
	times int
}

func (w *waited) Done() <-chan struct{} {
	if w.times++; w.times == 1 {
		w.first()
	}
	return w.Context.Done()
}

// TestOther goes on with what is not what the run would write: refused, and what was
// there stays.
func TestOther(t *testing.T) {
	path := filepath.Join(t.TempDir(), "out")
	part, journal := stand(path)
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
		{Identity{{"the operator", "gather"}, {"the table", "u.npy"}, {"the indices", "abc"}}, 10, "the table: then t.npy, now u.npy; go on as it was begun, or begin anew"},
		{identity[:2], 10, "the indices: then abc, now not there"},
		{append(identity[:3:3], Fact{"the flags", "x"}), 10, "its size: then 10 bytes, now not there"},
		{Identity{{"the operator", "gather"}, {"the indices", "abc"}}, 10, "the table: then t.npy, now not there"},
		{identity, 4, "its size: then 10 bytes, now 4 bytes"},
	} {
		_, err := again(t, path, tt.id, tt.size)
		refused(t, err, tt.message)
		refused(t, err, "or begin anew")
		if !errors.Is(err, ErrKept) {
			t.Errorf("%v is no ErrKept", err)
		}
	}
	if b, err := os.ReadFile(part); err != nil || string(b) != "abcde" {
		t.Errorf("the part is now %q, %v", b, err)
	}
	if now, err := os.ReadFile(journal); err != nil || !bytes.Equal(now, whole) {
		t.Errorf("the journal is now %q, %v", now, err)
	}
	// And without Resume it goes on.
	f = create(t, path, 1)
	put(t, f, "x")
	if err := f.Commit(); err != nil {
		t.Fatal(err)
	}
	holds(t, path, "x", "out")
}

// TestIdentityText continues files whose facts are no UTF-8, and have what a journal
// uses itself.
func TestIdentityText(t *testing.T) {
	path := filepath.Join(t.TempDir(), "out")
	for _, value := range []string{"", " ", "\xff.npy", "\xfe.npy", "a\nb", `"quoted" \`, "é\x00\u2028", "0 3 00000000"} {
		id := Identity{{"the table", value}, {value, ""}}
		f, err := Begin(t.Context(), find(t, path), id, 4, Options{})
		if err != nil {
			t.Fatal(err)
		}
		put(t, f, "ab")
		f.Keep()
		if f, err = again(t, path, id, 4); err != nil || f.At() != 2 {
			t.Errorf("%q: %v", value, err)
			continue
		}
		f.Abort()
	}
}

// TestInputs writes where the part or the journal is an input.
func TestInputs(t *testing.T) {
	path := filepath.Join(t.TempDir(), "out")
	part, journal := stand(path)
	for _, end := range []string{part, journal} {
		link := path + ".npy"
		write(t, end, "mine")
		if err := os.Link(end, link); err != nil {
			t.Skip("this file system has no links: ", err)
		}
		place, err := atomicfile.Find(path, link)
		if err != nil {
			t.Fatal(err)
		}
		_, err = Begin(t.Context(), place, identity, 1, Options{})
		refused(t, err, end+" until it is whole, and that is the input "+link+"; write to another file")
		if b, err := os.ReadFile(end); err != nil || string(b) != "mine" {
			t.Errorf("it is now %q, %v", b, err)
		}
		os.Remove(end)
		os.Remove(link)
	}
}

// TestCheckEnds ends the comparison of what is kept with a context.
func TestCheckEnds(t *testing.T) {
	path := filepath.Join(t.TempDir(), "out")
	f := create(t, path, 10)
	put(t, f, "abcde")
	f.Keep()
	ctx, cancel := context.WithCancelCause(t.Context())
	cancel(syscall.EINTR)
	if _, err := Begin(ctx, find(t, path), identity, 10, Options{Resume: true}); !errors.Is(err, syscall.EINTR) {
		t.Error(err)
	}
	var told []int64
	f, err := Begin(t.Context(), find(t, path), identity, 10, Options{Resume: true, Checked: func(done, total int64) { told = append(told, done, total) }})
	if err != nil || f.At() != 5 || !slices.Equal(told, []int64{5, 5}) {
		t.Errorf("%v, it goes on at %d, and told %d", err, f.At(), told)
	}
	f.Abort()
}

// TestTorn cuts a journal anywhere, and puts anything behind it: the lines before
// hold, and no other.
func TestTorn(t *testing.T) {
	line, head := first(identity, 1<<41)
	journal := bytes.Clone(line)
	ends := []int{len(line)}
	safe := []int64{0, 7, 9, 1 << 40}
	for i, n := range safe[1:] {
		journal = append(journal, entry(safe[i], n, uint32(n), head)...)
		ends = append(ends, len(journal))
	}
	r := rand.New(rand.NewPCG(1, 2))
	for cut := range len(journal) + 1 {
		for range 4 {
			torn := bytes.Clone(journal[:cut])
			if r.IntN(2) == 0 { // blocks that were allocated and not written
				torn = append(torn, make([]byte, r.IntN(20))...)
			}
			was, err := read(bytes.NewReader(torn))
			want, lines := int64(-1), 0
			for i, e := range ends {
				if cut >= e {
					want, lines = safe[i], i
				}
			}
			if err != nil || was.ok != (want >= 0) || was.ok && (was.safe != want || !slices.Equal(was.id, identity) || was.size != 1<<41) {
				t.Fatalf("cut at %d: %+v, %v; want %d", cut, was, err, want)
			}
			for l := range was.lines(bytes.NewReader(torn)) {
				if lines--; !was.ok || l.end > int64(cut) {
					t.Errorf("cut at %d: line %+v", cut, l)
				}
			}
			if was.ok && lines != 0 {
				t.Errorf("cut at %d: %d lines are missing", cut, lines)
			}
		}
	}
	// Another journal's line, no range, a range beyond the file, and numbers that are
	// none.
	for _, bad := range []string{string(entry(1<<40, 1<<41, 1, head+1)), string(entry(9, 9, 1, head)), string(entry(9, 7, 1, head)), string(entry(-9, 7, 1, head)),
		string(entry(9, 1<<41+1, 1, head)), "x 9 00000000 00000000\n", "+9 10 00000000 00000000\n", "\n"} {
		if was, err := read(strings.NewReader(string(journal) + bad)); err != nil || was.safe != 1<<40 {
			t.Errorf("%q: %+v, %v", bad, was, err)
		}
	}
}

func FuzzRead(f *testing.F) {
	line, head := first(identity, 100)
	f.Add([]byte{})
	f.Add(append(bytes.Clone(line), entry(0, 77, 5, head)...))
	f.Add([]byte(family + "1 [] 00000000\n"))
	f.Fuzz(func(t *testing.T, b []byte) {
		was, err := read(bytes.NewReader(b))
		if err != nil || was.safe < 0 || was.start < 0 || was.start > int64(len(b)) || !was.ok && was.safe != 0 || was.ok && was.safe > was.size || was.ok && was.other {
			t.Errorf("%+v, %v", was, err)
		}
		if was.ok {
			if line, _ := first(was.id, was.size); !bytes.HasPrefix(b, line) {
				t.Errorf("%+v is written as %q", was, line)
			}
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
	if was, err := read(bytes.NewReader(b)); err != nil || was.safe != 3 || len(was.id) != len(identity) {
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
	for _, resume := range []bool{false, true} {
		_, err := Begin(t.Context(), find(t, filepath.Join(t.TempDir(), "none", "out")), identity, 1, Options{Resume: resume})
		refused(t, err, "there is no folder")
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
		f, err := Begin(t.Context(), find(t, path), identity, 1, Options{})
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
