package main

import (
	"testing"

	"github.com/garner-go/garner/beam"
)

// TestCurrent tells the stage that the terminal shows.
func TestCurrent(t *testing.T) {
	for _, tt := range []struct {
		states [4]string
		want   int
	}{
		{[4]string{beam.Waiting, beam.Waiting, beam.Waiting, beam.Waiting}, 0},
		{[4]string{beam.Done, beam.Working, beam.Waiting, beam.Waiting}, 1},
		{[4]string{beam.Done, beam.Done, beam.Done, beam.Working}, 3},
		{[4]string{beam.Done, beam.Done, beam.Done, beam.Done}, 3},
	} {
		var all []beam.Stage
		for i, state := range tt.states {
			all = append(all, beam.Stage{State: state, Done: int64(i)})
		}
		if number, stage := current(all); number != tt.want || stage.Done != int64(tt.want) {
			t.Errorf("%v: stage %d, %+v; want %d", tt.states, number, stage, tt.want)
		}
	}
}
