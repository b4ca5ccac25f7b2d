package rest_test

import (
	"net/http"
	"net/url"
	"runtime"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/rethread/rethread/shared/domain/session"
)

func TestCreateSession(t *testing.T) {
	s := newSystem(t)

	t.Run("has a default for every field", func(t *testing.T) {
		got := s.must(t, http.StatusCreated, post(alice, "/sessions", `{}`))
		made := decode[one[sessionView]](t, got).Data
		want := sessionView{ID: made.ID, AppName: "default", Status: "idle", Metadata: []byte("{}")}
		if diff := cmp.Diff(want, made); diff != "" {
			t.Errorf("session (-want +got):\n%s", diff)
		}
		if made.ID == "" || got.header.Get("Location") != "/api/v1/sessions/"+made.ID || got.header.Get("ETag") != `"1"` {
			t.Errorf("headers: %v", got.header)
		}
	})
	t.Run("uses the app as the agent if none is given", func(t *testing.T) {
		made := s.mustCreate(t, alice, `{"agent":"analyst","name":"Sales <&> costs","metadata":{"a": [1, 2]}}`)
		if made.AppName != "analyst" || made.Name != "Sales <&> costs" || string(made.Metadata) != `{"a":[1,2]}` {
			t.Errorf("got %+v", made)
		}
		if made := s.mustCreate(t, alice, `{"agent":"team/analyst"}`); made.Agent != "team/analyst" || made.AppName != "team~analyst" {
			t.Errorf("got %+v", made)
		}
		listed := decode[struct{ Data []session.Session }](t, s.must(t, http.StatusOK, get(alice, "/sessions?agent=team/analyst")))
		if len(listed.Data) != 1 {
			t.Errorf("listed %+v", listed)
		}
	})
	t.Run("returns a location below the bare base path", func(t *testing.T) {
		got := s.must(t, http.StatusCreated, post(alice, "/api/sessions", `{"id":"a b,ü%"}`))
		location := got.header.Get("Location")
		if want := "/api/sessions/" + url.PathEscape("a b,ü%"); location != want {
			t.Errorf("Location: got %q, want %q", location, want)
		}
		s.must(t, http.StatusOK, get(alice, location))
	})
	t.Run("returns 409 for an id in use", func(t *testing.T) {
		s.mustCreate(t, alice, `{"id":"mine"}`)
		for _, user := range []string{alice, bob} {
			problem := s.mustRefuse(t, http.StatusConflict, "", post(user, "/sessions", `{"id":"mine"}`))
			if problem["session_id"] != "mine" {
				t.Errorf("what is in the way: %v", problem)
			}
		}
	})
	t.Run("sets the initial state in three scopes, without nulls and temporary keys", func(t *testing.T) {
		made := s.mustCreate(t, alice, `{"state":{"k":"<b>","user:u":1,"app:a":[true],"temp:t":0,"gone":null}}`)
		got := s.must(t, http.StatusOK, get(alice, "/sessions/"+made.ID+"/state"))
		want := `{"data":{"session":{"k":"<b>"},"user":{"u":1},"app":{"a":[true]},` +
			`"merged":{"app:a":[true],"k":"<b>","user:u":1}}}`
		if diff := cmp.Diff(want, string(got.body)); diff != "" {
			t.Errorf("state (-want +got):\n%s", diff)
		}
		if made.HeadSeq != 1 {
			t.Errorf("the state is not the first event: head %d", made.HeadSeq)
		}
	})
}

