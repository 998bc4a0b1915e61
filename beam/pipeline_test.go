package beam

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/apache/beam/sdks/v2/go/pkg/beam"
	"github.com/apache/beam/sdks/v2/go/pkg/beam/register"
	"github.com/apache/beam/sdks/v2/go/pkg/beam/runners/prism"
	"github.com/apache/beam/sdks/v2/go/pkg/beam/testing/passert"
	"github.com/garner-go/garner"
	"github.com/garner-go/garner/beam/internal/wire"
	"github.com/garner-go/garner/files"
	"github.com/garner-go/garner/format/shards"
	"github.com/garner-go/garner/source"
)

// rowsOfTest is the number of rows that the jobs of TestRun gather, unless an operator says
// otherwise.
const rowsOfTest = 100_000

// save writes a tensor of random bytes to a file.
func save(t *testing.T, path string, d garner.DType, shape ...int) string {
	t.Helper()
	x, err := garner.New(d, shape...)
	if err != nil {
		t.Fatal(err)
	}
	b, err := x.Bytes()
	if err != nil {
		t.Fatal(err)
	}
	r := rand.New(rand.NewPCG(uint64(len(b)), 18))
	for i := range b {
		b[i] = byte(r.Uint32())
		if d == garner.F16 || d == garner.F32 {
			b[i] &= 0x3b // no NaN, and sums that are finite
		}
	}
	return keep(t, path, x)
}

func keep(t *testing.T, path string, x garner.Tensor) string {
	t.Helper()
	if err := files.Save(t.Context(), path, x, files.CreateOptions{}); err != nil {
		t.Fatal(err)
	}
	return path
}

// ids returns n numbers from low to high-1.
func ids(n int, low, high int64) []int64 {
	r := rand.New(rand.NewPCG(uint64(n), uint64(high)))
	all := make([]int64, n)
	for i := range all {
		all[i] = low + r.Int64N(high-low)
	}
	return all
}

// jobOn is a job that gathers rows of data into a folder that is not there yet.
func jobOn(t *testing.T, data, indices string) Job {
	t.Helper()
	return Job{
		Description: Description{Operator: "onnx.Gather-13", Data: Operand{Text: data}, Indices: Operand{Text: indices}},
		Out:         filepath.Join(t.TempDir(), "rows"),
	}
}

// jobOfRows is a job of n random rows of a random table, in shards of 1 MiB.
func jobOfRows(t *testing.T, d garner.DType, rows, columns, n int) Job {
	t.Helper()
	dir := t.TempDir()
	job := jobOn(t, save(t, filepath.Join(dir, "table.npy"), d, rows, columns),
		keep(t, filepath.Join(dir, "ids.npy"), garner.Of(ids(n, 0, int64(rows)), n)))
	job.ShardBytes = 1 << 20
	return job
}

// hasResult holds that the folder of a job has the bytes that the library gathers.
func hasResult(t *testing.T, job Job) {
	t.Helper()
	wantSpec, want, err := gathered(t, job)
	if err != nil {
		t.Fatal(err)
	}
	if spec, got := folder(t, job.Out); spec.String() != wantSpec.String() || !bytes.Equal(got, want) {
		t.Errorf("%s has %s of %d bytes, want %s of %d, and the same", job.Out, spec, len(got), wantSpec, len(want))
	}
}

// gathered is the result of a job as the library gathers it.
func gathered(t *testing.T, job Job) (garner.Spec, []byte, error) {
	t.Helper()
	o, err := job.line().Open(t.Context())
	if err != nil {
		return garner.Spec{}, nil, err
	}
	defer o.Close()
	indices := o.Indices
	if !garner.TakesIndices(o.Op) {
		indices = nil
	}
	var out bytes.Buffer
	err = source.Gather(t.Context(), o.Op, o.Data, indices, &out, source.Options{Further: o.Further})
	return garner.SpecOf(o.Plan.DType, o.Plan.Out...), out.Bytes(), err
}

