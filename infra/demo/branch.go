package main

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"net/url"

	"github.com/rethread/rethread/infra/test/e2e/pick"
)

const franceAnswer = "€220k, most of it in October."

// branch tries another second question in a fork, and leaves the session alone.
func (s *story) branch(ctx context.Context) error {
	s.chapter("What if she had asked another second question? She forks the session before it")
	body, err := s.alice.call(ctx, http.StatusCreated, http.MethodPost, s.path+"/fork",
		object{"rewind_before_invocation_id": "inv-2"})
	if err != nil {
		return err
	}
	id, err := pick.Text(body, "data.id")
	if err != nil {
		return err
	}
	s.fork = "/sessions/" + url.PathEscape(id)
	if err := expectText(body, "data.name", "Fork of Sales in the fourth quarter"); err != nil {
		return err
	}
	if err := s.showsTurns(ctx, s.fork, 1); err != nil {
		return err
	}
	s.note("session %s begins with the first turn, and with the state there was then", id)
	question, answer := "And in France?", franceAnswer
	if _, err := s.alice.call(ctx, http.StatusCreated, http.MethodPost, s.fork+"/events", object{
		"events": []object{said("inv-2b", "user", "user", question), said("inv-2b", "data_analyst", "model", answer)},
	}); err != nil {
		return err
	}
	s.says("alice", question)
	s.says("data_analyst", answer)
	if err := s.showsTurns(ctx, s.path, 2); err != nil {
		return err
	}
	s.note("the session itself is as it was")
	return nil
}

// goBack takes the session itself back, state and tasks with it.
func (s *story) goBack(ctx context.Context) error {
	s.chapter("In the session itself she rewinds to before the second question")
	body, err := s.alice.call(ctx, http.StatusOK, http.MethodPost, s.path+"/rewind",
		object{"rewind_before_invocation_id": "inv-2"})
	if err != nil {
		return err
	}
	restored, err := pick.Text(body, "data.restored.state")
	if err != nil {
		return err
	}
	s.note("restored: %s", restored)
	marker, err := pick.Text(body, "data.event.invocation_id")
	if err != nil {
		return err
	}
	if err := s.showsTurns(ctx, s.path, 1); err != nil {
		return err
	}
	if err := s.hasState(ctx, `{"last_topic":"revenue","region":"EMEA","user:turns":1}`); err != nil {
		return err
	}
	s.note("events, tasks, messages and state all show one turn, after a reload too")
	if _, err := s.alice.call(ctx, http.StatusOK, http.MethodPost, s.path+"/rewind",
		object{"rewind_before_invocation_id": marker}); err != nil {
		return err
	}
	if err := s.showsTurns(ctx, s.path, 2); err != nil {
		return err
	}
	s.note("nothing was lost: a rewind before the rewind's own marker undoes it")
	return s.hasState(ctx, `{"last_topic":"germany","region":"EMEA","user:turns":2}`)
}

// forkIsWhole reads in the fork what it took over and what came after.
func (s *story) forkIsWhole(ctx context.Context) error {
	body, err := s.alice.call(ctx, http.StatusOK, http.MethodGet, s.fork+"/events", nil)
	if err != nil {
		return err
	}
	if err := expectText(body, "data.2.content.parts.0.text", turns()[0].answer); err != nil {
		return err
	}
	if err := expectText(body, "data.4.content.parts.0.text", franceAnswer); err != nil {
		return err
	}
	s.note("her fork has lost nothing")
	return nil
}

// showsTurns compares how many turns the events, tasks and messages of a
// session show.
func (s *story) showsTurns(ctx context.Context, path string, turns int) error {
	for list, want := range map[string]struct {
		name  string
		count int
	}{
		"/events":   {"data", 1 + 2*turns}, // the initial state is an event too
		"/tasks":    {"tasks", turns},
		"/messages": {"$", 3 * turns},
	} {
		body, err := s.alice.call(ctx, http.StatusOK, http.MethodGet, path+list, nil)
		if err != nil {
			return err
		}
		raw, err := pick.Raw(body, want.name)
		if err != nil {
			return err
		}
		var items []json.RawMessage
		if err := json.Unmarshal(raw, &items); err != nil {
			return fmt.Errorf("read %s: %w", list, err)
		}
		if len(items) != want.count {
			return fmt.Errorf("%w: %s lists %d, and should list %d", errUnexpected, list, len(items), want.count)
		}
	}
	return nil
}

func (s *story) hasState(ctx context.Context, want string) error {
	body, err := s.alice.call(ctx, http.StatusOK, http.MethodGet, s.path+"/state", nil)
	if err != nil {
		return err
	}
	return expect(body, "data.merged", want)
}
