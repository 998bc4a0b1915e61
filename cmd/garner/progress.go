package main

import (
	"github.com/garner-go/garner"
	"github.com/garner-go/garner/internal/run"
	"github.com/garner-go/garner/internal/terminal"
)

// meter shows the progress of work of so many bytes, 0 where that is unknown, on
// standard error where that is a terminal. The caller stops it; report does too.
func (p *program) meter(what string, bytes int64) *terminal.Meter {
	m := terminal.NewMeter(p.stderr, what, bytes)
	p.shown.Store(m)
	return m
}

// writing is the Progress of a file: its first call makes the meter.
func (p *program) writing(meter **terminal.Meter) func(done, total int64) {
	return func(done, total int64) {
		if *meter == nil {
			*meter = p.meter("writing", total)
		}
		(*meter).Set(done)
	}
}

// volume returns how many bytes elements take in memory, strings without their
// text.
func volume(d garner.DType, elements int64) int64 {
	return int64(run.Memory(garner.SpecOf(d, int(elements))))
}
