package a2a

import (
	"encoding/json"
	"net/url"
)

// protoNames are parameters that clients may send by their names in the
// protocol's proto files too, as ProtoJSON has it; a2a-go reads the second names
// alone.
func protoNames() map[string]string {
	return map[string]string{
		"context_id": "contextId", "history_length": "historyLength", "page_size": "pageSize", "page_token": "pageToken",
		"task_id": "taskId",
	}
}

// renamed is a JSON-RPC request whose parameters have the names that are read.
func renamed(body []byte) []byte {
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

// renamedQuery is the same for the query of a request over HTTP+JSON.
func renamedQuery(q url.Values) url.Values {
	for proto, name := range protoNames() {
		if q.Has(proto) && !q.Has(name) {
			q.Set(name, q.Get(proto))
		}
	}
	return q
}
