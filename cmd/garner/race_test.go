//go:build race

package main

// raceEnabled reports that the race detector's memory counts beside the program's own.
const raceEnabled = true
