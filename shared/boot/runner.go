package boot

import (
	"context"
	"fmt"
	"maps"
	"slices"

	"github.com/rethread/rethread/shared/boot/batch"
	"github.com/rethread/rethread/shared/client/agent/agentconfig"
	"github.com/rethread/rethread/shared/client/tokens"
	"github.com/rethread/rethread/shared/domain/access"
	"github.com/rethread/rethread/shared/domain/run"
)

// AgentsVariable is the environment variable with the configuration of agents
// (docs/agent-protocol.md).
const AgentsVariable = "AGENTS"

// Job is the runner's event: the run, and the trace that it belongs to.
type Job struct {
	run.Ref
	TraceParent string `json:"traceparent,omitempty"`
}

// Runner executes the run named by an event. On an error, which it returns before its
// function's end, Lambda delivers the event again.
func Runner(w *run.Worker) func(context.Context, run.Ref) error {
	return func(ctx context.Context, ref run.Ref) error {
		working, cancel := batch.TimeToAnswer(ctx)
		defer cancel()
		err := w.Execute(working, ref)
		if err != nil {
			w.Log.ErrorContext(ctx, "a run is not settled", "error", err)
		}
		return err
	}
}

// agentNames reads the configuration of agents without their secrets, for functions
// that need the agents' names but do not call them.
func agentNames(config string) (agentconfig.Agents, error) {
	names, err := agentconfig.Parse(config, func(string) (string, bool) { return "none", true })
	if err != nil {
		return nil, fmt.Errorf("the environment variable %s: %w", AgentsVariable, err)
	}
	return names, nil
}

// HasAgent reports whether an agent is configured; "" means the agent of sessions that
// name none.
func (d Deps) HasAgent(name string) bool {
	return d.agents.Has(name)
}

// MayCall reports whether the caller of a request may call an agent. A rule about scopes
// is about the token, so a service's own; one about claims is about the user, of whom
// only sub is known if a service acts for them.
func (d Deps) MayCall(ctx context.Context, name string) bool {
	a, ok := agentconfig.Find(d.agents, name)
	return !ok || !a.Callers.Restricts() || len(d.Proof(ctx, name)) > 0
}

// Proof returns by what the caller of a request may call an agent that not everybody
// may call, for MayStillCall.
func (d Deps) Proof(ctx context.Context, name string) []string {
	a, ok := agentconfig.Find(d.agents, name)
	if !ok || !a.Callers.Restricts() {
		return nil
	}
	c := access.CallerOf(ctx)
	of := tokens.Claims(c.Token) // verified when the request came in
	claims := of
	if c.Acts() {
		claims = map[string]any{"sub": c.UserID}
	}
	return a.Callers.Met(tokens.Scope(of), func(claim, value string) bool { return tokens.HasClaim(claims, claim, value) })
}

// MayStillCall reports whether a former caller of an agent may call it by its present
// configuration.
func (d Deps) MayStillCall(name string, proof []string) bool {
	a, ok := agentconfig.Find(d.agents, name)
	return !ok || a.Callers.Include(proof)
}

// AgentNames returns the names of all agents, sorted.
func (d Deps) AgentNames() []string { return slices.Sorted(maps.Keys(d.agents)) }

// Obeys returns the names of the parameters of a front end that an agent obeys, such as
// "tools" and "text.format".
func (d Deps) Obeys(agent string) map[string]bool {
	return d.agents.Obeys(agent)
}

// ClientTools returns the names of the configured tools of an agent, whose calls the
// session's user answers.
func (d Deps) ClientTools(agent string) []string {
	return d.agents.ClientTools(agent)
}
