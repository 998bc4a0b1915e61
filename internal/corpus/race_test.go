//go:build race

package corpus

// raceDetector says that the race detector is on, under which results of gigabytes
// take minutes.
const raceDetector = true
