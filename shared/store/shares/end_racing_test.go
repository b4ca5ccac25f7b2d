package shares_test

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"strings"
	"testing"
	"time"

	"github.com/rethread/rethread/infra/test/storetest"
	"github.com/rethread/rethread/infra/test/storetest/fixture"
	"github.com/rethread/rethread/shared/base/fault"
	"github.com/rethread/rethread/shared/domain/access"
	"github.com/rethread/rethread/shared/domain/run"
	"github.com/rethread/rethread/shared/domain/session"
	"github.com/rethread/rethread/shared/store/stores"
	"github.com/rethread/rethread/shared/store/table/hooks"
)

const later = "written after the end of the share"

// guestReads are what a guest reads of the session s, as text.
func guestReads() map[access.Action]func(context.Context, *stores.Store, string) (any, error) {
	return map[access.Action]func(context.Context, *stores.Store, string) (any, error){
		access.ReadSession: func(ctx context.Context, s *stores.Store, owner string) (any, error) {
			return s.Thread(ctx, owner, "s", run.ThreadQuery{Limit: 10})
		},
		access.ReadRun: func(ctx context.Context, s *stores.Store, owner string) (any, error) {
			return s.Events(ctx, owner, "s", session.EventQuery{Limit: 10})
		},
		access.ReadTasks: func(ctx context.Context, s *stores.Store, owner string) (any, error) { return s.Get(ctx, owner, "s") },
	}
}

// Once the end of a share is answered, no read of its guest returns what was written later,
// and an append of its guest that competes with others is refused.
func TestRevoke_during_a_guests_request(t *testing.T) {
	t.Parallel()
	cases := 0
	for action, read := range guestReads() {
		for at := 1; ; at++ {
			r := revoking{at: at}
			var got any
			err := r.play(t, action, func(ctx context.Context, s *stores.Store, p access.Permission) (err error) {
				got, err = read(ctx, s, p.Owner)
				return err
			})
			if !r.revoked {
				break
			}
			cases++
			if err == nil && strings.Contains(fmt.Sprintf("%+v", got), later) {
				t.Errorf("%s, with the share's end before request %d: shows what was written later", action, at)
			}
			if err != nil && !errors.Is(err, fault.Of(fault.Forbidden)) {
				t.Errorf("%s, with the share's end before request %d: %v", action, at, err)
			}
		}
	}
	for at := 1; ; at++ {
		r := revoking{at: at}
		err := r.play(t, access.AppendEvents, func(ctx context.Context, s *stores.Store, p access.Permission) error {
			_, _, err := s.Append(ctx, session.Append{
				SessionID: "s", UserID: p.Owner, Events: []session.Event{fixture.Event(t, "", "guest", "a guest's")}, Allowed: p.Still,
			})
			return err
		})
		if !r.revoked {
			break
		}
		cases++
		// The owner's later event has taken the position that the append aimed at.
		if !errors.Is(err, fault.Of(fault.Forbidden)) && !r.landed {
			t.Errorf("append, with the share's end before request %d: %v, want Forbidden", at, err)
		}
	}
	if cases < 25 {
		t.Errorf("%d cases, want at least 25", cases)
	}
}

// revoking ends a share before a request of its guest, and then writes to the session.
type revoking struct {
	at, request     int
	revoked, landed bool // landed: the entry was in the log before
}

func (r *revoking) play(
	t *testing.T, action access.Action, do func(context.Context, *stores.Store, access.Permission) error,
) error {
	t.Helper()
	engine := storetest.Engine(t)
	owner := stores.New(engine)
	fixture.Session(t, owner, fixture.Alice, "s", nil)
	fixture.Append(t, owner, fixture.Alice, "s", fixture.Event(t, "", "first", "before"))
	share := fixture.Share(t, owner, access.NewShare{SessionID: "s", UserID: "bob", Right: access.Write})
	guest := stores.New(storetest.Before(engine, func(ctx context.Context, c hooks.Call) error {
		if c.Query.Index != "" { // beside the others
			return nil
		}
		if r.request++; r.request != r.at {
			return nil
		}
		r.revoked = true
		for _, e := range fixtureEvents(ctx, t, owner) {
			r.landed = r.landed || e.InvocationID == "guest"
		}
		if err := owner.Revoke(ctx, fixture.Alice, "s", share); err != nil {
			return err
		}
		_, _, err := owner.Append(ctx, session.Append{
			SessionID: "s", UserID: fixture.Alice, Events: []session.Event{fixture.Event(t, "", "last", later)},
		})
		return err
	}))
	gate := access.NewGate(guest, time.Now, slog.New(slog.DiscardHandler))
	return gate.Do(t.Context(), access.Caller{UserID: "bob"}, "s", action, func(p access.Permission) error {
		return do(t.Context(), guest, p)
	})
}

func fixtureEvents(ctx context.Context, t *testing.T, s *stores.Store) []session.Event {
	t.Helper()
	page, err := s.Events(ctx, fixture.Alice, "s", session.EventQuery{Limit: 10})
	if err != nil {
		t.Error(err)
	}
	return page.Events
}
