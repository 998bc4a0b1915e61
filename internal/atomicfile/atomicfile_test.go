package atomicfile

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
)

// put writes a file through the package.
func put(path, text string, inputs ...string) error {
	f, err := Create(path, inputs...)
	if err != nil {
		return err
	}
	defer f.Abort()
	if _, err := f.Write([]byte(text)); err != nil {
		return err
	}
	return f.Commit()
}

func plain(t *testing.T, path, text string) {
	t.Helper()
	if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
		t.Fatal(err)
	}
}

func holds(t *testing.T, path, want string) {
	t.Helper()
	if b, err := os.ReadFile(path); err != nil || string(b) != want {
		t.Errorf("%s holds %q, %v; want %q", path, b, err, want)
	}
}

// entries are the names in a folder; a temporary left behind would be one.
func entries(t *testing.T, dir string) string {
	t.Helper()
	all, err := os.ReadDir(dir)
	if err != nil {
		t.Fatal(err)
	}
	var names []string
	for _, e := range all {
		names = append(names, e.Name())
	}
	return strings.Join(names, " ")
}

func refused(t *testing.T, err error, message string) {
	t.Helper()
	if err == nil || !strings.HasPrefix(err.Error(), "garner: cannot write ") || !strings.Contains(err.Error(), message) {
		t.Errorf("%v\nwant an error with %q", err, message)
	}
}

func TestCommit(t *testing.T) {
	dir := t.TempDir()
	path := filepath.Join(dir, "out")
	for _, text := range []string{"", "first", strings.Repeat("longer than the buffer", 10000), "short"} {
		f, err := Create(path)
		if err != nil {
			t.Fatal(err)
		}
		for part := text; ; part = part[min(len(part), 1000):] {
			if n, err := f.Write([]byte(part[:min(len(part), 1000)])); err != nil || n != min(len(part), 1000) {
				t.Fatal(n, err)
			}
			if part == "" {
				break
			}
		}
		if names := entries(t, dir); !strings.HasPrefix(names, ".garner-") {
			t.Errorf("before Commit the folder holds %s", names)
		}
		if err := f.Commit(); err != nil {
			t.Fatal(err)
		}
		f.Abort() // does nothing now
		holds(t, path, text)
		if names := entries(t, dir); names != "out" {
			t.Errorf("after Commit the folder holds %s", names)
		}
		if _, err := f.Write([]byte("more")); !errors.Is(err, fs.ErrClosed) {
			t.Errorf("writing after Commit: %v", err)
		}
		if err := f.Commit(); !errors.Is(err, fs.ErrClosed) {
			t.Errorf("Commit after Commit: %v", err)
		}
	}
}

func TestAbort(t *testing.T) {
	dir := t.TempDir()
	path := filepath.Join(dir, "out")
	plain(t, path, "before")
	f, err := Create(path)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := f.Write([]byte("new")); err != nil {
		t.Fatal(err)
	}
	f.Abort()
	f.Abort()
	holds(t, path, "before")
	if names := entries(t, dir); names != "out" {
		t.Errorf("the folder holds %s", names)
	}
	if err := f.Commit(); !errors.Is(err, fs.ErrClosed) {
		t.Errorf("Commit after Abort: %v", err)
	}
}

func TestCreateRefuses(t *testing.T) {
	dir := t.TempDir()
	in := filepath.Join(dir, "in")
	plain(t, in, "input")
	other := filepath.Join(dir, "other")
	plain(t, other, "other")
	refused(t, put(dir, "x"), dir+": it is a folder; name a file in it")
	refused(t, put("", "x"), `"": it names no file`)
	refused(t, put(filepath.Join(dir, "new")+string(filepath.Separator), "x"), "it names no file; add the file's name")
	missing := filepath.Join(dir, "none", "out")
	err := put(missing, "x")
	refused(t, err, missing+": there is no folder "+filepath.Dir(missing)+"; make it first")
	if !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("%v is not fs.ErrNotExist", err)
	}
	refused(t, put(in, "x", other, in), in+": it is the input "+in+", which is still being read; write to another file")
	refused(t, put(filepath.Join(in, "out"), "x"), "write to another place")
	hard := filepath.Join(dir, "hard")
	if err := os.Link(in, hard); err != nil {
		t.Fatal(err)
	}
	refused(t, put(hard, "x", in), "it is the input "+in)
	if names := entries(t, dir); names != "hard in other" {
		t.Errorf("the folder holds %s", names)
	}
	holds(t, in, "input")
	// Neither an input that is not there nor another file is in the way.
	if err := put(other, "new", in, filepath.Join(dir, "none"), "-"); err != nil {
		t.Error(err)
	}
	holds(t, other, "new")
}

