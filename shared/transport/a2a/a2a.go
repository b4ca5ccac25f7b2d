// Package a2a is the transport of the Agent2Agent protocol: an A2A server for
// each configured agent, over the same sessions and runs as the other
// transports. A context is a session and a task is a run. A stream reads its
// events from the table, so any instance can continue it. a2a-go reads and
// writes the wire format.
package a2a

import (
	"context"
	"time"

	"github.com/go-jose/go-jose/v4"

	"github.com/rethread/rethread/shared/domain/receiver"
	"github.com/rethread/rethread/shared/domain/task"
)

// Config is what the server needs besides what all servers of protocols do.
type Config struct {
	Tasks task.Store
	Links task.Links
	// Push stores push configurations; nil offers no push notifications.
	Push receiver.Pushes
	// CheckURL returns an error for an address that cannot be notified.
	CheckURL func(string) error
	// PublicKeys returns the keys that verify notifications.
	PublicKeys func(context.Context) (jose.JSONWebKeySet, error)
	// Modified is when the agent cards last changed: when this was deployed.
	Modified time.Time
}
