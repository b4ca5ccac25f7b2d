package a2a

import (
	"context"
	"encoding/json"
	"net/http"
	"slices"

	lib "github.com/a2aproject/a2a-go/v2/a2a"

	"github.com/rethread/rethread/shared/plainjson"
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

// flawOf is why a JSON-RPC request that can be parsed is refused all the same:
// it is no text, or it sends no message where the library takes one for granted.
func flawOf(body []byte) error {
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
	if flaw := plainjson.Check(body); flaw != nil {
		return lib.NewError(lib.ErrInvalidParams, flaw.Pointer+" "+flaw.Reason)
	}
	sends := []string{"message/send", "message/stream", "SendMessage", "SendStreamingMessage"}
	if m := request.Params.Message; slices.Contains(sends, request.Method) && (len(m) == 0 || string(m) == "null") {
		return lib.NewError(lib.ErrInvalidParams, "/params/message is required")
	}
	return nil
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
	return plainjson.Mend(out)
}

func idOf(known bool, id json.RawMessage) json.RawMessage {
	if !known || len(id) == 0 {
		return json.RawMessage("null")
	}
	return id
}
