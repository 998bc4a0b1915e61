package main

import (
	"bytes"
	"context"
	"encoding/xml"
	"errors"
	"fmt"
	"io"
	"maps"
	"math/rand/v2"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/garner-go/garner"
	"github.com/garner-go/garner/internal/cmdline"
	"github.com/garner-go/garner/source"
)

// splitTable writes a table into two files, of which the second holds two pieces
// of it, and answers with what opens it. With a codec each byte stands for two.
func splitTable(t *testing.T, rows, size int, codec *source.Codec) func() (*source.File, error) {
	t.Helper()
	dir := t.TempDir()
	stored := int64(rows * size)
	if codec != nil {
		stored = stored / int64(codec.Elements) * int64(codec.Bytes)
	}
	first := stored / 3 / 34 * 34
	second := stored / 4 / 34 * 34
	b := make([]byte, stored+100000)
	r := rand.NewChaCha8([32]byte{})
	r.Read(b)
	one, two := filepath.Join(dir, "one"), filepath.Join(dir, "two")
	writeFile(t, one, b[:first+77])
	writeFile(t, two, b)
	for _, path := range []string{one, two} {
		// Pages that wait to be written cannot be dropped.
		file, err := os.OpenFile(path, os.O_RDWR, 0)
		if err != nil {
			t.Fatal(err)
		}
		if err := errors.Join(file.Sync(), file.Close()); err != nil {
			t.Fatal(err)
		}
	}
	return func() (*source.File, error) {
		return source.Open(garner.SpecOf(garner.U8, rows, size), codec,
			source.Segment{Path: one, Offset: 77, Bytes: first},
			source.Segment{Path: two, Offset: 50001, Bytes: second},
			source.Segment{Path: two, Offset: 50001 + second + 333, Bytes: stored - first - second})
	}
}

// halves stores 32 bytes in 34, as Q8_0 stores as many numbers.
func halves() *source.Codec {
	return &source.Codec{Elements: 32, Bytes: 34, Decode: func(dst, src []byte) {
		for len(src) > 0 {
			copy(dst[:32], src[2:34])
			dst, src = dst[32:], src[34:]
		}
	}}
}

// TestProbePages holds the pages of rows against those that their bytes lie in.
func TestProbePages(t *testing.T) {
	for name, codec := range map[string]*source.Codec{"as they are": nil, "quantised": halves()} {
		t.Run(name, func(t *testing.T) {
			const rows, size = 3000, 544
			r := &prober{open: splitTable(t, rows, size, codec)}
			if err := r.begin(); err != nil {
				t.Fatal(err)
			}
			defer r.end()
			if r.count != rows || r.size != size {
				t.Fatal(r.count, r.size)
			}
			stored := int64(size)
			if codec != nil {
				stored = size / 32 * 34
			}
			for row := range rows {
				want, got := map[pageAt]bool{}, map[pageAt]bool{}
				for at := int64(row) * stored; at < int64(row+1)*stored; at++ {
					from := int64(0)
					for _, s := range r.file.Segments() {
						if at < from+s.Bytes {
							want[pageAt{r.files[s.Path], (s.Offset + at - from) / pageSize}] = true
							break
						}
						from += s.Bytes
					}
				}
				r.pages(row, func(p pageAt) { got[p] = true })
				if !maps.Equal(got, want) {
					t.Fatalf("row %d lies in %v; it is said to lie in %v", row, want, got)
				}
			}
		})
	}
}

