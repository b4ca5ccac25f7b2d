// Package automation is the domain of what users want done when something
// happens in their sessions: that an agent is asked. It says what automations are
// (this file), which events they act on and when they must not (guard.go), what
// the agent is asked (input.go), and acts (actor.go).
package automation

import (
	"slices"
	"unicode/utf8"

	"github.com/rethread/rethread/shared/base/fault"
	"github.com/rethread/rethread/shared/domain/delivery"
)

// Limits of automations.
const (
	MaxAutomations = 20 // a user
	MaxName        = 256
	MaxInput       = 10_000 // characters
	MaxFilters     = 50     // entries of one filter
)

// Status says whether an automation acts.
type Status string

// The statuses of an automation.
const (
	Active   Status = "active"
	Disabled Status = "disabled"
)

// Reason is why an automation is disabled.
type Reason string

// The reasons.
const (
	Paused  Reason = "paused"  // by its owner
	Runaway Reason = "runaway" // it started more than MaxRuns within RunsWithin
)

// Where says in which session the agent is asked.
type Where string

// The places.
const (
	Same Where = "same" // the one in which it happened
	New  Where = "new"  // one of its own
)

// Automation asks an agent when something happens. Times are epoch milliseconds.
type Automation struct {
	ID     string
	UserID string
	Name   string // for people
	On     Trigger
	Do     Action

	Status         Status
	DisabledReason Reason // of a disabled one
	CreatedTime    int64
	UpdatedTime    int64
	// Version counts the changes, from 1.
	Version int64
}

// Trigger chooses the events. An empty list, but that of the types, lets all
// through.
type Trigger struct {
	// Types are names of types or, as run.*, of all that begin so.
	Types      []string `json:"types"`
	Agents     []string `json:"agents"`
	SessionIDs []string `json:"session_ids"`
	// FeedbackTypes are those of feedback.created: up, down.
	FeedbackTypes []string `json:"feedback_types"`
}

// Action is what is done.
type Action struct {
	Agent   string `json:"agent"` // that is asked
	Session Where  `json:"session"`
	// Input is what it is asked, with placeholders.
	Input string `json:"input"`
}

// Validate says which field breaks a rule. Which agents there are is another
// matter.
func (a Automation) Validate() error {
	if err := checkText("/name", a.Name, MaxName); err != nil {
		return err
	}
	if err := a.On.validate(); err != nil {
		return err
	}
	if err := a.Do.validate(); err != nil {
		return err
	}
	if a.Do.Session == Same && slices.Contains(a.On.Types, string(delivery.SessionDeleted)) {
		return fault.Field(fault.Invalid, "/do/session", "must be new: a session that was deleted cannot be gone on with")
	}
	if a.Status != Active && a.Status != Disabled {
		return fault.Field(fault.Invalid, "/status", "must be active or disabled")
	}
	return nil
}

func (t Trigger) validate() error {
	if len(t.Types) == 0 {
		return fault.Field(fault.Invalid, "/on/types", "must name one type or more")
	}
	for _, f := range []struct {
		pointer string
		entries []string
		check   func(pointer, entry string) error
	}{
		{"/on/types", t.Types, delivery.CheckType},
		{"/on/agents", t.Agents, fault.CheckAgent},
		{"/on/session_ids", t.SessionIDs, fault.CheckID},
		{"/on/feedback_types", t.FeedbackTypes, checkFeedback},
	} {
		if err := delivery.CheckFilter(f.pointer, f.entries, MaxFilters, f.check); err != nil {
			return err
		}
	}
	if len(t.FeedbackTypes) > 0 && !slices.ContainsFunc(t.Types, delivery.FeedbackCreated.Matches) {
		return fault.Field(fault.Invalid, "/on/feedback_types", "must be absent where types have no feedback.created")
	}
	return nil
}

func checkFeedback(pointer, entry string) error {
	if entry != "up" && entry != "down" {
		return fault.Field(fault.Invalid, pointer, "must be up or down")
	}
	return nil
}

func (a Action) validate() error {
	if err := fault.CheckAgent("/do/agent", a.Agent); err != nil {
		return err
	}
	if a.Session != Same && a.Session != New {
		return fault.Field(fault.Invalid, "/do/session", "must be same or new")
	}
	if a.Input == "" {
		return fault.Field(fault.Invalid, "/do/input", "must not be empty")
	}
	if err := checkText("/do/input", a.Input, MaxInput); err != nil {
		return err
	}
	return checkPlaceholders("/do/input", a.Input)
}

func checkText(pointer, text string, most int) error {
	switch {
	case !utf8.ValidString(text):
		return fault.Field(fault.Invalid, pointer, "must be valid UTF-8")
	case utf8.RuneCountInString(text) > most:
		return fault.Field(fault.Invalid, pointer, "must be at most %d characters", most)
	}
	return nil
}

// Change changes an automation; nil leaves a field as it is.
type Change struct {
	Name   *string
	On     *Trigger
	Do     *Action
	Status *Status
	// IfMatch is a version that must still hold.
	IfMatch *int64
}

// Apply is the automation after the change, at a time; a fault where it breaks a
// rule.
func (c Change) Apply(a Automation, now int64) (Automation, error) {
	if c.Name != nil {
		a.Name = *c.Name
	}
	if c.On != nil {
		a.On = *c.On
	}
	if c.Do != nil {
		a.Do = *c.Do
	}
	if c.Status != nil {
		if a.Status = *c.Status; a.Status == Active {
			a.DisabledReason = ""
		} else if a.DisabledReason == "" {
			a.DisabledReason = Paused
		}
	}
	a.UpdatedTime = max(now, a.UpdatedTime)
	a.Version++
	return a, a.Validate()
}
