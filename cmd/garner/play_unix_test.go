//go:build unix && !darwin

package main

import (
	"bufio"
	"io"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/garner-go/garner/internal/cmdline"
)

// playing starts garner play and returns the address that it prints, and its standard
// error.
func playing(t *testing.T, environment []string, args ...string) (p *process, url string, messages *bufio.Reader) {
	t.Helper()
	pipe := func() (out, in *os.File) {
		out, in, err := os.Pipe()
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { out.Close() })
		return out, in
	}
	out, stdout := pipe()
	errors, stderr := pipe()
	p = start(t, t.TempDir(), func(c *exec.Cmd) {
		c.Stdout, c.Stderr, c.Env = stdout, stderr, append(os.Environ(), environment...)
	}, append([]string{"play"}, args...)...)
	stdout.Close()
	stderr.Close()
	line, err := bufio.NewReader(out).ReadString('\n')
	found := regexp.MustCompile(`^garner play: (http://[^ ]+/) \(Ctrl-C ends it\)\n$`).FindStringSubmatch(line)
	if err != nil || found == nil {
		t.Fatalf("it printed %q, %v", line, err)
	}
	return p, found[1], bufio.NewReader(errors)
}

// lastWords are what garner play says when it ends.
const lastWords = "garner: interrupted; the page is served no more\n"

// interrupts ends garner play by a signal, and checks how it ends.
func interrupts(t *testing.T, p *process, signal syscall.Signal, messages io.Reader) {
	t.Helper()
	if err := p.cmd.Process.Signal(signal); err != nil {
		t.Fatal(err)
	}
	status := p.status(t)
	if said, err := io.ReadAll(messages); err != nil || status != cmdline.StatusInterrupted || string(said) != lastWords {
		t.Errorf("status %d, %q, %v; want %d, %q", status, said, err, cmdline.StatusInterrupted, lastWords)
	}
}

// TestPlay starts the page, reads it, refuses its port to a second one, and ends it.
func TestPlay(t *testing.T) {
	for _, signal := range []syscall.Signal{syscall.SIGINT, syscall.SIGTERM} {
		t.Run(signal.String(), func(t *testing.T) {
			p, url, messages := playing(t, nil, "--no-browser", "--listen", "127.0.0.1:0")
			response, err := http.Get(url)
			if err != nil {
				t.Fatal(err)
			}
			b, err := io.ReadAll(response.Body)
			response.Body.Close()
			if err != nil || response.StatusCode != http.StatusOK || !strings.Contains(string(b), "<!doctype html>") {
				t.Errorf("%s, %v: %.100q", response.Status, err, b)
			}
			address := strings.TrimSuffix(strings.TrimPrefix(url, "http://"), "/")
			status, stdout, stderr := garnerRun("play", "--no-browser", "--listen", address)
			if want := "garner: cannot listen on " + address + ": address already in use; name another port, or 0 for a free one\n"; status != cmdline.StatusRefused || stdout != "" || stderr != want {
				t.Errorf("on a port in use: status %d, %q, %q", status, stdout, stderr)
			}
			// A question that is half asked does not keep it.
			half, err := net.Dial("tcp", address)
			if err != nil {
				t.Fatal(err)
			}
			defer half.Close()
			if _, err := io.WriteString(half, "POST /ask HTTP/1.1\r\nHost: "+address+"\r\nContent-Type: application/json\r\nContent-Length: 100\r\n\r\n{"); err != nil {
				t.Fatal(err)
			}
			interrupts(t, p, signal, messages)
		})
	}
}

// TestPlayUsualAddress holds that garner play listens where it always does, and elsewhere,
// with a word, where another has that port.
func TestPlayUsualAddress(t *testing.T) {
	if held, err := net.Listen("tcp", usual); err == nil { // else another process holds it, which is as good
		defer held.Close()
	}
	p, url, messages := playing(t, nil, "--no-browser")
	if address := strings.TrimSuffix(strings.TrimPrefix(url, "http://"), "/"); address == usual || !strings.HasPrefix(address, "127.0.0.1:") {
		t.Errorf("with its port in use it listens on %s", address)
	}
	want := "garner: cannot listen on " + usual + ", the usual address: address already in use; the page has a free port, and links to it hold until it ends\n"
	if said, err := messages.ReadString('\n'); err != nil || said != want {
		t.Errorf("it says %q, %v; want %q", said, err, want)
	}
	interrupts(t, p, syscall.SIGTERM, messages)
	if status, stdout, stderr := garnerRun("play", "--no-browser", "--listen", usual); status != cmdline.StatusRefused || stdout != "" {
		t.Errorf("named on the command line: status %d, %s%s", status, stdout, stderr)
	}
}

// TestPlayBrowses holds that the browser is opened at the address, and that its absence is
// told.
func TestPlayBrowses(t *testing.T) {
	dir := t.TempDir()
	seen := filepath.Join(dir, "seen")
	writeFile(t, filepath.Join(dir, "xdg-open"), []byte("#!/bin/sh\necho \"$1\" >"+seen+".part && mv "+seen+".part "+seen+"\n"))
	if err := os.Chmod(filepath.Join(dir, "xdg-open"), 0o755); err != nil {
		t.Fatal(err)
	}
	failing := t.TempDir()
	writeFile(t, filepath.Join(failing, "xdg-open"), []byte("#!/bin/sh\nexit 3\n"))
	if err := os.Chmod(filepath.Join(failing, "xdg-open"), 0o755); err != nil {
		t.Fatal(err)
	}
	path := os.Getenv("PATH")
	garner, err := exec.LookPath("garner")
	if err != nil {
		t.Fatal(err)
	}
	for _, tt := range []struct {
		name, path, display string
		says                string // "": the browser is opened
	}{
		{"there", dir + ":" + path, ":0", ""},
		{"no display", dir + ":" + path, "", "garner: no browser was opened: there is no display; open the address yourself, and say --no-browser\n"},
		{"no xdg-open", filepath.Dir(garner), ":0", "garner: no browser was opened: there is no xdg-open; open the address yourself, and say --no-browser\n"},
		{"fails", failing + ":" + path, ":0", "garner: no browser was opened: xdg-open failed: exit status 3; open the address yourself, and say --no-browser\n"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Setenv("PATH", tt.path)
			p, url, messages := playing(t, []string{"DISPLAY=" + tt.display, "WAYLAND_DISPLAY=", "BROWSER="}, "--listen", "127.0.0.1:0")
			if tt.says == "" {
				deadline := time.Now().Add(patience)
				for {
					if b, err := os.ReadFile(seen); err == nil {
						if string(b) != url+"\n" {
							t.Errorf("the browser is opened at %q, not %q", b, url)
						}
						break
					}
					if time.Now().After(deadline) {
						t.Fatal("no browser was opened")
					}
					time.Sleep(5 * time.Millisecond)
				}
			} else if got, err := messages.ReadString('\n'); err != nil || got != tt.says {
				t.Errorf("it says %q, %v; want %q", got, err, tt.says)
			}
			interrupts(t, p, syscall.SIGINT, messages)
		})
	}
}
