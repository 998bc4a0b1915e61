package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"strings"
	"text/tabwriter"

	"github.com/garner-go/garner/beam"
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

With JOB, an id of that list, it prints the state of the job, the folder of its result,
its four stages and its counters. The stages are those that gather shows: checking
indices, finding rows, reading rows, writing shards. Each has its bytes (of indices, of the
result, of rows, of the result), how many there are where that is known, the time that
it took, and the time left at its rate so far.

The workers tell in the folder of the result how far they are, about once a second. Where
that folder is not on this machine, and after the end of the job, the engine tells: it hears
of work late, and Flink tells it while a job runs only where --flink names its REST API.
With --flink, status prints Flink's own id and state of the job too.

The counters are the engine's sums over all workers; work that it repeats counts again.
indices_checked are the indices that were checked, shards_found the shards whose rows are
known, rows_wanted and bytes_wanted are the distinct rows of each shard and their bytes,
row_payload the bytes of rows that were sent, bytes_read the bytes of tables that were
read, shards_written and shards_kept the shards that this job made and found whole, and
bytes_made the bytes of both.

Exit status: 0 the job is done, or the list is printed; 1 the job failed, was cancelled,
has refused an index or is not known, or the engine did not answer; 2 the command was
wrong; 3 the job has not ended; 130 interrupted.`

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
			if errors.Is(context.Cause(cmd.Context()), cmdline.ErrInterrupted) { // however the question has ended
				return cmdline.Interrupted("interrupted; a job goes on as it was")
			}
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
	cluster, err := tellFlink(ctx, w, rest, id)
	if err != nil {
		return err
	}
	running, err := beam.Watch(ctx, client, cluster, id)
	if err == nil {
		fmt.Fprintf(w, "out    %s\n", running.Out())
		err = tellStages(ctx, w, running, jobs.Ended(state))
	} else if errors.Is(err, beam.ErrForeign) {
		fmt.Fprintln(w, "stages none: the job is not one of garner-beam")
		err = nil
	}
	if err == nil {
		err = tellCounters(ctx, w, running)
	}
	if err != nil {
		return err
	}
	switch refused := running.Refused(); {
	case !jobs.Ended(state):
		p.status = statusRunning
	case refused != nil:
		return refused
	case state.String() != "DONE":
		return fmt.Errorf("job %s is %s", id, state)
	}
	return nil
}

// tellFlink writes what Flink says about a job of its job server, and returns the Flink.
func tellFlink(ctx context.Context, w io.Writer, rest, id string) (*flink.Client, error) {
	if rest == "" {
		return nil, nil
	}
	client, err := flink.New(rest)
	if err != nil {
		return nil, err
	}
	switch job, err := client.Find(ctx, id); {
	case errors.Is(err, flink.ErrUnknown):
		fmt.Fprintln(w, "flink  does not know the job: it has not begun yet, or is forgotten")
	case err != nil:
		return nil, err
	default:
		fmt.Fprintf(w, "flink  %s %s for %v\n", job.ID, job.State, job.Duration)
	}
	return client, nil
}

// tellStages writes the four stages of a job, which may have ended before they were done.
func tellStages(ctx context.Context, w io.Writer, job *beam.Running, ended bool) error {
	all, err := job.Progress(ctx)
	if err != nil {
		return err
	}
	fmt.Fprintln(w)
	t := tabwriter.NewWriter(w, 0, 8, 2, ' ', 0)
	fmt.Fprintln(t, "stage\tstate\tdone\tof\t%\ttook\tleft")
	for i, s := range all {
		percent, of, took, left := "", "", "", ""
		if ended && s.State == beam.Working {
			s.State, s.Took = "stopped", 0
		}
		if s.Total > 0 {
			percent, of = fmt.Sprint(int64(100*(float64(s.Done)/float64(s.Total)))), units.Bytes(s.Total)
		}
		if s.Took > 0 {
			took = units.Seconds(s.Took.Seconds())
		}
		if s.Left >= 0 && s.State == beam.Working {
			left = units.Seconds(s.Left.Seconds())
		}
		fmt.Fprintf(t, "%d/4 %s\t%s\t%s\t%s\t%s\t%s\t%s\n", i+1, s.Name, s.State, units.Bytes(s.Done), of, percent, took, left)
	}
	return t.Flush()
}

// tellCounters writes what the engine has counted.
func tellCounters(ctx context.Context, w io.Writer, job *beam.Running) error {
	counters, err := job.Counters(ctx)
	if err != nil {
		return err
	}
	t := tabwriter.NewWriter(w, 0, 8, 2, ' ', 0)
	for i, c := range counters {
		if i == 0 {
			fmt.Fprintln(t)
		}
		fmt.Fprintf(t, "%s\t%d\n", c.Name, c.Value)
	}
	return t.Flush()
}
