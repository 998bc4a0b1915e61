package main

import (
	"github.com/garner-go/garner/internal/catalog"
	"github.com/spf13/cobra"
)

func (p *program) opsCommand() *cobra.Command {
	return &cobra.Command{
		Use:     "ops",
		Short:   "List every operator, the command that runs it and its specification",
		Example: "  garner ops",
		Args: func(cmd *cobra.Command, args []string) error {
			if len(args) > 0 {
				return usage(cmd, "ops takes no arguments; %q was given", args[0])
			}
			return nil
		},
		ValidArgsFunction: cobra.NoFileCompletions,
		RunE: func(*cobra.Command, []string) error {
			to := p.printer()
			for _, o := range catalog.Operators() {
				to.printf("%-26s %-9s %s\n", o.Name, o.Kind, o.Spec)
			}
			return to.flush()
		},
	}
}
