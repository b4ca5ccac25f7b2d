package a2a

import (
	"net/http"
	"net/url"
	"strings"
)

// address is the segment of a path that names an agent. The "/" between its
// namespace and its name is a "~" there: an escaped slash does not get through
// every gateway, and a plain one would be part of the protocol's own paths. The
// configuration has no two agents with one address.
func address(agent string) string { return url.PathEscape(strings.Replace(agent, "/", "~", 1)) }

// agentOf is the name of the agent that a request's path names.
func (s *server) agentOf(r *http.Request) string {
	segment := pathParameter(r, "agent")
	if s.Agents.HasAgent(segment) {
		return segment
	}
	return strings.Replace(segment, "~", "/", 1)
}
