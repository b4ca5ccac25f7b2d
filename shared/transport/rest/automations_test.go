package rest_test

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/rethread/rethread/shared/domain/automation"
	"github.com/rethread/rethread/shared/domain/run"
	"github.com/rethread/rethread/shared/transport/rest"
)

type automationView struct {
	ID             string             `json:"id"`
	Name           string             `json:"name"`
	On             automation.Trigger `json:"on"`
	Do             automation.Action  `json:"do"`
	Status         string             `json:"status"`
	DisabledReason *string            `json:"disabled_reason"`
	CreatedTime    int64              `json:"created_time"`
	UpdatedTime    int64              `json:"updated_time"`
}

const (
	onFeedback = `"on":{"types":["feedback.created"],"feedback_types":["down"]}`
	askAnalyst = `"do":{"agent":"data_analyst","session":"new","input":"What went wrong in {{task_id}}?"}`
)

func (s *system) mustAutomation(t *testing.T, user string) automationView {
	t.Helper()
	got := s.must(t, http.StatusCreated, post(user, "/automations", `{`+onFeedback+`,`+askAnalyst+`}`))
	return decode[one[automationView]](t, got).Data
}

func TestAutomations(t *testing.T) {
	s := newSystem(t)
	t.Run("are created and read", func(t *testing.T) {
		got := s.must(t, http.StatusCreated, post(alice, "/automations", `{`+onFeedback+`,`+askAnalyst+`,"name":"review"}`))
		au := decode[one[automationView]](t, got).Data
		want := automationView{
			ID: au.ID, Name: "review", Status: "active", CreatedTime: au.CreatedTime, UpdatedTime: au.CreatedTime,
			On: automation.Trigger{Types: []string{"feedback.created"}, Agents: []string{}, SessionIDs: []string{}, FeedbackTypes: []string{"down"}},
			Do: automation.Action{Agent: "data_analyst", Session: automation.New, Input: "What went wrong in {{task_id}}?"},
		}
		if diff := cmp.Diff(want, au); diff != "" || au.ID == "" || au.CreatedTime == 0 {
			t.Errorf("(-want +got):\n%s", diff)
		}
		if at := got.header.Get("Location"); at != "/api/v1/automations/"+au.ID {
			t.Errorf("Location %q", at)
		}
		read := s.must(t, http.StatusOK, get(alice, "/automations/"+au.ID))
		if diff := cmp.Diff(want, decode[one[automationView]](t, read).Data); diff != "" || read.header.Get("ETag") != got.header.Get("ETag") {
			t.Errorf("ETag %q (-want +got):\n%s", read.header.Get("ETag"), diff)
		}
	})
	t.Run("know by what their owner may call the agent", func(t *testing.T) {
		au := s.mustAutomation(t, alice)
		proven := func() []string {
			t.Helper()
			now, err := s.config.Automations.Automation(t.Context(), alice, au.ID)
			if err != nil {
				t.Fatal(err)
			}
			return now.Proof
		}
		want := []string{"sub=" + alice}
		if diff := cmp.Diff(want, proven()); diff != "" {
			t.Errorf("created (-want +got):\n%s", diff)
		}
		for body, want := range map[string][]string{
			`{"name":"x"}`: nil, `{"status":"disabled"}`: nil, `{"status":"active"}`: want, `{` + askAnalyst + `}`: want,
		} {
			if _, err := s.config.Automations.ChangeAutomation(t.Context(), alice, au.ID, automation.Change{Proof: new([]string)}); err != nil {
				t.Fatal(err)
			}
			s.must(t, http.StatusOK, patch(alice, "/automations/"+au.ID, body))
			if diff := cmp.Diff(want, proven()); diff != "" {
				t.Errorf("%s (-want +got):\n%s", body, diff)
			}
		}
	})
	t.Run("become active as they are created: with an agent that their owner may call", testActivation)
	t.Run("are read with their last runs", func(t *testing.T) {
		au := s.mustAutomation(t, alice)
		runs := func() string {
			got := s.must(t, http.StatusOK, get(alice, "/automations/"+au.ID))
			return string(decode[one[struct {
				Runs json.RawMessage `json:"last_runs"`
			}]](t, got).Data.Runs)
		}
		if got := runs(); got != "[]" {
			t.Errorf("runs %s", got)
		}
		made := automation.Automation{ID: au.ID, UserID: alice}
		counter := s.config.Automations.(automation.Counter)
		r := automation.LastRun{RunID: "r", SessionID: "s", EventType: "feedback.created"}
		if _, err := counter.CountRun(t.Context(), made, r); err != nil {
			t.Fatal(err)
		}
		if got, want := runs(), `[{"run_id":"r","session_id":"s","event_type":"feedback.created","time":`; !strings.HasPrefix(got, want) {
			t.Errorf("runs %s", got)
		}
	})
	t.Run("are created once by repeated requests", func(t *testing.T) {
		r := post(alice, "/automations", `{`+onFeedback+`,`+askAnalyst+`}`).with("Idempotency-Key", "once")
		first, again := s.must(t, http.StatusCreated, r), s.must(t, http.StatusCreated, r)
		if string(first.body) != string(again.body) {
			t.Errorf("%s then %s", first.body, again.body)
		}
	})
	t.Run("run in the event's session by default", func(t *testing.T) {
		got := s.must(t, http.StatusCreated, post(alice, "/automations", `{"on":{"types":["run.*"]},"do":{"agent":"default","input":"x"},"status":"disabled"}`))
		au := decode[one[automationView]](t, got).Data
		if au.Do.Session != automation.Same || au.Status != "disabled" || au.DisabledReason == nil || *au.DisabledReason != "paused" {
			t.Errorf("%+v", au)
		}
	})
	t.Run("may queue the input behind a run", func(t *testing.T) {
		got := s.must(t, http.StatusCreated, post(alice, "/automations", `{`+onFeedback+`,"do":{"agent":"default","input":"x","on_active":"enqueue"}}`))
		if au := decode[one[automationView]](t, got).Data; au.Do.OnActive != run.Enqueue {
			t.Errorf("%+v", au)
		}
	})
	t.Run("are updated at the expected version", func(t *testing.T) {
		au := s.mustAutomation(t, alice)
		path := "/automations/" + au.ID
		before := s.must(t, http.StatusOK, get(alice, path)).header.Get("ETag")
		changed := s.must(t, http.StatusOK, patch(alice, path, `{"status":"disabled","on":{"types":["run.failed"]}}`).with("If-Match", before))
		got := decode[one[automationView]](t, changed).Data
		if got.Status != "disabled" || got.On.Types[0] != "run.failed" || len(got.On.FeedbackTypes) != 0 || got.Do != au.Do {
			t.Errorf("%+v", got)
		}
		s.must(t, http.StatusPreconditionFailed, patch(alice, path, `{"name":"x"}`).with("If-Match", before))
		// A broken rule comes before a condition that does not hold, as in RFC 9110.
		for body, pointer := range map[string]string{
			`{"status":"paused"}`:                                    "/status",
			`{"on":{"types":["run.no"]}}`:                            "/on/types/0",
			`{"do":{"agent":"default","session":"old","input":"x"}}`: "/do/session",
		} {
			s.mustRefuse(t, http.StatusUnprocessableEntity, pointer, patch(alice, path, body).with("If-Match", before))
		}
		got = decode[one[automationView]](t, s.must(t, http.StatusOK, patch(alice, path, `{"status":"active","name":"x"}`))).Data
		if got.Status != "active" || got.DisabledReason != nil || got.Name != "x" {
			t.Errorf("%+v", got)
		}
	})
	t.Run("are hidden from other users", func(t *testing.T) {
		path := "/automations/" + s.mustAutomation(t, alice).ID
		for _, r := range []request{get(bob, path), patch(bob, path, `{"name":"mine"}`), del(bob, path)} {
			s.must(t, http.StatusNotFound, r)
		}
		s.must(t, http.StatusNoContent, del(alice, path))
		for _, r := range []request{get(alice, path), patch(alice, path, `{"name":"mine"}`), del(alice, path)} {
			s.must(t, http.StatusNotFound, r)
		}
	})
	t.Run("are paged, oldest first, and limited in number", func(t *testing.T) {
		var want, got []string
		for range automation.MaxAutomations {
			want = append(want, s.mustAutomation(t, "carol").ID)
		}
		s.must(t, http.StatusConflict, post("carol", "/automations", `{`+onFeedback+`,`+askAnalyst+`}`))
		for cursor := ""; ; {
			page := s.must(t, http.StatusOK, get("carol", "/automations?limit=7"+cursor))
			body := decode[struct {
				Data []automationView `json:"data"`
				Meta struct {
					NextCursor *string `json:"next_cursor"`
				} `json:"meta"`
			}](t, page)
			for _, au := range body.Data {
				got = append(got, au.ID)
			}
			if body.Meta.NextCursor == nil {
				break
			}
			cursor = "&cursor=" + *body.Meta.NextCursor
		}
		seen := map[string]bool{}
		for _, id := range got {
			seen[id] = true
		}
		for _, id := range want {
			if !seen[id] || len(got) != len(want) {
				t.Errorf("%s is not among %v", id, got)
			}
		}
	})
}

