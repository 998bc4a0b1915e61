package bundle

import (
	"bytes"
	"encoding/binary"
	"math"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/golang/snappy"
	"google.golang.org/protobuf/proto"

	"github.com/garner-go/garner/tensorflow/graphdef/internal/tfpb"
)

// indexes are the files that TensorFlow wrote.
var indexes = []string{"gathers/variables/variables", "keras/variables/variables", "old/variables/variables", "checkpoint/new", "checkpoint/old.ckpt"}

func indexFile(t testing.TB, name string) []byte {
	t.Helper()
	b, err := os.ReadFile("../../testdata/" + name + ".index")
	if err != nil {
		t.Fatal(err)
	}
	return b
}

// inARow is how many entries of a block share what their keys have in common.
var inARow = 16

// written writes a table of blocks of n entries, as LevelDB does: keys share what they have
// in common with the one before, inARow in a row.
func written(list []entry, n int, compress bool) []byte {
	var file []byte
	block := func(list []entry) (handle []byte) {
		var b, last []byte
		var restarts []uint32
		for i, e := range list {
			shared := 0
			if i%inARow == 0 {
				restarts = append(restarts, uint32(len(b)))
			} else {
				for shared < min(len(last), len(e.key)) && last[shared] == e.key[shared] {
					shared++
				}
			}
			b = binary.AppendUvarint(b, uint64(shared))
			b = binary.AppendUvarint(b, uint64(len(e.key)-shared))
			b = binary.AppendUvarint(b, uint64(len(e.value)))
			b = append(append(b, e.key[shared:]...), e.value...)
			last = e.key
		}
		if len(restarts) == 0 {
			restarts = []uint32{0}
		}
		for _, r := range restarts {
			b = binary.LittleEndian.AppendUint32(b, r)
		}
		b = binary.LittleEndian.AppendUint32(b, uint32(len(restarts)))
		kind := []byte{uncompressed}
		if compress {
			b, kind = snappy.Encode(nil, b), []byte{compressed}
		}
		handle = binary.AppendUvarint(nil, uint64(len(file)))
		handle = binary.AppendUvarint(handle, uint64(len(b)))
		file = append(append(file, b...), kind...)
		file = binary.LittleEndian.AppendUint32(file, Sum(b, kind))
		return handle
	}
	var of []entry
	for part := range slices.Chunk(list, n) {
		of = append(of, entry{part[len(part)-1].key, block(part)})
	}
	meta := block(nil)
	handles := append(meta, block(of)...)
	file = append(file, handles...)
	file = append(file, make([]byte, footerSize-8-len(handles))...)
	return binary.LittleEndian.AppendUint64(file, magic)
}

// TestRead reads indexes again that are written in other blocks, compressed or not.
func TestRead(t *testing.T) {
	for _, name := range indexes {
		b := indexFile(t, name)
		want, err := Read(b)
		if err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		list, err := table(b)
		if err != nil || len(list) < 3 {
			t.Fatalf("%s: %d entries, %v", name, len(list), err)
		}
		for _, n := range []int{1, 2, 100} {
			for _, compress := range []bool{false, true} {
				got, err := Read(written(list, n, compress))
				if err != nil {
					t.Fatalf("%s in blocks of %d, compressed %v: %v", name, n, compress, err)
				}
				if len(got.Entries) != len(want.Entries) || len(got.slices) != len(want.slices) || got.Shards != want.Shards {
					t.Errorf("%s: %d entries and %d slices; want %d and %d", name, len(got.Entries), len(got.slices), len(want.Entries), len(want.slices))
				}
				for i, e := range want.Entries {
					if g := got.Find(e.Key); g == nil || g.Offset != e.Offset || g.Size != e.Size || g.Sum != e.Sum || !slices.Equal(g.Shape, e.Shape) {
						t.Errorf("%s: entry %d is %+v; want %+v", name, i, g, e)
					}
				}
			}
		}
	}
}

