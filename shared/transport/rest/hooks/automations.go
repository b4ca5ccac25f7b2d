package hooks

import (
	"net/http"

	"github.com/rethread/rethread/shared/domain/automation"
	"github.com/rethread/rethread/shared/transport/rest"
)

// Automations handles a user's automations, which start agents on events.
func Automations(c rest.Config) http.Handler {
	a := &api{rest.NewAPI(c)}
	all := a.ownAutomations()
	one := all.path + "/{automation_id}"
	a.Handle(http.MethodPost, all.path, rest.WithBody(rest.MaxBody, all.whileExists(a.Once(rest.Repeatable{May: rest.AnyCaller}, a.createAutomation))))
	a.Handle(http.MethodGet, all.path, all.getAll)
	a.Handle(http.MethodGet, one, a.getAutomation)
	a.Handle(http.MethodPatch, one, rest.WithBody(rest.MaxBody, a.changeAutomation))
	a.Handle(http.MethodDelete, one, all.deleteOne)
	return a.Mux
}

func (a *api) ownAutomations() owned[automation.Automation] {
	return owned[automation.Automation]{
		name: "automation", path: rest.Versioned + "/automations", id: "automation_id",
		know: func(au automation.Automation) label { return label{au.ID, au.CreatedTime, au.Version} },
		body: func(au automation.Automation) any { return bodyOfAutomation(au) },
		list: a.Automations.Automations, read: a.Automations.Automation,
		remove: a.Automations.DeleteAutomation,
	}
}

func (a *api) createAutomation(c *rest.Call) (*rest.Reply, error) {
	au, err := a.newAutomation(c)
	if err != nil {
		return nil, err
	}
	made, err := a.Automations.CreateAutomation(c.Context(), au)
	if err != nil {
		return nil, err
	}
	return a.ownAutomations().reply(http.StatusCreated, made)
}

// getAutomation answers an automation with its last runs.
func (a *api) getAutomation(c *rest.Call) (*rest.Reply, error) {
	own := a.ownAutomations()
	id, err := c.PathID(own.id)
	if err != nil {
		return nil, err
	}
	au, err := a.Automations.Automation(c.Context(), c.User, id)
	if err != nil {
		return nil, err
	}
	runs, err := a.Automations.LastRuns(c.Context(), c.User, id)
	if err != nil {
		return nil, err
	}
	own.body = func(au automation.Automation) any { return bodyWithRuns(au, runs) }
	return own.reply(http.StatusOK, au)
}

func (a *api) changeAutomation(c *rest.Call) (*rest.Reply, error) {
	own := a.ownAutomations()
	id, err := c.PathID(own.id)
	if err != nil {
		return nil, err
	}
	change, err := a.automationChange(c)
	if err != nil {
		return nil, err
	}
	if change.IfMatch, err = own.matchedVersion(c, id); err != nil {
		return nil, err
	}
	if change.Do == nil && change.Status != nil && *change.Status == automation.Active {
		now, err := a.Automations.Automation(c.Context(), c.User, id)
		if err != nil {
			return nil, err
		}
		if change.Proof, err = a.proof(c, now.Do.Agent, "/status"); err != nil {
			return nil, err
		}
	}
	au, err := a.Automations.ChangeAutomation(c.Context(), c.User, id, change)
	if err != nil {
		return nil, err
	}
	return own.reply(http.StatusOK, au)
}
