// Package client is the folder of what Rethread calls: agents, connections of
// watchers, queues, the event bus, receivers of webhooks, the issuers of tokens, and
// where parameters and traces are kept.
//
// What is called by others is in transport.
package client
