package entrances_test

import (
	"fmt"
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"testing"

	"github.com/rethread/rethread/infra/test/storetest/fixture"
	"github.com/rethread/rethread/shared/domain/receiver"
	"github.com/rethread/rethread/shared/domain/session"
)

// listsWithin are lists of what sessions, webhooks and shares hold, and of what searches find.
func listsWithin() map[string]list {
	const here = "/api/v1/sessions/here"
	items, next := []string{"data"}, []string{"meta", "next_cursor"}
	ofTool := func(name string) (items, next []string) {
		return []string{"result", "structuredContent", name}, []string{"result", "structuredContent", "next_cursor"}
	}
	mcpSessions, mcpNext := ofTool("sessions")
	mcpArtifacts, _ := ofTool("artifacts")
	del := func(t *testing.T, s *system, n int) {
		t.Helper()
		s.must(t, http.StatusNoContent, del(fmt.Sprintf("/api/v1/sessions/list-%d", n)))
	}
	shared := paged("/api/v1/sessions?shared=true")
	return map[string]list{
		"feedback": {add: addFeedback, page: paged("/api/v1/feedback"), items: []string{"feedback"}, next: []string{"next_cursor"}, id: []string{"task_id"}, newest: true},
		"versions": {
			add: func(t *testing.T, s *system, _ int) {
				t.Helper()
				s.must(t, http.StatusCreated, put(here+"/artifacts/a"))
			},
			page: paged(here + "/artifacts/a/versions"), items: items, next: next, id: []string{"version"},
		},
		"deliveries":          {add: addDelivery, page: paged("/api/v1/webhooks/hook/deliveries"), items: items, next: next, id: []string{"event_id"}, newest: true},
		"a search":            {add: addSaying, del: del, page: paged("/api/v1/sessions?in=messages&q=word"), items: items, next: next, id: []string{"id"}, newest: true},
		"a search of MCP":     {add: addSaying, del: del, page: tool("search_sessions", `"query":"word","in":"messages",`), items: mcpSessions, next: mcpNext, id: []string{"id"}, newest: true},
		"artifacts of MCP":    {add: addNamed, del: delNamed, page: tool("list_artifacts", `"session_id":"here",`), items: mcpArtifacts, next: mcpNext, id: []string{"name"}},
		"a conversation":      {add: addItem, del: cut, cuts: true, page: ofConversation("asc"), items: items, next: []string{"last_id"}, id: []string{"content", "0", "text"}},
		"a conversation back": {add: addItem, del: cut, page: ofConversation("desc"), items: items, next: []string{"last_id"}, id: []string{"content", "0", "text"}, newest: true},
		"input items":         inputItems("asc"),
		"input items back":    inputItems("desc"),
		"sessions of others": {
			add: addShared, del: del, items: items, next: next, id: []string{"id"}, made: true,
			page: func(cursor string) request {
				r := shared(cursor)
				r.header = map[string]string{"User": "bob"}
				return r
			},
		},
	}
}

func addFeedback(t *testing.T, s *system, n int) {
	t.Helper()
	s.must(t, http.StatusAccepted, post("/api/v1/feedback", fmt.Sprintf(`{"taskId":"t-%d","feedbackType":"up"}`, n)))
}

// addDelivery notes a delivery to a webhook, which the first one makes.
func addDelivery(t *testing.T, s *system, n int) {
	t.Helper()
	hook := fixture.Webhook(alice, "hook", 1)
	if n == firstEntry {
		fixture.CreateWebhook(t, s.store, hook)
	}
	fixture.Note(t, s.store, receiver.Note{
		Delivery: fixture.DeliveryAt(hook, int64(n)), Queued: s.clock.now().UnixMilli(), State: receiver.Delivered, Number: 1,
	})
}

func addSaying(t *testing.T, s *system, n int) {
	t.Helper()
	s.must(t, http.StatusCreated, post("/api/v1/sessions", fmt.Sprintf(`{"id":"list-%d"}`, n)))
	s.must(t, http.StatusCreated, post(fmt.Sprintf("/api/v1/sessions/list-%d/events", n),
		`{"events":[{"invocation_id":"i","author":"user","content":{"role":"user","parts":[{"text":"the word"}]}}]}`))
}

func addNamed(t *testing.T, s *system, n int) {
	t.Helper()
	s.must(t, http.StatusCreated, put(fmt.Sprintf("/api/v1/sessions/here/artifacts/a-%d", n)))
}

func delNamed(t *testing.T, s *system, n int) {
	t.Helper()
	s.must(t, http.StatusNoContent, del(fmt.Sprintf("/api/v1/sessions/here/artifacts/a-%d", n)))
}

func addShared(t *testing.T, s *system, n int) {
	t.Helper()
	s.must(t, http.StatusCreated, post("/api/v1/sessions", fmt.Sprintf(`{"id":"list-%d"}`, n)))
	s.must(t, http.StatusCreated, post(fmt.Sprintf("/api/v1/sessions/list-%d/shares", n), `{"access":"read","user_id":"bob"}`))
}

func addItem(t *testing.T, s *system, n int) {
	t.Helper()
	s.must(t, http.StatusOK, post("/v1/conversations/here/items", fmt.Sprintf(
		`{"items":[{"type":"message","role":"user","content":"%d"}]}`, n)))
}

// cut rewinds the conversation to before an item.
func cut(t *testing.T, s *system, n int) {
	t.Helper()
	page, err := s.store.Sessions.Events(t.Context(), alice, "here", session.EventQuery{View: session.Effective, Limit: 100})
	if err != nil {
		t.Fatal(err)
	}
	for _, e := range page.Events {
		if strings.Contains(string(e.Fields["content"]), fmt.Sprintf("%q", strconv.Itoa(n))) {
			s.must(t, http.StatusOK, post("/api/v1/sessions/here/rewind", fmt.Sprintf(`{"rewind_before_invocation_id":%q}`, e.InvocationID)))
			return
		}
	}
	t.Fatalf("there is no item %d", n)
}

// inputItems is the list of the items of a response's input, which are sent together. What is
// added later is not in it, and a rewind leaves it as it is.
func inputItems(order string) list {
	var response string
	l := list{items: []string{"data"}, next: []string{"last_id"}, id: []string{"content", "0", "text"}, newest: order == "desc", closed: true, del: cut}
	l.add = func(t *testing.T, s *system, n int) {
		t.Helper()
		switch {
		case n > 16:
			addItem(t, s, n)
		case n == 16:
			var input []string
			for i := firstEntry; i < n; i++ {
				input = append(input, fmt.Sprintf(`{"role":"assistant","content":"%d"}`, i))
			}
			made := s.must(t, http.StatusOK, post("/v1/responses", fmt.Sprintf(
				`{"model":"helper","conversation":"here","background":true,"input":[%s,{"role":"user","content":"%d"}]}`, strings.Join(input, ","), n)))
			response = decode[struct{ ID string }](t, made).ID
		}
	}
	l.page = func(cursor string) request {
		r := ofConversation(order)(cursor)
		r.path = strings.Replace(r.path, "conversations/here/items", "responses/"+response+"/input_items", 1)
		return r
	}
	return l
}

// ofConversation is the request of a page of items, after the last one of the page before.
func ofConversation(order string) func(string) request {
	return func(cursor string) request {
		if cursor != "" {
			cursor = "&after=" + url.QueryEscape(cursor)
		}
		return get("/v1/conversations/here/items?limit=2&order=" + order + cursor)
	}
}
