package run

import "github.com/rethread/rethread/shared/base/fault"

const (
	// MaxContinuations is the largest number of continuations that an agent may
	// allow for one run.
	MaxContinuations = 10
	// ContinuationGrace is how long a run without a heartbeat waits for another
	// worker if it may be continued, in leases after the first one's end. Then it is
	// ended like a run that may not.
	ContinuationGrace = 5
)

// Claimant is a worker that claims a run.
type Claimant struct {
	Worker string // identifies the execution
	// Continuations returns how often a run of an agent may be continued after its
	// worker was lost; nil for never. The first claim of a run decides.
	Continuations func(agent string) int
	// Trace is the id of the trace that the execution belongs to, "" for none.
	Trace string
}

// May returns how often the claimed run of an agent may be continued.
func (c Claimant) May(agent string) int {
	if c.Continuations == nil {
		return 0
	}
	return min(max(c.Continuations(agent), 0), MaxContinuations)
}

// ContinuedAgent is an agent whose runs may be continued by another worker after
// theirs was lost.
type ContinuedAgent interface {
	Agent
	// Continuations returns how often one run may be continued, 0 for never.
	Continuations() int
}

// ContinuationsOf returns how often a run of an agent may be continued.
func ContinuationsOf(a Agent) int {
	if c, ok := a.(ContinuedAgent); ok {
		return c.Continuations()
	}
	return 0
}

// SupersededFault returns the fault of a write by a worker whose run another worker
// has continued.
func SupersededFault(ref Ref) error {
	return fault.New(fault.Superseded, "another worker continues the run").With("run_id", ref.RunID)
}
