// Command genplay makes the files of the page in docs/play that are not in the repository:
// garner.wasm, garner for the browser, and wasm_exec.js, which starts it and comes with the
// Go that built it.
//
//	genplay FOLDER
//
// It says how large garner.wasm is as servers send it, and fails above the page's limit.
package main

import (
	"compress/gzip"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
)

// most is the limit of garner.wasm by gzip, in bytes: 3 s over a line of 10 Mbit/s.
const most = 3_500_000

func main() {
	if len(os.Args) != 2 {
		fmt.Fprintln(os.Stderr, "usage: genplay FOLDER")
		os.Exit(2)
	}
	if err := generate(os.Args[1]); err != nil {
		fmt.Fprintln(os.Stderr, "genplay:", err)
		os.Exit(1)
	}
}

// generate writes both files.
func generate(folder string) error {
	wasm := filepath.Join(folder, "garner.wasm")
	build := exec.Command("go", "build", "-trimpath", "-ldflags=-s -w", "-o", wasm, "github.com/garner-go/garner/internal/play/wasm")
	build.Env = append(os.Environ(), "GOOS=js", "GOARCH=wasm", "CGO_ENABLED=0")
	build.Stdout, build.Stderr = os.Stdout, os.Stderr
	if err := build.Run(); err != nil {
		return fmt.Errorf("building %s: %w", wasm, err)
	}
	root, err := exec.Command("go", "env", "GOROOT").Output()
	if err != nil {
		return fmt.Errorf("asking for the folder of Go: %w", err)
	}
	script, err := os.ReadFile(filepath.Join(strings.TrimSpace(string(root)), "lib", "wasm", "wasm_exec.js"))
	if err != nil {
		return err
	}
	if err := os.WriteFile(filepath.Join(folder, "wasm_exec.js"), script, 0o644); err != nil {
		return err
	}
	size, sent, err := sizes(wasm)
	if err != nil {
		return err
	}
	fmt.Printf("%s: %d bytes, %d by gzip\n", wasm, size, sent)
	return fits(wasm, sent)
}

// fits refuses a file that is larger by gzip than the limit.
func fits(path string, sent int64) error {
	if sent > most {
		return fmt.Errorf("%s has %d bytes by gzip; there may be %d", path, sent, most)
	}
	return nil
}

// sizes returns the size of a file, and that by gzip, in bytes.
func sizes(path string) (size, zipped int64, err error) {
	file, err := os.Open(path)
	if err != nil {
		return 0, 0, err
	}
	defer file.Close()
	var count counter
	z, err := gzip.NewWriterLevel(&count, gzip.DefaultCompression)
	if err != nil {
		return 0, 0, err
	}
	size, err = io.Copy(z, file)
	return size, int64(count), errors.Join(err, z.Close())
}

// A counter counts what is written to it, in bytes.
type counter int64

func (c *counter) Write(b []byte) (int, error) {
	*c += counter(len(b))
	return len(b), nil
}
