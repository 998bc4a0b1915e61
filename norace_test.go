//go:build !race

package garner_test

const raceEnabled = false
