package test

import (
	"encoding/json"
	"fmt"
	"maps"
	"net/http"
	"net/http/httptest"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/chromedp/chromedp"
)

// TestLinks opens links, and compares what some operators answer. Both sites
// must show the same.
func TestLinks(t *testing.T) {
	for _, tt := range []struct {
		name, link string
		want       map[string]string // by operator; "" is one that is not asked
	}{
		{"past the end", fragment("data", "[1,2,3]", "indices", "[0,-1,7]"), map[string]string{
			"openvino.Gather-8": "[1, 3, 0]",
			"webnn.gather":      "[1, 3, 3]",
			"onnx.Gather-13":    "refused: indices[2] = 7 is outside axis 0 of data, which has -3…2",
			"numpy.take":        "refused: indices[2] = 7 is outside data, taken flat, which has -3…2",
			"stablehlo.gather":  "",
		}},
		{"columns", fragment("data", "[[1,2,3],[4,5,6]]", "indices", "[2,0]", "axis", "1"), map[string]string{
			"onnx.Gather-13":    "[[3, 1], [6, 4]]",
			"torch.take":        "",
			"tensorflow.Gather": "",
		}},
		{"types", fragment("data", "[1,2,3]", "data_dtype", "f16", "indices", "[0,-4]", "indices_dtype", "i32"), map[string]string{
			"openvino.Gather-8": "[1.0, 0.0]",
		}},
		{"attributes", fragment("data", "[1,2,3,4]", "indices", "[[1],[9]]",
			"attribute:stablehlo.gather:offset_dims", "[1]", "attribute:stablehlo.gather:start_index_map", "[0]",
			"attribute:stablehlo.gather:index_vector_dim", "1", "attribute:stablehlo.gather:slice_sizes", "[2]"), map[string]string{
			"stablehlo.gather": "[[2, 3], [3, 4]]",
			"jax.lax.gather":   "",
		}},
		{"operands", fragment("data", "f32[[1,2],[3,4],[5,6]]", "indices", "[2,0,1]", "operand:offsets", "[0,2]",
			"attribute:torch.embedding_bag:mode", `"sum"`), map[string]string{
			"torch.embedding_bag":               "[[6.0, 8.0], [3.0, 4.0]]",
			"openvino.EmbeddingBagOffsetsSum-3": "[[6.0, 8.0], [3.0, 4.0]]",
			"onnx.Gather-13":                    "",
		}},
		{"words", fragment("data", `["red","日本","a<b"]`, "indices", "[2,1]"), map[string]string{
			"onnx.Gather-13": `["a<b", "日本"]`,
		}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			shown := map[string]string{}
			both(t, func(t *testing.T, s site) {
				p := s.open(t, tt.link)
				if c := p.complaints(); len(c) > 0 {
					t.Errorf("complaints: %q", c)
				}
				got := p.answers()
				for name, want := range tt.want {
					if got[name] != want {
						t.Errorf("%s answers %q, want %q", name, got[name], want)
					}
				}
				if len(got) == 0 {
					t.Error("no answers")
				}
				shown[s.name] = p.shown()
			})
			if shown[static.name] != shown[served.name] {
				t.Errorf("the sites differ:\n%s\n%s", shown[static.name], shown[served.name])
			}
		})
	}
}

// TestEmptyLink holds that a page without a call shows an example.
func TestEmptyLink(t *testing.T) {
	both(t, func(t *testing.T, s site) {
		p := s.open(t, "")
		if len(p.answers()) == 0 || !strings.Contains(evaluate[string](p, "location.hash"), "data=") {
			t.Errorf("no example: %q at %q", p.text("#status"), evaluate[string](p, "location.hash"))
		}
	})
}

