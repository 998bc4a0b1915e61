package main

import (
	"bytes"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/garner-go/garner/lint"
)

// TestDocuments holds that docs is up to date with the operators and the
// pictures.
func TestDocuments(t *testing.T) {
	const docs = "../../docs"
	files, err := documents()
	if err != nil {
		t.Fatal(err)
	}
	for name, want := range files {
		got, err := os.ReadFile(filepath.Join(docs, filepath.FromSlash(name)))
		if err != nil || !bytes.Equal(got, want) {
			t.Errorf("docs/%s is not what \"go generate ./internal/gendocs\" writes (%v)", name, err)
		}
		if len(want) > 48<<10 {
			t.Errorf("docs/%s has %d bytes", name, len(want))
		}
	}
	there, err := filepath.Glob(filepath.Join(docs, "pictures", "*.svg"))
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range there {
		if _, ok := files["pictures/"+filepath.Base(name)]; !ok {
			t.Errorf("%s is of no example", name)
		}
	}
	for _, link := range regexp.MustCompile(`\]\((pictures/[^)]*)\)`).FindAllSubmatch(files["operators.md"], -1) {
		if files[string(link[1])] == nil {
			t.Errorf("operators.md shows %s, which there is not", link[1])
		}
	}
	if len(files) != 39 {
		t.Errorf("%d files, not three pages and 36 pictures", len(files))
	}
}

// TestWrite writes the documents into an empty folder and over old ones.
func TestWrite(t *testing.T) {
	dir := t.TempDir()
	if err := write(dir); err != nil {
		t.Fatal(err)
	}
	stale := filepath.Join(dir, "pictures", "stale.svg")
	if err := os.WriteFile(stale, nil, 0o666); err != nil {
		t.Fatal(err)
	}
	if err := write(dir); err != nil {
		t.Fatal(err)
	}
	if _, err := os.Stat(stale); !os.IsNotExist(err) {
		t.Errorf("a picture of no example still stands: %v", err)
	}
	files, err := documents()
	if err != nil {
		t.Fatal(err)
	}
	for name, want := range files {
		if got, err := os.ReadFile(filepath.Join(dir, filepath.FromSlash(name))); err != nil || !bytes.Equal(got, want) {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// TestLintPage holds that the page has every rule with all its evidence, which is in
// the section of the rule or in that of a rule that the section names.
func TestLintPage(t *testing.T) {
	page := string(lintPage())
	section := func(id string) string {
		_, text, _ := strings.Cut(page, "\n## "+id+": ")
		text, _, _ = strings.Cut(text, "\n## ")
		return text
	}
	shows := func(text string, e lint.Evidence) bool {
		row, found := "", false
		for line := range strings.Lines(text) {
			cells := strings.Split(strings.TrimSpace(line), " | ")
			if len(cells) == 3 && strings.Contains(cells[0], "`"+e.Operator+"`") && cells[1] == e.Who()+" "+string(e.Answer) {
				row, found = row+"<br>"+strings.TrimSuffix(cells[2], " |"), true
			}
		}
		for part := range strings.SplitSeq(row, "<br>") {
			if e.Case == "" && strings.HasSuffix(part, "not recorded: <"+e.Source+">") && (!e.DType.Valid() || strings.Contains(" "+part, " "+e.DType.String())) {
				return found
			}
			shared, ends, _ := strings.Cut(strings.TrimPrefix(part, "`"), "`")
			for end := range strings.SplitSeq(strings.TrimPrefix(ends, " "), ", ") {
				if e.Case != "" && shared+end == e.Case {
					return found
				}
			}
		}
		return false
	}
	for _, r := range lint.Rules() {
		own := section(r.ID)
		if !strings.HasPrefix(own, r.Title+"\n\n**"+r.Severity.String()+".** ") || !strings.Contains(own, r.Remedy) {
			t.Errorf("%s has no section", r.ID)
		}
		for _, e := range r.Evidence {
			found := shows(own, e)
			for _, other := range lint.Rules() {
				found = found || strings.Contains(own, "see "+other.ID+".\n") && shows(section(other.ID), e)
			}
			if !found {
				t.Errorf("%s does not show %v", r.ID, e)
			}
		}
	}
}