func TestCreateSessionBadInput(t *testing.T) {
	s := newSystem(t)
	for name, c := range map[string]struct {
		body, pointer string
		status        int
	}{
		"no object":                 {`[]`, "", 400},
		"id of a wrong type":        {`{"id":5}`, "/id", 400},
		"id null":                   {`{"id":null}`, "/id", 400},
		"id empty":                  {`{"id":""}`, "/id", 422},
		"id too long":               {`{"id":"` + strings.Repeat("é", 129) + `"}`, "/id", 422},
		"id with a slash":           {`{"id":"a/b"}`, "/id", 422},
		"control character":         {`{"id":"a\u0000b"}`, "/id", 422},
		"agent of a wrong type":     {`{"agent":{}}`, "/agent", 400},
		"agent with slashes":        {`{"agent":"a/b/c"}`, "/agent", 422},
		"agent without a namespace": {`{"agent":"/b"}`, "/agent", 422},
		"agent without a name":      {`{"agent":"a/"}`, "/agent", 422},
		"agent over 128":            {`{"agent":"` + strings.Repeat("a", 64) + "/" + strings.Repeat("b", 64) + `"}`, "/agent", 422},
		"app_name too long":         {`{"app_name":"` + strings.Repeat("a", 129) + `"}`, "/app_name", 422},
		"name of a wrong type":      {`{"name":true}`, "/name", 400},
		"name too long":             {`{"name":"` + strings.Repeat("n", 257) + `"}`, "/name", 422},
		"state no object":           {`{"state":[1]}`, "/state", 400},
		"state key empty":           {`{"state":{"":1}}`, "/state/", 422},
		"state key only prefix":     {`{"state":{"user:":1}}`, "/state/user:", 422},
		"state key too long":        {`{"state":{"` + strings.Repeat("k", 257) + `":1}}`, "", 422},
		"metadata no object":        {`{"metadata":"x"}`, "/metadata", 400},
		"metadata null":             {`{"metadata":null}`, "/metadata", 400},
		"metadata too large":        {`{"metadata":{"x":"` + strings.Repeat("m", 16<<10) + `"}}`, "/metadata", 422},
		"state too large":           {`{"state":{"x":"` + strings.Repeat("s", 257<<10) + `"}}`, "", 413},
	} {
		t.Run(name, func(t *testing.T) {
			s.mustRefuse(t, c.status, c.pointer, post("carol", "/sessions", c.body))
		})
	}
	if got := decode[page[sessionView]](t, s.must(t, http.StatusOK, get("carol", "/sessions"))); len(got.Data) != 0 {
		t.Errorf("refused, and yet there: %+v", got.Data)
	}
}

func TestSessionBelongsToItsUser(t *testing.T) {
	s := newSystem(t)
	s.mustCreate(t, alice, `{"id":"hers"}`)
	for _, r := range []request{
		get("", "/sessions/hers"), get("", "/sessions/hers/state"), get("", "/sessions"), del("", "/sessions/hers"),
		patch("", "/sessions/hers", `{"name":"x"}`), post("", "/sessions", `{}`),
		get("", "/sessions/hers/events"), get("", "/sessions/hers/tasks"), get("", "/feedback"),
	} {
		s.mustRefuse(t, http.StatusUnauthorized, "", r)
		if r.path == "/sessions" || r.path == "/feedback" {
			continue
		}
		r.user = bob
		problem := s.mustRefuse(t, http.StatusForbidden, "", r)
		if problem["detail"] != "You do not have permission to access this session" {
			t.Errorf("%s %s: detail %q", r.method, r.path, problem["detail"])
		}
		r.user, r.path = alice, strings.Replace(r.path, "hers", "nobodys", 1)
		if problem := s.mustRefuse(t, http.StatusNotFound, "", r); problem["detail"] != "Session not found" {
			t.Errorf("%s %s: detail %q", r.method, r.path, problem["detail"])
		}
	}
	s.must(t, http.StatusOK, get(alice, "/sessions/hers"))
}

