package session

import "time"

// Retained is the retention of a session after its last activity.
type Retained struct {
	Seconds int64 // 0 for unlimited
	Own     bool  // set for the session; otherwise it is its agent's or the deployment's
	// Imported is when the session was imported, in epoch milliseconds, 0 if it was
	// not: an import counts as an activity.
	Imported int64
}

// RetainedFor returns the session's own retention or, if that is 0, the default; both
// in seconds.
func RetainedFor(own, others int64) Retained {
	if own > 0 {
		return Retained{Seconds: own, Own: true}
	}
	return Retained{Seconds: others}
}

// OwnSeconds returns the session's own retention in seconds, 0 for none.
func (r Retained) OwnSeconds() int64 {
	if r.Own {
		return r.Seconds
	}
	return 0
}

// Expires returns when a session with the given last activity is due to be deleted;
// both in epoch milliseconds.
func (r Retained) Expires(active int64) int64 {
	return max(active, r.Imported) + r.Seconds*time.Second.Milliseconds()
}

// Due decides whether a session with the given last activity is deleted now, and if
// not, when to decide again; 0 for never. A session with a run in progress is not
// deleted: the end of the run will be an activity. Times are epoch milliseconds.
func (r Retained) Due(active, now int64, running bool) (due bool, again int64) {
	switch {
	case r.Seconds == 0:
		return false, 0
	case running:
		return false, r.Expires(now)
	}
	again = r.Expires(active)
	if again > now {
		return false, again
	}
	return true, 0
}
