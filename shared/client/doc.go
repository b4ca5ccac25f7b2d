// Package client is the folder of the services that Rethread calls: agents,
// connections of watchers, queues, the event bus, receivers of webhooks, issuers of
// tokens, and the stores of parameters and traces.
//
// APIs that others call are in transport.
package client