// TestForms holds that an example shows the operators that it is about, that the others are
// one click away, and that a link has the choice.
func TestForms(t *testing.T) {
	both(t, func(t *testing.T, s site) {
		p := s.open(t, "")
		p.wait(`document.querySelectorAll("#examples button").length > 0`)
		p.do(chromedp.Evaluate[chromedp.Void](`[...document.querySelectorAll("#examples button")].find((b) => b.textContent === "A tuple of two indices").click()`))
		p.settled()
		tuples := p.answers()
		for name := range tuples {
			if !strings.Contains(strings.ToLower(name), "gathernd") && !strings.Contains(strings.ToLower(name), "gather_nd") {
				t.Errorf("an example of tuples shows %s", name)
			}
		}
		if want := fmt.Sprintf(" from %d operators: an index is negative.", len(tuples)); len(tuples) == 0 || !strings.HasSuffix(p.text("#status"), want) {
			t.Errorf("the page says %q, want %q", p.text("#status"), want)
		}
		link := strings.TrimPrefix(evaluate[string](p, "location.hash"), "#")
		if got := s.open(t, link).answers(); !maps.Equal(got, tuples) {
			t.Errorf("the link %s shows %v, want %v", link, got, tuples)
		}
		sizes := func() []int {
			return evaluate[[]int](p, `[...document.querySelectorAll(".group")].map((g) => -g.querySelectorAll(".operators > li").length)`)
		}
		p.click("#forms [data-form='']")
		if got := p.answers(); len(got) <= len(tuples) || got["onnx.Gather-13"] == "" {
			t.Errorf("all operators are %v", got)
		}
		if strings.Contains(evaluate[string](p, "location.hash"), "form=") || !slices.IsSorted(sizes()) {
			t.Errorf("all operators at %s, groups of %v", evaluate[string](p, "location.hash"), sizes())
		}
		p.click("#forms [data-form=elements]")
		got := p.answers()
		if got["onnx.GatherElements-13"] == "" || got["onnx.Gather-13"] != "" || !slices.IsSorted(sizes()) || evaluate[string](p, `document.activeElement.dataset.form`) != "elements" {
			t.Errorf("elements shows %v, groups of %v, the focus is on %s", got, sizes(), p.focus())
		}
		p.set("data", "[1")
		p.settled()
		p.click("#forms [data-form='']")
		if got := p.text("#status"); !strings.HasPrefix(got, "No answers") {
			t.Errorf("of the answers to an older call it says %q", got)
		}
	})
	p := static.open(t, "")
	p.wait(`document.querySelectorAll("#examples button").length > 0`)
	forms := map[string]bool{}
	for i := range evaluate[int](p, `document.querySelectorAll("#examples button").length`) {
		p.click(fmt.Sprintf("#examples button:nth-child(%d)", i+1))
		p.settled()
		forms[evaluate[string](p, `document.querySelector("#forms [aria-pressed=true]").dataset.form`)] = true
		if len(p.answers()) == 0 {
			t.Errorf("example %d: %s", i+1, p.text("#status"))
		}
	}
	if want := evaluate[int](p, `document.querySelectorAll("#forms button").length - 1`); len(forms) != want || forms[""] {
		t.Errorf("the examples are of the forms %v, want one of %d at least", forms, want)
	}
	two := answering(t, func(_ string, body []byte) (int, string) {
		if !strings.Contains(string(body), `"ask":"answers"`) {
			return 200, echo(body)
		}
		return 200, `{"groups":[
			{"shape":[],"dtype":"i64","values":"1","error":"","operators":[{"name":"a","form":"gather"},{"name":"b","form":"elements"},{"name":"c","form":"elements"}]},
			{"shape":[],"dtype":"i64","values":"2","error":"","operators":[{"name":"d","form":"gather"},{"name":"e","form":"gather"}]}]}`
	})
	if got := two.open(t, "data=[1]&indices=[0]&form=gather").text("#groups pre.value"); got != "2" {
		t.Errorf("of one operator with 1 and two with 2 the page shows %s first", got)
	}
	p = static.open(t, "data=[1,2,3]&indices=[0]&form=nothing")
	if got := p.text("#link-complaint"); !strings.Contains(got, "form=“nothing” is none of gather, gathernd") || len(p.answers()) == 0 {
		t.Errorf("of a form that is none the page says %q, with %d answers", got, len(p.answers()))
	}
	p = static.open(t, "data=[1,2,3]&indices=[0,1]&form=gathernd")
	if got := p.text("#status"); got != "No operator of this kind takes this call." || !evaluate[bool](p, `document.querySelector("#forms [data-form='']").checkVisibility()`) {
		t.Errorf("with no operator to show the page says %q", got)
	}
}

