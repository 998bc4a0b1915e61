package main

import (
	"bytes"
	"os"
	"path/filepath"
	"testing"

	"github.com/garner-go/garner"
	"github.com/garner-go/garner/format/npy"
	"github.com/garner-go/garner/internal/codec"
	"github.com/garner-go/garner/internal/mapped"
)

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
		look, closeRows, err := storedRows(kind, columns, path)
		if err != nil {
			t.Fatalf("%s: %v", kind, err)
		}
		got := make([]float32, 2*columns)
		if err := look(t.Context(), []int64{3, 7}, got); err != nil {
			t.Fatalf("%s: %v", kind, err)
		}
		if string(mapped.BytesOf(got[columns:])) != string(mapped.BytesOf(want)) {
			t.Errorf("%s: row 7 is another", kind)
		}
		if err := look(t.Context(), []int64{3, rows}, got); err == nil {
			t.Errorf("%s: row %d is accepted", kind, rows)
		}
		if err := closeRows(); err != nil {
			t.Error(err)
		}
		ids := filepath.Join(t.TempDir(), "ids.npy")
		var file bytes.Buffer
		if err := npy.Write(&file, garner.Of([]int64{1, 2, 7}, 3)); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(ids, file.Bytes(), 0o600); err != nil {
			t.Fatal(err)
		}
		if l, err := lookups(kind, columns, 0.01, path, ids); err != nil || l.Reused.Least <= 0 || l.Fresh.Calls < 3 || l.CRC32 == 0 {
			t.Errorf("%s: %+v, %v", kind, l, err)
		}
	}
	for _, kind := range []string{"", "Q1_X", "rows7", "int4:", "int4:31"} {
		if _, _, err := storedRows(kind, columns, path); err == nil {
			t.Errorf("%q is accepted", kind)
		}
	}
}
