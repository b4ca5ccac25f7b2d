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
// context, unchanged; a fault of the agent is an *Error.
package agent

import "github.com/rethread/rethread/shared/domain/run"

var (
	_ run.Agent  = (*HTTP)(nil)
	_ run.Agent  = (*ChatCompletions)(nil)
	_ run.Agent  = (*Responses)(nil)
	_ run.Agent  = (*AGUI)(nil)
	_ run.Agent  = (*A2A)(nil)
	_ run.Agent  = (*ADK)(nil)
	_ run.Agents = Directory(nil)
)
