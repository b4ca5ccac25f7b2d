package a2a

import (
	"encoding/json"
	"net/url"
)

// protoNames maps parameter names of the protocol's proto files, which
// ProtoJSON also allows, to the JSON names that a2a-go reads.
func protoNames() map[string]string {
	return map[string]string{
		"context_id": "contextId", "history_length": "historyLength", "page_size": "pageSize", "page_token": "pageToken",
		"task_id": "taskId",
	}
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
