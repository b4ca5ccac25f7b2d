package stores_test

import (
	"fmt"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/rethread/rethread/infra/test/capacity"
	"github.com/rethread/rethread/infra/test/storetest"
	"github.com/rethread/rethread/shared/domain/session"
	"github.com/rethread/rethread/shared/store/stores"
)

// TestList_cost bounds what a page of a list costs: the index, half a unit for a session
// and a request for a hundred; an exact one also reads each session's log.
func TestList_cost(t *testing.T) {
	t.Parallel()
	for n, requests := range map[int]int{10: 3, 100: 3, 1000: 12} {
		t.Run(fmt.Sprint(n), func(t *testing.T) {
			t.Parallel()
			meter := &capacity.Meter{}
			s := stores.New(meter.Around(storetest.Engine(t)), stores.WithCodec(storetest.Codec()))
			for i := range n {
				mustCreate(t, s, alice, fmt.Sprint("session-", i), nil)
			}
			read := func(q session.ListQuery) capacity.Usage {
				t.Helper()
				q.UserID, q.Limit = alice, n
				before := meter.Total()
				page, err := s.Sessions.List(t.Context(), q)
				if err != nil || len(page.Sessions) != n || page.Exact != q.Exact {
					t.Fatalf("%d sessions of %d, %v", len(page.Sessions), n, err)
				}
				return meter.Total().Sub(before)
			}
			for name, q := range map[string]session.ListQuery{"all": {}, "filtered": {Status: session.Idle}} {
				if cost := read(q); cost.Requests > requests || cost.Reads > 0.6*float64(n) || cost.Writes != 0 {
					t.Errorf("%s: %+v", name, cost)
				}
			}
			cost := read(session.ListQuery{Exact: true})
			if cost.Requests > requests+n || cost.Reads > 2.1*float64(n) {
				t.Errorf("exact: %+v", cost)
			}
		})
	}
}

// TestList_exact compares rows with what the sessions themselves say.
func TestList_exact(t *testing.T) {
	t.Parallel()
	s := newStore(t, stores.WithClock(clock()))
	for _, id := range []string{"first", "second", "gone"} {
		mustCreate(t, s, alice, id, nil)
	}
	mustAppend(t, s, alice, "first", event(t, "", "i", "on top"))
	onTop := mustGet(t, s, "first").UpdatedTime
	mustAppend(t, s, alice, "first", event(t, "", "i", "still there"))
	if err := s.Sessions.Delete(t.Context(), alice, "gone"); err != nil {
		t.Fatal(err)
	}

	rows := func(exact bool) []session.Row {
		t.Helper()
		page, err := s.Sessions.List(t.Context(), session.ListQuery{UserID: alice, Limit: 10, Exact: exact})
		if err != nil {
			t.Fatal(err)
		}
		return page.Rows()
	}
	var want []session.Row
	for _, id := range []string{"first", "second"} {
		of := mustGet(t, s, id)
		want = append(want, session.Row{Session: of, HeadSeq: &of.HeadSeq})
	}
	if diff := cmp.Diff(want, rows(true)); diff != "" {
		t.Errorf("exact rows (-want +got):\n%s", diff)
	}
	for i := range want {
		want[i].HeadSeq, want[i].Session.HeadSeq = nil, 0
	}
	got := rows(false)
	if got[0].UpdatedTime > onTop || got[0].UpdatedTime <= got[1].UpdatedTime {
		t.Errorf("the first came to the top at %d; its row has %d, the second's %d", onTop, got[0].UpdatedTime, got[1].UpdatedTime)
	}
	want[0].UpdatedTime = got[0].UpdatedTime
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("rows (-want +got):\n%s", diff)
	}
}
