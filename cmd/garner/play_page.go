package main

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"mime"
	"net"
	"net/http"
	"path"
	"slices"
	"strconv"
	"strings"
	"time"

	files "github.com/garner-go/garner/docs/play"
	"github.com/garner-go/garner/internal/play"
)

// A page serves the page of docs/play and answers its questions. It refuses what does not
// come from that page.
type page struct {
	hosts []string          // by which a browser on this machine reaches it
	files map[string]served // by their paths
	posts map[string]*post  // by their paths
}

// A post is a kind of question, which comes as the body of a POST.
type post struct {
	kind   string        // its Content-Type
	most   int64         // bytes of it
	read   time.Duration // in which it has to come
	write  time.Duration // in which the reply has to be taken
	answer func(r *http.Request, b []byte) []byte

	// Questions of one kind are answered one after the other, so that they have the memory
	// of one. turn has an element while none is.
	turn chan struct{}
	// A large one is held in memory while it comes; memory has an element while none is.
	memory chan struct{}
	idle   time.Duration // that a client may send nothing
}

// Times that a client has: it may be slow, but it does not stay for ever.
const (
	readTime  = 10 * time.Second // of a question
	fileTime  = 2 * time.Minute  // of 200 MB, from this machine
	idleTime  = 10 * time.Second // between two bytes of either
	writeTime = 30 * time.Second // of a reply, which is less than a file
)

// headers are those of every reply.
var headers = map[string]string{
	"Content-Security-Policy":      files.Policy,
	"X-Content-Type-Options":       "nosniff",
	"Referrer-Policy":              "no-referrer",
	"Cross-Origin-Resource-Policy": "same-origin",
	"Cross-Origin-Opener-Policy":   "same-origin",
	"Cache-Control":                "no-store",
}

// A served is a file of the page.
type served struct {
	kind  string // its Content-Type
	bytes []byte
}

// kinds are the Content-Types of the page's files, whatever the machine says.
var kinds = map[string]string{
	".html": "text/html; charset=utf-8", ".css": "text/css; charset=utf-8", ".js": "text/javascript; charset=utf-8", ".svg": "image/svg+xml",
}

// newPage returns the page that listens on an address of this machine.
func newPage(address string) *page {
	p := &page{files: map[string]served{}, posts: map[string]*post{
		"/ask": {kind: "application/json", most: play.MostBytes, read: readTime, write: writeTime, answer: func(_ *http.Request, b []byte) []byte { return play.Ask(b) }},
		"/open": {kind: "application/octet-stream", most: play.MostFile, read: fileTime, write: writeTime, answer: func(r *http.Request, b []byte) []byte {
			return play.Open(r.Context(), b, r.URL.Query().Get("name"))
		}},
	}}
	for _, q := range p.posts {
		q.idle = idleTime
		q.turn, q.memory = make(chan struct{}, 1), make(chan struct{}, 1)
		q.turn <- struct{}{}
		q.memory <- struct{}{}
	}
	if host, port, err := net.SplitHostPort(address); err == nil {
		for _, name := range []string{host, "localhost"} {
			with := net.JoinHostPort(name, port)
			p.hosts = append(p.hosts, with, strings.TrimSuffix(with, ":80")) // browsers leave port 80 out
		}
	}
	list, err := fs.ReadDir(files.Files, ".")
	for _, f := range list {
		var b []byte
		if b, err = fs.ReadFile(files.Files, f.Name()); err != nil {
			break
		}
		p.files["/"+f.Name()] = served{kinds[path.Ext(f.Name())], b}
	}
	if err != nil {
		panic(err) // the files are in the program
	}
	index := p.files["/index.html"]
	index.bytes = bytes.Replace(index.bytes, []byte(files.AnsweredByWasm), []byte(files.AnsweredByProcess), 1)
	p.files["/index.html"], p.files["/"] = index, index
	return p
}

