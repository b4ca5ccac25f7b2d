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

// Without returns the timeline without one position of a log. Its seq stays unused
// until a fork renumbers what it takes over.
func (t Timeline) Without(log string, position int64) Timeline {
	var out Timeline
	for _, r := range t {
		if r.Log != log || !r.Holds(position) {
			out = append(out, r)
			continue
		}
		before, after := r, r
		before.To = position - 1
		after.From, after.Seq = position+1, r.Seq+position+1-r.From
		if before.From <= before.To {
			out = append(out, before)
		}
		if after.Open() || after.From <= after.To {
			out = append(out, after)
		}
	}
	return out
}

// Reopened returns the timeline continued from a position of the session's own log,
// which numbers its positions as the session does.
func (t Timeline) Reopened(log string, position int64) Timeline {
	return append(append(Timeline{}, t...), Range{Log: log, From: position, Seq: position})
}

// Inherited returns what a fork takes over from a closed timeline: the same ranges,
// numbered from 1 without gaps. Ranges of the source's own log are shown as of its
// generation gen.
func (t Timeline) Inherited(own string, gen int64) (Timeline, int64) {
	out := append(Timeline{}, t...)
	next := int64(1)
	for i := range out {
		out[i].Seq = next
		if out[i].Log == own {
			out[i].Gen = gen
		}
		next += out[i].To - out[i].From + 1
	}
	return out, next - 1
}

// Common returns the last seq up to which two timelines show the same, and whether
// the second shows nothing after it.
func (t Timeline) Common(next Timeline) (last int64, all bool) {
	for i, r := range next {
		if i >= len(t) || t[i].Log != r.Log || t[i].From != r.From || t[i].Seq != r.Seq {
			return last, false
		}
		was := t[i]
		if !was.Open() && (r.Open() || r.To > was.To) {
			return was.Last(), false
		}
		if r.Open() {
			return r.Seq - 1, true // the range is still empty
		}
		last = r.Last()
		if was.Open() || r.To < was.To {
			return last, i == len(next)-1
		}
	}
	return last, true
}
