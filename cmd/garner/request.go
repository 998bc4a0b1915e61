package main

import (
	"context"

	"github.com/garner-go/garner/internal/cmdline"
	"github.com/garner-go/garner/operators"
)

// askedOf parses the command line of a gather; checkOutput refuses an OUT.
func (p *program) askedOf(ctx context.Context, kind operators.Kind, f *gatherFlags, args []string, checkOutput func(string) error) (*cmdline.Request, error) {
	return p.Ask(ctx, kind, &f.Flags, args, f.stream.memory.Budget(), func() error {
		if f.threads.Given && (f.threads.Value < 1 || f.threads.Value > 1<<16) {
			return cmdline.Wrong("--threads %d: give 1 or more; without it all cores are used", f.threads.Value)
		}
		if f.out != "" {
			return checkOutput(f.out)
		}
		return nil
	})
}
