package mapped

import "sync/atomic"

// Places is the number of counters of a Users. Calls at different places share no
// cache line.
const Places = 16

// Users counts the calls that use a resource, such as a mapping. After Close no
// further call may begin, and the last one in progress frees the resource. So Close
// waits for no call, and a call may close what it uses. The zero Users is open.
type Users struct {
	closed atomic.Bool
	freed  atomic.Bool
	counts [Places]struct {
		n atomic.Int64
		_ [56]byte // the rest of the cache line
	}
}

// Enter begins a call; it returns false after Close. Either way a Leave at the same
// place follows. place is any number: it chooses the counter.
func (u *Users) Enter(place uint) bool {
	u.counts[place%Places].n.Add(1)
	return !u.closed.Load()
}

// Leave ends a call. After Close it returns true: the caller then calls FreeIdle.
func (u *Users) Leave(place uint) bool {
	u.counts[place%Places].n.Add(-1)
	return u.closed.Load()
}

// Close lets no further call begin, and does what FreeIdle does. A second Close does
// nothing.
func (u *Users) Close(free func() error) error {
	u.closed.Store(true)
	return u.FreeIdle(free)
}

// FreeIdle calls free if no call is in progress, and returns its error; it does so
// once. Calls begin no more, so a counter that is found at 0 has no call later.
func (u *Users) FreeIdle(free func() error) error {
	for i := range u.counts {
		if u.counts[i].n.Load() != 0 {
			return nil
		}
	}
	if !u.freed.CompareAndSwap(false, true) {
		return nil
	}
	return free()
}
