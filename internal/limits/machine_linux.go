package limits

import (
	"math"
	"os"
	"syscall"
)

// machine returns the machine's memory and swap space, in bytes.
func machine() int64 {
	var info syscall.Sysinfo_t
	if syscall.Sysinfo(&info) != nil {
		return math.MaxInt64
	}
	return int64(min((float64(info.Totalram)+float64(info.Totalswap))*float64(info.Unit), 1<<62))
}

func current() Bound { return least(machine(), os.DirFS("/"), os.Getpagesize()) }