// ServeHTTP serves a file of the page, or answers POST /ask and POST /open?name=NAME.
func (p *page) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	header := w.Header()
	for name, value := range headers {
		header.Set(name, value)
	}
	// A page of another site reaches this one by a name that it has made lead here, or
	// asks across sites: the Host is then another, or the Origin is.
	origin, given := r.Header["Origin"]
	switch {
	case !slices.Contains(p.hosts, r.Host):
		refuseRequest(w, http.StatusForbidden, "this is garner play on %s, and answers to no other host", p.hosts[0])
		return
	case given && (len(origin) != 1 || origin[0] != "http://"+r.Host):
		refuseRequest(w, http.StatusForbidden, "garner play answers its own page alone")
		return
	}
	if q, ok := p.posts[r.URL.Path]; ok {
		q.serve(w, r)
		return
	}
	f, ok := p.files[r.URL.Path]
	switch {
	case !ok:
		refuseRequest(w, http.StatusNotFound, "garner play has no such page; the page is /")
	case r.Method != http.MethodGet && r.Method != http.MethodHead:
		header.Set("Allow", "GET, HEAD")
		refuseRequest(w, http.StatusMethodNotAllowed, "a file of the page is read by GET")
	default:
		header.Set("Content-Type", f.kind)
		header.Set("Content-Length", strconv.Itoa(len(f.bytes)))
		if r.Method == http.MethodGet {
			within(w, writeTime)
			w.Write(f.bytes) // an error is the browser's, which has gone
		}
	}
}

// serve answers a question. A client that is slow to send it or to read the reply takes no
// turn meanwhile; a large file takes that of memory, which only other large ones wait for.
func (q *post) serve(w http.ResponseWriter, r *http.Request) {
	given, _, err := mime.ParseMediaType(r.Header.Get("Content-Type"))
	site := r.Header.Get("Sec-Fetch-Site")
	switch {
	case r.Method != http.MethodPost:
		w.Header().Set("Allow", "POST")
		refuseRequest(w, http.StatusMethodNotAllowed, "questions are asked by POST")
		return
	case site != "" && site != "same-origin":
		refuseRequest(w, http.StatusForbidden, "garner play answers its own page alone")
		return
	case err != nil || given != q.kind:
		refuseRequest(w, http.StatusUnsupportedMediaType, "the Content-Type must be %s", q.kind)
		return
	case r.ContentLength > q.most:
		refuseRequest(w, http.StatusRequestEntityTooLarge, "there are %d bytes; there may be %d", r.ContentLength, q.most)
		return
	}
	reply := q.reply(w, r)
	if reply == nil {
		return
	}
	w.Header().Set("Content-Type", "application/json")
	w.Header().Set("Content-Length", strconv.Itoa(len(reply)))
	within(w, q.write)
	w.Write(reply) // an error is the browser's, which has gone
}

// reply reads a question and answers it; nil where that failed, and was refused.
func (q *post) reply(w http.ResponseWriter, r *http.Request) []byte {
	var held []chan struct{}
	wait := func(turn chan struct{}) bool { // for a turn, which reply gives back
		select {
		case <-turn:
			held = append(held, turn)
			return true
		case <-r.Context().Done():
			return false
		}
	}
	defer func() {
		for _, turn := range held {
			turn <- struct{}{}
		}
	}()
	if large := q.most > play.MostBytes && (r.ContentLength < 0 || r.ContentLength > play.MostBytes); large && !wait(q.memory) {
		return nil
	}
	body := steady{http.MaxBytesReader(w, r.Body, q.most), http.NewResponseController(w), q.idle, time.Now().Add(q.read)}
	b, err := io.ReadAll(body)
	if err != nil {
		status := http.StatusBadRequest
		if _, much := errors.AsType[*http.MaxBytesError](err); much {
			status = http.StatusRequestEntityTooLarge
		}
		refuseRequest(w, status, "the bytes could not be read, up to %d within %v, and some of them every %v: %v", q.most, q.read, q.idle, err)
		return nil
	}
	if !wait(q.turn) {
		return nil
	}
	return q.answer(r, b)
}

// A steady reads what a client sends, which may be slow, but neither stops nor takes for ever.
type steady struct {
	io.Reader
	connection *http.ResponseController
	idle       time.Duration // without a byte
	until      time.Time
}

// Read reads up to the end of its time.
func (s steady) Read(b []byte) (int, error) {
	end := time.Now().Add(s.idle)
	if s.until.Before(end) {
		end = s.until
	}
	s.connection.SetReadDeadline(end) // fails for what is no connection
	return s.Reader.Read(b)
}

// within gives a client so much time from now to read what is written.
func within(w http.ResponseWriter, d time.Duration) {
	http.NewResponseController(w).SetWriteDeadline(time.Now().Add(d)) // fails for what is no connection
}

// refuseRequest answers with a status and why.
func refuseRequest(w http.ResponseWriter, status int, format string, args ...any) {
	w.Header().Set("Content-Type", "text/plain; charset=utf-8")
	within(w, writeTime)
	w.WriteHeader(status)
	fmt.Fprintf(w, format+"\n", args...)
}
