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

type refusedKey struct{}

// refused marks a request whose body has a flaw: the guard answers it, as it
// answers what is of another type.
func refused(r *http.Request, why error) *http.Request {
	return r.WithContext(context.WithValue(r.Context(), refusedKey{}, why))
}

func refusedIn(ctx context.Context) error {
	why, _ := ctx.Value(refusedKey{}).(error)
	return why
}

// flawOf is why a body that can be parsed is refused all the same: it is no text,
// or it sends no message where the library takes one for granted. sends says that
// it is to send the message in it at the pointer.
func flawOf(body []byte, sends bool, message json.RawMessage, pointer string) error {
	if flaw := jsonx.Check(body); flaw != nil {
		return lib.NewError(lib.ErrInvalidParams, strings.TrimSpace(flaw.Pointer+" "+flaw.Reason))
	}
	if sends && (len(message) == 0 || string(message) == "null") {
		return lib.NewError(lib.ErrInvalidParams, pointer+" is required")
	}
	return nil
}

// flawOfRPC is the flaw of a request of JSON-RPC.
func flawOfRPC(body []byte) error {
	var request struct {
		Method string `json:"method"`
		Params struct {
			Message json.RawMessage `json:"message"`
		} `json:"params"`
	}
	readable := json.Unmarshal(body, &request) == nil
	if !readable {
		return nil // the library says so
	}
	sends := slices.Contains([]string{"message/send", "message/stream", "SendMessage", "SendStreamingMessage"}, request.Method)
	return flawOf(body, sends, request.Params.Message, "/params/message")
}

// flawOfREST is the flaw of a request over HTTP+JSON, at a path below the agent's.
func flawOfREST(path string, body []byte) error {
	var request struct {
		Message json.RawMessage `json:"message"`
		Request json.RawMessage `json:"request"` // its name in the proto file of version 0.3
	}
	if !json.Valid(body) {
		return nil // the library says so
	}
	sends := strings.HasSuffix(path, "/message:send") || strings.HasSuffix(path, "/message:stream")
	sends = sends && json.Unmarshal(body, &request) == nil // else the library says so
	if request.Message == nil {
		request.Message = request.Request
	}
	return flawOf(body, sends, request.Message, "/message")
}

// nothingFor is a request with the id of another that asks for nothing.
func nothingFor(body []byte, old bool) []byte {
	var request struct {
		ID json.RawMessage `json:"id"`
	}
	method, params := "GetTask", `{}`
	if old {
		method, params = "tasks/get", `{"id":"none"}`
	}
	out, err := json.Marshal(map[string]any{
		"jsonrpc": "2.0", "id": idOf(json.Unmarshal(body, &request) == nil, request.ID), "method": method,
		"params": json.RawMessage(params),
	})
	if err != nil {
		return []byte(`{}`)
	}
	return jsonx.Mend(out)
}

func idOf(known bool, id json.RawMessage) json.RawMessage {
	if !known || len(id) == 0 {
		return json.RawMessage("null")
	}
	return id
}
