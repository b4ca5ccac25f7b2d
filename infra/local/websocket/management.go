package websocket

import (
	"encoding/base64"
	"encoding/json"
	"errors"
	"io"
	"net/http"
	"strings"
	"time"

	ws "github.com/coder/websocket"

	"github.com/rethread/rethread/infra/local/gateway"
)

// connectionInfo is the description of a connection in the @connections API.
type connectionInfo struct {
	ConnectedAt time.Time `json:"connectedAt"`
	Identity    struct {
		SourceIP  string `json:"sourceIp"`
		UserAgent string `json:"userAgent"`
	} `json:"identity"`
	LastActiveAt time.Time `json:"lastActiveAt"`
}

// serveConnections implements the @connections API: POST sends to the client, GET describes
// the connection, DELETE closes it. Requests must be signed, as the SDKs do; the
// signature is not verified.
func (a *API) serveConnections(rw http.ResponseWriter, r *http.Request, id string) {
	began := time.Now()
	status, kind, message := a.serveConnection(rw, r, id)
	if kind == "" {
		return
	}
	rw.Header().Set("X-Amzn-Errortype", kind)
	body, _ := json.Marshal(map[string]string{"message": message}) // a string always marshals
	refuse(rw, status, string(body))
	// Successful posts are not logged: those of a streamed answer would flood the log.
	a.opts.Log(gateway.Access{
		Time: began, Method: r.Method, Path: r.URL.Path, Status: status, Duration: time.Since(began),
	})
}

// serveConnection writes the response, or returns the error to write.
func (a *API) serveConnection(rw http.ResponseWriter, r *http.Request, id string) (status int, kind, message string) {
	if !strings.HasPrefix(r.Header.Get("Authorization"), "AWS4-HMAC-SHA256 ") {
		return http.StatusForbidden, "ForbiddenException", "Missing Authentication Token"
	}
	if decoded, err := base64.URLEncoding.DecodeString(id); err != nil || len(decoded) != idBytes {
		return http.StatusBadRequest, "BadRequestException", "Invalid connectionId: " + id
	}
	c, ok := a.find(id)
	if !ok || c.isClosing() {
		return http.StatusGone, "GoneException", "The connection with the provided id no longer exists."
	}
	switch r.Method {
	case http.MethodPost:
		return a.servePost(rw, r, c)
	case http.MethodGet:
		rw.Header().Set("Content-Type", "application/json")
		_ = json.NewEncoder(rw).Encode(c.describe()) // the caller may have disconnected
	case http.MethodDelete:
		c.close(ws.StatusNormalClosure)
		rw.WriteHeader(http.StatusNoContent)
	default:
		return http.StatusForbidden, "ForbiddenException", "Missing Authentication Token"
	}
	return 0, "", ""
}

// servePost queues a message. If too many are waiting, it returns API Gateway's
// documented error for a full client buffer: 429.
func (a *API) servePost(rw http.ResponseWriter, r *http.Request, c *connection) (status int, kind, message string) {
	data, err := io.ReadAll(io.LimitReader(r.Body, a.limits.MessageBytes+1))
	switch {
	case err != nil:
		return http.StatusBadRequest, "BadRequestException", "the message is incomplete"
	case int64(len(data)) > a.limits.MessageBytes:
		return http.StatusRequestEntityTooLarge, "PayloadTooLargeException", "Message too long"
	case a.opts.Throttle != nil && a.opts.Throttle(c.id):
		return http.StatusTooManyRequests, "LimitExceededException", "Rate Exceeded"
	}
	switch err := c.post(data); {
	case errors.Is(err, errFull):
		return http.StatusTooManyRequests, "LimitExceededException", "The WebSocket client side buffer is full"
	case err != nil:
		return http.StatusGone, "GoneException", "The connection with the provided id no longer exists."
	default:
		rw.WriteHeader(http.StatusOK)
		return 0, "", ""
	}
}

func (c *connection) describe() connectionInfo {
	m := connectionInfo{ConnectedAt: c.connectedAt.UTC(), LastActiveAt: c.activeAt().UTC()}
	m.Identity.SourceIP, m.Identity.UserAgent = c.identity.SourceIP, c.identity.UserAgent
	return m
}
