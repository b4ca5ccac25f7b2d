package rest_test

import (
	"net/http"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/rethread/rethread/shared/domain/access"
)

// TestSearchSharedSessions searches what was said in the sessions that others share with
// the caller: as much as the caller can read, for as long.
func TestSearchSharedSessions(t *testing.T) {
	s := newSystem(t)
	for _, id := range []string{"1", "2"} {
		s.mustCreate(t, alice, `{"id":"`+id+`"}`)
		s.mustAppend(t, id, said("a", "A trip to Lisbon"))
		s.mustAppend(t, id, said("b", "Rather to Porto"))
	}
	made, err := s.config.Shares.Share(t.Context(), access.NewShare{
		ID: "share", SessionID: "1", OwnerID: alice, Right: access.Read, UserID: bob,
	})
	if err != nil {
		t.Fatal(err)
	}
	type one struct {
		ID     string
		Access string
		Match  struct{ Text string }
	}
	want := func(what, query string, want ...string) {
		t.Helper()
		var found []string
		follow(t, s, get(bob, "/sessions?shared=true&in=messages&limit=1&q="+query), func(r response) {
			for _, o := range decode[page[one]](t, r).Data {
				found = append(found, o.ID+" "+o.Access+" "+o.Match.Text)
			}
		})
		if diff := cmp.Diff(want, found); diff != "" {
			t.Errorf("%s (-want +got):\n%s", what, diff)
		}
	}
	want("what is shared", "porto", "1 read Rather to Porto")
	s.must(t, http.StatusOK, post(alice, "/sessions/1/rewind", `{"rewind_before_invocation_id":"b"}`))
	want("what was rewound", "porto")
	want("what is before the rewind", "lisbon", "1 read A trip to Lisbon")
	if err := s.config.Shares.Revoke(t.Context(), alice, "1", made.ID); err != nil {
		t.Fatal(err)
	}
	want("after the share", "lisbon")
}
