package adk

import "google.golang.org/adk/v2/session"

// RoundTrip encodes an event and decodes it again.
func RoundTrip(e *session.Event) (*session.Event, error) {
	c := newCodec()
	encoded, err := c.encode(e)
	if err != nil {
		return nil, err
	}
	return c.decode(encoded)
}