// TestDamaged holds that an index that is cut short or changed in any byte is an error, but
// for the bytes of the footer that mean nothing.
func TestDamaged(t *testing.T) {
	for _, name := range indexes {
		b := indexFile(t, name)
		for n := range b {
			if _, err := Read(b[:n]); err == nil {
				t.Errorf("%s: the first %d bytes are an index", name, n)
			}
		}
		// The meta index, which nothing reads, is the block before the index of blocks.
		footer := b[len(b)-footerSize:]
		at, n := binary.Uvarint(footer)
		size, m := binary.Uvarint(footer[n:])
		for i := range b {
			if uint64(i) >= at && uint64(i) < at+size+trailerSize || i >= len(b)-footerSize && i < len(b)-footerSize+n+m {
				continue
			}
			if i >= len(b)-footerSize && i < len(b)-8 { // a handle may have more bytes than it needs
				continue
			}
			for _, flip := range []byte{1, 0x80, 0xff} {
				changed := bytes.Clone(b)
				changed[i] ^= flip
				if _, err := Read(changed); err == nil {
					t.Errorf("%s: byte %d may be changed by %#x", name, i, flip)
				}
			}
		}
	}
}

// TestRefused holds the messages of indexes that contradict themselves.
func TestRefused(t *testing.T) {
	head := func(p *tfpb.BundleHeaderProto) entry { return entry{nil, marshaled(t, p)} }
	good := head(&tfpb.BundleHeaderProto{NumShards: 2})
	dims := func(list ...int64) *tfpb.TensorShapeProto {
		p := &tfpb.TensorShapeProto{}
		for _, d := range list {
			p.Dim = append(p.Dim, &tfpb.TensorShapeProto_Dim{Size: d})
		}
		return p
	}
	of := func(key string, p *tfpb.BundleEntryProto) entry {
		p.Dtype = tfpb.DataType_DT_FLOAT
		return entry{[]byte(key), marshaled(t, p)}
	}
	extent := func(start, length int64) *tfpb.TensorSliceProto_Extent {
		return &tfpb.TensorSliceProto_Extent{Start: start, HasLength: &tfpb.TensorSliceProto_Extent_Length{Length: length}}
	}
	for _, tt := range []struct {
		list []entry
		want string
	}{
		{[]entry{good}, ""},
		{[]entry{good, of("a", &tfpb.BundleEntryProto{Shape: dims(2), Size: 8}), of("b", &tfpb.BundleEntryProto{Shape: dims(2), Size: 8, Offset: 8})}, ""},
		{[]entry{good, of("a", &tfpb.BundleEntryProto{Size: 8}), of("b", &tfpb.BundleEntryProto{Size: 8, ShardId: 1})}, ""},
		{nil, "no header"},
		{[]entry{of("a", &tfpb.BundleEntryProto{})}, "no header"},
		{[]entry{head(&tfpb.BundleHeaderProto{})}, "in 0 files"},
		{[]entry{head(&tfpb.BundleHeaderProto{NumShards: -1})}, "in -1 files"},
		{[]entry{head(&tfpb.BundleHeaderProto{NumShards: 1, Endianness: tfpb.BundleHeaderProto_BIG})}, "big-endian"},
		{[]entry{head(&tfpb.BundleHeaderProto{NumShards: 1, Version: &tfpb.VersionDef{MinConsumer: 2}})}, "newer than this garner"},
		{[]entry{{nil, []byte{0xff}}}, "header of the index"},
		{[]entry{good, {[]byte("a"), []byte{0xff}}}, `entry "a" of the index: it is no entry`},
		{[]entry{good, {[]byte("\xff"), nil}}, "no UTF-8"},
		{[]entry{good, of("a", &tfpb.BundleEntryProto{ShardId: 2})}, "in file 2, and there are 2"},
		{[]entry{good, of("a", &tfpb.BundleEntryProto{ShardId: -1})}, "in file -1"},
		{[]entry{good, of("a", &tfpb.BundleEntryProto{Offset: -1})}, "which no file has"},
		{[]entry{good, of("a", &tfpb.BundleEntryProto{Offset: math.MaxInt64, Size: 1})}, "which no file has"},
		{[]entry{good, of("a", &tfpb.BundleEntryProto{Shape: dims(-1)})}, "its dim 0 is -1"},
		{[]entry{good, of("a", &tfpb.BundleEntryProto{Shape: &tfpb.TensorShapeProto{UnknownRank: true}})}, "its shape is not said"},
		{[]entry{good, of("a", &tfpb.BundleEntryProto{Size: 8}), of("b", &tfpb.BundleEntryProto{Size: 8, Offset: 7})}, `entries "a" and "b" of the index have bytes in common`},
		{[]entry{good, of("a", &tfpb.BundleEntryProto{Size: 8}), of("b", &tfpb.BundleEntryProto{Size: 8})}, "bytes in common"},
		{[]entry{good, of("b", &tfpb.BundleEntryProto{}), of("a", &tfpb.BundleEntryProto{})}, "keys are sorted"},
		{[]entry{good, of("a", &tfpb.BundleEntryProto{}), of("a", &tfpb.BundleEntryProto{})}, "each once"},
		{[]entry{good, of("a", &tfpb.BundleEntryProto{Shape: dims(4), Slices: []*tfpb.TensorSliceProto{{}}})}, "has 0 dims, and the tensor has 1"},
		{[]entry{good, of("a", &tfpb.BundleEntryProto{Shape: dims(4), Slices: []*tfpb.TensorSliceProto{{Extent: []*tfpb.TensorSliceProto_Extent{extent(1, 4)}}}})}, "has 4 elements from 1 on of axis 0, which has 4"},
		{[]entry{good, of("a", &tfpb.BundleEntryProto{Shape: dims(4), Slices: []*tfpb.TensorSliceProto{{Extent: []*tfpb.TensorSliceProto_Extent{{Start: 1}}}}})}, "no length along axis 0"},
	} {
		for _, n := range []int{1, 100} {
			_, err := Read(written(tt.list, n, false))
			if tt.want == "" && err != nil || tt.want != "" && (err == nil || !strings.Contains(err.Error(), tt.want)) {
				t.Errorf("%v; want %q", err, tt.want)
			}
		}
	}
}

