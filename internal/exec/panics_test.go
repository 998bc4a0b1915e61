package exec

import (
	"context"
	"runtime"
	"sync/atomic"
	"testing"

	"github.com/garner-go/garner/internal/kernel"
)

// helped is a context that panics, or ends the goroutine, on every goroutine but that
// of the caller.
type helped struct {
	context.Context
	looks atomic.Int64
	then  func()
}

func (h *helped) Err() error {
	if h.looks.Add(1) > 1 && !called() {
		h.then()
	}
	return nil
}

// called reports whether a function of this file's TestHelperPanics is on the stack.
func called() bool {
	var pcs [64]uintptr
	frames := runtime.CallersFrames(pcs[:runtime.Callers(0, pcs[:])])
	for {
		f, more := frames.Next()
		if f.Function == "github.com/garner-go/garner/internal/exec.runHelped" {
			return true
		}
		if !more {
			return false
		}
	}
}

//go:noinline
func runHelped(u *Runner, ctx context.Context, p *Program, data, indices, out *Memory) Outcome {
	return u.Run(ctx, p, data, indices, out)
}

// TestHelperPanics holds that a panic on a helper's goroutine is one of the caller of
// Run, and that the Runner serves afterwards.
func TestHelperPanics(t *testing.T) {
	defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(4))
	const n = 1 << 20
	nest := Nest{Bits: 64, Width: kernel.Width{Bits: 64}, Axes: []Axis{{Dim: n, Data: 1}}, Reach: 8 * n}
	nest.Walk([]Loop{{Extent: n, Index: 1, Out: 1}}, 1)
	p := NewProgram(nest, &Tuned, 4)
	data, indices, out := Memory{Buf: make([]byte, 8*n)}, Memory{Buf: make([]byte, 8*n)}, Memory{Buf: make([]byte, 8*n)}
	var u Runner
	panicked, exited := 0, 0
	for range 200 {
		var value any
		returned := false
		done := make(chan struct{})
		go func() { // a Goexit ends it
			defer close(done)
			defer func() { value = recover() }()
			ctx := &helped{Context: t.Context(), then: func() { panic("on purpose") }}
			if panicked > 0 {
				ctx.then = runtime.Goexit
			}
			runHelped(&u, ctx, p, &data, &indices, &out)
			returned = true
		}()
		<-done
		switch {
		case returned: // no helper came
		case value == "on purpose":
			panicked++
		case value == nil:
			exited++
		default:
			t.Fatalf("it panics with %v", value)
		}
		if panicked > 0 && exited > 0 {
			break
		}
	}
	if panicked == 0 || exited == 0 {
		t.Errorf("%d panics and %d exits came to the caller", panicked, exited)
	}
	if how := u.Run(t.Context(), p, &data, &indices, &out); how != Done {
		t.Errorf("the next run: outcome %d", how)
	}
}
