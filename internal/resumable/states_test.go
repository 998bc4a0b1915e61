package resumable

import (
	"fmt"
	"hash/crc32"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
)

// stand is where the part and the journal of a file stand.
func stand(path string) (part, journal string) {
	base := filepath.Join(filepath.Dir(path), ".garner-"+filepath.Base(path))
	return base + ".part", base + ".resume"
}

func write(t *testing.T, path, text string) {
	t.Helper()
	if err := os.WriteFile(path, []byte(text), 0o666); err != nil {
		t.Fatal(err)
	}
}

const contents = "abcdefghij"

// kept leaves contents up to byte 6, with a line of the journal at 3 and at 6.
func kept(t *testing.T, path string) {
	t.Helper()
	f := create(t, path, int64(len(contents)))
	f.step = 1
	put(t, f, contents[:3])
	put(t, f, contents[3:6])
	if n := f.Keep(); n != 6 {
		t.Fatalf("%d bytes are kept", n)
	}
}

// renamed leaves what a run leaves that is killed between the rename and the end of
// Commit.
func renamed(t *testing.T, path string) {
	t.Helper()
	f := create(t, path, int64(len(contents)))
	put(t, f, contents)
	f.note()
	f.flushing.Wait()
	f.close()
	part, _ := stand(path)
	if err := os.Rename(part, path); err != nil {
		t.Fatal(err)
	}
}

