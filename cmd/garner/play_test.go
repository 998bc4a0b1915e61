package main

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	files "github.com/garner-go/garner/docs/play"
	"github.com/garner-go/garner/internal/cmdline"
	"github.com/garner-go/garner/internal/play"
)

// askedOf sends a request to the page that listens on 127.0.0.1:8080.
func askedOf(t *testing.T, r *http.Request) (*http.Response, string) {
	t.Helper()
	w := httptest.NewRecorder()
	newPage("127.0.0.1:8080").ServeHTTP(w, r)
	b, err := io.ReadAll(w.Result().Body)
	if err != nil {
		t.Fatal(err)
	}
	return w.Result(), string(b)
}

// request is a request as the page's own browser sends it.
func request(method, path, kind string, body io.Reader) *http.Request {
	r := httptest.NewRequest(method, path, body)
	r.Host = "127.0.0.1:8080"
	if kind != "" {
		r.Header.Set("Content-Type", kind)
		r.Header.Set("Origin", "http://127.0.0.1:8080")
		r.Header.Set("Sec-Fetch-Site", "same-origin")
	}
	return r
}

// TestPlayFiles holds that every file of the page is served with its type and with the
// policy, and that the page knows who answers it.
func TestPlayFiles(t *testing.T) {
	for path, kind := range map[string]string{
		"/": "text/html; charset=utf-8", "/index.html": "text/html; charset=utf-8", "/play.css": "text/css; charset=utf-8",
		"/play.js": "text/javascript; charset=utf-8", "/worker.js": "text/javascript; charset=utf-8", "/icon.svg": "image/svg+xml",
	} {
		for _, method := range []string{"GET", "HEAD"} {
			response, body := askedOf(t, request(method, path, "", nil))
			if response.StatusCode != http.StatusOK || response.Header.Get("Content-Type") != kind || (body == "") != (method == "HEAD") {
				t.Errorf("%s %s: %s, %s, %d bytes", method, path, response.Status, response.Header.Get("Content-Type"), len(body))
			}
			if response.Header.Get("Content-Security-Policy") != files.Policy || response.Header.Get("X-Content-Type-Options") != "nosniff" {
				t.Errorf("%s %s: headers %v", method, path, response.Header)
			}
		}
	}
	_, index := askedOf(t, request("GET", "/", "", nil))
	if strings.Count(index, files.AnsweredByProcess) != 1 || strings.Contains(index, files.AnsweredByWasm) {
		t.Error("index.html does not say that the process answers")
	}
	if own := strings.TrimSuffix(files.Policy, "; frame-ancestors 'none'"); own == files.Policy || !strings.Contains(index, `content="`+own+`"`) {
		t.Errorf("index.html has another policy than %s", own)
	}
	for _, unsafe := range []string{"unsafe-inline", "'unsafe-eval'", "*", "http:", "https:"} {
		if strings.Contains(files.Policy, unsafe) {
			t.Errorf("the policy allows %s", unsafe)
		}
	}
}

// TestPlayAsks asks as the page does.
func TestPlayAsks(t *testing.T) {
	response, body := askedOf(t, request("POST", "/ask", "application/json", strings.NewReader(`{"ask":"answers","call":{"data":"[1,2,3]","indices":"[0,-1,7]"}}`)))
	var answers play.Answers
	if err := json.Unmarshal([]byte(body), &answers); err != nil || response.StatusCode != http.StatusOK || len(answers.Groups) != 4 {
		t.Errorf("%s: %v, %s", response.Status, err, body)
	}
	if kind := response.Header.Get("Content-Type"); kind != "application/json" {
		t.Errorf("the answer is of type %s", kind)
	}
	b, err := os.ReadFile("../../testdata/models/bert.onnx")
	if err != nil {
		t.Fatal(err)
	}
	_, body = askedOf(t, request("POST", "/open?name=a%20b.onnx", "application/octet-stream", bytes.NewReader(b)))
	var file play.File
	if err := json.Unmarshal([]byte(body), &file); err != nil || len(file.Gathers) != 3 {
		t.Errorf("%v, %s", err, body)
	}
}

