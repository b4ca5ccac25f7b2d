package rest

import (
	"context"
	"log/slog"
	"slices"

	"github.com/rethread/rethread/shared/base/fault"
	"github.com/rethread/rethread/shared/domain/access"
	"github.com/rethread/rethread/shared/domain/session"
	"github.com/rethread/rethread/shared/observe/logs"
)

// sessionList selects the sessions of a list.
type sessionList struct {
	kind   string // "" selects a user's own
	userID string
	read   func(context.Context, session.ListQuery) (session.ListPage, error)
}

// selects names the list and its filters, to which a cursor belongs.
func (l sessionList) selects(filters ...string) []string {
	if l.kind == "" {
		return filters
	}
	return append(slices.Clone(filters), l.kind, l.userID)
}

// sessionList reads which sessions are requested: the caller's own, those
// shared with the caller, or for an admin those of any user.
func (a *api) sessionList(c *call, q query) (sessionList, error) {
	list := sessionList{userID: c.caller.UserID, read: a.Sessions.List}
	shared, err := q.choice("shared", "false", "true")
	if err != nil {
		return list, err
	}
	user, err := q.text("user_id", access.MaxUserID)
	if err != nil {
		return list, err
	}
	switch {
	case user != "" && !access.IsUserID(user):
		return list, fault.Field(fault.Malformed, "user_id", "must be at most %d bytes", access.MaxUserIDBytes)
	case shared == "true" && user != "":
		return list, fault.Field(fault.Malformed, "user_id", "must be absent from a list of shared sessions")
	case shared == "true":
		list.kind, list.read = "shared", a.Shares.SharedWith
	case user != "" && user != c.caller.UserID:
		if !c.caller.Admin {
			return list, fault.New(fault.Forbidden, "You may only list your own sessions")
		}
		a.Log.LogAttrs(c.Context(), slog.LevelInfo, "an admin lists sessions of another user",
			logs.Person("admin_id", c.caller.UserID), logs.Person("owner_id", user))
		list.kind, list.userID, list.read = "user", user, a.listForAdmin
	}
	return list, nil
}

// listForAdmin returns a user's list with an admin's permissions.
func (a *api) listForAdmin(ctx context.Context, q session.ListQuery) (session.ListPage, error) {
	page, err := a.Sessions.List(ctx, q)
	for i := range page.Sessions {
		page.Sessions[i].Access = access.AdminLabel
	}
	return page, err
}
