//go:build garnerpanics

package main

import "os"

// A library with this tag, which no wheel has, panics in the export that GARNER_PANIC names.
func init() {
	name := os.Getenv("GARNER_PANIC")
	hook = func(export string) {
		if export == name {
			panic("provoked in " + export)
		}
	}
}
