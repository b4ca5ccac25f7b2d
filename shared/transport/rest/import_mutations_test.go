package rest_test

import (
	"encoding/json"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/rethread/rethread/infra/test/mutate"
	"github.com/rethread/rethread/infra/test/property"
)

// document is an exported session that has every kind of content.
func document(t *testing.T, s *system) string {
	t.Helper()
	s.mustCreate(t, alice, `{"id":"s","name":"All","state":{"a":1,"user:b":"x","app:c":[]},"metadata":{"k":"v"}}`)
	file := func(name, invocation, body string) {
		r := request{user: alice, method: http.MethodPut, path: "/sessions/s/artifacts/" + name + "?invocation_id=" + invocation, body: body}
		s.must(t, http.StatusCreated, r.with("Content-Type", "text/plain; charset=utf-8"))
	}
	s.mustAppend(t, "s", said("i1", "one"), `{"id":"own","invocation_id":"i1","author":"agent","content":{"parts":[{"text":"two"}]},"actions":{"state_delta":{"a":2}}}`)
	file("file", "i1", "first")
	s.mustAppend(t, "s", said("i2", "three"), said("i3", "four"))
	file("file", "i2", "second")
	file("user:mine", "i2", "shared")
	s.must(t, http.StatusOK, post(alice, "/sessions/s/rewind", `{"rewind_before_invocation_id":"i2"}`))
	s.mustAppend(t, "s", said("i4", "five"))
	s.must(t, http.StatusCreated, post(alice, "/sessions/s/tasks", `{"task_id":"t","user_message":"one","message_bubbles":[{"id":"b","type":"user","text":"one","metadata":{"kagent_invocation_id":"i1"}}],"task_metadata":{"status":"completed"}}`))
	s.must(t, http.StatusAccepted, post(alice, "/feedback", `{"taskId":"t","sessionId":"s","feedbackType":"up","feedbackText":"good"}`))
	s.must(t, http.StatusAccepted, post(alice, "/sessions/s/runs", `{"input":[{"content":{"parts":[{"text":"six"}]}}],"agent":"data_analyst","mode":"external"}`))
	runs := decode[one[struct {
		Run struct{ ID string } `json:"run"`
	}]](t, s.must(t, http.StatusAccepted, post(alice, "/sessions/s/runs", `{"input":[{"content":{"parts":[{"text":"seven"}]}}],"agent":"data_analyst","mode":"external","on_active":"cancel_and_merge"}`)))
	s.must(t, http.StatusOK, patch(alice, "/sessions/s/runs/"+runs.Data.Run.ID, `{"status":"failed","error":{"code":"x","message":"no"}}`))
	return string(s.must(t, http.StatusOK, get(alice, "/sessions/s/export")).body)
}

// leaves returns the strings of a document, by pointer, and the names of its
// members.
func leaves(v any, at string, visit func(pointer string, set func(text string))) {
	switch v := v.(type) {
	case map[string]any:
		for name, member := range v {
			if _, ok := member.(string); ok {
				visit(at+"/"+name, func(text string) { v[name] = text })
			}
			visit(at+"/"+name+" (its name)", func(text string) {
				delete(v, name)
				v[text] = member
			})
			leaves(member, at+"/"+name, visit)
		}
	case []any:
		for i, item := range v {
			if _, ok := item.(string); ok {
				visit(fmt.Sprint(at, "/", i), func(text string) { v[i] = text })
			}
			leaves(item, fmt.Sprint(at, "/", i), visit)
		}
	}
}