// TestProbe measures a table in pieces, and looks at what was found out, and at
// what is in the page cache before and after.
func TestProbe(t *testing.T) {
	r := &prober{open: splitTable(t, 40000, 544, halves()), spend: 300 * time.Millisecond}
	if err := r.begin(); err != nil {
		t.Fatal(err)
	}
	// What somebody else reads stays in the page cache.
	warmed := map[pageAt]bool{}
	kept := r.told() && runtime.GOOS == "linux"
	counted := false // what is read from the disk
	if kept {
		from := fromDisk(t)
		all := map[pageAt]bool{}
		for row := range 40000 {
			r.pages(row, func(p pageAt) { all[p] = true })
		}
		for p := range all {
			r.dropWhole(p)
		}
		for p := range all {
			kept = kept && !p.resident()
		}
		for p := range all {
			if len(warmed) < 300 {
				warmed[p] = true
				if _, err := p.file.file.ReadAt(make([]byte, 1), p.page*pageSize+pageSize/2); err != nil {
					t.Fatal(err)
				}
			}
		}
		counted = fromDisk(t)-from >= int64(len(warmed))*pageSize
	}
	found := &probed{Table: "a\ntable", Rows: r.count, RowBytes: r.rowBytes, ReadBytes: r.size, Bytes: r.stored, Threads: 1, Machine: "<&>"}
	told := int64(-1)
	if err := r.run(t.Context(), found, []int{1, 16, 256}, func(done int64) { told = done }); err != nil {
		t.Fatal(err)
	}
	if told < 0 {
		t.Error("nothing was told of how far it is")
	}
	if kept {
		// By now most rows are in the page cache, from which no cold one is read.
		from := fromDisk(t)
		points, _, err := r.cold(t.Context(), []source.Way{source.Pread}, 1, time.Now().Add(50*time.Millisecond), map[source.Way]bool{})
		if err != nil {
			t.Fatal(err)
		}
		read := fromDisk(t) - from
		t.Logf("for %d cold rows %d bytes are read from the disk; counted: %v", points[0].Batches, read, counted)
		if counted && read < int64(points[0].Batches)*pageSize {
			t.Errorf("for %d cold rows %d bytes are read from the disk", points[0].Batches, read)
		}
	}
	ours := maps.Clone(r.ours)
	if kept {
		// The system itself may have dropped some, many where memory is short; to
		// drop the file would be to drop all.
		gone := 0
		for p := range warmed {
			if !p.resident() || ours[p] {
				gone++
			}
		}
		if gone > len(warmed)/2 {
			t.Errorf("of %d pages that somebody else had read %d are gone, or will be", len(warmed), gone)
		}
		if found.ColdMissing != "" {
			t.Error(found.ColdMissing)
		}
	}
	found.choose()
	ways, sizes := found.ways()
	if !slices.Equal(sizes, []int{1, 16, 256}) || !slices.Contains(ways, "pread") || !slices.Contains(ways, "auto") {
		t.Error(ways, sizes)
	}
	for _, state := range []string{cold, warm} {
		if state == cold && found.ColdMissing != "" {
			t.Log(found.ColdMissing)
			continue
		}
		for _, way := range ways {
			for _, n := range sizes {
				p := found.at(state, way, n)
				if p == nil && slices.ContainsFunc(found.Points, func(p probedPoint) bool { return p.State == state && p.Way == way && p.GaveUp > 0 }) {
					continue // it took too long
				}
				if p == nil || !(p.Micros > 0) || p.Least > p.Micros || p.Least <= 0 {
					t.Errorf("%s %s %d: %+v", state, way, n, p)
				} else if (way == "auto") != (p.Took != "") {
					t.Errorf("%s %s %d took %q", state, way, n, p.Took)
				}
			}
		}
		// On a busy machine cold batches take too long, in the worst case all of them.
		largest := 0
		for _, n := range sizes {
			if found.at(state, "auto", n) != nil {
				largest = n
			}
		}
		if state == warm && largest != 256 {
			t.Errorf("warm rows were read in batches of %d at most", largest)
		}
		if i := slices.IndexFunc(found.Choices, func(c choice) bool { return c.State == state }); i < 0 {
			if largest > 0 {
				t.Error("no choice for rows that are", state)
			}
		} else if c := found.Choices[i]; c.BatchRows != largest || c.Why == "" || c.FastestTime > c.Micros {
			t.Errorf("%+v", c)
		}
	}
	if p, q := found.at(cold, "pread", 1), found.at(warm, "pread", 1); p != nil && q != nil {
		t.Logf("a cold row is read in %g µs, a warm one in %g", p.Least, q.Least)
	}
	wellFormed(t, found.svg())
	r.end()
	if !kept {
		return
	}
	// What the run had brought there is gone.
	again := &prober{open: r.open}
	if err := again.begin(); err != nil {
		t.Fatal(err)
	}
	defer again.end()
	stay := 0
	for p := range ours {
		if (pageAt{again.files[p.file.path], p.page}).resident() {
			stay++
		}
	}
	if stay > len(ours)/10 {
		t.Errorf("of %d pages that the run read %d are still in the page cache", len(ours), stay)
	}
}

// fromDisk is how many bytes the kernel has read from disks for this process, as far as it
// counts: not every file system does.
func fromDisk(t *testing.T) (bytes int64) {
	t.Helper()
	b, err := os.ReadFile("/proc/self/io")
	if err != nil {
		t.Log(err)
		return 0
	}
	if _, line, found := strings.Cut(string(b), "\nread_bytes:"); found {
		if _, err := fmt.Sscan(line, &bytes); err != nil {
			t.Fatal(err)
		}
	}
	return bytes
}

func wellFormed(t *testing.T, svg []byte) {
	t.Helper()
	d := xml.NewDecoder(bytes.NewReader(svg))
	for {
		_, err := d.Token()
		if err == io.EOF {
			return
		}
		if err != nil {
			t.Fatalf("%v in %s", err, svg)
		}
	}
}

