package main

import (
	"context"
	"fmt"
	"net/http"
	"net/url"

	"github.com/google/uuid"

	"github.com/rethread/rethread/infra/test/e2e/pick"
)

// story is what has happened so far.
type story struct {
	*printer
	alice, bob *person
	sockets    string // address of the WebSocket API
	id         string // of the session
	path       string
	fork       string   // path of the session forked from it
	tasks      []object // as they were last saved
}

// tell runs the story from start to end and fails at the first surprise.
func tell(ctx context.Context, p *printer, at place) error {
	s := &story{printer: p, sockets: at.sockets}
	p.line("Rethread at %s", at.url)
	var err error
	if s.alice, err = login(ctx, at.url, "alice-"+uuid.NewString()); err != nil {
		return err
	}
	if s.bob, err = login(ctx, at.url, "bob-"+uuid.NewString()); err != nil {
		return err
	}
	for _, part := range []func(context.Context) error{
		s.open, s.talk, s.readState, s.saveTasks, s.judge, s.reload, s.branch, s.goBack, s.goLive, s.intrude, s.leave,
	} {
		if err := part(ctx); err != nil {
			return err
		}
	}
	p.line("\nEverything is as it was said.")
	return nil
}

func (s *story) open(ctx context.Context) error {
	s.chapter("Alice opens a session with an agent")
	body, err := s.alice.call(ctx, http.StatusCreated, http.MethodPost, "/sessions", object{
		"agent": "data_analyst", "name": "Sales in the fourth quarter", "state": object{"region": "EMEA"},
	})
	if err != nil {
		return err
	}
	if s.id, err = pick.Text(body, "data.id"); err != nil {
		return err
	}
	s.path = "/sessions/" + url.PathEscape(s.id)
	s.note("session %s; its initial state is the first event of the log", s.id)
	return nil
}

// turn is one question and its answer.
type turn struct{ question, answer, topic string }

func turns() []turn {
	return []turn{
		{"Can you analyze this sales data?", "Revenue is $1.2M, up 15% on last year.\nWidget A sells best.", "revenue"},
		{"And in Germany?", "€310k, a quarter of it in December.", "germany"},
	}
}

func (s *story) talk(ctx context.Context) error {
	s.chapter("They talk; each turn is appended in one request")
	head := 1
	for i, t := range turns() {
		invocation := fmt.Sprint("inv-", i+1)
		answer := said(invocation, "data_analyst", "model", t.answer)
		answer["actions"] = object{"state_delta": object{"last_topic": t.topic, "user:turns": i + 1}}
		body, err := s.alice.call(ctx, http.StatusCreated, http.MethodPost, s.path+"/events", object{
			"expected_seq": head, "events": []object{said(invocation, "user", "user", t.question), answer},
		})
		if err != nil {
			return err
		}
		head += 2
		if err := expect(body, "data.1.seq", fmt.Sprint(head)); err != nil {
			return err
		}
		s.says("alice", t.question)
		s.says("data_analyst", t.answer)
	}
	s.note("the log has positions 1 to %d, without a gap", head)
	return nil
}

// said is an event of an invocation with one text.
func said(invocation, author, role, text string) object {
	return object{
		"invocation_id": invocation, "author": author,
		"content": object{"role": role, "parts": []object{{"text": text}}},
	}
}

func (s *story) readState(ctx context.Context) error {
	s.chapter("The events have built up state")
	body, err := s.alice.call(ctx, http.StatusOK, http.MethodGet, s.path+"/state", nil)
	if err != nil {
		return err
	}
	merged, err := pick.Text(body, "data.merged")
	if err != nil {
		return err
	}
	s.note("%s", merged)
	return expect(body, "data.merged", `{"last_topic":"germany","region":"EMEA","user:turns":2}`)
}

func (s *story) saveTasks(ctx context.Context) error {
	s.chapter("The chat window saves what Alice saw: two tasks")
	for i, t := range turns() {
		question := object{
			"id": "question", "type": "user", "text": t.question,
			"metadata": object{"kagent_invocation_id": fmt.Sprint("inv-", i+1)}, // where the task stands in the log
		}
		task := object{
			"task_id": fmt.Sprintf("task-%d-%s", i+1, s.id), "user_message": t.question,
			"message_bubbles": []object{question},
			"task_metadata":   object{"status": "pending", "agent_name": "data_analyst"},
		}
		if _, err := s.alice.call(ctx, http.StatusCreated, http.MethodPost, s.path+"/tasks", task); err != nil {
			return err
		}
		task["message_bubbles"] = []object{
			question,
			{"id": "answer", "type": "agent", "text": t.answer, "parts": []object{{"kind": "text", "text": t.answer}}},
			{"id": "file", "type": "artifact_notification", "artifactNotification": object{"name": t.topic + ".pdf", "version": i}},
		}
		task["task_metadata"] = object{"status": "completed", "agent_name": "data_analyst"}
		if _, err := s.alice.call(ctx, http.StatusOK, http.MethodPost, s.path+"/tasks", task); err != nil {
			return err
		}
		s.tasks = append(s.tasks, task)
		s.note("task %d saved when she asked (201) and again when the answer was complete (200)", i+1)
	}
	return nil
}
