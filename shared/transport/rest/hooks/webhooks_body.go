package hooks

import (
	"github.com/rethread/rethread/shared/base/fault"
	"github.com/rethread/rethread/shared/domain/receiver"
	"github.com/rethread/rethread/shared/transport/rest"
)

type webhookBody struct {
	ID             string          `json:"id"`
	URL            string          `json:"url"`
	Description    string          `json:"description"`
	Types          []string        `json:"types"`
	Agents         []string        `json:"agents"`
	SessionIDs     []string        `json:"session_ids"`
	Status         receiver.Status `json:"status"`
	DisabledReason *string         `json:"disabled_reason"`
	CreatedTime    int64           `json:"created_time"`
	UpdatedTime    int64           `json:"updated_time"`
	// Secret is set only in the answer that creates the webhook.
	Secret string `json:"secret,omitempty"`
}

func bodyOfWebhook(w receiver.Webhook) webhookBody {
	out := webhookBody{
		ID: w.ID, URL: w.URL, Description: w.Description,
		Types: rest.EmptyIfNil(w.Types), Agents: rest.EmptyIfNil(w.Agents), SessionIDs: rest.EmptyIfNil(w.SessionIDs),
		Status: w.Status, CreatedTime: w.CreatedTime, UpdatedTime: w.UpdatedTime,
	}
	if w.DisabledReason != "" {
		reason := string(w.DisabledReason)
		out.DisabledReason = &reason
	}
	return out
}

// newWebhook reads the body of a request that creates a webhook.
func (a *api) newWebhook(c *rest.Call) (receiver.Webhook, receiver.Secret, error) {
	body, err := c.Object()
	if err != nil {
		return receiver.Webhook{}, "", err
	}
	if !body.Has("url") {
		return receiver.Webhook{}, "", rest.Malformed("/url", "is required")
	}
	change, err := webhookFields(body)
	if err != nil {
		return receiver.Webhook{}, "", err
	}
	now := a.Now().UnixMilli()
	w := receiver.Webhook{UserID: c.User, Status: receiver.Active, CreatedTime: now, UpdatedTime: now, Since: now}
	if w.ID, err = c.DerivedID("webhook"); err != nil {
		return receiver.Webhook{}, "", err
	}
	if w, err = change.Apply(w, now); err != nil {
		return receiver.Webhook{}, "", err
	}
	if err := a.checkWebhookURL(w.URL); err != nil {
		return receiver.Webhook{}, "", err
	}
	secret, err := a.secretOf(body)
	return w, secret, err
}

// webhookFields reads the members common to creations and updates.
func webhookFields(body rest.Object) (receiver.WebhookChange, error) {
	var c receiver.WebhookChange
	var broken fault.Broken
	for _, f := range []struct {
		name string
		into **string
	}{{"url", &c.URL}, {"description", &c.Description}} {
		if body.Has(f.name) {
			text, err := body.Text(f.name)
			broken.Add(err)
			*f.into = &text
		}
	}
	for _, f := range []struct {
		name string
		into **[]string
	}{{"types", &c.Types}, {"agents", &c.Agents}, {"session_ids", &c.SessionIDs}} {
		if body.Has(f.name) {
			list, err := body.Texts(f.name)
			broken.Add(err)
			*f.into = &list
		}
	}
	return c, broken.Err()
}

// webhookChange reads the body of an update.
func (a *api) webhookChange(c *rest.Call) (receiver.WebhookChange, error) {
	body, err := c.Object()
	if err != nil {
		return receiver.WebhookChange{}, err
	}
	change, err := webhookFields(body)
	if err != nil {
		return receiver.WebhookChange{}, err
	}
	if body.Has("status") {
		status, err := body.Text("status")
		if err != nil {
			return receiver.WebhookChange{}, err
		}
		s := receiver.Status(status)
		change.Status = &s
	}
	if change == (receiver.WebhookChange{}) {
		return change, fault.New(fault.NothingToChange, "nothing to change: give url, description, types, agents, session_ids or status")
	}
	if err := change.Validate(); err != nil {
		return change, err
	}
	if change.URL != nil {
		err = a.checkWebhookURL(*change.URL)
	}
	return change, err
}

func (a *api) checkWebhookURL(address string) error {
	if err := a.CheckURL(address); err != nil {
		return rest.FieldFault(fault.Invalid, "/url", "cannot be called: %v", err)
	}
	return nil
}
