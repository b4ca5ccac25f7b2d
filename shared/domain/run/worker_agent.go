package run

import (
	"context"

	"github.com/rethread/rethread/shared/domain/content"
	"github.com/rethread/rethread/shared/domain/session"
)

// Agents is the configured agents, by name.
type Agents interface {
	Agent(name string) (Agent, bool)
}

// Agent answers requests. It is safe for concurrent use.
type Agent interface {
	// Run calls emit for each output, in order, and returns nil once the agent is
	// done. When the context ends, or emit fails, it returns at once. An error with
	// a method Problem() *Problem decides what the run shows, one with a method
	// Logged() string what is logged at levels above DEBUG.
	Run(ctx context.Context, req Request, emit func(Output) error) error
}

// LimitedAgent is an agent that is not given the whole history.
type LimitedAgent interface {
	Agent
	// HistoryLimit bounds the events of a request.
	HistoryLimit() HistoryLimit
}

// LimitOf returns the bound of an agent's history.
func LimitOf(a Agent) HistoryLimit {
	if limited, ok := a.(LimitedAgent); ok {
		return limited.HistoryLimit()
	}
	return HistoryLimit{}
}

// Request is everything that an agent gets; it keeps no state between calls.
type Request struct {
	RunID     string // also the invocation of every event that the agent produces
	SessionID string
	AppName   string
	UserID    string
	Agent     string // the agent's name in the session
	// Events is the effective history, oldest first, with the run's input last, as
	// WithInterruptions returns it.
	Events    []session.Event
	Truncated bool           // older turns were left out of Events
	LogID     string         // of the session's log; a session created again has another
	Epoch     int64          // of the session; each rewind changes it
	State     session.Values // merged, with prefixed keys
	// Continuation counts the workers of the run that were lost before this one, 0
	// for the first call. Said is the effective events that they had stored after the
	// input, oldest first; an item that was in progress is among them as failed.
	Continuation int
	Said         []session.Event
}

// Output is one output of an agent: exactly one of Item, Delta and Event is set. It
// belongs to the receiver once it is emitted.
type Output struct {
	Item  *ItemStart     // begins an item; an item in progress is then complete
	Delta *content.Delta // appends to the item in progress
	Event *session.Event
	// Completes is set with Event if that completes the item in progress.
	Completes bool
}

// ItemStart is what is known of an item when it begins.
type ItemStart struct {
	ID     string // the agent's own, or "" for one that the store assigns
	Author string
	Role   string // of its content, such as "model"
}