func TestAutomationsBadInput(t *testing.T) {
	s := newSystem(t)
	au := s.mustAutomation(t, alice)
	for name, test := range map[string]struct {
		body   string
		status int
		at     string
	}{
		"no object":                 {`[]`, 400, ""},
		"no trigger":                {`{` + askAnalyst + `}`, 400, "/on"},
		"no action":                 {`{` + onFeedback + `}`, 400, "/do"},
		"a trigger that is none":    {`{"on":1,` + askAnalyst + `}`, 400, "/on"},
		"no types":                  {`{"on":{},` + askAnalyst + `}`, 400, "/on/types"},
		"types that are no list":    {`{"on":{"types":"run.*"},` + askAnalyst + `}`, 400, "/on/types"},
		"a type that is no text":    {`{"on":{"types":[null]},` + askAnalyst + `}`, 400, "/on/types/0"},
		"an empty list":             {`{"on":{"types":[]},` + askAnalyst + `}`, 422, "/on/types"},
		"an unknown type":           {`{"on":{"types":["x"]},` + askAnalyst + `}`, 422, "/on/types/0"},
		"an agent that is not":      {`{` + onFeedback + `,"do":{"agent":"nobody","input":"x"}}`, 422, "/do/agent"},
		"no agent":                  {`{` + onFeedback + `,"do":{"input":"x"}}`, 400, "/do/agent"},
		"no input":                  {`{` + onFeedback + `,"do":{"agent":"default"}}`, 400, "/do/input"},
		"an unknown placeholder":    {`{` + onFeedback + `,"do":{"agent":"default","input":"{{secret}}"}}`, 422, "/do/input"},
		"an unknown on_active":      {`{` + onFeedback + `,"do":{"agent":"default","input":"x","on_active":"queue"}}`, 422, "/do/on_active"},
		"on_active null":            {`{` + onFeedback + `,"do":{"agent":"default","input":"x","on_active":null}}`, 400, "/do/on_active"},
		"an unknown session":        {`{` + onFeedback + `,"do":{"agent":"default","input":"x","session":"old"}}`, 422, "/do/session"},
		"a name that is no text":    {`{` + onFeedback + `,` + askAnalyst + `,"name":null}`, 400, "/name"},
		"a status that is unknown":  {`{` + onFeedback + `,` + askAnalyst + `,"status":"resting"}`, 422, "/status"},
		"a status that is no text":  {`{` + onFeedback + `,` + askAnalyst + `,"status":7}`, 400, "/status"},
		"an agent id that is wrong": {`{"on":{"types":["run.*"],"agents":["a/b/c"]},` + askAnalyst + `}`, 422, "/on/agents/0"},
	} {
		t.Run(name, func(t *testing.T) {
			got := s.must(t, test.status, post(alice, "/automations", test.body))
			if test.at != "" && !strings.Contains(string(got.body), fmt.Sprintf(`"pointer":%q`, test.at)) {
				t.Errorf("not at %s: %s", test.at, got.body)
			}
		})
	}
	for _, body := range []string{`{}`, `{"on":{"types":["session.deleted"]},"do":{"agent":"default","input":"x","session":"same"}}`} {
		s.must(t, http.StatusUnprocessableEntity, patch(alice, "/automations/"+au.ID, body))
	}
	all := s.must(t, http.StatusOK, get(alice, "/automations"))
	if n := strings.Count(string(all.body), `"status"`); n != 1 {
		t.Errorf("bad input changed something: %s", all.body)
	}
}

