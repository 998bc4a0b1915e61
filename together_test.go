package garner_test

import (
	"bytes"
	"context"
	"encoding/binary"
	"fmt"
	"math/rand/v2"
	"testing"

	"github.com/garner-go/garner"
	"github.com/garner-go/garner/strict"
)

// TestTogether gathers from a far table by indices that are first equal, then
// close to each other, then anywhere, so that neighbouring blocks move in
// different ways; and into results with non-temporal stores that do not begin
// on a cache line.
func TestTogether(t *testing.T) {
	r := rand.New(rand.NewPCG(9, 9))
	const n = 40_000
	for _, size := range []int{1, 2, 3, 4, 8, 12, 16, 20, 32, 36, 60, 64, 68, 100, 128, 200, 300} {
		dim := 1<<20/size + 1
		table := make([]byte, dim*size)
		for i := range table {
			table[i] = byte(r.Uint32())
		}
		var values []int64
		for len(values) < n {
			count, base, wide := 1+r.IntN(9000), r.IntN(dim-8), 1
			switch r.IntN(3) {
			case 0:
				wide = 8
			case 1:
				base, wide = 0, dim
			}
			for range count {
				values = append(values, int64(base+r.IntN(wide)))
			}
		}
		values = values[:n]
		want := make([]byte, 0, n*size)
		for _, v := range values {
			want = append(want, table[int(v)*size:][:size]...)
		}
		data := garner.Of(table, dim, size)
		switch size {
		case 1:
			data = garner.Of(table, dim)
		case 2:
			data = garner.Of(typed(table, binary.LittleEndian.Uint16), dim)
		case 4:
			data = garner.Of(typed(table, binary.LittleEndian.Uint32), dim)
		case 8:
			data = garner.Of(typed(table, binary.LittleEndian.Uint64), dim)
		}
		narrow := make([]int32, n)
		for i, v := range values {
			narrow[i] = int32(v)
			if i%2 == 0 {
				narrow[i] -= int32(dim)
			}
		}
		for _, indices := range []garner.Tensor{garner.Of(values, n), garner.Of(narrow, n)} {
			for _, threads := range []int{1, 2} {
				for _, past := range []int{1 << 16, 1 << 29} {
					t.Run(fmt.Sprint(size, indices.DType(), threads, past), func(t *testing.T) {
						op := garner.WithNegative(strict.Gather{}, garner.FromEnd)
						p, err := garner.Prepare(op, data.Spec(), indices.Spec(), garner.Threads(threads), garner.StreamBytes(past))
						if err != nil {
							t.Fatal(err)
						}
						room := bytes.Repeat([]byte{0xa5}, n*size+200)
						for _, at := range []int{0, 8, 56} {
							out, err := garner.FromBytes(data.DType(), room[at:at+n*size], p.Plan().Out...)
							if err != nil {
								t.Fatal(err)
							}
							if err := p.Run(context.Background(), data, indices, out); err != nil {
								t.Fatal(err)
							}
							if !bytes.Equal(room[at:at+n*size], want) {
								t.Errorf("at %d: differs", at)
							}
							if bytes.Count(room[:at], []byte{0xa5}) != at || bytes.Count(room[at+n*size:], []byte{0xa5}) != len(room)-at-n*size {
								t.Errorf("at %d: wrote beside the result", at)
							}
							copy(room[at:at+n*size], bytes.Repeat([]byte{0xa5}, n*size))
						}
					})
				}
			}
		}
	}
}

func typed[T any](b []byte, of func([]byte) T) []T {
	size := binary.Size(*new(T))
	s := make([]T, len(b)/size)
	for i := range s {
		s[i] = of(b[i*size:])
	}
	return s
}
