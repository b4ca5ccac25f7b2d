package openresponses_test

import (
	"fmt"
	"net/http"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/rethread/rethread/infra/test/frontendtest"
)

func after(response object) string {
	return `,"previous_response_id":"` + response["id"].(string) + `"`
}

func (r rig) mustShow(t *testing.T, of object, want ...string) {
	t.Helper()
	if got := r.Users(t, conversationOf(of)); !slices.Equal(got, want) {
		t.Errorf("the conversation shows %v, want %v", got, want)
	}
}

func TestPrevious(t *testing.T) {
	t.Parallel()
	t.Run("continues the newest response in its conversation", func(t *testing.T) {
		t.Parallel()
		r := newRig(t)
		first := r.said(t, `"input":"one"`, "1")
		second := r.said(t, `"input":"two"`+after(first), "2")
		if conversationOf(second) != conversationOf(first) || second["previous_response_id"] != first["id"] {
			t.Errorf("got %v after %v", second, first)
		}
		r.mustShow(t, second, "one", "two")
	})
	t.Run("forks the conversation after an older response, which stays readable", func(t *testing.T) {
		t.Parallel()
		r := newRig(t)
		first := r.said(t, `"input":"one"`, "1")
		second := r.said(t, `"input":"two"`+after(first), "2")
		r.said(t, `"input":"three"`+after(second), "3")
		other := r.said(t, `"input":"other"`+after(first), "o")
		if conversationOf(other) == conversationOf(first) {
			t.Error("it is the same conversation")
		}
		r.mustShow(t, other, "one", "other")
		r.mustShow(t, first, "one", "two", "three")
		r.mustShow(t, r.said(t, `"input":"more"`+after(other), "m"), "one", "other", "more")
		if text(r.response(t, second["id"])) != "2" {
			t.Error("the older response has changed")
		}
	})
	t.Run("rewinds the conversation if asked, and undoes that again", func(t *testing.T) {
		t.Parallel()
		r := newRig(t)
		const rewind = `,"rethread":{"on_divergence":"rewind"}`
		first := r.said(t, `"input":"one"`, "1")
		second := r.said(t, `"input":"two"`+after(first), "2")
		other := r.said(t, `"input":"other"`+after(first)+rewind, "o")
		if conversationOf(other) != conversationOf(first) {
			t.Error("it is another conversation")
		}
		r.mustShow(t, first, "one", "other")
		if text(r.response(t, second["id"])) != "2" {
			t.Error("the hidden response cannot be read")
		}
		r.said(t, `"input":"three"`+after(second)+rewind, "3")
		r.mustShow(t, first, "one", "two", "three")
		r.mustShow(t, r.said(t, `"input":"fork"`+after(other), "f"), "one", "other", "fork")
	})
	t.Run("refuses an older response if asked", func(t *testing.T) {
		t.Parallel()
		r := newRig(t)
		first := r.said(t, `"input":"one"`, "1")
		r.said(t, `"input":"two"`+after(first), "2")
		s := r.post(t, `"input":"x","rethread":{"on_divergence":"reject"}`+after(first))
		mustRefuse(t, s, 409, "previous_response_id", "conversation_has_gone_on")
		if s.Header.Get("X-Should-Retry") != "false" {
			t.Error("an SDK would repeat the request")
		}
	})
	t.Run("a failed response is tried again from the one before it", func(t *testing.T) {
		t.Parallel()
		r := newRig(t)
		first := r.said(t, `"input":"one"`, "1")
		failed := r.begin(t, `"input":"two"`+after(first))
		r.Work(t).Fail(t, "agent_failed")
		second := r.said(t, `"input":"again"`+after(first), "2")
		if conversationOf(second) != conversationOf(first) {
			t.Error("it is another conversation")
		}
		r.mustShow(t, second, "one", "again")
		if got := r.response(t, failed["id"]); got["status"] != "failed" {
			t.Errorf("got %v", got)
		}
	})
	t.Run("a response in progress is continued as asked", func(t *testing.T) {
		t.Parallel()
		r := newRig(t)
		first := r.begin(t, `"input":"one"`)
		r.Work(t)
		busy := r.post(t, `"input":"two"`+after(first))
		mustRefuse(t, busy, 409, nil, "conversation_busy")
		queued := r.begin(t, `"input":"two","rethread":{"on_active":"enqueue"}`+after(first))
		if got := r.response(t, queued["id"]); queued["status"] != "queued" || got["status"] != "queued" || got["previous_response_id"] != first["id"] {
			t.Errorf("got %v, then %v", queued, got)
		}
		merged := r.begin(t, `"input":"three","rethread":{"on_active":"cancel_and_merge"}`+after(first))
		r.Work(t).Complete(t, `{"text":"all"}`, nil)
		if r.response(t, first["id"])["status"] != "cancelled" || r.response(t, merged["id"])["status"] != "completed" {
			t.Error("the run was not replaced")
		}
		r.mustShow(t, merged, "one", "two", "three")
	})
}

