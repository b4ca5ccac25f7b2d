package main

import (
	"context"
	"fmt"
	"net/http"
	"net/url"
	"time"

	"github.com/rethread/rethread/clients/go/watch/view"
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
func (s *story) goLive() {
	ctx, cancel := context.WithTimeout(s.alice.ctx, liveTime)
	defer cancel()
	s.chapter("In another session an agent answers; Alice watches over a websocket")
	made := s.alice.post(http.StatusCreated, "/sessions", object{"agent": "demo", "name": "Live"})
	if s.err != nil {
		return
	}
	l := &live{s, sessionPath(made), watchSession(ctx, s.alice, s.sockets, made.text("data.id"))}
	defer l.view.close()
	l.answer("Can I watch you speak?")
	l.note("that came in %d pieces", l.view.pieces)
	l.stop()
	l.breakOff()
	l.goOn()
}

// ask starts a run and returns its id.
func (l *live) ask(question string) string {
	l.says("alice", question)
	return l.alice.post(http.StatusAccepted, l.path+"/runs", object{
		"input": []object{{"content": object{"role": "user", "parts": []object{{"text": question}}}}},
	}).text("data.session.active_run_id")
}

// answer asks and waits for the whole answer.
func (l *live) answer(question string) {
	run := l.ask(question)
	l.view.until(func(s view.Session) bool { return over(s) && answered(s, run) != "" })
}

func (l *live) stop() {
	l.chapter("A long answer; she has seen enough and stops it")
	const enough = 60
	run := l.ask("/long 2000")
	l.view.until(func(s view.Session) bool { return len(answered(s, run)) > enough })
	l.alice.post(http.StatusOK, l.path+"/runs/"+url.PathEscape(run)+"/cancel", nil)
	l.view.until(func(s view.Session) bool { return s.Status == view.Idle })
	l.note("what was said stays until she goes on")
}

func (l *live) breakOff() {
	l.chapter("An agent that breaks off")
	run := l.ask("/fail")
	l.view.until(func(s view.Session) bool { return s.Status == view.Failed && s.RunID == run })
	if l.err == nil {
		l.note("the run failed: %s (%s)", l.view.shown.Error.Message, l.view.shown.Error.Code)
	}
}

// goOn asks again, and compares what the watcher made of the messages with what a
// reload shows.
func (l *live) goOn() {
	l.chapter("She asks on; what failed is taken back, as by a rewind")
	l.answer("Are you all right?")
	thread := l.alice.get(l.path + "/thread")
	thread.is("data.items", l.view.shown.Items)
	const items = 4 // of two turns: neither the stopped one nor the failed one
	if n := len(l.view.shown.Items); n != items {
		l.fail(fmt.Errorf("%w: she sees %d events, and should see %d", errUnexpected, n, items))
	}
	l.note("two turns are left, and a reload shows the same in every field")
}
