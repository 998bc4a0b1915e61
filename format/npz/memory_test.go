package npz_test

import (
	"archive/zip"
	"bytes"
	"errors"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/garner-go/garner/format/layout"
	"github.com/garner-go/garner/format/npy"
	"github.com/garner-go/garner/format/npz"
)

// array is a .npy of zeros.
func array(descr string, n, width int) []byte {
	header := fmt.Sprintf("{'descr': '%s', 'fortran_order': False, 'shape': (%d,), }\n", descr, n)
	b := append([]byte("\x93NUMPY\x01\x00"), byte(len(header)), byte(len(header)>>8))
	return append(append(b, header...), make([]byte, n*width)...)
}

// TestMemory holds what arrays take that are read into memory, in a .npy, in a stream
// and in a .npz, against what they may take.
func TestMemory(t *testing.T) {
	dir := t.TempDir()
	for _, tt := range []struct {
		descr             string
		n, width          int
		file, stream, zip int64 // bytes; 0: it is not read into memory
	}{
		{"<i8", 1000, 8, 0, 8000, 8000},
		{">i8", 1000, 8, 8000, 8000, 8000},
		{"|S10", 1000, 10, 26000, 36000, 36000},
		{"<U3", 1000, 12, 28000, 40000, 40000},
		{"<i8", 4 << 20, 8, 0, 36 << 20, 36 << 20},
	} {
		b := array(tt.descr, tt.n, tt.width)
		file := filepath.Join(dir, "x.npy")
		if err := os.WriteFile(file, b, 0o666); err != nil {
			t.Fatal(err)
		}
		var zipped bytes.Buffer
		w := zip.NewWriter(&zipped)
		member, err := w.CreateHeader(&zip.FileHeader{Name: "x.npy", Method: zip.Deflate})
		if err == nil {
			_, err = member.Write(b)
		}
		if err = errors.Join(err, w.Close()); err != nil {
			t.Fatal(err)
		}
		archive := filepath.Join(dir, "x.npz")
		if err := os.WriteFile(archive, zipped.Bytes(), 0o666); err != nil {
			t.Fatal(err)
		}
		for name, way := range map[string]struct {
			least int64
			open  func(memory int64) error
		}{
			"file": {tt.file, func(memory int64) error {
				f, err := npy.Open(file, npy.Options{Memory: memory})
				if err != nil {
					return err
				}
				return f.Close()
			}},
			"stream": {tt.stream, func(memory int64) error {
				_, err := npy.OpenReader(bytes.NewReader(b), npy.Options{Memory: memory})
				return err
			}},
			"archive": {tt.zip, func(memory int64) error {
				f, err := npz.Open(archive, npz.Options{Memory: memory})
				if err != nil {
					return err
				}
				defer f.Close()
				_, err = f.Copy("x")
				return err
			}},
		} {
			if err := way.open(max(way.least, 1)); err != nil {
				t.Errorf("%s of %s[%d] with %d bytes: %v", name, tt.descr, tt.n, way.least, err)
			}
			if way.least == 0 {
				continue
			}
			err := way.open(way.least - 1)
			if !errors.Is(err, layout.ErrTooLarge) || !strings.Contains(err.Error(), fmt.Sprintf("the array %s[%d] takes ", tt.descr, tt.n)) {
				t.Errorf("%s of %s[%d] with %d bytes: %v", name, tt.descr, tt.n, way.least-1, err)
			}
		}
	}
	if math.MaxInt == math.MaxInt32 {
		return
	}
	// The header of a stream is enough, which is then not read further.
	header := bytes.Replace(array("<i8", 1, 0), []byte("(1,)"), []byte("(1099511627776,)"), 1)
	header[8] += 12
	if _, err := npy.OpenReader(bytes.NewReader(header), npy.Options{Memory: 1 << 30}); !errors.Is(err, layout.ErrTooLarge) {
		t.Error(err)
	}
}
