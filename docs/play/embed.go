// Package play holds the page which asks garner what each operator answers to a gather. It
// is plain HTML, CSS and script. garner answers it as WebAssembly, which "go generate"
// builds, or as the process of "garner play", which serves these files.
package play

import "embed"

//go:generate go run ../../internal/genplay .

// Files are the files of the page, but for those that "go generate" makes.
//
//go:embed index.html play.css play.js worker.js icon.svg
var Files embed.FS
