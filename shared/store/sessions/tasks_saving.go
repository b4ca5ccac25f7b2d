package sessions

// Saving announces the replacement of a task's version, or of an earlier one.
type Saving struct {
	Time    int64 `dynamodbav:"t"` // epoch milliseconds
	Version int64 `dynamodbav:"v"`
}

// ActiveAt returns the time of the last activity without a log entry.
func (h *Header) ActiveAt() int64 {
	last := h.LastActivity
	for _, a := range h.Saving {
		last = max(last, a.Time)
	}
	return last
}