// TestProbeGivesUp: a batch that takes too long is given up, and said to be.
func TestProbeGivesUp(t *testing.T) {
	r := &prober{open: splitTable(t, 4000, 544, nil), spend: time.Second}
	if err := r.begin(); err != nil {
		t.Fatal(err)
	}
	defer r.end()
	r.dst = make([]byte, 544*100)
	spent, err := r.timed(t.Context(), source.Pread, []int{1, 2, 3}, 0)
	if !errors.Is(err, errLong) {
		t.Error(spent, err)
	}
	ctx, cancel := context.WithCancelCause(t.Context())
	cancel(cmdline.ErrInterrupted)
	if _, err := r.timed(ctx, source.Pread, []int{1}, time.Second); !errors.Is(err, cmdline.ErrInterrupted) {
		t.Error(err)
	}
	found := &probed{Rows: r.count, RowBytes: r.rowBytes, ReadBytes: r.size, Bytes: r.stored}
	if err := r.run(ctx, found, []int{1}, func(int64) {}); !errors.Is(err, cmdline.ErrInterrupted) {
		t.Error(err)
	}
}

// TestProbeBusy probes with no time at all, as on a machine that other programs keep
// busy: every way has its turn with the warm rows, and a choice is reported.
func TestProbeBusy(t *testing.T) {
	r := &prober{open: splitTable(t, 4000, 544, nil), spend: 1}
	if err := r.begin(); err != nil {
		t.Fatal(err)
	}
	defer r.end()
	found := &probed{Table: "t", Rows: r.count, RowBytes: r.rowBytes, ReadBytes: r.size, Bytes: r.stored}
	if err := r.run(t.Context(), found, []int{1, 16, 1000}, func(int64) {}); err != nil {
		t.Fatal(err)
	}
	found.choose()
	ways, sizes := found.ways()
	for _, way := range ways {
		for _, n := range sizes {
			if p := found.at(warm, way, n); p == nil || !(p.Micros > 0) || (way == "auto") != (p.Took != "") {
				t.Errorf("%s %d: %+v", way, n, p)
			}
		}
	}
	if i := slices.IndexFunc(found.Choices, func(c choice) bool { return c.State == warm }); i < 0 || found.Choices[i].BatchRows != 1000 {
		t.Errorf("%+v", found.Choices)
	}
}

// TestProbeSays holds what is printed of figures that are made up.
func TestProbeSays(t *testing.T) {
	f := &probed{
		Table: "t.npy", DType: "f32", Shape: []int{100, 1 << 20}, Rows: 100, RowBytes: 32 << 20, ReadBytes: 16 << 20, Bytes: 100 * 32 << 20, Files: 3, Machine: "a machine", Threads: 2,
		ColdHow: "not in the page cache", Disk: probedDisk{ReadBytes: 4096, Depth: 64, ReadsPerS: 50000, MicrosPerOne: 20, How: "so"},
		Points: []probedPoint{
			{Way: "pread", State: cold, BatchRows: 16, Micros: 50, Least: 40, Batches: 3},
			{Way: "mapped", State: cold, BatchRows: 16, GaveUp: 0.016},
			{Way: "auto", State: cold, BatchRows: 16, Micros: 100, Least: 40, Batches: 3, Took: "ring"},
			{Way: "mapped", State: warm, BatchRows: 16, Micros: 0.25, Least: 0.2, Batches: 3},
			{Way: "auto", State: warm, BatchRows: 16, Micros: 1, Least: 0.2, Batches: 3, Took: "mapped"},
		},
	}
	f.choose()
	var out strings.Builder
	p := newProgram(nil, &out, io.Discard)
	to := p.printer()
	f.print(to)
	if err := to.flush(); err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{
		"100 rows of 33554432 bytes, 3.1 GiB on the disk in 3 files\n         of each row the first 16 MiB are read\n",
		"disk     20 µs: 50 k random reads of 4 KiB a second, 64 at once, so\n",
		"       16        50     >1000       100   ring\n",
		"       16         -      0.25         1   mapped\n",
		"cold     garner takes ring: some of the rows are not in the page cache, and io_uring keeps",
		"; pread was faster here, 50 µs\n",
		"         1 µs a row in batches of 16; without looking what is in the page cache 250 ns\n",
	} {
		if !strings.Contains(out.String(), want) {
			t.Errorf("%q is missing in\n%s", want, &out)
		}
	}
	wellFormed(t, f.svg())
	f.ColdMissing, f.Disk = "why", probedDisk{Missing: "that"}
	f.Points = f.Points[3:]
	wellFormed(t, f.svg())
	out.Reset()
	to = p.printer()
	f.print(to)
	if err := to.flush(); err != nil {
		t.Fatal(err)
	}
	if !strings.Contains(out.String(), "\ncold     not measured: why\n") || !strings.Contains(out.String(), "disk     its own speed is not known: that\n") {
		t.Error(&out)
	}
}

// TestWhyChosen: every way that garner may take has a reason, in both states.
func TestWhyChosen(t *testing.T) {
	seen := map[string]string{}
	for _, way := range []source.Way{source.Mapped, source.WillNeed, source.Pread, source.Ring} {
		for _, state := range []string{cold, warm} {
			why := whyChosen(state, way.String(), 100, way == source.Ring)
			if why == "" || strings.HasSuffix(why, ".") {
				t.Errorf("%s %s: %q", state, way, why)
			}
			seen[why] = state
		}
	}
	if len(seen) < 6 {
		t.Errorf("only %d reasons", len(seen))
	}
}
