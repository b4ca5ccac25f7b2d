// Package agent calls the configured agents: stateless endpoints that get a session's
// whole history and stream their output. docs/agent-protocol.md specifies the
// protocol for authors of agents; models behind OpenAI's chat completions and Responses
// APIs, agents that speak AG-UI or A2A, and agents served by ADK's API server are
// supported too.
//
// Agents satisfy the contract of run.Agent, and more: their output is checked, every
// event has the run's invocation and an author, an item begins only when none is in
// progress, and each item is completed by an event with its id and a content before
// Run returns nil. Run returns the error of emit, or the cause of a cancelled
// context, unchanged; a fault of the agent is an *endpoint.Error.
//
// It stands above the kinds of agents, each a package below that knows none of the others, so
// that only the runner links them all.
package agent

import (
	"github.com/rethread/rethread/shared/client/agent/a2a"
	"github.com/rethread/rethread/shared/client/agent/adk"
	"github.com/rethread/rethread/shared/client/agent/agentconfig"
	"github.com/rethread/rethread/shared/client/agent/agui"
	"github.com/rethread/rethread/shared/client/agent/chat"
	"github.com/rethread/rethread/shared/client/agent/httpagent"
	"github.com/rethread/rethread/shared/client/agent/responses"
	"github.com/rethread/rethread/shared/domain/run"
)

// Directory holds the configured agents by name.
type Directory map[string]run.Agent

// New returns the agents of a configuration.
func New(agents agentconfig.Agents) Directory {
	d := Directory{}
	for name, c := range agents {
		d[name] = limited{callerOf(c), c}
	}
	return d
}

// Agent implements run.Agents.
func (d Directory) Agent(name string) (run.Agent, bool) { return agentconfig.Find(d, name) }

// Close closes the agents' idle connections.
func (d Directory) Close() {
	for _, a := range d {
		if c, ok := a.(caller); ok {
			c.Close()
		}
	}
}

// caller is an agent with connections.
type caller interface {
	run.Agent
	Close()
}

func callerOf(c agentconfig.Agent) caller {
	switch c.Kind {
	case agentconfig.KindChatCompletions:
		return chat.New(c.Endpoint, c.Chat)
	case agentconfig.KindResponses:
		return responses.New(c.Endpoint, c.Chat)
	case agentconfig.KindAGUI:
		return agui.New(c.Endpoint, c.Frontend)
	case agentconfig.KindA2A:
		return a2a.New(c.Endpoint, c.Card)
	case agentconfig.KindADK:
		return adk.New(c.Endpoint, c.App)
	default:
		return httpagent.New(c.Endpoint)
	}
}

// limited is an agent with the limits of its configuration.
type limited struct {
	caller
	config agentconfig.Agent
}

// HistoryLimit implements run.LimitedAgent.
func (a limited) HistoryLimit() run.HistoryLimit { return a.config.History }

// Continuations implements run.ContinuedAgent.
func (a limited) Continuations() int { return a.config.Continuations }
