package rest_test

import (
	"encoding/json"
	"fmt"
	"net/http"
	"testing"

	"github.com/google/go-cmp/cmp"
)

type a2aView struct {
	ID        string
	ContextID string
	Status    struct{ State string }
	History   []struct{ MessageID, ContextID, TaskID string }
}

// overA2A returns a user's message sent over A2A that no saved task contains.
func overA2A(task, message string) string {
	return fmt.Sprintf(`{"invocation_id":%q,"author":"user","content":{"role":"user","parts":[{"text":"hi"}]},`+
		`"a2a":{"message_id":%q,"task_id":%q}}`, task, message, task)
}

func (s *system) a2aTasks(t *testing.T, id string) []a2aView {
	t.Helper()
	return decode[one[[]a2aView]](t, s.must(t, http.StatusOK, get(alice, "/api/sessions/"+id+"/tasks"))).Data
}

func TestTasksInA2AForm(t *testing.T) {
	s := newSystem(t)
	source := s.mustCreate(t, alice, `{}`).ID
	s.mustAppend(t, source, overA2A("t1", "m1"), said("t1", "hello"))
	s.must(t, http.StatusCreated, post(alice, "/api/tasks", fmt.Sprintf(`{"id":"saved","contextId":%q,"status":{"state":"completed"},`+
		`"history":[{"messageId":"m2","role":"user","parts":[],"metadata":{"kagent_invocation_id":"i2"}}]}`, source)))
	s.mustAppend(t, source, overA2A("t3", "m3"))
	ids := func(tasks []a2aView) (out []string) {
		for _, one := range tasks {
			out = append(out, one.ID)
		}
		return out
	}
	if diff := cmp.Diff([]string{"t1", "saved", "t3"}, ids(s.a2aTasks(t, source))); diff != "" {
		t.Errorf("the source (-want +got):\n%s", diff)
	}

	fork := decode[one[sessionView]](t, s.must(t, http.StatusCreated,
		post(alice, "/sessions/"+source+"/fork", `{"rewind_before_invocation_id":"t3"}`))).Data.ID
	merged := s.a2aTasks(t, fork)
	t.Run("merges what a fork copied into one completed task", func(t *testing.T) {
		if len(merged) != 1 || merged[0].ID != fork || merged[0].Status.State != "completed" {
			t.Fatalf("got %+v", merged)
		}
		var messages []string
		for _, m := range merged[0].History {
			if m.ContextID != fork || m.TaskID != fork {
				t.Errorf("got %+v", m)
			}
			messages = append(messages, m.MessageID)
		}
		if len(messages) != 3 || messages[0] != "m1" || messages[2] != "m2" {
			t.Errorf("got %v", messages)
		}
	})
	t.Run("returns the merged task alone, to its owner", func(t *testing.T) {
		got := decode[one[a2aView]](t, s.must(t, http.StatusOK, get(alice, "/api/tasks/"+fork))).Data
		if diff := cmp.Diff(merged[0], got); diff != "" {
			t.Errorf("(-listed +alone):\n%s", diff)
		}
		s.must(t, http.StatusNotFound, get(bob, "/api/tasks/"+fork))
		s.must(t, http.StatusNotFound, get(alice, "/api/tasks/"+source))
	})
	t.Run("lists later tasks separately", func(t *testing.T) {
		s.mustAppend(t, fork, overA2A("t4", "m4"))
		got := s.a2aTasks(t, fork)
		if diff := cmp.Diff([]string{fork, "t4"}, ids(got)); diff != "" {
			t.Fatalf("(-want +got):\n%s", diff)
		}
		if diff := cmp.Diff(merged[0], got[0]); diff != "" {
			t.Errorf("the merged task changed (-was +is):\n%s", diff)
		}
	})
	t.Run("merges a task saved with the fork's id", func(t *testing.T) {
		s.must(t, http.StatusCreated, post(alice, "/api/tasks",
			fmt.Sprintf(`{"id":%q,"contextId":%q,"status":{"state":"completed"},"history":[]}`, fork, fork)))
		alone := decode[one[a2aView]](t, s.must(t, http.StatusOK, get(alice, "/api/tasks/"+fork))).Data
		if got := s.a2aTasks(t, fork); len(got) != 2 || !cmp.Equal(got[0], alone) || !cmp.Equal(alone, merged[0]) {
			t.Errorf("listed %+v, alone %+v", got, alone)
		}
	})
	t.Run("returns an empty merged task for a fork without copies", func(t *testing.T) {
		empty := decode[one[sessionView]](t, s.must(t, http.StatusCreated,
			post(alice, "/sessions/"+source+"/fork", `{"rewind_before_invocation_id":"t1"}`))).Data.ID
		raw := decode[one[[]map[string]json.RawMessage]](t, s.must(t, http.StatusOK, get(alice, "/api/sessions/"+empty+"/tasks"))).Data
		if len(raw) != 1 || string(raw[0]["history"]) != "[]" {
			t.Errorf("got %s", raw)
		}
	})
}
