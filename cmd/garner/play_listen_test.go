package main

import (
	"bytes"
	"net"
	"net/netip"
	"strings"
	"testing"
)

// TestListenOn listens on a port that is free, and on one that is in use with and without
// leave to take another.
func TestListenOn(t *testing.T) {
	if address, err := loopback(usual); err != nil || address.Port() < 1024 || address.Port() >= 32768 {
		t.Errorf("the usual address %s: %v; want a port that systems give to no connection", usual, err)
	}
	held, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	address := netip.MustParseAddrPort(held.Addr().String())
	var messages bytes.Buffer
	if l, err := listenOn(t.Context(), address, false, &messages); err == nil || messages.Len() > 0 {
		t.Errorf("in use, on the command line: %v, %v, %q", l, err, &messages)
	}
	l, err := listenOn(t.Context(), address, true, &messages)
	if err != nil {
		t.Fatal(err)
	}
	l.Close()
	if l.Addr().String() == address.String() || !strings.Contains(messages.String(), address.String()+", the usual address: ") {
		t.Errorf("in use: it listens on %s and says %q", l.Addr(), &messages)
	}
	held.Close()
	messages.Reset()
	if l, err = listenOn(t.Context(), address, true, &messages); err != nil {
		t.Fatal(err)
	}
	l.Close()
	if l.Addr().String() != address.String() || messages.Len() > 0 {
		t.Errorf("free: it listens on %s, not %s, and says %q", l.Addr(), address, &messages)
	}
}
