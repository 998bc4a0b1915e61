// Package play holds the page which asks garner what each operator answers to a gather. It
// is plain HTML, CSS and script. garner answers it as WebAssembly, which "go generate"
// builds, or as the process of "garner play", which serves these files.
package play

import "embed"

//go:generate go run ../../internal/genplay .

// Policy is the Content-Security-Policy of the page, as a server sends it. The page says
// the same of itself, but for frame-ancestors, which only a header can say.
const Policy = "default-src 'none'; script-src 'self' 'wasm-unsafe-eval'; style-src 'self'; img-src 'self' data:; connect-src 'self'; worker-src 'self'; " +
	"base-uri 'none'; form-action 'none'; frame-ancestors 'none'"

// How index.html says what answers the page: it says wasm, and a server that answers
// itself puts the other in its place.
const (
	AnsweredByWasm    = `<meta name="garner" content="wasm">`
	AnsweredByProcess = `<meta name="garner" content="process">`
)

// Files are the files of the page, but for those that "go generate" makes.
//
//go:embed index.html play.css play.js worker.js icon.svg
var Files embed.FS