// Two callers continue from the same response. Whatever the other one does before the
// first begins its run, both are answered: one in the conversation, one in a fork.
func TestPrevious_race(t *testing.T) {
	t.Parallel()
	cases := 0
	for name, rival := range map[string]func(t *testing.T, r rig, first object) object{
		"while the other's run is in progress": func(t *testing.T, r rig, first object) object {
			t.Helper()
			return r.begin(t, `"input":"rival"`+after(first))
		},
		"after the other's run": func(t *testing.T, r rig, first object) object {
			t.Helper()
			return r.said(t, `"input":"rival"`+after(first), "r")
		},
		"after the other's run, which had a history": func(t *testing.T, r rig, first object) object {
			t.Helper()
			return r.said(t, `"input":[{"role":"assistant","content":"a"},{"role":"user","content":"rival"}]`+after(first), "r")
		},
	} {
		for _, own := range []string{
			`"input":"own"`, `"input":[{"role":"assistant","content":"a"},{"role":"user","content":"own"}]`,
		} {
			cases++
			t.Run(name, func(t *testing.T) {
				t.Parallel()
				r := newRig(t)
				first := r.said(t, `"input":"one"`, "1")
				var other object
				r.onStart(func() { other = rival(t, r, first) })
				got := r.begin(t, own+after(first))
				in, out := conversationOf(got), conversationOf(other)
				if in == out || in != conversationOf(first) && out != conversationOf(first) {
					t.Fatalf("the answers are in %s and %s, the first one in %s", in, out, conversationOf(first))
				}
				r.mustShow(t, got, "one", "own")
				r.mustShow(t, other, "one", "rival")
			})
		}
	}
	t.Run("many at once", func(t *testing.T) {
		t.Parallel()
		const callers = 6
		r := newRig(t)
		first := r.said(t, `"input":"one"`, "1")
		answers := make([]*frontendtest.Stream, callers)
		var racing sync.WaitGroup
		for i := range callers {
			racing.Go(func() { answers[i] = r.post(t, `"input":"own","background":true`+after(first)) })
		}
		racing.Wait()
		in := map[string]int{}
		for _, s := range answers {
			got := answer(t, s)
			in[conversationOf(got)]++
			r.mustShow(t, got, "one", "own")
		}
		if len(in) != callers || in[conversationOf(first)] != 1 {
			t.Errorf("the answers are in %v, the first one in %s", in, conversationOf(first))
		}
	})
	t.Logf("%d interleavings", cases)
}

