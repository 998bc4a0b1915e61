package garner_test

import (
	"fmt"
	"math/rand/v2"
	"testing"

	"github.com/garner-go/garner"
	"github.com/garner-go/garner/gguf"
	"github.com/garner-go/garner/internal/codec"
	"github.com/garner-go/garner/onnx"
)

// BenchmarkRepeats makes 64 MiB of rows of which each is wanted eight times: decoded for
// each index, or decoded once and copied from there. To find the repeats is not timed.
func BenchmarkRepeats(b *testing.B) {
	const wanted = 8
	r := rand.New(rand.NewPCG(1, 2))
	for _, name := range []string{"Q4_K", "Q6_K", "Q8_0"} {
		kind, _ := codec.GGUF(name)
		for _, columns := range []int{256, 4096} {
			width := columns / kind.Elements * kind.Bytes
			rows := (64 << 20) / width
			raw := make([]byte, rows*width)
			for i := range raw {
				raw[i] = byte(i % 60) // every scale is a number
			}
			table := garner.Of(raw, rows, width)
			n := (64 << 20) / (columns * 4)
			distinct, places := make([]int64, n/wanted), make([]int64, n)
			for i := range distinct {
				distinct[i] = r.Int64N(int64(rows))
			}
			ids := make([]int64, n)
			for i := range ids {
				places[i] = r.Int64N(int64(n / wanted))
				ids[i] = distinct[places[i]]
			}
			made := func(rows int) garner.Tensor {
				t, err := garner.New(garner.F32, rows, columns)
				if err != nil {
					b.Fatal(err)
				}
				return t
			}
			decode := func(b *testing.B, ids []int64, out garner.Tensor) func() {
				return call(b, gguf.GetRows{Type: name}, table, garner.Of(ids, len(ids)), out)
			}
			b.Run(fmt.Sprintf("%s/columns=%d/each", name, columns), func(b *testing.B) {
				run := decode(b, ids, made(n))
				b.SetBytes(64 << 20)
				for b.Loop() {
					run()
				}
			})
			b.Run(fmt.Sprintf("%s/columns=%d/once", name, columns), func(b *testing.B) {
				once := made(len(distinct))
				first := decode(b, distinct, once)
				then := call(b, onnx.Gather13{}, once, garner.Of(places, n), made(n))
				b.SetBytes(64 << 20)
				for b.Loop() {
					first()
					then()
				}
			})
		}
	}
}

// call returns a function that runs an operator on one thread.
func call(b *testing.B, op garner.Op, data, indices, out garner.Tensor) func() {
	p, err := garner.Prepare(op, data.Spec(), indices.Spec(), garner.Threads(1))
	if err != nil {
		b.Fatal(err)
	}
	return func() {
		if err := p.Run(b.Context(), data, indices, out); err != nil {
			b.Fatal(err)
		}
	}
}
