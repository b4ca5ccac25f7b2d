package automation

import (
	"slices"
	"time"

	"github.com/rethread/rethread/shared/domain/delivery"
)

const (
	// MaxDepth is how many automations may act one after the other.
	MaxDepth = 3
	// MaxRuns is how many runs one automation may start within RunsWithin. One
	// more, and it is disabled.
	MaxRuns = 60
	// RunsWithin is the time in which they are counted.
	RunsWithin = 10 * time.Minute
)

// Wants reports whether the automation acts on an event of its owner's.
func (a Automation) Wants(e delivery.Event) bool {
	return a.Status == Active && e.UserID == a.UserID && a.On.lets(e) && a.May(e)
}

// May reports whether the automation may act on an event without going in
// circles: not on what it led to itself, and not where MaxDepth automations did.
func (a Automation) May(e delivery.Event) bool {
	return len(e.Chain) < MaxDepth && !slices.Contains(e.Chain, a.ID)
}

// chain is the automations that lead to what this one does about an event.
func (a Automation) chain(e delivery.Event) []string {
	return append(slices.Clone(e.Chain), a.ID)
}

func (t Trigger) lets(e delivery.Event) bool {
	if !e.Type.Public() || !slices.ContainsFunc(t.Types, e.Type.Matches) {
		return false
	}
	if e.Type == delivery.FeedbackCreated && !passes(t.FeedbackTypes, e.Feedback) {
		return false
	}
	return passes(t.Agents, e.Agent) && passes(t.SessionIDs, e.SessionID)
}

// passes reports whether a filter, which is empty or names it, lets a value
// through.
func passes(filter []string, value string) bool {
	return len(filter) == 0 || slices.Contains(filter, value)
}

// Runs are those that an automation started lately: when, by their ids.
type Runs map[string]int64

// Add counts a run, unless it is counted already, and forgets those that are too
// old to matter; false where it is one too many. Times are epoch milliseconds.
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
