package main

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"net/url"
	"time"

	"github.com/google/uuid"

	"github.com/rethread/rethread/infra/test/e2e/pick"
	"github.com/rethread/rethread/shared/domain/session"
	"github.com/rethread/rethread/shared/domain/watch/client"
)

// liveTime is how long the chapters with an agent may take.
const liveTime = 90 * time.Second

// live is the part of the story in which an agent answers while Alice watches.
type live struct {
	*story

	path string
	view *viewer
}

// goLive opens a session with the demo agent and watches it through answers
// that succeed, are stopped and fail.
func (s *story) goLive(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(ctx, liveTime)
	defer cancel()
	s.chapter("In another session an agent answers; Alice watches over a websocket")
	id := uuid.NewString()
	if _, err := s.alice.call(ctx, http.StatusCreated, http.MethodPost, "/sessions",
		object{"id": id, "agent": "demo", "name": "Live"}); err != nil {
		return err
	}
	v, err := watchSession(ctx, s.alice, s.sockets, id, s.printer)
	if err != nil {
		return err
	}
	defer v.close()
	l := &live{story: s, path: "/sessions/" + url.PathEscape(id), view: v}
	for _, part := range []func(context.Context) error{l.answer, l.stop, l.fail, l.goOn, l.agree} {
		if err := part(ctx); err != nil {
			return err
		}
	}
	return nil
}

// ask starts a run and returns its id.
func (l *live) ask(ctx context.Context, question string) (string, error) {
	l.says("alice", question)
	body, err := l.alice.call(ctx, http.StatusAccepted, http.MethodPost, l.path+"/runs", object{
		"input": []object{{"content": object{"role": "user", "parts": []object{{"text": question}}}}},
	})
	if err != nil {
		return "", err
	}
	return pick.Text(body, "data.session.active_run_id")
}

func (l *live) answer(ctx context.Context) error {
	run, err := l.ask(ctx, "Can I watch you speak?")
	if err != nil {
		return err
	}
	_, err = l.view.until(ctx, func(s client.Session) bool {
		return over(s) && len(answered(s, run)) > 0
	})
	if err == nil {
		l.note("that came in %d pieces", l.view.pieces)
	}
	return err
}

func (l *live) stop(ctx context.Context) error {
	l.chapter("A long answer; she has seen enough and stops it")
	run, err := l.ask(ctx, "/long 2000")
	if err != nil {
		return err
	}
	const enough = 60
	if _, err := l.view.until(ctx, func(s client.Session) bool { return len(answered(s, run)) > enough }); err != nil {
		return err
	}
	if _, err := l.alice.call(ctx, http.StatusOK, http.MethodPost,
		l.path+"/runs/"+url.PathEscape(run)+"/cancel", nil); err != nil {
		return err
	}
	if _, err := l.view.until(ctx, func(s client.Session) bool { return s.Status == session.Idle }); err != nil {
		return err
	}
	l.note("the session is free; what was said stays until she goes on")
	return nil
}

func (l *live) fail(ctx context.Context) error {
	l.chapter("An agent that breaks off")
	run, err := l.ask(ctx, "/fail")
	if err != nil {
		return err
	}
	shown, err := l.view.until(ctx, func(s client.Session) bool { return s.Status == session.Failed && s.RunID == run })
	if err != nil {
		return err
	}
	l.note("the run failed: %s (%s)", shown.Error.Message, shown.Error.Code)
	return nil
}

func (l *live) goOn(ctx context.Context) error {
	l.chapter("She asks on; what failed is taken back, as by a rewind")
	run, err := l.ask(ctx, "Are you all right?")
	if err != nil {
		return err
	}
	shown, err := l.view.until(ctx, func(s client.Session) bool {
		return over(s) && len(answered(s, run)) > 0
	})
	if err != nil {
		return err
	}
	const turns = 2 // neither the stopped one nor the failed one
	if len(shown.Items) != 2*turns {
		return fmt.Errorf("%w: she sees %d events, and should see %d", errUnexpected, len(shown.Items), 2*turns)
	}
	l.note("she sees %d turns; epoch %d says that history was cut twice", turns, shown.Epoch)
	return nil
}

// agree compares what the watcher made of the messages with what a reload shows.
func (l *live) agree(ctx context.Context) error {
	body, err := l.alice.call(ctx, http.StatusOK, http.MethodGet, l.path+"/thread", nil)
	if err != nil {
		return err
	}
	items, err := json.Marshal(l.view.shown.Items)
	if err != nil {
		return fmt.Errorf("write what was watched: %w", err)
	}
	if err := expectSame(body, "data.items", items); err != nil {
		return err
	}
	l.note("a reload shows the same in every field")
	return nil
}
