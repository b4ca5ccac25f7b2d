package main

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"net/url"
	"strings"

	"github.com/google/uuid"
)

// story is the state of the story.
type story struct {
	*printer
	alice, bob *user
	path, fork string   // of the session and its fork
	tasks      []object // as last saved
}

// runStory runs the story and fails at the first unexpected answer. It ends in the console
// if the system stays.
func runStory(ctx context.Context, p *printer, at string, stays bool) error {
	s := &story{printer: p}
	p.line("Rethread at %s", at)
	s.alice, s.bob = s.login(ctx, at, "alice"), s.login(ctx, at, "bob")
	for _, part := range []func(){s.talk, s.save, s.reload, s.branch, s.rewind, s.goLive, s.cleanUp} {
		part()
	}
	p.line("\nEverything is as expected.")
	if stays {
		p.line("Open %s/console%s and sign in as %s: it is her fork.", at, strings.Replace(s.fork, "/sessions/", "/s/", 1), s.alice.name)
	}
	return p.err
}

// turn is one question and its answer.
type turn struct{ question, answer, topic string }

func turns() []turn {
	return []turn{
		{"Can you analyze this sales data?", "Revenue is $1.2M, up 15% on last year.\nWidget A sells best.", "revenue"},
		{"And in Germany?", "€310k, a quarter of it in December.", "germany"},
	}
}

// stateAfter is the state after that many turns.
func stateAfter(n int) object {
	return object{"region": "EMEA", "last_topic": turns()[n-1].topic, "user:turns": n}
}

func (s *story) talk() {
	s.chapter("Alice opens a session and talks to an agent; each turn is appended in one request")
	s.path = sessionPath(s.alice.post(http.StatusCreated, "/sessions", object{
		"agent": "data_analyst", "name": "Sales in the fourth quarter", "state": object{"region": "EMEA"},
	}))
	head := 1 // the initial state is the first event
	for i, t := range turns() {
		answer := said(i+1, "data_analyst", "model", t.answer)
		answer["actions"] = object{"state_delta": object{"last_topic": t.topic, "user:turns": i + 1}}
		body := s.alice.post(http.StatusCreated, s.path+"/events", object{
			"expected_seq": head, "events": []object{said(i+1, "user", "user", t.question), answer},
		})
		head += 2
		body.wantValue("data.1.seq", head)
		s.says("alice", t.question)
		s.says("data_analyst", t.answer)
	}
	s.note("positions 1 to %d without a gap; the events' state:", head)
	s.note("%s", s.alice.get(s.path+"/state").text("data.merged"))
	s.alice.get(s.path+"/state").wantValue("data.merged", stateAfter(2))
}

// sessionPath is the path of the session in an answer.
func sessionPath(a answer) string { return "/sessions/" + url.PathEscape(a.text("data.id")) }

// said is an event of a turn with a single text.
func said(turn any, author, role, text string) object {
	return object{
		"invocation_id": fmt.Sprint("inv-", turn), "author": author,
		"content": object{"role": role, "parts": []object{{"text": text}}},
	}
}

func (s *story) save() {
	s.chapter("The chat window saves what Alice saw as two tasks; she likes the first answer")
	for i, t := range turns() {
		question := object{
			"id": "question", "type": "user", "text": t.question,
			"metadata": object{"kagent_invocation_id": fmt.Sprint("inv-", i+1)}, // the task's place in the log
		}
		task := object{
			"task_id": fmt.Sprintf("task-%d-%s", i+1, uuid.NewString()), "user_message": t.question,
			"message_bubbles": []object{question}, "task_metadata": object{"status": "pending"},
		}
		s.alice.post(http.StatusCreated, s.path+"/tasks", task)
		task["message_bubbles"] = []object{
			question,
			{"id": "answer", "type": "agent", "text": t.answer, "parts": []object{{"kind": "text", "text": t.answer}}},
			{"id": "file", "type": "artifact_notification", "artifactNotification": object{"name": t.topic + ".pdf", "version": i}},
		}
		task["task_metadata"] = object{"status": "completed"}
		s.alice.post(http.StatusOK, s.path+"/tasks", task)
		s.tasks = append(s.tasks, task)
	}
	s.alice.post(http.StatusAccepted, "/feedback", object{
		"taskId": s.tasks[0]["task_id"], "feedbackType": "up", "feedbackText": "Very helpful!", "sessionId": s.path[len("/sessions/"):],
	})
	s.tasks[0]["task_metadata"] = object{
		"status": "completed", "feedback": object{"type": "up", "text": "Very helpful!", "submitted": true},
	}
	s.note("saved when she asked and again when the answer was complete; the feedback is in its task")
}

