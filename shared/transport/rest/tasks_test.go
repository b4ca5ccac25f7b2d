package rest_test

import (
	"bytes"
	_ "embed"
	"encoding/json"
	"fmt"
	"net/http"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// appendixA is the example record of the design on which tasks are based.
//
//go:embed testdata/appendix_a.json
var appendixA []byte

type taskView struct {
	TaskID      string          `json:"task_id"`
	SessionID   string          `json:"session_id"`
	UserMessage json.RawMessage `json:"user_message"`
	Bubbles     json.RawMessage `json:"message_bubbles"`
	Metadata    json.RawMessage `json:"task_metadata"`
	CreatedTime int64           `json:"created_time"`
	UpdatedTime int64           `json:"updated_time"`
}

type taskPage struct {
	Tasks      []taskView `json:"tasks"`
	NextCursor *string    `json:"next_cursor"`
}

// taskJSON returns a task with one bubble.
func taskJSON(id, text string) string {
	return fmt.Sprintf(`{"task_id":%q,"user_message":%q,"message_bubbles":[{"id":"m","type":"user","text":%[2]q}]}`, id, text)
}

func compact(t *testing.T, raw json.RawMessage) string {
	t.Helper()
	var buf bytes.Buffer
	if err := json.Compact(&buf, raw); err != nil {
		t.Fatalf("compact: %v", err)
	}
	return buf.String()
}

func TestTaskIsReturnedByteForByte(t *testing.T) {
	s := newSystem(t)
	s.mustCreate(t, alice, `{"id":"web-session-xyz789"}`)
	var sent map[string]json.RawMessage
	if err := json.Unmarshal(appendixA, &sent); err != nil {
		t.Fatal(err)
	}
	sent["task_id"] = sent["id"]
	odd := `[{"id":"b","type":"agent","text":"<b>&\u003c\/ü\u2028","parts":[{"kind":"data","n":1.0,"big":12345678901234567890}],"zzz":null,"a":{"b":[]}}]`
	for name, fields := range map[string]map[string]json.RawMessage{
		"appendix A": sent,
		"odd spellings": {
			"task_id": json.RawMessage(`"odd"`), "user_message": json.RawMessage(`"\u0041<\/"`),
			"message_bubbles": json.RawMessage(odd), "task_metadata": json.RawMessage(`{ "z": 1e2, "a": "<" }`),
		},
		"nulls": {
			"task_id": json.RawMessage(`"nulls"`), "user_message": json.RawMessage(`null`),
			"message_bubbles": json.RawMessage(odd), "task_metadata": json.RawMessage(`null`),
		},
	} {
		t.Run(name, func(t *testing.T) {
			body := `{"task_id":` + string(fields["task_id"]) + `,"user_message":` + string(fields["user_message"]) +
				`,"message_bubbles": ` + string(fields["message_bubbles"]) + ` ,"task_metadata":` + string(fields["task_metadata"]) + `}`
			got := s.must(t, http.StatusCreated, post(alice, "/sessions/web-session-xyz789/tasks", body))
			saved := decode[taskView](t, got)
			if saved.SessionID != "web-session-xyz789" || saved.CreatedTime == 0 || saved.UpdatedTime < saved.CreatedTime {
				t.Errorf("answer: %s", got.body)
			}
			path := "/sessions/web-session-xyz789/tasks/" + saved.TaskID
			read := decode[map[string]json.RawMessage](t, s.must(t, http.StatusOK, get(alice, path)))
			for _, field := range []string{"task_id", "user_message", "message_bubbles", "task_metadata"} {
				if diff := cmp.Diff(compact(t, fields[field]), string(read[field])); diff != "" {
					t.Errorf("%s (-sent +read):\n%s", field, diff)
				}
			}
		})
	}
}

func TestSaveTask(t *testing.T) {
	s := newSystem(t)
	s.mustCreate(t, alice, `{"id":"s"}`)
	const tasks = "/sessions/s/tasks"

	first := decode[taskView](t, s.must(t, http.StatusCreated, post(alice, tasks, taskJSON("t", "one"))))
	second := decode[taskView](t, s.must(t, http.StatusOK, post(alice, tasks, taskJSON("t", "two"))))
	if second.CreatedTime != first.CreatedTime || second.UpdatedTime < first.UpdatedTime {
		t.Errorf("times: %+v, then %+v", first, second)
	}
	s.must(t, http.StatusCreated, post(alice, tasks, taskJSON("u", "three")))
	s.must(t, http.StatusOK, post(alice, tasks, taskJSON("t", "four")))

	got := s.must(t, http.StatusOK, get(alice, tasks))
	list := decode[taskPage](t, got)
	if len(list.Tasks) != 2 || list.Tasks[0].TaskID != "t" || string(list.Tasks[0].UserMessage) != `"four"` || list.NextCursor != nil {
		t.Errorf("list: %s", got.body)
	}
	if bytes.Contains(got.body, []byte("session_id")) {
		t.Errorf("tasks of a list have no session_id: %s", got.body)
	}
	if string(list.Tasks[0].Metadata) != "null" {
		t.Errorf("metadata that was never sent: %s", list.Tasks[0].Metadata)
	}

	s.must(t, http.StatusNoContent, del(alice, tasks+"/t"))
	if p := s.mustRefuse(t, http.StatusNotFound, "", get(alice, tasks+"/t")); p["detail"] != "Task not found" {
		t.Errorf("detail %q", p["detail"])
	}
	s.mustRefuse(t, http.StatusNotFound, "", del(alice, tasks+"/t"))
	s.mustRefuse(t, http.StatusForbidden, "", get(bob, tasks+"/u"))
	s.mustRefuse(t, http.StatusForbidden, "", post(bob, tasks, taskJSON("u", "x")))
	s.mustRefuse(t, http.StatusNotFound, "", post(alice, "/sessions/no/tasks", taskJSON("u", "x")))
	s.must(t, http.StatusOK, get(alice, "/api/sessions/s/tasks")) // in A2A form
	s.must(t, http.StatusForbidden, get(bob, "/api/sessions/s/tasks"))
	s.must(t, http.StatusNotFound, get(alice, "/api/sessions/no/tasks"))
}

func TestSaveTaskBadInput(t *testing.T) {
	s := newSystem(t)
	s.mustCreate(t, alice, `{"id":"s"}`)
	bubbles := func(items ...string) string {
		return `{"task_id":"t","message_bubbles":[` + strings.Join(items, ",") + `]}`
	}
	bubble := func(members string) string { return bubbles(`{"id":"b","type":"agent",` + members + `}`) }
	with := func(members string) string {
		return `{"task_id":"t","message_bubbles":[{"id":"b","type":"user"}],` + members + `}`
	}
	many := strings.TrimSuffix(strings.Repeat(`{"id":"b","type":"user"},`, 101), ",")
	const at = "/message_bubbles/0"
	for name, c := range map[string]struct {
		body, pointer, detail string
		status                int
	}{
		"no bubbles":                 {`{"task_id":"t"}`, "/message_bubbles", "Invalid request: message_bubbles is required", 400},
		"bubbles empty":              {bubbles(), "/message_bubbles", "message_bubbles cannot be empty", 422},
		"bubbles of a wrong type":    {`{"task_id":"t","message_bubbles":{}}`, "/message_bubbles", "", 400},
		"101 bubbles":                {bubbles(many), "/message_bubbles", "", 422},
		"no task_id":                 {`{"message_bubbles":[]}`, "/task_id", "", 400},
		"task_id empty":              {`{"task_id":"","message_bubbles":[]}`, "/task_id", "", 422},
		"task_id of a wrong type":    {`{"task_id":7,"message_bubbles":[]}`, "/task_id", "", 400},
		"task_id with control":       {`{"task_id":"\u0007","message_bubbles":[]}`, "/task_id", "", 422},
		"task_id in another case":    {`{"TASK_ID":"t","message_bubbles":[]}`, "/task_id", "", 400},
		"bubble of a wrong type":     {bubbles(`"b"`), at, "", 400},
		"bubble without id":          {bubbles(`{"type":"user"}`), at + "/id", "", 400},
		"bubble without type":        {bubbles(`{"id":"b"}`), at + "/type", "", 400},
		"bubble with an empty id":    {bubbles(`{"id":"","type":"user"}`), at + "/id", "", 422},
		"unknown type of bubble":     {bubbles(`{"id":"b","type":"status"}`), at + "/type", "", 422},
		"status bubble":              {bubble(`"isStatusBubble":true`), at + "/isStatusBubble", "", 422},
		"text of a wrong type":       {bubble(`"text":5`), at + "/text", "", 400},
		"text too long":              {bubble(`"text":"` + strings.Repeat("é", 100_001) + `"`), at + "/text", "", 422},
		"parts no array":             {bubble(`"parts":{}`), at + "/parts", "", 400},
		"files no array":             {bubble(`"files":"f"`), at + "/files", "", 400},
		"uploadedFiles no array":     {bubble(`"uploadedFiles":1`), at + "/uploadedFiles", "", 400},
		"isError no boolean":         {bubble(`"isError":"no"`), at + "/isError", "", 400},
		"artifact no object":         {bubble(`"artifactNotification":"f"`), at + "/artifactNotification", "", 400},
		"artifact name no string":    {bubble(`"artifactNotification":{"name":1}`), at + "/artifactNotification/name", "", 400},
		"artifact version no number": {bubble(`"artifactNotification":{"name":"f","version":"1"}`), at + "/artifactNotification/version", "", 400},
		"invocation id too long":     {bubble(`"metadata":{"kagent_invocation_id":"` + strings.Repeat("i", 129) + `"}`), "/message_bubbles", "", 422},
		"user_message wrong type":    {with(`"user_message":{}`), "/user_message", "", 400},
		"user_message too long":      {with(`"user_message":"` + strings.Repeat("m", 10_001) + `"`), "/user_message", "", 422},
		"metadata of a wrong type":   {with(`"task_metadata":"done"`), "/task_metadata", "", 400},
		"feedback of a wrong type":   {with(`"task_metadata":{"feedback":"up"}`), "/task_metadata/feedback", "", 400},
		"feedback of unknown type":   {with(`"task_metadata":{"feedback":{"type":"meh"}}`), "/task_metadata/feedback/type", "", 422},
		"feedback without type":      {with(`"task_metadata":{"feedback":{}}`), "/task_metadata/feedback/type", "", 422},
	} {
		t.Run(name, func(t *testing.T) {
			problem := s.mustRefuse(t, c.status, c.pointer, post(alice, "/sessions/s/tasks", c.body))
			if c.detail != "" && problem["detail"] != c.detail {
				t.Errorf("detail: got %q, want %q", problem["detail"], c.detail)
			}
		})
	}
	if got := s.must(t, http.StatusOK, get(alice, "/sessions/s/tasks")); string(got.body) != `{"tasks":[],"next_cursor":null}` {
		t.Errorf("refused, and yet there: %s", got.body)
	}
}

func TestTaskAtItsLimits(t *testing.T) {
	s := newSystem(t)
	s.mustCreate(t, alice, `{"id":"s"}`)
	hundred := strings.TrimSuffix(strings.Repeat(`{"id":"b","type":"user"},`, 99), ",")
	body := `{"task_id":"` + strings.Repeat("é", 128) + `","user_message":"` + strings.Repeat("é", 10_000) +
		`","message_bubbles":[{"id":"b","type":"agent","text":"` + strings.Repeat("é", 100_000) + `"},` + hundred + `]}`
	s.must(t, http.StatusCreated, post(alice, "/sessions/s/tasks", body))
}

func TestLargeTask(t *testing.T) {
	s := newSystem(t)
	s.mustCreate(t, alice, `{"id":"s"}`)
	const frame = `{"task_id":"t","message_bubbles":[{"id":"b","type":"agent","files":["%s"]}]}`
	fit := 10<<20 - len(`[{"id":"b","type":"agent","files":[""]}]`)
	body := fmt.Sprintf(frame, strings.Repeat("0123456789abcdef", 10<<20/16)[:fit])
	zipped := post(alice, "/sessions/s/tasks", zip(t, body)).with("Content-Encoding", "gzip")
	s.must(t, http.StatusCreated, zipped)

	t.Run("is returned as gzip", func(t *testing.T) {
		got := unzip(t, s.must(t, http.StatusOK, get(alice, "/sessions/s/tasks").with("Accept-Encoding", "br, gzip")))
		if list := decode[taskPage](t, got); len(list.Tasks) != 1 || !strings.Contains(body, string(list.Tasks[0].Bubbles)) {
			t.Errorf("not what was sent: %.200s", got.body)
		}
	})
	t.Run("exceeds the limit without gzip", func(t *testing.T) {
		problem := s.mustRefuse(t, http.StatusRequestEntityTooLarge, "", get(alice, "/sessions/s/tasks/t"))
		if detail := fmt.Sprint(problem["detail"]); !strings.Contains(detail, "Accept-Encoding: gzip") || !strings.Contains(detail, "6 MB") {
			t.Errorf("detail %q", detail)
		}
	})
	t.Run("is refused with one byte more", func(t *testing.T) {
		more := strings.Replace(body, `"files":["0`, `"files":["00`, 1)
		r := post(alice, "/sessions/s/tasks", zip(t, more)).with("Content-Encoding", "gzip")
		if p := s.mustRefuse(t, http.StatusRequestEntityTooLarge, "", r); !strings.Contains(fmt.Sprint(p["detail"]), "10 MB") {
			t.Errorf("detail %q", p["detail"])
		}
	})
	t.Run("stops decompressing a body above the limit", func(t *testing.T) {
		r := post(alice, "/sessions/s/tasks", zip(t, strings.Repeat(" ", 12<<20))).with("Content-Encoding", "gzip")
		s.mustRefuse(t, http.StatusRequestEntityTooLarge, "", r)
	})
}

func TestListTasks(t *testing.T) {
	s := newSystem(t)
	s.mustCreate(t, alice, `{"id":"s"}`)
	for i := range 5 {
		s.must(t, http.StatusCreated, post(alice, "/sessions/s/tasks", taskJSON(fmt.Sprint("t", i), fmt.Sprint("text ", i))))
	}
	for query, want := range map[string]int{"": 1, "?limit=2": 3, "?limit=5": 1, "?limit=1000": 1} {
		t.Run("tasks"+query, func(t *testing.T) {
			var ids []string
			pages := follow(t, s, get(alice, "/sessions/s/tasks"+query), func(r response) {
				for _, one := range decode[taskPage](t, r).Tasks {
					ids = append(ids, one.TaskID)
				}
			})
			if got := strings.Join(ids, " "); got != "t0 t1 t2 t3 t4" || pages != want {
				t.Errorf("got %q in %d pages, want %d", got, pages, want)
			}
		})
	}
	t.Run("messages", func(t *testing.T) {
		var all []string
		pages := follow(t, s, get(alice, "/sessions/s/messages?limit=2"), func(r response) {
			if next := r.header.Get("X-Next-Cursor"); (next == "") != (r.header.Get("Link") == "") {
				t.Errorf("X-Next-Cursor %q, Link %q", next, r.header.Get("Link"))
			}
			for _, m := range decode[[]map[string]any](t, r) {
				all = append(all, fmt.Sprint(m["message"]))
				if m["id"] != "m" || m["session_id"] != "s" || m["sender_type"] != "user" || m["created_time"] == nil || len(m) != 5 {
					t.Errorf("message %v", m)
				}
			}
		})
		if diff := cmp.Diff([]string{"text 0", "text 1", "text 2", "text 3", "text 4"}, all); diff != "" || pages != 3 {
			t.Errorf("%d pages (-want +got):\n%s", pages, diff)
		}
	})
	t.Run("no messages", func(t *testing.T) {
		s.mustCreate(t, alice, `{"id":"empty"}`)
		if got := s.must(t, http.StatusOK, get(alice, "/sessions/empty/messages")); string(got.body) != "[]" {
			t.Errorf("got %s", got.body)
		}
	})
}