func TestUpdateSession(t *testing.T) {
	s := newSystem(t)
	s.mustCreate(t, alice, `{"id":"s","name":"one","metadata":{"k":1}}`)

	t.Run("updates only the given members", func(t *testing.T) {
		got := s.must(t, http.StatusOK, patch(alice, "/sessions/s", `{"name":"two"}`))
		changed := decode[one[sessionView]](t, got).Data
		if changed.Name != "two" || string(changed.Metadata) != `{"k":1}` || got.header.Get("ETag") != `"2"` {
			t.Errorf("got %+v, ETag %s", changed, got.header.Get("ETag"))
		}
	})
	for _, c := range []struct {
		name, ifMatch string
		status        int
	}{
		{"the current version", `"2"`, 200},
		{"an old version", `"2"`, 412},
		{"a list with the current version", `"1", "3" ,"9"`, 200},
		{"a list without the current version", `"1","2"`, 412},
		{"a weak tag never matches", `W/"4"`, 412},
		{"any version", `*`, 200},
		{"an unknown tag", `"x"`, 412},
		{"no tag", `3`, 400},
		{"an open list", `"5",`, 400},
		{"an open quote", `"5`, 400},
	} {
		t.Run(c.name, func(t *testing.T) {
			r := patch(alice, "/sessions/s", `{"metadata":{}}`).with("If-Match", c.ifMatch)
			if c.status == http.StatusOK {
				s.must(t, http.StatusOK, r)
			} else {
				s.mustRefuse(t, c.status, "", r)
			}
		})
	}
	for _, c := range []struct {
		name, body, pointer string
		status              int
	}{
		{"nothing to change", `{}`, "", 422},
		{"name null", `{"name":null}`, "/name", 400},
		{"name too long", `{"name":"` + strings.Repeat("é", 257) + `"}`, "/name", 422},
		{"metadata of a wrong type", `{"metadata":[]}`, "/metadata", 400},
	} {
		t.Run(c.name, func(t *testing.T) {
			s.mustRefuse(t, c.status, c.pointer, patch(alice, "/sessions/s", c.body))
		})
	}
	t.Run("returns 404 for an unknown session, whatever the version", func(t *testing.T) {
		s.mustRefuse(t, http.StatusNotFound, "", patch(alice, "/sessions/no", `{"name":"x"}`).with("If-Match", "*"))
	})
}

// nextMillisecond waits until the clock shows a later one: sessions with the same
// activity, in milliseconds, are in no order that a test could expect.
func nextMillisecond() {
	for began := time.Now().UnixMilli(); time.Now().UnixMilli() == began; {
		runtime.Gosched()
	}
}

func TestListSessions(t *testing.T) {
	s := newSystem(t)
	for _, body := range []string{
		`{"id":"1","agent":"a","name":"Budget"}`, `{"id":"2","agent":"b","name":"budget two"}`,
		`{"id":"3","agent":"a","name":"Trip"}`, `{"id":"4","agent":"a"}`,
	} {
		nextMillisecond()
		s.mustCreate(t, alice, body)
	}
	s.mustCreate(t, bob, `{"id":"5","agent":"a"}`)
	nextMillisecond()
	s.must(t, http.StatusOK, patch(alice, "/sessions/1", `{"name":"Budget!"}`))

	for _, c := range []struct{ name, query, want string }{
		{"newest activity first", "", "1 4 3 2"},
		{"by agent", "?agent=a", "1 4 3"},
		{"by name, whatever the case", "?q=BUDGET", "1 2"},
		{"by a part of a word of the name", "?q=udge", "1 2"},
		{"by the words of the name, in any order", "?q=two+bud", "2"},
		{"by the words of the name, all of them", "?q=budget+three", ""},
		{"by a name without words", "?q=+", "1 4 3 2"},
		{"by status", "?status=idle", "1 4 3 2"},
		{"by a status without sessions", "?status=failed", ""},
		{"page by page", "?limit=1", "1 4 3 2"},
		{"page by page with a filter", "?limit=1&q=budget&agent=b", "2"},
		{"by names, when asked to", "?in=names&q=budget", "1 2"},
		{"unknown parameters are ignored", "?color=red", "1 4 3 2"},
	} {
		t.Run(c.name, func(t *testing.T) {
			var ids []string
			follow(t, s, get(alice, "/sessions"+c.query), func(r response) {
				for _, one := range decode[page[sessionView]](t, r).Data {
					ids = append(ids, one.ID)
				}
			})
			if got := strings.Join(ids, " "); got != c.want {
				t.Errorf("got %q, want %q", got, c.want)
			}
		})
	}
	for _, c := range []struct{ query, name string }{
		{"limit=0", "limit"},
		{"limit=1001", "limit"},
		{"limit=ten", "limit"},
		{"limit=", "limit"},
		{"limit=1&limit=2", "limit"},
		{"status=busy", "status"},
		{"status=", "status"},
		{"q=%ff", "q"},
		{"q=" + strings.Repeat("q", 257), "q"},
		{"agent=" + strings.Repeat("a", 129), "agent"},
		{"cursor=", "cursor"},
		{"cursor=abc", "cursor"},
		{"cursor=" + strings.Repeat("A", 5000), "cursor"},
		{"q=%zz", ""},
		{"in=", "in"},
		{"in=events&q=x", "in"},
		{"in=messages", "q"},
		{"in=messages&q=", "q"},
		{"in=messages&q=%21", "q"},
	} {
		t.Run("refuses "+c.query[:min(20, len(c.query))], func(t *testing.T) {
			s.mustRefuse(t, http.StatusBadRequest, c.name, get(alice, "/sessions?"+c.query))
		})
	}
}

