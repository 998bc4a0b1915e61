package main

import (
	"bytes"
	"compress/gzip"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// TestMost holds the limit of the page: 3 s over a line of 10 Mbit/s are 3,750,000 bytes,
// of which the other files take some.
func TestMost(t *testing.T) {
	if most != 3_500_000 {
		t.Errorf("garner.wasm may have %d bytes", most)
	}
}

// TestSizes holds that the size which is compared with the limit is that by gzip.
func TestSizes(t *testing.T) {
	text := []byte(strings.Repeat("some text ", 10000))
	path := filepath.Join(t.TempDir(), "a")
	if err := os.WriteFile(path, text, 0o666); err != nil {
		t.Fatal(err)
	}
	var want bytes.Buffer
	z := gzip.NewWriter(&want)
	if _, err := z.Write(text); err != nil {
		t.Fatal(err)
	}
	if err := z.Close(); err != nil {
		t.Fatal(err)
	}
	if size, sent, err := sizes(path); err != nil || size != int64(len(text)) || sent != int64(want.Len()) {
		t.Errorf("%d bytes, %d by gzip, %v; want %d, %d", size, sent, err, len(text), want.Len())
	}
	if _, _, err := sizes(path + ".none"); err == nil {
		t.Error("a file that is not there has a size")
	}
}

// TestFits holds that more than the limit is an error.
func TestFits(t *testing.T) {
	if err := fits("a.wasm", most); err != nil {
		t.Error(err)
	}
	if err := fits("a.wasm", most+1); err == nil || err.Error() != "a.wasm has 3500001 bytes by gzip; there may be 3500000" {
		t.Error(err)
	}
}
