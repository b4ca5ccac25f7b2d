// Package sessions serves sessions over HTTP: their events, rewinds, forks and shares, and
// what belongs to a user.
package sessions

import (
	"encoding/json"
	"log/slog"
	"net/http"
	"net/url"
	"strings"

	"github.com/rethread/rethread/shared/base/fault"
	"github.com/rethread/rethread/shared/base/jsonx"
	"github.com/rethread/rethread/shared/domain/access"
	"github.com/rethread/rethread/shared/domain/ids"
	"github.com/rethread/rethread/shared/domain/session"
	"github.com/rethread/rethread/shared/observe/logs"
	"github.com/rethread/rethread/shared/transport/rest"
)

// api holds the handlers.
type api struct{ *rest.API }

// Sessions handles sessions and their state.
func Sessions(c rest.Config) http.Handler {
	a := &api{rest.NewAPI(c)}
	for _, base := range []string{rest.Versioned, rest.Bare} {
		a.Handle(http.MethodPost, base+"/sessions", rest.WithBody(rest.MaxBody, a.Once(rest.Repeatable{May: rest.AnyCaller}, a.createSession)))
		a.Handle(http.MethodGet, base+"/sessions", a.listSessions)
		a.Handle(http.MethodGet, base+"/sessions/{session_id}", a.On(access.ReadSession, a.getSession))
		a.Handle(http.MethodPatch, base+"/sessions/{session_id}", rest.WithBody(rest.MaxBody, a.On(access.Rename, a.updateSession)))
		a.Handle(http.MethodDelete, base+"/sessions/{session_id}", a.On(access.Delete, a.deleteSession))
		a.Handle(http.MethodGet, base+"/sessions/{session_id}/state", a.On(access.ReadSession, a.getState))
	}
	return a.Mux
}

func (a *api) createSession(c *rest.Call) (*rest.Reply, error) {
	n, err := newSession(c)
	if err != nil {
		return nil, err
	}
	created, err := a.Sessions.Create(c.Context(), n)
	if err != nil {
		return nil, err
	}
	logs.Add(c.Context(), slog.String(logs.SessionID, created.ID))
	return createdReply(c, created)
}

// createdReply answers a session that the request created.
func createdReply(c *rest.Call, created session.Session) (*rest.Reply, error) {
	rep, err := sessionReply(c, http.StatusCreated, created)
	if err != nil {
		return nil, err
	}
	base := rest.Versioned
	if !strings.HasPrefix(c.URL.Path, rest.Versioned+"/") {
		base = rest.Bare
	}
	rep.Header.Set("Location", base+"/sessions/"+url.PathEscape(created.ID))
	return rep, nil
}

// newSession reads the body of a request that creates a session.
func newSession(c *rest.Call) (session.New, error) {
	body, err := c.Object()
	if err != nil {
		return session.New{}, err
	}
	var broken fault.Broken
	broken.Add(body.Only("id", "app_name", "agent", "name", "state", "metadata", "retention"))
	n := session.New{UserID: c.User, KeyedBy: c.Claim}
	for _, f := range []struct {
		name string
		into *string
	}{{"id", &n.ID}, {"app_name", &n.AppName}, {"agent", &n.Agent}, {"name", &n.Name}} {
		*f.into, err = body.Text(f.name)
		broken.Add(err)
	}
	if !body.Has("id") {
		if n.ID, err = c.DerivedID("session"); err != nil {
			return session.New{}, err
		}
	}
	if n.Nonce, err = c.DerivedID("nonce"); err != nil {
		return session.New{}, err
	}
	state, err := body.Member("state")
	broken.Add(err)
	n.State = session.Delta(state.Members)
	broken.Add(c.Caller.CheckApp(n.State, "/state"))
	c.Caller.StampNew(&n)
	if n.Metadata, err = body.Raw("metadata"); err != nil {
		return session.New{}, err
	}
	retention, err := retentionOf(body)
	if broken.Add(err) && retention != nil {
		n.Retention = *retention
	}
	broken.Add(n.Validate())
	return n, broken.Err()
}