// TestPlayReadsNoFile names a file of this machine in every place that has a name.
func TestPlayReadsNoFile(t *testing.T) {
	secret := filepath.Join(t.TempDir(), "secret.npy")
	writeFile(t, secret, []byte("hush"))
	quoted, err := json.Marshal(secret)
	if err != nil {
		t.Fatal(err)
	}
	for _, r := range []*http.Request{
		request("POST", "/ask", "application/json", strings.NewReader(`{"ask":"answers","call":{"data":`+string(quoted)+`,"indices":"[0]"}}`)),
		request("POST", "/ask", "application/json", strings.NewReader(`{"ask":"answers","call":{"data":"[1]","indices":`+string(quoted)+`}}`)),
		request("POST", "/ask", "application/json", strings.NewReader(`{"ask":"answers","call":{"data":"[1]","indices":"[0]","operands":{"offsets":`+string(quoted)+`}}}`)),
		request("POST", "/open?name=secret.npy", "application/octet-stream", strings.NewReader("")),
		request("GET", "/../../etc/passwd", "", nil),
		request("GET", "/embed.go", "", nil),
	} {
		response, body := askedOf(t, r)
		if strings.Contains(body, "hush") || strings.Contains(body, "root:") || response.StatusCode == http.StatusOK && !strings.Contains(body, `"error":`) {
			t.Errorf("%s %s: %s, %s", r.Method, r.URL, response.Status, body)
		}
	}
}

// TestPlayRefuses holds what the page does not answer, and that each refusal says why.
func TestPlayRefuses(t *testing.T) {
	ask := func(change func(r *http.Request)) *http.Request {
		r := request("POST", "/ask", "application/json", strings.NewReader(`{"ask":"operators"}`))
		change(r)
		return r
	}
	page := func(change func(r *http.Request)) *http.Request {
		r := request("GET", "/", "", nil)
		change(r)
		return r
	}
	large := func(path, kind string, n int64) *http.Request {
		r := request("POST", path, kind, strings.NewReader("x"))
		r.ContentLength = n
		return r
	}
	for name, tt := range map[string]struct {
		request *http.Request
		status  int
		says    string
	}{
		"the page, for another host":       {page(func(r *http.Request) { r.Host = "rebound.example:8080" }), http.StatusForbidden, "answers to no other host"},
		"another port":                     {page(func(r *http.Request) { r.Host = "127.0.0.1:8081" }), http.StatusForbidden, "answers to no other host"},
		"no host":                          {page(func(r *http.Request) { r.Host = "" }), http.StatusForbidden, "answers to no other host"},
		"a question, for another host":     {ask(func(r *http.Request) { r.Host = "rebound.example:8080" }), http.StatusForbidden, "answers to no other host"},
		"a question of another site":       {ask(func(r *http.Request) { r.Header.Set("Origin", "https://other.example") }), http.StatusForbidden, "its own page alone"},
		"a question of a page without one": {ask(func(r *http.Request) { r.Header.Set("Origin", "null") }), http.StatusForbidden, "its own page alone"},
		"two origins":                      {ask(func(r *http.Request) { r.Header.Add("Origin", "http://127.0.0.1:8080") }), http.StatusForbidden, "its own page alone"},
		"an origin of another scheme":      {ask(func(r *http.Request) { r.Header.Set("Origin", "https://127.0.0.1:8080") }), http.StatusForbidden, "its own page alone"},
		"a question across sites":          {ask(func(r *http.Request) { r.Header.Set("Sec-Fetch-Site", "cross-site") }), http.StatusForbidden, "its own page alone"},
		"a question of the same site":      {ask(func(r *http.Request) { r.Header.Set("Sec-Fetch-Site", "same-site") }), http.StatusForbidden, "its own page alone"},
		"a form":                           {ask(func(r *http.Request) { r.Header.Set("Content-Type", "text/plain") }), http.StatusUnsupportedMediaType, "must be application/json"},
		"a question without a type":        {ask(func(r *http.Request) { r.Header.Del("Content-Type") }), http.StatusUnsupportedMediaType, "must be application/json"},
		"a file as JSON":                   {request("POST", "/open?name=a.npy", "application/json", strings.NewReader("x")), http.StatusUnsupportedMediaType, "must be application/octet-stream"},
		"a question by GET":                {request("GET", "/ask", "application/json", nil), http.StatusMethodNotAllowed, "by POST"},
		"a page by POST":                   {request("POST", "/play.js", "application/json", strings.NewReader("x")), http.StatusMethodNotAllowed, "by GET"},
		"no page":                          {request("GET", "/test/page_test.go", "", nil), http.StatusNotFound, "no such page"},
		"a question that is too long":      {large("/ask", "application/json", play.MostBytes+1), http.StatusRequestEntityTooLarge, "there may be 4194304"},
		"a file that is too large":         {large("/open?name=a.npy", "application/octet-stream", play.MostFile+1), http.StatusRequestEntityTooLarge, "there may be 209715200"},
		"a question of a length not said":  {request("POST", "/ask", "application/json", io.MultiReader(strings.NewReader(strings.Repeat(" ", play.MostBytes)), strings.NewReader(" "))), http.StatusRequestEntityTooLarge, "up to 4194304"},
	} {
		t.Run(name, func(t *testing.T) {
			response, body := askedOf(t, tt.request)
			if response.StatusCode != tt.status || !strings.Contains(body, tt.says) {
				t.Errorf("%s, %q; want %d, %q", response.Status, body, tt.status, tt.says)
			}
			if response.Header.Get("Content-Security-Policy") != files.Policy || response.Header.Get("Access-Control-Allow-Origin") != "" {
				t.Errorf("headers %v", response.Header)
			}
		})
	}
	for _, host := range []string{"127.0.0.1:8080", "localhost:8080"} {
		if response, body := askedOf(t, page(func(r *http.Request) { r.Host = host })); response.StatusCode != http.StatusOK {
			t.Errorf("%s: %s, %s", host, response.Status, body)
		}
	}
}