// folder reads the result of a job from its folder, which has nothing else.
func folder(t *testing.T, out string) (garner.Spec, []byte) {
	t.Helper()
	m, err := shards.Read(out)
	if err != nil {
		t.Fatal(err)
	}
	want := []string{shards.SuccessName, shards.ManifestName}
	for _, s := range m.Shards {
		want = append(want, s.File)
		if err := s.Verify(t.Context(), out); err != nil {
			t.Error(err)
		}
	}
	slices.Sort(want)
	entries, err := os.ReadDir(out)
	if err != nil {
		t.Fatal(err)
	}
	var names []string
	for _, e := range entries {
		names = append(names, e.Name())
	}
	if slices.Sort(names); !slices.Equal(names, want) {
		var within []string
		_ = filepath.WalkDir(workFolder(out), func(path string, _ fs.DirEntry, _ error) error {
			within = append(within, path)
			return nil
		})
		t.Errorf("%s has %v, want %v; the work folder has %v", out, names, want, within)
	}
	x, closeIt, err := files.Tensor(t.Context(), out, files.Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer closeIt()
	x, err = x.Clone()
	if err != nil {
		t.Fatal(err)
	}
	b, err := x.Bytes()
	if err != nil {
		t.Fatal(err)
	}
	return garner.SpecOf(x.DType(), x.Shape()...), b
}

// TestRun holds that a job's shards, read as one array, are the bytes that garner gathers.
func TestRun(t *testing.T) {
	dir := t.TempDir()
	at := func(name string) string { return filepath.Join(dir, name) }
	n := rowsOfTest
	npy := save(t, at("table.npy"), garner.F32, 40_000, 16)
	safetensors := save(t, at("table.safetensors"), garner.BF16, 40_000, 16)
	cube := save(t, at("cube.npy"), garner.U16, 50, 400, 30)
	halves := save(t, at("halves.safetensors"), garner.F16, 30_000, 32)
	for i := range 3 {
		save(t, at(fmt.Sprintf("part-%d.npy", i)), garner.I32, 9_000, 8)
	}
	nibbles := save(t, at("nibbles.raw"), garner.U4, 5_001, 7)
	raw := at("blocks.raw")
	blocks := make([]byte, 3_000*36) // Q4_0 rows of 64 elements
	for i := range blocks {
		blocks[i] = byte(i * 7 % 61)
	}
	if err := os.WriteFile(raw, blocks, 0o666); err != nil {
		t.Fatal(err)
	}
	codes := save(t, at("codes.npy"), garner.U8, 20_000, 32)
	scales := save(t, at("scales.npy"), garner.F32, 20_000, 2)
	zeros := save(t, at("zeros.npy"), garner.U8, 20_000, 1)
	i64 := func(name string, values []int64, shape ...int) Operand {
		return Operand{Text: keep(t, at(name), garner.Of(values, shape...))}
	}
	file := func(path string) Operand { return Operand{Text: path} }

	plain := i64("plain.npy", ids(n, 0, 40_000), n)
	negative := i64("negative.npy", ids(n, -40_000, 40_000), n/2, 2)
	outside := i64("outside.npy", ids(n, -50_000, 60_000), n)
	jobs := map[string]Description{
		"onnx.Gather-13":            {Operator: "onnx.Gather-13", Data: file(npy), Indices: negative},
		"openvino.Gather-8":         {Operator: "openvino.Gather-8", Attributes: Attributes{"axis": int64(0)}, Data: file(safetensors), Indices: outside},
		"tensorflow.GatherNd":       {Operator: "tensorflow.GatherNd", Data: file(cube), Indices: i64("pairs.npy", ids(n*2/10, 0, 50), n/10, 2)},
		"onnx.GatherND-13":          {Operator: "onnx.GatherND-13", Attributes: Attributes{"batch_dims": int64(1)}, Data: file(cube), Indices: i64("batched.npy", ids(50*n/100*2, 0, 30), 50, n/100, 2)},
		"onnx.GatherElements-13":    {Operator: "onnx.GatherElements-13", Attributes: Attributes{"axis": int64(1)}, Data: file(npy), Indices: i64("elements.npy", ids(40_000*5, -16, 16), 40_000, 5)},
		"numpy.take":                {Operator: "numpy.take", Attributes: Attributes{"axis": int64(1), "mode": "wrap"}, Data: file(cube), Indices: i64("columns.npy", ids(500, -1000, 1000), 500)},
		"torch.index_select":        {Operator: "torch.index_select", Attributes: Attributes{"dim": int64(0)}, Data: file(at("part-*.npy")), Indices: i64("parts.npy", ids(n, 0, 27_000), n)},
		"torch.embedding_bag":       {Operator: "torch.embedding_bag", Attributes: Attributes{"mode": "mean"}, Data: file(halves), Indices: i64("terms.npy", ids(n, 0, 30_000), n), Further: map[string]Operand{"offsets": i64("offsets.npy", offsets(n, 10_000), 10_000)}},
		"gguf.get_rows":             {Operator: "gguf.get_rows", Attributes: Attributes{"type": "Q4_0"}, Data: Operand{Text: raw, DType: "u8", Shape: garner.Shape{3_000, 36}}, Indices: i64("blocks.npy", ids(n/5, 0, 3_000), n/5)},
		"onnx.GatherBlockQuantized": {Operator: "com.microsoft.GatherBlockQuantized-1", Attributes: Attributes{"block_size": int64(32)}, Data: file(codes), Indices: i64("codes-at.npy", ids(n/2, 0, 20_000), n/2), Further: map[string]Operand{"scales": file(scales), "zero_points": file(zeros)}},
		"tflite.GATHER":             {Operator: "tflite.GATHER", Attributes: Attributes{"axis": int64(1)}, Data: Operand{Text: nibbles, DType: "u4", Shape: garner.Shape{5_001, 7}}, Indices: i64("packed.npy", ids(3, 0, 7), 3)},
		"stablehlo.gather": {Operator: "stablehlo.gather", Attributes: Attributes{
			"offset_dims": []int64{1, 2}, "collapsed_slice_dims": []int64{}, "start_index_map": []int64{0, 1}, "index_vector_dim": int64(1), "slice_sizes": []int64{3, 4},
		}, Data: file(npy), Indices: i64("windows.npy", ids(n/10*2, 0, 12), n/10, 2)},
		"jax.numpy.take":      {Operator: "jax.numpy.take", Attributes: Attributes{"axis": int64(0), "mode": "fill"}, Data: Operand{Text: npy, To: "f16"}, Indices: outside},
		"literals and a fill": {Operator: "garner.Gather", Outside: "fill=7", Data: Operand{Text: "[[1, 2], [3, 4]]"}, Indices: Operand{Text: "[0, 1, 5, -3]"}},
		"nothing":             {Operator: "onnx.Gather-13", Data: file(npy), Indices: i64("none.npy", nil, 0)},
		"a scalar":            {Operator: "onnx.Gather-13", Data: Operand{Text: "[1, 2, 3]"}, Indices: Operand{Text: "2"}},
		"webnn.gather":        {Operator: "webnn.gather", Data: file(npy), Indices: plain},
	}
	for name, gather := range jobs {
		t.Run(name, func(t *testing.T) {
			job := Job{Description: gather, Out: filepath.Join(t.TempDir(), "rows"), ShardBytes: 1 << 20}
			if err := Run(t.Context(), job, Runner{}); err != nil {
				t.Fatal(err)
			}
			hasResult(t, job)
		})
	}
}

// offsets returns where n bags of terms begin.
func offsets(terms, n int) []int64 {
	all := ids(n, 0, int64(terms))
	all[0] = 0
	slices.Sort(all)
	return all
}

// TestRefused holds that a job of bad indices ends with the error of garner's gather, for
// any number of workers, and leaves nothing.
func TestRefused(t *testing.T) {
	dir := t.TempDir()
	table := save(t, filepath.Join(dir, "table.npy"), garner.F32, 1000, 4)
	bad := ids(5000, 0, 1000)
	bad[3111], bad[3112], bad[4999] = 1000, -1001, 5000
	job := jobOn(t, table, keep(t, filepath.Join(dir, "ids.npy"), garner.Of(bad, 50, 100)))
	_, _, want := gathered(t, job)
	for _, workers := range []int{1, 2, 7} {
		err := Run(t.Context(), job, Runner{Workers: workers})
		var is *garner.IndexError
		if !errors.As(err, &is) || err.Error() != want.Error() || is.Position[0] != 31 {
			t.Errorf("%d workers: %v, want %v", workers, err, want)
		}
		if _, err := os.Stat(job.Out); !errors.Is(err, os.ErrNotExist) {
			t.Errorf("%d workers: something is left: %v", workers, err)
		}
	}
}

// TestTooManyShards holds that a result of more shards than a manifest has is refused before
// anything is written.
func TestTooManyShards(t *testing.T) {
	dir := t.TempDir()
	at, err := garner.New(garner.I8, shards.MaxShards+1)
	if err != nil {
		t.Fatal(err)
	}
	job := jobOn(t, save(t, filepath.Join(dir, "row.npy"), garner.U8, 1, 1<<20), keep(t, filepath.Join(dir, "at.npy"), at))
	job.ShardBytes = 1 << 20
	if _, err := Start(t.Context(), job, Runner{}); !errors.Is(err, garner.ErrShape) {
		t.Errorf("%d shards: %v", shards.MaxShards+1, err)
	}
	if _, err := os.Stat(job.Out); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("something is left: %v", err)
	}
}

