package webhook

import (
	"slices"

	"github.com/rethread/rethread/shared/base/fault"
)

// Change is what an owner changes of a webhook; nil leaves a field as it is.
type Change struct {
	URL         *string
	Description *string
	Types       *[]string
	Agents      *[]string
	SessionIDs  *[]string
	Status      *Status
	// IfMatch is the version that the change is meant for; nil for any.
	IfMatch *int64
}

// Validate says which of the given fields breaks a rule by itself.
func (c Change) Validate() error {
	c.IfMatch = nil
	_, err := c.Apply(Webhook{URL: "https://example.com/", Status: Active}, 0)
	return err
}

// Apply is the webhook with the change, made at a time in epoch milliseconds.
// fault.Precondition where it is at another version than IfMatch; the faults of
// Validate where the outcome breaks a rule.
func (c Change) Apply(w Webhook, now int64) (Webhook, error) {
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
