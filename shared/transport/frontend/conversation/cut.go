package conversation

import (
	"encoding/json"
	"slices"

	"github.com/rethread/rethread/shared/domain/session"
)

// Reasons why an agent's answer is not whole.
const (
	CutLength = "length"
	CutFilter = "content_filter"
)

// CutOff returns why the answer of a run with these events is not whole, as its agent's
// last event says; "" if it is whole. The entry that ends a run, which only the whole log
// has, says nothing of the answer.
func CutOff(own []session.Event) string {
	for _, e := range slices.Backward(own) {
		if IsInput(e) || e.Fields["content"] == nil {
			continue
		}
		var reason string
		if json.Unmarshal(e.Fields["finish_reason"], &reason) != nil {
			return ""
		}
		return cutOf(reason)
	}
	return ""
}

// cutOf returns a provider's reason as one of those here.
func cutOf(reason string) string {
	switch reason {
	case "length", "max_tokens", "max_output_tokens", "MAX_TOKENS":
		return CutLength
	case "content_filter", "SAFETY", "RECITATION", "BLOCKLIST", "PROHIBITED_CONTENT", "SPII":
		return CutFilter
	}
	return ""
}