// TestLinks writes through symbolic links.
func TestLinks(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("making a link needs a privilege on Windows")
	}
	dir := t.TempDir()
	at := func(name string) string { return filepath.Join(dir, name) }
	for _, name := range []string{"far", "near"} {
		if err := os.Mkdir(at(name), 0o777); err != nil {
			t.Fatal(err)
		}
	}
	plain(t, at("far/file"), "before")
	for link, target := range map[string]string{
		"near/direct":   at("far/file"),
		"near/relative": "../far/file",
		"near/chain":    "relative",
		"near/folder":   "../far",
		"near/dangling": "../far/new",
		"near/lost":     "../gone/new",
		"near/loop":     "loop2",
		"near/loop2":    "loop",
	} {
		if err := os.Symlink(target, at(link)); err != nil {
			t.Fatal(err)
		}
	}
	for _, link := range []string{"near/direct", "near/relative", "near/chain", "near/folder/file"} {
		if err := put(at(link), "by "+link); err != nil {
			t.Error(err)
		}
		holds(t, at("far/file"), "by "+link)
		refused(t, put(at(link), "x", at("far/file")), "it is the input "+at("far/file"))
	}
	if err := put(at("near/dangling"), "new"); err != nil {
		t.Error(err)
	}
	holds(t, at("far/new"), "new")
	refused(t, put(at("near/lost"), "x"), "make it first")
	refused(t, put(at("near/loop"), "x"), "too many")
	refused(t, put(at("near/folder"), "x"), "it is a folder")
	if names := entries(t, at("near")); names != "chain dangling direct folder loop loop2 lost relative" {
		t.Errorf("the links' folder holds %s", names)
	}
	if info, err := os.Lstat(at("near/chain")); err != nil || info.Mode()&fs.ModeSymlink == 0 {
		t.Errorf("the link is gone: %v, %v", info, err)
	}
	if names := entries(t, at("far")); names != "file new" {
		t.Errorf("the files' folder holds %s", names)
	}
}

// TestRenameFails puts a folder in the way between Create and Commit.
func TestRenameFails(t *testing.T) {
	dir := t.TempDir()
	path := filepath.Join(dir, "out")
	f, err := Create(path)
	if err != nil {
		t.Fatal(err)
	}
	if err := os.MkdirAll(filepath.Join(path, "full"), 0o777); err != nil {
		t.Fatal(err)
	}
	refused(t, f.Commit(), "write to another place")
	if names := entries(t, dir); names != "out" {
		t.Errorf("the folder holds %s", names)
	}
}

// TestFolderGone takes the folder away between Create and Commit.
func TestFolderGone(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "dir")
	if err := os.Mkdir(dir, 0o777); err != nil {
		t.Fatal(err)
	}
	f, err := Create(filepath.Join(dir, "out"))
	if err != nil {
		t.Fatal(err)
	}
	if runtime.GOOS == "windows" {
		f.Abort() // an open file keeps its folder there
		return
	}
	if err := os.RemoveAll(dir); err != nil {
		t.Fatal(err)
	}
	err = f.Commit()
	refused(t, err, "write to another place")
	if strings.Contains(err.Error(), ".garner-") {
		t.Errorf("%v speaks of the temporary", err)
	}
}

// TestWriteAfterError sees the first error again in every call.
func TestWriteAfterError(t *testing.T) {
	dir := t.TempDir()
	f, err := Create(filepath.Join(dir, "out"))
	if err != nil {
		t.Fatal(err)
	}
	f.file.Close()
	_, first := f.Write(make([]byte, 2*bufferSize))
	refused(t, first, "write to another place")
	if _, err := f.Write([]byte("x")); err != first {
		t.Errorf("then %v", err)
	}
	if err := f.Commit(); err != first {
		t.Errorf("then %v", err)
	}
	if names := entries(t, dir); names != "" {
		t.Errorf("the folder holds %s", names)
	}

	if f, err = Create(filepath.Join(dir, "out")); err != nil {
		t.Fatal(err)
	}
	if _, err := f.Write([]byte("held back")); err != nil {
		t.Fatal(err)
	}
	f.file.Close()
	refused(t, f.Commit(), "write to another place")
	if f, err = Create(filepath.Join(dir, "out")); err != nil {
		t.Fatal(err)
	}
	f.file.Close()
	refused(t, f.Commit(), "write to another place")
	if names := entries(t, dir); names != "" {
		t.Errorf("the folder holds %s", names)
	}
}

// TestHole leaves out bytes that are 0, also at the end, and reads the file before it is in
// place.
func TestHole(t *testing.T) {
	dir := t.TempDir()
	path := filepath.Join(dir, "out")
	f, err := Create(path)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Abort()
	put := func(text string) {
		if _, err := f.Write([]byte(text)); err != nil {
			t.Fatal(err)
		}
	}
	put("a")
	for range 2 {
		if err := f.Hole(1 << 20); err != nil {
			t.Fatal(err)
		}
	}
	put("b")
	if err := f.Hole(3); err != nil {
		t.Fatal(err)
	}
	want := "a" + strings.Repeat("\x00", 2<<20) + "b\x00\x00\x00"
	written, err := f.Written()
	if err != nil || filepath.Dir(written) != dir {
		t.Fatal(written, err)
	}
	holds(t, written, want)
	if err := f.Commit(); err != nil {
		t.Fatal(err)
	}
	holds(t, path, want)
	if err := f.Hole(1); !errors.Is(err, fs.ErrClosed) {
		t.Errorf("a hole after Commit: %v", err)
	}
	if _, err := f.Written(); !errors.Is(err, fs.ErrClosed) {
		t.Errorf("Written after Commit: %v", err)
	}
	if runtime.GOOS == "windows" {
		return
	}
	if f, err = Create(os.DevNull); err != nil {
		t.Fatal(err)
	}
	defer f.Abort()
	if name, err := f.Written(); name != "" || err != nil {
		t.Errorf("%q, %v", name, err)
	}
	if err := errors.Join(f.Hole(1<<20), f.Commit()); err != nil {
		t.Error(err)
	}
}
