package openresponses

import (
	"context"
	"errors"
	"net/http"

	"github.com/rethread/rethread/shared/base/fault"
	"github.com/rethread/rethread/shared/domain/access"
	"github.com/rethread/rethread/shared/domain/run"
	"github.com/rethread/rethread/shared/domain/session"
	"github.com/rethread/rethread/shared/transport/frontend"
	"github.com/rethread/rethread/shared/transport/openresponses/responsesconvert"
)

// readSession reads a session for an action. One that the caller may not even read does
// not exist for the caller.
func (s *server) readSession(ctx context.Context, id string, a access.Action) (session.Session, error) {
	of, _, err := s.ReadSession(ctx, id, a)
	if errors.Is(err, fault.Of(fault.Forbidden)) && a != access.ReadSession {
		if _, _, hidden := s.ReadSession(ctx, id, access.ReadSession); hidden == nil {
			return of, err
		}
	}
	return of, unread(id, err)
}

// answer answers a request with what was read of a session, as frontend.Server does.
func (s *server) answer(ctx context.Context, w http.ResponseWriter, of session.Session, value any) error {
	return unread(of.ID, s.Answer(ctx, w, of, value))
}

// unread returns the error of a read: a session that may not be read does not exist.
func unread(id string, err error) error {
	if errors.Is(err, fault.Of(fault.NotFound)) || errors.Is(err, fault.Of(fault.Forbidden)) {
		return fault.New(fault.SessionNotFound, "There is no conversation with this id: %s", id)
	}
	return err
}

// found is a response whose session the caller may read.
type found struct {
	id responsesconvert.ID
	of session.Session
	responsesconvert.Response
}

func (f found) ref() run.Ref {
	return run.Ref{UserID: f.of.UserID, SessionID: f.of.ID, RunID: f.id.RunID}
}

// find returns the response with an id for an action on its session, without its events.
// A foreign one does not exist for the caller.
func (s *server) find(ctx context.Context, text string, a access.Action) (found, error) {
	missing := fault.New(fault.RunNotFound, "There is no response with this id: %s", text)
	id, ok := responsesconvert.ParseID(text)
	if !ok {
		return found{}, missing
	}
	f := found{id: id, Response: responsesconvert.Response{ID: id}}
	var err error
	if f.of, err = s.readSession(ctx, id.SessionID, a); err != nil {
		if errors.Is(err, fault.Of(fault.NotFound)) {
			err = missing
		}
		return found{}, err
	}
	f.Run, err = s.Runs.Run(ctx, f.ref())
	if errors.Is(err, fault.Of(fault.NotFound)) {
		err = missing
	}
	return f, err
}

// load returns the response that a request's path names, with its events so far.
func (s *server) load(r *http.Request, a access.Action) (found, error) {
	f, err := s.find(r.Context(), frontend.PathParameter(r, "response_id"), a)
	if err != nil {
		return f, err
	}
	return f, s.readOwn(r.Context(), &f)
}

// readOwn reads the events of a response: those of its run, or the input that waits.
func (s *server) readOwn(ctx context.Context, f *found) error {
	if f.Run.Status == run.Waiting {
		t, err := s.Runs.Thread(ctx, f.of.UserID, f.of.ID, run.ThreadQuery{Descending: true, Limit: 1})
		if err != nil {
			return err
		}
		for _, start := range t.Queue.Starts {
			if start.RunID == f.id.RunID {
				f.Own = inputOf(start.Input, start.RunID)
			}
		}
		return nil
	}
	entries, err := s.entriesOf(ctx, f.of, f.id)
	f.Own = entries.own
	return err
}

// inputOf returns events as the input of a run.
func inputOf(events []session.Event, runID string) []session.Event {
	out := make([]session.Event, len(events))
	for i, e := range events {
		e.InvocationID = runID
		out[i] = e
	}
	return out
}

// entries are the events of a run in its session's log, hidden or not.
type entries struct {
	own     []session.Event
	history []session.Event // that came with the run's request
	next    string          // the first invocation that begins after the run's last event; "" for none
}

// entriesOf reads the log from a response's position on, until after the run's events.
func (s *server) entriesOf(ctx context.Context, of session.Session, id responsesconvert.ID) (entries, error) {
	var out entries
	begun := map[string]bool{id.RunID: true, "": true, responsesconvert.HistoryOf(id.RunID): true}
	q := session.EventQuery{View: session.All, After: id.After, Limit: session.DefaultPage}
	for {
		page, err := s.Sessions.Events(ctx, of.UserID, of.ID, q)
		if err != nil {
			return entries{}, err
		}
		grown := false
		for _, e := range page.Events {
			switch {
			case e.InvocationID == id.RunID:
				if out.next != "" { // it was added during the run
					begun[out.next], out.next = true, ""
				}
				out.own, grown = append(out.own, e), true
			case e.InvocationID == responsesconvert.HistoryOf(id.RunID):
				out.history = append(out.history, e)
			case !begun[e.InvocationID] && len(out.own) == 0:
				begun[e.InvocationID] = true
			case !begun[e.InvocationID] && out.next == "":
				out.next = e.InvocationID
			}
		}
		if page.Next == nil || len(out.own) > 0 && !grown && out.next != "" {
			return out, nil
		}
		q.After = page.Events[len(page.Events)-1].Seq // not page.Next, which a rewind ends
	}
}