// An archive with any string or name replaced is either imported or refused
// with a pointer, and what was imported can be read.
func TestImportedMutations(t *testing.T) {
	t.Parallel()
	s := newSystem(t)
	whole := document(t, s)
	random := property.Rand(t, 1)
	var long strings.Builder
	for long.Len() < 600<<10 { // above an item's limit, even when compressed
		fmt.Fprintf(&long, "%x", random.Uint64())
	}
	bodies := map[string]string{}
	var root any
	if err := json.Unmarshal([]byte(whole), &root); err != nil {
		t.Fatal(err)
	}
	var pointers []string
	leaves(root, "", func(pointer string, _ func(string)) { pointers = append(pointers, pointer) })
	slices.Sort(pointers)
	for n, pointer := range pointers {
		if strings.HasPrefix(pointer, "/events/") && n%8 != 0 {
			continue // similar to others
		}
		texts := []string{long.String(), "\r\nX: y", "", "\x00", "a/b?c#d", "ü\u2028"}
		texts = texts[n%len(texts):][:1]
		if !strings.HasPrefix(pointer, "/events/") && texts[0] != long.String() && n%2 == 0 {
			texts = append(texts, long.String()[:500<<10])
		}
		for i, text := range texts {
			var copied any
			if err := json.Unmarshal([]byte(whole), &copied); err != nil {
				t.Fatal(err)
			}
			leaves(copied, "", func(p string, set func(string)) {
				if p == pointer {
					defer set(text)
				}
			})
			raw, err := json.Marshal(copied)
			if err != nil {
				t.Fatal(err)
			}
			bodies[fmt.Sprint(pointer, " ", i)] = string(raw)
		}
	}
	for i := range 40 {
		body, err := mutate.JSON(random, []byte(whole))
		if err != nil {
			t.Fatal(err)
		}
		bodies[fmt.Sprint("mutation ", i)] = body
	}
	refused, n := 0, 0
	for name, body := range bodies {
		n++
		id := fmt.Sprint("import-", n)
		got := s.do(t, post(alice, "/sessions/import?id="+id, body))
		if got.status >= 500 || !utf8.Valid(got.body) || got.status >= 400 && goErrorWords.Match(got.body) {
			t.Errorf("%s: got %d %.400s\nlog: %.400s", name, got.status, got.body, s.log)
		}
		s.log.Reset()
		if got.status != http.StatusCreated {
			refused++
			s.must(t, http.StatusNotFound, get(alice, "/sessions/"+id))
			continue
		}
		for _, path := range []string{"/events?view=all", "/tasks"} {
			if got := s.do(t, get(alice, "/sessions/"+id+path)); got.status != http.StatusOK && got.status != http.StatusNotFound {
				t.Errorf("%s: %s is answered %d %.300s\nlog: %.400s", name, path, got.status, got.body, s.log)
			}
		}
		s.must(t, http.StatusNoContent, del(alice, "/sessions/"+id))
	}
	t.Logf("%d documents, %d refused", n, refused)
	if n < 200 || refused < 80 {
		t.Errorf("%d documents, %d refused", n, refused)
	}
}

// Content that does not fit into a key, an item or a header is refused with a
// pointer, and nothing of the import is stored.
func TestImportBadInput(t *testing.T) {
	t.Parallel()
	s := newSystem(t)
	version := func(more string) string { return `{"name":"file","size":0,"created_time":1,"data":""` + more + `}` }
	task := `{"task_id":"t","message_bubbles":[],"created_time":1,"updated_time":1,"place":1,"first":"` + strings.Repeat("x", 129) + `"}`
	for pointer, members := range map[string]string{
		"/artifacts/1/version":           `"artifacts":[` + version(`,"version":0`) + `,` + version(`,"version":0`) + `]`,
		"/artifacts/0/mime_type":         `"artifacts":[` + version(`,"version":0,"mime_type":"text/plain\r\nX-Evil: 1"`) + `]`,
		"/tasks/0/first":                 `"tasks":[` + task + `]`,
		"/feedback/0/task_id":            `"feedback":[{"task_id":"` + strings.Repeat("x", 2000) + `","type":"up","created_time":1}]`,
		"/state/session/a":               `"state":{"session":{"a":"\ud800"},"user":{},"app":{},"artifacts":{}}`,
		"/session/name":                  `"x":1,"session":{"id":"s","name":"` + strings.Repeat("x", 300) + `","status":"idle","metadata":{},"head_seq":0,"epoch":0}`,
		"/events/0/_log/began":           `"events":[{"id":"e","seq":1,"invocation_id":"i","author":"u","created_time":1,"_log":{"began":"` + strings.Repeat("x", 2000) + `"}}]`,
		"/artifacts/0/name":              `"artifacts":[{"name":"` + strings.Repeat("é", 129) + `","version":0,"size":0,"created_time":1,"data":""}]`,
		"/events/0/invocation_id":        `"events":[{"id":"e","seq":1,"invocation_id":"` + strings.Repeat("x", 129) + `","author":"u","created_time":1}]`,
		"/events/0/content/parts/0/text": `"events":[{"id":"e","seq":1,"invocation_id":"i","author":"u","content":{"parts":[{"text":"\udfff"}]},"created_time":1}]`,
	} {
		head := `{"format":"rethread.session/1","session":{"id":"s","status":"idle","metadata":{},"head_seq":1,"epoch":0},"timeline":[{"from":1}],`
		got := s.do(t, post(alice, "/sessions/import?id=in", head+members+`}`))
		if got.status != http.StatusBadRequest && got.status != http.StatusUnprocessableEntity || !strings.Contains(string(got.body), `"`+pointer+`"`) {
			t.Errorf("%s: %d %.300s", pointer, got.status, got.body)
		}
	}
	for header, value := range map[string]string{
		"Idempotency-Key": strings.Repeat("x", 256), "idempotency-key": "half \xed\xa0\x80", "Content-Type": "text/\xff",
	} {
		got := s.mustRefuse(t, http.StatusBadRequest, "", post(alice, "/sessions", `{}`).with(header, value))
		if !strings.Contains(strings.ToLower(fmt.Sprint(got["detail"])), strings.ToLower(header)) {
			t.Errorf("%s: %v", header, got)
		}
	}
}
