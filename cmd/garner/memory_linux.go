package main

import (
	"math"
	"os"
	"strconv"
	"strings"
	"syscall"
)

// memory returns about the memory that the process can ever have, in bytes.
func memory() float64 {
	limit := float64(math.MaxInt)
	var info syscall.Sysinfo_t
	if syscall.Sysinfo(&info) == nil {
		limit = min(limit, (float64(info.Totalram)+float64(info.Totalswap))*float64(info.Unit))
	}
	// The limit of a container.
	if text, err := os.ReadFile("/sys/fs/cgroup/memory.max"); err == nil {
		if n, err := strconv.ParseFloat(strings.TrimSpace(string(text)), 64); err == nil {
			limit = min(limit, n)
		}
	}
	return limit
}
