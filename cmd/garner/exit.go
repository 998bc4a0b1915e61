package main

import (
	"context"
	"errors"
	"fmt"
	"runtime"
	"strings"
	"syscall"

	"github.com/garner-go/garner"
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
	// errReaderGone is a reader of printed text that wants no more of it, such
	// as head: it has what it asked for, so nothing is said.
	errReaderGone = errors.New("garner: the reader of standard output is gone")
)

// A usageError is a command line that cannot be carried out as it stands.
type usageError struct {
	message string
	help    string // the command whose help says more; "" where the message says all
	err     error  // what lies beneath, where there is something
}

func (e *usageError) Error() string {
	if e.help == "" {
		return e.message
	}
	return e.message + "\n\"" + e.help + "\" says more"
}

func (e *usageError) Unwrap() error { return e.err }

// usage makes an error that points to a command's help.
func usage(cmd *cobra.Command, format string, args ...any) error {
	help := strings.TrimSpace("garner help" + strings.TrimPrefix(cmd.CommandPath(), cmd.Root().Name()))
	return &usageError{message: fmt.Sprintf(format, args...), help: help}
}

// wrong makes an error of a command line whose message says all.
func wrong(format string, args ...any) error {
	return &usageError{message: fmt.Sprintf(format, args...)}
}

// about puts words before an error's message; classes and status stay.
func about(what string, err error) error {
	return &toldError{what + bare(err), err}
}

// A toldError is an error in other words.
type toldError struct {
	message string
	err     error
}

func (e *toldError) Error() string { return e.message }
func (e *toldError) Unwrap() error { return e.err }

// An interruptedError is an interruption after which something is left.
type interruptedError struct{ message string }

func (e *interruptedError) Error() string { return e.message }
func (e *interruptedError) Unwrap() error { return errInterrupted }

// bare is an error's message without the prefix that report gives it.
func bare(err error) string {
	return strings.TrimPrefix(err.Error(), "garner: ")
}

// report says on standard error what went wrong, and answers with the status.
//
// What is about an operand's contents, a literal's too, is 1; what is about an
// operator, its attributes or another flag is 2.
func (p *program) report(err error) int {
	status := statusRefused
	var u *usageError
	switch {
	case err == nil:
		return statusDone
	case errors.Is(err, errReaderGone):
		return status
	case errors.Is(err, errInterrupted), errors.Is(err, context.Canceled):
		// What was being done when it was is of no interest, unless it goes on.
		status = statusInterrupted
		if kept := (*interruptedError)(nil); !errors.As(err, &kept) {
			err = errInterrupted
		}
	case errors.As(err, &u), errors.Is(err, garner.ErrAttribute):
		status = statusUsage
	}
	p.shown.Load().Stop() // or the message would stand behind it
	fmt.Fprintln(p.stderr, "garner: "+bare(err))
	return status
}

// brokenPipe reports whether a write failed because its reader is gone.
func brokenPipe(err error) bool {
	if runtime.GOOS == "windows" {
		const brokenPipe, noData = syscall.Errno(109), syscall.Errno(232)
		return errors.Is(err, brokenPipe) || errors.Is(err, noData)
	}
	return errors.Is(err, syscall.EPIPE)
}
