package sessions

import (
	"fmt"
	"net/http"
	"net/url"
	"time"
	"unicode/utf8"

	"github.com/rethread/rethread/shared/base/fault"
	"github.com/rethread/rethread/shared/domain/access"
	"github.com/rethread/rethread/shared/domain/session"
	"github.com/rethread/rethread/shared/transport/rest"
)

const sharesPath = rest.Versioned + "/sessions/{session_id}/shares"

// Shares handles access of other users to sessions. Only owners can share.
func Shares(c rest.Config) http.Handler {
	a := &api{rest.NewAPI(c)}
	a.Handle(http.MethodPost, sharesPath, rest.WithBody(rest.MaxBody, a.Once(rest.Repeatable{Session: access.Share}, a.shareSession)))
	a.Handle(http.MethodGet, sharesPath, a.On(access.Share, a.listShares))
	a.Handle(http.MethodDelete, sharesPath+"/{share_id}", a.On(access.Share, a.revokeShare))
	a.Handle(http.MethodPost, rest.Versioned+"/shares/accept", rest.WithBody(rest.MaxBody, a.acceptShare))
	a.Handle(http.MethodDelete, rest.Versioned+"/sessions/{session_id}/access", a.leaveSession)
	return a.Mux
}

// createdShare is a share in the answer that creates it.
type createdShare struct {
	access.SharedWith

	Token string `json:"token,omitempty"`
}

// shareSession creates a share. A link's token is returned only this once: the
// answer stored for repeats does not contain it.
func (a *api) shareSession(c *rest.Call) (*rest.Reply, error) {
	n, err := a.newShare(c)
	if err != nil {
		return nil, err
	}
	made, err := a.Shares.Share(c.Context(), n)
	if err != nil {
		return nil, err
	}
	rep, err := rest.JSON(http.StatusCreated, rest.Data{Data: createdShare{SharedWith: made, Token: n.Token}})
	if err != nil {
		return nil, err
	}
	rep.Header.Set("Location", fmt.Sprintf("%s/sessions/%s/shares/%s",
		rest.Versioned, url.PathEscape(n.SessionID), url.PathEscape(n.ID)))
	kept, err := rest.JSON(http.StatusCreated, rest.Data{Data: createdShare{SharedWith: made}})
	if err != nil {
		return nil, err
	}
	rep.Kept = kept.Body
	return rep, nil
}

// newShare reads the body of a share.
func (a *api) newShare(c *rest.Call) (n access.NewShare, err error) {
	n.OwnerID = c.User
	if n.SessionID, err = c.SessionID(); err != nil {
		return n, err
	}
	body, err := c.Object()
	if err != nil {
		return n, err
	}
	var broken fault.Broken
	right, err := body.RequiredText("access")
	broken.Add(err)
	if n.Right, err = access.ParseRight(right); err != nil {
		broken.Add(rest.FieldFault(fault.Invalid, "/access", "must be read or write"))
	}
	n.UserID, err = body.Text("user_id")
	broken.Add(err)
	if body.Has("user_id") && n.UserID == "" {
		broken.Add(rest.FieldFault(fault.Invalid, "/user_id", "must not be empty; leave it out to make a link"))
	}
	n.Life, err = secondsOf(body, "expires_in")
	broken.Add(err)
	if err := broken.Err(); err != nil {
		return n, err
	}
	if n.ID, err = c.DerivedID("share"); err != nil {
		return n, err
	}
	if n.UserID == "" {
		n.Token = a.NewToken()
	}
	return n, n.Validate()
}

// secondsOf reads an optional number of seconds, 0 if absent.
func secondsOf(o rest.Object, name string) (time.Duration, error) {
	seconds, err := o.Integer(name)
	if err != nil || seconds == nil {
		return 0, err
	}
	if most := int64(access.MaxLife / time.Second); *seconds < 1 || *seconds > most {
		return 0, rest.FieldFault(fault.Invalid, o.Pointer(name), "must be 1 to %d", most)
	}
	return time.Duration(*seconds) * time.Second, nil
}

func (a *api) listShares(c *rest.Call) (*rest.Reply, error) {
	id, err := c.SessionID()
	if err != nil {
		return nil, err
	}
	p, err := c.PlainPages(session.DefaultPage, "shares", id)
	if err != nil {
		return nil, err
	}
	after, err := p.After()
	if err != nil {
		return nil, err
	}
	shares, err := a.Shares.Shares(c.Context(), c.User, id)
	if err != nil {
		return nil, err
	}
	page, last := sharesAfter(shares, after, p.Limit)
	next, err := p.NextAfter(last)
	if err != nil {
		return nil, err
	}
	return p.ListReply(page, next)
}

// sharesAfter returns a page of a session's shares, all of which are in memory;
// last is the position of the next page, "" at the end.
func sharesAfter(all []access.SharedWith, after string, limit int) (page []access.SharedWith, last string) {
	page = []access.SharedWith{}
	for _, s := range all {
		at := fmt.Sprintf("%013d %s", s.CreatedTime, s.ID)
		if at <= after {
			continue
		}
		if len(page) == limit {
			return page, last
		}
		page, last = append(page, s), at
	}
	return page, ""
}

func (a *api) revokeShare(c *rest.Call) (*rest.Reply, error) {
	id, err := c.SessionID()
	if err != nil {
		return nil, err
	}
	share, err := c.PathID("share_id")
	if err != nil {
		return nil, err
	}
	if err := a.Shares.Revoke(c.Context(), c.User, id, share); err != nil {
		return nil, err
	}
	return rest.NoContent(), nil
}

// acceptShare gives the caller access by the token of a link. It is idempotent
// and needs no idempotency key.
func (a *api) acceptShare(c *rest.Call) (*rest.Reply, error) {
	body, err := c.Object()
	if err != nil {
		return nil, err
	}
	token, err := body.RequiredText("token")
	if err != nil {
		return nil, err
	}
	if n := utf8.RuneCountInString(token); n == 0 || n > access.MaxToken {
		return nil, rest.FieldFault(fault.Invalid, "/token", "must be 1 to %d characters", access.MaxToken)
	}
	accepted, err := a.Shares.Accept(c.Context(), c.User, token)
	if err != nil {
		return nil, err
	}
	return rest.JSON(http.StatusOK, rest.Data{Data: accepted})
}

func (a *api) leaveSession(c *rest.Call) (*rest.Reply, error) {
	id, err := c.SessionID()
	if err != nil {
		return nil, err
	}
	if err := a.Shares.LeaveSession(c.Context(), c.User, id); err != nil {
		return nil, err
	}
	return rest.NoContent(), nil
}