// TestPlayHeaders holds what every reply tells the browser beside its type and length.
func TestPlayHeaders(t *testing.T) {
	want := map[string]string{
		"Content-Security-Policy": files.Policy, "X-Content-Type-Options": "nosniff", "Referrer-Policy": "no-referrer",
		"Cross-Origin-Resource-Policy": "same-origin", "Cross-Origin-Opener-Policy": "same-origin", "Cache-Control": "no-store",
	}
	for _, r := range []*http.Request{
		request("GET", "/", "", nil), request("GET", "/play.js", "", nil), request("GET", "/no", "", nil),
		request("POST", "/ask", "application/json", strings.NewReader(`{"ask":"operators"}`)), request("POST", "/ask", "text/plain", nil),
	} {
		response, _ := askedOf(t, r)
		got := map[string]string{}
		for name := range response.Header {
			if name != "Content-Type" && name != "Content-Length" {
				got[name] = response.Header.Get(name)
			}
		}
		if !maps.Equal(got, want) {
			t.Errorf("%s %s: %v; want %v", r.Method, r.URL, got, want)
		}
	}
}

// startServer starts the server of garner play, with the page changed.
func startServer(t *testing.T, change func(p *page)) (address string) {
	t.Helper()
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	server := newServer(t.Context(), listener.Addr().String())
	change(server.Handler.(*page))
	ended := make(chan error, 1)
	go func() { ended <- server.Serve(listener) }()
	t.Cleanup(func() {
		server.Close()
		if err := <-ended; !errors.Is(err, http.ErrServerClosed) {
			t.Error(err)
		}
	})
	return listener.Addr().String()
}

// sends writes a request, or a part of one, onto a connection that the test leaves open.
func sends(t *testing.T, address, text string) net.Conn {
	t.Helper()
	c, err := net.Dial("tcp", address)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { c.Close() })
	if _, err := io.WriteString(c, text); err != nil {
		t.Fatal(err)
	}
	return c
}

// soon is when a test gives up. It is far beyond what a loaded machine needs.
const soon = 3 * time.Minute

