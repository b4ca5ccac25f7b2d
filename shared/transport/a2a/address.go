package a2a

import (
	"net/url"
	"strings"
)

// address returns the path segment that names an agent. "~" replaces the "/"
// between namespace and name: some gateways do not pass an escaped slash on,
// and a plain one would be part of the protocol's own paths. The configuration
// cannot have two agents with the same address.
func address(agent string) string { return url.PathEscape(strings.Replace(agent, "/", "~", 1)) }
