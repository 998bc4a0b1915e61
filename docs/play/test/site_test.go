package test

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/chromedp/chromedp"
)

const root = "../../.." // of the repository

// policy is what the page needs of a host that sets headers. It repeats the
// policy of index.html, and adds what a page cannot say itself.
const policy = "default-src 'none'; script-src 'self' 'wasm-unsafe-eval'; style-src 'self'; img-src 'self' data:; " +
	"connect-src 'self'; worker-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'"

// A site is one way in which the page is served.
type site struct {
	name, url string
}

var (
	static, served site            // a static host; garner play
	browser        context.Context // of chromedp, with a browser
)

func TestMain(m *testing.M) {
	os.Exit(run(m))
}

// run builds the page and the command, and starts both sites and the browser.
func run(m *testing.M) (status int) {
	fail := func(what string, err error) int {
		fmt.Fprintf(os.Stderr, "%s: %v\n", what, err)
		return 1
	}
	scratch, err := os.MkdirTemp("", "garner-play")
	if err != nil {
		return fail("a folder", err)
	}
	defer os.RemoveAll(scratch)

	// What go generate makes is git-ignored: it stays in the tree.
	if err := in(root, "go", "generate", "./docs/play"); err != nil {
		return fail("go generate", err)
	}
	host := httptest.NewServer(headers(http.FileServer(http.Dir(".."))))
	defer host.Close()
	static = site{"static", host.URL + "/"}

	command := filepath.Join(scratch, "garner")
	if err := in(root, "go", "build", "-o", command, "./cmd/garner"); err != nil {
		return fail("go build", err)
	}
	end, err := play(command)
	if err != nil {
		return fail("garner play", err)
	}
	defer end()

	options := append(chromedp.DefaultExecAllocatorOptions[:],
		chromedp.UserDataDir(filepath.Join(scratch, "profile")),
		chromedp.WindowSize(1440, 900))
	if os.Getuid() == 0 {
		options = append(options, chromedp.NoSandbox) // Chromium has none for root
	}
	allocator, stop := chromedp.NewExecAllocator(context.Background(), options...)
	defer stop()
	var cancel context.CancelFunc
	browser, cancel = chromedp.NewContext(allocator)
	defer cancel()
	if err := chromedp.Do(browser); err != nil {
		return fail("Chromium (apt-get install chromium)", err)
	}
	defer chromedp.Cancel(browser)
	return m.Run()
}

// in runs a program in a folder.
func in(folder, name string, arguments ...string) error {
	c := exec.Command(name, arguments...)
	c.Dir = folder
	if out, err := c.CombinedOutput(); err != nil {
		return fmt.Errorf("%w\n%s", err, out)
	}
	return nil
}

// headers answers with the policy of the page. The browser asks again for what it
// has, but need not load it again.
func headers(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Security-Policy", policy)
		w.Header().Set("Cache-Control", "no-cache")
		next.ServeHTTP(w, r)
	})
}

// play starts garner play and reads its address from what it prints.
func play(command string) (end func(), err error) {
	c := exec.Command(command, "play", "--no-browser")
	out, err := os.CreateTemp("", "garner-play-out")
	if err != nil {
		return nil, err
	}
	c.Stdout, c.Stderr = out, out
	if err := c.Start(); err != nil {
		return nil, err
	}
	end = func() {
		c.Process.Signal(os.Interrupt)
		c.Wait()
		out.Close()
		os.Remove(out.Name())
	}
	address := regexp.MustCompile(`http://127\.0\.0\.1:[0-9]+/`)
	for until := time.Now().Add(patience); time.Now().Before(until); time.Sleep(50 * time.Millisecond) {
		text, err := os.ReadFile(out.Name())
		if err != nil {
			break
		}
		if found := address.Find(text); found != nil {
			served = site{"garner play", string(found)}
			return end, nil
		}
	}
	text, _ := os.ReadFile(out.Name())
	end()
	return nil, fmt.Errorf("it printed no address: %q", text)
}

// both runs a test on each site.
func both(t *testing.T, test func(t *testing.T, s site)) {
	for _, s := range []site{static, served} {
		t.Run(s.name, func(t *testing.T) { test(t, s) })
	}
}

