package httpapi

import (
	"cmp"
	"net/http"
	"net/url"
	"slices"

	"github.com/rethread/rethread/shared/automation"
	"github.com/rethread/rethread/shared/fault"
	"github.com/rethread/rethread/shared/session"
)

const automationsPath = versioned + "/automations"

// Automations handles what users want agents to be asked when something happens.
func Automations(c Config) http.Handler {
	a := newAPI(c)
	const one = automationsPath + "/{automation_id}"
	a.handle(http.MethodPost, automationsPath, withBody(maxBody, a.once(a.createAutomation)))
	a.handle(http.MethodGet, automationsPath, a.listAutomations)
	a.handle(http.MethodGet, one, a.getAutomation)
	a.handle(http.MethodPatch, one, withBody(maxBody, a.changeAutomation))
	a.handle(http.MethodDelete, one, a.deleteAutomation)
	return a.mux
}

func automationReply(status int, au automation.Automation) (*reply, error) {
	rep, err := jsonReply(status, data{bodyOfAutomation(au)})
	if err != nil {
		return nil, err
	}
	rep.header.Set("ETag", etag(au.Version))
	return rep, nil
}

func (a *api) createAutomation(c *call) (*reply, error) {
	au, err := a.newAutomation(c)
	if err != nil {
		return nil, err
	}
	made, err := a.Automations.CreateAutomation(c.Context(), au)
	if err != nil {
		return nil, err
	}
	rep, err := automationReply(http.StatusCreated, made)
	if err == nil {
		rep.header.Set("Location", automationsPath+"/"+url.PathEscape(made.ID))
	}
	return rep, err
}

func (a *api) getAutomation(c *call) (*reply, error) {
	id, err := c.pathID("automation_id")
	if err != nil {
		return nil, err
	}
	au, err := a.Automations.Automation(c.Context(), c.user, id)
	if err != nil {
		return nil, err
	}
	return automationReply(http.StatusOK, au)
}

// automationPlace is where a list of automations goes on.
type automationPlace struct {
	Created int64
	ID      string
}

func (a *api) listAutomations(c *call) (*reply, error) {
	q, err := c.query()
	if err != nil {
		return nil, err
	}
	p, err := c.pages(q, session.DefaultPage, "automations")
	if err != nil {
		return nil, err
	}
	var after automationPlace
	if err := p.resume(&after); err != nil {
		return nil, err
	}
	all, err := a.Automations.Automations(c.Context(), c.user)
	if err != nil {
		return nil, err
	}
	all = slices.DeleteFunc(all, func(au automation.Automation) bool {
		return cmp.Or(cmp.Compare(au.CreatedTime, after.Created), cmp.Compare(au.ID, after.ID)) <= 0
	})
	var next *string
	if len(all) > p.limit {
		all = all[:p.limit]
		last := all[p.limit-1]
		if next, err = p.next(automationPlace{last.CreatedTime, last.ID}); err != nil {
			return nil, err
		}
	}
	bodies := make([]automationBody, len(all))
	for i, au := range all {
		bodies[i] = bodyOfAutomation(au)
	}
	return p.listReply(bodies, next)
}

func (a *api) changeAutomation(c *call) (*reply, error) {
	id, err := c.pathID("automation_id")
	if err != nil {
		return nil, err
	}
	change, err := a.automationChange(c)
	if err != nil {
		return nil, err
	}
	match, err := parseIfMatch(c.Header)
	if err != nil {
		return nil, err
	}
	if match.given && !match.any {
		// The version that matched must still hold when the change is made.
		au, err := a.Automations.Automation(c.Context(), c.user, id)
		if err != nil {
			return nil, err
		}
		if !match.matches(au.Version) {
			return nil, fault.New(fault.Precondition, "If-Match does not hold: the automation is at version %d", au.Version)
		}
		change.IfMatch = &au.Version
	}
	au, err := a.Automations.ChangeAutomation(c.Context(), c.user, id, change)
	if err != nil {
		return nil, err
	}
	return automationReply(http.StatusOK, au)
}

func (a *api) deleteAutomation(c *call) (*reply, error) {
	id, err := c.pathID("automation_id")
	if err != nil {
		return nil, err
	}
	if err := a.Automations.DeleteAutomation(c.Context(), c.user, id); err != nil {
		return nil, err
	}
	return noContent(), nil
}
