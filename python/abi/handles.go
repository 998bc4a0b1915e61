package main

import (
	"fmt"
	"io"
	"io/fs"
	"sync"
)

// handles are what C knows by an integer. A number is never used again.
var handles = struct {
	sync.RWMutex
	last int64
	by   map[int64]any
}{by: map[int64]any{}}

// put gives a value a handle.
func put(v any) int64 {
	handles.Lock()
	defer handles.Unlock()
	handles.last++
	handles.by[handles.last] = v
	return handles.last
}

// get returns the value of a handle. It is an error of class GARNER_CLOSED where the handle was released, and of
// GARNER_ARGUMENT where it is another's, or none was ever given.
func get[T any](h int64) (T, error) {
	handles.RLock()
	found, known := handles.by[h]
	given := h > 0 && h <= handles.last
	handles.RUnlock()
	v, ok := found.(T)
	switch {
	case ok:
		return v, nil
	case known || !given:
		return v, argumentf("handle %d is none of a %T", h, v)
	}
	if _, ok := any(v).(*table); ok {
		return v, errTableClosed
	}
	return v, closedError(fmt.Sprintf("garner: handle %d was released", h))
}

// A closedError is an fs.ErrClosed in other words.
type closedError string

const errTableClosed = closedError("garner: the table is closed")

func (e closedError) Error() string      { return string(e) }
func (closedError) Is(target error) bool { return target == fs.ErrClosed }

// drop forgets a handle, and returns its value; false, and nothing is forgotten, where none is known or of
// another kind.
func drop(h int64, kind func(any) bool) (any, bool) {
	handles.Lock()
	defer handles.Unlock()
	v, ok := handles.by[h]
	if ok = ok && kind(v); ok {
		delete(handles.by, h)
	}
	return v, ok
}

// isError reports whether a value waits for garner_error_read.
func isError(v any) bool { _, ok := v.(told); return ok }

// release forgets a handle, and closes what it stood for. A job is cancelled, and has ended when
// release returns, or has no memory of the caller: that may then be freed. The number of an error is no handle.
func release(h int64) {
	v, ok := drop(h, func(v any) bool { return !isError(v) })
	if !ok {
		return
	}
	switch v := v.(type) {
	case *job:
		v.cancel(errCancelled)
		if v.started.Swap(true) && !v.isAlone() {
			<-v.ended
		}
		v.leave()
	case io.Closer:
		v.Close()
	}
}