// TestFirst holds that a page without a call shows its first answers before garner has told
// its operators, and that the call is garner's first example.
func TestFirst(t *testing.T) {
	tell := make(chan struct{})
	s := answering(t, func(_ string, body []byte) (int, string) {
		if !strings.Contains(string(body), `"call"`) {
			<-tell
		}
		return 200, echo(body)
	})
	p := s.open(t, "")
	if got := p.answers()["a.b"]; got != "[1,2,3]" {
		t.Errorf("without the operators it answers %q", got)
	}
	close(tell)

	p = static.open(t, "")
	first := evaluate[string](p, "location.hash")
	p.wait(`document.querySelectorAll("#examples button").length > 1`)
	for _, i := range []int{2, 1} {
		p.click(fmt.Sprintf("#examples button:nth-child(%d)", i))
		p.settled()
	}
	if got := evaluate[string](p, "location.hash"); got != first {
		t.Errorf("the page begins with %s; the first example is %s", first, got)
	}
}

// TestRecorded holds that each recorded answer stands at its own runtime, in words, with
// its condition, and says whether it is against the specification.
func TestRecorded(t *testing.T) {
	s := answering(t, func(_ string, body []byte) (int, string) {
		if !strings.Contains(string(body), `"ask":"answers"`) {
			return 200, echo(body)
		}
		return 200, `{"groups":[{"shape":[1],"dtype":"i64","values":"[1]","error":"","operators":[{"name":"a.b","form":"gather","kind":"inside","recorded":[
			{"runtime":"one 1.0","answer":"cut","text":"keeps some","follows":false,"when":"data string","case":"c1"},
			{"runtime":"one 1.0","answer":"the row","text":"gives the row","follows":true,"case":"c2"},
			{"runtime":"two 2.0","answer":"the row","text":"gives the row","follows":true,"case":"c3"},
			{"runtime":"two 2.0","answer":"the row","text":"gives the row","follows":true,"case":"c4"},
			{"runtime":"three 3.0","answer":"0","text":"writes zeros","follows":false,"case":"c5"},
			{"runtime":"four 4.0","answer":"0","text":"writes zeros","follows":false,"case":"c6"},
			{"runtime":"four 4.0","answer":"ends","text":"ends the process","follows":false,"when":"on one thread","case":"c7"}]}]}]}`
	})
	p := s.open(t, "data=[1]&indices=[0]&operator=a.b")
	p.wait(`document.querySelectorAll("#operator-recorded .recording").length === 7`)
	want := []string{
		"recorded one 1.0 gives the row; data string: keeps some, against its spec",
		"recorded two 2.0 gives the row",
		"recorded three 3.0 writes zeros, against its spec",
		"recorded four 4.0 writes zeros; on one thread: ends the process, all against its spec",
	}
	if got := evaluate[[]string](p, `[...document.querySelectorAll("#groups .recording")].map((r) => r.textContent)`); !slices.Equal(got, want) {
		t.Errorf("recorded: %q, want %q", got, want)
	}
	want = []string{"data string: keeps some, against its spec", want[2], want[3]}
	if got := evaluate[[]string](p, `[...document.querySelectorAll("#groups .differs")].map((r) => r.textContent)`); !slices.Equal(got, want) {
		t.Errorf("marked as against its specification: %q, want %q", got, want)
	}
	if got := p.text("#operator-recorded"); !strings.Contains(got, "one 1.0 keeps some (data string), against its own specification · recording c1") {
		t.Errorf("the operator's recordings are %q", got)
	}
}

