//go:build race

package source

// raceEnabled: the race detector makes a sync.Pool forget.
const raceEnabled = true