// TestKept holds that a job which is run again keeps the shards that are whole, and makes
// those that are missing, damaged or without a record.
func TestKept(t *testing.T) {
	job := jobOfRows(t, garner.F32, 1000, 256, 8000)
	of, err := prepare(t.Context(), job, 1)
	if err != nil {
		t.Fatal(err)
	}
	if of.Shards != 8 {
		t.Fatalf("%d shards", of.Shards)
	}
	o, err := of.open(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	defer o.Close()
	for shard := range of.Shards - 1 { // as a driver leaves them that is killed before the end
		parts, err := o.wanted(t.Context(), shard)
		if err != nil {
			t.Fatal(err)
		}
		var pieces []wire.Piece
		for _, p := range parts {
			piece := wire.Piece{Unit: p.unit, Size: p.rows.Size, Check: p.rows.Check(), Data: make([]byte, p.bytes())}
			if err := o.Data.Fetch(t.Context(), source.Rows{At: p.rows.At, Size: p.rows.Size, Dst: piece.Data}); err != nil {
				t.Fatal(err)
			}
			pieces = append(pieces, piece)
		}
		if _, err := o.write(t.Context(), shard, pieces); err != nil {
			t.Fatal(err)
		}
	}
	path := func(shard int64) string { return filepath.Join(job.Out, of.file(shard)) }
	damaged, err := os.ReadFile(path(0))
	if err != nil {
		t.Fatal(err)
	}
	damaged[len(damaged)-1] ^= 1
	for _, err := range []error{
		os.WriteFile(path(0), damaged, 0o666),
		os.Truncate(path(1), 100),
		os.Remove(path(2)),
		os.Remove(o.record(3)),
		os.WriteFile(filepath.Join(job.Out, ".garner-0123abcd.tmp"), []byte("of a writer that was killed"), 0o666),
	} {
		if err != nil {
			t.Fatal(err)
		}
	}
	r, err := Start(t.Context(), job, Runner{})
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	if err := r.Wait(t.Context(), nil); err != nil {
		t.Fatal(err)
	}
	c, err := r.Counts(t.Context())
	if err != nil || c.ShardsKept != 3 || c.ShardsWritten != 5 {
		t.Errorf("%d shards were kept and %d written, want 3 and 5; %v", c.ShardsKept, c.ShardsWritten, err)
	}
	hasResult(t, job)

	// Again, it is done; of other operands, it is refused.
	again, err := Start(t.Context(), job, Runner{})
	if err != nil || again.ID != "" {
		t.Errorf("a job that is done runs again: %v", err)
	}
	for what, change := range map[string]func(*Job){
		"indices": func(j *Job) { j.Indices.Text = "[1, 2]" },
		"shards":  func(j *Job) { j.Negative = "reject" },
	} {
		other := job
		change(&other)
		if _, err := Start(t.Context(), other, Runner{}); !errors.Is(err, files.ErrKept) {
			t.Errorf("other %s: %v", what, err)
		}
	}
	hasResult(t, job)
}

// TestProgressCounts holds what an engine counts against what a job has made.
func TestProgressCounts(t *testing.T) {
	job := jobOfRows(t, garner.F32, 5000, 16, 40_000)
	for _, again := range []bool{false, true} {
		r, err := Start(t.Context(), job, Runner{})
		if err != nil {
			t.Fatal(err)
		}
		defer r.Close()
		if err := r.Wait(t.Context(), nil); err != nil {
			t.Fatal(err)
		}
		c, err := r.Counts(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		if again { // the result is there
			if r.ID != "" || c != (Counts{}) {
				t.Errorf("a job that is done: %q, %+v", r.ID, c)
			}
			return
		}
		if c.RowsWanted == 0 || c.BytesWanted != c.RowsWanted*64 || c.RowPayload != c.BytesWanted {
			t.Errorf("%+v: the rows of 64 bytes that are wanted are those that are sent", c)
		}
		if r.Shards != 3 || c.ShardsWritten != r.Shards || c.ShardsKept != 0 || c.BytesMade != r.Bytes+3*128 {
			t.Errorf("%+v: %d shards of %d bytes, and 128 bytes of header in each", c, r.Shards, r.Bytes)
		}
	}
}

// TestFolder holds what becomes of a folder that a job finds, and of one that it leaves.
func TestFolder(t *testing.T) {
	dir := t.TempDir()
	job := jobOfRows(t, garner.F32, 1000, 256, 3000)
	job.Out = filepath.Join(dir, "größe 1")
	holds := func(what string) {
		t.Helper()
		if err := Run(t.Context(), job, Runner{}); err != nil {
			t.Errorf("%s: %v", what, err)
			return
		}
		hasResult(t, job)
	}
	holds("new")
	do := func(errs ...error) {
		t.Helper()
		if err := errors.Join(errs...); err != nil {
			t.Fatal(err)
		}
	}
	in := func(name string) string { return filepath.Join(job.Out, name) }
	do(os.Remove(in("part-00002-of-00003.npy")))
	holds("a shard that was removed from a result")
	do(os.Truncate(in("part-00001-of-00003.npy"), 1000))
	holds("a shard of a result that was cut short")
	do(os.Remove(in(shards.SuccessName)))
	holds("killed before the end of finish")
	do(os.Remove(in(shards.SuccessName)), os.Remove(in("part-00003-of-00003.npy")))
	other := job
	other.ShardBytes = 2 << 20
	if _, err := Start(t.Context(), other, Runner{}); !errors.Is(err, files.ErrKept) {
		t.Errorf("shards of another size: %v", err)
	}
	holds("after a job that was refused")

	// Two drivers of different jobs in one folder.
	fresh := job
	fresh.Out = filepath.Join(dir, "fresh")
	first, err := prepare(t.Context(), fresh, 1)
	if err != nil {
		t.Fatal(err)
	}
	fresh.Negative = "reject"
	second := *first
	second.Manifest = &shards.Manifest{DType: garner.U8}
	if id, err := second.identity(); err != nil || second.claim(id) == nil {
		t.Errorf("a second job claims the folder: %v", err)
	}
	if _, err := Start(t.Context(), fresh, Runner{}); !errors.Is(err, files.ErrKept) {
		t.Errorf("a second job begins: %v", err)
	}

	// A folder, and a link to one, that the user has made stay when an index is refused.
	job.Indices.Text = "[0, 1000]"
	own, link := filepath.Join(dir, "own"), filepath.Join(dir, "link")
	do(os.Mkdir(own, 0o777), os.Symlink(own, link))
	for _, job.Out = range []string{own, link} {
		if err := Run(t.Context(), job, Runner{}); !errors.Is(err, garner.ErrIndex) {
			t.Errorf("%s: %v", job.Out, err)
		}
		if entries, err := os.ReadDir(job.Out); err != nil || len(entries) > 0 {
			t.Errorf("%s has %v, %v", job.Out, entries, err)
		}
	}
}

// TestUnknownIdentity holds that a result whose operands cannot be told from others is never
// taken for that of another run, and that conversions hide no change.
func TestUnknownIdentity(t *testing.T) {
	dir := t.TempDir()
	job := Job{Out: filepath.Join(dir, "rows")}
	job.Operator, job.Indices.Text = "onnx.Gather-13", "[1, 2]"
	job.Data = Operand{Text: filepath.Join(dir, "table.npz"), To: "f16"}
	keep(t, job.Data.Text, garner.Of([]float32{0, 1, 2}, 3))
	if err := Run(t.Context(), job, Runner{}); err != nil {
		t.Fatal(err)
	}
	keep(t, job.Data.Text, garner.Of([]float32{0, 51, 52}, 3))
	if err := Run(t.Context(), job, Runner{}); !errors.Is(err, files.ErrKept) {
		t.Errorf("another table: %v", err)
	}
}

// TestLargeBags holds that bags have room for their operands, and that a job which no engine
// takes leaves nothing.
func TestLargeBags(t *testing.T) {
	dir := t.TempDir()
	n, bags := 9_000_000, 900_000
	at := make([]int64, n)
	for i := range at {
		at[i] = int64(i % 1000)
	}
	ends := make([]int64, bags)
	for i := range ends {
		ends[i] = int64(i * (n / bags))
	}
	job := jobOn(t, save(t, filepath.Join(dir, "table.npy"), garner.F32, 1000, 2), keep(t, filepath.Join(dir, "at.npy"), garner.Of(at, n)))
	job.Operator, job.Attributes = "torch.embedding_bag", Attributes{"mode": "sum"}
	job.Further = map[string]Operand{"offsets": {Text: keep(t, filepath.Join(dir, "ends.npy"), garner.Of(ends, bags))}}
	ctx, cancel := context.WithTimeout(t.Context(), 300*time.Millisecond)
	defer cancel()
	if _, err := Start(ctx, job, Runner{Name: FlinkRunner, Endpoint: "127.0.0.1:1"}); err == nil {
		t.Error("an engine that is not there takes the job")
	}
	if _, err := os.Stat(job.Out); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("something is left: %v", err)
	}
	if err := Run(t.Context(), job, Runner{}); err != nil {
		t.Fatal(err)
	}
	hasResult(t, job)
}

// TestOpenEnds holds that a context which ends while operands are opened is an error.
func TestOpenEnds(t *testing.T) {
	dir := t.TempDir()
	job := Job{Out: filepath.Join(dir, "sums")}
	job.Operator, job.Attributes = "torch.embedding_bag", Attributes{"mode": "sum"}
	job.Data.Text = "[[1, 2], [3, 4]]"
	job.Indices.Text = keep(t, filepath.Join(dir, "at.npy"), garner.Of([]int64{0, 1}, 2))
	job.Further = map[string]Operand{"offsets": {Text: "[0]"}}
	ctx, cancel := context.WithCancelCause(t.Context())
	cause := errors.New("the test ends it")
	cancel(cause)
	if err := Run(ctx, job, Runner{}); !errors.Is(err, cause) && !errors.Is(err, context.Canceled) {
		t.Errorf("%v", err)
	}
	if _, err := os.Stat(job.Out); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("something is left: %v", err)
	}
}