func marshaled(t testing.TB, p proto.Message) []byte {
	t.Helper()
	b, err := proto.MarshalOptions{Deterministic: true}.Marshal(p)
	if err != nil {
		t.Fatal(err)
	}
	return b
}

// TestBlocks holds the messages of tables whose blocks are damaged, with the checksums of what
// they are.
func TestBlocks(t *testing.T) {
	head := marshaled(t, &tfpb.BundleHeaderProto{NumShards: 1})
	good := append([]byte{0, 0, byte(len(head))}, head...)
	end := []byte{0, 0, 0, 0, 1, 0, 0, 0} // one restart, at 0
	// file writes a table of a block of entries, and a block of the given handle.
	file := func(entries []byte, kind byte, handle []byte) []byte {
		seal := func(b []byte, kind byte) []byte {
			return binary.LittleEndian.AppendUint32(append(bytes.Clone(b), kind), Sum(b, []byte{kind}))
		}
		b := seal(entries, kind)
		if handle == nil {
			handle = binary.AppendUvarint([]byte{0}, uint64(len(entries)))
		}
		of := slices.Concat([]byte{0, 1, byte(len(handle)), 'a'}, handle, end)
		at := uint64(len(b))
		b = append(b, seal(of, uncompressed)...)
		footer := append([]byte{0, 0}, binary.AppendUvarint(binary.AppendUvarint(nil, at), uint64(len(of)))...)
		b = append(append(b, footer...), make([]byte, footerSize-8-len(footer))...)
		return binary.LittleEndian.AppendUint64(b, magic)
	}
	noHandles := file(append(good, end...), 0, nil)
	copy(noHandles[len(noHandles)-footerSize:], bytes.Repeat([]byte{0xff}, footerSize-8))
	for _, tt := range []struct {
		about string
		b     []byte
		want  string
	}{
		{"as it is", file(append(good, end...), 0, nil), ""},
		{"numbers without an end", noHandles, "cut short or corrupt"},
		{"no handle", file(append(good, end...), 0, []byte{}), "cut short or corrupt"},
		{"half a handle", file(append(good, end...), 0, []byte{0}), "cut short or corrupt"},
		{"a block beyond", file(append(good, end...), 0, []byte{0, 120}), "a block of 120 bytes at byte 0 is beyond the index"},
		{"a block at a vast place", file(append(good, end...), 0, binary.AppendUvarint(binary.AppendUvarint(nil, math.MaxUint64), 1)), "is beyond the index"},
		{"no block", file([]byte{1, 2, 3}, 0, nil), "cut short or corrupt"},
		{"more restarts than bytes", file(append(bytes.Clone(good), 0xff, 0xff, 0xff, 0xff), 0, nil), "cut short or corrupt"},
		{"numbers of an entry without an end", file(append([]byte{0xff}, end...), 0, nil), "cut short or corrupt"},
		{"shared with nothing", file(append([]byte{1, 0, 0}, end...), 0, nil), "cut short or corrupt"},
		{"a key beyond the block", file(append([]byte{0, 9, 0}, end...), 0, nil), "cut short or corrupt"},
		{"a value beyond the block", file(append([]byte{0, 0, 9}, end...), 0, nil), "cut short or corrupt"},
		{"another compression", file(append(good, end...), 2, nil), "is compressed in way 2; there are none (0) and Snappy (1)"},
		{"no text of Snappy", file([]byte{20, 0xff, 0xff}, 1, nil), "is no text of Snappy"},
		{"no length of Snappy", file(bytes.Repeat([]byte{0xff}, 12), 1, nil), "says of itself"},
	} {
		x, err := Read(tt.b)
		if tt.want == "" && (err != nil || x.Shards != 1) || tt.want != "" && (err == nil || !strings.Contains(err.Error(), tt.want)) {
			t.Errorf("%s: %v; want %q", tt.about, err, tt.want)
		}
	}
}

