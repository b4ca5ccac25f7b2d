package mcp_test

import (
	"fmt"
	"net/http"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/uuid"

	"github.com/rethread/rethread/infra/test/storetest"
	"github.com/rethread/rethread/shared/domain/session"
	"github.com/rethread/rethread/shared/store/table"
)

type sessionPage struct {
	Sessions []session.Session
	Next     string `json:"next_cursor"`
}

type event struct {
	Seq        int64
	ID         string
	Invocation string `json:"invocation_id"`
	Content    object
	Omitted    int `json:"omitted_bytes"`
}

func (e event) said() string {
	parts, _ := e.Content["parts"].([]any)
	if len(parts) == 0 {
		return ""
	}
	part, _ := parts[0].(object)
	said, _ := part["text"].(string)
	return said
}

type eventPage struct {
	Events []event
	Next   string `json:"next_cursor"`
}

func ids(page sessionPage) (out []string) {
	for _, s := range page.Sessions {
		out = append(out, s.ID)
	}
	return out
}

func TestList(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	for _, id := range []string{"a", "b", "c"} {
		r.create(t, alice, id, "hello")
	}
	r.create(t, bob, "his")
	c := r.connect(t, alice)
	t.Run("pages of the caller's own sessions, the newest activity first", func(t *testing.T) {
		t.Parallel()
		first := must[sessionPage](t, c, "list_sessions", object{"limit": 2})
		second := must[sessionPage](t, c, "list_sessions", object{"limit": 2, "cursor": first.Next})
		if diff := cmp.Diff([]string{"c", "b", "a"}, append(ids(first), ids(second)...)); diff != "" || second.Next != "" {
			t.Errorf("(-want +got)\n%s%v", diff, second)
		}
	})
	t.Run("finds a part of the name", func(t *testing.T) {
		t.Parallel()
		if got := ids(must[sessionPage](t, c, "search_sessions", object{"query": "session B"})); !cmp.Equal(got, []string{"b"}) {
			t.Errorf("found %v", got)
		}
	})
	t.Run("finds what was said", func(t *testing.T) {
		t.Parallel()
		first := must[sessionPage](t, c, "search_sessions", object{"query": "HELL", "in": "messages", "limit": 1})
		rest := must[sessionPage](t, c, "search_sessions", object{"query": "HELL", "in": "messages", "cursor": first.Next})
		if diff := cmp.Diff([]string{"c", "b", "a"}, append(ids(first), ids(rest)...)); diff != "" || rest.Next != "" {
			t.Fatalf("(-want +got)\n%s%v", diff, rest)
		}
		if m := first.Sessions[0].Match; m == nil || m.Text != "hello" || m.Seq != 1 || m.EventID == "" {
			t.Errorf("the match is %+v", m)
		}
		if got := must[sessionPage](t, c, "search_sessions", object{"query": "session", "in": "messages"}); len(got.Sessions) > 0 {
			t.Errorf("names were searched: %v", ids(got))
		}
	})
	t.Run("an empty list is a list", func(t *testing.T) {
		t.Parallel()
		got := must[object](t, c, "list_sessions", object{"agent": "nobody"})
		if diff := cmp.Diff(object{"sessions": []any{}, "next_cursor": nil}, got); diff != "" {
			t.Errorf("(-want +got)\n%s", diff)
		}
	})
	for name, test := range map[string]struct {
		tool string
		args object
	}{
		"a limit that is too large": {"list_sessions", object{"limit": 51}},
		"an unknown status":         {"list_sessions", object{"status": "asleep"}},
		"an unknown argument":       {"list_sessions", object{"user_id": bob}},
		"a search for nothing":      {"search_sessions", object{}},
		"a search for no word":      {"search_sessions", object{"query": "!", "in": "messages"}},
		"a search elsewhere":        {"search_sessions", object{"query": "x", "in": "events"}},
		"a forged cursor":           {"list_sessions", object{"cursor": "AAAA"}},
		"an id with a slash":        {"get_session", object{"session_id": "a/b"}},
		"an id that is too long":    {"get_session", object{"session_id": strings.Repeat("x", 129)}},
	} {
		t.Run("refuses "+name, func(t *testing.T) {
			t.Parallel()
			if got := refused(t, c, test.tool, test.args); got["detail"] == "" {
				t.Errorf("got %v", got)
			}
		})
	}
	t.Run("refuses the cursor of another user", func(t *testing.T) {
		t.Parallel()
		first := must[sessionPage](t, c, "list_sessions", object{"limit": 1})
		got := refused(t, r.connect(t, bob), "list_sessions", object{"limit": 1, "cursor": first.Next})
		if got["status"] != float64(http.StatusBadRequest) {
			t.Errorf("got %v", got)
		}
	})
}