// TestOtherRows holds that rows which a shard did not ask for are never put in place.
func TestOtherRows(t *testing.T) {
	job := Job{Out: filepath.Join(t.TempDir(), "rows")}
	job.Operator, job.Data.Text, job.Indices.Text = "onnx.Gather-13", "[[1, 2], [3, 4], [5, 6]]", "[2, 0]"
	of, err := prepare(t.Context(), job, 1)
	if err != nil {
		t.Fatal(err)
	}
	o, err := of.open(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	defer o.Close()
	parts, err := o.wanted(t.Context(), 0)
	if err != nil || len(parts) != 1 || len(parts[0].rows.At) != 2 {
		t.Fatalf("%+v, %v", parts, err)
	}
	size := parts[0].rows.Size
	good := wire.Piece{Size: size, Check: parts[0].rows.Check(), Data: make([]byte, 2*size)}
	for what, change := range map[string]func(p *wire.Piece){
		"another check":   func(p *wire.Piece) { p.Check++ },
		"another unit":    func(p *wire.Piece) { p.Unit.Number = 1 },
		"another operand": func(p *wire.Piece) { p.Unit.Operand = 5 },
		"another size":    func(p *wire.Piece) { p.Size = 1 },
		"rows behind":     func(p *wire.Piece) { p.First = 1 },
	} {
		p := good
		change(&p)
		if _, err := o.write(t.Context(), 0, []wire.Piece{p}); err == nil || !strings.Contains(err.Error(), "shard 0 asked for other rows") {
			t.Errorf("%s: %v", what, err)
		}
	}
	if _, err := o.write(t.Context(), 0, []wire.Piece{{Size: size, Check: good.Check, Data: good.Data[:size]}}); err == nil || !strings.Contains(err.Error(), "did not arrive") {
		t.Errorf("one row of two: %v", err)
	}
	f := fetchFn{stage{o: o}}
	b := wire.Request{Derived: true, Rows: wire.Rows{Size: size}}.Append(nil, 0)
	if q, err := f.request(t.Context(), wire.Unit{}, b, o.Tables[0].Bytes); err != nil || !slices.Equal(q.Rows.At, parts[0].rows.At) {
		t.Errorf("derived rows are %v, %v", q.Rows.At, err)
	}
	b = wire.Request{Derived: true, Rows: wire.Rows{Size: size + 1}}.Append(nil, 0)
	if _, err := f.request(t.Context(), wire.Unit{}, b, o.Tables[0].Bytes); err == nil || !strings.Contains(err.Error(), "asked for other rows") {
		t.Errorf("derived rows that are not wanted: %v", err)
	}
}

// TestShortRows holds that rows of a byte take a time in proportion to their number.
func TestShortRows(t *testing.T) {
	dir := t.TempDir()
	n := 4 << 20
	at := garner.Of(ids(n, 0, 8<<20), n)
	job := jobOn(t, save(t, filepath.Join(dir, "table.npy"), garner.U8, 8<<20), keep(t, filepath.Join(dir, "at.npy"), at))
	begun := time.Now()
	if err := Run(t.Context(), job, Runner{}); err != nil {
		t.Fatal(err)
	}
	t.Logf("%d rows of a byte: %v", n, time.Since(begun))
	hasResult(t, job)
}

// TestEnds holds that a Run whose context ends returns its cause, and the same job goes on.
func TestEnds(t *testing.T) {
	job := jobOfRows(t, garner.F32, 20_000, 256, 50_000)
	for _, after := range []time.Duration{50 * time.Millisecond, 200 * time.Millisecond} {
		ctx, cancel := context.WithTimeout(t.Context(), after)
		if err := Run(ctx, job, Runner{}); err != nil && !errors.Is(err, context.DeadlineExceeded) {
			t.Errorf("after %v: %v", after, err)
		}
		cancel()
	}
	if err := Run(t.Context(), job, Runner{}); err != nil {
		t.Fatal(err)
	}
	hasResult(t, job)
}

// textOf opens the result of a job as one who goes on with it.
func textOf(ctx context.Context, out string) (string, error) {
	rows, closeRows, err := files.Tensor(ctx, out, files.Options{})
	if err != nil {
		return "", err
	}
	defer closeRows()
	return rows.Text(), nil
}

func init() { register.Function2x2(textOf) }

// build runs a job in a pipeline of one's own, in which its result must have some text; none
// where that is nil.
func build(t *testing.T, job Job, text ...any) {
	t.Helper()
	initialised()
	p, s := beam.NewPipelineWithRoot()
	done, err := Build(t.Context(), s, job)
	if err != nil {
		t.Fatal(err)
	}
	if texts := beam.ParDo(s, textOf, done); text == nil {
		passert.Empty(s, texts)
	} else {
		passert.Equals(s, texts, text...)
	}
	if _, err := prism.Execute(t.Context(), p); err != nil {
		t.Fatal(err)
	}
}

// TestBuild holds that a job of a pipeline of one's own runs, that what depends on it finds its
// result, and that one whose result is there already does so too.
func TestBuild(t *testing.T) {
	job := jobOf(filepath.Join(t.TempDir(), "rows"))
	for range 2 {
		build(t, job, "[3]")
		if err := Outcome(job.Out); err != nil {
			t.Fatal(err)
		}
		folder(t, job.Out)
	}
	for what, change := range map[string]func(*Job){
		"no folder":         func(j *Job) { j.Out = "" },
		"a relative folder": func(j *Job) { j.Out = "rows" },
		"a relative path":   func(j *Job) { j.Data.Text = "table.npy" },
	} {
		other := job
		change(&other)
		if _, err := Build(t.Context(), beam.Scope{}, other); !errors.Is(err, garner.ErrAttribute) {
			t.Errorf("%s: %v", what, err)
		}
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	job.Data.Text, job.Out = save(t, filepath.Join(t.TempDir(), "table.npy"), garner.F32, 3), filepath.Join(t.TempDir(), "rows")
	if _, err := Build(ctx, beam.Scope{}, job); !errors.Is(err, context.Canceled) {
		t.Errorf("a context that has ended: %v", err)
	}
}

// TestOutcome holds that a refusal is told as often as it is asked for, and gives way to the
// next job.
func TestOutcome(t *testing.T) {
	job := jobOf(filepath.Join(t.TempDir(), "rows"))
	bad := job
	bad.Indices.Text = "[2, 3]"
	for range 2 {
		build(t, bad)
		for range 2 {
			if err := Outcome(job.Out); !errors.Is(err, garner.ErrIndex) {
				t.Errorf("%v", err)
			}
		}
	}
	build(t, job, "[3]")
	if err := Outcome(job.Out); err != nil {
		t.Error(err)
	}
	folder(t, job.Out)

	// A folder that the refused job has made is the next one's to take away.
	job.Out += "2"
	bad.Out = job.Out
	build(t, bad)
	bad.Indices.Text = "[7]"
	if err := Run(t.Context(), bad, Runner{}); !errors.Is(err, garner.ErrIndex) {
		t.Error(err)
	}
	if _, err := os.Stat(job.Out); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("something is left: %v", err)
	}
	if err := Outcome(job.Out); err == nil || errors.Is(err, garner.ErrIndex) {
		t.Errorf("a folder that is not there: %v", err)
	}
}

// TestLateWorker holds that a worker that is late, of a driver whose job has ended, leaves nothing
// beside the result, and makes no folder where the job is gone.
func TestLateWorker(t *testing.T) {
	job := jobOfRows(t, garner.F32, 100, 16, 500)
	job.Out = filepath.Join(t.TempDir(), "rows")
	late, err := prepare(t.Context(), job, 1)
	if err != nil {
		t.Fatal(err)
	}
	paths := []string{late.record(0), refusedFile(late.Out, ""), filepath.Join(postsFolder(late.Out), "a")}
	for _, path := range paths {
		if err := note(late.Out, path, []byte("late")); err != nil {
			t.Errorf("in the middle of the job: %v", err)
		}
		if text, err := os.ReadFile(path); err != nil || string(text) != "late" {
			t.Errorf("%q, %v", text, err)
		}
	}
	if err := Run(t.Context(), job, Runner{}); err != nil {
		t.Fatal(err)
	}
	for _, path := range paths {
		if err := note(late.Out, path, []byte("late")); err != nil {
			t.Errorf("behind the job: %v", err)
		}
	}
	hasResult(t, job)
	if err := os.RemoveAll(job.Out); err != nil {
		t.Fatal(err)
	}
	for _, path := range paths {
		if err := note(late.Out, path, []byte("late")); !errors.Is(err, fs.ErrNotExist) || !strings.Contains(err.Error(), "run it again") {
			t.Errorf("without a folder: %v", err)
		}
	}
	if _, err := os.Stat(job.Out); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("a worker has made the folder: %v", err)
	}
}

