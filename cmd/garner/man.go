package main

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"github.com/garner-go/garner"
	"github.com/garner-go/garner/files"
	"github.com/garner-go/garner/internal/cmdline"
	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
)

func (p *program) manCommand() *cobra.Command {
	return &cobra.Command{
		Use:   "man DIR",
		Short: "Write the manual pages of all commands into a folder",
		Long: `man writes garner.1, garner-gather.1 and a page for every other command into DIR, which
is created if necessary. Their text is that of "garner help". The same garner always
writes the same bytes, so that a package can be built from them reproducibly.

Exit status: 0 done; 1 a page could not be written; 2 the command was wrong.`,
		Example: "  garner man share/man/man1",
		Args: func(cmd *cobra.Command, args []string) error {
			if len(args) != 1 {
				return cmdline.Usage(cmd, "man takes one DIR; %d were given", len(args))
			}
			return nil
		},
		ValidArgsFunction: func(*cobra.Command, []string, string) ([]string, cobra.ShellCompDirective) {
			return nil, cobra.ShellCompDirectiveFilterDirs
		},
		RunE: func(cmd *cobra.Command, args []string) error {
			dir := args[0]
			if err := files.NoOutputURL(dir); err != nil {
				return cmdline.About("DIR ", err)
			}
			if err := os.MkdirAll(dir, 0o777); err != nil {
				return garner.Errorf(err, "cannot make the folder %s: %v; name another", dir, cmdline.Reason(err))
			}
			for _, about := range documented(cmd.Root()) {
				to, err := p.createText(filepath.Join(dir, pageName(about)+".1"))
				if err != nil {
					return err
				}
				if err := to.write([]byte(manPage(about))); err != nil {
					return err
				}
			}
			return nil
		},
	}
}

// documented lists the commands that have a page, each before its own commands.
func documented(root *cobra.Command) []*cobra.Command {
	list := []*cobra.Command{root}
	for _, c := range root.Commands() {
		switch {
		case !c.IsAvailableCommand():
		case c.Name() == "completion":
			list = append(list, c) // whose own commands' texts are cobra's
		default:
			list = append(list, documented(c)...)
		}
	}
	return list
}

// pageName is the name of a command's page: garner-explain-gather.
func pageName(c *cobra.Command) string { return strings.ReplaceAll(c.CommandPath(), " ", "-") }

// manPage is the manual page of a command, in the macros of man(7).
func manPage(c *cobra.Command) string {
	var m manual
	name := pageName(c)
	short := c.Short
	if !c.HasParent() {
		short = "gather slices of tensors exactly as a framework's operator does"
	}
	m.line(`.TH "%s" 1 "" garner "garner manual"`, m.escape(strings.ToUpper(name)))
	m.line(".nh\n.ad l") // a name that is broken at a line's end is another
	m.section("NAME")
	m.line(`%s \- %s`, m.escape(name), m.escape(lowerFirst(short)))
	parts := sections(c.Long)
	m.section("SYNOPSIS")
	if c.HasParent() {
		m.line(`.B %s`, m.escape(c.UseLine()))
	}
	m.paragraphs(parts["SYNOPSIS"])
	m.section("DESCRIPTION")
	if c.HasParent() {
		m.line(`%s.`, m.escape(c.Short))
	}
	m.paragraphs(parts["DESCRIPTION"])
	if commands := c.Commands(); c.HasParent() && len(commands) > 0 {
		m.section("COMMANDS")
		for _, sub := range commands {
			m.line(".TP\n.B %s\n%s", m.escape(sub.Name()), m.escape(sub.Short))
		}
	}
	if c.HasAvailableLocalFlags() {
		m.section("OPTIONS")
		c.LocalFlags().VisitAll(m.flag)
	}
	if parts["EXIT STATUS"] != nil {
		m.section("EXIT STATUS")
		m.paragraphs(parts["EXIT STATUS"])
	}
	examples := parts["EXAMPLES"]
	if c.HasExample() {
		examples = append(examples, strings.Split(c.Example, "\n")...)
	}
	if examples != nil {
		m.section("EXAMPLES")
		m.paragraphs(examples)
	}
	m.section("SEE ALSO")
	var also []string
	if c.HasParent() {
		also = append(also, fmt.Sprintf(`.BR %s (1)`, m.escape(pageName(c.Parent()))))
	}
	for _, other := range documented(c)[1:] {
		if other.Parent() == c && c.Name() != "completion" {
			also = append(also, fmt.Sprintf(`.BR %s (1)`, m.escape(pageName(other))))
		}
	}
	m.line("%s", strings.Join(also, " ,\n"))
	return m.b.String()
}

// lowerFirst is a text without the capital that begins its sentence.
func lowerFirst(text string) string { return strings.ToLower(text[:1]) + text[1:] }

// A manual is a page that is being written.
type manual struct{ b strings.Builder }

func (m *manual) line(format string, args ...any) { fmt.Fprintf(&m.b, format+"\n", args...) }

func (m *manual) section(title string) { m.line(`.SH "%s"`, title) }

// escape writes a text that is one line, or a part of it, so that roff shows it as
// it is.
func (m *manual) escape(text string) string {
	text = strings.NewReplacer(`\`, `\e`, "-", `\-`, "`", `\(ga`, "^", `\(ha`, "~", `\(ti`, `'`, `\(aq`, `"`, `\(dq`).Replace(text)
	if strings.HasPrefix(text, ".") {
		text = `\&` + text
	}
	return text
}

// headings are the beginnings of paragraphs of a help text that are sections of a
// page of their own.
var headings = map[string]string{"Usage": "SYNOPSIS", "Examples": "EXAMPLES", "Exit status": "EXIT STATUS"}

// sections are the lines of a help text by the section that they stand in, an empty
// line behind each paragraph.
func sections(text string) map[string][]string {
	parts := map[string][]string{}
	for paragraph := range strings.SplitSeq(strings.TrimSpace(text), "\n\n") {
		title := "DESCRIPTION"
		head, rest, _ := strings.Cut(paragraph, ":")
		if named := headings[head]; named != "" {
			title, paragraph = named, strings.TrimPrefix(strings.TrimPrefix(rest, " "), "\n")
		}
		parts[title] = append(append(parts[title], strings.Split(paragraph, "\n")...), "")
	}
	return parts
}

// paragraphs writes lines of a help text. Those that are indented keep their form.
func (m *manual) paragraphs(lines []string) {
	for len(lines) > 0 {
		if lines[0] == "" {
			lines = lines[1:]
			continue
		}
		form := strings.HasPrefix(lines[0], " ")
		m.line(".PP")
		if form {
			m.line(".nf")
		}
		for len(lines) > 0 && lines[0] != "" && strings.HasPrefix(lines[0], " ") == form {
			m.line("%s", m.escape(lines[0]))
			lines = lines[1:]
		}
		if form {
			m.line(".fi")
		}
	}
}

// flag writes an option and what it does.
func (m *manual) flag(f *pflag.Flag) {
	if f.Hidden {
		return
	}
	value, about := pflag.UnquoteUsage(f)
	name := `\fB` + m.escape("--"+f.Name) + `\fR`
	if f.Shorthand != "" {
		name = `\fB` + m.escape("-"+f.Shorthand) + `\fR, ` + name
	}
	if value != "" {
		name += ` \fI` + m.escape(value) + `\fR`
	}
	m.line(".TP\n%s\n%s", name, m.escape(about))
	if f.DefValue != "" && f.DefValue != "false" && f.DefValue != "[]" && f.Value.Type() == "string" {
		m.line(`(default %s)`, m.escape(f.DefValue))
	}
}
