// Package webhook is the domain of webhooks: which of what happens in their
// sessions users want their own servers to be told, with which secrets that is
// signed, and what became of it. What is sent is made in shared/client/webhookhttp.
package webhook

import (
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/rethread/rethread/shared/base/fault"
	"github.com/rethread/rethread/shared/domain/delivery"
)

// Kind is that of the targets that webhooks are.
const Kind delivery.Kind = "webhook"

// Test is the type of the event that an owner sends to try a webhook out. It
// passes all filters, so none may name it.
const Test delivery.Type = "webhook.test"

// Limits of webhooks. All of a user's stand in one item of the table, which is
// what bounds the filters' bytes.
const (
	MaxWebhooks    = 20       // a user
	MaxURL         = 2048     // bytes
	MaxDescription = 256      // characters
	MaxFilters     = 50       // entries of a filter
	MaxFilterBytes = 12 << 10 // of all entries of the three filters
)

// Status says whether a webhook is told anything.
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
	Failing Reason = "failing" // nothing was taken for as long as deliveries are tried
	Gone    Reason = "gone"    // it answered 410
	Refused Reason = "refused" // its name leads to an address that must not be called
)

// Webhook is where a user wants to be told, and of what. Times are epoch
// milliseconds.
type Webhook struct {
	ID     string
	UserID string
	URL    string
	// Description is for people.
	Description string
	// Types, Agents and SessionIDs choose what is told; an empty one lets all
	// through. A type is the name of one or, as session.*, of all that begin so.
	Types      []string
	Agents     []string
	SessionIDs []string

	Status         Status
	DisabledReason Reason // of a disabled one
	CreatedTime    int64
	UpdatedTime    int64
	// Since is when it last became active: what happened before is not told.
	Since int64
	// Version counts the changes, from 1.
	Version int64
}

// Validate says which field breaks a rule. Where the address leads is another
// matter.
func (w Webhook) Validate() error {
	switch {
	case w.URL == "":
		return fault.Field(fault.Malformed, "/url", "is required")
	case len(w.URL) > MaxURL:
		return fault.Field(fault.Invalid, "/url", "must be at most %d bytes", MaxURL)
	case strings.ContainsFunc(w.URL, func(r rune) bool { return r <= ' ' || r > '~' }):
		return fault.Field(fault.Invalid, "/url", "must be of visible ASCII characters")
	case !utf8.ValidString(w.Description):
		return fault.Field(fault.Invalid, "/description", "must be valid UTF-8")
	case utf8.RuneCountInString(w.Description) > MaxDescription:
		return fault.Field(fault.Invalid, "/description", "must be at most %d characters", MaxDescription)
	}
	return w.validateFilters()
}

func (w Webhook) validateFilters() error {
	bytes := 0
	for _, f := range []struct {
		pointer string
		entries []string
		check   func(pointer, entry string) error
	}{
		{"/types", w.Types, delivery.CheckType}, {"/agents", w.Agents, fault.CheckAgent}, {"/session_ids", w.SessionIDs, fault.CheckID},
	} {
		if err := delivery.CheckFilter(f.pointer, f.entries, MaxFilters, f.check); err != nil {
			return err
		}
		for _, entry := range f.entries {
			bytes += len(entry)
		}
		if bytes > MaxFilterBytes {
			return fault.Field(fault.Invalid, f.pointer, "must, with the other filters, be at most %d bytes", MaxFilterBytes)
		}
	}
	return nil
}

// Wants reports whether the webhook is to be told of an event of its owner's: it
// was active when it happened, and its filters let it through. The filter by
// sessions lets a fork through for the session that was forked, too.
func (w Webhook) Wants(e delivery.Event) bool {
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

// Target is a webhook as one that is told.
func (w Webhook) Target() delivery.Target {
	return delivery.Target{Kind: Kind, Name: w.ID + "/" + w.UserID}
}

// ParseTarget is whose webhook a target is, and which; false for another kind's.
func ParseTarget(t delivery.Target) (userID, id string, ok bool) {
	id, userID, ok = strings.Cut(t.Name, "/")
	return userID, id, ok && t.Kind == Kind
}
