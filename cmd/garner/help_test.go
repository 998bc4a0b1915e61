package main

import (
	"bytes"
	"regexp"
	"strings"
	"testing"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/garner-go/garner/files"
)

// inHelp is a command line in a text: "garner lint --format json", "garner run MODEL --node NAME".
var inHelp = regexp.MustCompile(`garner ([a-z]+)((?: -?-?[A-Za-z#./=,_]+){0,8})`)

// TestHelpFlags holds that each command line in a help text has the flags of its command.
func TestHelpFlags(t *testing.T) {
	root := newProgram(nil, &bytes.Buffer{}, &bytes.Buffer{}).command()
	commands := map[string]*cobra.Command{}
	for _, c := range root.Commands() {
		c.InitDefaultHelpFlag()
		commands[c.Name()] = c
	}
	seen := 0
	look := func(of, text string) {
		for _, line := range inHelp.FindAllStringSubmatch(strings.Join(strings.Fields(text), " "), -1) {
			c := commands[line[1]]
			if c == nil {
				continue // a sentence that goes on behind the name
			}
			words, _, _ := strings.Cut(line[2], " garner ") // the next example
			if list := strings.Fields(words); len(list) > 0 {
				if under, _, err := c.Find(list[:1]); err == nil {
					c = under // such as explain elements
				}
			}
			for word := range strings.FieldsSeq(words) {
				name, is := strings.CutPrefix(word, "--")
				if !is {
					continue
				}
				name, _, _ = strings.Cut(strings.TrimRight(name, ".,"), "=")
				seen++
				if c.Flags().Lookup(name) == nil {
					t.Errorf("the help of %s says %q, and %s has no --%s", of, line[0], line[1], name)
				}
			}
		}
	}
	for _, c := range append(root.Commands(), root) {
		look(c.Name(), c.Long)
		look(c.Name(), c.Example)
		c.Flags().VisitAll(func(f *pflag.Flag) { look(c.Name()+" --"+f.Name, f.Usage) })
	}
	if seen < 20 {
		t.Errorf("only %d flags were looked at", seen)
	}
}

// TestHelpOutputs holds that the help of a command that writes an array to -o names every format
// that is written.
func TestHelpOutputs(t *testing.T) {
	root := newProgram(nil, &bytes.Buffer{}, &bytes.Buffer{}).command()
	n := 0
	for _, c := range root.Commands() {
		f := c.Flags().Lookup("output")
		if f == nil || !strings.Contains(f.Usage, "npy") {
			continue
		}
		n++
		texts := map[string]string{"-o": f.Usage}
		if c.Name() == "model" {
			texts["the help"] = c.Long
		}
		for _, extension := range regexp.MustCompile(`\.[a-z]+`).FindAllString(files.Writable(), -1) {
			for what, text := range texts {
				if !strings.Contains(text, extension) {
					t.Errorf("%s: %s does not name %s, which is written", c.Name(), what, extension)
				}
			}
		}
	}
	if n < 4 {
		t.Errorf("%d commands write an array", n)
	}
}
