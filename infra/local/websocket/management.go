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

// managed is what the @connections API tells about a connection.
type managed struct {
	ConnectedAt time.Time `json:"connectedAt"`
	Identity    struct {
		SourceIP  string `json:"sourceIp"`
		UserAgent string `json:"userAgent"`
	} `json:"identity"`
	LastActiveAt time.Time `json:"lastActiveAt"`
}

// manage is the @connections API: POST writes to the client, GET tells about it,
// DELETE closes the connection. Requests must be signed, as the SDKs do; whether
// the signature is right is not looked at.
func (a *API) manage(rw http.ResponseWriter, r *http.Request, id string) {
	began := time.Now()
	status, kind, message := a.serveManaged(rw, r, id)
	if kind == "" {
		return
	}
	rw.Header().Set("X-Amzn-Errortype", kind)
	body, _ := json.Marshal(map[string]string{"message": message}) // a string always marshals
	refuse(rw, status, string(body))
	// What goes well is not logged: a stream of answers would bury everything.
	a.opts.Log(gateway.Access{
		Time: began, Method: r.Method, Path: r.URL.Path, Status: status, Duration: time.Since(began),
	})
}

// serveManaged answers, or returns the error to answer.
func (a *API) serveManaged(rw http.ResponseWriter, r *http.Request, id string) (status int, kind, message string) {
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
		_ = json.NewEncoder(rw).Encode(c.describe()) // a caller that is gone needs no answer
	case http.MethodDelete:
		c.close(ws.StatusNormalClosure)
		rw.WriteHeader(http.StatusNoContent)
	default:
		return http.StatusForbidden, "ForbiddenException", "Missing Authentication Token"
	}
	return 0, "", ""
}

// servePost queues a message. When too many wait already, the answer is the one
// that API Gateway documents for a full buffer of the client's: 429.
func (a *API) servePost(rw http.ResponseWriter, r *http.Request, c *connection) (status int, kind, message string) {
	data, err := io.ReadAll(io.LimitReader(r.Body, a.limits.MessageBytes+1))
	switch {
	case err != nil:
		return http.StatusBadRequest, "BadRequestException", "the message did not arrive"
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

func (c *connection) describe() managed {
	m := managed{ConnectedAt: c.connectedAt.UTC(), LastActiveAt: c.activeAt().UTC()}
	m.Identity.SourceIP, m.Identity.UserAgent = c.identity.SourceIP, c.identity.UserAgent
	return m
}
