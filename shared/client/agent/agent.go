// Package agent calls the agents that the deployer configured: stateless
// endpoints that get a session's whole history and stream what they produce
// (seed 001). docs/agent-protocol.md tells agents' authors what this package
// expects; chat completions of OpenAI's form are spoken too.
//
// Agents keep the promises of run.Agent, and more: everything they emit is
// checked, every event has the run's invocation and an author, an item begins
// only when none is in progress, and each is completed by an event with its id
// and a content before Run returns nil. Run returns the error of emit, or the
// cause of a cancelled context, as it is; whatever the agent itself does wrong
// is an *Error.
package agent

import "github.com/rethread/rethread/shared/domain/run"

var (
	_ run.Agent  = (*HTTP)(nil)
	_ run.Agent  = (*ChatCompletions)(nil)
	_ run.Agents = Directory(nil)
)
