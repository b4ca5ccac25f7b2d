package deliveries_test

import (
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/rethread/rethread/infra/test/storetest"
	"github.com/rethread/rethread/infra/test/storetest/fixture"
	"github.com/rethread/rethread/shared/domain/delivery"
	"github.com/rethread/rethread/shared/domain/notification"
	"github.com/rethread/rethread/shared/domain/receiver"
	"github.com/rethread/rethread/shared/store/stores"
	"github.com/rethread/rethread/shared/store/table"
)

func TestLanes(t *testing.T) {
	t.Parallel()
	engine := storetest.Engine(t)
	s := stores.New(engine)
	w := fixture.Webhook(fixture.Alice, "w", 1)
	fixture.CreateWebhook(t, s, w)
	group := w.Target().Group()
	lane := func(want delivery.Lane) {
		t.Helper()
		want.Group = group
		if got, err := s.Lanes.Lane(t.Context(), group); err != nil || !cmp.Equal(want, got) {
			t.Fatalf("%v: %s", err, cmp.Diff(want, got))
		}
	}
	parked := func(n int, want ...string) {
		t.Helper()
		all, err := s.Lanes.Parked(t.Context(), group, n)
		if err != nil {
			t.Fatal(err)
		}
		var got []string
		for _, p := range all {
			got = append(got, fmt.Sprint(p.Position, p.Delivery.Event.ID, "-", p.Tries, "-", p.Queued.UnixMilli()))
		}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Fatalf("parked (-want +got):\n%s", diff)
		}
	}
	at := func(place, event string) delivery.Parked {
		return delivery.Parked{
			Position: place, Tries: 1, Queued: time.UnixMilli(7),
			Delivery: delivery.Delivery{Event: notification.Event{ID: event}, Target: w.Target()},
		}
	}
	stale := func(err error) {
		t.Helper()
		if !errors.Is(err, delivery.ErrLaneChanged) {
			t.Fatalf("a lane that has changed: %v", err)
		}
	}
	lane(delivery.Lane{})
	first := delivery.Lane{
		Group: group, Pass: 1, Due: time.UnixMilli(5), Failures: 1, Head: "h", HeadTries: 2, Slow: time.UnixMilli(9),
		Holder: "me", Leased: time.UnixMilli(8),
	}
	if err := s.Lanes.Park(t.Context(), first, []delivery.Parked{at("2", "b"), at("1", "a")}); err != nil {
		t.Fatal(err)
	}
	stale(s.Lanes.Park(t.Context(), first, []delivery.Parked{at("3", "c")}))
	first.Version = 1
	lane(first)
	parked(10, "1a-1-7", "2b-1-7")
	parked(1, "1a-1-7")
	if err := s.Lanes.Park(t.Context(), first, []delivery.Parked{at("2", "b"), at("4", "d")}); err != nil { // arrives again
		t.Fatal(err)
	}
	stale(s.Lanes.SaveLane(t.Context(), first))
	stale(s.Lanes.CloseLane(t.Context(), first))
	for range 2 {
		if err := s.Lanes.Unpark(t.Context(), group, "1"); err != nil {
			t.Fatal(err)
		}
	}
	parked(10, "2b-1-7", "4d-1-7")
	last := delivery.Lane{Group: group, Version: 2, Pass: 2}
	if err := s.Lanes.SaveLane(t.Context(), last); err != nil {
		t.Fatal(err)
	}
	last.Version = 3
	lane(last)
	t.Run("an unreadable item delays nothing", func(t *testing.T) {
		storetest.Spoil(t, engine, table.NewKey("DL#"+group, "P#2"), table.Set(table.Path{"d"}, "no JSON"))
		parked(1, "4d-1-7")
		parked(10, "4d-1-7")
		if aside := mustQuarantined(t, engine, group); len(aside) != 1 || !strings.HasPrefix(aside[0], "ASIDE#P#2#") {
			t.Errorf("quarantined: %v", aside)
		}
	})
	if err := s.Webhooks.DeleteWebhook(t.Context(), fixture.Alice, w.ID); err != nil {
		t.Fatal(err)
	}
	lane(delivery.Lane{})
	parked(10)
	stale(s.Lanes.CloseLane(t.Context(), last))
	if left := fixture.ItemsAbout(t, engine, receiver.Webhook{ID: "w"}.ID); len(left) > 0 {
		t.Errorf("left behind: %v", left)
	}
}
