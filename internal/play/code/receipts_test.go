package code_test

import (
	"encoding/json"
	"maps"
	"os"
	"regexp"
	"slices"
	"testing"

	"github.com/garner-go/garner/internal/play/calls"
	"github.com/garner-go/garner/internal/play/code"
)

// renew is what to do where the receipts are not those of the texts.
const renew = "run bench/snippets.py --write with all peers of bench/README.md, and read what differs"

// TestReceipts holds that every text of Python was run in its framework as it is now, and
// compared with the answer that garner gives now: bench/snippets.json has a receipt for each,
// of the versions that the benchmarks are pinned to.
func TestReceipts(t *testing.T) {
	const file = "../../../bench/snippets.json"
	b, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	if len(b) > 100_000 {
		t.Errorf("%s has %d bytes", file, len(b))
	}
	var peers map[string]struct {
		Versions map[string]string `json:"versions"`
		Texts    map[string]string `json:"texts"` // outcomes by receipts
	}
	if err := json.Unmarshal(b, &peers); err != nil {
		t.Fatal(err)
	}
	left, agreed := map[string]string{}, 0
	for _, p := range peers {
		for receipt, outcome := range p.Texts {
			left[receipt] = outcome
			if outcome == "agreed" {
				agreed++
			} else if !regexp.MustCompile(`^[\w-]+$`).MatchString(outcome) {
				t.Errorf("%s: the outcome %q is no recording", receipt, outcome)
			}
		}
	}
	all, err := calls.All()
	if err != nil {
		t.Fatal(err)
	}
	ran := map[string]bool{}
	for _, c := range all {
		text, err := code.Of(c.Operator, c.Call, code.Python)
		if err != nil {
			continue // no text, which TestUnsaid holds
		}
		receipt := c.Receipt(text)
		if ran[receipt] = true; left[receipt] == "" {
			t.Errorf("%s, %s: this text was not run, or not compared with this answer; %s\n%s", c.Operator.Name, c.Title, renew, text)
		}
	}
	for receipt := range left {
		if !ran[receipt] {
			t.Errorf("there is no text for the receipt %s; %s", receipt, renew)
		}
	}
	if agreed < len(left)*9/10 || len(left) < 500 {
		t.Errorf("%d of %d texts agree", agreed, len(left))
	}
	pinned := map[string]string{}
	for name, line := range map[string]string{"requirements.txt": `(?m)^(\w+)==(\S+)$`, "README.md": `\b(tensorflow)-cpu==([\w.]+)`} {
		b, err := os.ReadFile("../../../bench/" + name)
		if err != nil {
			t.Fatal(err)
		}
		for _, m := range regexp.MustCompile(line).FindAllStringSubmatch(string(b), -1) {
			pinned[m[1]] = m[2]
		}
	}
	if len(pinned) < 8 {
		t.Errorf("pinned are %v alone", pinned)
	}
	known := map[string]bool{}
	for name, p := range peers {
		for module, version := range p.Versions {
			known[module] = true
			if pinned[module] != "" && pinned[module] != version {
				t.Errorf("%s was run with %s %s, and %s is pinned; %s", name, module, version, pinned[module], renew)
			}
		}
	}
	for _, module := range slices.Sorted(maps.Keys(pinned)) {
		if !known[module] {
			t.Errorf("%s is pinned, and no peer was run with it; %s", module, renew)
		}
	}
}
