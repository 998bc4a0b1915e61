package main

import (
	"io"
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

// get returns the value of a handle; an error of class GARNER_ARGUMENT where it has none of
// the type.
func get[T any](h int64) (T, error) {
	handles.RLock()
	v, ok := handles.by[h].(T)
	handles.RUnlock()
	if !ok {
		return v, argumentf("handle %d is none of a %T, or was released", h, v)
	}
	return v, nil
}

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
// release returns: its memory may then be freed. The number of an error is no handle.
func release(h int64) {
	v, ok := drop(h, func(v any) bool { return !isError(v) })
	if !ok {
		return
	}
	switch v := v.(type) {
	case *job:
		v.cancel(errCancelled)
		if v.started.Swap(true) {
			<-v.ended
		}
	case io.Closer:
		v.Close()
	}
}