// reload reads everything again, like a browser, and compares it with what was
// saved.
func (s *story) reload() {
	s.chapter("She reloads the page; this is what comes back")
	tasks := s.alice.get(s.path + "/tasks")
	for i, saved := range s.tasks {
		at := fmt.Sprintf("tasks.%d.", i)
		for _, field := range []string{"task_id", "user_message", "message_bubbles", "task_metadata"} {
			tasks.wantValue(at+field, saved[field])
		}
		s.replay(tasks.text(at + "message_bubbles"))
	}
	events := s.alice.get(s.path + "/events")
	for i, t := range turns() {
		events.wantValue(fmt.Sprintf("data.%d.content.parts.0.text", 2*i+2), t.answer)
	}
	s.note("tasks and log are equal in every field")
}

func (s *story) replay(text string) {
	var bubbles []struct {
		Type     string
		Text     string
		Artifact struct{ Name string } `json:"artifactNotification"`
	}
	if s.err == nil {
		s.fail(json.Unmarshal([]byte(text), &bubbles))
	}
	for _, b := range bubbles {
		speaker := map[string]string{"user": "alice", "agent": "data_analyst"}[b.Type]
		if speaker == "" {
			speaker = "artifact"
		}
		s.says(speaker, b.Text+b.Artifact.Name)
	}
}

// branch asks another second question in a fork, which does not change the
// session.
func (s *story) branch() {
	s.chapter("What if she had asked another second question? She forks the session before it")
	s.fork = sessionPath(s.alice.post(http.StatusCreated, s.path+"/fork", object{"rewind_before_invocation_id": "inv-2"}))
	s.wantTurns(s.fork, 1)
	question, answer := "And in France?", "€220k, most of it in October."
	s.alice.post(http.StatusCreated, s.fork+"/events", object{
		"events": []object{said("2b", "user", "user", question), said("2b", "data_analyst", "model", answer)},
	})
	s.says("alice", question)
	s.says("data_analyst", answer)
	s.wantTurns(s.path, 2)
	s.note("the session itself is unchanged")
}

// rewind rewinds the session with its state and tasks.
func (s *story) rewind() {
	s.chapter("In the session itself she rewinds to before the second question, and undoes that")
	done := s.alice.post(http.StatusOK, s.path+"/rewind", object{"rewind_before_invocation_id": "inv-2"})
	s.note("restored: %s", done.text("data.restored.state"))
	s.wantTurns(s.path, 1)
	s.alice.get(s.path+"/state").wantValue("data.merged", stateAfter(1))
	s.alice.post(http.StatusOK, s.path+"/rewind", object{"rewind_before_invocation_id": done.text("data.event.invocation_id")})
	s.wantTurns(s.path, 2)
	s.alice.get(s.path+"/state").wantValue("data.merged", stateAfter(2))
	s.note("a rewind before the rewind's own marker undoes it: nothing was lost")
}

// wantTurns requires a session's events, tasks and messages to be those of that
// many turns.
func (s *story) wantTurns(path string, turns int) {
	s.alice.get(path+"/events").wantLength(1+2*turns, "data")
	s.alice.get(path+"/tasks").wantLength(turns, "tasks")
	s.alice.get(path+"/messages").wantLength(3*turns, "$")
}

func (s *story) cleanUp() {
	s.chapter("Bob knows the address, but has no access; Alice deletes the session")
	s.bob.call(http.StatusForbidden, http.MethodGet, s.path+"/tasks", nil)
	s.alice.call(http.StatusNoContent, http.MethodDelete, s.path, nil)
	s.alice.call(http.StatusNotFound, http.MethodGet, s.path+"/tasks", nil)
	events := s.alice.get(s.fork + "/events")
	events.wantValue("data.2.content.parts.0.text", turns()[0].answer)
	events.wantLength(5, "data")
	s.note("403, then 204, then 404; her fork has lost nothing")
}
