package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"strings"
	"text/tabwriter"

	"github.com/garner-go/garner/beam/flink"
	"github.com/garner-go/garner/beam/jobs"
	"github.com/garner-go/garner/internal/cmdline"
	"github.com/garner-go/garner/internal/units"
	"github.com/spf13/cobra"
)

// statusRunning is the exit status of a question for a job that has not ended.
const statusRunning = 3

const statusHelp = `Without JOB, status lists the jobs that the job server at --endpoint knows: id, state and
name. It forgets them when it is started anew.

With JOB, an id of that list, it prints the state of the job and its counters. With
--flink it prints what Flink itself says: its id and state of the job, the counters while
the job runs, and for each stage its state, its tasks, and the bytes and records that it
has read and written. Without --flink the counters of a job of Flink come at its end.

The counters are sums over all workers; work that an engine repeats counts again.
rows_wanted and bytes_wanted are the distinct rows of each shard and their bytes,
row_payload the bytes of rows that were sent, bytes_read the bytes of tables that were
read, shards_written and shards_kept the shards that this job made and found whole, and
bytes_made the bytes of both.

Exit status: 0 the job is done, or the list is printed; 1 the job failed, was cancelled
or is not known, or the engine did not answer; 2 the command was wrong; 3 the job has
not ended.`

func (p *program) statusCommand() *cobra.Command {
	var endpoint, rest string
	cmd := &cobra.Command{
		Use:   "status [JOB] --endpoint HOST:PORT",
		Short: "List the jobs of an engine, or tell how far one is",
		Long:  statusHelp,
		Example: `  garner-beam status --endpoint HOST:8099
  garner-beam status JOB --endpoint HOST:8099 --flink HOST:8081`,
		Args: func(cmd *cobra.Command, args []string) error {
			if len(args) > 1 {
				return cmdline.Usage(cmd, "status takes one JOB, or none; %d arguments were given", len(args))
			}
			return nil
		},
		ValidArgsFunction: cobra.NoFileCompletions,
		RunE: func(cmd *cobra.Command, args []string) error {
			switch {
			case endpoint == "":
				return cmdline.Usage(cmd, "status needs the job server: --endpoint HOST:8099, for example")
			case len(args) == 0 && rest != "":
				return cmdline.Usage(cmd, "--flink says more about one job; name JOB too")
			}
			var out strings.Builder
			err := p.tellStatus(cmd.Context(), &out, endpoint, rest, args)
			if _, printed := io.WriteString(p.Stdout, out.String()); err == nil {
				err = cmdline.NotPrinted(printed)
			}
			return err
		},
	}
	flags := cmd.Flags()
	flags.StringVar(&endpoint, "endpoint", "", "the job server, `HOST:PORT`; the port is most often 8099")
	flags.StringVar(&rest, "flink", "", "the REST API of the job server's Flink, `HOST:PORT`; the port is most often 8081")
	cmdline.Complete(cmd, "endpoint")
	cmdline.Complete(cmd, "flink")
	return cmd
}

// tellStatus writes the list of jobs, or what is known of one.
func (p *program) tellStatus(ctx context.Context, w io.Writer, endpoint, rest string, job []string) error {
	client, err := jobs.Dial(ctx, endpoint)
	if err != nil {
		return err
	}
	defer client.Close()
	if len(job) == 0 {
		list, err := client.List(ctx)
		if err != nil {
			return err
		}
		t := tabwriter.NewWriter(w, 0, 8, 2, ' ', 0)
		for _, each := range list {
			fmt.Fprintf(t, "%s\t%s\t%s\n", each.ID, each.State, each.Name)
		}
		return t.Flush()
	}
	id := job[0]
	state, err := client.State(ctx, id)
	if err != nil {
		return err
	}
	fmt.Fprintf(w, "job    %s\nstate  %s\n", id, state)
	var counters []jobs.Counter
	if rest == "" {
		if counters, err = client.Counters(ctx, id); err != nil {
			return err
		}
	} else if counters, err = tellFlink(ctx, w, rest, id); err != nil {
		return err
	}
	t := tabwriter.NewWriter(w, 0, 8, 2, ' ', 0)
	for i, c := range counters {
		if i == 0 {
			fmt.Fprintln(t)
		}
		fmt.Fprintf(t, "%s\t%d\n", c.Name, c.Value)
	}
	if err := t.Flush(); err != nil {
		return err
	}
	switch {
	case !jobs.Ended(state):
		p.status = statusRunning
	case state.String() != "DONE":
		return fmt.Errorf("job %s is %s", id, state)
	}
	return nil
}

// tellFlink writes what Flink says about a job of its job server, and returns its counters.
func tellFlink(ctx context.Context, w io.Writer, rest, id string) ([]jobs.Counter, error) {
	client, err := flink.New(rest)
	if err != nil {
		return nil, err
	}
	job, err := client.Find(ctx, id)
	if errors.Is(err, flink.ErrUnknown) {
		fmt.Fprintln(w, "flink  does not know the job: it has not begun yet, or is forgotten")
		return nil, nil
	}
	if err == nil {
		job, err = client.Job(ctx, job.ID)
	}
	if err != nil {
		return nil, err
	}
	fmt.Fprintf(w, "flink  %s %s for %v\n\n", job.ID, job.State, job.Duration)
	t := tabwriter.NewWriter(w, 0, 8, 2, ' ', 0)
	fmt.Fprintln(t, "stage\tstate\ttasks\tread\trecords\twritten\trecords\tname")
	for i, s := range job.Stages {
		fmt.Fprintf(t, "%d\t%s\t%d\t%s\t%d\t%s\t%d\t%s\n", i+1, s.State, s.Parallelism, units.Bytes(s.ReadBytes), s.ReadRecords, units.Bytes(s.WriteBytes), s.WriteRecords, s.Name)
	}
	if err := t.Flush(); err != nil {
		return nil, err
	}
	return client.Counters(ctx, job.ID)
}
