package test

import (
	"testing"

	"github.com/chromedp/cdproto/cdp"
	"github.com/chromedp/cdproto/systeminfo"
	"github.com/chromedp/chromedp"
)

// processorTime is the processor time of the processes that show pages, in seconds, by
// process.
func (p *page) processorTime() map[int64]float64 {
	p.Helper()
	info, err := chromedp.CallBrowser(p.ctx, systeminfo.GetProcessInfo, cdp.Empty{})
	if err != nil {
		p.Fatal(err)
	}
	times := map[int64]float64{}
	for _, process := range info.ProcessInfo {
		if process.Type == "renderer" {
			times[process.ID] = process.CPUTime
		}
	}
	if len(times) == 0 {
		p.Fatalf("Chromium tells of no process that shows pages: %v", info.ProcessInfo)
	}
	return times
}

// TestTimes holds that a warm load answers, of a link and of the address alone, and that typing
// does. It reports the time and the processor time of the first answer, and the longest time for
// which typing blocks the page, and judges none: they are those of the machine.
func TestTimes(t *testing.T) {
	both(t, func(t *testing.T, s site) {
		p := s.open(t, "data=[1,2,3]&indices=[0,-1]") // fills the browser's caches
		p.do(chromedp.Reload())
		p.settled()
		for _, tt := range []struct{ name, fragment string }{{"a link", "#data=[1,2,3]&indices=[0,-1,7]"}, {"the address alone", ""}} {
			for range 3 {
				p.do(chromedp.Navigate("about:blank"))
				before := p.processorTime()
				p.do(chromedp.Navigate(s.url + tt.fragment))
				p.settled()
				taken := 0.0
				for id, seconds := range p.processorTime() {
					taken += seconds - before[id]
				}
				if len(p.answers()) == 0 {
					t.Errorf("warm load of %s: no answers", tt.name)
				}
				t.Logf("warm load of %s: first answer after %.0f ms, %.2f s of processor time", tt.name, evaluate[float64](p, `performance.getEntriesByName("answer")[0].startTime`), taken)
			}
		}
		p.do(chromedp.Evaluate[chromedp.Void](`window.long = []; new PerformanceObserver((l) => long.push(...l.getEntries().map((e) => e.duration)))
			.observe({ type: "longtask", buffered: false })`))
		p.do(chromedp.Evaluate[chromedp.Void](`setTimeout(() => { for (const from = performance.now(); performance.now() < from + 80;); })`))
		p.wait(`long.length > 0`) // it does see a task of 80 ms
		p.do(chromedp.Evaluate[chromedp.Void](`long.length = 0`))
		for _, call := range [][2]string{{"[[1,2],[3,4],[5,6]]", "[2,0,-1]"}, {"0:65000", "0:500"}, {"[1,2,3,4]", "[0,1,7]"}} {
			p.set("data", call[0])
			p.set("indices", call[1])
			p.settled()
			if len(p.answers()) == 0 {
				t.Errorf("%v: no answers", call)
			}
		}
		p.click("button[data-operator='numpy.take']")
		p.click("#draw")
		p.wait(`document.querySelector("#drawing .cell")`)
		p.set("indices", "[[2,1],[0,3]]")
		p.settled()
		long := evaluate[[]float64](p, `long`)
		worst := 0.0
		for _, ms := range long {
			worst = max(worst, ms)
		}
		t.Logf("typing: %d tasks of more than 50 ms, the longest %.0f ms", len(long), worst)
	})
}
