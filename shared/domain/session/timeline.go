package session

// Range is a range of one log that a session shows: the positions From to To of
// Log, which the session numbers from Seq on. An open range, with To 0, extends to
// the head of the log. Only the last range of a timeline is open.
type Range struct {
	Log  string
	From int64
	To   int64
	Seq  int64
	// Gen is set if the log is another session's: its tasks are shown as they were
	// when that session was forked for the Gen-th time.
	Gen int64
}

// Timeline is the ordered ranges that a session shows now.
type Timeline []Range

// NewTimeline returns the timeline of a new session: its own log, all of it.
func NewTimeline(log string) Timeline { return Timeline{{Log: log, From: 1, Seq: 1}} }

// Open reports whether the range extends to the head of its log.
func (r Range) Open() bool { return r.To == 0 }

// Last returns the seq of the range's last position; 0 for an open range.
func (r Range) Last() int64 {
	if r.Open() {
		return 0
	}
	return r.Seq + r.To - r.From
}

// Holds reports whether a position of the range's log is in the range.
func (r Range) Holds(position int64) bool {
	return position >= r.From && (r.Open() || position <= r.To)
}

// Shows reports whether a position of a log is on the timeline.
func (t Timeline) Shows(log string, position int64) bool {
	for _, r := range t {
		if r.Log == log && r.Holds(position) {
			return true
		}
	}
	return false
}

// After returns the part of the timeline with seqs greater than n.
func (t Timeline) After(n int64) Timeline {
	var out Timeline
	for _, r := range t {
		if skip := n + 1 - r.Seq; skip > 0 {
			r.From, r.Seq = r.From+skip, r.Seq+skip
		}
		if r.Open() || r.From <= r.To {
			out = append(out, r)
		}
	}
	return out
}

// Before returns the part of the timeline with seqs less than n.
func (t Timeline) Before(n int64) Timeline {
	var out Timeline
	for _, r := range t {
		if r.Seq >= n {
			break
		}
		if last := r.From + n - 1 - r.Seq; r.Open() || r.To > last {
			r.To = last
		}
		out = append(out, r)
	}
	return out
}
