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

// Enter begins a call; false after Close. Each Enter that returned true is followed
// by one Leave at the same place. place is any number: it chooses the counter. free
// is the same function in every call.
func (u *Users) Enter(place uint, free func() error) bool {
	u.counts[place%Places].n.Add(1)
	if u.closed.Load() {
		u.Leave(place, free)
		return false
	}
	return true
}

// Leave ends a call. The last one after Close calls free; nothing reports the
// error of that free.
func (u *Users) Leave(place uint, free func() error) {
	u.counts[place%Places].n.Add(-1)
	if u.closed.Load() {
		_ = u.freeIdle(free)
	}
}

// Close lets no further call begin. It returns the error of free where no call is in
// progress, nil else. A second Close does nothing.
func (u *Users) Close(free func() error) error {
	u.closed.Store(true)
	return u.freeIdle(free)
}

// freeIdle calls free, once, if no call is in progress. Calls begin no more, so a
// counter that is found at 0 has no call later.
func (u *Users) freeIdle(free func() error) error {
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