// TestSlowAnswer holds that the answers to an older call are not taken for those to the
// call on the page while that waits.
func TestSlowAnswer(t *testing.T) {
	answer := make(chan struct{})
	s := answering(t, func(_ string, body []byte) (int, string) {
		if strings.Contains(string(body), `"ask":"answers"`) && strings.Contains(string(body), `"slow"`) {
			<-answer
		}
		return 200, echo(body)
	})
	p := s.open(t, "data=fast&indices=[0]")
	p.set("data", "slow")
	p.wait(`document.body.classList.contains("stale") && document.getElementById("status").textContent.startsWith("Asking")`)
	if got := p.answers()["a.b"]; got != "fast" {
		t.Errorf("meanwhile the page shows %q", got)
	}
	close(answer)
	p.settled()
	if got := p.answers()["a.b"]; got != "slow" || evaluate[bool](p, `document.body.classList.contains("stale")`) || strings.HasPrefix(p.text("#status"), "Asking") {
		t.Errorf("then it shows %q, and says %q", got, p.text("#status"))
	}
}

// TestUnserved holds what a page says that nothing can answer: opened as a file, and on a
// host without what go generate makes.
func TestUnserved(t *testing.T) {
	file, err := filepath.Abs("../index.html")
	if err != nil {
		t.Fatal(err)
	}
	p := static.tab(t)
	p.forgive("") // the browser says what it refuses
	p.do(chromedp.Navigate("file://" + file))
	p.wait(`getComputedStyle(document.getElementById("unserved")).visibility === "visible"`)
	if got := p.complaints(); len(got) != 1 || !strings.Contains(got[0], "needs a web server") || !strings.Contains(got[0], "garner play") || p.text("#status") != "" {
		t.Errorf("as a file the page says %q, %q", got, p.text("#status"))
	}
	both(t, func(t *testing.T, s site) {
		p := s.open(t, "")
		if evaluate[bool](p, `document.getElementById("unserved") !== null`) {
			t.Error("a page that is served says that it is not")
		}
	})
	files := http.FileServer(http.Dir(".."))
	for missing, want := range map[string]string{
		"/wasm_exec.js": "wasm_exec.js cannot be loaded; go generate ./docs/play makes it",
		"/garner.wasm":  "garner.wasm: the server answered 404; go generate ./docs/play makes it",
	} {
		host := httptest.NewServer(headers(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			if r.URL.Path == missing {
				http.NotFound(w, r)
				return
			}
			files.ServeHTTP(w, r)
		})))
		p := site{"missing", host.URL + "/"}.open(t, "")
		p.forgive("Failed to load resource")
		if got := p.text("#status"); got != "garner could not be loaded: "+want {
			t.Errorf("without %s the page says %q", missing, got)
		}
		host.Close()
	}
}

// TestTyping types a call, and opens the link that the address then is.
func TestTyping(t *testing.T) {
	both(t, func(t *testing.T, s site) {
		p := s.open(t, "")
		p.set("data", "[[1,2],[3,4]]")
		p.set("indices", "[-1, 0]")
		p.set("axis", "1")
		p.settled()
		if got, want := p.answers()["numpy.take"], "[[2, 1], [4, 3]]"; got != want {
			t.Errorf("numpy.take answers %q, want %q", got, want)
		}
		hash := evaluate[string](p, "location.hash")
		if want := "#data=[[1,2],[3,4]]&indices=[-1,%200]&axis=1&form=gather"; hash != want {
			t.Errorf("the address has %q, want %q", hash, want)
		}
		again := s.open(t, strings.TrimPrefix(hash, "#"))
		if one, two := p.shown(), again.shown(); one != two {
			t.Errorf("the link shows something else:\n%s\n%s", one, two)
		}
		p.set("axis", "")
		p.settled()
		if got, want := p.answers()["onnx.Gather-13"], "[[3, 4], [1, 2]]"; got != want {
			t.Errorf("without an axis onnx.Gather-13 answers %q, want %q", got, want)
		}
	})
}

// TestHistory goes back from one example to the one before.
func TestHistory(t *testing.T) {
	p := static.open(t, "")
	first := p.text("#answers")
	p.click("#examples button:nth-child(5)")
	p.settled()
	if p.text("#answers") == first {
		t.Fatal("another example shows the same")
	}
	p.do(chromedp.Evaluate[chromedp.Void](`history.back()`))
	p.wait(`document.getElementById("answers").textContent === ` + quoted(first))
}

