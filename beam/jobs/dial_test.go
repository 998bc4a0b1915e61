package jobs

import (
	"context"
	"errors"
	"net"
	"net/http"
	"net/url"
	"strings"
	"sync"
	"testing"
	"time"

	jobpb "github.com/apache/beam/sdks/v2/go/pkg/beam/model/jobmanagement_v1"
	"google.golang.org/grpc"
)

// patient sets how long Dial waits, until the test ends: for a host, and for a service that is there.
func patient(t *testing.T, host, service time.Duration) {
	wasHost, wasService := reach, answer
	reach, answer = host, service
	t.Cleanup(func() { reach, answer = wasHost, wasService })
}

// A late listener takes connections at once, and says the first word on each after a while.
type late struct {
	net.Listener
	while time.Duration
}

func (l late) Accept() (net.Conn, error) {
	conn, err := l.Listener.Accept()
	return &lateConn{Conn: conn, while: l.while}, err
}

type lateConn struct {
	net.Conn
	while time.Duration
	begun sync.Once
}

func (c *lateConn) Write(b []byte) (int, error) {
	c.begun.Do(func() { time.Sleep(c.while) })
	return c.Conn.Write(b)
}

// TestDial holds what Dial waits for: not for a port where nobody listens, and longer
// than for a connection for a service that has it and is slow to talk.
func TestDial(t *testing.T) {
	listen := func(t *testing.T) net.Listener {
		l, err := net.Listen("tcp", "localhost:0")
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { l.Close() })
		return l
	}
	t.Run("refused", func(t *testing.T) {
		patient(t, time.Hour, time.Hour) // a Dial that tries again ends by the context, with another error
		ctx, cancel := context.WithTimeout(t.Context(), 2*time.Minute)
		defer cancel()
		l := listen(t)
		l.Close()
		at := l.Addr().String()
		_, err := Dial(ctx, at)
		if err == nil || !strings.Contains(err.Error(), "no job service of Beam answers at "+at) || !strings.Contains(err.Error(), "refused") || !strings.HasSuffix(err.Error(), "; start one, or give its HOST:PORT") {
			t.Errorf("%v", err)
		}
	})
	t.Run("slow", func(t *testing.T) {
		// The service begins to talk when twice the time for a connection has passed: a Dial that gives both the
		// same time fails in every turn. A slow machine may need more for the connection alone, so the time grows.
		var err error
		for host := 200 * time.Millisecond; host < 10*time.Second; host *= 2 {
			patient(t, host, time.Hour)
			server, l := grpc.NewServer(), listen(t)
			jobpb.RegisterJobServiceServer(server, jobpb.UnimplementedJobServiceServer{})
			go server.Serve(late{l, 2 * host})
			var c *Client
			if c, err = Dial(t.Context(), l.Addr().String()); err == nil {
				err = c.Close()
			}
			server.Stop()
			if err == nil {
				return
			}
			t.Logf("%v for a connection: %v", host, err)
		}
		t.Error(err)
	})
	t.Run("interrupted", func(t *testing.T) {
		patient(t, time.Hour, time.Hour)
		ctx, cancel := context.WithCancelCause(t.Context())
		cause := errors.New("enough")
		l := listen(t)
		go func() {
			for range 2 { // the probe, and gRPC, which waits for the service to talk
				if conn, err := l.Accept(); err == nil {
					defer conn.Close()
				}
			}
			cancel(cause)
			<-t.Context().Done()
		}()
		if _, err := Dial(ctx, l.Addr().String()); !errors.Is(err, cause) {
			t.Errorf("%v, want %v", err, cause)
		}
	})
	t.Run("proxy", func(t *testing.T) {
		was := proxyOf
		t.Cleanup(func() { proxyOf = was })
		proxyOf = func(r *http.Request) (*url.URL, error) {
			if r.URL.Scheme != "https" || r.URL.Host != "localhost:1" {
				t.Errorf("asked for the proxy of %s", r.URL)
			}
			return &url.URL{Scheme: "http", Host: "proxy.example:3128"}, nil
		}
		if err := probe(t.Context(), "localhost:1"); err != nil {
			t.Errorf("a connection past the proxy: %v", err)
		}
	})
}