// TestTwoDrivers holds that all drivers of one job end well, at the same time and where one
// fails when another has made the result.
func TestTwoDrivers(t *testing.T) {
	dir := t.TempDir()
	job := jobOfRows(t, garner.F32, 1000, 256, 8000)
	for turn := range 4 {
		job.Out = filepath.Join(dir, fmt.Sprint("rows-", turn))
		drivers := make(chan error)
		for range 3 {
			go func() { drivers <- Run(t.Context(), job, Runner{}) }()
			time.Sleep(time.Duration(turn*20) * time.Millisecond)
		}
		for range 3 {
			if err := <-drivers; err != nil {
				t.Error(err)
			}
		}
		hasResult(t, job)
	}

	// All tell the index that is refused, and the last takes the folder away.
	bad := job
	bad.Indices.Text = keep(t, filepath.Join(dir, "bad.npy"), garner.Of(append(ids(8000, 0, 1000), 1000), 8001))
	for turn := range 6 {
		bad.Out = filepath.Join(dir, fmt.Sprint("refused-", turn))
		drivers := make(chan error)
		for range 3 {
			go func() { drivers <- Run(t.Context(), bad, Runner{}) }()
			time.Sleep(time.Duration(turn*10) * time.Millisecond)
		}
		for range 3 {
			if err := <-drivers; !errors.Is(err, garner.ErrIndex) {
				t.Errorf("turn %d: %v", turn, err)
			}
		}
		if _, err := os.Stat(bad.Out); !errors.Is(err, os.ErrNotExist) {
			t.Errorf("turn %d: something is left: %v", turn, err)
		}
	}

	// One that ends early takes nothing from another.
	for turn := range 6 {
		job.Out = filepath.Join(dir, fmt.Sprint("cancelled-", turn))
		ctx, cancel := context.WithTimeout(t.Context(), time.Duration(20*(turn+1))*time.Millisecond)
		first := make(chan error)
		go func() { first <- Run(ctx, job, Runner{}) }()
		time.Sleep(time.Duration(turn*10) * time.Millisecond)
		if err := Run(t.Context(), job, Runner{}); err != nil {
			t.Errorf("turn %d: %v", turn, err)
		}
		if err := <-first; err != nil && !errors.Is(err, context.DeadlineExceeded) {
			t.Errorf("turn %d: %v", turn, err)
		}
		cancel()
		hasResult(t, job)
	}

	job.Out = filepath.Join(dir, "rows")
	late, err := prepare(t.Context(), job, 1)
	if err != nil {
		t.Fatal(err)
	}
	if err := Run(t.Context(), job, Runner{}); err != nil {
		t.Fatal(err)
	}
	if err := os.Chtimes(job.Indices.Text, time.Time{}, time.Now().Add(time.Hour)); err != nil {
		t.Fatal(err)
	}
	write(t, late.record(0), "of a driver that is late")
	r, err := late.start(t.Context(), Runner{}) // its workers refuse other indices
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	failed := false
	if err := r.Wait(t.Context(), func(text string) { failed = failed || strings.Contains(text, "FAILED") }); err != nil || !failed {
		t.Errorf("%v, failed: %v", err, failed)
	}
	hasResult(t, job)
}
