package mapped

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/garner-go/garner/internal/guard"
)

// TestResident drops a file from the page cache and reads some of it again.
func TestResident(t *testing.T) {
	dir := t.TempDir()
	path := filepath.Join(dir, "file")
	const size = 1 << 20
	if err := os.WriteFile(path, make([]byte, size), 0o666); err != nil {
		t.Fatal(err)
	}
	file, _, err := OpenFile(path)
	if err != nil {
		t.Fatal(err)
	}
	defer file.Close()
	if err := file.Sync(); err != nil { // the kernel does not drop dirty pages
		t.Fatal(err)
	}
	Alone(file)
	f, err := Map(path, file)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	f.Scattered()
	if in, known := f.Resident(0, size); !in || !known {
		t.Fatalf("just written: %v, %v", in, known)
	}
	if !guard.Forget(file) {
		t.Fatal("it cannot be dropped")
	}
	if in, _ := f.Resident(5*pageSize, 6*pageSize); in {
		t.Skip("the folder for temporary files is on a file system, such as tmpfs, that keeps its files in memory and cannot drop them")
	}
	b := make([]byte, 10)
	if _, err := file.ReadAt(b, int64(5*pageSize+100)); err != nil {
		t.Fatal(err)
	}
	for _, tt := range []struct {
		from, to int
		want     bool
	}{
		{5 * pageSize, 6 * pageSize, true}, {5*pageSize + 7, 5*pageSize + 8, true},
		{4 * pageSize, 6 * pageSize, false}, {0, size, false}, {size - 1, size, false},
	} {
		if in, known := f.Resident(tt.from, tt.to); in != tt.want || !known {
			t.Errorf("%d…%d: %v, %v", tt.from, tt.to, in, known)
		}
	}
	if !WillNeed(file, 0, size) {
		t.Error("it cannot be asked for")
	}
	for _, tt := range [][2]int{{-1, 5}, {0, size + 1}, {5, 5}} {
		if _, known := f.Resident(tt[0], tt[1]); known {
			t.Errorf("%v is known", tt)
		}
	}
}

// TestPassed holds that pages that were passed are no memory of the process any more, and have what they had.
func TestPassed(t *testing.T) {
	const size = 16 << 20
	path := filepath.Join(t.TempDir(), "file")
	if err := os.WriteFile(path, bytes.Repeat([]byte{7}, size+100), 0o666); err != nil {
		t.Fatal(err)
	}
	f, err := Open(path)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	resident := func() (kib int) {
		b, err := os.ReadFile("/proc/self/status")
		if err != nil {
			t.Fatal(err)
		}
		_, after, ok := strings.Cut(string(b), "RssFile:")
		if !ok {
			t.Fatal("this kernel, older than Linux 4.5, does not tell")
		}
		if _, err := fmt.Sscan(after, &kib); err != nil {
			t.Fatal(err)
		}
		return kib
	}
	count := func() int { return bytes.Count(f.Bytes(), []byte{7}) }
	if n := count(); n != size+100 {
		t.Fatal(n)
	}
	before := resident()
	f.Passed(f.Bytes()[5 : size+50])
	f.Passed([]byte{1}) // of other memory
	if fell := before - resident(); fell < size>>10-1024 {
		t.Errorf("%d KiB left the process of %d", fell, size>>10)
	}
	if n := count(); n != size+100 {
		t.Errorf("%d bytes are there afterwards", n)
	}
}