// TestStates resumes from every state of the table in the package's comment, and
// holds that the table has no other and that docs/tables.md has the same. What a run starts or continues ends with the
// right bytes, and nothing stands beside them.
func TestStates(t *testing.T) {
	const anew, done = 0, -1
	other := Identity{{"the operator", "gather"}, {"the table", "u.npy"}, {"the indices", "abc"}}
	edit := func(path string, change func(b []byte) []byte) {
		b, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		write(t, path, string(change(b)))
	}
	cases := []struct {
		row     string // of the table
		prepare func(t *testing.T, path, part, journal string)
		id      Identity
		at      int64  // of the first byte that is written; anew, done
		refused string // instead
	}{
		{row: "no journal, with a part or without", prepare: func(*testing.T, string, string, string) {}, at: anew},
		{row: "no journal, with a part or without", prepare: func(t *testing.T, _, part, _ string) { write(t, part, "ABCDEFGHIJKLM") }, at: anew},
		{row: "no journal, with a part or without", prepare: func(t *testing.T, path, _, _ string) { write(t, path, contents) }, at: anew},
		{row: "a journal without a whole first line: empty, torn", prepare: func(t *testing.T, _, _, journal string) { write(t, journal, "") }, at: anew},
		{row: "a journal without a whole first line: empty, torn", prepare: func(t *testing.T, path, _, journal string) {
			kept(t, path)
			write(t, journal, "") // killed behind the lock or the truncation, by which what was kept was discarded
		}, at: anew},
		{row: "a journal without a whole first line: empty, torn", prepare: func(t *testing.T, path, _, journal string) {
			kept(t, path)
			edit(journal, func(b []byte) []byte { return b[:20] })
		}, at: anew},
		{row: "a journal without a whole first line: empty, torn", prepare: func(t *testing.T, path, _, journal string) {
			kept(t, path)
			edit(journal, func(b []byte) []byte { return make([]byte, len(b)) })
		}, at: anew},
		{row: "a journal without a whole first line: empty, torn", prepare: func(t *testing.T, path, _, journal string) {
			kept(t, path)
			edit(journal, func(b []byte) []byte { return []byte(strings.Replace(string(b), "gather", "father", 1)) })
		}, at: anew},
		{row: "a journal of another version, and bytes are kept", prepare: func(t *testing.T, path, _, journal string) {
			kept(t, path)
			text := family + "1 []"
			write(t, journal, fmt.Sprintf("%s %08x\n5 00000000\n", text, crc32.Checksum([]byte(text), table)))
		}, refused: "cannot be continued: another version of garner has begun it"},
		{row: "a journal that another process has locked", prepare: func(t *testing.T, path, _, _ string) { create(t, path, 10) }, refused: "another garner is writing it; wait for that one"},
		{row: "other Identity or size, and bytes are kept", prepare: func(t *testing.T, path, _, _ string) { kept(t, path) }, id: other, refused: "the table: then t.npy, now u.npy"},
		{row: "other Identity or size, and no bytes are kept", prepare: func(t *testing.T, path, part, _ string) {
			kept(t, path)
			os.Remove(part)
		}, id: other, at: anew},
		{row: "other Identity or size, and no bytes are kept", prepare: func(t *testing.T, path, _, journal string) {
			kept(t, path)
			edit(journal, func(b []byte) []byte { return b[:slices.Index(b, '\n')+1] })
		}, id: other, at: anew},
		{row: "other Identity or size, and no bytes are kept", prepare: func(t *testing.T, path, _, _ string) { renamed(t, path) }, id: other, at: anew},
		{row: "no part, the result has the journal's checksums", prepare: func(t *testing.T, path, _, _ string) { renamed(t, path) }, at: done},
		{row: "no part, the result is another or not there", prepare: func(t *testing.T, path, part, _ string) {
			kept(t, path)
			os.Remove(part)
		}, at: anew},
		{row: "no part, the result is another or not there", prepare: func(t *testing.T, path, part, _ string) {
			kept(t, path)
			os.Remove(part)
			write(t, path, contents) // by another command; the journal does not say so much
		}, at: anew},
		{row: "no part, the result is another or not there", prepare: func(t *testing.T, path, _, _ string) {
			renamed(t, path)
			write(t, path, "ABCDEFGHIJ")
		}, at: anew},
		{row: "no part, the result is another or not there", prepare: func(t *testing.T, path, _, _ string) {
			renamed(t, path)
			write(t, path, contents+"k")
		}, at: anew},
		{row: "no part, the result is another or not there", prepare: func(t *testing.T, path, _, _ string) {
			renamed(t, path)
			os.Remove(path)
		}, at: anew},
		{row: "a part or a journal that is no regular file", prepare: func(t *testing.T, path, part, _ string) {
			kept(t, path)
			os.Remove(part)
			if err := os.Mkdir(part, 0o777); err != nil {
				t.Fatal(err)
			}
		}, refused: "is no regular file; remove it"},
		{row: "a part or a journal that is no regular file", prepare: func(t *testing.T, _, _, journal string) {
			if err := os.Mkdir(journal, 0o777); err != nil {
				t.Fatal(err)
			}
		}, refused: ".garner-out.resume is no regular file; remove it"},
		{row: "a part of which no line of the journal holds", prepare: func(t *testing.T, path, part, _ string) {
			kept(t, path)
			edit(part, func(b []byte) []byte { return append([]byte("x"), b[1:]...) })
		}, at: anew},
		{row: "a part of which no line of the journal holds", prepare: func(t *testing.T, path, part, _ string) {
			kept(t, path)
			write(t, part, "")
		}, at: anew},
		{row: "a part of which no line of the journal holds", prepare: func(t *testing.T, path, part, journal string) {
			kept(t, path)
			edit(journal, func(b []byte) []byte { return b[:slices.Index(b, '\n')+1] })
		}, at: anew},
		{row: "a part that is shorter than the journal says", prepare: func(t *testing.T, path, part, _ string) {
			kept(t, path)
			edit(part, func(b []byte) []byte { return b[:5] })
		}, at: 3},
		{row: "a part that differs from the journal's checksums", prepare: func(t *testing.T, path, part, _ string) {
			kept(t, path)
			edit(part, func(b []byte) []byte { return append(b[:5:5], 'x') })
		}, at: 3},
		{row: "a part that is longer than the file will be", prepare: func(t *testing.T, path, part, _ string) {
			kept(t, path)
			edit(part, func(b []byte) []byte { return append(b, "0123456789"...) })
		}, at: 6},
		{row: "a journal whose last line is torn", prepare: func(t *testing.T, path, _, journal string) {
			kept(t, path)
			edit(journal, func(b []byte) []byte { return b[:len(b)-5] })
		}, at: 3},
		{row: "a journal whose last line is torn", prepare: func(t *testing.T, path, _, journal string) {
			kept(t, path)
			edit(journal, func(b []byte) []byte { return append(b, "6 7 0000"...) })
		}, at: 6},
	}
	source, err := os.ReadFile("resumable.go")
	if err != nil {
		t.Fatal(err)
	}
	tried := map[string]bool{}
	for i, tt := range cases {
		tried[tt.row] = true
		t.Run(fmt.Sprint(i, " ", tt.row), func(t *testing.T) {
			if !strings.Contains(string(source), "//\t"+tt.row+" ") {
				t.Errorf("the table has no row %q", tt.row)
			}
			dir := t.TempDir()
			path := filepath.Join(dir, "out")
			part, journal := stand(path)
			tt.prepare(t, path, part, journal)
			if tt.id == nil {
				tt.id = identity
			}
			before := folder(t, dir)
			f, err := again(t, path, tt.id, 10)
			if tt.refused != "" {
				refused(t, err, tt.refused)
				if after := folder(t, dir); after != before {
					t.Errorf("a refusal left %s of %s", after, before)
				}
				return
			}
			if err != nil {
				t.Fatal(err)
			}
			at := tt.at
			if at == done {
				at = 10
			}
			if f.At() != at || f.Resumed() != (tt.at != anew) || f.Whole() != (tt.at == done) {
				t.Errorf("it begins at %d, resumed %v, whole %v", f.At(), f.Resumed(), f.Whole())
			}
			put(t, f, contents[f.At():])
			if err := f.Commit(); err != nil {
				t.Fatal(err)
			}
			holds(t, path, contents, "out")
		})
	}
	_, rows, _ := strings.Cut(string(source), "//\tstate ")
	rows, _, _ = strings.Cut(rows, "//\n")
	docs, err := os.ReadFile("../../docs/tables.md")
	if err != nil {
		t.Fatal(err)
	}
	found := regexp.MustCompile(`(?m)^//\t(.*?)  +(.*)$`).FindAllStringSubmatch(rows, -1)
	for _, m := range found {
		if want := fmt.Sprintf("| %s | %s |\n", m[1], m[2]); !strings.Contains(string(docs), want) {
			t.Errorf("docs/tables.md lacks %q", want)
		}
		if !tried[m[1]] {
			t.Errorf("no case tries %q", m[1])
		}
	}
	if len(found) != len(tried) {
		t.Errorf("the table has %d rows, and %d are tried", len(found), len(tried))
	}
}