// TestUsed holds which files have elements, what they are called, and that a key which is not there
// finds none.
func TestUsed(t *testing.T) {
	x, err := Read(indexFile(t, "checkpoint/old.ckpt"))
	if err != nil {
		t.Fatal(err)
	}
	var names []string
	for _, n := range x.Used() {
		names = append(names, Shard("old.ckpt", n, x.Shards))
	}
	if !slices.Equal(names, []string{"old.ckpt.data-00000-of-00002", "old.ckpt.data-00001-of-00002"}) {
		t.Errorf("%q", names)
	}
	if e := x.Find("word"); e != nil {
		t.Errorf("%+v", e)
	}
}

// TestSmall holds that an index costs in proportion to its bytes: keys that repeat each
// other, a block that says of itself that it becomes gigabytes, blocks in each other.
func TestSmall(t *testing.T) {
	inARow = 1 << 20
	defer func() { inARow = 16 }()
	long := bytes.Repeat([]byte("k"), 1<<14)
	list := []entry{{nil, marshaled(t, &tfpb.BundleHeaderProto{NumShards: 1})}}
	for i := range 1 << 9 {
		list = append(list, entry{append(bytes.Clone(long), byte('0'+i>>6), byte('0'+i&63)), nil})
	}
	b := written(list, 1<<13, false)
	if _, err := Read(b); err == nil || !strings.Contains(err.Error(), "bytes for each byte of the index") || len(b) > 1<<15+1<<14 {
		t.Errorf("an index of %d bytes with keys of %d: %v", len(b), len(list)*len(long), err)
	}
	// A block that says of itself that it becomes a terabyte.
	one := written(list[:1], 1, true)
	meta, _ := binary.Uvarint(one[len(one)-footerSize:]) // the block behind the first
	huge := append(binary.AppendUvarint(nil, 1<<31), one[5:]...)
	binary.LittleEndian.PutUint32(huge[meta-4:], Sum(huge[:meta-trailerSize], huge[meta-trailerSize:meta-4]))
	if _, err := Read(huge); err == nil || !strings.Contains(err.Error(), "says of itself") {
		t.Errorf("a block that becomes gigabytes: %v", err)
	}
	var again []entry
	for i := range 3 {
		again = append(again, entry{[]byte{byte(i)}, []byte{0, 20}})
	}
	if _, err := Read(written(append(list[:1], again...), 100, false)); err == nil {
		t.Error("entries that are no entries are read")
	}
}

// TestSliceKey holds keys of slices against those that TensorFlow wrote, and numbers of
// several bytes against its ordered code.
func TestSliceKey(t *testing.T) {
	found := 0
	for _, name := range indexes {
		x, err := Read(indexFile(t, name))
		if err != nil {
			t.Fatal(err)
		}
		for _, e := range x.Entries {
			for _, s := range e.Slices {
				if x.Slice(e.Key, s) == nil {
					t.Errorf("%s: %s has no slice %v", name, e.Key, s)
				}
				found++
			}
		}
	}
	if found != 5 {
		t.Errorf("%d slices", found)
	}
	// Of a scalar, and of a name with the bytes that end a string and that stand for these.
	if got, want := SliceKey("a\x00b\xffc", Slice{}), "\x00a\x00\xffb\xff\x00c\x00\x01\x00"; got != want {
		t.Errorf("%q; want %q", got, want)
	}
	for v, want := range map[int64]string{
		0: "\x80", 1: "\x81", -1: "\x7f", 63: "\xbf", 64: "\xc0\x40", -64: "\x40", -65: "\x3f\xbf", 8191: "\xdf\xff", 8192: "\xe0\x20\x00", 1 << 20: "\xf0\x10\x00\x00",
		math.MaxInt64: "\xff\xc0\x7f\xff\xff\xff\xff\xff\xff\xff", math.MinInt64: "\x00\x3f\x80\x00\x00\x00\x00\x00\x00\x00",
	} {
		if got := string(appendOrdered(nil, v)); got != want {
			t.Errorf("%d is %q; want %q", v, got, want)
		}
	}
}

