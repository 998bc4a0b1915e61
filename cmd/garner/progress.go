package main

import (
	"github.com/garner-go/garner"
	"github.com/garner-go/garner/internal/run"
	"github.com/garner-go/garner/internal/terminal"
)

// meter shows on standard error, where that is a terminal, how far work of so
// many bytes is; 0 where that is not known. The caller stops it, and report does.
func (p *program) meter(what string, bytes int64) *terminal.Meter {
	m := terminal.NewMeter(p.stderr, what, bytes)
	p.shown.Store(m)
	return m
}

// volume returns how many bytes elements take in memory, strings without their
// text.
func volume(d garner.DType, elements int64) int64 {
	return int64(run.Memory(garner.SpecOf(d, int(elements))))
}
