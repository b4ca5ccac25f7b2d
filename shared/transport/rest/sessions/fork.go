package sessions

import (
	"encoding/json"
	"maps"
	"net/http"
	"unicode/utf8"

	"github.com/rethread/rethread/shared/base/fault"
	"github.com/rethread/rethread/shared/base/jsonx"
	"github.com/rethread/rethread/shared/domain/access"
	"github.com/rethread/rethread/shared/domain/session"
	"github.com/rethread/rethread/shared/transport/rest"
)

// Fork forks sessions and returns the tree of forks.
func Fork(c rest.Config) http.Handler {
	a := &api{rest.NewAPI(c)}
	for _, base := range []string{rest.Versioned, rest.Bare} {
		a.Handle(http.MethodPost, base+"/sessions/{session_id}/fork", rest.WithOptionalBody(rest.MaxBody, a.Once(rest.Repeatable{May: a.forkAuthority, Session: access.Fork}, a.forkSession)))
		a.Handle(http.MethodGet, base+"/sessions/{session_id}/forks", a.On(access.ReadForks, a.getForks))
	}
	return a.Mux
}

func (a *api) forkSession(c *rest.Call) (*rest.Reply, error) {
	f, err := forkOf(c)
	if err != nil {
		return nil, err
	}
	if f.AtSeq != nil {
		if f.Before, err = a.invocationAfter(c, f.SessionID, *f.AtSeq); err != nil {
			return nil, err
		}
		if f.Before == nil { // nothing comes after it
			f.AtSeq = nil
		}
	}
	forked, err := a.Rewinds.Fork(c.Context(), f)
	if err != nil {
		return nil, err
	}
	if f.DryRun { // no session was created
		return rest.JSON(http.StatusOK, rest.Data{Data: forked})
	}
	return createdReply(c, forked)
}

// forkAuthority requires the source's owner. The stored answer is deleted with
// the fork; with the source if the fork does not exist.
func (a *api) forkAuthority(c *rest.Call) (string, error) {
	log, err := a.AuthorityFor(access.Fork)(c)
	if err != nil {
		return "", err
	}
	f, err := forkOf(c)
	if err != nil || f.DryRun {
		return log, err
	}
	return "", nil
}

// forkOf reads the body of a fork; null counts as absent.
func forkOf(c *rest.Call) (session.ForkOf, error) {
	fail := func(err error) (session.ForkOf, error) { return session.ForkOf{}, err }
	f := session.ForkOf{UserID: c.User, KeyedBy: c.Claim}
	var err error
	if f.SessionID, err = c.SessionID(); err != nil {
		return fail(err)
	}
	body, err := c.Object()
	if err != nil {
		return fail(err)
	}
	maps.DeleteFunc(body.Members, func(_ string, raw json.RawMessage) bool { return jsonx.IsNull(raw) })
	var broken fault.Broken
	from, err := boundaryOf(body)
	broken.Add(err)
	f.Before, f.AtSeq = from.before, from.atSeq
	f.Name, err = optionalText(body, "name")
	if broken.Add(err) && f.Name != nil && utf8.RuneCountInString(*f.Name) > session.MaxName {
		broken.Add(rest.FieldFault(fault.Invalid, "/name", "must be at most %d characters", session.MaxName))
	}
	f.DryRun, err = body.Boolean("dry_run")
	broken.Add(err)
	f.Strict, err = body.Boolean("strict")
	broken.Add(err)
	if err := broken.Err(); err != nil {
		return fail(err)
	}
	if f.ID, err = c.DerivedID("session"); err != nil {
		return fail(err)
	}
	f.Nonce, err = c.DerivedID("nonce")
	return f, err
}

// optionalText reads a string, nil if it is absent.
func optionalText(o rest.Object, name string) (*string, error) {
	if !o.Has(name) {
		return nil, nil
	}
	s, err := o.Text(name)
	if err != nil {
		return nil, err
	}
	return &s, nil
}

func (a *api) getForks(c *rest.Call) (*rest.Reply, error) {
	id, err := c.SessionID()
	if err != nil {
		return nil, err
	}
	p, err := c.PlainPages(session.MaxPage, "forks", id)
	if err != nil {
		return nil, err
	}
	after, err := p.After()
	if err != nil {
		return nil, err
	}
	page, err := a.Rewinds.Forks(c.Context(), session.TreeQuery{
		UserID: c.User, SessionID: id, Limit: p.Limit, After: after, Alone: c.Permission.Guest(),
	})
	if err != nil {
		return nil, err
	}
	next, err := p.NextAfter(page.Next)
	if err != nil {
		return nil, err
	}
	return p.ListReply(withChildren(page.Root), next)
}

// withChildren returns a tree in which every branch has a list of children,
// possibly empty.
func withChildren(b session.Branch) session.Branch {
	children := make([]session.Branch, len(b.Children))
	for i, child := range b.Children {
		children[i] = withChildren(child)
	}
	b.Children = children
	return b
}
