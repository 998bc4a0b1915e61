package test

import (
	"testing"

	"github.com/chromedp/chromedp"
)

// TestTimes reports how long the first answer takes after a warm load, and the
// longest time for which typing blocks the page. It judges neither: times are
// those of the machine. That there was an answer is held.
func TestTimes(t *testing.T) {
	both(t, func(t *testing.T, s site) {
		p := s.open(t, "data=[1,2,3]&indices=[0,-1]") // fills the browser's caches
		p.do(chromedp.Reload())
		p.settled()
		for range 3 {
			p.do(chromedp.Navigate("about:blank"), chromedp.Navigate(s.url+"#data=[1,2,3]&indices=[0,-1,7]"))
			p.settled()
			t.Logf("warm load: first answer after %.0f ms", evaluate[float64](p, `performance.getEntriesByName("answer")[0].startTime`))
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
