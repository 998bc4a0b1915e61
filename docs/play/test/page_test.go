package test

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/chromedp/cdproto/log"
	"github.com/chromedp/cdproto/runtime"
	"github.com/chromedp/chromedp"
)

// patience is how long what must come may take: only what never comes takes it.
const patience = 4 * time.Minute

// A page is a tab with the page. At the end of its test it fails the test for
// errors on the console that are not forgiven.
type page struct {
	*testing.T
	site   site
	ctx    context.Context
	mu     sync.Mutex
	errors []string
	pardon []string
}

// tab opens an empty tab.
func (s site) tab(t *testing.T) *page {
	t.Helper()
	p := &page{T: t, site: s}
	listener := chromedp.WithListener(func(event any) {
		switch e := event.(type) {
		case *runtime.EventExceptionThrown:
			text := e.ExceptionDetails.Text
			if e.ExceptionDetails.Exception != nil {
				text += " " + e.ExceptionDetails.Exception.Description
			}
			p.noted(text)
		case *runtime.EventConsoleAPICalled:
			if e.Type == runtime.ConsoleAPICalledTypeError || e.Type == runtime.ConsoleAPICalledTypeWarning {
				text := ""
				for _, a := range e.Args {
					text += string(a.Value) + a.Description
				}
				p.noted(text)
			}
		case *log.EventEntryAdded:
			if e.Entry.Level == log.EntryLevelError || e.Entry.Level == log.EntryLevelWarning {
				p.noted(e.Entry.Text + " " + e.Entry.URL)
			}
		}
	})
	var cancel context.CancelFunc
	p.ctx, cancel = chromedp.NewContext(browser, listener)
	t.Cleanup(func() {
		p.mu.Lock()
		defer p.mu.Unlock()
		for _, text := range p.errors {
			forgiven := false
			for _, part := range p.pardon {
				forgiven = forgiven || strings.Contains(text, part)
			}
			if !forgiven {
				t.Errorf("on the console: %s", text)
			}
		}
		cancel()
	})
	if err := chromedp.Do(p.ctx); err != nil { // opens the tab, which lives as long as this context
		t.Fatal(err)
	}
	return p
}

func (p *page) noted(text string) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.errors = append(p.errors, text)
}

// forgive lets messages on the console pass that contain a text.
func (p *page) forgive(text string) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.pardon = append(p.pardon, text)
}

// open opens a link of the site in a tab of its own, and waits for the answers.
func (s site) open(t *testing.T, fragment string) *page {
	t.Helper()
	p := s.tab(t)
	p.visit(fragment)
	return p
}

func (p *page) visit(fragment string) {
	p.Helper()
	url := p.site.url
	if fragment != "" {
		url += "#" + fragment
	}
	p.do(chromedp.Navigate(url))
	p.settled()
}

func (p *page) do(actions ...chromedp.Action[chromedp.Void]) {
	p.Helper()
	ctx, cancel := context.WithTimeout(p.ctx, patience)
	defer cancel()
	if err := chromedp.Do(ctx, actions...); err != nil {
		p.Fatal(err)
	}
}

// evaluate evaluates an expression in the page; a promise, when it is kept.
func evaluate[T any](p *page, expression string) T {
	p.Helper()
	ctx, cancel := context.WithTimeout(p.ctx, patience)
	defer cancel()
	v, err := chromedp.Run(ctx, chromedp.Evaluate[T](expression, chromedp.EvalAwaitPromise))
	if err != nil {
		p.Fatalf("%s: %v", expression, err)
	}
	return v
}

// wait waits until an expression is true.
func (p *page) wait(expression string) {
	p.Helper()
	for until := time.Now().Add(patience); time.Now().Before(until); {
		if evaluate[bool](p, "Boolean("+expression+")") {
			return
		}
		time.Sleep(20 * time.Millisecond)
	}
	p.Fatalf("never true: %s\nstatus: %s\ncomplaints: %v", expression, p.text("#status"), p.complaints())
}

// settled waits until the call on the page has its answers, or is refused.
func (p *page) settled() {
	p.Helper()
	p.wait(`document.getElementById("groups").getAttribute("aria-busy") === "false" && !document.getElementById("status").textContent.startsWith("Loading")`)
}

// quoted is a text as a literal of JavaScript.
func quoted(text string) string {
	b, err := json.Marshal(text)
	if err != nil {
		panic(err) // a string
	}
	return string(b)
}

// text is the text of the first element of a selector.
func (p *page) text(selector string) string {
	p.Helper()
	return evaluate[string](p, fmt.Sprintf(`document.querySelector(%s).textContent`, quoted(selector)))
}

// complaints are the texts of all complaints that are shown.
func (p *page) complaints() []string {
	p.Helper()
	return evaluate[[]string](p, `[...document.querySelectorAll("p.complaint")].filter((c) => c.checkVisibility()).map((c) => c.textContent)`)
}

// answers are the answers on the page by operator: the values, or "refused: " and
// the words.
func (p *page) answers() map[string]string {
	p.Helper()
	return evaluate[map[string]string](p, `Object.fromEntries([...document.querySelectorAll(".group")].flatMap((g) => {
		const value = g.querySelector("pre.value"), own = (li) => li.closest(".said").querySelector(".own")?.textContent;
		return [...g.querySelectorAll(".operators > li")].map((li) => [li.querySelector("button").textContent,
			value ? value.textContent : "refused: " + (own(li) ?? g.querySelector(".error").textContent)]);
	}))`)
}

// shown is what the page shows of the answers.
func (p *page) shown() string {
	p.Helper()
	return p.text("#status") + "\n" + p.text("#groups") + "\n" + p.text("#not-asked")
}

// set types a text into an empty field, after what is in it is selected.
func (p *page) set(field, text string) {
	p.Helper()
	p.do(chromedp.Focus(chromedp.CSS("#" + field)))
	evaluate[bool](p, fmt.Sprintf(`(document.getElementById(%s).select(), true)`, quoted(field)))
	if text == "" {
		p.do(chromedp.KeyEvent("\b"))
	} else {
		p.do(chromedp.KeyEvent(text))
	}
}

// click clicks an element as a pointer does.
func (p *page) click(selector string) {
	p.Helper()
	p.do(chromedp.Click(chromedp.CSS(selector)))
}

// fragment makes a link of pairs of keys and values, as the page writes it.
func fragment(pairs ...string) string {
	var parts []string
	for i := 0; i < len(pairs); i += 2 {
		parts = append(parts, escape(pairs[i])+"="+escape(pairs[i+1]))
	}
	return strings.Join(parts, "&")
}

// escape is JavaScript's encodeURIComponent.
func escape(text string) string {
	var b strings.Builder
	for _, c := range []byte(text) {
		if c >= '0' && c <= '9' || c >= 'A' && c <= 'Z' || c >= 'a' && c <= 'z' || strings.IndexByte("-_.~", c) >= 0 {
			b.WriteByte(c)
		} else {
			fmt.Fprintf(&b, "%%%02X", c)
		}
	}
	return b.String()
}
