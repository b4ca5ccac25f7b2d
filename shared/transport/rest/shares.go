package rest

import (
	"fmt"
	"net/http"
	"net/url"
	"time"
	"unicode/utf8"

	"github.com/rethread/rethread/shared/base/fault"
	"github.com/rethread/rethread/shared/domain/access"
	"github.com/rethread/rethread/shared/domain/session"
)

const sharesPath = versioned + "/sessions/{session_id}/shares"

// Shares handles access of other users to sessions. Only owners can share.
func Shares(c Config) http.Handler {
	a := newAPI(c)
	a.handle(http.MethodPost, sharesPath, withBody(maxBody, a.once(repeatable{session: access.Share}, a.shareSession)))
	a.handle(http.MethodGet, sharesPath, a.on(access.Share, a.listShares))
	a.handle(http.MethodDelete, sharesPath+"/{share_id}", a.on(access.Share, a.revokeShare))
	a.handle(http.MethodPost, versioned+"/shares/accept", withBody(maxBody, a.acceptShare))
	a.handle(http.MethodDelete, versioned+"/sessions/{session_id}/access", a.leaveSession)
	return a.mux
}

// createdShare is a share in the answer that creates it.
type createdShare struct {
	access.SharedWith

	Token string `json:"token,omitempty"`
}

// shareSession creates a share. A link's token is returned only this once: the
// answer stored for repeats does not contain it.
func (a *api) shareSession(c *call) (*reply, error) {
	n, err := a.newShare(c)
	if err != nil {
		return nil, err
	}
	made, err := a.Shares.Share(c.Context(), n)
	if err != nil {
		return nil, err
	}
	rep, err := jsonReply(http.StatusCreated, data{createdShare{SharedWith: made, Token: n.Token}})
	if err != nil {
		return nil, err
	}
	rep.header.Set("Location", fmt.Sprintf("%s/sessions/%s/shares/%s",
		versioned, url.PathEscape(n.SessionID), url.PathEscape(n.ID)))
	kept, err := jsonReply(http.StatusCreated, data{createdShare{SharedWith: made}})
	if err != nil {
		return nil, err
	}
	rep.kept = kept.body
	return rep, nil
}

// newShare reads the body of a share.
func (a *api) newShare(c *call) (n access.NewShare, err error) {
	n.OwnerID = c.user
	if n.SessionID, err = c.sessionID(); err != nil {
		return n, err
	}
	body, err := c.object()
	if err != nil {
		return n, err
	}
	var broken fault.Broken
	right, err := body.RequiredText("access")
	broken.Add(err)
	if n.Right, err = access.ParseRight(right); err != nil {
		broken.Add(fieldFault(fault.Invalid, "/access", "must be read or write"))
	}
	n.UserID, err = body.Text("user_id")
	broken.Add(err)
	if body.Has("user_id") && n.UserID == "" {
		broken.Add(fieldFault(fault.Invalid, "/user_id", "must not be empty; leave it out to make a link"))
	}
	n.Life, err = body.seconds("expires_in")
	broken.Add(err)
	if err := broken.Err(); err != nil {
		return n, err
	}
	if n.ID, err = c.derivedID("share"); err != nil {
		return n, err
	}
	if n.UserID == "" {
		n.Token = a.NewToken()
	}
	return n, n.Validate()
}

// seconds reads an optional number of seconds, 0 if absent.
func (o object) seconds(name string) (time.Duration, error) {
	seconds, err := o.Integer(name)
	if err != nil || seconds == nil {
		return 0, err
	}
	if most := int64(access.MaxLife / time.Second); *seconds < 1 || *seconds > most {
		return 0, fieldFault(fault.Invalid, o.Pointer(name), "must be 1 to %d", most)
	}
	return time.Duration(*seconds) * time.Second, nil
}

func (a *api) listShares(c *call) (*reply, error) {
	id, err := c.sessionID()
	if err != nil {
		return nil, err
	}
	q, err := c.query()
	if err != nil {
		return nil, err
	}
	p, err := c.pages(q, session.DefaultPage, "shares", id)
	if err != nil {
		return nil, err
	}
	after, err := p.after()
	if err != nil {
		return nil, err
	}
	shares, err := a.Shares.Shares(c.Context(), c.user, id)
	if err != nil {
		return nil, err
	}
	page, last := sharesAfter(shares, after, p.limit)
	next, err := p.nextAfter(last)
	if err != nil {
		return nil, err
	}
	return p.listReply(page, next)
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

func (a *api) revokeShare(c *call) (*reply, error) {
	id, err := c.sessionID()
	if err != nil {
		return nil, err
	}
	share, err := c.pathID("share_id")
	if err != nil {
		return nil, err
	}
	if err := a.Shares.Revoke(c.Context(), c.user, id, share); err != nil {
		return nil, err
	}
	return noContent(), nil
}

// acceptShare gives the caller access by the token of a link. It is idempotent
// and needs no idempotency key.
func (a *api) acceptShare(c *call) (*reply, error) {
	body, err := c.object()
	if err != nil {
		return nil, err
	}
	token, err := body.RequiredText("token")
	if err != nil {
		return nil, err
	}
	if n := utf8.RuneCountInString(token); n == 0 || n > access.MaxToken {
		return nil, fieldFault(fault.Invalid, "/token", "must be 1 to %d characters", access.MaxToken)
	}
	accepted, err := a.Shares.Accept(c.Context(), c.user, token)
	if err != nil {
		return nil, err
	}
	return jsonReply(http.StatusOK, data{accepted})
}

func (a *api) leaveSession(c *call) (*reply, error) {
	id, err := c.sessionID()
	if err != nil {
		return nil, err
	}
	if err := a.Shares.LeaveSession(c.Context(), c.user, id); err != nil {
		return nil, err
	}
	return noContent(), nil
}
