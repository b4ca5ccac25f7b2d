package receiver

import (
	"slices"

	"github.com/rethread/rethread/shared/base/fault"
)

// WebhookChange is an owner's change of a webhook; nil leaves a field unchanged.
type WebhookChange struct {
	URL         *string
	Description *string
	Types       *[]string
	Agents      *[]string
	SessionIDs  *[]string
	Status      *Status
	// IfMatch is the expected version; nil for any.
	IfMatch *int64
}

// Validate returns a fault that names a given field that is invalid by itself.
func (c WebhookChange) Validate() error {
	c.IfMatch = nil
	_, err := c.Apply(Webhook{URL: "https://example.com/", Status: Active}, 0)
	return err
}

// Apply returns the webhook after the change, made at a time in epoch milliseconds.
// It returns fault.Precondition if the webhook has another version than IfMatch,
// and the faults of Validate if the result breaks a rule.
func (c WebhookChange) Apply(w Webhook, now int64) (Webhook, error) {
	if c.IfMatch != nil && *c.IfMatch != w.Version {
		return w, fault.New(fault.Precondition, "If-Match does not hold: the webhook is at version %d", w.Version)
	}
	set(&w.URL, c.URL)
	set(&w.Description, c.Description)
	setList(&w.Types, c.Types)
	setList(&w.Agents, c.Agents)
	setList(&w.SessionIDs, c.SessionIDs)
	if c.Status != nil {
		if err := w.setStatus(*c.Status, now); err != nil {
			return w, err
		}
	}
	w.UpdatedTime, w.Version = max(now, w.UpdatedTime), w.Version+1
	return w, w.Validate()
}

func (w *Webhook) setStatus(s Status, now int64) error {
	switch {
	case s != Active && s != Disabled:
		return fault.Field(fault.Invalid, "/status", "must be %s or %s", Active, Disabled)
	case s == w.Status:
		return nil
	case s == Active:
		w.Status, w.DisabledReason, w.Since = Active, "", now
	default:
		w.Status, w.DisabledReason = Disabled, Paused
	}
	return nil
}

func set(field, to *string) {
	if to != nil {
		*field = *to
	}
}

func setList(field, to *[]string) {
	if to != nil {
		*field = slices.Clone(*to)
	}
}