func (a *api) getSession(c *rest.Call) (*rest.Reply, error) {
	id, err := c.SessionID()
	if err != nil {
		return nil, err
	}
	s, err := a.Sessions.Get(c.Context(), c.User, id)
	if err != nil {
		return nil, err
	}
	return sessionReply(c, http.StatusOK, s)
}

func sessionReply(c *rest.Call, status int, s session.Session) (*rest.Reply, error) {
	rep, err := rest.JSON(status, rest.Data{Data: c.AsCallerSees(s)})
	if err != nil {
		return nil, err
	}
	rep.Header.Set("ETag", rest.ETag(s.Version))
	return rep, nil
}

func (a *api) listSessions(c *rest.Call) (*rest.Reply, error) {
	q, err := c.Query()
	if err != nil {
		return nil, err
	}
	agent, err := q.Text("agent", ids.MaxLength)
	if err != nil {
		return nil, err
	}
	text, err := q.Text("q", session.MaxName)
	if err != nil {
		return nil, err
	}
	status, err := q.Choice("status", "", string(session.Idle), string(session.InProgress), string(session.Failed))
	if err != nil {
		return nil, err
	}
	exact, err := q.Choice("exact", "false", "true")
	if err != nil {
		return nil, err
	}
	list, err := a.sessionList(c, q)
	if err != nil {
		return nil, err
	}
	p, err := c.Pages(q, session.DefaultPage, list.selects("sessions", agent, status, text)...)
	if err != nil {
		return nil, err
	}
	after, err := p.After()
	if err != nil {
		return nil, err
	}
	page, err := list.read(c.Context(), session.ListQuery{
		UserID: list.userID, Agent: agent, Status: session.Status(status), Text: text, Limit: p.Limit, After: after, Exact: exact == "true",
	})
	if err != nil {
		return nil, err
	}
	next, err := p.NextAfter(page.Next)
	if err != nil {
		return nil, err
	}
	return p.ListReply(page.Rows(), next)
}

func (a *api) updateSession(c *rest.Call) (*rest.Reply, error) {
	id, err := c.SessionID()
	if err != nil {
		return nil, err
	}
	match, err := rest.ParseIfMatch(c.Header)
	if err != nil {
		return nil, err
	}
	patch, err := patchOf(c)
	if err != nil {
		return nil, err
	}
	if patch.IfMatch, err = match.Version("session", func() (int64, error) {
		s, err := a.Sessions.Get(c.Context(), c.User, id)
		return s.Version, err
	}); err != nil {
		return nil, err
	}
	s, err := a.Sessions.Update(c.Context(), c.User, id, patch)
	if err != nil {
		return nil, err
	}
	return sessionReply(c, http.StatusOK, s)
}

// patchOf reads the body of a request that updates a session.
func patchOf(c *rest.Call) (session.Patch, error) {
	body, err := c.Object()
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
	p.Retention, err = retentionOf(body)
	if broken.Add(err) || p.Name != nil || p.Metadata != nil {
		broken.Add(p.Validate())
	}
	return p, broken.Err()
}

// retentionOf reads for how many seconds a session is retained. Null is 0, the
// default of the session's agent or the deployment; nil means that the member
// is absent.
func retentionOf(o rest.Object) (*int64, error) {
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

func (a *api) deleteSession(c *rest.Call) (*rest.Reply, error) {
	id, err := c.SessionID()
	if err != nil {
		return nil, err
	}
	if err := a.Sessions.Delete(c.Context(), c.User, id); err != nil {
		return nil, err
	}
	return rest.NoContent(), nil
}

func (a *api) getState(c *rest.Call) (*rest.Reply, error) {
	id, err := c.SessionID()
	if err != nil {
		return nil, err
	}
	state, err := a.Sessions.State(c.Context(), c.User, id)
	if err != nil {
		return nil, err
	}
	state = c.Permission.State(state)
	for _, values := range []*session.Values{&state.Session, &state.User, &state.App, &state.Merged} {
		if *values == nil {
			*values = map[string]json.RawMessage{}
		}
	}
	return rest.JSON(http.StatusOK, rest.Data{Data: state})
}
