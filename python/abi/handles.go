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

// drop forgets a handle, and returns its value.
func drop(h int64) any {
	handles.Lock()
	defer handles.Unlock()
	v := handles.by[h]
	delete(handles.by, h)
	return v
}

// release forgets a handle, and closes what it stood for. A job is cancelled, and has ended
// when release returns: its memory may then be freed.
func release(h int64) {
	switch v := drop(h).(type) {
	case *job:
		v.cancel(errCancelled)
		if v.started.Swap(true) {
			<-v.ended
		}
	case io.Closer:
		v.Close()
	}
}
