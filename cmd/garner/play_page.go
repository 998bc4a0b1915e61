package main

import (
	"bytes"
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

	files "github.com/garner-go/garner/docs/play"
	"github.com/garner-go/garner/internal/play"
)

// A page serves the page of docs/play and answers its questions. It refuses what does not
// come from that page.
type page struct {
	hosts  []string          // by which a browser on this machine reaches it
	files  map[string]served // by their paths
	answer chan struct{}     // has one element while no question is answered
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
	p := &page{files: map[string]served{}, answer: make(chan struct{}, 1)}
	p.answer <- struct{}{}
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
	header.Set("Content-Security-Policy", files.Policy)
	header.Set("X-Content-Type-Options", "nosniff")
	header.Set("Referrer-Policy", "no-referrer")
	header.Set("Cross-Origin-Resource-Policy", "same-origin")
	header.Set("Cross-Origin-Opener-Policy", "same-origin")
	header.Set("Cache-Control", "no-store")
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
	switch r.URL.Path {
	case "/ask":
		p.post(w, r, "application/json", play.MostBytes, play.Ask)
		return
	case "/open":
		p.post(w, r, "application/octet-stream", play.MostFile, func(b []byte) []byte { return play.Open(b, r.URL.Query().Get("name")) })
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
			w.Write(f.bytes) // an error is the browser's, which has gone
		}
	}
}

// post answers the body of a POST, of a type and of up to most bytes. Questions are
// answered one after the other, so that they have the memory of one.
func (p *page) post(w http.ResponseWriter, r *http.Request, kind string, most int64, answer func(b []byte) []byte) {
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
	case err != nil || given != kind:
		refuseRequest(w, http.StatusUnsupportedMediaType, "the Content-Type must be %s", kind)
		return
	case r.ContentLength > most:
		refuseRequest(w, http.StatusRequestEntityTooLarge, "there are %d bytes; there may be %d", r.ContentLength, most)
		return
	}
	select {
	case <-p.answer:
		defer func() { p.answer <- struct{}{} }()
	case <-r.Context().Done():
		return
	}
	b, err := io.ReadAll(http.MaxBytesReader(w, r.Body, most))
	if err != nil {
		refuseRequest(w, http.StatusRequestEntityTooLarge, "the bytes could not be read, up to %d: %v", most, err)
		return
	}
	reply := answer(b)
	w.Header().Set("Content-Type", "application/json")
	w.Header().Set("Content-Length", strconv.Itoa(len(reply)))
	w.Write(reply) // an error is the browser's, which has gone
}

// refuseRequest answers with a status and why.
func refuseRequest(w http.ResponseWriter, status int, format string, args ...any) {
	w.Header().Set("Content-Type", "text/plain; charset=utf-8")
	w.WriteHeader(status)
	fmt.Fprintf(w, format+"\n", args...)
}
