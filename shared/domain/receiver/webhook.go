package receiver

import (
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/rethread/rethread/shared/base/fault"
	"github.com/rethread/rethread/shared/domain/delivery"
	"github.com/rethread/rethread/shared/domain/ids"
	"github.com/rethread/rethread/shared/domain/notification"
)

// WebhookKind is the kind of the targets that webhooks are.
const WebhookKind delivery.Kind = "webhook"

// WebhookTest is the type of the event that an owner sends to test a webhook. It passes
// all filters, so no filter may name it.
const WebhookTest notification.Type = "webhook.test"

// Limits of webhooks. All webhooks of a user are in one item of the table, which
// limits the filters' bytes.
const (
	MaxWebhooks    = 20       // of one user
	MaxURL         = 2048     // bytes
	MaxDescription = 256      // characters
	MaxFilters     = 50       // entries of one filter
	MaxFilterBytes = 12 << 10 // of all entries of the three filters
)

// Status says whether a webhook receives events.
type Status string

// The statuses of a webhook.
const (
	Active   Status = "active"
	Disabled Status = "disabled"
)

// Reason is why a webhook is disabled.
type Reason string

// The reasons.
const (
	Paused  Reason = "paused"  // by its owner
	Failing Reason = "failing" // no delivery succeeded for as long as deliveries are retried
	Gone    Reason = "gone"    // it answered 410
	Refused Reason = "refused" // its name resolves to an address that must not be called
)

// Webhook is an address to which a user has events sent, and the filters for them.
// Times are epoch milliseconds.
type Webhook struct {
	ID     string
	UserID string
	URL    string
	// Description is for people.
	Description string
	// Types, Agents and SessionIDs filter the events; an empty list matches all. A
	// type is a name or a pattern such as session.*.
	Types      []string
	Agents     []string
	SessionIDs []string

	Status         Status
	DisabledReason Reason // set if disabled
	CreatedTime    int64
	UpdatedTime    int64
	// Since is when it last became active; earlier events are not sent.
	Since int64
	// Version counts the changes, from 1.
	Version int64
}

// Validate returns a fault that names the field that breaks a rule. It does not
// check where the address leads.
func (w Webhook) Validate() error {
	var broken fault.Broken
	switch {
	case w.URL == "":
		broken.Add(fault.Field(fault.Malformed, "/url", "is required"))
	case len(w.URL) > MaxURL:
		broken.Add(fault.Field(fault.Invalid, "/url", "must be at most %d bytes", MaxURL))
	case strings.ContainsFunc(w.URL, func(r rune) bool { return r <= ' ' || r > '~' }):
		broken.Add(fault.Field(fault.Invalid, "/url", "must be of visible ASCII characters"))
	}
	switch {
	case !utf8.ValidString(w.Description):
		broken.Add(fault.Field(fault.Invalid, "/description", "must be valid UTF-8"))
	case utf8.RuneCountInString(w.Description) > MaxDescription:
		broken.Add(fault.Field(fault.Invalid, "/description", "must be at most %d characters", MaxDescription))
	}
	broken.Add(w.validateFilters())
	return broken.Err()
}

func (w Webhook) validateFilters() error {
	var broken fault.Broken
	bytes := 0
	for _, f := range []struct {
		pointer string
		entries []string
		check   func(pointer, entry string) error
	}{
		{"/types", w.Types, notification.CheckType}, {"/agents", w.Agents, ids.CheckAgent}, {"/session_ids", w.SessionIDs, ids.Check},
	} {
		broken.Add(notification.CheckFilter(f.pointer, f.entries, MaxFilters, f.check))
		for _, entry := range f.entries {
			bytes += len(entry)
		}
		if bytes > MaxFilterBytes {
			broken.Add(fault.Field(fault.Invalid, f.pointer, "must, with the other filters, be at most %d bytes", MaxFilterBytes))
			break
		}
	}
	return broken.Err()
}

// Wants reports whether the webhook receives an event of its owner's: it was active
// when the event happened, and its filters match. The filter by sessions also
// matches the fork of a listed session.
func (w Webhook) Wants(e notification.Event) bool {
	if w.Status != Active || e.Time < w.Since || !e.Type.Public() {
		return false
	}
	ofType := len(w.Types) == 0 || slices.ContainsFunc(w.Types, func(f string) bool { return e.Type.Matches(f) })
	ofAgent := len(w.Agents) == 0 || slices.Contains(w.Agents, e.Agent)
	ofSession := len(w.SessionIDs) == 0 || slices.ContainsFunc(w.SessionIDs, func(id string) bool {
		return id == e.SessionID || e.Source != "" && id == e.Source
	})
	return ofType && ofAgent && ofSession
}

// Target returns the webhook as a target.
func (w Webhook) Target() delivery.Target {
	return delivery.Target{Kind: WebhookKind, Name: w.ID + "/" + w.UserID}
}

// ParseWebhook returns the owner and id of the webhook that a target is; ok is false
// for another kind of target.
func ParseWebhook(t delivery.Target) (userID, id string, ok bool) {
	id, userID, ok = strings.Cut(t.Name, "/")
	return userID, id, ok && t.Kind == WebhookKind
}