// TestTexts reads strings, cut short and changed too.
func TestTexts(t *testing.T) {
	b := binary.AppendUvarint(nil, 3)
	b = binary.AppendUvarint(b, 0)
	lengths := binary.LittleEndian.AppendUint32(binary.LittleEndian.AppendUint32(nil, 3), 0)
	rest := binary.LittleEndian.AppendUint32(nil, Sum(lengths))
	rest = append(rest, "abc"...)
	sum := Sum(lengths, rest)
	b = append(b, rest...)
	if got, err := Texts(b, 2, sum); err != nil || !slices.Equal(got, []string{"abc", ""}) {
		t.Errorf("%q, %v", got, err)
	}
	for n := range b {
		if _, err := Texts(b[:n], 2, sum); err == nil {
			t.Errorf("%d bytes are strings", n)
		}
		changed := bytes.Clone(b)
		changed[n] ^= 1
		if _, err := Texts(changed, 2, sum); err == nil {
			t.Errorf("byte %d may be changed", n)
		}
	}
	// Lengths that say more than the bytes behind them, and less, with their checksums; a length of 64
	// bits counts as such.
	for _, length := range []uint64{4, 2, 1 << 40} {
		plain := binary.LittleEndian.AppendUint32(nil, uint32(length))
		if length > math.MaxUint32 {
			plain = binary.LittleEndian.AppendUint64(nil, length)
		}
		rest := append(binary.LittleEndian.AppendUint32(nil, Sum(plain)), "abc"...)
		if _, err := Texts(append(binary.AppendUvarint(nil, length), rest...), 1, Sum(plain, rest)); err == nil || !strings.Contains(err.Error(), "do not agree") {
			t.Errorf("%d: %v", length, err)
		}
	}
	if _, err := Texts(b, math.MaxInt, sum); err == nil {
		t.Error("more strings than bytes")
	}
}

// FuzzRead holds that no bytes make the reader panic, and that what it reads fits.
func FuzzRead(f *testing.F) {
	for _, name := range indexes {
		b := indexFile(f, name)
		f.Add(b)
		list, err := table(b)
		if err != nil {
			f.Fatal(err)
		}
		f.Add(written(list, 3, true))
	}
	f.Fuzz(func(t *testing.T, b []byte) {
		x, err := Read(mended(b))
		if err != nil {
			return
		}
		for i, e := range x.Entries {
			if x.Find(e.Key) != &x.Entries[i] {
				t.Errorf("%q is not found", e.Key)
			}
			if len(e.Slices) == 0 && (e.Shard < 0 || e.Shard >= x.Shards || e.Offset < 0 || e.Size < 0 || e.Offset+e.Size < 0) {
				t.Errorf("%+v", e)
			}
		}
	})
}

// mended gives the blocks that the footer and the index of blocks name the checksums that they
// have, so that fuzzing comes behind these.
func mended(b []byte) []byte {
	if len(b) < footerSize {
		return b
	}
	b = bytes.Clone(b)
	file := b[:len(b)-footerSize]
	mend := func(offset, size uint64) bool {
		if have := uint64(len(file)); offset > have || size > have-offset || trailerSize > have-offset-size {
			return false
		}
		trailer := file[offset+size:][:trailerSize]
		binary.LittleEndian.PutUint32(trailer[1:], Sum(file[offset:offset+size], trailer[:1]))
		return true
	}
	rest := b[len(b)-footerSize:]
	var handles [4]uint64
	for i := range handles {
		v, n := binary.Uvarint(rest)
		if n <= 0 {
			return b
		}
		handles[i], rest = v, rest[n:]
	}
	if !mend(handles[2], handles[3]) {
		return b
	}
	r := &tableReader{file: file, keys: 1 << 20}
	_ = r.block(handles[2], handles[3], func(_, handle []byte) error { // up to the first error
		offset, n := binary.Uvarint(handle)
		if n > 0 {
			if size, m := binary.Uvarint(handle[n:]); m > 0 {
				mend(offset, size)
			}
		}
		return nil
	})
	return b
}
