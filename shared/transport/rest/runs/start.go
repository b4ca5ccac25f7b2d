package runs

import (
	"fmt"
	"log/slog"
	"net/http"

	"github.com/rethread/rethread/shared/base/fault"
	"github.com/rethread/rethread/shared/base/problem"
	"github.com/rethread/rethread/shared/domain/run"
	"github.com/rethread/rethread/shared/observe/logs"
	"github.com/rethread/rethread/shared/transport/rest"
)

const (
	// defaultAgent executes runs if neither the request nor the session names
	// an agent.
	defaultAgent = "default"
	// maxStarts bounds the runs started under one idempotency key.
	maxStarts = 10
)

func (a *api) startRun(c *rest.Call) (*rest.Reply, error) {
	s, err := newRun(c)
	if err != nil {
		return nil, err
	}
	if s.Mode == run.Managed {
		if s.Agent, err = a.agentOf(c, s); err != nil {
			return nil, err
		}
		if !a.Agents.MayCall(c.Context(), s.Agent) {
			return nil, rest.FieldFault(fault.AgentForbidden, "/agent", "is an agent that you may not call")
		}
	}
	started, ref, err := a.begin(c, s)
	if err != nil {
		return nil, err
	}
	logs.Add(c.Context(), slog.String(logs.RunID, ref.RunID))
	if started.Mode == run.Managed && started.Status == run.InProgress {
		if err := a.StartRun(c.Context(), ref); err != nil && run.FailStart(c.Context(), a.Runs, a.Log, ref, err) {
			return unavailable(c, ref), nil
		}
	}
	rep, err := a.newThread(c, http.StatusAccepted, ref.SessionID, ref.RunID)
	if err != nil {
		return nil, err
	}
	rep.Header.Set("Location", runPath(c, ref))
	return rep, nil
}

// agentOf returns the configured agent that executes a run: the request's, else
// the session's. The default agent is used only if neither names one, so a
// misspelt name never selects another agent. "" is the agent configured for
// sessions without a name.
func (a *api) agentOf(c *rest.Call, s run.Start) (string, error) {
	if s.Agent != "" {
		if a.Agents.HasAgent(s.Agent) {
			return s.Agent, nil
		}
		return "", rest.FieldFault(fault.AgentNotConfigured, "/agent", "names no agent that is configured")
	}
	of, err := a.Sessions.Get(c.Context(), c.User, s.SessionID)
	if err != nil {
		return "", err
	}
	if of.Agent != "" {
		if a.Agents.HasAgent(of.Agent) {
			return of.Agent, nil
		}
		return "", rest.FieldFault(fault.AgentNotConfigured, "/agent", "is required: no agent is configured that is called %q, as the session's is",
			of.Agent)
	}
	for _, name := range []string{defaultAgent, ""} {
		if a.Agents.HasAgent(name) {
			return name, nil
		}
	}
	return "", rest.FieldFault(fault.AgentNotConfigured, "/agent", "is required: the session names no agent, and no default one is configured")
}

// begin starts the run. The repeat of a request with an idempotency key finds
// the run that it started before; if no worker accepted that one, it starts
// another.
func (a *api) begin(c *rest.Call, s run.Start) (run.Run, run.Ref, error) {
	for n := range maxStarts { // each iteration is about another run, so it is no retry
		if err := nameRun(c, &s, n); err != nil {
			return run.Run{}, run.Ref{}, err
		}
		started, err := a.Runs.Start(c.Context(), s)
		if err != nil || started.Error == nil || started.Error.Code != run.CodeStart {
			return started, s.Ref, err
		}
	}
	return run.Run{}, run.Ref{}, fault.New(fault.NotStarted,
		"%d runs were started under this Idempotency-Key, and none found a worker: use another key", maxStarts)
}

// nameRun sets the id of the nth run of the request; it is also the invocation of
// the run's input.
func nameRun(c *rest.Call, s *run.Start, n int) error {
	id, err := c.DerivedID(fmt.Sprintf("run %d", n))
	if err != nil {
		return err
	}
	s.RunID = id
	for i := range s.Input {
		s.Input[i].InvocationID = id
	}
	return nil
}

// unavailable answers that a run was not started.
func unavailable(c *rest.Call, ref run.Ref) *rest.Reply {
	f := fault.New(fault.Unavailable, "The run could not be handed to a worker; try again.").With("run_id", ref.RunID)
	return rest.ProblemReply(problem.New(f, c.RequestID))
}