// answering serves the page with a process that answers as the test says, in
// place of garner play.
func answering(t *testing.T, answer func(path string, body []byte) (status int, reply string)) site {
	t.Helper()
	return replying(t, func(w http.ResponseWriter, r *http.Request, body []byte) {
		status, reply := answer(r.URL.Path, body)
		w.WriteHeader(status)
		io.WriteString(w, reply)
	})
}

// replying is answering with the whole request and reply.
func replying(t *testing.T, reply func(w http.ResponseWriter, r *http.Request, body []byte)) site {
	t.Helper()
	files := http.FileServer(http.Dir(".."))
	host := httptest.NewServer(headers(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.Method == http.MethodPost {
			body, err := io.ReadAll(r.Body)
			if err != nil {
				t.Error(err)
			}
			reply(w, r, body)
			return
		}
		if r.URL.Path != "/" {
			files.ServeHTTP(w, r)
			return
		}
		page, err := os.ReadFile("../index.html")
		if err != nil {
			t.Error(err)
		}
		w.Header().Set("Content-Type", "text/html; charset=utf-8")
		w.Write(bytes.Replace(page, []byte(`<meta name="garner" content="wasm">`), []byte(`<meta name="garner" content="process">`), 1))
	})))
	t.Cleanup(host.Close)
	return site{"answering", host.URL + "/"}
}

// echo answers a question of the page: every call with its data, as the values of a.b.
func echo(body []byte) string {
	var r struct {
		Call *struct{ Data string }
	}
	if err := json.Unmarshal(body, &r); err != nil || r.Call == nil {
		return `{"operators":[{"name":"a.b","kind":"gather"}],"dtypes":[],"examples":[]}`
	}
	return fmt.Sprintf(`{"groups":[{"shape":[1],"dtype":"i64","values":%q,"error":"","operators":[{"name":"a.b","form":"gather","kind":"inside"}]}],"kind":"inside"}`, r.Call.Data)
}

// standing serves the page as a static host does, with a script in the place of garner. It
// is the body of a function whose argument end tells that garner has ended.
func standing(t *testing.T, script string) site {
	t.Helper()
	files := http.FileServer(http.Dir(".."))
	host := httptest.NewServer(headers(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		switch r.URL.Path {
		case "/wasm_exec.js":
			w.Header().Set("Content-Type", "text/javascript")
			io.WriteString(w, "class Go { importObject = {}; run() { return new Promise((end) => {\n"+script+"\n}); } }")
		case "/garner.wasm":
			w.Header().Set("Content-Type", "application/wasm")
			io.WriteString(w, "\x00asm\x01\x00\x00\x00")
		default:
			files.ServeHTTP(w, r)
		}
	})))
	t.Cleanup(host.Close)
	return site{"standing", host.URL + "/"}
}

// TestPolicy holds that the page, this host and garner play have one policy, and
// that the page cannot reach another host.
func TestPolicy(t *testing.T) {
	text, err := os.ReadFile("../index.html")
	if err != nil {
		t.Fatal(err)
	}
	own := strings.TrimSuffix(policy, "; frame-ancestors 'none'") // a header alone can say that
	if !strings.Contains(string(text), `http-equiv="Content-Security-Policy" content="`+own+`"`) {
		t.Error("index.html has another policy than this test")
	}
	answer, err := http.Get(served.url)
	if err != nil {
		t.Fatal(err)
	}
	answer.Body.Close()
	if got := answer.Header.Get("Content-Security-Policy"); got != policy {
		t.Errorf("garner play sends %q, want %q", got, policy)
	}
	both(t, func(t *testing.T, s site) {
		p := s.open(t, "")
		refused := evaluate[string](p, `new Promise((done) => {
			document.addEventListener("securitypolicyviolation", (e) => done(e.effectiveDirective));
			fetch("http://127.0.0.1:9/").catch(() => {});
		})`)
		if refused != "connect-src" {
			t.Errorf("a request to another host: refused by %q, want connect-src", refused)
		}
		p.forgive("violates the following Content Security Policy directive")
		p.forgive("Failed to load resource")
		p.forgive("Refused to connect")
	})
}
