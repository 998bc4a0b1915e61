package jobs

import (
	"context"
	"errors"
	"net"
	"net/http"
	"net/url"
	"strings"
	"testing"
	"time"

	jobpb "github.com/apache/beam/sdks/v2/go/pkg/beam/model/jobmanagement_v1"
	"google.golang.org/grpc"
)

// TestDial holds how long Dial waits: not at all for a port where nobody listens, and longer
// than for a connection for a service that has it and is slow to talk.
func TestDial(t *testing.T) {
	was := reach
	reach = 200 * time.Millisecond
	t.Cleanup(func() { reach = was })
	listen := func() net.Listener {
		l, err := net.Listen("tcp", "localhost:0")
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { l.Close() })
		return l
	}
	t.Run("refused", func(t *testing.T) {
		l := listen()
		l.Close()
		at, begun := l.Addr().String(), time.Now()
		_, err := Dial(t.Context(), at)
		if err == nil || !strings.Contains(err.Error(), "no job service of Beam answers at "+at) || !strings.Contains(err.Error(), "refused") || !strings.HasSuffix(err.Error(), "; start one, or give its HOST:PORT") {
			t.Errorf("%v", err)
		}
		if took := time.Since(begun); took > 5*time.Second {
			t.Errorf("it took %v", took)
		}
	})
	t.Run("slow", func(t *testing.T) {
		l := listen()
		server := grpc.NewServer()
		jobpb.RegisterJobServiceServer(server, jobpb.UnimplementedJobServiceServer{})
		t.Cleanup(server.Stop)
		time.AfterFunc(5*reach, func() { server.Serve(l) })
		begun := time.Now()
		c, err := Dial(t.Context(), l.Addr().String())
		if err != nil {
			t.Fatal(err)
		}
		defer c.Close()
		if took := time.Since(begun); took < 4*reach {
			t.Errorf("the service talks after %v, and was there after %v", 5*reach, took)
		}
	})
	t.Run("interrupted", func(t *testing.T) {
		ctx, cancel := context.WithCancelCause(t.Context())
		cause := errors.New("enough")
		time.AfterFunc(reach, func() { cancel(cause) })
		if _, err := Dial(ctx, listen().Addr().String()); !errors.Is(err, cause) {
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
