// Package transport is the layer of the public interfaces: REST, WebSockets,
// server-sent events, A2A, MCP and the console's page. A transport reads a request,
// calls the domain and writes the answer; it stores nothing, and depends on
// neither the table nor AWS.
package transport
