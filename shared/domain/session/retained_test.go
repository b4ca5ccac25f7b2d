package session_test

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/rethread/rethread/shared/domain/session"
)

func TestRetainedFor(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		own, others int64
		want        session.Retained
		ownSeconds  int64
	}{
		"its own":                        {own: 60, others: 90, want: session.Retained{Seconds: 60, Own: true}, ownSeconds: 60},
		"the one of others":              {others: 90, want: session.Retained{Seconds: 90}},
		"for ever":                       {},
		"its own where others have none": {own: 60, want: session.Retained{Seconds: 60, Own: true}, ownSeconds: 60},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			got := session.RetainedFor(c.own, c.others)
			if diff := cmp.Diff(c.want, got); diff != "" || got.OwnSeconds() != c.ownSeconds {
				t.Errorf("own %d; retained (-want +got):\n%s", got.OwnSeconds(), diff)
			}
		})
	}
}

func TestRetained_Due(t *testing.T) {
	t.Parallel()
	const minute = 60_000
	hour := session.Retained{Seconds: 3600}
	for name, c := range map[string]struct {
		kept    session.Retained
		active  int64
		now     int64
		running bool
		due     bool
		again   int64
	}{
		"a session that is kept for ever":           {now: 1000 * minute},
		"one that was active":                       {kept: hour, active: 5 * minute, now: 60 * minute, again: 65 * minute},
		"a millisecond before":                      {kept: hour, active: 5 * minute, now: 65*minute - 1, again: 65 * minute},
		"at its time":                               {kept: hour, active: 5 * minute, now: 65 * minute, due: true},
		"one with a run in progress":                {kept: hour, active: 5 * minute, now: 90 * minute, running: true, again: 150 * minute},
		"one that was imported after it was active": {kept: session.Retained{Seconds: 3600, Imported: 30 * minute}, now: 80 * minute, again: 90 * minute},
		"one that was active after it was imported": {kept: session.Retained{Seconds: 3600, Imported: 30 * minute}, active: 40 * minute, now: 100 * minute, due: true},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			due, again := c.kept.Due(c.active, c.now, c.running)
			if due != c.due || again != c.again {
				t.Errorf("due %t, again at %d; want %t, %d", due, again, c.due, c.again)
			}
		})
	}
}

func TestListQuery_Matches(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		query session.ListQuery
		want  bool
	}{
		"without a filter":          {want: true},
		"its agent":                 {query: session.ListQuery{Agent: "a/b"}, want: true},
		"another agent":             {query: session.ListQuery{Agent: "a"}},
		"its status":                {query: session.ListQuery{Status: session.Idle}, want: true},
		"another status":            {query: session.ListQuery{Status: session.Failed}},
		"a part of its name":        {query: session.ListQuery{Text: "tO lÜb"}, want: true},
		"another name":              {query: session.ListQuery{Text: "trips"}},
		"some of the filters alone": {query: session.ListQuery{Agent: "a/b", Status: session.Failed, Text: "trip"}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			if got := c.query.Matches("a/b", session.Idle, "Trip to Lübeck"); got != c.want {
				t.Errorf("matches: %t", got)
			}
		})
	}
}
