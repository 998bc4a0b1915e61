package main

import (
	"github.com/garner-go/garner/internal/terminal"
)

// writing is the Progress of a file: its first call makes the meter.
func (p *program) writing(meter **terminal.Meter) func(done, total int64) {
	return func(done, total int64) {
		if *meter == nil {
			*meter = p.Meter("writing", total)
		}
		(*meter).Set(done)
	}
}