// lapsing are agents that one day nobody may call.
type lapsing struct {
	*agents

	lapsed bool
}

// MayCall lets everybody call until then.
func (l *lapsing) MayCall(context.Context, string) bool { return !l.lapsed }

func testActivation(t *testing.T) {
	l := &lapsing{}
	s := newSystem(t, func(c *rest.Config) {
		l.agents = c.Agents.(*agents)
		c.Agents = l
	})
	path := "/automations/" + s.mustAutomation(t, alice).ID
	s.must(t, http.StatusOK, patch(alice, path, `{"status":"disabled"}`))
	refused := func(status int, code string) {
		t.Helper()
		for at, body := range map[string]string{"/status": `{"status":"active"}`, "/do/agent": `{"status":"active",` + askAnalyst + `}`} {
			got := s.mustRefuse(t, status, at, patch(alice, path, body))
			if got["code"] != code {
				t.Errorf("%s: code %s, want %s", body, got["code"], code)
			}
		}
		s.must(t, http.StatusOK, patch(alice, path, `{"status":"disabled","name":"x"}`))
	}
	l.lapsed = true
	refused(http.StatusForbidden, "agent_forbidden")
	l.lapsed = false
	*l.agents = agents{"default"}
	refused(http.StatusUnprocessableEntity, "agent_not_configured")
	*l.agents = agents{"default", "data_analyst"}
	s.must(t, http.StatusOK, patch(alice, path, `{"status":"active"}`))
}
