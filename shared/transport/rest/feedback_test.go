package rest_test

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/rethread/rethread/shared/domain/task"
	"github.com/rethread/rethread/shared/transport/rest"
)

type feedbackView struct {
	TaskID    string  `json:"task_id"`
	SessionID *string `json:"session_id"`
	Type      string  `json:"type"`
	Text      string  `json:"text"`
}

type feedbackPage struct {
	Feedback   []feedbackView `json:"feedback"`
	NextCursor *string        `json:"next_cursor"`
}

func TestFeedback(t *testing.T) {
	var asked time.Duration // lists are ordered by time, so times must differ
	s := newSystem(t, func(c *rest.Config) {
		began := time.Now()
		c.Now = func() time.Time { asked++; return began.Add(asked * time.Millisecond) }
	})
	s.mustCreate(t, alice, `{"id":"s"}`)
	s.mustCreate(t, bob, `{"id":"his"}`)
	s.must(t, http.StatusCreated, post(alice, "/sessions/s/tasks", taskJSON("t", "x")))

	t.Run("marks its task", func(t *testing.T) {
		got := s.must(t, http.StatusAccepted, post(alice, "/feedback", `{"taskId":"t","feedbackType":"up","feedbackText":"<3"}`))
		answer := decode[map[string]string](t, got)
		if answer["status"] != "accepted" || answer["feedback_id"] == "" || len(answer) != 2 {
			t.Errorf("got %s", got.body)
		}
		marked := decode[taskView](t, s.must(t, http.StatusOK, get(alice, "/sessions/s/tasks/t")))
		if want := `{"feedback":{"submitted":true,"text":"<3","type":"up"}}`; string(marked.Metadata) != want {
			t.Errorf("metadata: got %s, want %s", marked.Metadata, want)
		}
	})
	t.Run("is stored without a task", func(t *testing.T) {
		s.must(t, http.StatusAccepted, post(alice, "/feedback", `{"taskId":"none","feedbackType":"down"}`))
		if !strings.Contains(s.log.String(), "level=WARN") {
			t.Errorf("no warning: %s", s.log)
		}
	})
	t.Run("may name a session of the caller", func(t *testing.T) {
		s.must(t, http.StatusAccepted, post(alice, "/feedback", `{"taskId":"later","feedbackType":"down","sessionId":"s"}`))
		s.mustRefuse(t, http.StatusForbidden, "", post(alice, "/feedback", `{"taskId":"t","feedbackType":"up","sessionId":"his"}`))
		s.mustRefuse(t, http.StatusNotFound, "", post(alice, "/feedback", `{"taskId":"t","feedbackType":"up","sessionId":"no"}`))
	})
	hers := "s"
	up := feedbackView{TaskID: "t", SessionID: &hers, Type: "up", Text: "<3"}
	none := feedbackView{TaskID: "none", Type: "down"}
	later := feedbackView{TaskID: "later", SessionID: &hers, Type: "down"}
	for query, want := range map[string][]feedbackView{
		"": {later, none, up}, "?limit=1": {later, none, up}, "?type=up": {up}, "?session_id=s": {later, up},
		"?task_id=none": {none}, "?task_id=none&type=up": nil,
	} {
		t.Run("list"+query, func(t *testing.T) {
			var got []feedbackView
			follow(t, s, get(alice, "/feedback"+query), func(r response) {
				got = append(got, decode[feedbackPage](t, r).Feedback...)
			})
			if diff := cmp.Diff(want, got); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
		})
	}
	t.Run("of another user", func(t *testing.T) {
		if got := s.must(t, http.StatusOK, get(bob, "/feedback")); string(got.body) != `{"feedback":[],"next_cursor":null}` {
			t.Errorf("got %s", got.body)
		}
	})
}

func TestFeedbackBadInput(t *testing.T) {
	s := newSystem(t)
	for name, c := range map[string]struct {
		body, pointer string
		status        int
	}{
		"no task":              {`{"feedbackType":"up"}`, "/taskId", 400},
		"task of a wrong type": {`{"taskId":1,"feedbackType":"up"}`, "/taskId", 400},
		"task empty":           {`{"taskId":"","feedbackType":"up"}`, "/taskId", 422},
		"no type":              {`{"taskId":"t"}`, "/feedbackType", 400},
		"unknown type":         {`{"taskId":"t","feedbackType":"UP"}`, "/feedbackType", 422},
		"text of a wrong type": {`{"taskId":"t","feedbackType":"up","feedbackText":1}`, "/feedbackText", 400},
		"text too long":        {`{"taskId":"t","feedbackType":"up","feedbackText":"` + strings.Repeat("é", 10_001) + `"}`, "/feedbackText", 422},
		"session no id":        {`{"taskId":"t","feedbackType":"up","sessionId":"a/b"}`, "/sessionId", 422},
		"session empty":        {`{"taskId":"t","feedbackType":"up","sessionId":""}`, "/sessionId", 422},
	} {
		t.Run(name, func(t *testing.T) {
			s.mustRefuse(t, c.status, c.pointer, post(alice, "/feedback", c.body))
		})
	}
	for query, name := range map[string]string{"type=meh": "type", "task_id=": "task_id", "session_id=a/b": "session_id", "cursor=x": "cursor"} {
		t.Run(query, func(t *testing.T) {
			s.mustRefuse(t, http.StatusBadRequest, name, get(alice, "/feedback?"+query))
		})
	}
	if got := s.must(t, http.StatusOK, get(alice, "/feedback")); string(got.body) != `{"feedback":[],"next_cursor":null}` {
		t.Errorf("refused, and yet there: %s", got.body)
	}
}

// broken is a feedback store whose tasks cannot be found or marked.
type broken struct {
	task.FeedbackStore
	find, mark error
}

func (b broken) FindTask(ctx context.Context, user, id string) (string, error) {
	if b.find != nil {
		return "", b.find
	}
	return b.FeedbackStore.FindTask(ctx, user, id)
}

func (b broken) MarkTask(ctx context.Context, f task.Feedback) error {
	if b.mark != nil {
		return b.mark
	}
	return b.FeedbackStore.MarkTask(ctx, f)
}

func TestFeedbackIsStoredWithoutItsTask(t *testing.T) {
	boom := errors.New("out of order")
	for name, b := range map[string]broken{"finding fails": {find: boom}, "marking fails": {mark: boom}} {
		t.Run(name, func(t *testing.T) {
			s := newSystem(t, func(c *rest.Config) {
				b.FeedbackStore = c.Feedback
				c.Feedback = b
			})
			s.mustCreate(t, alice, `{"id":"s"}`)
			s.must(t, http.StatusCreated, post(alice, "/sessions/s/tasks", taskJSON("t", "x")))
			s.must(t, http.StatusAccepted, post(alice, "/feedback", `{"taskId":"t","feedbackType":"up"}`))
			list := decode[feedbackPage](t, s.must(t, http.StatusOK, get(alice, "/feedback")))
			if len(list.Feedback) != 1 || list.Feedback[0].TaskID != "t" {
				t.Errorf("got %+v", list)
			}
			if !strings.Contains(s.log.String(), fmt.Sprint("error=", `"`, boom, `"`)) {
				t.Errorf("no warning: %s", s.log)
			}
		})
	}
}
