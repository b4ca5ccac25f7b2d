package session

import "time"

// Retained is for how long a session is kept after its last activity.
type Retained struct {
	Seconds int64 // 0 for ever
	Own     bool  // the session was given it; otherwise it is its agent's or the deployment's
	// Imported is when the session came by an import, in epoch milliseconds, 0 if it
	// did not: that counts as an activity.
	Imported int64
}

// RetainedFor is the session's own retention or, where that is 0, the one that holds
// for others; both in seconds.
func RetainedFor(own, others int64) Retained {
	if own > 0 {
		return Retained{Seconds: own, Own: true}
	}
	return Retained{Seconds: others}
}

// OwnSeconds is what the session itself was given, 0 for nothing.
func (r Retained) OwnSeconds() int64 {
	if r.Own {
		return r.Seconds
	}
	return 0
}

// Expires is when a session that was last active at a time is due to be deleted;
// both in epoch milliseconds.
func (r Retained) Expires(active int64) int64 {
	return max(active, r.Imported) + r.Seconds*time.Second.Milliseconds()
}

// Due decides whether a session that was last active at a time is deleted now, and
// if not, when to decide again; 0 for never. One with a run in progress is not: the
// end of the run will be an activity. Times are epoch milliseconds.
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
