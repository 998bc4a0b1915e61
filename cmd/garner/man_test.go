package main

import (
	"bytes"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/garner-go/garner/internal/cmdline"
	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
)

// unroff undoes what roff does to the text of a page, as far as pages use it.
var unroff = strings.NewReplacer(`\e`, `\`, `\-`, "-", `\(ga`, "`", `\(ha`, "^", `\(ti`, "~", `\(aq`, "'", `\(dq`, `"`, `\&`, "", `\fB`, "", `\fI`, "", `\fR`, "")

// TestMan holds that every command has a page with every line of its help, every
// flag and every example, and that roff reads it.
func TestMan(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "share", "man1")
	for range 2 { // the second run replaces the pages
		if status, stdout, stderr := garnerRun("man", dir); status != cmdline.StatusDone || stdout+stderr != "" {
			t.Fatalf("status %d, %s%s", status, stdout, stderr)
		}
	}
	root := newProgram(nil, &bytes.Buffer{}, &bytes.Buffer{}).command()
	pages := map[string]bool{}
	var look func(c *cobra.Command)
	look = func(c *cobra.Command) {
		name := strings.ReplaceAll(c.CommandPath(), " ", "-") + ".1"
		pages[name] = true
		b, err := os.ReadFile(filepath.Join(dir, name))
		if err != nil {
			t.Error(err)
			return
		}
		page := unroff.Replace(string(b))
		for line := range strings.Lines(c.Long + "\n" + c.Example + "\n" + c.Short) {
			for _, heading := range []string{"Usage:", "Examples:", "Exit status:"} {
				line = strings.TrimPrefix(line, heading)
			}
			if line = strings.TrimSpace(line); line != "" && !strings.Contains(page, line) && c.HasParent() {
				t.Errorf("%s lacks %q", name, line)
			}
		}
		c.LocalFlags().VisitAll(func(f *pflag.Flag) {
			_, usage := pflag.UnquoteUsage(f)
			if has := strings.Contains(page, "--"+f.Name) && strings.Contains(page, usage); has == f.Hidden {
				t.Errorf("%s: --%s is there: %t", name, f.Name, has)
			}
		})
		for _, section := range []string{"NAME", "SYNOPSIS", "DESCRIPTION", "SEE ALSO"} {
			if strings.Count(page, ".SH \""+section+"\"\n") != 1 {
				t.Errorf("%s has not one section %s", name, section)
			}
		}
		for line := range strings.Lines(string(b)) {
			if strings.HasPrefix(line, "'") || strings.HasPrefix(line, ".") && !strings.Contains(" .TH .SH .PP .TP .nf .fi .nh .ad .B .BR ", " "+strings.Fields(line)[0]+" ") {
				t.Errorf("%s: %q is no macro that a page uses", name, line)
			}
		}
		if groff, err := exec.LookPath("groff"); err == nil {
			out, err := exec.Command(groff, "-man", "-ww", "-z", "-Kutf8", "-Tutf8", filepath.Join(dir, name)).CombinedOutput()
			if err != nil || len(out) > 0 {
				t.Errorf("%s: %v: %s", name, err, out)
			}
		}
		if c.Name() != "completion" {
			for _, sub := range c.Commands() {
				if sub.IsAvailableCommand() {
					look(sub)
				}
			}
		}
	}
	look(root)
	entries, err := os.ReadDir(dir)
	if err != nil || len(entries) != len(pages) || len(pages) < 15 {
		t.Errorf("%d pages; want %d (%v)", len(entries), len(pages), err)
	}
	if page, err := os.ReadFile(filepath.Join(dir, "garner.1")); err != nil || !strings.Contains(unroff.Replace(string(page)), "garner gathernd DATA INDICES [--batch-dims N]") {
		t.Errorf("%v, %s", err, page)
	}
	for _, args := range [][]string{{"man"}, {"man", dir, dir}} {
		if status, _, stderr := garnerRun(args...); status != cmdline.StatusUsage || !strings.HasPrefix(stderr, "garner: man takes one DIR; ") {
			t.Errorf("%q: status %d, %s", args, status, stderr)
		}
	}
	file := filepath.Join(t.TempDir(), "file")
	writeFile(t, file, nil)
	if status, _, stderr := garnerRun("man", filepath.Join(file, "man1")); status != cmdline.StatusRefused || !strings.HasPrefix(stderr, "garner: cannot make the folder ") {
		t.Errorf("status %d, %s", status, stderr)
	}
}
