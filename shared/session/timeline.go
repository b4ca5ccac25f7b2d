package session

// Range is a stretch of one log that a session shows: the positions From to To
// of Log, which the session numbers from Seq on. To 0 leaves it open: it then
// reaches to the head of the log. Only the last range of a timeline is open.
type Range struct {
	Log  string
	From int64
	To   int64
	Seq  int64
}

// Timeline is the ordered list of ranges that a session shows now.
type Timeline []Range

// Own is the timeline of a new session: its own log, all of it.
func Own(log string) Timeline { return Timeline{{Log: log, From: 1, Seq: 1}} }

// Open reports whether the range reaches to the head of its log.
func (r Range) Open() bool { return r.To == 0 }

// Last is the seq of the range's last position; 0 for an open range.
func (r Range) Last() int64 {
	if r.Open() {
		return 0
	}
	return r.Seq + r.To - r.From
}

// After is the part of the timeline with a seq greater than n.
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

// Before is the part of the timeline with a seq smaller than n.
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
