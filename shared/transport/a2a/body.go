package a2a

import (
	"context"
	"encoding/json"
	"net/http"
	"slices"
	"strings"

	lib "github.com/a2aproject/a2a-go/v2/a2a"

	"github.com/rethread/rethread/shared/base/jsonx"
)

type bodyErrorKey struct{}

// withBodyError marks a request whose body is invalid; the guard answers it in
// the form of its binding.
func withBodyError(r *http.Request, why error) *http.Request {
	return r.WithContext(context.WithValue(r.Context(), bodyErrorKey{}, why))
}

func bodyErrorOf(ctx context.Context) error {
	why, _ := ctx.Value(bodyErrorKey{}).(error)
	return why
}

// checkBody refuses bodies that can be parsed but are not valid text, or lack
// the message that the library assumes. sends reports that the request sends a
// message; pointer is where the message belongs.
func checkBody(body []byte, sends bool, message json.RawMessage, pointer string) error {
	if flaw := jsonx.Check(body); flaw != nil {
		return lib.NewError(lib.ErrInvalidParams, strings.TrimSpace(flaw.Pointer+" "+flaw.Reason))
	}
	if sends && (len(message) == 0 || string(message) == "null") {
		return lib.NewError(lib.ErrInvalidParams, pointer+" is required")
	}
	return nil
}

// checkRPCBody checks the body of a JSON-RPC request and returns its message.
func checkRPCBody(body []byte) (message json.RawMessage, err error) {
	var request struct {
		Method string `json:"method"`
		Params struct {
			Message json.RawMessage `json:"message"`
		} `json:"params"`
	}
	readable := json.Unmarshal(body, &request) == nil
	if !readable {
		return nil, nil // the library refuses it
	}
	sends := slices.Contains([]string{"message/send", "message/stream", "SendMessage", "SendStreamingMessage"}, request.Method)
	return request.Params.Message, checkBody(body, sends, request.Params.Message, "/params/message")
}

// checkRESTBody checks the body of an HTTP+JSON request and returns its message; path
// is relative to the agent's.
func checkRESTBody(path string, body []byte) (message json.RawMessage, err error) {
	var request struct {
		Message json.RawMessage `json:"message"`
		Request json.RawMessage `json:"request"` // its name in the proto file of version 0.3
	}
	if !json.Valid(body) {
		return nil, nil // the library refuses it
	}
	sends := strings.HasSuffix(path, "/message:send") || strings.HasSuffix(path, "/message:stream")
	sends = sends && json.Unmarshal(body, &request) == nil // otherwise the library refuses it
	if request.Message == nil {
		request.Message = request.Request
	}
	return request.Message, checkBody(body, sends, request.Message, "/message")
}

// placeholderRequest returns a request without a message, whose answer is a
// stream if that of method is one; the guard answers it.
func placeholderRequest(method string, old bool) []byte {
	switch {
	case old && method == "message/stream":
		return []byte(`{"jsonrpc":"2.0","id":1,"method":"tasks/resubscribe","params":{"id":"none"}}`)
	case old:
		return []byte(`{"jsonrpc":"2.0","id":1,"method":"tasks/get","params":{"id":"none"}}`)
	default:
		return []byte(`{"jsonrpc":"2.0","id":1,"method":"GetTask","params":{}}`)
	}
}

func idOf(known bool, id json.RawMessage) json.RawMessage {
	if !known || len(id) == 0 {
		return json.RawMessage("null")
	}
	return id
}
