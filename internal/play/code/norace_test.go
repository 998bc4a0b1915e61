//go:build !race

package code_test

const raceDetector = false
