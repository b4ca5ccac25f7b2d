package main

import (
	"context"
	"fmt"
	"net/http"
	"net/url"
	"time"

	"github.com/rethread/rethread/clients/go/watch/view"
)

// liveTime limits the chapters with an agent.
const liveTime = 90 * time.Second

// live is the part of the story in which an agent answers while Alice watches.
type live struct {
	*story

	path string
	view *viewer
}

// goLive opens a session with the demo agent and watches it through answers that
// succeed, are cancelled and fail.
func (s *story) goLive() {
	ctx, cancel := context.WithTimeout(s.alice.ctx, liveTime)
	defer cancel()
	s.chapter("In another session an agent answers; Alice watches over a websocket")
	made := s.alice.post(http.StatusCreated, "/sessions", object{"agent": "demo", "name": "Live"})
	if s.err != nil {
		return
	}
	l := &live{s, sessionPath(made), watchSession(ctx, s.alice, made.text("data.id"))}
	defer l.view.close()
	l.answer("Can I watch you speak?")
	l.note("it arrived in %d pieces", l.view.pieces)
	l.stop()
	l.failMidway()
	l.askAgain()
}

// ask starts a run and returns its id.
func (l *live) ask(question string) string {
	l.says("alice", question)
	return l.alice.post(http.StatusAccepted, l.path+"/runs", object{
		"input": []object{{"content": object{"role": "user", "parts": []object{{"text": question}}}}},
	}).text("data.session.active_run_id")
}

// answer asks and waits for the complete answer.
func (l *live) answer(question string) {
	run := l.ask(question)
	l.view.until(func(s view.Session) bool { return finished(s) && answerSoFar(s, run) != "" })
}

func (l *live) stop() {
	l.chapter("A long answer: she has seen enough and stops it")
	const enough = 60
	run := l.ask("/long 2000")
	l.view.until(func(s view.Session) bool { return len(answerSoFar(s, run)) > enough })
	l.alice.post(http.StatusOK, l.path+"/runs/"+url.PathEscape(run)+"/cancel", nil)
	l.view.until(func(s view.Session) bool { return s.Status == view.Idle })
	l.note("the partial answer stays until she continues")
}

func (l *live) failMidway() {
	l.chapter("An agent that fails midway")
	run := l.ask("/fail")
	l.view.until(func(s view.Session) bool { return s.Status == view.Failed && s.RunID == run })
	if l.err == nil {
		l.note("the run failed: %s (%s)", l.view.shown.Error.Message, l.view.shown.Error.Code)
	}
}

// askAgain asks again, and compares the watcher's view of the messages with a reload.
func (l *live) askAgain() {
	l.chapter("She asks again; the failed turn is removed, as by a rewind")
	l.answer("Are you all right?")
	thread := l.alice.get(l.path + "/thread")
	thread.wantValue("data.items", l.view.shown.Items)
	const items = 4 // of two turns, without the cancelled and the failed one
	if n := len(l.view.shown.Items); n != items {
		l.fail(fmt.Errorf("%w: she sees %d events, want %d", errUnexpected, n, items))
	}
	l.note("two turns remain, and a reload shows the same in every field")
}