// readAll reads all pages, whose events must stay below a number of bytes.
func readAll(t *testing.T, r *rig, args object, most int) (out []event, pages int) {
	t.Helper()
	c := r.connect(t, alice)
	for {
		got := call(t, c, "read_session", args)
		if n := len(text(got)); n > most {
			t.Fatalf("a page has %d bytes", n)
		}
		page := must[eventPage](t, c, "read_session", args)
		out, pages = append(out, page.Events...), pages+1
		if page.Next == "" {
			return out, pages
		}
		args["cursor"] = page.Next
	}
}

func TestRead(t *testing.T) {
	t.Parallel()
	t.Run("a long session is read whole, in pages of some bytes", func(t *testing.T) {
		t.Parallel()
		const turns = 300
		for order, first := range map[string]int{"asc": 0, "desc": turns - 1} {
			t.Run(order, func(t *testing.T) {
				t.Parallel()
				r := newRig(t)
				r.create(t, alice, "long")
				for i := range turns {
					r.say(t, alice, "long", fmt.Sprintf("i%d", i), fmt.Sprintf("%d %s", i, strings.Repeat("<", i%7*200)))
				}
				all, pages := readAll(t, r, object{"session_id": "long", "order": order, "limit": 100, "max_bytes": 8 << 10}, 8<<10+1<<10)
				if len(all) != turns || pages < 20 {
					t.Fatalf("%d events on %d pages", len(all), pages)
				}
				for i, e := range all {
					if want := max(first-i, i-first); e.Invocation != fmt.Sprintf("i%d", want) || !strings.HasPrefix(e.said(), fmt.Sprint(want)) {
						t.Fatalf("event %d is %+v", i, e)
					}
				}
			})
		}
	})
	t.Run("an event larger than a page is shown without its content", func(t *testing.T) {
		t.Parallel()
		r := newRig(t)
		r.create(t, alice, "s", "small", strings.Repeat("large ", 100_000), "after it")
		all, _ := readAll(t, r, object{"session_id": "s"}, 70<<10)
		if len(all) != 3 || all[0].said() != "small" || all[2].said() != "after it" || all[1].Omitted < 600_000 || all[1].Invocation != "i2" {
			t.Errorf("got %+v", all)
		}
	})
	t.Run("the largest page fits into the answer of a function", func(t *testing.T) {
		t.Parallel()
		r := newRig(t)
		r.create(t, alice, "s", strings.Repeat("<", 250<<10))
		all, _ := readAll(t, r, object{"session_id": "s", "max_bytes": 256 << 10}, 256<<10+1<<10)
		if len(all) != 1 || len(all[0].said()) != 250<<10 {
			t.Errorf("got %d events", len(all))
		}
	})
	t.Run("a rewind between two pages makes the cursor invalid", func(t *testing.T) {
		t.Parallel()
		r := newRig(t)
		r.create(t, alice, "s", "one", "two", "three")
		c := r.connect(t, alice)
		for name, limits := range map[string]object{"cut by the limit": {"limit": 1}, "cut by bytes": {"max_bytes": 1 << 10}} {
			for range 2 {
				r.say(t, alice, "s", "x"+uuid.NewString(), strings.Repeat("y", 600))
			}
			limits["session_id"] = "s"
			first := must[eventPage](t, c, "read_session", limits)
			if first.Next == "" {
				t.Fatalf("%s: there is one page", name)
			}
			must[object](t, c, "rewind_session", object{"session_id": "s", "rewind_before_invocation_id": "i3"})
			limits["cursor"] = first.Next
			if got := refused(t, c, "read_session", limits); got["status"] != float64(http.StatusConflict) {
				t.Errorf("%s: got %v", name, got)
			}
		}
	})
	t.Run("an event that cannot be decoded hides no other", func(t *testing.T) {
		t.Parallel()
		r := newRig(t)
		r.create(t, alice, "s", "one", "two", "three")
		spoiled := 0
		for _, item := range storetest.Items(t, r.engine) {
			if strings.HasPrefix(storetest.Text(t, item, table.SK), "E#") && storedSeq(t, r, item) == 2 {
				item["b"] = storetest.S("\x00 is no body")
				storetest.Put(t, r.engine, item)
				spoiled++
			}
		}
		all, _ := readAll(t, r, object{"session_id": "s"}, 70<<10)
		if spoiled != 1 || len(all) == 0 || all[0].said() != "one" || all[len(all)-1].said() != "three" {
			t.Errorf("%d items are spoiled, got %+v", spoiled, all)
		}
		for _, e := range all {
			if e.said() == "two" {
				t.Error("the spoiled event is readable")
			}
		}
	})
}

// storedSeq returns the position of a log entry: the digits in its sort key.
func storedSeq(t *testing.T, _ *rig, item table.Item) (seq int) {
	t.Helper()
	if _, err := fmt.Sscanf(strings.TrimPrefix(storetest.Text(t, item, table.SK), "E#"), "%d", &seq); err != nil {
		t.Fatal(err)
	}
	return seq
}
