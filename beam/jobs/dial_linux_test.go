package jobs

import (
	"context"
	"fmt"
	"net"
	"os"
	"strings"
	"syscall"
	"testing"
	"time"
)

// TestSilent connects to a port that does not answer: one that listens, and whose queue of
// connections is full.
func TestSilent(t *testing.T) {
	patient(t, 200*time.Millisecond, time.Hour) // a Dial that waits for gRPC ends by the context, with another error
	fd, err := syscall.Socket(syscall.AF_INET, syscall.SOCK_STREAM|syscall.SOCK_CLOEXEC, 0)
	if err == nil {
		t.Cleanup(func() { syscall.Close(fd) })
		err = syscall.Bind(fd, &syscall.SockaddrInet4{Addr: [4]byte{127, 0, 0, 1}})
	}
	if err == nil {
		err = syscall.Listen(fd, 0)
	}
	if err != nil {
		t.Fatal(err)
	}
	name, err := syscall.Getsockname(fd)
	if err != nil {
		t.Fatal(err)
	}
	at := fmt.Sprintf("127.0.0.1:%d", name.(*syscall.SockaddrInet4).Port)
	for full := false; !full; {
		conn, err := net.DialTimeout("tcp", at, reach)
		if full = os.IsTimeout(err); err == nil {
			t.Cleanup(func() { conn.Close() })
		} else if !full {
			t.Fatal(err)
		}
	}
	ctx, cancel := context.WithTimeout(t.Context(), 2*time.Minute)
	defer cancel()
	if _, err := Dial(ctx, at); err == nil || !strings.Contains(err.Error(), at) || !strings.Contains(err.Error(), "timeout") {
		t.Errorf("%v", err)
	}
}
