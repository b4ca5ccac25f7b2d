package rest_test

import (
	"net/http"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/rethread/rethread/infra/test/storetest"
	"github.com/rethread/rethread/shared/store/stores"
	"github.com/rethread/rethread/shared/store/table"
	"github.com/rethread/rethread/shared/transport/rest"
)

// The answer to an append by idempotency key is not stored, and a repeat gets it
// nevertheless, byte for byte.
func TestRepeatOfAnAppendByKey(t *testing.T) {
	var engine table.Engine
	s := newSystem(t, func(c *rest.Config) {
		engine = storetest.Engine(t)
		store := stores.New(engine)
		c.Sessions, c.Idempotency, c.Grants, c.Shares = store.Sessions, store.Idempotency, store.Shares, store.Shares
	})
	s.mustCreate(t, alice, `{"id":"s"}`)
	odd := `{ "invocation_id":"j","author":"a", "content": null,"actions":{"x":1.0,"state_delta":{"k": [1 , 2],"temp:t":1}},"html":"<&>\u2028","seq":99}`
	partial := `{"invocation_id":"i","author":"a","partial":true}`
	named := `{"id":"n.1","invocation_id":"n","author":"a"}`
	requests := []request{
		post(alice, "/sessions/s/events", batch(said("i", "first"), odd)).with("Idempotency-Key", "1"),
		post(alice, "/sessions/s/events", batch(said("i", "again"))).with("Idempotency-Key", "2"),
		post(alice, "/sessions/s/events", batch(partial, said("i", "whole"))).with("Idempotency-Key", "3"),
		post(alice, "/sessions/s/events", batch(said("m", "x"), named)).with("Idempotency-Key", "4"),
		post(alice, "/sessions/s/events", batch(named)).with("Idempotency-Key", "5"),
		post(alice, "/sessions/s/events", batch(partial)).with("Idempotency-Key", "6"),
		post(alice, "/sessions/s/events", `{"events":[`+said("k", "x")+`],"expected_seq":6}`).with("Idempotency-Key", "7"),
	}
	var answers []response
	for _, r := range requests {
		got := s.do(t, r)
		if got.status/100 != 2 || got.header.Get("Idempotency-Replayed") != "" {
			t.Fatalf("%s: %d %s", r.body, got.status, got.body)
		}
		answers = append(answers, got)
	}
	for i, r := range requests {
		again := s.do(t, r)
		if again.status != answers[i].status || again.header.Get("Idempotency-Replayed") != "true" {
			t.Errorf("%s: %d, then %d %v", r.body, answers[i].status, again.status, again.header)
		}
		if diff := cmp.Diff(string(answers[i].body), string(again.body)); diff != "" {
			t.Errorf("%s: answers differ:\n%s", r.body, diff)
		}
	}
	if head := s.headSeq(t, "s"); head != 7 {
		t.Errorf("head %d, want 7", head)
	}
	stored := 0
	for _, item := range storetest.Items(t, engine) {
		if strings.HasPrefix(storetest.Text(t, item, table.PK), "KA#") {
			stored++
		}
	}
	if stored != 3 { // those with an id of the caller's, and that with partial events alone
		t.Errorf("%d answers are stored, want 3", stored)
	}
	other := requests[0]
	other.body = batch(said("i", "other"))
	s.mustRefuse(t, http.StatusUnprocessableEntity, "Idempotency-Key", other)
}
