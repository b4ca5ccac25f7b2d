package session

// History is the timelines that a session has had, from which rewinds and forks find
// an earlier one.
type History struct {
	Log       string   // the session's own
	Base      int64    // the last seq that it inherited as a fork, 0 for none
	Inherited Timeline // what it inherited
	// Rewound is what the session shows since its newest rewind, and Marker the
	// position of that in the own log; nil and 0 without one.
	Rewound Timeline
	Marker  int64
}

// Whole returns everything in the session's log, rewound or not.
func (h History) Whole() Timeline { return h.Inherited.Reopened(h.Log, h.Base+1) }

// Shown returns what the session shows now.
func (h History) Shown() Timeline {
	if h.Rewound == nil {
		return h.Whole()
	}
	return h.Rewound
}

// LogPosition is a position in the log of a session. The log of a fork begins with
// what it inherited from other logs.
type LogPosition struct {
	Log    string
	Seq    int64 // the position as the session numbers it
	Marker int64 // position of the newest rewind before it in that log, 0 for none
}

// Before returns what the session showed just before a position. If older is not 0,
// that is a part of the timeline of an earlier rewind: older is the position of its
// marker in the session's own log.
func (h History) Before(p LogPosition) (then Timeline, older int64) {
	switch {
	case p.Log != h.Log:
		then = h.Inherited
	case p.Marker == 0:
		then = h.Whole()
	case p.Marker == h.Marker:
		then = h.Shown()
	default:
		return nil, p.Marker
	}
	return then.Before(p.Seq), 0
}
