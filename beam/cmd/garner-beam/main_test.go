package main

import (
	"bytes"
	"context"
	"os"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/garner-go/garner/internal/cmdline"
	"github.com/spf13/pflag"
)

// TestCommandLines runs command lines that are refused before anything runs, with the texts
// and exit statuses of garner.
func TestCommandLines(t *testing.T) {
	t.Chdir(t.TempDir())
	for name, text := range map[string]string{"file": "", "full/x": "", "ids.txt": "0\n"} {
		if dir, _, cut := strings.Cut(name, "/"); cut {
			if err := os.Mkdir(dir, 0o755); err != nil {
				t.Fatal(err)
			}
		}
		if err := os.WriteFile(name, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	for _, tt := range []struct {
		line   string // words apart by one space
		status int
		want   string // on standard error, its beginning
	}{
		{"", 2, "garner-beam: say what to do: gather, gathernd, elements, status, worker or version\n\"garner-beam help\" says more"},
		{"gathr", 2, `garner-beam: no command "gathr"; did you mean gather`},
		{"gather [1] [0]", 2, "garner-beam: gather needs a folder for the result: -o rows/, for example\n\"garner-beam help gather\" says more"},
		{"gather [1] -o rows", 2, "garner-beam: gather takes DATA and INDICES; 1 argument was given\n\"garner-beam help gather\" says more"},
		{"gather [1] [0] -o ", 2, "garner-beam: --output is empty"},
		{"gather [1] [0] -o -", 2, "garner-beam: -o -: the result is a folder of shards"},
		{"gather [1] [0] -o s3://b/rows", 2, "garner-beam: -o s3://b/rows is a URL"},
		{"gather [1] [0] -o file", 2, "garner-beam: -o "},
		{"gather [1] [0] -o full", 2, "garner-beam: -o "},
		{"gather [1] ids.txt -o .", 2, "garner-beam: -o "},
		{"gather - [0] -o rows", 2, "garner-beam: DATA -: other processes do not have the standard input of this one; put it into a file\n"},
		{"gather [1] [0] -o rows --as openvino.GatherND-8", 2, "garner-beam: openvino.GatherND-8 is no gather operator; use \"garner-beam gathernd --as openvino.GatherND-8\"\n"},
		{"gather [1] [0] -o rows --runner spark", 2, "garner-beam: --runner spark: no runner \"spark\"; give prism or flink\n"},
		{"gather [1] [0] -o rows --runner flink", 2, "garner-beam: --runner flink: flink needs the endpoint"},
		{"gather [1] [0] -o rows --detach", 2, "garner-beam: --runner prism: prism runs in this process"},
		{"gather [1] [0] -o rows --flink localhost:8081", 2, "garner-beam: --runner prism: prism runs in this process"},
		{"gather [1] [0] -o rows --worker /bin/garner-beam", 2, "garner-beam: --runner prism: prism runs in this process"},
		{"gather [1] [0] -o rows --runner flink --endpoint h:1 --worker /w --image i", 2, "garner-beam: --worker and --image both say"},
		{"gather [1] [0] -o rows --runner flink --endpoint h:1 --worker w", 2, "garner-beam: --worker w: give an absolute path"},
		{"gather [1] [0] -o rows --image ", 2, "garner-beam: --image is empty"},
		{"status", 2, "garner-beam: status needs the job server: --endpoint HOST:8099, for example\n\"garner-beam help status\" says more"},
		{"status a b --endpoint h:1", 2, "garner-beam: status takes one JOB, or none; 2 arguments were given\n"},
		{"status --endpoint h:1 --flink h:2", 2, "garner-beam: --flink says more about one job; name JOB too\n"},
		{"worker", 2, "garner-beam: worker is what an engine starts, with --id=ID --provision_endpoint=HOST:PORT; it needs both\n\"garner-beam help worker\" says more"},
		{"worker --id=1", 2, "garner-beam: worker is what an engine starts"},
		{"gather [1] [0] -o rows --shard 33M", 2, "garner-beam: --shard 33M: a shard has at most 32 MiB; give 32M or less\n"},
		{"gather [1] [0] -o rows --shard 1K", 2, "garner-beam: --shard \"1K\": it is too little to work with; give 1M or more\n"},
		{"gather [1] [0] -o rows --workers 0", 2, "garner-beam: --workers 0: give 1 or more; without it the runner decides\n"},
		{"gather [1] [0] -o rows --outside fill", 2, "garner-beam: --outside \"fill\": a fill needs its value"},
		{"gather [1] [0] -o rows --attr axs=1", 2, "garner-beam: garner.Gather has no attribute axs; did you mean axis?\n"},
		{"gathernd [1] [0] -o rows --threads 2", 2, "garner-beam: gathernd has no flag --threads"},
		{"gather [1] none.npy -o rows", 1, "garner-beam: INDICES: there is no file "},
		{"gather [1] [0.5] -o rows", 1, "garner-beam: indices"},
		{"version x", 2, "garner-beam: version takes no arguments; \"x\" was given"},
	} {
		var stdout, stderr bytes.Buffer
		var args []string
		if tt.line != "" {
			args = strings.Split(tt.line, " ")
		}
		if status := newProgram(strings.NewReader(""), &stdout, &stderr).run(t.Context(), args); status != tt.status || !strings.HasPrefix(stderr.String(), tt.want) || stdout.Len() > 0 {
			t.Errorf("%q: %d, %q, %q; want %d, %q", tt.line, status, stdout.String(), stderr.String(), tt.status, tt.want)
		}
	}
	if _, err := os.Stat("rows"); err == nil {
		t.Error("a refused command makes the folder of its result")
	}
}

// TestNoEngine asks an endpoint, and a REST API, where nobody listens. The error is that of the connection: gRPC
// alone would try again for 30 seconds, and say then that its time is over.
func TestNoEngine(t *testing.T) {
	t.Chdir(t.TempDir())
	service := `^garner-beam: no job service of Beam answers at localhost:1: [^\\\n]+ refused[^\\\n]*; start one, or give its HOST:PORT\n$`
	rest := `^garner-beam: flink: no REST API of Flink answers at localhost:1: [^\\\n]+ refused[^\\\n]*; start Flink, or give its HOST:PORT\n$`
	for line, want := range map[string]string{
		"status --endpoint localhost:1":                                                         service,
		"gather [1] [0] -o rows --runner flink --endpoint localhost:1":                          service,
		"gather [1] [0] -o rows --runner flink --endpoint " + engine() + " --flink localhost:1": rest,
	} {
		var stdout, stderr bytes.Buffer
		begun := time.Now()
		status := newProgram(nil, &stdout, &stderr).run(t.Context(), strings.Split(line, " "))
		t.Logf("%q takes %v", line, time.Since(begun))
		want := regexp.MustCompile(want)
		if _, err := os.Stat("rows"); err == nil {
			t.Errorf("%q leaves the folder", line)
		}
		if status != cmdline.StatusRefused || !want.MatchString(stderr.String()) || stdout.Len() > 0 {
			t.Errorf("%q: %d, %q, %q", line, status, stdout.String(), stderr.String())
		}
	}
}

// TestInterrupted says that the same command goes on.
func TestInterrupted(t *testing.T) {
	t.Chdir(t.TempDir())
	ctx, cancel := context.WithCancelCause(t.Context())
	cancel(cmdline.ErrInterrupted)
	if err := os.WriteFile("ids.txt", []byte("0\n"), 0o644); err != nil {
		t.Fatal(err)
	}
	var stderr bytes.Buffer
	status := newProgram(strings.NewReader(""), &bytes.Buffer{}, &stderr).run(ctx, []string{"gather", "[1]", "ids.txt", "-o", "rows"})
	if status != cmdline.StatusInterrupted || stderr.String() != "garner-beam: interrupted; what is made of rows stays, and the same command goes on\n" {
		t.Errorf("%d, %q", status, stderr.String())
	}
}

// TestHelps holds that each flag of a gather of this command is in its help, and that
// examples parse.
func TestHelps(t *testing.T) {
	var stdout, stderr bytes.Buffer
	if status := newProgram(nil, &stdout, &stderr).run(t.Context(), []string{"version"}); status != 0 || !regexp.MustCompile(`^garner-beam \S+.* go\S+ \S+/\S+\n$`).MatchString(stdout.String()) {
		t.Errorf("version: %d, %q, %q", status, stdout.String(), stderr.String())
	}
	for _, k := range cmdline.Commands {
		for line := range strings.Lines(examples[k.Kind]) {
			words := strings.Fields(strings.ReplaceAll(line, "'", ""))
			root := newProgram(nil, &stdout, &stderr).command()
			cmd, rest, err := root.Find(words[1:])
			if err != nil || cmd.Name() != string(k.Kind) || words[0] != "garner-beam" {
				t.Fatalf("%q: %v", line, err)
			}
			if err := cmd.ParseFlags(rest); err != nil || len(cmd.Flags().Args()) != 2 || !cmd.Flags().Changed("output") {
				t.Errorf("%q: %v, %q", line, err, cmd.Flags().Args())
			}
		}
		stdout.Reset()
		p := newProgram(nil, &stdout, &stderr)
		if status := p.run(t.Context(), []string{"help", string(k.Kind)}); status != 0 {
			t.Fatal(status)
		}
		cmd, _, _ := p.command().Find([]string{string(k.Kind)})
		cmd.Flags().VisitAll(func(f *pflag.Flag) {
			if !f.Hidden && !strings.Contains(stdout.String(), "--"+f.Name) {
				t.Errorf("help %s lacks --%s", k.Kind, f.Name)
			}
		})
	}
	if !slices.Equal(cmdline.CommandNames(), []string{"gather", "gathernd", "elements"}) {
		t.Errorf("the commands are %q", cmdline.CommandNames())
	}
}
