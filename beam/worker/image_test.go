package worker

import (
	"encoding/json"
	"os"
	"slices"
	"strings"
	"testing"
)

// TestImage holds beam/Dockerfile: its last stage holds what its first one
// builds, and its entry point with the arguments of an engine is a worker.
func TestImage(t *testing.T) {
	text, err := os.ReadFile("../Dockerfile")
	if err != nil {
		t.Fatal(err)
	}
	var stages [][][2]string // instructions and their arguments
	for line := range strings.Lines(string(text)) {
		line = strings.TrimSpace(line)
		if line == "" || line[0] == '#' {
			continue
		}
		name, args, ok := strings.Cut(line, " ")
		if !ok || !slices.Contains([]string{"FROM", "WORKDIR", "COPY", "RUN", "ENTRYPOINT"}, name) || strings.HasSuffix(line, `\`) {
			t.Fatalf("instruction %q", line)
		}
		if name == "FROM" {
			stages = append(stages, nil)
		}
		if len(stages) == 0 {
			t.Fatalf("%q before FROM", line)
		}
		last := len(stages) - 1
		stages[last] = append(stages[last], [2]string{name, args})
	}
	if len(stages) != 2 || !strings.HasSuffix(stages[0][0][1], " AS build") {
		t.Fatalf("stages %q", stages)
	}
	made := ""
	for _, each := range stages[0] {
		if words := strings.Fields(each[1]); each[0] == "RUN" {
			made = words[slices.Index(words, "-o")+1]
			if words[len(words)-1] != "./cmd/garner-beam" || !slices.Contains(words, "CGO_ENABLED=0") {
				t.Errorf("RUN %s: the last stage has no C library, and the command is ./cmd/garner-beam", each[1])
			}
		}
	}
	var entry []string
	copied := ""
	for _, each := range stages[1] {
		switch words := strings.Fields(each[1]); each[0] {
		case "COPY":
			if len(words) != 3 || words[0] != "--from=build" || words[1] != made {
				t.Errorf("COPY %s: want %s of the stage build", each[1], made)
			}
			copied = words[len(words)-1]
		case "ENTRYPOINT":
			if err := json.Unmarshal([]byte(each[1]), &entry); err != nil {
				t.Fatalf("ENTRYPOINT %s: %v", each[1], err)
			}
		}
	}
	if len(entry) == 0 || entry[0] != copied {
		t.Fatalf("ENTRYPOINT %q, want %s", entry, copied)
	}
	args := append(entry[1:], "--id=1-1", "--logging_endpoint=l:1", "--artifact_endpoint=a:1", "--provision_endpoint=p:1", "--control_endpoint=c:1")
	if !Called(args) {
		t.Errorf("%q is no worker", args)
	}
	if got, err := parse(args); err != nil || got != (arguments{"1-1", "p:1", "c:1", "l:1"}) {
		t.Errorf("%q: %+v, %v", args, got, err)
	}
}
