package npz

import (
	"archive/zip"
	"bytes"
	"compress/flate"
	"hash"
	"hash/crc32"
	"io"
)

// A summed inflates a stream and computes the checksum of the result.
//
// It uses the standard library. github.com/klauspost/compress v1.20.3 inflates
// 16 MiB of random floats at 281 MB/s instead of 181, and of token ids at 415
// instead of 298 (Go 1.26, AMD EPYC, one core), but adds a download of 40 MB to the
// installation of garner.
type summed struct {
	from io.ReadCloser
	sum  hash.Hash32
	size uint64
	err  error // of the compressed data
	tell func(done uint64)
}

func newSummed(data []byte) *summed {
	return &summed{from: flate.NewReader(bytes.NewReader(data)), sum: crc32.NewIEEE()}
}

func (s *summed) Read(b []byte) (int, error) {
	n, err := s.from.Read(b)
	s.sum.Write(b[:n])
	s.size += uint64(n)
	if n > 0 && s.tell != nil {
		s.tell(s.size)
	}
	if err != nil && err != io.EOF {
		s.err = err
	}
	return n, err
}

func (s *summed) check(m *zip.File) error { return checkSum(m, s.sum.Sum32(), s.size) }

// told returns the error of compressed data that is truncated or corrupt, which a
// reader reports as an early end of the array.
func (s *summed) told(err error) error {
	if s.err == nil {
		return err
	}
	return formatError("its compressed bytes are spoilt (%s, after %d bytes); copy the file again, or save the arrays again", reason(s.err), s.size)
}

func (s *summed) close() { s.from.Close() }
