package rest

import (
	"encoding/json"
	"maps"
	"net/http"
	"unicode/utf8"

	"github.com/rethread/rethread/shared/base/fault"
	"github.com/rethread/rethread/shared/base/jsonx"
	"github.com/rethread/rethread/shared/domain/access"
	"github.com/rethread/rethread/shared/domain/session"
)

func (a *api) forkSession(c *call) (*reply, error) {
	f, err := c.fork()
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
		return jsonReply(http.StatusOK, data{forked})
	}
	return c.createdReply(forked)
}

// forkAuthority requires the source's owner. The stored answer is deleted with
// the fork; with the source if the fork does not exist.
func (a *api) forkAuthority(c *call) (string, error) {
	log, err := a.authorityFor(access.Fork)(c)
	if err != nil {
		return "", err
	}
	f, err := c.fork()
	if err != nil || f.DryRun {
		return log, err
	}
	return "", nil
}

// fork reads the body of a fork; null counts as absent.
func (c *call) fork() (session.ForkOf, error) {
	fail := func(err error) (session.ForkOf, error) { return session.ForkOf{}, err }
	f := session.ForkOf{UserID: c.user, KeyedBy: c.claim}
	var err error
	if f.SessionID, err = c.sessionID(); err != nil {
		return fail(err)
	}
	body, err := c.object()
	if err != nil {
		return fail(err)
	}
	maps.DeleteFunc(body.Members, func(_ string, raw json.RawMessage) bool { return jsonx.IsNull(raw) })
	var broken fault.Broken
	from, err := body.boundary()
	broken.Add(err)
	f.Before, f.AtSeq = from.before, from.atSeq
	f.Name, err = body.optionalText("name")
	if broken.Add(err) && f.Name != nil && utf8.RuneCountInString(*f.Name) > session.MaxName {
		broken.Add(fieldFault(fault.Invalid, "/name", "must be at most %d characters", session.MaxName))
	}
	f.DryRun, err = body.Boolean("dry_run")
	broken.Add(err)
	f.Strict, err = body.Boolean("strict")
	broken.Add(err)
	if err := broken.Err(); err != nil {
		return fail(err)
	}
	if f.ID, err = c.derivedID("session"); err != nil {
		return fail(err)
	}
	f.Nonce, err = c.derivedID("nonce")
	return f, err
}

// optionalText reads a string, nil if it is absent.
func (o object) optionalText(name string) (*string, error) {
	if !o.Has(name) {
		return nil, nil
	}
	s, err := o.Text(name)
	if err != nil {
		return nil, err
	}
	return &s, nil
}

func (a *api) getForks(c *call) (*reply, error) {
	id, err := c.sessionID()
	if err != nil {
		return nil, err
	}
	q, err := c.query()
	if err != nil {
		return nil, err
	}
	p, err := c.pages(q, session.MaxPage, "forks", id)
	if err != nil {
		return nil, err
	}
	after, err := p.after()
	if err != nil {
		return nil, err
	}
	page, err := a.Rewinds.Forks(c.Context(), session.TreeQuery{
		UserID: c.user, SessionID: id, Limit: p.limit, After: after, Alone: c.permission.Guest(),
	})
	if err != nil {
		return nil, err
	}
	next, err := p.nextAfter(page.Next)
	if err != nil {
		return nil, err
	}
	return p.listReply(withChildren(page.Root), next)
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
