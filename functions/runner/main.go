// Command runner executes runs: it calls agents and stores what they stream.
package main

import (
	"fmt"
	"os"
	"time"

	"github.com/google/uuid"

	"github.com/rethread/rethread/shared/boot"
	"github.com/rethread/rethread/shared/client/agent"
	"github.com/rethread/rethread/shared/client/agent/agentconfig"
	"github.com/rethread/rethread/shared/client/tracing"
	"github.com/rethread/rethread/shared/domain/run"
)

// logAgentErrors is the environment variable that, as "true", has agents' errors logged
// in their own words.
const logAgentErrors = "LOG_AGENT_ERRORS"

func main() { boot.Start(wire) }

// wire reads the agents in AGENTS; if they cannot be read, the function does not start.
func wire(d boot.Deps) (any, error) {
	agents, err := agentconfig.Parse(os.Getenv(boot.AgentsVariable), os.LookupEnv)
	if err != nil {
		return nil, fmt.Errorf("the environment variable %s: %w", boot.AgentsVariable, err)
	}
	flush, err := boot.Duration("FLUSH_EVERY", 0, time.Millisecond)
	if err != nil {
		return nil, err
	}
	w := &run.Worker{
		Store: d.Store.Runs, Sessions: d.Store.Runs, NewID: uuid.NewString, Log: d.Log,
		Agents:         tracing.Agents{Agents: agent.New(agents.With(boot.AgentSecrets(d.Log)))},
		TraceOf:        tracing.ID,
		LogAgentErrors: os.Getenv(logAgentErrors) == "true",
		Pace:           run.Pace{FlushEvery: flush, RenewEvery: d.Lease / 2},
	}
	if d.Store.Runs.KeepsRequests() {
		w.Requests = d.Store.Runs
	}
	return boot.Runner(w), nil
}
