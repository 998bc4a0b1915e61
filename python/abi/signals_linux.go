//go:build linux && (amd64 || arm64)

package main

/*
#include <stdint.h>
extern int garner_signals_begin(void);
extern int garner_signals_keep(void);
extern uintptr_t garner_signals_slot(int k);
*/
import "C"

import (
	"fmt"
	"os"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"unsafe"
)

// guards says that a page fault in a mapped file becomes an error whatever the process does
// with signals: guard puts Go's handlers back.
const guards = true

// signalsMutex is held while handlers change.
var signalsMutex sync.Mutex

// ours is where the handlers of signals_linux.c begin, which it puts in front of Go's.
var ours = func() (found []uintptr) {
	C.garner_signals_begin()
	found = append(found, handlerOf(syscall.SIGBUS)) // the first of them, or Go's
	for k := 0; ; k++ {
		f := uintptr(C.garner_signals_slot(C.int(k)))
		if f == 0 {
			return found
		}
		found = append(found, f)
	}
}()

// seen is the handler of ours that was found last.
var seen atomic.Uintptr

// handlerOf asks the system for the handler of a signal.
func handlerOf(s syscall.Signal) uintptr {
	var action [8]uintptr // the kernel's struct sigaction, whose first word is the handler
	syscall.RawSyscall6(syscall.SYS_RT_SIGACTION, uintptr(s), 0, uintptr(unsafe.Pointer(&action)), 8, 0, 0)
	return action[0]
}

// guard lets page faults of Go code reach Go where another, such as Python's faulthandler, has
// taken the signal since the last call. It costs a system call, of some 100 ns.
func guard() error {
	h := handlerOf(syscall.SIGBUS)
	if h == seen.Load() {
		return nil
	}
	if slices.Contains(ours, h) {
		seen.Store(h)
		return nil
	}
	signalsMutex.Lock()
	defer signalsMutex.Unlock()
	if C.garner_signals_keep() != 0 {
		return argumentf("the process has had more than %d handlers of SIGBUS or SIGSEGV, and the system lets garner handle no more", len(ours)-1)
	}
	return nil
}

// ofFiles reports whether any of these addresses lies in a mapped file; true where the system does not tell. It takes long.
func ofFiles(addresses ...unsafe.Pointer) bool {
	maps, err := os.ReadFile("/proc/self/maps")
	if err != nil {
		return true
	}
	for line := range strings.Lines(string(maps)) {
		var from, to uintptr
		var mode, offset, device string
		var inode uint64
		if n, _ := fmt.Sscanf(line, "%x-%x %s %s %s %d", &from, &to, &mode, &offset, &device, &inode); n < 6 {
			return true
		}
		for _, p := range addresses {
			if at := uintptr(p); inode != 0 && at >= from && at < to {
				return true
			}
		}
	}
	return false
}
