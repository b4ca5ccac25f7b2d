package a2a

import (
	"fmt"

	"github.com/rethread/rethread/shared/base/jsonx"
	"github.com/rethread/rethread/shared/domain/content"
)

// event emits an event with these parts, which completes the item in progress.
func (s *items) event(id, digest string, pieces []piece) error {
	parts := make([]content.Part, len(pieces))
	var waiting []string
	for i, p := range pieces {
		parts[i] = p.json()
		if p.call != nil && p.waits {
			waiting = append(waiting, p.call.ID)
		}
	}
	members := map[string]any{"content": content.Content{Role: "model", Parts: parts}}
	if len(waiting) > 0 {
		members["long_running_tool_ids"] = waiting
	}
	var err error
	if members[recordMember], err = s.member(id, digest); err != nil {
		return err
	}
	raw, err := jsonx.Marshal(members)
	if err != nil {
		return fmt.Errorf("encode an event: %w", err)
	}
	return s.out.Event(raw)
}
