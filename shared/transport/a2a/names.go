package a2a

import (
	"encoding/json"
	"net/url"

	"github.com/rethread/rethread/shared/base/jsonx"
)

// protoNames maps parameter names of the protocol's proto files, which
// ProtoJSON also allows, to the JSON names that a2a-go reads.
func protoNames() map[string]string {
	return map[string]string{
		"context_id": "contextId", "history_length": "historyLength", "page_size": "pageSize", "page_token": "pageToken",
		"task_id": "taskId",
	}
}

// bodyNames maps the names of members of HTTP+JSON bodies in the protocol's proto
// files, which clients of 0.3 send, to their JSON names.
func bodyNames() map[string]string {
	return map[string]string{
		"request": "message", "message_id": "messageId", "context_id": "contextId", "task_id": "taskId",
		"reference_task_ids": "referenceTaskIds", "mime_type": "mimeType", "media_type": "mediaType",
		"file_with_uri": "fileWithUri", "file_with_bytes": "fileWithBytes",
		"accepted_output_modes": "acceptedOutputModes", "history_length": "historyLength",
		"return_immediately": "returnImmediately", "push_notification": "pushNotification",
		"task_push_notification_config": "taskPushNotificationConfig",
		"push_notification_config":      "pushNotificationConfig", "config_id": "configId",
	}
}

// bodyWithJSONNames gives the members of an HTTP+JSON body their JSON names. What
// the protocol does not define, metadata and data, stays as it is.
func bodyWithJSONNames(body []byte) []byte {
	out, changed := renamed(body, bodyNames())
	if !changed {
		return body
	}
	return out
}

// renamed returns a value with members renamed, and whether that changed it.
func renamed(raw json.RawMessage, names map[string]string) (json.RawMessage, bool) {
	var members map[string]json.RawMessage
	var items []json.RawMessage
	changed := false
	var out any
	switch {
	case jsonx.IsObject(raw) && json.Unmarshal(raw, &members) == nil:
		for name, value := range members {
			if name != "metadata" && name != "data" {
				if inner, is := renamed(value, names); is {
					members[name], changed = inner, true
				}
			}
		}
		for proto, name := range names {
			if members[proto] != nil && members[name] == nil {
				members[name], changed = members[proto], true
				delete(members, proto)
			}
		}
		out = members
	case jsonx.IsArray(raw) && json.Unmarshal(raw, &items) == nil:
		for i := range items {
			if inner, is := renamed(items[i], names); is {
				items[i], changed = inner, true
			}
		}
		out = items
	}
	if !changed {
		return raw, false
	}
	text, err := jsonx.Marshal(out)
	return text, err == nil
}

// withJSONNames gives the parameters of a JSON-RPC request their JSON names.
func withJSONNames(body []byte) []byte {
	var request, params map[string]json.RawMessage
	if json.Unmarshal(body, &request) != nil || json.Unmarshal(request["params"], &params) != nil {
		return body
	}
	changed := false
	for proto, name := range protoNames() {
		if params[proto] != nil && params[name] == nil {
			params[name], changed = params[proto], true
		}
	}
	if !changed {
		return body
	}
	raw, err := json.Marshal(params)
	if err != nil {
		return body
	}
	request["params"] = raw
	if raw, err = json.Marshal(request); err != nil {
		return body
	}
	return raw
}

// queryWithJSONNames does the same for the query of an HTTP+JSON request.
func queryWithJSONNames(q url.Values) url.Values {
	for proto, name := range protoNames() {
		if q.Has(proto) && !q.Has(name) {
			q.Set(name, q.Get(proto))
		}
	}
	return q
}
