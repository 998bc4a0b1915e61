package cmdline

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
	StatusDone        = 0
	StatusRefused     = 1 // the data or an index, an I/O error, a verify with failures
	StatusUsage       = 2 // the command was wrong
	StatusInterrupted = 130
)

var (
	// ErrInterrupted is the interruption of a command that leaves nothing.
	ErrInterrupted = errors.New("garner: interrupted; no file was written")
	// errReaderGone means that the reader of printed text, such as head, has closed
	// the pipe. It has read what it needs, so there is no message.
	errReaderGone = errors.New("garner: the reader of standard output is gone")
)

// A UsageError is a command line that cannot be executed.
type UsageError struct {
	Message string
	help    string // the command whose help to point to; "" if the message suffices
	Err     error  // the cause; may be nil
}

func (e *UsageError) Error() string {
	return e.Message + e.more()
}

// more is the line of the message that points to a help.
func (e *UsageError) more() string {
	if e.help == "" {
		return ""
	}
	return "\n\"" + e.help + "\" says more"
}

// Unwrap returns the cause.
func (e *UsageError) Unwrap() error { return e.Err }

// commandName is the name of a command with those above it: "explain gather".
func commandName(cmd *cobra.Command) string {
	return strings.TrimPrefix(cmd.CommandPath(), cmd.Root().Name()+" ")
}

// Usage returns an error that points to a command's help.
func Usage(cmd *cobra.Command, format string, args ...any) error {
	root := cmd.Root().Name()
	help := strings.TrimSpace(root + " help" + strings.TrimPrefix(cmd.CommandPath(), root))
	return &UsageError{Message: fmt.Sprintf(format, args...), help: help}
}

// Wrong returns an error of a command line whose message suffices.
func Wrong(format string, args ...any) error {
	return &UsageError{Message: fmt.Sprintf(format, args...)}
}

// About puts text before an error's message. Its class and status stay.
func About(what string, err error) error {
	return Told(what+Bare(err), err)
}

// Told returns an error with another message. Its class and status stay.
func Told(message string, err error) error { return &toldError{message, err} }

// A toldError is an error with another message.
type toldError struct {
	message string
	err     error
}

func (e *toldError) Error() string { return e.message }

func (e *toldError) Unwrap() error { return e.err }

// Interrupted returns an interruption that leaves a file to resume.
func Interrupted(message string) error { return &interruptedError{message} }

// An interruptedError is an interruption that leaves a file to resume.
type interruptedError struct{ message string }

func (e *interruptedError) Error() string { return e.message }

func (e *interruptedError) Unwrap() error { return ErrInterrupted }

// Bare returns an error's message without the prefix that Report adds.
func Bare(err error) string {
	return strings.TrimPrefix(err.Error(), "garner: ")
}

// Report writes an error to standard error and returns the exit status: 1 for the
// contents of an operand, also of a literal; 2 for an operator, its attributes or
// another flag.
func (p *Console) Report(err error) int {
	status := StatusRefused
	var u *UsageError
	switch {
	case err == nil:
		return StatusDone
	case errors.Is(err, errReaderGone):
		return status
	case errors.Is(err, ErrInterrupted), errors.Is(err, context.Canceled):
		// The interrupted step does not matter, unless the run can be resumed.
		status = StatusInterrupted
		if kept := (*interruptedError)(nil); !errors.As(err, &kept) {
			err = ErrInterrupted
		}
	case errors.As(err, &u), errors.Is(err, garner.ErrAttribute):
		status = StatusUsage
	}
	p.shown.Load().Stop() // otherwise the message would follow it on one line
	message, more := OptionFlags.Replace(strings.TrimPrefix(Bare(err), p.Name+": ")), ""
	if u != nil {
		message, more = strings.TrimSuffix(message, u.more()), u.more()
	}
	if errors.Is(err, syscall.ENOMEM) {
		message += "; " + limits.Memory().String()
	}
	// A name in the message may have line breaks, which would make it look like two.
	fmt.Fprintf(p.Stderr, "%s: %s%s\n", p.Name, terminal.Printable(message), more)
	return status
}

// BrokenPipe reports whether a write failed because the reader closed the pipe.
func BrokenPipe(err error) bool {
	if runtime.GOOS == "windows" {
		const brokenPipe, noData = syscall.Errno(109), syscall.Errno(232)
		return errors.Is(err, brokenPipe) || errors.Is(err, noData)
	}
	return errors.Is(err, syscall.EPIPE)
}

// NotPrinted words the error of a text on standard output. A reader that closes it
// early, such as head, is an errReaderGone, which is not reported.
func NotPrinted(err error) error {
	switch {
	case err == nil:
		return nil
	case BrokenPipe(err):
		return errReaderGone
	}
	return garner.Errorf(err, "cannot write standard output: %v; make room there", Reason(err))
}

// Reason returns the innermost error: the operating system's text.
func Reason(err error) error {
	for {
		inner := errors.Unwrap(err)
		if inner == nil {
			return err
		}
		err = inner
	}
}
