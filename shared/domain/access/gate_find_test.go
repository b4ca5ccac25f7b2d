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
		has     map[string]access.Found // where users have the task
		book    book
		admin   bool
		action  access.Action
		owner   string // of the session that is found
		err     error
		lookups []string
	}{
		"of the caller's own, nobody is asked about": {
			has: map[string]access.Found{"bob": {Owner: "bob", SessionID: "s"}}, book: book{err: errBroken},
			action: access.DeleteTask, owner: "bob", lookups: []string{"bob"},
		},
		"of somebody who lent the session": {
			has:    map[string]access.Found{"alice": {Owner: "alice", SessionID: "s"}},
			book:   book{owners: []string{"carol", "alice"}, grants: access.CallerGrants{Owner: "alice", Grants: by(access.Read)}},
			action: access.ReadTasks, owner: "alice", lookups: []string{"bob", "carol", "alice"},
		},
		"one that the caller began as a guest": {
			has:    map[string]access.Found{"bob": {Owner: "alice", SessionID: "s"}},
			book:   book{grants: access.CallerGrants{Owner: "alice", Grants: by(access.Write)}},
			action: access.StartRun, owner: "alice", lookups: []string{"bob"},
		},
		"a reader is told what it takes": {
			has:    map[string]access.Found{"alice": {Owner: "alice", SessionID: "s"}},
			book:   book{owners: []string{"alice"}, grants: access.CallerGrants{Owner: "alice", Grants: by(access.Read)}},
			action: access.DeleteTask, err: fault.Of(fault.Forbidden), lookups: []string{"bob", "alice"},
		},
		"in another session of a lender's": {
			has:    map[string]access.Found{"alice": {Owner: "alice", SessionID: "s"}},
			book:   book{owners: []string{"alice"}, grants: access.CallerGrants{Owner: "alice"}},
			action: access.ReadTasks, err: fault.Of(fault.NotFound), lookups: []string{"bob", "alice"},
		},
		"in a session whose id is another's by now": {
			has:    map[string]access.Found{"alice": {Owner: "alice", SessionID: "s"}},
			book:   book{owners: []string{"alice"}, grants: access.CallerGrants{Owner: "dave", Grants: by(access.Read)}},
			action: access.ReadTasks, err: fault.Of(fault.NotFound), lookups: []string{"bob", "alice"},
		},
		"nowhere": {
			book: book{owners: []string{"alice"}}, action: access.ReadTasks, err: fault.Of(fault.NotFound), lookups: []string{"bob", "alice"},
		},
		"admins name the session": {
			has: map[string]access.Found{"alice": {Owner: "alice", SessionID: "s"}}, admin: true,
			action: access.ReadTasks, err: fault.Of(fault.NotFound), lookups: []string{"bob"},
		},
		"who lent what is not known": {
			book: book{err: errBroken}, action: access.ReadTasks, err: errBroken, lookups: []string{"bob"},
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			gate := access.NewGate(&test.book, func() time.Time { return time.UnixMilli(now) }, slog.New(slog.DiscardHandler))
			var lookups []string
			permission, found, err := gate.FindTask(t.Context(), access.Caller{UserID: "bob", Admin: test.admin}, test.action,
				func(user string) (access.Found, error) {
					lookups = append(lookups, user)
					if f, ok := test.has[user]; ok {
						return f, nil
					}
					return access.Found{}, fault.Missing("Task")
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
