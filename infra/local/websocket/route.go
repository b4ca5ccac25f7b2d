package websocket

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"strings"
	"time"

	ws "github.com/coder/websocket"

	"github.com/rethread/rethread/infra/local/gateway"
	"github.com/rethread/rethread/infra/local/gateway/throttle"
)

// Route keys of every WebSocket API.
const (
	connectKey    = "$connect"
	disconnectKey = "$disconnect"
	defaultKey    = "$default"
)

const internalError = "Internal server error"

var (
	errSelection = errors.New("RouteSelectionExpression must look like $request.body.action")
	errAnswer    = errors.New("the function's answer has no statusCode")
	errFunction  = errors.New("the function failed")
)

// selection is the path to a message's route name: the keys on the way.
type selection []string

func newSelection(expression string) (selection, error) {
	path, isPath := strings.CutPrefix(expression, "$")
	if inner, braced := strings.CutPrefix(path, "{"); braced {
		path = strings.TrimSuffix(inner, "}")
	}
	path, isBody := strings.CutPrefix(path, "request.body.")
	if !isPath || !isBody || path == "" {
		return nil, fmt.Errorf("%w, got %q", errSelection, expression)
	}
	return strings.Split(path, "."), nil
}

// key returns the route name in the message, or "".
func (s selection) key(message []byte) string {
	decoder := json.NewDecoder(bytes.NewReader(message))
	decoder.UseNumber()
	var value any
	if decoder.Decode(&value) != nil {
		return ""
	}
	for _, name := range s {
		object, _ := value.(map[string]any)
		value = object[name]
	}
	switch value.(type) {
	case string, json.Number, bool:
		return fmt.Sprint(value)
	default:
		return ""
	}
}

// route runs the function for a message. Its answer is not sent to the client; a
// failure is.
func (c *connection) route(ctx context.Context, kind ws.MessageType, data []byte) {
	routes := c.api.opts.API.Routes
	key := ""
	if kind == ws.MessageText {
		key = c.api.selection.key(data)
	}
	if _, ok := routes[key]; !ok || strings.HasPrefix(key, "$") {
		key = defaultKey
	}
	event := c.messageEvent(key, kind, data)
	id := event.RequestContext.RequestID
	if !c.api.limiter.Allow() {
		c.log(key, "", http.StatusTooManyRequests, time.Now(), false)
		c.sendError(throttle.Message, id)
		return
	}
	if _, ok := routes[key]; !ok {
		c.log("-", "", http.StatusForbidden, time.Now(), false)
		c.sendError("Forbidden", id)
		return
	}
	if _, err := c.invoke(ctx, key, event); err != nil {
		c.sendError(internalError, id)
	}
}

// sendError sends an error of the gateway to the client, if the client's buffer has
// room.
func (c *connection) sendError(text, requestID string) {
	_ = c.post([]byte(c.message(text, requestID)))
}

// disconnect invokes $disconnect after the connection has ended. It is best
// effort: a failure changes nothing.
func (c *connection) disconnect(ctx context.Context, end closeReason) {
	if _, ok := c.api.opts.API.Routes[disconnectKey]; ok {
		_, _ = c.invoke(ctx, disconnectKey, c.disconnectEvent(end))
	}
}

// answer is the relevant part of a function's answer.
type answer struct {
	status  int
	headers map[string]string
}

// invoke runs a route's function within its timeout.
func (c *connection) invoke(ctx context.Context, key string, event any) (answer, error) {
	route, began := c.api.opts.API.Routes[key], time.Now()
	payload, err := json.Marshal(event)
	if err != nil {
		return answer{}, fmt.Errorf("build event: %w", err)
	}
	ctx, cancel := context.WithTimeout(ctx, route.Timeout)
	defer cancel()
	result, err := c.api.opts.Invoker.Invoke(ctx, route.Function, payload)
	if err != nil {
		c.log(key, route.Function, connectStatus(err), began, false)
		return answer{}, err
	}
	result.Collect()
	if result.FunctionError != "" {
		err = errFunction
	}
	var wire struct {
		Status  *json.Number      `json:"statusCode"`
		Headers map[string]string `json:"headers"`
	}
	answered := answer{status: http.StatusBadGateway}
	if err == nil && (json.Unmarshal(result.Payload, &wire) != nil || wire.Status == nil) {
		err = errAnswer
	}
	if err == nil {
		status, _ := wire.Status.Int64() // a value that is not an integer becomes 0, which refuses the connection
		answered = answer{int(status), wire.Headers}
	}
	c.log(key, route.Function, answered.status, began, result.Cold)
	return answered, err
}

// connectStatus is the status of a handshake whose $connect failed.
func connectStatus(err error) int {
	if errors.Is(err, context.DeadlineExceeded) {
		return http.StatusGatewayTimeout
	}
	return http.StatusBadGateway
}

// log writes an access log entry for a route.
func (c *connection) log(key, function string, status int, began time.Time, cold bool) {
	c.api.opts.Log(gateway.Access{
		Time: began, Method: "WS", Path: key, Status: status, Function: function, Duration: time.Since(began), Cold: cold,
	})
}
