//go:build race

package source

// raceEnabled is true under the race detector, which drops items of a sync.Pool and
// adds memory.
const raceEnabled = true
