package access_test

import (
	"errors"
	"log/slog"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/rethread/rethread/shared/base/fault"
	"github.com/rethread/rethread/shared/domain/access"
)

func TestFindTask(t *testing.T) {
	t.Parallel()
	by := func(r access.Right) []access.Grant { return []access.Grant{{Share: "x", Right: r}} }
	errBroken := errors.New("broken")
	for name, test := range map[string]struct {
		has     map[string]access.Location // the users' tasks
		book    fakeGrants
		admin   bool
		action  access.Action
		owner   string // of the session that is found
		err     error
		lookups []string
	}{
		"finds the caller's own task without reading grants": {
			has: map[string]access.Location{"bob": {Owner: "bob", SessionID: "s"}}, book: fakeGrants{err: errBroken},
			action: access.DeleteTask, owner: "bob", lookups: []string{"bob"},
		},
		"finds a task in a shared session": {
			has:    map[string]access.Location{"alice": {Owner: "alice", SessionID: "s"}},
			book:   fakeGrants{owners: []string{"carol", "alice"}, grants: access.CallerGrants{Owner: "alice", Grants: by(access.Read)}},
			action: access.ReadTasks, owner: "alice", lookups: []string{"bob", "carol", "alice"},
		},
		"finds a task that the caller started as a guest": {
			has:    map[string]access.Location{"bob": {Owner: "alice", SessionID: "s"}},
			book:   fakeGrants{grants: access.CallerGrants{Owner: "alice", Grants: by(access.Write)}},
			action: access.StartRun, owner: "alice", lookups: []string{"bob"},
		},
		"tells a reader which right is needed": {
			has:    map[string]access.Location{"alice": {Owner: "alice", SessionID: "s"}},
			book:   fakeGrants{owners: []string{"alice"}, grants: access.CallerGrants{Owner: "alice", Grants: by(access.Read)}},
			action: access.DeleteTask, err: fault.Of(fault.Forbidden), lookups: []string{"bob", "alice"},
		},
		"does not find a task in an unshared session": {
			has:    map[string]access.Location{"alice": {Owner: "alice", SessionID: "s"}},
			book:   fakeGrants{owners: []string{"alice"}, grants: access.CallerGrants{Owner: "alice"}},
			action: access.ReadTasks, err: fault.Of(fault.NotFound), lookups: []string{"bob", "alice"},
		},
		"does not find a task in a session whose id was reused": {
			has:    map[string]access.Location{"alice": {Owner: "alice", SessionID: "s"}},
			book:   fakeGrants{owners: []string{"alice"}, grants: access.CallerGrants{Owner: "dave", Grants: by(access.Read)}},
			action: access.ReadTasks, err: fault.Of(fault.NotFound), lookups: []string{"bob", "alice"},
		},
		"nowhere": {
			book: fakeGrants{owners: []string{"alice"}}, action: access.ReadTasks, err: fault.Of(fault.NotFound), lookups: []string{"bob", "alice"},
		},
		"does not search for admins": {
			has: map[string]access.Location{"alice": {Owner: "alice", SessionID: "s"}}, admin: true,
			action: access.ReadTasks, err: fault.Of(fault.NotFound), lookups: []string{"bob"},
		},
		"returns an error if the owners cannot be read": {
			book: fakeGrants{err: errBroken}, action: access.ReadTasks, err: errBroken, lookups: []string{"bob"},
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			gate := access.NewGate(&test.book, func() time.Time { return time.UnixMilli(now) }, slog.New(slog.DiscardHandler))
			var lookups []string
			permission, found, err := gate.FindTask(t.Context(), access.Caller{UserID: "bob", Admin: test.admin}, test.action,
				func(user string) (access.Location, error) {
					lookups = append(lookups, user)
					if f, ok := test.has[user]; ok {
						return f, nil
					}
					return access.Location{}, fault.Missing("Task")
				})
			if !errors.Is(err, test.err) || found.Owner != test.owner || permission.Owner != test.owner {
				t.Errorf("%+v, %+v, %v", permission, found, err)
			}
			if diff := cmp.Diff(test.lookups, lookups); diff != "" {
				t.Errorf("looked at (-want +got)\n%s", diff)
			}
		})
	}
}
