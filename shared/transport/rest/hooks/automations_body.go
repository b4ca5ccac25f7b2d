package hooks

import (
	"github.com/rethread/rethread/shared/base/fault"
	"github.com/rethread/rethread/shared/domain/automation"
	"github.com/rethread/rethread/shared/domain/run"
	"github.com/rethread/rethread/shared/transport/rest"
)

type automationBody struct {
	ID             string             `json:"id"`
	Name           string             `json:"name"`
	On             automation.Trigger `json:"on"`
	Do             automation.Action  `json:"do"`
	Status         automation.Status  `json:"status"`
	DisabledReason *string            `json:"disabled_reason"`
	CreatedTime    int64              `json:"created_time"`
	UpdatedTime    int64              `json:"updated_time"`
	// LastRuns is nil except in the answer that reads one automation.
	LastRuns *[]lastRunBody `json:"last_runs,omitempty"`
}

type lastRunBody struct {
	RunID     string `json:"run_id"`
	SessionID string `json:"session_id"`
	EventType string `json:"event_type"`
	Time      int64  `json:"time"`
}

func bodyOfAutomation(a automation.Automation) automationBody {
	on := a.On
	on.Types, on.Agents = rest.EmptyIfNil(on.Types), rest.EmptyIfNil(on.Agents)
	on.SessionIDs, on.FeedbackTypes = rest.EmptyIfNil(on.SessionIDs), rest.EmptyIfNil(on.FeedbackTypes)
	out := automationBody{
		ID: a.ID, Name: a.Name, On: on, Do: a.Do, Status: a.Status, CreatedTime: a.CreatedTime, UpdatedTime: a.UpdatedTime,
	}
	if a.DisabledReason != "" {
		reason := string(a.DisabledReason)
		out.DisabledReason = &reason
	}
	return out
}

func bodyWithRuns(a automation.Automation, runs []automation.LastRun) automationBody {
	last := make([]lastRunBody, len(runs))
	for i, r := range runs {
		last[i] = lastRunBody(r)
	}
	out := bodyOfAutomation(a)
	out.LastRuns = &last
	return out
}

// newAutomation reads the body of a request that creates an automation.
func (a *api) newAutomation(c *rest.Call) (automation.Automation, error) {
	body, err := c.Object()
	if err != nil {
		return automation.Automation{}, err
	}
	for _, name := range []string{"on", "do"} {
		if !body.Has(name) {
			return automation.Automation{}, rest.Malformed(body.Pointer(name), "is required")
		}
	}
	change, err := a.automationFields(c, body)
	if err != nil {
		return automation.Automation{}, err
	}
	now := a.Now().UnixMilli()
	made := automation.Automation{UserID: c.User, Status: automation.Active, CreatedTime: now}
	if made.ID, err = c.DerivedID("automation"); err != nil {
		return automation.Automation{}, err
	}
	return change.Apply(made, now)
}

// automationChange reads the body of an update.
func (a *api) automationChange(c *rest.Call) (automation.Change, error) {
	body, err := c.Object()
	if err != nil {
		return automation.Change{}, err
	}
	change, err := a.automationFields(c, body)
	if err != nil {
		return change, err
	}
	if change == (automation.Change{}) {
		return change, fault.New(fault.NothingToChange, "nothing to change: give name, on, do or status")
	}
	return change, change.Validate()
}

// automationFields reads the members common to creations and updates. An update
// replaces on and do as a whole.
func (a *api) automationFields(c *rest.Call, body rest.Object) (out automation.Change, err error) {
	if body.Has("name") {
		name, err := body.Text("name")
		if err != nil {
			return out, err
		}
		out.Name = &name
	}
	if body.Has("status") {
		word, err := body.Text("status")
		if err != nil {
			return out, err
		}
		status := automation.Status(word)
		out.Status = &status
	}
	if body.Has("on") {
		if out.On, err = triggerOf(body); err != nil {
			return out, err
		}
	}
	if body.Has("do") {
		if out.Do, err = actionOf(body); err != nil {
			return out, err
		}
		if out.Proof, err = a.proof(c, out.Do.Agent, "/do/agent"); err != nil {
			return out, err
		}
	}
	return out, nil
}

// proof returns by what the caller may call an agent, which a member of the body wants.
func (a *api) proof(c *rest.Call, agent, at string) (*[]string, error) {
	switch {
	case !a.Agents.HasAgent(agent):
		return nil, rest.FieldFault(fault.AgentNotConfigured, at, "wants an agent that is not configured")
	case !a.Agents.MayCall(c.Context(), agent):
		return nil, rest.FieldFault(fault.AgentForbidden, at, "wants an agent that you may not call")
	}
	proof := a.Agents.Proof(c.Context(), agent)
	return &proof, nil
}

func triggerOf(o rest.Object) (*automation.Trigger, error) {
	on, err := o.Member("on")
	if err != nil {
		return nil, err
	}
	if !on.Has("types") {
		return nil, rest.Malformed(on.Pointer("types"), "is required")
	}
	var t automation.Trigger
	for _, f := range []struct {
		name string
		into *[]string
	}{{"types", &t.Types}, {"agents", &t.Agents}, {"session_ids", &t.SessionIDs}, {"feedback_types", &t.FeedbackTypes}} {
		if *f.into, err = on.Texts(f.name); err != nil {
			return nil, err
		}
	}
	return &t, nil
}

func actionOf(o rest.Object) (*automation.Action, error) {
	do, err := o.Member("do")
	if err != nil {
		return nil, err
	}
	var out automation.Action
	if out.Agent, err = do.RequiredText("agent"); err != nil {
		return nil, err
	}
	if out.Input, err = do.RequiredText("input"); err != nil {
		return nil, err
	}
	where, err := do.Choice("session", string(automation.Same), string(automation.New))
	if err != nil || !do.Has("on_active") {
		out.Session = automation.Where(where)
		return &out, err
	}
	active, err := do.RequiredText("on_active")
	out.Session, out.OnActive = automation.Where(where), run.OnActive(active)
	return &out, err
}