// TestBadLiterals types what is none. The words stand at the field, and what was
// answered before is pale, not gone.
func TestBadLiterals(t *testing.T) {
	both(t, func(t *testing.T, s site) {
		p := s.open(t, fragment("data", "[1,2,3]", "indices", "[0]"))
		before := p.answers()
		for _, bad := range []struct{ field, text string }{
			{"data", "[1,2"}, {"data", "[[1],[2,3]]"}, {"data", "f99[1]"}, {"data", "<b>1</b>"}, {"data", "0:999999999"},
			{"data", strings.Repeat("[", 70)}, {"indices", "[0.5]"}, {"indices", "["}, {"indices", "[99999999999999999999]"},
			{"axis", "one"}, {"axis", "1.5"}, {"batch_dims", "1e3"}, {"batch_dims", "-"},
		} {
			was := evaluate[string](p, fmt.Sprintf(`document.getElementById(%s).value`, quoted(bad.field)))
			p.set(bad.field, bad.text)
			p.settled()
			own := p.text("#" + bad.field + "-complaint")
			if c := p.complaints(); len(c) != 1 || own == "" || c[0] != own {
				t.Errorf("%s %.20q: complaints %q, at the field %q", bad.field, bad.text, c, own)
			}
			if !evaluate[bool](p, fmt.Sprintf(`document.getElementById(%s).getAttribute("aria-invalid") === "true" && document.body.classList.contains("stale")`, quoted(bad.field))) {
				t.Errorf("%s %.20q: the field or the old answers are not marked", bad.field, bad.text)
			}
			if got := p.answers(); !maps.Equal(got, before) {
				t.Errorf("%s %.20q: the old answers are gone", bad.field, bad.text)
			}
			p.set(bad.field, was)
			p.settled()
			if c := p.complaints(); len(c) > 0 || evaluate[bool](p, `Boolean(document.querySelector("[aria-invalid], .stale"))`) {
				t.Errorf("%s %.20q: after it, complaints %q", bad.field, bad.text, c)
			}
		}
	})
}

// TestBadLinks opens links that no page wrote, in the tab of the one before, which
// loads nothing anew.
func TestBadLinks(t *testing.T) {
	p := static.open(t, "data=[1]&indices=[0]")
	follow := func(link string) {
		p.do(chromedp.Evaluate[chromedp.Void](`document.getElementById("groups").setAttribute("aria-busy", "true"); location.hash = ` + quoted(link)))
		p.settled()
	}
	good := "data=[1,2,3]&indices=[0,-1]"
	for _, tt := range []struct{ link, want string }{
		{good + "&axis=banana", "axis=“banana” is no integer"},
		{good + "&nonsense=1", "“nonsense” is unknown"},
		{good + "&axis", "“axis” has no value"},
		{good + "&axis=%ZZ", "not encoded"},
		{good + "&operand:x=%ff", "not encoded"},
		{good + "&data=[9]", "is there twice"},
		{good + "&language=cobol", "is none of python"},
		{good + "&operator=onnx.Gather-99", "there is no operator “onnx.Gather-99”"},
		{good + "&attribute:numpy.take:mode={}", "is no attribute’s value"},
		{good + "&attribute:numpy.take:mode=[[1]]", "is no attribute’s value"},
		{good + "&attribute:onnx.Gather-13:axis=9007199254740993", "is no attribute’s value"},
		{good + "&attribute:onnx.Gather-13:axis=9007199254740993.0", "is no attribute’s value"},
		{good + "&attribute:onnx.Gather-13:axis=9.007199254740993e15", "is no attribute’s value"},
		{good + "&attribute:onnx.Gather-13:axis=1e400", "is no attribute’s value"},
		{good + "&operand:toString=[1]", "no operator has an operand “toString”"},
		{good + "&operand:__proto__=[1]", "no operator has an operand “__proto__”"},
		{good + "&__proto__=1", "“__proto__” is unknown"},
		{good + "&%3Cimg%20src=x%20onerror=alert(1)%3E=1", "“<img src” is unknown"},
	} {
		follow(tt.link)
		if got := p.text("#link-complaint"); !strings.Contains(got, tt.want) {
			t.Errorf("%s: says %q, want %q", tt.link, got, tt.want)
		}
		if got := p.answers()["numpy.take"]; got != "[1, 3]" {
			t.Errorf("%s: numpy.take answers %q", tt.link, got)
		}
	}
	for _, link := range []string{
		good + "&attribute:__proto__:polluted=1", good + "&attribute:nobody.Nothing:x=1",
		good + "&data_dtype=f99",
	} {
		follow(link)
		if c := p.complaints(); len(c) != 1 {
			t.Errorf("%s: complaints %q, want one, of garner", link, c)
		}
		if evaluate[bool](p, `({}).polluted !== undefined`) {
			t.Errorf("%s changed Object.prototype", link)
		}
	}
	p = static.open(t, "axis=x")
	if c := p.complaints(); len(c) != 1 || len(p.answers()) == 0 {
		t.Errorf("a bad link without a call: complaints %q and %d answers, want the link's and an example's", c, len(p.answers()))
	}
	var many strings.Builder
	for i := range 2500 {
		fmt.Fprintf(&many, "&operand:n%d=1", i)
	}
	for _, tt := range []struct{ link, want string }{
		{"data=" + strings.Repeat("[", 100_000), "it has 100006 characters; there may be 60000"},
		{"data=" + strings.Repeat("%0A", 500_000) + "1&indices=[0]", "characters; there may be 60000"},
		{good + many.String(), "no operator has an operand “n0”"},
	} {
		p = static.open(t, tt.link)
		p.wait(`document.querySelectorAll("#examples button").length > 0`)
		p.wait(`document.querySelectorAll(".group").length > 0`) // those to the example, or to what is left of the call; before, garner refused it whole
		if c := p.complaints(); len(c) != 1 || !strings.Contains(c[0], tt.want) {
			t.Errorf("a long link: complaints %.300q, want %q", c, tt.want)
		}
		if n := evaluate[int](p, `document.querySelectorAll("#operand-fields input").length`); n > 100 {
			t.Errorf("the link has made %d fields", n)
		}
	}
}

