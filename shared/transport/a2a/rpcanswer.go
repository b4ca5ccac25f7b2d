package a2a

import (
	"bytes"
	"encoding/json"
	"net/http"
	"strings"

	lib "github.com/a2aproject/a2a-go/v2/a2a"

	"github.com/rethread/rethread/shared/base/jsonx"
)

// codeParams is JSON-RPC's code for invalid parameters.
const codeParams = -32602

const (
	contentStream = "text/event-stream"
	dataPrefix    = "data: "
	// listPushConfigs0 is the only method of version 0.3 that answers a list.
	listPushConfigs0 = "tasks/pushNotificationConfig/list"
)

// rpcCall is what the answers to a JSON-RPC request must have.
type rpcCall struct {
	id     json.RawMessage // exactly as it was sent; null if the body cannot be parsed
	method string          // "" if the body cannot be parsed
}

// readCall returns the call of a request, and its body as the library reads it:
// the library decodes a number as a float, which would change large ids, and
// requires parameters that the protocol does not.
func readCall(body []byte) (rpcCall, []byte) {
	var request map[string]json.RawMessage
	if json.Unmarshal(body, &request) != nil || request == nil {
		return rpcCall{id: json.RawMessage("null")}, body
	}
	call := rpcCall{id: idOf(true, request["id"])}
	_ = json.Unmarshal(request["method"], &call.method) // invalidReason has refused any other
	request["id"] = json.RawMessage("1")
	if jsonx.IsNull(request["params"]) { // or absent
		request["params"] = json.RawMessage("{}")
	}
	if plain, err := json.Marshal(request); err == nil {
		body = plain
	}
	return call, body
}

// rpcAnswer is a JSON-RPC response.
type rpcAnswer struct {
	Version string          `json:"jsonrpc"`
	ID      json.RawMessage `json:"id"`
	Result  json.RawMessage `json:"result,omitempty"`
	Error   *rpcError       `json:"error,omitempty"`
}

type rpcError struct {
	Code    int             `json:"code"`
	Message string          `json:"message"`
	Data    json.RawMessage `json:"data,omitempty"`
}

// rpcWriter completes the library's JSON-RPC responses, plain or in a stream:
// the id is the request's, a result is never absent, and valid JSON is never a
// parse error.
type rpcWriter struct {
	http.ResponseWriter

	call    rpcCall
	pending bytes.Buffer // since the last flush of a stream, or a whole plain answer
}

func newRPCWriter(w http.ResponseWriter, call rpcCall) *rpcWriter {
	return &rpcWriter{ResponseWriter: w, call: call}
}

func (w *rpcWriter) streams() bool { return w.Header().Get("Content-Type") == contentStream }

// Write implements http.ResponseWriter.
func (w *rpcWriter) Write(text []byte) (int, error) { return w.pending.Write(text) }

// Flush implements http.Flusher.
func (w *rpcWriter) Flush() {
	w.send()
	if f, ok := w.ResponseWriter.(http.Flusher); ok {
		f.Flush()
	}
}

// close writes a plain answer, or what a stream has not flushed.
func (w *rpcWriter) close() { w.send() }

func (w *rpcWriter) send() {
	if w.pending.Len() == 0 {
		return
	}
	text := bytes.Clone(w.pending.Bytes())
	w.pending.Reset()
	if !w.streams() {
		_, _ = w.ResponseWriter.Write(w.call.complete(text)) // the caller may have left
		return
	}
	lines := strings.SplitAfter(string(text), "\n")
	for i, line := range lines {
		if data, ok := strings.CutPrefix(line, dataPrefix); ok {
			lines[i] = dataPrefix + string(w.call.complete([]byte(strings.TrimSuffix(data, "\n")))) + "\n"
		}
	}
	_, _ = w.ResponseWriter.Write(jsonx.Line([]byte(strings.Join(lines, "")))) // the next write fails too
}

// complete returns the response with what the library leaves out; text that is
// no response stays as it is.
func (c rpcCall) complete(text []byte) []byte {
	var answer rpcAnswer
	if json.Unmarshal(text, &answer) != nil || answer.Version == "" {
		return text
	}
	answer.ID = c.id
	switch {
	case answer.Error == nil:
		answer.Result = c.result(answer.Result)
	case c.method != "":
		answer.Error = answer.Error.ofParsed()
	}
	if out, err := jsonx.Marshal(answer); err == nil {
		return out
	}
	return text
}

func (c rpcCall) result(raw json.RawMessage) json.RawMessage {
	switch {
	case c.method == listPushConfigs0 && jsonx.IsNull(raw):
		return json.RawMessage("[]")
	case len(raw) == 0:
		return json.RawMessage("null")
	}
	return raw
}

// ofParsed returns the error for a body that was parsed: the library reports a
// parse error for parameters that it cannot convert.
func (e *rpcError) ofParsed() *rpcError {
	message, isParse := strings.CutPrefix(e.Message, lib.ErrParseError.Error())
	if !isParse {
		return e
	}
	from, to := lib.ErrorReason(lib.ErrParseError), lib.ErrorReason(lib.ErrInvalidParams)
	return &rpcError{
		Code: codeParams, Message: lib.ErrInvalidParams.Error() + message,
		Data: bytes.ReplaceAll(e.Data, []byte(`"`+from+`"`), []byte(`"`+to+`"`)),
	}
}
