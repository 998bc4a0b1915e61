package main

/*
#include <stdlib.h>
#include <string.h>
#include "garner.h"
*/
import "C"

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"runtime/debug"
	"strings"
	"sync"
	"syscall"
	"unsafe"

	"github.com/garner-go/garner"
	"github.com/garner-go/garner/files"
	"github.com/garner-go/garner/format/gguf"
	"github.com/garner-go/garner/format/npy"
	"github.com/garner-go/garner/format/npz"
	"github.com/garner-go/garner/format/raw"
	"github.com/garner-go/garner/format/safetensors"
	"github.com/garner-go/garner/format/shards"
	textfile "github.com/garner-go/garner/format/text"
	"github.com/garner-go/garner/internal/exec"
	"github.com/garner-go/garner/model"
	"github.com/garner-go/garner/source"
)

// An argumentError is a mistake in how the library is called.
type argumentError struct{ text string }

func (e *argumentError) Error() string { return e.text }

func argumentf(format string, args ...any) error {
	return &argumentError{"garner: " + fmt.Sprintf(format, args...)}
}

// A panicError is a panic that was recovered.
type panicError struct {
	value any
	stack []byte
}

func (e *panicError) Error() string {
	return fmt.Sprintf("garner: a mistake in garner, please report it: %v\n%s", e.value, e.stack)
}

// A fileError is what opening a file said: that it is not there, is damaged, is of another format than its
// name says, or has no such array.
type fileError struct {
	error
	path    string
	missing bool // there is no such file, or none that a pattern names
	format  bool // the error is of the file's format, whatever else it is
	written bool // it is a file to write, whose bytes come to another name first
}

func (e *fileError) Unwrap() error { return e.error }

// inFile is an error of a file that was named by text; nil for nil.
func inFile(text string, err error) error {
	if err == nil {
		return nil
	}
	e := &fileError{error: err, path: text}
	if p, of := files.Parse(text); of == nil {
		e.path = p.Path
	} else if path, _, _ := strings.Cut(text, "#"); path != "" {
		e.path = path
	}
	for _, format := range []error{npy.ErrFormat, npz.ErrFormat, safetensors.ErrFormat, gguf.ErrFormat, raw.ErrFormat, shards.ErrFormat, textfile.ErrFormat, files.ErrUnknown} {
		e.format = e.format || errors.Is(err, format)
	}
	_, stat := os.Stat(e.path)
	switch pattern := strings.ContainsAny(e.path, "*?["); {
	case e.path == "" || isURL(text):
	case errors.Is(err, fs.ErrNotExist):
		e.missing = stat != nil
	case errors.Is(stat, fs.ErrNotExist) && !pattern && (e.format || errors.Is(err, garner.ErrAttribute)):
		e.missing = true
		e.error = garner.Errorf(fs.ErrNotExist, "there is no file %s; check the name and the folder", e.path)
	}
	return e
}

func isURL(text string) bool { return strings.Contains(text, "://") }

var errCancelled = errors.New("garner: cancelled")

// A told is an error that waits for garner_error_read.
type told struct{ err error }

// tell returns the number of an error, 0 for none.
func tell(err error) C.int64_t {
	if err == nil {
		return 0
	}
	number := put(told{err})
	last.Lock()
	at := &last.numbers[last.told%len(last.numbers)]
	old := *at
	*at = number
	last.told++
	last.Unlock()
	if old != 0 {
		drop(old, isError)
	}
	return C.int64_t(number)
}

// last has the errors that were told last. A caller that an exception cut short between a call and garner_error_read never
// asks for its error, so older ones are forgotten.
var last struct {
	sync.Mutex
	numbers [1 << 12]int64 // as garner.h says
	told    int
}

// hook gets the name of an export that is called. It is nil but in tests, which let it panic.
var hook func(export string)

// safely calls f for an export, and returns its error, or its panic as one. A page fault at an address of the caller's is an
// ErrFault: whatever it gave may be a file that another process cuts short.
func safely(export string, f func() error) (err error) {
	defer debug.SetPanicOnFault(debug.SetPanicOnFault(true))
	defer func() {
		if r := recover(); exec.IsFault(r) {
			err = garner.Vanished()
		} else if r != nil {
			err = &panicError{r, debug.Stack()}
		}
	}()
	if hook != nil {
		hook(export)
	}
	return f()
}

// blamed is the error of a lookup whose numbers or whose result vanished in its middle, in place of one that names the
// table's file; err where both are there.
func blamed(err error, ids unsafe.Pointer, length int, out []byte) error {
	if !errors.Is(err, garner.ErrFault) && !errors.Is(err, syscall.EFAULT) {
		return err
	}
	const page = 4096
	touched := func(b []byte, write bool) bool {
		return !exec.Guard(func() {
			for at := 0; at < len(b); at += page {
				touch(b[at:], write)
			}
			if len(b) > 0 {
				touch(b[len(b)-1:], write)
			}
		})
	}
	const remedy = "it is memory of a file that was cut short or whose disk is full, or memory that may not be used so; give a copy"
	if !touched(unsafe.Slice((*byte)(ids), length), false) {
		return garner.Errorf(garner.ErrFault, "the numbers of rows cannot be read: %s", remedy)
	}
	if !touched(out, true) {
		return garner.Errorf(garner.ErrFault, "out cannot be written to: %s", remedy)
	}
	return err
}

