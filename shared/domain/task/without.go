package task

import (
	"bytes"
	"encoding/json"
	"fmt"
	"slices"

	"github.com/rethread/rethread/shared/base/jsonx"
)

// Without returns bubbles without what belongs to hidden invocations: bubbles,
// parts and messages of histories whose metadata.kagent_invocation_id is one of
// them. A bubble that contains none of these is returned byte for byte.
func Without(bubbles json.RawMessage, hidden []string) (json.RawMessage, error) {
	if len(hidden) == 0 {
		return bubbles, nil
	}
	var all []json.RawMessage
	if err := json.Unmarshal(bubbles, &all); err != nil {
		return nil, fmt.Errorf("read bubbles: %w", err)
	}
	kept := make([]json.RawMessage, 0, len(all))
	for _, raw := range all {
		named, err := Invocations(raw)
		if err != nil {
			return nil, err
		}
		if !slices.ContainsFunc(named, func(id string) bool { return slices.Contains(hidden, id) }) {
			kept = append(kept, raw)
			continue
		}
		var v any
		dec := json.NewDecoder(bytes.NewReader(raw))
		dec.UseNumber()
		if err := dec.Decode(&v); err != nil {
			return nil, fmt.Errorf("read a bubble: %w", err)
		}
		if belongs(v, hidden) {
			continue
		}
		text, err := jsonx.Marshal(prune(v, hidden))
		if err != nil {
			return nil, fmt.Errorf("write a bubble: %w", err)
		}
		kept = append(kept, text)
	}
	return join(kept), nil
}

// belongs reports whether a value is an object of a hidden invocation. A value of
// an unexpected form has no invocation, and "" is never hidden.
func belongs(v any, hidden []string) bool {
	object, _ := v.(map[string]any)
	metadata, _ := object["metadata"].(map[string]any)
	id, _ := metadata["kagent_invocation_id"].(string)
	return id != "" && slices.Contains(hidden, id)
}

// prune removes the hidden objects from the arrays within a value.
func prune(v any, hidden []string) any {
	switch v := v.(type) {
	case map[string]any:
		for name, member := range v {
			v[name] = prune(member, hidden)
		}
	case []any:
		kept := make([]any, 0, len(v))
		for _, item := range v {
			if !belongs(item, hidden) {
				kept = append(kept, prune(item, hidden))
			}
		}
		return kept
	}
	return v
}

func join(items []json.RawMessage) json.RawMessage {
	out := []byte{'['}
	for i, item := range items {
		if i > 0 {
			out = append(out, ',')
		}
		out = append(out, item...)
	}
	return append(out, ']')
}
