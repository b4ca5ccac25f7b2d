// Package automation is the domain of automations, which start an agent's run when
// something happens in their owner's sessions: what automations are (this file),
// which events they act on and how loops are prevented (guard.go), the agent's
// input (input.go), and the action (actor.go).
package automation

import (
	"slices"
	"unicode/utf8"

	"github.com/rethread/rethread/shared/base/fault"
	"github.com/rethread/rethread/shared/domain/ids"
	"github.com/rethread/rethread/shared/domain/notification"
	"github.com/rethread/rethread/shared/domain/run"
)

// Limits of automations.
const (
	MaxAutomations = 20 // of one user
	MaxName        = 256
	MaxInput       = 10_000 // characters
	MaxFilters     = 50     // entries of one filter
)

// Status says whether an automation is active.
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
	Runaway Reason = "runaway" // it started more than MaxRuns runs within RunsWithin
)

// Where says in which session the agent runs.
type Where string

// The values of Where.
const (
	Same Where = "same" // the session of the event
	New  Where = "new"  // a new session
)

// Automation starts an agent's run when something happens. Times are epoch
// milliseconds.
type Automation struct {
	ID     string
	UserID string
	Name   string // for people
	On     Trigger
	Do     Action
	// Proof is by what the owner's token let them call the agent when the automation was
	// created, changed or resumed.
	Proof []string

	Status         Status
	DisabledReason Reason // set if disabled
	CreatedTime    int64
	UpdatedTime    int64
	// Version counts the changes, from 1.
	Version int64
}

// Trigger selects the events. An empty list, except Types, matches all.
type Trigger struct {
	// Types are names of types, or patterns such as run.*.
	Types      []string `json:"types"`
	Agents     []string `json:"agents"`
	SessionIDs []string `json:"session_ids"`
	// FeedbackTypes filters feedback.created: up, down.
	FeedbackTypes []string `json:"feedback_types"`
}

// Action is what an automation does.
type Action struct {
	Agent   string `json:"agent"` // the agent to run
	Session Where  `json:"session"`
	// Input is the agent's input, with placeholders.
	Input string `json:"input"`
	// OnActive is what happens while another run of the session is active; "" is
	// run.Reject, after which the automation tries again later.
	OnActive run.OnActive `json:"on_active,omitempty"`
}

// Validate returns a fault that names the field that breaks a rule. It does not
// check which agents exist.
func (a Automation) Validate() error {
	var broken fault.Broken
	broken.Add(Change{Name: &a.Name, On: &a.On, Do: &a.Do, Status: &a.Status}.Validate())
	if a.Do.Session == Same && slices.Contains(a.On.Types, string(notification.SessionDeleted)) {
		broken.Add(fault.Field(fault.Invalid, "/do/session", "must be new: a deleted session cannot be continued"))
	}
	return broken.Err()
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
		{"/on/types", t.Types, notification.CheckType},
		{"/on/agents", t.Agents, ids.CheckAgent},
		{"/on/session_ids", t.SessionIDs, ids.Check},
		{"/on/feedback_types", t.FeedbackTypes, checkFeedback},
	} {
		if err := notification.CheckFilter(f.pointer, f.entries, MaxFilters, f.check); err != nil {
			return err
		}
	}
	if len(t.FeedbackTypes) > 0 && !slices.ContainsFunc(t.Types, notification.FeedbackCreated.Matches) {
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
	if err := ids.CheckAgent("/do/agent", a.Agent); err != nil {
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
	switch a.OnActive {
	case "", run.Reject, run.CancelAndMerge, run.Enqueue:
	default:
		return fault.Field(fault.Invalid, "/do/on_active", "must be reject, cancel_and_merge or enqueue")
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

// Change changes an automation; nil leaves a field unchanged.
type Change struct {
	Name   *string
	On     *Trigger
	Do     *Action
	Status *Status
	Proof  *[]string
	// IfMatch is the expected version.
	IfMatch *int64
}

// Validate returns a fault that names the fields that break a rule, whatever the
// automation is.
func (c Change) Validate() error {
	var broken fault.Broken
	if c.Name != nil {
		broken.Add(checkText("/name", *c.Name, MaxName))
	}
	if c.On != nil {
		broken.Add(c.On.validate())
	}
	if c.Do != nil {
		broken.Add(c.Do.validate())
	}
	if c.Status != nil && *c.Status != Active && *c.Status != Disabled {
		broken.Add(fault.Field(fault.Invalid, "/status", "must be active or disabled"))
	}
	return broken.Err()
}

// Apply returns the automation after the change, at a time in epoch milliseconds,
// or a fault if it breaks a rule.
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
	if c.Proof != nil {
		a.Proof = *c.Proof
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
