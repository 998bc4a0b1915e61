//go:build race

package garner_test

// raceEnabled is true under the race detector, which drops items of a
// sync.Pool: a free list then allocates now and then.
const raceEnabled = true
