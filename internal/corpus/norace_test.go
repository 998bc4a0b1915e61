//go:build !race

package corpus

const raceDetector = false
