package a2a

import (
	"bytes"
	"encoding/json"
	"net/http"
	"regexp"
	"strings"

	"github.com/rethread/rethread/shared/base/jsonx"
)

// invalidRequest is JSON-RPC's code for what is JSON and no request.
const invalidRequest = -32600

// notARequest says why a body is JSON and still no request of JSON-RPC; "" of
// any other body.
func notARequest(body []byte) string {
	if !json.Valid(body) {
		return ""
	}
	var members map[string]json.RawMessage
	if json.Unmarshal(body, &members) != nil || members == nil {
		return "the request must be an object"
	}
	var method *string
	if json.Unmarshal(members["method"], &method) != nil || method == nil {
		return "method must be a string"
	}
	if id := bytes.TrimSpace(members["id"]); len(id) > 0 && strings.IndexByte(`{[tf`, id[0]) >= 0 {
		return "id must be a string, a number or null"
	}
	return ""
}

// refuseRequest answers what is no request of JSON-RPC, as it asks for.
func refuseRequest(w http.ResponseWriter, reason string) {
	text, err := jsonx.Marshal(map[string]any{
		"jsonrpc": "2.0", "id": nil,
		"error": map[string]any{"code": invalidRequest, "message": "invalid request: " + reason},
	})
	if err == nil { // these are strings and a number
		w.Header().Set("Content-Type", "application/json")
		_, _ = w.Write(text) // a caller that is gone needs no answer
	}
}

// plainWriter says in JSON's words what the protocol's library says of wrong
// types in Go's.
type plainWriter struct{ http.ResponseWriter }

// Write implements http.ResponseWriter.
func (w plainWriter) Write(text []byte) (int, error) {
	if !bytes.Contains(text, []byte("into Go ")) {
		return w.ResponseWriter.Write(text)
	}
	if _, err := w.ResponseWriter.Write(goWords.ReplaceAllFunc(text, plainWords)); err != nil {
		return 0, err
	}
	return len(text), nil
}

// Flush implements http.Flusher.
func (w plainWriter) Flush() {
	if f, ok := w.ResponseWriter.(http.Flusher); ok {
		f.Flush()
	}
}

// goWords is what encoding/json says of a member of a wrong type: what it is,
// and the path to it.
var goWords = regexp.MustCompile(`json: cannot unmarshal (\w+)[^"]*? into Go (?:struct field \w+\.([\w.]+)|value) of type [^",;:]*`)

func plainWords(text []byte) []byte {
	m := goWords.FindSubmatch(text)
	where, what := string(m[2]), string(m[1])
	if where == "" {
		where = "a member"
	}
	switch what {
	case "array", "object":
		what = "an " + what
	case "bool":
		what = "a boolean"
	default:
		what = "a " + what
	}
	return []byte(where + " must not be " + what)
}
