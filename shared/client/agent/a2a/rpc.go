package a2a

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"

	"github.com/rethread/rethread/shared/base/fault"
	"github.com/rethread/rethread/shared/base/jsonx"
	"github.com/rethread/rethread/shared/client/agent/endpoint"
)

// adkExtension has google-adk answer with an artifact for each event instead of a
// status message for each piece of one. Other agents ignore it.
const adkExtension = "https://google.github.io/adk-docs/a2a/a2a-extension/"

// method is a method by its name in version 1.0.
type method string

const (
	methodSend      = method("SendMessage")
	methodStream    = method("SendStreamingMessage")
	methodGet       = method("GetTask")
	methodCancel    = method("CancelTask")
	methodSubscribe = method("SubscribeToTask")
)

// name returns the name of the method in a version.
func (m method) name(old bool) string {
	if !old {
		return string(m)
	}
	return map[method]string{
		methodSend: "message/send", methodStream: "message/stream", methodGet: "tasks/get",
		methodCancel: "tasks/cancel", methodSubscribe: "tasks/resubscribe",
	}[m]
}

// headerOf returns the headers of the protocol.
func headerOf(old bool) http.Header {
	if old {
		return http.Header{"A2a-Version": {"0.3"}, "X-A2a-Extensions": {adkExtension}}
	}
	return http.Header{"A2a-Version": {"1.0"}, "A2a-Extensions": {adkExtension}}
}

// rpcError is an error of JSON-RPC.
type rpcError struct {
	Code    int    `json:"code"`
	Message string `json:"message"`
}

// rpcTaskNotFound is A2A's error for a task that the agent does not know.
const rpcTaskNotFound = -32001

func (e rpcError) Error() string { return fmt.Sprintf("%d %s", e.Code, e.Message) }

// failure returns the error as the run shows it: without the agent's words, which are
// for its callers' developers.
func (e rpcError) failure(redact func(string) string) *endpoint.Error {
	failed := endpoint.NewError(endpoint.CodeA2A, "the agent answered with the error %d of JSON-RPC", e.Code)
	failed.Cause = e
	return failed.Quote(redact(e.Message))
}

// call sends a request and calls visit for each result, until visit returns ErrStop
// or another error, or the answer ends: a stream that ends before ErrStop ended early.
func (c *call) call(ctx context.Context, method method, params map[string]any, visit func(result) error) error {
	if c.peer.tenant != "" {
		params["tenant"] = c.peer.tenant
	}
	body, err := jsonx.Marshal(map[string]any{
		"jsonrpc": "2.0", "id": c.req.RunID, "method": method.name(c.peer.old), "params": params,
	})
	if err != nil {
		return fmt.Errorf("encode the request of run %s: %w", c.req.RunID, err)
	}
	at := *c.agent.endpoint
	at.URL, at.Extra = c.peer.url, headerOf(c.peer.old)
	at.Explain = func(_ int, body string) *endpoint.Error {
		if failed := rpcErrorOf([]byte(body)); failed != nil {
			return failed.failure(at.Redact)
		}
		return nil
	}
	take := func(raw []byte) error {
		result, err := c.parse(raw)
		if err != nil {
			return err
		}
		return visit(result)
	}
	stream := func(body io.Reader) error {
		return endpoint.ReadStream(body, func(_, data string) error {
			if data == "" {
				return nil
			}
			return take([]byte(data))
		})
	}
	whole := func(body io.Reader) error {
		text, err := endpoint.ReadDocument(body)
		if err == nil {
			err = take(text)
		}
		if errors.Is(err, endpoint.ErrStop) {
			return nil
		}
		return err
	}
	return at.Ask(ctx, body, stream, whole)
}

// rpcErrorOf returns the error of a response; nil if it has none.
func rpcErrorOf(raw []byte) *rpcError {
	var answer struct {
		Error *rpcError `json:"error"`
	}
	if json.Unmarshal(raw, &answer) == nil {
		return answer.Error
	}
	return nil // it is not a response
}

// parse reads a response.
func (c *call) parse(raw []byte) (result, error) {
	c.items.out.Next()
	var answer struct {
		Result json.RawMessage `json:"result"`
		Error  json.RawMessage `json:"error"`
	}
	if !jsonx.IsObject(raw) || json.Unmarshal(raw, &answer) != nil {
		return result{}, c.items.out.Malformed("a response", fault.New(fault.Malformed, "must be an object of JSON-RPC"))
	}
	if !jsonx.IsNull(answer.Error) {
		failed := rpcErrorOf(raw)
		if failed == nil {
			failed = &rpcError{Message: string(answer.Error)}
		}
		return result{}, failed.failure(c.agent.endpoint.Redact)
	}
	parsed, err := parseResult(answer.Result)
	if err != nil {
		return result{}, c.items.out.Malformed("a result", err)
	}
	return parsed, nil
}
