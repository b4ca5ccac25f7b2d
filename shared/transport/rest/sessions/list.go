package sessions

import (
	"context"
	"log/slog"
	"slices"

	"github.com/rethread/rethread/shared/base/fault"
	"github.com/rethread/rethread/shared/domain/access"
	"github.com/rethread/rethread/shared/domain/session"
	"github.com/rethread/rethread/shared/observe/logs"
	"github.com/rethread/rethread/shared/transport/rest"
)

// listReader reads a page of a list of sessions.
type listReader func(context.Context, session.ListQuery) (session.ListPage, error)

// sessionList selects the sessions of a list.
type sessionList struct {
	kind   string // "" selects a user's own
	userID string
	where  string // what of them is searched
	read   listReader
}

// What of sessions is searched.
const (
	names    = "names"
	messages = "messages"
)

// selects names the list and its filters, to which a cursor belongs.
func (l sessionList) selects(filters ...string) []string {
	filters = slices.Clone(filters)
	if l.kind != "" {
		filters = append(filters, l.kind, l.userID)
	}
	if l.where == messages {
		filters = append(filters, messages)
	}
	return filters
}

// sessionList reads which sessions are requested: the caller's own, those
// shared with the caller, or for an admin those of any user.
func (a *api) sessionList(c *rest.Call, q rest.Query) (sessionList, error) {
	list := sessionList{userID: c.Caller.UserID}
	var err error
	if list.where, err = q.Choice("in", names, messages); err != nil {
		return list, err
	}
	own, sharedWith := a.Sessions.List, a.Shares.SharedWith
	if list.where == messages {
		own, sharedWith = a.Sessions.Search, a.Shares.SearchSharedWith
	}
	list.read = own
	shared, err := q.Choice("shared", "false", "true")
	if err != nil {
		return list, err
	}
	user, err := q.Text("user_id", access.MaxUserID)
	if err != nil {
		return list, err
	}
	switch {
	case user != "" && !access.IsUserID(user):
		return list, fault.Field(fault.Malformed, "user_id", "must be at most %d bytes", access.MaxUserIDBytes)
	case shared == "true" && user != "":
		return list, fault.Field(fault.Malformed, "user_id", "must be absent from a list of shared sessions")
	case shared == "true":
		list.kind, list.read = "shared", sharedWith
	case user != "" && user != c.Caller.UserID:
		if !c.Caller.Admin {
			return list, fault.New(fault.Forbidden, "You may only list your own sessions")
		}
		a.Log.LogAttrs(c.Context(), slog.LevelInfo, "an admin lists sessions of another user",
			logs.Person("admin_id", c.Caller.UserID), logs.Person("owner_id", user))
		list.kind, list.userID, list.read = "user", user, forAdmin(own)
	}
	return list, nil
}

// forAdmin reads a user's list with an admin's permissions.
func forAdmin(list listReader) listReader {
	return func(ctx context.Context, q session.ListQuery) (session.ListPage, error) {
		page, err := list(ctx, q)
		for i := range page.Sessions {
			page.Sessions[i].Access = access.AdminLabel
		}
		return page, err
	}
}
