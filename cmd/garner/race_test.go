//go:build race

package main

// raced reports that the race detector's memory counts beside the program's own.
const raced = true