func TestConversation(t *testing.T) {
	t.Parallel()
	t.Run("takes items, responses and metadata, and lists its items", func(t *testing.T) {
		t.Parallel()
		r := newRig(t)
		created := answer(t, r.Call(t, "alice", http.MethodPost, "/v1/conversations",
			`{"metadata":{"a":"b"},"items":[{"role":"system","content":"Be kind."},{"role":"user","content":"zero"},{"role":"assistant","content":"0"}]}`))
		id := created["id"].(string)
		got := r.begin(t, `"input":"one","conversation":"`+id+`"`)
		w := r.Work(t)
		if first := r.events(t, id)[0]; !strings.Contains(string(first.Fields["content"]), `"role":"system"`) || conversationOf(got) != id {
			t.Errorf("the agent gets %s, in %v", first.Fields["content"], got)
		}
		w.Complete(t, `{"text":"think","thought":true},{"text":"1"},{"inline_data":{"mime_type":"image/png","data":"AAAA"}}`, nil)
		added := answer(t, r.Call(t, "alice", http.MethodPost, "/v1/conversations/"+id+"/items",
			`{"items":[{"role":"user","content":[{"type":"input_image","image_url":"https://example.com/a.png?x"}]}]}`))
		want := []string{
			"message system", "message user", "message assistant", "message user", "reasoning", "message assistant",
			"rethread:file", "message user",
		}
		for _, limit := range []string{"1", "2", "3", "100"} {
			if got := r.list(t, "conversations/"+id+"/items?order=asc&limit="+limit); !slices.Equal(got, want) {
				t.Errorf("got %q", got)
			}
			back := slices.Clone(want)
			slices.Reverse(back)
			if got := r.list(t, "conversations/"+id+"/items?limit="+limit); !slices.Equal(got, back) {
				t.Errorf("in reverse: %q", got)
			}
		}
		item := added["data"].([]any)[0].(object)
		if got := answer(t, r.get(t, "conversations/"+id+"/items/"+item["id"].(string))); mustText(t, got) != mustText(t, item) {
			t.Errorf("got %v, want %v", got, item)
		}
		for _, produced := range r.response(t, got["id"])["output"].([]any) {
			item := produced.(object)
			if got := answer(t, r.get(t, "conversations/"+id+"/items/"+item["id"].(string))); mustText(t, got) != mustText(t, item) {
				t.Errorf("got %v, want %v", got, item)
			}
		}
		changed := answer(t, r.Call(t, "alice", http.MethodPost, "/v1/conversations/"+id, `{"metadata":{"c":"d"}}`))
		if mustText(t, changed["metadata"]) != `{"c":"d"}` || mustText(t, created["metadata"]) != `{"a":"b"}` {
			t.Errorf("got %v", changed)
		}
		mustRefuse(t, r.Call(t, "alice", http.MethodDelete, "/v1/conversations/"+id+"/items/"+item["id"].(string), ""), 400, "item_id", "unsupported_parameter")
		mustRefuse(t, r.Call(t, "alice", http.MethodDelete, "/v1/responses/"+got["id"].(string), ""), 400, "response_id", "unsupported_parameter")
		if deleted := answer(t, r.Call(t, "alice", http.MethodDelete, "/v1/conversations/"+id, "")); deleted["deleted"] != true {
			t.Errorf("got %v", deleted)
		}
		mustRefuse(t, r.get(t, "responses/"+got["id"].(string)), 404, nil, nil)
	})
	t.Run("appends to the end whoever was there before, and is busy during a run", func(t *testing.T) {
		t.Parallel()
		r := newRig(t)
		first := r.said(t, `"input":"one"`, "1")
		in := `,"conversation":{"id":"` + conversationOf(first) + `"}`
		r.begin(t, `"input":"two"`+in)
		w := r.Work(t)
		mustRefuse(t, r.post(t, `"input":"three"`+in), 409, nil, "conversation_busy")
		w.Complete(t, `{"text":"2"}`, nil)
		r.mustShow(t, r.said(t, `"input":"three"`+in, "3"), "one", "two", "three")
	})
}

