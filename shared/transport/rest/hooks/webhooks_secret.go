package hooks

import (
	"encoding/json"
	"errors"
	"fmt"
	"net/http"

	"github.com/rethread/rethread/shared/base/fault"
	"github.com/rethread/rethread/shared/base/jsonx"
	"github.com/rethread/rethread/shared/domain/receiver"
	"github.com/rethread/rethread/shared/transport/rest"
)

type secretBody struct {
	Secret      string           `json:"secret"`
	CreatedTime int64            `json:"created_time"`
	Previous    []replacedSecret `json:"previous"`
}

// replacedSecret is an earlier secret that messages are also signed with for a
// while; it is not returned again.
type replacedSecret struct {
	ExpiresTime int64 `json:"expires_time"`
}

// secretOf reads the secret from the body or creates one.
func (a *api) secretOf(body rest.Object) (receiver.Secret, error) {
	if !body.Has("secret") {
		return a.NewSecret()
	}
	text, err := body.Text("secret")
	if err != nil {
		return "", err
	}
	return receiver.ParseSecret(text)
}

// withSecret adds the secret to the answer that creates a webhook.
func (a *api) withSecret(e rest.Endpoint) rest.Endpoint {
	return func(c *rest.Call) (*rest.Reply, error) {
		rep, err := e(c)
		if err != nil || rep.Status != http.StatusCreated {
			return rep, err
		}
		var made struct {
			Data webhookBody `json:"data"`
		}
		if err := json.Unmarshal(rep.Body, &made); err != nil {
			return nil, fmt.Errorf("decode an answer: %w", err)
		}
		secrets, err := a.Webhooks.Secrets(c.Context(), c.User, made.Data.ID)
		if errors.Is(err, fault.Of(fault.NotFound)) {
			return rep, nil // the repeat of a creation whose webhook was deleted
		}
		if err != nil {
			return nil, err
		}
		made.Data.Secret = string(secrets.Current)
		if rep.Body, err = jsonx.Marshal(made); err != nil {
			return nil, fmt.Errorf("encode the answer: %w", err)
		}
		rep.Header.Set("Cache-Control", "no-store")
		return rep, nil
	}
}

func (a *api) getSecret(c *rest.Call) (*rest.Reply, error) {
	id, err := c.PathID("webhook_id")
	if err != nil {
		return nil, err
	}
	secrets, err := a.Webhooks.Secrets(c.Context(), c.User, id)
	if err != nil {
		return nil, err
	}
	body := secretBody{Secret: string(secrets.Current), CreatedTime: secrets.CreatedTime, Previous: []replacedSecret{}}
	for _, p := range secrets.Previous {
		if p.ExpiresTime > a.Now().UnixMilli() {
			body.Previous = append(body.Previous, replacedSecret{p.ExpiresTime})
		}
	}
	rep, err := rest.JSON(http.StatusOK, rest.Data{Data: body})
	if err == nil {
		rep.Header.Set("Cache-Control", "no-store")
	}
	return rep, err
}

// rotateSecret returns an answer that may be stored; withCurrentSecret adds the
// secret.
func (a *api) rotateSecret(c *rest.Call) (*rest.Reply, error) {
	id, err := c.PathID("webhook_id")
	if err != nil {
		return nil, err
	}
	body, err := c.Object()
	if err != nil {
		return nil, err
	}
	var r receiver.Rotation
	if r.Revoke, err = body.Boolean("revoke"); err != nil {
		return nil, err
	}
	if r.Next, err = a.secretOf(body); err != nil {
		return nil, err
	}
	if _, err := a.Webhooks.RotateSecret(c.Context(), c.User, id, r); err != nil {
		return nil, err
	}
	return rest.NoContent(), nil
}

// withCurrentSecret answers with the current secret after e, whose own answer
// is empty.
func (a *api) withCurrentSecret(e rest.Endpoint) rest.Endpoint {
	return func(c *rest.Call) (*rest.Reply, error) {
		done, err := e(c)
		if err != nil {
			return nil, err
		}
		rep, err := a.getSecret(c)
		if err == nil && done.Header.Get(rest.ReplayedHeader) != "" {
			rep.Header.Set(rest.ReplayedHeader, done.Header.Get(rest.ReplayedHeader))
		}
		return rep, err
	}
}
