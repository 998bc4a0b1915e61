package main

import (
	"context"
	"errors"
	"fmt"
	"runtime"
	"strings"
	"syscall"

	"github.com/garner-go/garner"
	"github.com/garner-go/garner/internal/limits"
	"github.com/garner-go/garner/internal/terminal"
	"github.com/spf13/cobra"
)

// The exit statuses.
const (
	statusDone        = 0
	statusRefused     = 1 // the data or an index, an I/O error, a verify with failures
	statusUsage       = 2 // the command was wrong
	statusInterrupted = 130
)

var (
	errInterrupted = errors.New("garner: interrupted; no file was written")
	// errReaderGone means that the reader of printed text, such as head, has closed
	// the pipe. It has read what it needs, so there is no message.
	errReaderGone = errors.New("garner: the reader of standard output is gone")
)

// A usageError is a command line that cannot be executed.
type usageError struct {
	message string
	help    string // the command whose help to point to; "" if the message suffices
	err     error  // the cause; may be nil
}

func (e *usageError) Error() string {
	return e.message + e.more()
}

// more is the line of the message that points to a help.
func (e *usageError) more() string {
	if e.help == "" {
		return ""
	}
	return "\n\"" + e.help + "\" says more"
}

func (e *usageError) Unwrap() error { return e.err }

// commandName is the name of a command with those above it: "explain gather".
func commandName(cmd *cobra.Command) string {
	return strings.TrimPrefix(cmd.CommandPath(), cmd.Root().Name()+" ")
}

// usage returns an error that points to a command's help.
func usage(cmd *cobra.Command, format string, args ...any) error {
	help := strings.TrimSpace("garner help" + strings.TrimPrefix(cmd.CommandPath(), cmd.Root().Name()))
	return &usageError{message: fmt.Sprintf(format, args...), help: help}
}

// wrong returns an error of a command line whose message suffices.
func wrong(format string, args ...any) error {
	return &usageError{message: fmt.Sprintf(format, args...)}
}

// about puts text before an error's message. Its class and status stay.
func about(what string, err error) error {
	return &toldError{what + bare(err), err}
}

// A toldError is an error with another message.
type toldError struct {
	message string
	err     error
}

func (e *toldError) Error() string { return e.message }
func (e *toldError) Unwrap() error { return e.err }

// An interruptedError is an interruption that leaves a file to resume.
type interruptedError struct{ message string }

func (e *interruptedError) Error() string { return e.message }
func (e *interruptedError) Unwrap() error { return errInterrupted }

// bare returns an error's message without the prefix that report adds.
func bare(err error) string {
	return strings.TrimPrefix(err.Error(), "garner: ")
}

// report writes an error to standard error and returns the exit status: 1 for the
// contents of an operand, also of a literal; 2 for an operator, its attributes or
// another flag.
func (p *program) report(err error) int {
	status := statusRefused
	var u *usageError
	switch {
	case err == nil:
		return statusDone
	case errors.Is(err, errReaderGone):
		return status
	case errors.Is(err, errInterrupted), errors.Is(err, context.Canceled):
		// The interrupted step does not matter, unless the run can be resumed.
		status = statusInterrupted
		if kept := (*interruptedError)(nil); !errors.As(err, &kept) {
			err = errInterrupted
		}
	case errors.As(err, &u), errors.Is(err, garner.ErrAttribute):
		status = statusUsage
	}
	p.shown.Load().Stop() // otherwise the message would follow it on one line
	message, more := optionFlags.Replace(bare(err)), ""
	if u != nil {
		message, more = strings.TrimSuffix(message, u.more()), u.more()
	}
	if errors.Is(err, syscall.ENOMEM) {
		message += "; " + limits.Memory().String()
	}
	// A name in the message may have line breaks, which would make it look like two.
	fmt.Fprintf(p.stderr, "garner: %s%s\n", terminal.Printable(message), more)
	return status
}

// brokenPipe reports whether a write failed because the reader closed the pipe.
func brokenPipe(err error) bool {
	if runtime.GOOS == "windows" {
		const brokenPipe, noData = syscall.Errno(109), syscall.Errno(232)
		return errors.Is(err, brokenPipe) || errors.Is(err, noData)
	}
	return errors.Is(err, syscall.EPIPE)
}