// TestStale holds that an answer which comes late is not shown, and that one
// request is under way at most.
func TestStale(t *testing.T) {
	var mu sync.Mutex
	var asked []string
	under, most := 0, 0
	begun, answer := make(chan struct{}), make(chan struct{})
	free := sync.OnceFunc(func() { close(answer) })
	defer free()
	s := answering(t, func(_ string, body []byte) (int, string) {
		var r struct {
			Ask  string
			Call struct{ Data string }
		}
		if err := json.Unmarshal(body, &r); err != nil {
			t.Error(err)
		}
		switch r.Ask {
		case "operators":
			return 200, `{"operators":[{"name":"a.b","kind":"gather"}],"dtypes":[],"examples":[]}`
		case "answers":
			mu.Lock()
			asked = append(asked, r.Call.Data)
			under++
			most = max(most, under)
			mu.Unlock()
			if r.Call.Data == "second" {
				close(begun)
			}
			if r.Call.Data != "first" {
				<-answer // several calls are typed meanwhile
			}
			mu.Lock()
			under--
			mu.Unlock()
			return 200, fmt.Sprintf(`{"groups":[{"shape":[1],"dtype":"i64","values":%q,"error":"","operators":[{"name":"a.b","form":"gather","kind":"inside"}]}],"kind":"inside"}`, r.Call.Data)
		}
		return 200, `{"error":"not here"}`
	})
	p := s.open(t, "data=first&indices=0")
	p.do(chromedp.Evaluate[chromedp.Void](`window.seen = []; new MutationObserver(() => {
		const v = document.querySelector("pre.value")?.textContent;
		if (seen.at(-1) !== v) seen.push(v);
	}).observe(document.getElementById("groups"), { childList: true })`))
	for _, text := range []string{"second", "third", "fourth", "last"} {
		p.do(chromedp.Evaluate[chromedp.Void](`data.value = ` + quoted(text) + `; data.dispatchEvent(new Event("input"))`))
		p.wait(`location.hash.includes("data=` + text + `&")`) // typing has stood still, and the page has asked or put it behind
		if text == "second" {
			select {
			case <-begun:
			case <-time.After(patience):
				t.Fatal("the second call is not asked")
			}
		}
	}
	free()
	p.settled()
	if seen := evaluate[[]string](p, `seen`); !slices.Equal(seen, []string{"last"}) {
		t.Errorf("shown after the first: %q, want the last alone", seen)
	}
	mu.Lock()
	defer mu.Unlock()
	if !slices.Equal(asked, []string{"first", "second", "last"}) {
		t.Errorf("asked %q, want first, second, last", asked)
	}
	if most != 1 {
		t.Errorf("%d requests were under way at once", most)
	}
}