// TestPlaySlow holds that a client which sends or reads slowly, and a file, keep no
// question of another.
func TestPlaySlow(t *testing.T) {
	post := func(path, kind, host string, length int, body string) string {
		return fmt.Sprintf("POST %s HTTP/1.1\r\nHost: %s\r\nContent-Type: %s\r\nContent-Length: %d\r\n\r\n%s", path, host, kind, length, body)
	}
	const long = 64 << 20 // more than the buffers of a connection take
	for name, tt := range map[string]struct {
		path, kind string
		length     int
		body       string
	}{
		"half a question":  {"/ask", "application/json", 100, "{"},
		"half a file":      {"/open?name=a.npy", "application/octet-stream", play.MostFile, "x"},
		"half a small one": {"/open?name=a.npy", "application/octet-stream", 100, "x"},
		"an unread reply":  {"/ask", "application/json", 4, "long"},
	} {
		t.Run(name, func(t *testing.T) {
			address := startServer(t, func(p *page) {
				for _, q := range p.posts {
					q.read, q.write = time.Hour, time.Hour // the slow one stays longer than the test
				}
				p.posts["/ask"].answer = func(_ *http.Request, b []byte) []byte {
					if string(b) == "long" {
						return make([]byte, long)
					}
					return play.Ask(b)
				}
			})
			c := sends(t, address, post(tt.path, tt.kind, address, tt.length, tt.body))
			if tt.length == len(tt.body) { // it is answered
				if _, err := io.ReadFull(c, make([]byte, 1)); err != nil {
					t.Fatal(err)
				}
			}
			client := http.Client{Timeout: soon}
			for range 2 { // the second one is after the slow one, whenever that came
				response, err := client.Post("http://"+address+"/ask", "application/json", strings.NewReader(`{"ask":"operators"}`))
				if err != nil {
					t.Fatal(err)
				}
				_, err = io.Copy(io.Discard, response.Body)
				response.Body.Close()
				if err != nil || response.StatusCode != http.StatusOK {
					t.Errorf("%s, %v", response.Status, err)
				}
				time.Sleep(50 * time.Millisecond)
			}
		})
	}
	// Half a large file keeps no small one; another large one waits until it is given up.
	address := startServer(t, func(p *page) { p.posts["/open"].read = time.Hour })
	sends(t, address, post("/open?name=a.npy", "application/octet-stream", address, play.MostFile, "x"))
	time.Sleep(50 * time.Millisecond)
	opens := func(address string, size int) string {
		client := http.Client{Timeout: soon}
		response, err := client.Post("http://"+address+"/open?name=a.npy", "application/octet-stream", bytes.NewReader(make([]byte, size)))
		if err != nil {
			return err.Error()
		}
		defer response.Body.Close()
		return response.Status
	}
	if got := opens(address, 1000); got != "200 OK" {
		t.Errorf("a small file beside half a large one: %s", got)
	}
	address = startServer(t, func(p *page) { p.posts["/open"].read, p.posts["/open"].idle = time.Hour, 100*time.Millisecond })
	c := sends(t, address, post("/open?name=a.npy", "application/octet-stream", address, play.MostFile, "x"))
	time.Sleep(50 * time.Millisecond)
	got := opens(address, play.MostBytes+1)
	for until := time.Now().Add(soon); got != "200 OK" && time.Now().Before(until); { // on a busy machine this client stops as long
		got = opens(address, play.MostBytes+1)
	}
	if got != "200 OK" {
		t.Errorf("a large file behind half a one: %s", got)
	}
	if b, err := io.ReadAll(c); err != nil || !strings.HasPrefix(string(b), "HTTP/1.1 400 ") {
		t.Errorf("half a large file: %q, %v", b, err)
	}
	// Both are given up in the end.
	address = startServer(t, func(p *page) { p.posts["/ask"].read = 10 * time.Millisecond })
	c = sends(t, address, post("/ask", "application/json", address, 100, "{"))
	if b, err := io.ReadAll(c); err != nil || !strings.HasPrefix(string(b), "HTTP/1.1 400 ") || !strings.Contains(string(b), "could not be read, up to 4194304 within 10ms, and some of them every ") {
		t.Errorf("half a question: %q, %v", b, err)
	}
	served := make(chan context.Context, 1)
	address = startServer(t, func(p *page) {
		p.posts["/ask"].write = 10 * time.Millisecond
		p.posts["/ask"].answer = func(r *http.Request, _ []byte) []byte {
			served <- r.Context() // which ends when the reply is written, or is given up
			return make([]byte, long)
		}
	})
	c = sends(t, address, post("/ask", "application/json", address, 1, "{"))
	select {
	case <-(<-served).Done():
	case <-time.After(soon):
		t.Error("a reply that is not read is not given up")
	}
	if n, _ := io.Copy(io.Discard, c); n > long { // an error says the same: the connection is reset
		t.Errorf("a reply that was not read is whole")
	}
	c = sends(t, address, "OPTIONS * HTTP/1.1\r\nHost: other.example\r\nConnection: close\r\n\r\n")
	if b, err := io.ReadAll(c); err != nil || !strings.HasPrefix(string(b), "HTTP/1.1 403 ") {
		t.Errorf("a question of what the server can: %q, %v", b, err)
	}
}

