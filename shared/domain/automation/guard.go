package automation

import (
	"slices"
	"time"

	"github.com/rethread/rethread/shared/domain/notification"
)

const (
	// MaxDepth is how many automations may act in sequence.
	MaxDepth = 3
	// MaxRuns is how many runs one automation may start within RunsWithin; one more
	// disables it.
	MaxRuns = 60
	// RunsWithin is the period for MaxRuns.
	RunsWithin = 10 * time.Minute
)

// Wants reports whether the automation acts on an event of its owner's.
func (a Automation) Wants(e notification.Event) bool {
	return a.Status == Active && e.UserID == a.UserID && a.On.lets(e) && a.May(e)
}

// May reports whether the automation may act on an event without causing a loop:
// not on an event that it caused itself, and not on one at the end of a chain of
// MaxDepth automations.
func (a Automation) May(e notification.Event) bool {
	return len(e.Chain) < MaxDepth && !slices.Contains(e.Chain, a.ID)
}

// chain returns the automations that lead to this one's action on an event.
func (a Automation) chain(e notification.Event) []string {
	return append(slices.Clone(e.Chain), a.ID)
}

func (t Trigger) lets(e notification.Event) bool {
	if !e.Type.Public() || !slices.ContainsFunc(t.Types, e.Type.Matches) {
		return false
	}
	if e.Type == notification.FeedbackCreated && !passes(t.FeedbackTypes, e.Feedback) {
		return false
	}
	return passes(t.Agents, e.Agent) && passes(t.SessionIDs, e.SessionID)
}

// passes reports whether a filter matches a value: it is empty or contains the
// value.
func passes(filter []string, value string) bool {
	return len(filter) == 0 || slices.Contains(filter, value)
}

const (
	// KeptRuns is how many runs are kept for the automation's owner, the last ones.
	KeptRuns = 5
	// KeepRuns is how long they are kept.
	KeepRuns = 30 * 24 * time.Hour
)

// LastRun is a run that an automation started, or tries to start. Its time is in
// epoch milliseconds.
type LastRun struct {
	RunID     string
	SessionID string
	EventType string
	Time      int64
}

// Runs maps the ids of the runs that an automation started recently to their times.
type Runs map[string]int64

// Add counts a run, unless it is counted already, and drops those older than
// RunsWithin; it returns false if the run exceeds MaxRuns. Times are epoch
// milliseconds.
func (r Runs) Add(runID string, now int64) (Runs, bool) {
	out := Runs{}
	for id, at := range r {
		if now-at < RunsWithin.Milliseconds() {
			out[id] = at
		}
	}
	if _, counted := out[runID]; counted {
		return out, true
	}
	if len(out) >= MaxRuns {
		return out, false
	}
	out[runID] = now
	return out, true
}
