package cost

import (
	"context"
	"fmt"
	"time"

	"github.com/google/uuid"

	"github.com/rethread/rethread/shared/domain/access"
	"github.com/rethread/rethread/shared/domain/run"
	"github.com/rethread/rethread/shared/domain/watch"
)

// watching measures what watchers cost the table.
func (m *measurement) watching(ctx context.Context) error {
	if err := m.measure(Subscribe, 1, 2, func() error { return m.sit(ctx, 1, watch.Grant{}) }); err != nil {
		return err
	}
	log, err := m.store.Subscriptions.LogOf(ctx, m.user, m.session)
	if err != nil {
		return err
	}
	find := func() error {
		_, seats, err := m.store.Subscriptions.Watchers(ctx, log)
		if err == nil && len(seats) == 0 {
			err = fmt.Errorf("nobody watches log %q", log)
		}
		return err
	}
	if err := m.measure(FindWatcher, 1, 0, find); err != nil {
		return err
	}
	if err := m.sit(ctx, 99, watch.Grant{}); err != nil {
		return err
	}
	if err := m.measure("find the watchers of a change: 100", 3, 0, find); err != nil {
		return err
	}
	if err := m.sit(ctx, 100, watch.Grant{}); err != nil {
		return err
	}
	return m.measureAll(
		step{"find the watchers of a change: 200", 6, 0, find},
		step{CatchUp, 0, 0, func() error {
			th, err := m.store.Runs.Thread(ctx, m.user, m.session, run.ThreadQuery{Limit: 1})
			if err != nil {
				return err
			}
			at := watch.Cursor{Epoch: th.Session.Epoch, Seq: th.Session.HeadSeq}
			_, err = m.store.Watching.CatchUp(ctx, m.user, m.session, watch.From{Cursor: &at})
			return err
		}},
	)
}

// guests measures what those cost who watch by a share, in a session of its own.
func (m *measurement) guests(ctx context.Context) error {
	if err := m.create(ctx, "shared"); err != nil {
		return err
	}
	log, err := m.store.Subscriptions.LogOf(ctx, m.user, m.session)
	if err != nil {
		return err
	}
	guest := watch.Grant{Share: uuid.NewString(), UserID: uuid.NewString(), Until: time.Now().Add(time.Hour).UnixMilli()}
	_, err = m.store.Shares.Share(ctx, access.NewShare{
		ID: guest.Share, OwnerID: m.user, SessionID: m.session, Right: access.Read, UserID: guest.UserID, Life: time.Hour,
	})
	if err != nil {
		return err
	}
	if err := m.measure("subscribe a guest", 1, 2, func() error { return m.sit(ctx, 1, guest) }); err != nil {
		return err
	}
	if err := m.sit(ctx, 49, guest); err != nil {
		return err
	}
	return m.measureAll(
		step{"find the watchers of a change: 50 guests", 3, 0, func() error {
			_, _, err := m.store.Subscriptions.Watchers(ctx, log)
			return err
		}},
		step{"revoke a share with 50 guests", 0, 7, func() error { return m.store.Shares.Revoke(ctx, m.user, m.session, guest.Share) }},
	)
}

// sit subscribes so many connections to the session.
func (m *measurement) sit(ctx context.Context, connections int, by watch.Grant) error {
	for range connections {
		err := m.store.Subscriptions.Subscribe(ctx, watch.Subscription{
			SessionID: m.session, Owner: m.user, Connection: uuid.NewString()[:15] + "=",
			Expires: time.Now().Add(time.Hour).Unix(), Grant: by,
		})
		if err != nil {
			return err
		}
	}
	return nil
}