// TestSearchSessions searches what was said in the caller's sessions.
func TestSearchSessions(t *testing.T) {
	s := newSystem(t)
	for _, id := range []string{"1", "2", "3"} {
		nextMillisecond()
		s.mustCreate(t, alice, `{"id":"`+id+`","name":"Budget","agent":"agent-`+id+`"}`)
		s.mustAppend(t, id, said("i"+id, "A trip to Lisbon"))
	}
	s.mustCreate(t, bob, `{"id":"his"}`)
	s.must(t, http.StatusCreated, post(bob, "/sessions/his/events", `{"events":[`+said("i", "Lisbon")+`]}`))
	type match struct {
		EventID      string `json:"event_id"`
		InvocationID string `json:"invocation_id"`
		Seq          int64
		Author, Text string
	}
	search := func(query string) (found []match) {
		t.Helper()
		follow(t, s, get(alice, "/sessions?in=messages&q="+query), func(r response) {
			for _, one := range decode[page[struct{ Match match }]](t, r).Data {
				if one.Match.EventID == "" {
					t.Errorf("no event in %s", r.body)
				}
				one.Match.EventID = ""
				found = append(found, one.Match)
			}
		})
		return found
	}
	found := func(id string) match {
		return match{InvocationID: "i" + id, Seq: 1, Author: "user", Text: "A trip to Lisbon"}
	}
	for query, want := range map[string][]match{
		"LISB+trip":            {found("3"), found("2"), found("1")},
		"lisbon&limit=1":       {found("3"), found("2"), found("1")},
		"lisbon&agent=agent-2": {found("2")},
		"lisbon&status=failed": nil,
		"isbon":                nil,
		"budget":               nil, // in names alone
	} {
		if diff := cmp.Diff(want, search(query)); diff != "" {
			t.Errorf("%s (-want +got):\n%s", query, diff)
		}
	}
	names := decode[page[sessionView]](t, s.must(t, http.StatusOK, get(alice, "/sessions?in=names&q=budget&limit=1")))
	s.mustRefuse(t, http.StatusBadRequest, "cursor",
		get(alice, "/sessions?in=messages&q=budget&limit=1&cursor="+url.QueryEscape(*names.Meta.NextCursor)))
	s.mustRefuse(t, http.StatusForbidden, "", get(bob, "/sessions?in=messages&q=lisbon&user_id="+alice))
}

func TestDeleteSession(t *testing.T) {
	s := newSystem(t)
	s.mustCreate(t, alice, `{"id":"s"}`)
	s.mustAppend(t, "s", said("i", "hello"))
	if got := s.must(t, http.StatusNoContent, del(alice, "/api/sessions/s")); len(got.body) != 0 {
		t.Errorf("body of a 204: %q", got.body)
	}
	for _, path := range []string{"/sessions/s", "/sessions/s/events", "/sessions/s/tasks", "/sessions/s/state"} {
		s.mustRefuse(t, http.StatusNotFound, "", get(alice, path))
	}
	s.mustRefuse(t, http.StatusNotFound, "", del(alice, "/sessions/s"))
}