//go:noinline
func touch(b []byte, write bool) byte {
	v := b[0]
	if write {
		b[0] = v
	}
	return v
}

// memory returns n elements at p; an error where that is no memory.
func memory[T any](what string, p *T, n C.int64_t) ([]T, error) {
	switch {
	case n < 0 || n > 1<<48/C.int64_t(max(unsafe.Sizeof(*p), 1)):
		return nil, argumentf("%s of %d elements", what, n)
	case n > 0 && p == nil:
		return nil, argumentf("%s of %d elements has no memory", what, n)
	}
	return unsafe.Slice(p, n), nil
}

//export garner_free
func garner_free(text *C.char) {
	safely("garner_free", func() error {
		C.free(unsafe.Pointer(text))
		return nil
	})
}

//export garner_error_read
func garner_error_read(number C.int64_t, to *C.garner_error) C.int32_t {
	if to == nil {
		return -1
	}
	v, ok := drop(int64(number), isError)
	if !ok {
		return -1
	}
	if err := safely("garner_error_read", func() error { return describe(v.(told).err, to) }); err != nil {
		*to = C.garner_error{error_class: C.GARNER_INTERNAL, text: C.CString(words(err))}
	}
	return 0
}

// describe puts an error into words for C.
func describe(err error, to *C.garner_error) error {
	*to = C.garner_error{error_class: classOf(err), text: C.CString(words(err))}
	var errno syscall.Errno
	if errors.As(err, &errno) {
		to.error_number = C.int32_t(errno)
	} else if errors.Is(err, fs.ErrNotExist) && to.error_class == C.GARNER_SYSTEM {
		to.error_number = C.int32_t(syscall.ENOENT)
	}
	var read *source.ReadError
	var path *fs.PathError
	var of *model.Error
	var file *fileError
	switch {
	case errors.As(err, &file) && file.written:
		to.path = C.CString(file.path)
	case errors.As(err, &read) && read.Path != "":
		to.path = C.CString(read.Path)
	case errors.As(err, &path) && path.Path != "":
		to.path = C.CString(path.Path)
	case errors.As(err, &of) && of.Path != "":
		to.path = C.CString(of.Path)
	case errors.As(err, &file):
		to.path = C.CString(file.path)
	}
	var shape *garner.ShapeError
	if errors.As(err, &shape) {
		for i := 0; i < len(shape.Kind) && i < len(to.kind)-1; i++ {
			to.kind[i] = C.char(shape.Kind[i])
		}
	}
	var bad *garner.IndexError
	if errors.As(err, &bad) {
		to.rank = C.int32_t(min(len(bad.Position), len(to.position)))
		for i, p := range bad.Position[:to.rank] {
			to.position[i] = C.int64_t(p)
		}
		to.value, to.axis, to.dim = C.uint64_t(bad.Value.Bits), C.int64_t(bad.Axis), C.int64_t(bad.Dim)
		if bad.Value.Unsigned {
			to.value_unsigned = 1
		}
	}
	return nil
}

// words returns the text of an error, which has no NUL: C ends there.
func words(err error) string { return strings.ReplaceAll(err.Error(), "\x00", `\x00`) }

// classOf returns the class of an error.
func classOf(err error) C.int32_t {
	var argument *argumentError
	var panicked *panicError
	var errno syscall.Errno
	var path *fs.PathError
	var file *fileError
	isFile := errors.As(err, &file)
	switch {
	case errors.As(err, &panicked):
		return C.GARNER_INTERNAL
	case errors.As(err, &argument):
		return C.GARNER_ARGUMENT
	case errors.Is(err, errCancelled):
		return C.GARNER_CANCELLED
	case errors.Is(err, garner.ErrFault):
		return C.GARNER_FAULT
	case errors.Is(err, source.ErrChanged):
		return C.GARNER_CHANGED
	case errors.Is(err, fs.ErrClosed):
		return C.GARNER_CLOSED
	case errors.Is(err, files.ErrKept), errors.Is(err, files.ErrNoResume):
		return C.GARNER_KEPT
	case errors.Is(err, garner.ErrIndex):
		return C.GARNER_INDEX
	case errors.Is(err, garner.ErrOverlap):
		return C.GARNER_OVERLAP
	case errors.As(err, &errno), errors.As(err, &path), errors.Is(err, fs.ErrNotExist) && (!isFile || file.missing):
		return C.GARNER_SYSTEM
	case isFile && (file.format || !errors.Is(err, garner.ErrDType) && !errors.Is(err, garner.ErrShape) && !strings.Contains(err.Error(), "Options.")):
		return C.GARNER_FORMAT
	case errors.Is(err, garner.ErrDType):
		return C.GARNER_DTYPE
	case errors.Is(err, garner.ErrAttribute):
		return C.GARNER_ATTRIBUTE
	case errors.Is(err, garner.ErrShape):
		return C.GARNER_SHAPE
	}
	var read *source.ReadError
	if errors.As(err, &read) || strings.Contains(err.Error(), "unexpected EOF") {
		return C.GARNER_SYSTEM
	}
	return C.GARNER_OTHER
}
