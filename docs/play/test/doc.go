// Package test drives the page of docs/play in Chromium: as files of a static
// host with garner as WebAssembly, as garner play serves it, and beside a
// server that answers what garner never would.
package test
