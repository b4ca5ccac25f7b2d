package deliveries_test

import (
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/rethread/rethread/infra/test/storetest/fixture"
	"github.com/rethread/rethread/shared/domain/erasure"
	"github.com/rethread/rethread/shared/domain/receiver"
	"github.com/rethread/rethread/shared/store/stores"
)

func TestRecords(t *testing.T) {
	t.Parallel()
	s, now := newClockedStore(t)
	w := fixture.Webhook("u/v", "w", 10)
	t.Run("keep the latest ten attempts", func(t *testing.T) {
		d := fixture.DeliveryAt(w, 100)
		for i := range 12 {
			n := i + 1
			note := receiver.Note{
				Delivery: d, Queued: 1000, State: receiver.Pending, Number: n, NextAttemptTime: int64(5000 + n),
				Attempt: receiver.Attempt{Time: int64(2000 + n), Duration: 7, Status: 500, Reason: "the target answers 500"},
			}
			if n == 12 {
				note.State, note.NextAttemptTime, note.Attempt = receiver.Delivered, 0, receiver.Attempt{Time: 2012, Duration: 3, Status: 204}
			}
			fixture.Note(t, s, note)
		}
		got, err := s.Webhooks.Record(t.Context(), w.UserID, w.ID, receiver.DeliveryID(d))
		if err != nil {
			t.Fatal(err)
		}
		attempts := got.Attempts
		got.Attempts = nil
		want := receiver.Record{
			ID: receiver.DeliveryID(d), WebhookID: "w", Event: d.Event, State: receiver.Delivered, Tries: 12, CreatedTime: 1000,
		}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("(-want +got):\n%s", diff)
		}
		if len(attempts) != 10 || attempts[0].Time != 2003 || attempts[8].Reason == "" ||
			attempts[9] != (receiver.Attempt{Time: 2012, Duration: 3, Status: 204}) {
			t.Errorf("attempts %+v", attempts)
		}
		again, err := s.Webhooks.NoteQueued(t.Context(), got.Again(w.Target(), "n"))
		if err != nil || again.State != receiver.Pending || again.Tries != 12 || again.CreatedTime != 1000 ||
			len(again.Attempts) != 10 || again.NextAttemptTime != now.now.UnixMilli() {
			t.Errorf("queued again: %+v, %v", again, err)
		}
	})
	t.Run("a note without an attempt creates no record, and ends one", func(t *testing.T) {
		d := fixture.DeliveryAt(w, 200)
		nothing := receiver.Note{Delivery: d, State: receiver.Failed}
		fixture.Note(t, s, nothing)
		_, err := s.Webhooks.Record(t.Context(), w.UserID, w.ID, receiver.DeliveryID(d))
		wantMissing(t, "the record", err)
		if _, err := s.Webhooks.NoteQueued(t.Context(), d); err != nil {
			t.Fatal(err)
		}
		fixture.Note(t, s, nothing)
		if got, err := s.Webhooks.Record(t.Context(), w.UserID, w.ID, receiver.DeliveryID(d)); err != nil || got.State != receiver.Failed {
			t.Errorf("%+v, %v", got, err)
		}
	})
	t.Run("are listed page by page, the latest events first, for a week", func(t *testing.T) {
		w := fixture.Webhook("lists", "w", 10)
		fixture.Note(t, s, receiver.Note{Delivery: fixture.DeliveryAt(fixture.Webhook("lists", "w-2", 10), 1), Number: 1})
		var want []string
		for i := range 5 {
			d := fixture.DeliveryAt(w, int64(9_999+i)) // across a decimal's length
			fixture.Note(t, s, receiver.Note{Delivery: d, State: receiver.Delivered, Number: 1})
			want = append([]string{receiver.DeliveryID(d)}, want...)
		}
		list := func() (ids []string) {
			t.Helper()
			for q := (receiver.RecordQuery{UserID: "lists", WebhookID: "w", Limit: 2}); ; {
				page, err := s.Webhooks.Records(t.Context(), q)
				if err != nil || len(page.Records) > 2 {
					t.Fatalf("%d records, %v", len(page.Records), err)
				}
				for _, r := range page.Records {
					ids = append(ids, r.ID)
				}
				if q.After = page.Next; q.After == "" {
					return ids
				}
			}
		}
		if diff := cmp.Diff(want, list()); diff != "" {
			t.Errorf("(-want +got):\n%s", diff)
		}
		late := s.With(stores.WithClock(func() time.Time { return now.now.Add(receiver.KeepRecords) }))
		if page, err := late.Webhooks.Records(t.Context(), receiver.RecordQuery{UserID: "lists", WebhookID: "w", Limit: 9}); err != nil ||
			len(page.Records) != 0 {
			t.Errorf("after a week %d are left, %v", len(page.Records), err)
		}
		_, err := late.Webhooks.Record(t.Context(), "lists", "w", want[0])
		wantMissing(t, "after a week one", err)
	})
	t.Run("show whether anything was delivered since", func(t *testing.T) {
		w := fixture.Webhook("since", "w", 10)
		fixture.Note(t, s, receiver.Note{
			Delivery: fixture.DeliveryAt(w, 10), State: receiver.Delivered, Number: 1, Attempt: receiver.Attempt{Time: 3000},
		})
		fixture.Note(t, s, receiver.Note{Delivery: fixture.DeliveryAt(w, 20), State: receiver.Pending, Number: 1, Attempt: receiver.Attempt{Time: 9000}})
		for since, want := range map[int64]bool{3000: true, 3001: false} {
			if got, err := s.Webhooks.DeliveredSince(t.Context(), "since", "w", time.UnixMilli(since)); err != nil || got != want {
				t.Errorf("since %d: %v, %v", since, got, err)
			}
		}
	})
}

