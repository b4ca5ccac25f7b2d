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
	var protocol string
	if json.Unmarshal(members["jsonrpc"], &protocol) != nil || protocol != "2.0" {
		return `jsonrpc must be "2.0"`
	}
	if !isID(members["id"]) {
		return "id must be a string, a number or null"
	}
	return ""
}

// isID reports whether a value can be a request's id; an absent one can.
func isID(raw json.RawMessage) bool {
	id := bytes.TrimSpace(raw)
	return len(id) == 0 || strings.IndexByte(`{[tf`, id[0]) < 0
}

// writeInvalidRequest answers a body that is not a JSON-RPC request, with its id
// if it has one.
func writeInvalidRequest(w http.ResponseWriter, body []byte, reason string) {
	var request map[string]json.RawMessage
	known := json.Unmarshal(body, &request) == nil && isID(request["id"])
	text, err := jsonx.Marshal(map[string]any{
		"jsonrpc": "2.0", "id": idOf(known, request["id"]),
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
	plain := text
	if bytes.Contains(plain, []byte("into Go ")) {
		plain = goTypeError.ReplaceAllFunc(plain, jsonTypeError)
	}
	if bytes.Contains(plain, []byte("cannot parse ")) || bytes.Contains(plain, []byte("illegal base64")) {
		plain = goTimeError.ReplaceAll(plain, []byte("a time must be as in RFC 3339"))
		plain = goBase64Error.ReplaceAll(plain, []byte("raw must be base64"))
	}
	if _, err := w.ResponseWriter.Write(plain); err != nil {
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

// goTimeError and goBase64Error match messages of the packages time and
// encoding/base64 in JSON errors.
var (
	goTimeError   = regexp.MustCompile(`parsing time \\".*: cannot parse \\".*\\" as \\"[^"]*\\"`)
	goBase64Error = regexp.MustCompile(`illegal base64 data at input byte \d+`)
)

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
