package rest_test

import (
	"fmt"
	"net/http"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestAppendEvents(t *testing.T) {
	s := newSystem(t)

	t.Run("numbers events without gaps and keeps unknown fields", func(t *testing.T) {
		s.mustCreate(t, alice, `{"id":"s"}`)
		got := s.mustAppend(t, "s", said("i1", "one"), said("i2", "two"))
		if got[0].Seq != 1 || got[1].Seq != 2 || got[0].SessionID != "s" || got[0].ID == got[1].ID {
			t.Errorf("got %+v", got)
		}
		odd := `{"invocation_id":"j","author":"a","content":null,"actions":{"x":1.0},"html":"<&>\u2028","seq":99}`
		s.mustAppend(t, "s", odd)
		body := string(s.must(t, http.StatusOK, get(alice, "/sessions/s/events?after=2")).body)
		if !strings.Contains(body, `"html":"<&>\u2028"`) || !strings.Contains(body, `{"x":1.0}`) || !strings.Contains(body, `"seq":3`) {
			t.Errorf("got %s", body)
		}
	})
	t.Run("appends nothing for a redelivery", func(t *testing.T) {
		s.mustCreate(t, alice, `{"id":"again"}`)
		body := batch(`{"id":"e","invocation_id":"i","author":"a"}`)
		first := s.must(t, http.StatusCreated, post(alice, "/sessions/again/events", body))
		second := s.must(t, http.StatusOK, post(alice, "/sessions/again/events", body))
		if diff := cmp.Diff(string(first.body), string(second.body)); diff != "" {
			t.Errorf("answers differ:\n%s", diff)
		}
		other := batch(`{"id":"e","invocation_id":"i","author":"b"}`)
		problem := s.mustRefuse(t, http.StatusConflict, "", post(alice, "/sessions/again/events", other))
		if problem["event_id"] != "e" || s.headSeq(t, "again") != 1 {
			t.Errorf("problem %v, head %d", problem, s.headSeq(t, "again"))
		}
	})
	t.Run("compares expected_seq with the head", func(t *testing.T) {
		s.mustCreate(t, alice, `{"id":"x"}`)
		body := `{"events":[` + said("i", "a") + `],"expected_seq":%s}`
		s.must(t, http.StatusCreated, post(alice, "/sessions/x/events", fmt.Sprintf(body, "0")))
		s.must(t, http.StatusCreated, post(alice, "/sessions/x/events", fmt.Sprintf(body, "1.0")))
		problem := s.mustRefuse(t, http.StatusConflict, "", post(alice, "/sessions/x/events", fmt.Sprintf(body, "0")))
		if problem["head_seq"] != 2.0 {
			t.Errorf("problem %v", problem)
		}
	})
	t.Run("does not store partial events", func(t *testing.T) {
		s.mustCreate(t, alice, `{"id":"p"}`)
		partial := `{"invocation_id":"i","author":"a","partial":true}`
		got := s.must(t, http.StatusOK, post(alice, "/sessions/p/events", batch(partial, partial)))
		if string(got.body) != `{"data":[]}` {
			t.Errorf("got %s", got.body)
		}
		if got := s.mustAppend(t, "p", partial, said("i", "whole")); len(got) != 1 {
			t.Errorf("got %+v", got)
		}
		s.mustRefuse(t, http.StatusForbidden, "", post(bob, "/sessions/p/events", batch(partial)))
		s.mustRefuse(t, http.StatusNotFound, "", post(alice, "/sessions/no/events", batch(partial)))
	})
	t.Run("updates the state with the log", func(t *testing.T) {
		s.mustCreate(t, alice, `{"id":"st","state":{"a":1,"b":2}}`)
		s.mustAppend(t, "st", `{"invocation_id":"i","author":"a","actions":{"state_delta":{"a":null,"user:c":3,"temp:d":4}}}`)
		got := string(s.must(t, http.StatusOK, get(alice, "/api/sessions/st/state")).body)
		if want := `{"data":{"session":{"b":2},"user":{"c":3},"app":{},"merged":{"b":2,"user:c":3}}}`; got != want {
			t.Errorf("got %s, want %s", got, want)
		}
	})
}

func TestAppendEventsBadInput(t *testing.T) {
	s := newSystem(t)
	s.mustCreate(t, alice, `{"id":"s"}`)
	ok := said("i", "x")
	event := func(members string) string { return batch(ok, `{"invocation_id":"i","author":"a",`+members+`}`) }
	for name, c := range map[string]struct {
		body, pointer string
		status        int
	}{
		"no events":                  {`{}`, "/events", 400},
		"events of a wrong type":     {`{"events":{}}`, "/events", 400},
		"events null":                {`{"events":null}`, "/events", 400},
		"empty":                      {batch(), "/events", 422},
		"over 100":                   {batch(strings.Split(strings.Repeat(ok+"\x00", 100)+ok, "\x00")...), "/events", 422},
		"an event of a wrong type":   {batch(ok, `"x"`), "/events/1", 400},
		"no invocation":              {batch(`{"author":"a"}`), "/events/0/invocation_id", 400},
		"no author":                  {batch(`{"invocation_id":"i"}`), "/events/0/author", 400},
		"author empty":               {batch(`{"invocation_id":"i","author":""}`), "/events/0/author", 422},
		"author too long":            {batch(`{"invocation_id":"i","author":"` + strings.Repeat("a", 129) + `"}`), "/events/0/author", 422},
		"invocation with a slash":    {batch(`{"invocation_id":"a/b","author":"a"}`), "/events/0/invocation_id", 422},
		"id of a wrong type":         {event(`"id":1`), "/events/1/id", 400},
		"id with control characters": {event(`"id":"\n"`), "/events/1/id", 422},
		"id twice in a batch":        {batch(`{"id":"e","invocation_id":"i","author":"a"}`, `{"id":"e","invocation_id":"i","author":"a"}`), "/events/1/id", 422},
		"content of a wrong type":    {event(`"content":"text"`), "/events/1/content", 400},
		"partial of a wrong type":    {event(`"partial":"yes"`), "/events/1/partial", 400},
		"actions of a wrong type":    {event(`"actions":[]`), "/events/1/actions", 400},
		"state delta no object":      {event(`"actions":{"state_delta":[]}`), "/events/1/actions/state_delta", 400},
		"state key without a name":   {event(`"actions":{"state_delta":{"app:":1}}`), "/events/1/actions/state_delta/app:", 422},
		"artifact delta no versions": {event(`"actions":{"artifact_delta":{"f":"1"}}`), "/events/1/actions/artifact_delta/f", 400},
		"artifact version negative":  {event(`"actions":{"artifact_delta":{"f/g":-1}}`), "/events/1/actions/artifact_delta/f~1g", 422},
		"expected_seq no integer":    {`{"events":[` + ok + `],"expected_seq":0.5}`, "/expected_seq", 400},
		"expected_seq a string":      {`{"events":[` + ok + `],"expected_seq":"0"}`, "/expected_seq", 400},
		"expected_seq null":          {`{"events":[` + ok + `],"expected_seq":null}`, "/expected_seq", 400},
		"expected_seq negative":      {`{"events":[` + ok + `],"expected_seq":-1}`, "/expected_seq", 422},
	} {
		t.Run(name, func(t *testing.T) {
			s.mustRefuse(t, c.status, c.pointer, post(alice, "/sessions/s/events", c.body))
		})
	}
	if head := s.headSeq(t, "s"); head != 0 {
		t.Errorf("refused, and yet the log has %d entries", head)
	}
}

func TestListEvents(t *testing.T) {
	s := newSystem(t)
	s.mustCreate(t, alice, `{"id":"s"}`)
	for i := range 5 {
		s.mustAppend(t, "s", said("i", fmt.Sprint("a", i)), said("i", fmt.Sprint("b", i)))
	}
	for _, c := range []struct {
		query, want string
		pages       int
	}{
		{"", "1 2 3 4 5 6 7 8 9 10", 1},
		{"?limit=3", "1 2 3 4 5 6 7 8 9 10", 4},
		{"?limit=5", "1 2 3 4 5 6 7 8 9 10", 2},
		{"?order=desc&limit=4", "10 9 8 7 6 5 4 3 2 1", 3},
		{"?after=7", "8 9 10", 1},
		{"?after=7&order=desc&limit=2", "10 9 8", 2},
		{"?after=10", "", 1},
		{"?view=all&limit=1000", "1 2 3 4 5 6 7 8 9 10", 1},
	} {
		t.Run("events"+c.query, func(t *testing.T) {
			var seqs []string
			pages := follow(t, s, get(alice, "/api/sessions/s/events"+c.query), func(r response) {
				for _, e := range decode[page[eventView]](t, r).Data {
					seqs = append(seqs, fmt.Sprint(e.Seq))
				}
			})
			if got := strings.Join(seqs, " "); got != c.want || pages != c.pages {
				t.Errorf("got %q in %d pages, want %q in %d", got, pages, c.want, c.pages)
			}
		})
	}
	for query, name := range map[string]string{
		"view=some": "view", "order=up": "order", "after=-1": "after", "after=x": "after",
		"after=99999999999999999999": "after", "limit=0": "limit", "view=all&view=all": "view",
	} {
		t.Run("refuses "+query, func(t *testing.T) {
			s.mustRefuse(t, http.StatusBadRequest, name, get(alice, "/sessions/s/events?"+query))
		})
	}
}

func TestCursorBelongsToItsList(t *testing.T) {
	s := newSystem(t)
	for _, id := range []string{"s", "other"} {
		s.mustCreate(t, alice, `{"id":"`+id+`"}`)
		s.mustAppend(t, id, said("i", "1"), said("i", "2"), said("i", "3"))
	}
	first := decode[page[eventView]](t, s.must(t, http.StatusOK, get(alice, "/sessions/s/events?limit=1")))
	cursor := *first.Meta.NextCursor
	again := "/events?limit=2&cursor="
	s.must(t, http.StatusOK, get(alice, "/sessions/s"+again+cursor))

	tampered := "A" + cursor[1:]
	if cursor[0] == 'A' {
		tampered = "B" + cursor[1:]
	}
	for name, path := range map[string]string{
		"tampered with":        "/sessions/s" + again + tampered,
		"cut":                  "/sessions/s" + again + cursor[:len(cursor)-1],
		"longer":               "/sessions/s" + again + cursor + "AAAA",
		"of another session":   "/sessions/other" + again + cursor,
		"of another order":     "/sessions/s" + again + cursor + "&order=desc",
		"of another view":      "/sessions/s" + again + cursor + "&view=all",
		"of another list":      "/sessions?cursor=" + cursor,
		"of another resource":  "/sessions/s/tasks?cursor=" + cursor,
		"no base64":            "/sessions/s" + again + "*",
		"shorter than its sum": "/sessions/s" + again + "AAAA",
	} {
		t.Run(name, func(t *testing.T) {
			s.mustRefuse(t, http.StatusBadRequest, "cursor", get(alice, path))
		})
	}
	t.Run("of another user", func(t *testing.T) {
		list := decode[page[sessionView]](t, s.must(t, http.StatusOK, get(alice, "/sessions?limit=1")))
		s.mustRefuse(t, http.StatusBadRequest, "cursor", get(bob, "/sessions?cursor="+*list.Meta.NextCursor))
	})
}

func TestPathIDs(t *testing.T) {
	s := newSystem(t)
	for _, id := range []string{"%00", "a%2Fb", strings.Repeat("x", 129), "%FF", "a%0Ab"} {
		t.Run(id[:3], func(t *testing.T) {
			s.mustRefuse(t, http.StatusUnprocessableEntity, "session_id", get(alice, "/sessions/"+id))
		})
	}
}
