package entrances_test

import (
	"encoding/json"
	"fmt"
	"maps"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"testing"
)

// list is a list of one of the entrances.
type list struct {
	// add adds the entry with a number, del deletes it; nil if entries of the list stay.
	add, del func(t *testing.T, s *system, n int)
	// page is the request of a page of two entries after a cursor, "" for the first one.
	page func(cursor string) request
	// items and next are where the page has its entries and the next cursor.
	items, next []string
	// id is where an entry has its id, which ends with the number.
	id []string
	// newest lists begin with the entry added last; made ones have any order, because ids
	// are random.
	newest, made bool
	// cuts says that del is a rewind, which hides what follows the entry, too; closed that the
	// list has what it had when it was made, whatever is added or deleted.
	cuts, closed bool
}

// firstEntry is the number of the first entry of a list.
const firstEntry = 10

// at returns the value at a path, of members and of indices of arrays; nil if there is none.
func at(v any, path ...string) any {
	for _, name := range path {
		if all, ok := v.([]any); ok {
			n, err := strconv.Atoi(name)
			if err != nil || n >= len(all) {
				return nil
			}
			v = all[n]
			continue
		}
		of, _ := v.(map[string]any)
		v = of[name]
	}
	return v
}

// paged is the request of a page of REST.
func paged(path string) func(string) request {
	return func(cursor string) request {
		sep := "?"
		if strings.Contains(path, "?") {
			sep = "&"
		}
		if cursor != "" {
			cursor = "&cursor=" + url.QueryEscape(cursor)
		}
		return get(path + sep + "limit=2" + cursor)
	}
}

// tool is the request of a page of a tool of MCP.
func tool(name, args string) func(string) request {
	return func(cursor string) request {
		return rpc("/mcp", "tools/call", fmt.Sprintf(`{"name":%q,"arguments":{%s"limit":2,"cursor":%q}}`, name, args, cursor))
	}
}

func lists() map[string]list {
	const here = "/api/v1/sessions/here"
	restItems, restNext := []string{"data"}, []string{"meta", "next_cursor"}
	addSession := func(t *testing.T, s *system, n int) {
		t.Helper()
		s.must(t, http.StatusCreated, post("/api/v1/sessions", fmt.Sprintf(`{"id":"list-%d","name":"word"}`, n)))
	}
	delSession := func(t *testing.T, s *system, n int) {
		t.Helper()
		s.must(t, http.StatusNoContent, del(fmt.Sprintf("/api/v1/sessions/list-%d", n)))
	}
	addEvent := func(t *testing.T, s *system, n int) {
		t.Helper()
		s.must(t, http.StatusCreated, post(here+"/events", fmt.Sprintf(
			`{"events":[{"id":"e-%d","invocation_id":"i-%d","author":"user","content":{"role":"user","parts":[{"text":"x"}]}}]}`, n, n)))
	}
	addTask := func(t *testing.T, s *system, n int) {
		t.Helper()
		s.must(t, http.StatusCreated, post(here+"/tasks", fmt.Sprintf(`{"task_id":"t-%d","message_bubbles":[{"id":"b-%d","type":"agent","text":"x"}]}`, n, n)))
	}
	delTask := func(t *testing.T, s *system, n int) {
		t.Helper()
		s.must(t, http.StatusNoContent, del(fmt.Sprintf(here+"/tasks/t-%d", n)))
	}
	addArtifact := func(t *testing.T, s *system, n int) {
		t.Helper()
		s.must(t, http.StatusCreated, put(fmt.Sprintf(here+"/artifacts/a-%d", n)))
	}
	delArtifact := func(t *testing.T, s *system, n int) {
		t.Helper()
		s.must(t, http.StatusNoContent, del(fmt.Sprintf(here+"/artifacts/a-%d", n)))
	}
	delBy := func(path string) func(*testing.T, *system, int) {
		return func(t *testing.T, s *system, n int) {
			t.Helper()
			s.must(t, http.StatusNoContent, del(path+"/"+s.made[n]))
		}
	}
	addBy := func(path, body string) func(*testing.T, *system, int) {
		return func(t *testing.T, s *system, n int) {
			t.Helper()
			made := s.must(t, http.StatusCreated, post(path, strings.ReplaceAll(body, "NUMBER", strconv.Itoa(n))))
			s.made[n] = decode[struct{ Data struct{ ID string } }](t, made).Data.ID
		}
	}
	return map[string]list{
		"webhooks": {
			add: addBy("/api/v1/webhooks", `{"url":"https://example.com/NUMBER","types":["run.completed"]}`), del: delBy("/api/v1/webhooks"),
			page: paged("/api/v1/webhooks"), items: restItems, next: restNext, id: []string{"url"}, made: true,
		},
		"automations": {
			add: addBy("/api/v1/automations", `{"name":"NUMBER","on":{"types":["run.completed"]},"do":{"agent":"helper","input":"x"}}`), del: delBy("/api/v1/automations"),
			page: paged("/api/v1/automations"), items: restItems, next: restNext, id: []string{"name"}, made: true,
		},
		"shares": {
			add: addBy(here+"/shares", `{"access":"read","user_id":"guest-NUMBER"}`), del: delBy(here + "/shares"),
			page: paged(here + "/shares"), items: restItems, next: restNext, id: []string{"user_id"}, made: true,
		},
		"sessions": {add: addSession, del: delSession, page: paged("/api/v1/sessions"), items: restItems, next: restNext, id: []string{"id"}, newest: true},
		"a search of sessions": {
			add: addSession, del: delSession, page: paged("/api/v1/sessions?q=word"), items: restItems, next: restNext, id: []string{"id"}, newest: true,
		},
		"sessions of MCP": {
			add: addSession, del: delSession, page: tool("list_sessions", ""), newest: true,
			items: []string{"result", "structuredContent", "sessions"}, next: []string{"result", "structuredContent", "next_cursor"}, id: []string{"id"},
		},
		"events":         {add: addEvent, page: paged(here + "/events"), items: restItems, next: restNext, id: []string{"id"}},
		"events, newest": {add: addEvent, page: paged(here + "/events?order=desc"), items: restItems, next: restNext, id: []string{"id"}, newest: true},
		"a thread":       {add: addEvent, page: paged(here + "/thread"), items: []string{"data", "items"}, next: restNext, id: []string{"id"}},
		"events of MCP":  {add: addEvent, page: tool("read_session", `"session_id":"here",`), items: []string{"result", "structuredContent", "events"}, next: []string{"result", "structuredContent", "next_cursor"}, id: []string{"id"}},
		"tasks":          {add: addTask, del: delTask, page: paged(here + "/tasks"), items: []string{"tasks"}, next: []string{"next_cursor"}, id: []string{"task_id"}},
		"messages":       {add: addTask, del: delTask, page: paged(here + "/messages"), id: []string{"id"}},
		"artifacts":      {add: addArtifact, del: delArtifact, page: paged(here + "/artifacts"), items: restItems, next: restNext, id: []string{"name"}},
		"tasks over A2A": {add: addTaskOfA2A, del: delSession, newest: true, page: listTasks, items: []string{"result", "tasks"}, next: []string{"result", "nextPageToken"}, id: []string{"contextId"}},
	}
}

