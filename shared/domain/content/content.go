// Package content is what events say: a role and parts, with the members that Google's ADK
// gives them. It is the only reader and the only writer of these members; the protocols and
// the kinds of agents convert between it and theirs. What it does not know stays as it came.
package content

import (
	"encoding/json"

	"github.com/rethread/rethread/shared/base/fault"
	"github.com/rethread/rethread/shared/base/jsonx"
)

// Content is what an event says, and in which role. One that was parsed is written as it
// came, so it must not be changed.
type Content struct {
	Role  string
	Parts []Part

	raw json.RawMessage
}

// Check returns a fault for a content that an event may not have.
func Check(raw json.RawMessage, pointer string) error {
	if !jsonx.IsNull(raw) && !jsonx.IsObject(raw) {
		return fault.Field(fault.Malformed, pointer, "must be an object")
	}
	return nil
}

// MarshalJSON writes a content.
func (c Content) MarshalJSON() ([]byte, error) {
	if c.raw != nil {
		return c.raw, nil
	}
	return jsonx.Marshal(struct {
		Parts []Part `json:"parts"`
		Role  string `json:"role,omitempty"`
	}{c.Parts, c.Role})
}

// JSON returns the content as an event has it.
func (c Content) JSON() (json.RawMessage, error) { return jsonx.Marshal(c) }
