package run

import (
	"context"

	"github.com/rethread/rethread/shared/domain/session"
)

// Agents is the agents that the deployer configured, by name.
type Agents interface {
	Agent(name string) (Agent, bool)
}

// Agent answers requests. It is safe for concurrent use.
type Agent interface {
	// Run calls emit for each output, in order, and returns nil once the agent
	// is done. When the context ends, or emit fails, it returns at once. An
	// error with a method Problem() *Problem says itself how the run shows it, one
	// with a method Logged() string how the log does, at levels above DEBUG.
	Run(ctx context.Context, req Request, emit func(Output) error) error
}

// Request is all that an agent gets, since it keeps nothing between calls.
type Request struct {
	RunID     string // also the invocation of every event the agent produces
	SessionID string
	AppName   string
	UserID    string
	Agent     string          // the name the session knows the agent by
	Events    []session.Event // effective history, oldest first, the run's input last
	State     session.Values  // merged, with prefixed keys
}

// Output is one thing that an agent produced: exactly one of Item, Delta and
// Event is set. It is the receiver's once it is emitted.
type Output struct {
	Item  *ItemStart // begins an item; one in progress is complete then
	Delta *Delta     // appends to the item in progress
	Event *session.Event
	// Completes is set beside Event where it completes the item in progress.
	Completes bool
}

// ItemStart is what is known of an item when it begins.
type ItemStart struct {
	ID     string // the agent's own, or "" to leave it to the store
	Author string
	Role   string // of its content, such as "model"
}
