package bundle

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"hash/crc32"

	"github.com/golang/snappy"
)

// The index is a table of LevelDB: blocks of entries in the order of their keys, each block
// with its kind and its checksum behind it; a block that says where the others are; and a
// footer that says where that one is.
//
// Spec: https://github.com/google/leveldb/blob/main/doc/table_format.md
const (
	magic        = 0xdb4775248b80fb57
	footerSize   = 48
	trailerSize  = 5 // of a block: its kind, and its checksum
	uncompressed = 0
	compressed   = 1 // by Snappy

	// mostSnappy is how many bytes one byte of a compressed block may become: a copy of 64
	// takes 3.
	mostSnappy = 22

	// mostKeys is how many bytes the keys may have for each byte of the index, which has
	// only what differs from the key before, and freeKeys beside that.
	mostKeys = 64
	freeKeys = 1 << 20
)

// entry is a key and its value, both copies.
type entry struct{ key, value []byte }

var errCut = errors.New("the index is cut short or corrupt; get it again")

// table reads the entries of an index in their order.
func table(b []byte) ([]entry, error) {
	if len(b) < footerSize {
		return nil, fmt.Errorf("the index has %d bytes, less than the %d of its footer: it is cut short or no index of a checkpoint; get it again", len(b), footerSize)
	}
	footer := b[len(b)-footerSize:]
	if m := binary.LittleEndian.Uint64(footer[footerSize-8:]); m != magic {
		return nil, fmt.Errorf("the index ends in %#x, not in %#x as that of a checkpoint: it is cut short or of another kind; get it again", m, uint64(magic))
	}
	rest := footer[:footerSize-8]
	var handles [4]uint64 // of the meta index, which is not read, and of the index of blocks
	for i := range handles {
		v, n := binary.Uvarint(rest)
		if n <= 0 {
			return nil, errCut
		}
		handles[i], rest = v, rest[n:]
	}
	r := &tableReader{file: b[:len(b)-footerSize], keys: freeKeys + mostKeys*int64(len(b))}
	var list []entry
	err := r.block(handles[2], handles[3], func(_, handle []byte) error {
		offset, n := binary.Uvarint(handle)
		if n <= 0 {
			return errCut
		}
		size, m := binary.Uvarint(handle[n:])
		if m <= 0 {
			return errCut
		}
		// Blocks follow each other. So none is read twice.
		if offset < r.after {
			return fmt.Errorf("its blocks overlap at byte %d: the index is corrupt; get it again", offset)
		}
		err := r.block(offset, size, func(key, value []byte) error {
			if n := len(list); n > 0 && bytes.Compare(list[n-1].key, key) >= 0 {
				return fmt.Errorf("its key %.200q follows %.200q, and keys are sorted, each once: the index is corrupt; get it again", key, list[n-1].key)
			}
			list = append(list, entry{key, bytes.Clone(value)})
			return nil
		})
		r.after = offset + size + trailerSize
		return err
	})
	return list, err
}

// A tableReader reads the blocks of a table.
type tableReader struct {
	file  []byte // without the footer
	after uint64 // the end of the block before
	keys  int64  // bytes that keys may yet take
}

// block calls do with each entry of a block; the key is a copy.
func (r *tableReader) block(offset, size uint64, do func(key, value []byte) error) error {
	have := uint64(len(r.file))
	if offset > have || size > have-offset || trailerSize > have-offset-size {
		return fmt.Errorf("a block of %d bytes at byte %d is beyond the index, which has %d: it is cut short or corrupt; get it again", size, offset, have+footerSize)
	}
	b := r.file[offset : offset+size]
	trailer := r.file[offset+size:][:trailerSize]
	if sum, want := Sum(b, trailer[:1]), binary.LittleEndian.Uint32(trailer[1:]); sum != want {
		return fmt.Errorf("the block of %d bytes at byte %d of the index has the checksum %#x, not %#x: it is corrupt; get it again", size, offset, sum, want)
	}
	switch trailer[0] {
	case uncompressed:
	case compressed:
		n, err := snappy.DecodedLen(b)
		if err != nil || int64(n) > mostSnappy*int64(len(b)) {
			return fmt.Errorf("the block at byte %d of the index says of itself that its %d bytes become %d: it is corrupt; get it again", offset, len(b), n)
		}
		if b, err = snappy.Decode(nil, b); err != nil {
			return fmt.Errorf("the block at byte %d of the index is no text of Snappy (%v): it is corrupt; get it again", offset, err)
		}
	default:
		return fmt.Errorf("the block at byte %d of the index is compressed in way %d; there are none (0) and Snappy (1)", offset, trailer[0])
	}
	if len(b) < 4 {
		return errCut
	}
	restarts := uint64(binary.LittleEndian.Uint32(b[len(b)-4:]))
	if restarts > uint64(len(b)-4)/4 {
		return errCut
	}
	b = b[:uint64(len(b)-4)-4*restarts]
	var last []byte
	for len(b) > 0 {
		var numbers [3]uint64 // bytes that the key shares with the one before, its others, and those of the value
		for i := range numbers {
			v, n := binary.Uvarint(b)
			if n <= 0 {
				return errCut
			}
			numbers[i], b = v, b[n:]
		}
		shared, own, value := numbers[0], numbers[1], numbers[2]
		if shared > uint64(len(last)) || own > uint64(len(b)) || value > uint64(len(b))-own {
			return errCut
		}
		key := make([]byte, 0, shared+own)
		key = append(append(key, last[:shared]...), b[:own]...)
		if r.keys -= int64(len(key)); r.keys < 0 {
			return fmt.Errorf("its keys have more than %d bytes for each byte of the index, as no real one's: it is corrupt; get it again", mostKeys)
		}
		if err := do(key, b[own:own+value]); err != nil {
			return err
		}
		last, b = key, b[own+value:]
	}
	return nil
}

var castagnoli = crc32.MakeTable(crc32.Castagnoli)

// Sum is the checksum of bytes as TensorFlow and LevelDB store it: CRC-32C, rotated and
// moved, as files that contain checksums have checksums themselves.
func Sum(parts ...[]byte) uint32 {
	var s Summer
	for _, b := range parts {
		s.Add(b)
	}
	return s.Sum()
}

// A Summer makes the Sum of bytes that come in parts.
type Summer struct{ sum uint32 }

// Add adds the next bytes.
func (s *Summer) Add(b []byte) { s.sum = crc32.Update(s.sum, castagnoli, b) }

// Sum is the checksum of what was added.
func (s *Summer) Sum() uint32 { return (s.sum>>15 | s.sum<<17) + 0xa282ead8 }
