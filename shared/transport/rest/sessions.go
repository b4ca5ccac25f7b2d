package rest

import (
	"encoding/json"
	"log/slog"
	"net/http"
	"net/url"
	"strings"

	"github.com/rethread/rethread/shared/base/fault"
	"github.com/rethread/rethread/shared/base/jsonx"
	"github.com/rethread/rethread/shared/domain/ids"
	"github.com/rethread/rethread/shared/domain/session"
	"github.com/rethread/rethread/shared/observe/logs"
)

func (a *api) createSession(c *call) (*reply, error) {
	n, err := c.newSession()
	if err != nil {
		return nil, err
	}
	created, err := a.Sessions.Create(c.Context(), n)
	if err != nil {
		return nil, err
	}
	logs.Add(c.Context(), slog.String(logs.SessionID, created.ID))
	return c.createdReply(created)
}

// createdReply answers a session that the request created.
func (c *call) createdReply(created session.Session) (*reply, error) {
	rep, err := c.sessionReply(http.StatusCreated, created)
	if err != nil {
		return nil, err
	}
	base := versioned
	if !strings.HasPrefix(c.URL.Path, versioned+"/") {
		base = bare
	}
	rep.header.Set("Location", base+"/sessions/"+url.PathEscape(created.ID))
	return rep, nil
}

// newSession reads the body of a request that creates a session.
func (c *call) newSession() (session.New, error) {
	body, err := c.object()
	if err != nil {
		return session.New{}, err
	}
	var broken fault.Broken
	broken.Add(body.Only("id", "app_name", "agent", "name", "state", "metadata", "retention"))
	n := session.New{UserID: c.user, KeyedBy: c.claim}
	for _, f := range []struct {
		name string
		into *string
	}{{"id", &n.ID}, {"app_name", &n.AppName}, {"agent", &n.Agent}, {"name", &n.Name}} {
		*f.into, err = body.Text(f.name)
		broken.Add(err)
	}
	if !body.Has("id") {
		if n.ID, err = c.derivedID("session"); err != nil {
			return session.New{}, err
		}
	}
	if n.Nonce, err = c.derivedID("nonce"); err != nil {
		return session.New{}, err
	}
	state, err := body.object("state")
	broken.Add(err)
	n.State = session.Delta(state.Members)
	broken.Add(c.caller.CheckApp(n.State, "/state"))
	c.caller.StampNew(&n)
	if n.Metadata, err = body.Raw("metadata"); err != nil {
		return session.New{}, err
	}
	retention, err := body.retention()
	if broken.Add(err) && retention != nil {
		n.Retention = *retention
	}
	broken.Add(n.Validate())
	return n, broken.Err()
}

func (a *api) getSession(c *call) (*reply, error) {
	id, err := c.sessionID()
	if err != nil {
		return nil, err
	}
	s, err := a.Sessions.Get(c.Context(), c.user, id)
	if err != nil {
		return nil, err
	}
	return c.sessionReply(http.StatusOK, s)
}

func (c *call) sessionReply(status int, s session.Session) (*reply, error) {
	rep, err := jsonReply(status, data{c.asCallerSees(s)})
	if err != nil {
		return nil, err
	}
	rep.header.Set("ETag", etag(s.Version))
	return rep, nil
}

func (a *api) listSessions(c *call) (*reply, error) {
	q, err := c.query()
	if err != nil {
		return nil, err
	}
	agent, err := q.text("agent", ids.MaxLength)
	if err != nil {
		return nil, err
	}
	text, err := q.text("q", session.MaxName)
	if err != nil {
		return nil, err
	}
	status, err := q.choice("status", "", string(session.Idle), string(session.InProgress), string(session.Failed))
	if err != nil {
		return nil, err
	}
	exact, err := q.choice("exact", "false", "true")
	if err != nil {
		return nil, err
	}
	list, err := a.sessionList(c, q)
	if err != nil {
		return nil, err
	}
	p, err := c.pages(q, session.DefaultPage, list.selects("sessions", agent, status, text)...)
	if err != nil {
		return nil, err
	}
	after, err := p.after()
	if err != nil {
		return nil, err
	}
	page, err := list.read(c.Context(), session.ListQuery{
		UserID: list.userID, Agent: agent, Status: session.Status(status), Text: text, Limit: p.limit, After: after, Exact: exact == "true",
	})
	if err != nil {
		return nil, err
	}
	next, err := p.nextAfter(page.Next)
	if err != nil {
		return nil, err
	}
	return p.listReply(page.Rows(), next)
}

func (a *api) updateSession(c *call) (*reply, error) {
	id, err := c.sessionID()
	if err != nil {
		return nil, err
	}
	match, err := parseIfMatch(c.Header)
	if err != nil {
		return nil, err
	}
	patch, err := c.patch()
	if err != nil {
		return nil, err
	}
	if patch.IfMatch, err = match.version("session", func() (int64, error) {
		s, err := a.Sessions.Get(c.Context(), c.user, id)
		return s.Version, err
	}); err != nil {
		return nil, err
	}
	s, err := a.Sessions.Update(c.Context(), c.user, id, patch)
	if err != nil {
		return nil, err
	}
	return c.sessionReply(http.StatusOK, s)
}

// patch reads the body of a request that updates a session.
func (c *call) patch() (session.Patch, error) {
	body, err := c.object()
	if err != nil {
		return session.Patch{}, err
	}
	var p session.Patch
	var broken fault.Broken
	if body.Has("name") {
		name, err := body.Text("name")
		broken.Add(err)
		p.Name = &name
	}
	if p.Metadata, err = body.Raw("metadata"); err != nil {
		return session.Patch{}, err
	}
	p.Retention, err = body.retention()
	if broken.Add(err) || p.Name != nil || p.Metadata != nil {
		broken.Add(p.Validate())
	}
	return p, broken.Err()
}

// retention reads for how many seconds a session is retained. Null is 0, the
// default of the session's agent or the deployment; nil means that the member
// is absent.
func (o object) retention() (*int64, error) {
	const name = "retention"
	if raw, ok := o.Members[name]; ok && jsonx.IsNull(raw) {
		return new(int64), nil
	}
	seconds, err := o.Integer(name)
	if err == nil && seconds != nil {
		err = session.CheckRetention(o.Pointer(name), *seconds)
	}
	return seconds, err
}

func (a *api) deleteSession(c *call) (*reply, error) {
	id, err := c.sessionID()
	if err != nil {
		return nil, err
	}
	if err := a.Sessions.Delete(c.Context(), c.user, id); err != nil {
		return nil, err
	}
	return noContent(), nil
}

func (a *api) getState(c *call) (*reply, error) {
	id, err := c.sessionID()
	if err != nil {
		return nil, err
	}
	state, err := a.Sessions.State(c.Context(), c.user, id)
	if err != nil {
		return nil, err
	}
	state = c.permission.State(state)
	for _, values := range []*session.Values{&state.Session, &state.User, &state.App, &state.Merged} {
		if *values == nil {
			*values = map[string]json.RawMessage{}
		}
	}
	return jsonReply(http.StatusOK, data{state})
}

// emptyIfNil returns a list that encodes as an array, never as null.
func emptyIfNil[T any](items []T) []T {
	if items == nil {
		return []T{}
	}
	return items
}