// list reads all pages of a list and returns the types and roles of its items.
func (r rig) list(t *testing.T, path string) []string {
	t.Helper()
	var out []string
	next := ""
	for {
		page := answer(t, r.get(t, path+next))
		for _, item := range page["data"].([]any) {
			kind := item.(object)["type"].(string)
			if role, ok := item.(object)["role"].(string); ok {
				kind += " " + role
			}
			out = append(out, kind)
		}
		if page["has_more"] != true {
			return out
		}
		next = "&after=" + page["last_id"].(string)
	}
}

func TestInputItems(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	got := r.said(t, `"input":[{"role":"system","content":"s"},{"role":"user","content":"a"},`+
		`{"type":"reasoning","summary":[{"type":"summary_text","text":"hm"}]},{"type":"function_call","call_id":"c","name":"f","arguments":"{}"},`+
		`{"type":"function_call_output","call_id":"c","output":"{\"x\":1}"},{"role":"assistant","content":"b"},`+
		`{"role":"user","content":[{"type":"input_text","text":"c"},{"type":"input_file","filename":"a.pdf","file_data":"AAAA"}]}]`, "1")
	want := []string{
		"message system", "message user", "reasoning", "function_call", "function_call_output", "message assistant", "message user",
	}
	path := "responses/" + got["id"].(string) + "/input_items?order=asc&limit="
	for _, limit := range []string{"2", "50"} {
		if got := r.list(t, path+limit); !slices.Equal(got, want) {
			t.Errorf("got %q", got)
		}
	}
	mustRefuse(t, r.get(t, path+"0"), 400, "limit", nil)
	own := r.events(t, conversationOf(got))
	if len(own) != 7 {
		t.Errorf("the session has %d events", len(own))
	}
}

// A response begins between two pages of its input: the pages together have each item once.
func TestInputItems_of_a_response_that_begins(t *testing.T) {
	t.Parallel()
	cases := 0
	for name, order := range map[string]string{"the oldest first": "asc", "the newest first": "desc"} {
		for begins := range 5 { // after that many pages of one item
			cases++
			t.Run(fmt.Sprint(name, ", after pages: ", begins), func(t *testing.T) {
				t.Parallel()
				r := newRig(t)
				first := r.begin(t, `"input":"one"`)
				queued := r.begin(t, `"input":[{"role":"system","content":"s"},{"role":"user","content":"a"},`+
					`{"role":"assistant","content":"b"},{"role":"user","content":"c"}],"rethread":{"on_active":"enqueue"}`+after(first))
				path := "responses/" + queued["id"].(string) + "/input_items?limit=1&order=" + order
				var got []string
				for next := ""; len(got) < 5; {
					if len(got) == begins {
						r.Work(t).Complete(t, `{"text":"1"}`, nil)
						r.StartQueued(t, conversationOf(first))
					}
					page := answer(t, r.get(t, path+next))
					for _, item := range page["data"].([]any) {
						got = append(got, item.(object)["content"].([]any)[0].(object)["text"].(string))
					}
					if page["has_more"] != true {
						break
					}
					next = "&after=" + page["last_id"].(string)
				}
				want := []string{"s", "a", "b", "c"}
				if order == "desc" {
					slices.Reverse(want)
				}
				if !slices.Equal(got, want) {
					t.Errorf("the pages have %q, want %q", got, want)
				}
			})
		}
	}
	if cases < 10 {
		t.Errorf("%d cases, want 10", cases)
	}
}

func TestModels(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	if got := answer(t, r.get(t, "models")); len(got["data"].([]any)) != 2 {
		t.Errorf("got %v", got)
	}
	for _, name := range []string{"helper", "team~writer", "team%2Fwriter"} {
		if got := answer(t, r.get(t, "models/"+name)); got["object"] != "model" {
			t.Errorf("got %v", got)
		}
	}
	mustRefuse(t, r.get(t, "models/nobody"), 404, "model", "model_not_found")
}