// TestFailures holds what the page says where nothing answers as it should.
func TestFailures(t *testing.T) {
	good := `{"operators":[],"dtypes":["f32"],"examples":[]}`
	for _, tt := range []struct {
		name   string
		status int
		reply  string
		want   string
	}{
		{"refused", 403, "Origin is not mine", "Origin is not mine"},
		{"no JSON", 200, "<html>", "the answer is not JSON"},
		{"nothing", 500, "", "garner play answered 500"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			s := answering(t, func(_ string, body []byte) (int, string) {
				if strings.Contains(string(body), `"operators"`) && !strings.Contains(string(body), `"call"`) {
					return 200, good
				}
				return tt.status, tt.reply
			})
			p := s.open(t, "data=[1]&indices=[0]")
			p.forgive("Failed to load resource")
			if got := p.text("#status"); !strings.Contains(got, tt.want) {
				t.Errorf("says %q, want %q", got, tt.want)
			}
		})
	}
	t.Run("nothing at all", func(t *testing.T) {
		s := answering(t, func(string, []byte) (int, string) { return 404, "gone" })
		p := s.open(t, "")
		p.forgive("Failed to load resource")
		p.wait(`document.getElementById("status").textContent.includes("could not be loaded")`) // the answers may fail before the operators
	})
}

// TestEnded holds that the page starts garner anew where WebAssembly has ended, as
// it does without memory. A small script stands for garner.
func TestEnded(t *testing.T) {
	p := standing(t, `self.garnerAsk = (text) => {
		const r = JSON.parse(text);
		if (r.ask === "operators") return '{"operators":[],"dtypes":[],"examples":[]}';
		if (r.call.data === "end") return end();
		if (r.call.data === "trap") throw new Error("no memory is left");
		return JSON.stringify({ groups: [{ values: r.call.data, error: "", shape: [], dtype: "i64", operators: [{ name: "a.b" }] }] });
	};`).open(t, "data=trap&indices=0")
	if got := p.text("#status"); !strings.Contains(got, "no memory is left") {
		t.Errorf("of a link that ends it the page says %q", got)
	}
	for data, want := range map[string]string{"end": "garner has ended", "trap": "no memory is left"} {
		p.do(chromedp.Evaluate[chromedp.Void](`document.getElementById("data").value = ` + quoted(data) + `; document.getElementById("data").dispatchEvent(new Event("input"))`))
		p.settled()
		if got := p.text("#status"); !strings.Contains(got, want) {
			t.Errorf("the page says %q", got)
		}
		p.set("data", "[2]")
		p.settled()
		if got := p.answers()["a.b"]; got != "[2]" {
			t.Errorf("after that it answers %q", got)
		}
	}
}

// TestBeyond holds that an answer to types which the operator's specification has not is
// told as garner's alone.
func TestBeyond(t *testing.T) {
	p := static.open(t, fragment("data", "[1,2,3]", "indices", "u8[0]", "operator", "onnx.Gather-13"))
	const mark = "types beyond its specification"
	of := func(name string) string {
		return evaluate[string](p, `document.querySelector('[data-operator="`+name+`"]').closest("li").textContent`)
	}
	if got := of("onnx.Gather-13"); !strings.Contains(got, mark) {
		t.Errorf("onnx.Gather-13 by u8: %q", got)
	}
	if got := of("numpy.take"); strings.Contains(got, mark) {
		t.Errorf("numpy.take by u8: %q", got)
	}
	if got := p.text("#operator-answer"); !strings.Contains(got, "Garner’s answer alone: onnx.Gather-13 does not take indices of u8") {
		t.Errorf("the answer of onnx.Gather-13 by u8: %q", got)
	}
}
