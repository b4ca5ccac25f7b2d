package rest_test

import (
	"net/http"
	"testing"
)

// row is a session of a list, as far as it depends on whether the list is exact.
type row struct {
	ID          string `json:"id"`
	HeadSeq     *int64 `json:"head_seq"`
	UpdatedTime int64  `json:"updated_time"`
}

func TestListSessions_exact(t *testing.T) {
	s := newSystem(t)
	s.mustCreate(t, alice, `{"id":"s","name":"Budget"}`)
	nextMillisecond()
	s.mustAppend(t, "s", said("i", "A trip to Lisbon"))
	s.must(t, http.StatusCreated, post(alice, "/sessions/s/shares", `{"user_id":"bob","access":"read"}`))
	of := decode[one[row]](t, s.must(t, http.StatusOK, get(alice, "/sessions/s"))).Data
	if of.HeadSeq == nil || *of.HeadSeq != 1 {
		t.Fatalf("the session is %+v", of)
	}
	for _, c := range []struct {
		user, query string
		exact       bool
	}{
		{alice, "", false},
		{alice, "?exact=false", false},
		{alice, "?exact=true", true},
		{alice, "?q=lisbon&in=messages", true},
		{bob, "?shared=true", false},
		{bob, "?shared=true&exact=true", true},
		{bob, "?shared=true&in=messages&q=lisbon", true},
	} {
		t.Run(c.user+c.query, func(t *testing.T) {
			got := decode[page[row]](t, s.must(t, http.StatusOK, get(c.user, "/sessions"+c.query))).Data
			switch {
			case len(got) != 1:
				t.Errorf("got %+v", got)
			case c.exact && (got[0].HeadSeq == nil || *got[0].HeadSeq != 1 || got[0].UpdatedTime != of.UpdatedTime):
				t.Errorf("got %+v, want %+v", got[0], of)
			case !c.exact && (got[0].HeadSeq != nil || got[0].UpdatedTime >= of.UpdatedTime):
				t.Errorf("got %+v, want the time when it was created and no head_seq", got[0])
			}
		})
	}
	for _, query := range []string{"exact=", "exact=yes", "exact=1"} {
		t.Run("refuses "+query, func(t *testing.T) {
			s.mustRefuse(t, http.StatusBadRequest, "exact", get(alice, "/sessions?"+query))
		})
	}
}