// What is created after an erasure began stays, also when the erasure is repeated.
func TestEraseWebhooks(t *testing.T) {
	t.Parallel()
	s, now := newClockedStore(t)
	before := now.now.UnixMilli()
	for _, id := range []string{"w1", "w2"} {
		w := fixture.CreateWebhook(t, s, fixture.Webhook(fixture.Alice, id, before))
		fixture.Note(t, s, receiver.Note{Delivery: fixture.DeliveryAt(w, before), Number: 1})
	}
	report, err := s.Lifecycle.Erase(t.Context(), fixture.Alice)
	if err != nil || report.Status != erasure.Complete || report.Removed.Webhooks != 2 || report.Removed.Deliveries != 2 {
		t.Fatalf("%+v, %v", report, err)
	}
	now.now = now.now.Add(time.Second)
	later := fixture.CreateWebhook(t, s, fixture.Webhook(fixture.Alice, "w3", now.now.UnixMilli()))
	fixture.Note(t, s, receiver.Note{Delivery: fixture.DeliveryAt(later, before), Number: 1})
	fixture.Note(t, s, receiver.Note{Delivery: fixture.DeliveryAt(fixture.Webhook(fixture.Alice, "w1", before), before), Number: 2}) // it was under way
	now.now = now.now.Add(time.Minute)
	if n, err := s.Lifecycle.SweepErasures(t.Context()); err != nil || n != 1 {
		t.Fatalf("%d swept, %v", n, err)
	}
	fixture.ReadWebhook(t, s, fixture.Alice, "w3")
	if _, err := s.Webhooks.Secrets(t.Context(), fixture.Alice, "w3"); err != nil {
		t.Error(err)
	}
	if _, err := s.Webhooks.Record(t.Context(), fixture.Alice, "w3", receiver.DeliveryID(fixture.DeliveryAt(later, before))); err != nil {
		t.Error(err)
	}
	report, err = s.Lifecycle.Erasure(t.Context(), fixture.Alice)
	if err != nil || report.Removed.Webhooks != 2 || report.Removed.Deliveries != 3 {
		t.Errorf("%+v, %v", report, err)
	}
}
