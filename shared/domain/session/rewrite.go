package session

import (
	"bytes"
	"encoding/json"
)

// RewriteForFork rewrites the A2A messages within a JSON value for a forked
// session: their context id becomes the fork's, their task id the result of taskID.
// A message is an object with a message id, in either spelling. A value without
// messages is returned unchanged.
func RewriteForFork(raw json.RawMessage, contextID string, taskID func(string) string) json.RawMessage {
	if !bytes.Contains(raw, []byte(`"message_id"`)) && !bytes.Contains(raw, []byte(`"messageId"`)) {
		return raw
	}
	dec := json.NewDecoder(bytes.NewReader(raw))
	dec.UseNumber()
	var v any
	if dec.Decode(&v) != nil {
		return raw
	}
	rewriteForFork(v, contextID, taskID)
	var buf bytes.Buffer
	writeJSON(&buf, v)
	return buf.Bytes()
}

func rewriteForFork(v any, contextID string, taskID func(string) string) {
	switch v := v.(type) {
	case []any:
		for _, item := range v {
			rewriteForFork(item, contextID, taskID)
		}
	case map[string]any:
		_, snake := v["message_id"]
		_, camel := v["messageId"]
		if snake || camel {
			for _, name := range []string{"context_id", "contextId"} {
				if _, ok := v[name].(string); ok {
					v[name] = contextID
				}
			}
			for _, name := range []string{"task_id", "taskId"} {
				if id, ok := v[name].(string); ok {
					v[name] = taskID(id)
				}
			}
		}
		for _, item := range v {
			rewriteForFork(item, contextID, taskID)
		}
	}
}
