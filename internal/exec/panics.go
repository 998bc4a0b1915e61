package exec

import (
	"runtime"
	"sync"
)

// Panics brings a panic of goroutines, such as one of user code that they call, to
// the goroutine that waits for them, where the caller can recover it. The zero
// Panics is ready.
type Panics struct {
	mu     sync.Mutex
	any    bool
	first  any // what the first of them panicked with; nil for a runtime.Goexit
	exited bool
}

// Run calls f, and reports whether it returned. Else it keeps the panic, or the
// runtime.Goexit, for Rethrow.
func (p *Panics) Run(f func()) (returned bool) {
	defer func() {
		if returned {
			return
		}
		v := recover()
		p.mu.Lock()
		defer p.mu.Unlock()
		if !p.any {
			p.any, p.first, p.exited = true, v, v == nil
		}
	}()
	f()
	return true
}

// forget drops what Run kept, where the caller panics itself.
func (p *Panics) forget() {
	p.mu.Lock()
	p.any, p.first, p.exited = false, nil, false
	p.mu.Unlock()
}

// Rethrow panics with the value of the first panic that Run kept, if there is one, or
// ends the goroutine as a Goexit would. No Run may be in progress.
func (p *Panics) Rethrow() {
	p.mu.Lock()
	any, first, exited := p.any, p.first, p.exited
	p.any, p.first, p.exited = false, nil, false
	p.mu.Unlock()
	switch {
	case exited:
		runtime.Goexit()
	case any:
		panic(first)
	}
}
