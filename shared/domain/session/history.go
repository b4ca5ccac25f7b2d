package session

// History is the timelines that a session has had, from which rewinds and forks find
// an earlier one.
type History struct {
	Log       string  // the session's own
	Base      int64   // the last seq that it inherited as a fork, 0 for none
	Inherited Outline // what it inherited
	// Rewound is what the session shows since its newest rewind, and Marker the
	// position of that in the own log; nil and 0 without one.
	Rewound Outline
	Marker  int64
}

// Whole returns everything in the session's log, rewound or not.
func (h History) Whole() Outline { return h.Inherited.Reopened(h.Log, h.Base+1) }

// Shown returns what the session shows now.
func (h History) Shown() Outline {
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

// At returns the outline whose part before a position's seq is what the session showed just
// before the position, and the position of the marker in the session's own log that has
// the outline: 0 for none. Of an earlier rewind's marker the outline is nil, and is to be
// read.
func (h History) At(p LogPosition) (then Outline, marker int64) {
	switch {
	case p.Log != h.Log:
		return h.Inherited, 0
	case p.Marker == 0:
		return h.Whole(), 0
	case p.Marker == h.Marker:
		return h.Shown(), h.Marker
	}
	return nil, p.Marker
}
