package adk

import (
	"encoding/json"

	"google.golang.org/adk/v2/session"

	"github.com/rethread/rethread/clients/go/adk/internal/remote"
)

// RoundTrip encodes an event and decodes it again.
func RoundTrip(e *session.Event) (*session.Event, error) {
	c := newCodec()
	encoded, err := c.encode(e)
	if err != nil {
		return nil, err
	}
	var stored remote.Event
	if err := json.Unmarshal(encoded, &stored); err != nil {
		return nil, err
	}
	return c.decode(stored)
}
