package agent

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"

	"github.com/rethread/rethread/shared/base/fault"
	"github.com/rethread/rethread/shared/base/jsonx"
)

// adkExtension has google-adk answer with an artifact for each event instead of a
// status message for each piece of one. Other agents ignore it.
const adkExtension = "https://google.github.io/adk-docs/a2a/a2a-extension/"

// a2aMethod is a method by its name in version 1.0.
type a2aMethod string

const (
	a2aSend      = a2aMethod("SendMessage")
	a2aStream    = a2aMethod("SendStreamingMessage")
	a2aGet       = a2aMethod("GetTask")
	a2aCancel    = a2aMethod("CancelTask")
	a2aSubscribe = a2aMethod("SubscribeToTask")
)

// name returns the name of the method in a version.
func (m a2aMethod) name(old bool) string {
	if !old {
		return string(m)
	}
	return map[a2aMethod]string{
		a2aSend: "message/send", a2aStream: "message/stream", a2aGet: "tasks/get",
		a2aCancel: "tasks/cancel", a2aSubscribe: "tasks/resubscribe",
	}[m]
}

// a2aHeader returns the headers of the protocol.
func a2aHeader(old bool) http.Header {
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
func (e rpcError) failure(redact func(string) string) *Error {
	failed := newError(CodeA2A, "the agent answered with the error %d of JSON-RPC", e.Code)
	failed.Cause, failed.Detail, failed.quotes = e, clean(redact(e.Message), maxExcerpt), true
	return failed
}

// call sends a request and calls visit for each result, until visit returns errStop
// or another error, or the answer ends: a stream that ends before errStop ended early.
func (c *a2aCall) call(ctx context.Context, method a2aMethod, params map[string]any, visit func(a2aResult) error) error {
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
	at.url, at.extra = c.peer.url, a2aHeader(c.peer.old)
	at.explain = func(_ int, body string) *Error {
		if failed := rpcErrorOf([]byte(body)); failed != nil {
			return failed.failure(at.redact)
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
		return readStream(body, func(_, data string) error {
			if data == "" {
				return nil
			}
			return take([]byte(data))
		})
	}
	whole := func(body io.Reader) error {
		text, err := readDocument(body)
		if err == nil {
			err = take(text)
		}
		if errors.Is(err, errStop) {
			return nil
		}
		return err
	}
	return at.ask(ctx, body, stream, whole)
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
func (c *a2aCall) parse(raw []byte) (a2aResult, error) {
	c.items.out.taken++
	var answer struct {
		Result json.RawMessage `json:"result"`
		Error  json.RawMessage `json:"error"`
	}
	if !jsonx.IsObject(raw) || json.Unmarshal(raw, &answer) != nil {
		return a2aResult{}, c.items.out.malformed("a response", fault.New(fault.Malformed, "must be an object of JSON-RPC"))
	}
	if !jsonx.IsNull(answer.Error) {
		failed := rpcErrorOf(raw)
		if failed == nil {
			failed = &rpcError{Message: string(answer.Error)}
		}
		return a2aResult{}, failed.failure(c.agent.endpoint.redact)
	}
	result, err := parseA2AResult(answer.Result)
	if err != nil {
		return a2aResult{}, c.items.out.malformed("a result", err)
	}
	return result, nil
}