// addTaskOfA2A begins a task in a context of its own. No worker takes it, so it fails.
func addTaskOfA2A(t *testing.T, s *system, n int) {
	t.Helper()
	body := s.must(t, http.StatusOK, rpc("/a2a/helper", "SendMessage", fmt.Sprintf(
		`{"message":{"messageId":"m","role":"ROLE_USER","contextId":"list-%d","parts":[{"text":"x"}]}}`, n)))
	if !strings.Contains(body, "worker") {
		t.Fatalf("a task ends with %s", body)
	}
}

func listTasks(cursor string) request {
	return rpc("/a2a/helper", "ListTasks", fmt.Sprintf(`{"pageSize":2,"pageToken":%q}`, cursor))
}

// read reads a page: the numbers of its entries, and the next cursor.
func (l list) read(t *testing.T, s *system, cursor string) (numbers []int, next string) {
	t.Helper()
	var page any
	body := s.must(t, http.StatusOK, l.page(cursor))
	if err := json.Unmarshal([]byte(body), &page); err != nil {
		t.Fatal(err)
	}
	items, ok := at(page, l.items...).([]any)
	if whole, is := page.([]any); is { // the next cursor is in the header Link
		items, ok = whole, true
		if _, of, found := strings.Cut(s.link, "cursor="); found {
			next = of[:strings.IndexAny(of+">", "&>")]
		}
	}
	if !ok {
		t.Fatalf("no entries in %s", body)
	}
	for _, item := range items {
		if n, ok := at(item, l.id...).(float64); ok { // counted by the list
			numbers = append(numbers, firstEntry+int(n))
			continue
		}
		id, _ := at(item, l.id...).(string)
		var n int
		if _, err := fmt.Sscanf(id[strings.IndexAny(id+"0", "0123456789"):], "%d", &n); err == nil {
			numbers = append(numbers, n)
		}
	}
	if after, ok := at(page, l.next...).(string); ok {
		next = after
	}
	if at(page, "has_more") == false {
		next = ""
	}
	return numbers, next
}

// Between two pages an entry is added and one that was read is deleted: the rest of the
// list is read without a repetition and without a gap.
func TestLists_go_on_where_a_page_ended(t *testing.T) {
	cases, all := 0, lists()
	maps.Copy(all, listsWithin())
	for name, l := range all {
		for _, change := range []string{"an insertion", "a deletion", "both"} {
			if l.del == nil && change != "an insertion" {
				continue
			}
			cases++
			t.Run(name+", "+change, func(t *testing.T) {
				s := newSystem(t)
				s.must(t, http.StatusCreated, post("/api/v1/sessions", `{"id":"here","agent":"other"}`))
				for n := firstEntry; n < 17; n++ {
					l.add(t, s, n)
				}
				got, next := l.read(t, s, "")
				if len(got) == 0 || next == "" {
					t.Fatalf("the first page has %v and the cursor %q", got, next)
				}
				if change != "an insertion" {
					l.del(t, s, got[0])
				}
				if change != "a deletion" {
					l.add(t, s, 17)
				}
				for next != "" {
					var more []int
					more, next = l.read(t, s, next)
					got = append(got, more...)
				}
				if l.made {
					slices.Sort(got)
					got = slices.DeleteFunc(got, func(n int) bool { return n == 17 }) // before or after the first page
				}
				if want := l.want(change); !slices.Equal(got, want) {
					t.Errorf("read %v, want %v", got, want)
				}
			})
		}
	}
	if cases < 61 {
		t.Errorf("%d cases, want 61", cases)
	}
}

// want returns the entries of a list of which one page was read before a change.
func (l list) want(change string) []int {
	want := []int{10, 11, 12, 13, 14, 15, 16}
	if l.newest {
		slices.Reverse(want)
		return want
	}
	if l.cuts && change != "an insertion" {
		want = want[:2]
	}
	if !l.made && !l.closed && change != "a deletion" {
		want = append(want, 17)
	}
	return want
}
