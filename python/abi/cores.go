package main

import (
	"time"

	"github.com/garner-go/garner/internal/exec"
)

// A thread of C that wakes others waits some 50 µs for them, where a goroutine waits for less.
func init() { exec.Tuned.AloneTime = int(time.Millisecond) }
