//go:build race

package code_test

// raceDetector says that the race detector is on, which sees nothing of other processes.
const raceDetector = true
