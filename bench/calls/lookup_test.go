package main

import (
	"bytes"
	"os"
	"path/filepath"
	"slices"
	"testing"

	"github.com/garner-go/garner"
	"github.com/garner-go/garner/format/npy"
	"github.com/garner-go/garner/internal/codec"
	"github.com/garner-go/garner/internal/mapped"
)

// idsFile writes indices as a .npy file.
func idsFile(t *testing.T, ids []int64) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "ids.npy")
	var file bytes.Buffer
	if err := npy.Write(&file, garner.Of(ids, len(ids))); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, file.Bytes(), 0o600); err != nil {
		t.Fatal(err)
	}
	return path
}

// TestStoredRows holds that every kind is looked up as package codec decodes it, and that
// others are refused.
func TestStoredRows(t *testing.T) {
	const rows, columns = 50, 256
	path := filepath.Join(t.TempDir(), "codes")
	raw := make([]byte, rows*columns*2)
	for i := range raw {
		raw[i] = byte(i*i/7) & 0x3f // no NaN
	}
	for _, kind := range []string{"Q4_K", "Q6_K", "Q8_0", "MXFP4", "rows8", "rows4", "int4:32"} {
		want := make([]float32, columns)
		size := columns/2 + columns/32*4
		if kind == "int4:32" {
			b := codec.Blocks{Codes: codec.U4, Scales: codec.F32, Zero: 8, Out: codec.F32, Axes: []codec.Axis{{Extent: columns, Block: 32, Scale: 1}}}
			b.Decode(mapped.BytesOf(want), codec.Part{Bytes: raw[7*columns/2:]}, codec.Part{Bytes: raw[rows*columns/2+7*4*columns/32:]}, codec.Part{}, 0, columns)
		} else {
			c, ok := codec.GGUF(kind)
			if !ok {
				c, _ = codec.Rows(int(kind[4]-'0'), columns)
			}
			size = columns / c.Elements * c.Bytes
			c.Decode(mapped.BytesOf(want), raw[7*size:][:size])
		}
		if err := os.WriteFile(path, raw[:rows*size], 0o600); err != nil {
			t.Fatal(err)
		}
		s := stored{kind: kind, path: path, columns: columns}
		result := filepath.Join(t.TempDir(), "result")
		l, err := lookups(s, 0.01, idsFile(t, []int64{3, 7}), result)
		if err != nil || l.Reused.Least <= 0 || l.Fresh.Calls < 3 || l.CRC32 == 0 {
			t.Fatalf("%s: %+v, %v", kind, l, err)
		}
		got, err := os.ReadFile(result)
		if err != nil {
			t.Fatal(err)
		}
		if len(got) != 2*4*columns || string(got[4*columns:]) != string(mapped.BytesOf(want)) {
			t.Errorf("%s: row 7 is another", kind)
		}
		if kind == "int4:32" {
			continue // a row outside is zeros
		}
		if _, err := lookups(s, 0.01, idsFile(t, []int64{3, rows}), ""); err == nil {
			t.Errorf("%s: row %d is accepted", kind, rows)
		}
	}
	for _, kind := range []string{"", "Q1_X", "rows7", "int4:", "int4:31", "bags:", "bags:rows7"} {
		if _, err := (stored{kind: kind, path: path, columns: columns, tables: 1, length: 1}).ask([]int64{0}); err == nil {
			t.Errorf("%q is accepted", kind)
		}
	}
}

// TestBagsOf holds that each table's bags are the sums of its rows.
func TestBagsOf(t *testing.T) {
	const columns, rows = 4, 3
	path := filepath.Join(t.TempDir(), "tables")
	for kind, raw := range map[string][]byte{
		"f32":   nil,
		"rows8": bytes.Repeat([]byte{1, 2, 3, 4, 0, 0, 0, 0x40, 0, 0, 0x80, 0x3f}, 2*rows), // 2·code + 1
		"rows4": bytes.Repeat([]byte{0x21, 0x43, 0, 0x40, 0, 0x3c}, 2*rows),
	} {
		if kind == "f32" {
			var all []float32
			for range 2 * rows {
				all = append(all, 3, 5, 7, 9)
			}
			raw = mapped.BytesOf(all)
		}
		if err := os.WriteFile(path, raw, 0o600); err != nil {
			t.Fatal(err)
		}
		s := stored{kind: "bags:" + kind, path: path, columns: columns, tables: 2, length: 2}
		a, err := s.ask([]int64{0, 1, 2, 2, 1, 1, 0, 2})
		if err != nil {
			t.Fatalf("%s: %v", kind, err)
		}
		got := make([]float32, a.floats)
		if err := a.run(t.Context(), got); err != nil {
			t.Fatalf("%s: %v", kind, err)
		}
		want := []float32{6, 10, 14, 18, 6, 10, 14, 18, 6, 10, 14, 18, 6, 10, 14, 18}
		if !slices.Equal(got, want) {
			t.Errorf("%s: %v, want %v", kind, got, want)
		}
		if _, err := s.ask([]int64{0, 1, 2}); err == nil {
			t.Errorf("%s: three indices are two bags of two in each of two tables", kind)
		}
	}
}