// folder is what a folder holds, each file with its bytes.
func folder(t *testing.T, dir string) string {
	t.Helper()
	entries, err := os.ReadDir(dir)
	if err != nil {
		t.Fatal(err)
	}
	var all []string
	for _, e := range entries {
		b, _ := os.ReadFile(filepath.Join(dir, e.Name())) // a folder has none
		all = append(all, fmt.Sprintf("%s %q", e.Name(), b))
	}
	return strings.Join(all, ", ")
}

// TestWhole ends a file that an earlier run has renamed in each of the three ways:
// it stays.
func TestWhole(t *testing.T) {
	for name, end := range map[string]func(f *File) []string{
		"Abort":  func(f *File) []string { f.Abort(); return []string{"out"} },
		"Commit": func(f *File) []string { f.Back(0); f.Commit(); return []string{"out"} },
		"Keep": func(f *File) []string {
			if n := f.Keep(); n != 10 {
				t.Errorf("%d bytes are kept", n)
			}
			return []string{".garner-out.resume", "out"}
		},
		"Write": func(f *File) []string {
			_, err := f.Write([]byte("x"))
			refused(t, err, "more than its 10 bytes came")
			f.Abort()
			return []string{"out"}
		},
	} {
		t.Run(name, func(t *testing.T) {
			path := filepath.Join(t.TempDir(), "out")
			renamed(t, path)
			f := resume(t, path, 10)
			holds(t, path, contents, end(f)...)
		})
	}
}

// TestBackOver writes bytes again that the journal names, and keeps less and more
// than it names.
func TestBackOver(t *testing.T) {
	for back := range int64(7) {
		for again := range int64(len(contents)) - back {
			path := filepath.Join(t.TempDir(), "out")
			kept(t, path)
			f := resume(t, path, 10)
			f.step = 1
			f.Back(back)
			for i := range again {
				put(t, f, contents[back+i:back+i+1])
			}
			if n := f.Keep(); n != max(6, back+again) {
				t.Errorf("back to %d and %d bytes again: %d are kept", back, again, n)
			}
			f = resume(t, path, 10)
			if f.At() != max(6, back+again) || f.Stale() {
				t.Errorf("back to %d and %d bytes again: it goes on at %d", back, again, f.At())
			}
			put(t, f, contents[f.At():])
			if err := f.Commit(); err != nil {
				t.Fatal(err)
			}
			holds(t, path, contents, "out")
		}
	}
}

// TestJournalFull has no room for lines of the journal: they come with the next.
func TestJournalFull(t *testing.T) {
	path := filepath.Join(t.TempDir(), "out")
	f := create(t, path, 10)
	f.step = 1
	_, name := stand(path)
	readable, err := os.Open(name)
	if err != nil {
		t.Fatal(err)
	}
	defer readable.Close()
	journal := f.journal
	f.journal = readable // which cannot be written
	put(t, f, contents[:3])
	put(t, f, contents[3:6])
	f.flushing.Wait()
	f.journal = journal
	if n := f.Safe(); n != 0 {
		t.Errorf("%d bytes are safe", n)
	}
	put(t, f, contents[6:8])
	if n := f.Keep(); n != 8 {
		t.Errorf("%d bytes are kept", n)
	}
	if f = resume(t, path, 10); f.At() != 8 {
		t.Errorf("it goes on at %d", f.At())
	}
}