// TestPlayTurns holds that questions are answered one at a time, a file beside them, and
// that the answer to a client which leaves ends.
func TestPlayTurns(t *testing.T) {
	var now, most atomic.Int32
	left := make(chan struct{})
	began := make(chan struct{}, 1)
	address := startServer(t, func(p *page) {
		p.posts["/ask"].answer = func(*http.Request, []byte) []byte {
			if n := now.Add(1); n > most.Load() {
				most.Store(n)
			}
			time.Sleep(5 * time.Millisecond)
			now.Add(-1)
			return []byte("{}")
		}
		p.posts["/open"].answer = func(r *http.Request, _ []byte) []byte {
			began <- struct{}{}
			<-r.Context().Done()
			close(left)
			return []byte("{}")
		}
	})
	c := sends(t, address, "POST /open?name=a.npy HTTP/1.1\r\nHost: "+address+"\r\nContent-Type: application/octet-stream\r\nContent-Length: 1\r\n\r\nx")
	<-began
	var asked sync.WaitGroup
	for range 8 {
		asked.Go(func() {
			response, err := http.Post("http://"+address+"/ask", "application/json", strings.NewReader("{}"))
			if err != nil {
				t.Error(err)
				return
			}
			response.Body.Close()
		})
	}
	asked.Wait()
	if n := most.Load(); n != 1 {
		t.Errorf("%d questions are answered at once", n)
	}
	c.Close()
	select {
	case <-left:
	case <-time.After(soon):
		t.Error("a file is looked at although nobody waits for it")
	}
}

// TestPlayHosts holds by which names a browser reaches the page.
func TestPlayHosts(t *testing.T) {
	for address, hosts := range map[string]string{
		"127.0.0.1:80":   "127.0.0.1:80 127.0.0.1 localhost:80 localhost",
		"[::1]:80":       "[::1]:80 [::1] localhost:80 localhost",
		"127.0.0.1:8080": "127.0.0.1:8080 127.0.0.1:8080 localhost:8080 localhost:8080",
	} {
		if got := strings.Join(newPage(address).hosts, " "); got != hosts {
			t.Errorf("%s: %s, want %s", address, got, hosts)
		}
	}
}

// TestLoopback holds which addresses are of this machine alone.
func TestLoopback(t *testing.T) {
	for text, want := range map[string]string{
		"127.0.0.1:0": "127.0.0.1:0", "127.8.9.1:65535": "127.8.9.1:65535", "localhost:80": "127.0.0.1:80", "[::1]:8080": "[::1]:8080",
	} {
		if got, err := loopback(text); err != nil || got.String() != want {
			t.Errorf("%s: %v, %v", text, got, err)
		}
	}
	for text, says := range map[string]string{
		"8080": "no ADDRESS:PORT", "127.0.0.1": "no ADDRESS:PORT", ":8080": "is no number", "0.0.0.0:8080": "other machines can reach it", "[::]:8080": "other machines can reach it",
		"192.168.1.2:8080": "other machines can reach it", "machine.example:8080": "not looked up", "127.0.0.1:http": "no number up to 65535",
		"127.0.0.1:65536": "no number up to 65535", "127.0.0.1:-1": "no number up to 65535", "[::1%lo]:80": "other machines can reach it", "[fe80::1%eth0]:80": "other machines can reach it",
	} {
		if got, err := loopback(text); err == nil || !strings.Contains(err.Error(), says) {
			t.Errorf("%s: %v, %v; want %q", text, got, err, says)
		}
	}
}

// TestPlayUsage refuses wrong command lines.
func TestPlayUsage(t *testing.T) {
	for _, tt := range []struct {
		args []string
		says string
	}{
		{[]string{"play", "[1,2,3]"}, "play takes no operands; type data and indices into the page"},
		{[]string{"play", "--listen", "0.0.0.0:8080"}, "--listen 0.0.0.0:8080: other machines can reach it"},
		{[]string{"play", "--listen", ""}, "--listen is empty"},
		{[]string{"play", "--port", "80"}, "play has no flag --port"},
	} {
		if status, stdout, stderr := garnerRun(tt.args...); status != cmdline.StatusUsage || stdout != "" || !strings.Contains(stderr, tt.says) {
			t.Errorf("%v: status %d, %s%s", tt.args, status, stdout, stderr)
		}
	}
}
