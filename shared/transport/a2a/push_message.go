package a2a

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"net/url"
	"time"

	lib "github.com/a2aproject/a2a-go/v2/a2a"
	"github.com/a2aproject/a2a-go/v2/a2acompat/a2av0"

	"github.com/rethread/rethread/shared/base/jsonx"
	"github.com/rethread/rethread/shared/domain/delivery"
	"github.com/rethread/rethread/shared/domain/receiver"
)

// Headers of push notifications.
const (
	// headerID is the same in each retry of a notification.
	headerID = "X-A2A-Notification-Id"
	// headerSignature has the token that proves the sender, even if the
	// receiver requires other credentials in Authorization.
	headerSignature = "X-A2A-Notification-Signature"
)

// tokenHeaders carry the client's own token: the name in the protocol's
// examples and the one in its Go library.
func tokenHeaders() []string { return []string{"X-A2A-Notification-Token", "A2A-Notification-Token"} }

// tokenLifetime is how long the token of one attempt is valid.
const tokenLifetime = 5 * time.Minute

// claims are those of Google's samples and those that the protocol names.
type claims struct {
	Issuer     string `json:"iss"`
	Audience   string `json:"aud"` // the receiver's origin
	IssuedAt   int64  `json:"iat"` // seconds
	Expires    int64  `json:"exp"`
	ID         string `json:"jti"`
	TaskID     string `json:"taskId"`
	BodySHA256 string `json:"request_body_sha256"` // in hexadecimal digits
}

// message addresses and signs a body.
func (n *Notifier) message(ctx context.Context, c receiver.PushConfig, taskID string, body []byte) (delivery.Message, error) {
	address, err := url.Parse(c.URL)
	if err != nil { // it was checked when it was stored
		return delivery.Message{}, fmt.Errorf("%w: the address is invalid", delivery.ErrNothing)
	}
	now, sum := n.SignedTime(), sha256.Sum256(body)
	token, err := n.Sign(ctx, claims{
		Issuer: n.Issuer, Audience: address.Scheme + "://" + address.Host,
		IssuedAt: now.Unix(), Expires: now.Add(tokenLifetime).Unix(), ID: n.NewID(),
		TaskID: taskID, BodySHA256: hex.EncodeToString(sum[:]),
	})
	if err != nil {
		return delivery.Message{}, fmt.Errorf("sign a notification: %w", err)
	}
	header := map[string]string{
		"Content-Type": "application/a2a+json", versionHeader: current,
		"Authorization": "Bearer " + token, headerSignature: token,
	}
	if c.Version == legacy {
		header["Content-Type"], header[versionHeader] = "application/json", legacy
	}
	if c.Credentials != "" {
		header["Authorization"] = c.Scheme + " " + c.Credentials
	}
	if c.Token != "" {
		for _, name := range tokenHeaders() {
			header[name] = c.Token
		}
	}
	return delivery.Message{URL: c.URL, Header: header, Body: body}, nil
}

// legacyBody encodes a task for version 0.3.
func legacyBody(t *lib.Task) ([]byte, error) { return plainBody(a2av0.FromV1Task(t)) }

// plainBody encodes v without blanks and needless escapes: receivers that parse
// it and encode it again to verify its digest, as Google's samples do, get the
// same bytes.
func plainBody(v any) ([]byte, error) {
	raw, err := json.Marshal(v)
	if err != nil {
		return nil, fmt.Errorf("encode a notification: %w", err)
	}
	decoder := json.NewDecoder(bytes.NewReader(raw))
	decoder.UseNumber()
	var plain any
	if err := decoder.Decode(&plain); err != nil {
		return nil, fmt.Errorf("encode a notification: %w", err)
	}
	return jsonx.Marshal(plain)
}
