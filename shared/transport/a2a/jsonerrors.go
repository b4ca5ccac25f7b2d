package a2a

import (
	"bytes"
	"encoding/json"
	"net/http"
	"regexp"
	"strings"

	"github.com/rethread/rethread/shared/base/jsonx"
)

// invalidRequest is JSON-RPC's code for valid JSON that is not a request.
const invalidRequest = -32600

// invalidReason returns why valid JSON is not a JSON-RPC request; "" for any
// other body.
func invalidReason(body []byte) string {
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

// writeInvalidRequest answers a body that is not a JSON-RPC request.
func writeInvalidRequest(w http.ResponseWriter, reason string) {
	text, err := jsonx.Marshal(map[string]any{
		"jsonrpc": "2.0", "id": nil,
		"error": map[string]any{"code": invalidRequest, "message": "invalid request: " + reason},
	})
	if err == nil { // cannot fail: strings and a number
		w.Header().Set("Content-Type", "application/json")
		_, _ = w.Write(text) // the caller may have left
	}
}

// jsonErrorWriter replaces Go's type names in the library's error messages with
// JSON's.
type jsonErrorWriter struct{ http.ResponseWriter }

// Write implements http.ResponseWriter.
func (w jsonErrorWriter) Write(text []byte) (int, error) {
	if !bytes.Contains(text, []byte("into Go ")) {
		return w.ResponseWriter.Write(text)
	}
	if _, err := w.ResponseWriter.Write(goTypeError.ReplaceAllFunc(text, jsonTypeError)); err != nil {
		return 0, err
	}
	return len(text), nil
}

// Flush implements http.Flusher.
func (w jsonErrorWriter) Flush() {
	if f, ok := w.ResponseWriter.(http.Flusher); ok {
		f.Flush()
	}
}

// goTypeError matches encoding/json's message for a member of a wrong type: the
// type and the path of the member.
var goTypeError = regexp.MustCompile(`json: cannot unmarshal (\w+)[^"]*? into Go (?:struct field \w+\.([\w.]+)|value) of type [^",;:]*`)

func jsonTypeError(text []byte) []byte {
	m := goTypeError.FindSubmatch(text)
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
