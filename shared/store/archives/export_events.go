package archives

import (
	"context"
	"encoding/json"
	"fmt"

	"github.com/rethread/rethread/shared/domain/archive"
	"github.com/rethread/rethread/shared/domain/run"
	"github.com/rethread/rethread/shared/domain/session"
	"github.com/rethread/rethread/shared/store/eventlog"
	"github.com/rethread/rethread/shared/store/sessions"
)

// EventsOf exports the whole log, what a fork took over first.
func (x *exporting) events(ctx context.Context) error {
	whole, err := x.s.sessions.Timeline(ctx, x.h.Whole)
	if err != nil {
		return err
	}
	for i, r := range whole.Before(x.head.Next) {
		if r.Log == x.h.Log {
			if err := x.exportRange(ctx, r, nil); err != nil {
				return err
			}
			continue
		}
		var hidden session.Delta
		if hidden, err = x.hiddenAfter(ctx, whole, i); err != nil {
			return err
		}
		if err := x.exportRange(ctx, r, hidden); err != nil {
			return err
		}
	}
	return nil
}

// exportRange exports the events of a range. behind reverts the hidden changes
// between it and the next range, which is added to the last event's undo.
func (x *exporting) exportRange(ctx context.Context, r session.Range, behind session.Delta) error {
	return x.s.records(ctx, r, func(rec *eventlog.Record) error {
		joins := false
		for i, e := range rec.Events {
			if !r.Holds(e.Seq) {
				continue
			}
			out, err := x.event(r, rec, i)
			if err != nil {
				return err
			}
			if joins {
				out.Log = archive.Log{Joins: true, Undo: out.Log.Undo, Task: out.Log.Task}
			}
			joins = true
			if e.Seq == r.To {
				out.Log.Undo = merged(out.Log.Undo, behind)
			}
			if err := x.to.Event(out); err != nil {
				return err
			}
		}
		return x.noteRun(r, rec)
	})
}

// event returns an event of a record with the log's data about it.
func (x *exporting) event(r session.Range, rec *eventlog.Record, i int) (archive.Event, error) {
	own := r.Log == x.h.Log
	e := archive.Event{Event: x.h.Show(r, rec.Events[i]), Log: archive.Log{
		Initial: rec.Initial, Hidden: rec.Hidden, Conflicts: rec.Conflicts,
		Deltas: rec.Deltas, Streamed: rec.Streamed,
	}}
	e.Log.Task = e.TaskID
	if i < len(rec.Undo) {
		e.Log.Undo = undoneBy(rec.Undo[i], own)
	}
	if !own {
		return e, nil // data of runs and rewinds belongs only to the session that had them
	}
	e.Log.Began, e.Log.Ended, e.Log.ToSeq, e.Log.Back = rec.Began, rec.Ended, rec.ToSeq, rec.Back
	if rec.IsRewind() {
		t, err := x.outlines.of(eventlog.MarkerAt{Log: r.Log, Position: rec.First}, rec.Timeline)
		if err != nil {
			return e, err
		}
		e.Log.Timeline = inSeqs(t)
	}
	return e, nil
}

// undoneBy returns the undo of an event in this session: a fork never reverts the
// shared keys that its source changed.
func undoneBy(undo session.Delta, own bool) session.Delta {
	if own || undo == nil {
		return undo
	}
	out := session.Delta{}
	for key, v := range undo {
		if scope, _ := session.ScopeOf(key); scope == session.ScopeSession {
			out[key] = v
		}
	}
	return out
}

// merged adds to a delta the keys of another that it lacks.
func merged(d, more session.Delta) session.Delta {
	if len(more) == 0 {
		return d
	}
	out := session.Delta{}
	for _, part := range []session.Delta{more, d} {
		for key, v := range part {
			out[key] = v
		}
	}
	return out
}

func (x *exporting) noteRun(r session.Range, rec *eventlog.Record) error {
	if rec.Ended == "" || r.Log != x.h.Log {
		return nil
	}
	var past run.Run
	if err := json.Unmarshal(rec.Events[0].Fields["run"], &past); err != nil {
		return fmt.Errorf("decode run %s: %w", rec.Ended, err)
	}
	past.SessionID = x.h.ID()
	x.runs = append(x.runs, past)
	return nil
}

// records visits the records of a closed range, strongly consistent.
func (s *Store) records(ctx context.Context, r session.Range, visit func(*eventlog.Record) error) error {
	if r.To < r.From {
		return nil
	}
	first, err := s.logs.EntryCovering(ctx, r.Log, r.From)
	if err != nil {
		return err
	}
	if err := visit(first); err != nil || first.Last() >= r.To {
		return err
	}
	return s.logs.Scan(ctx, r.Log, first.Last()+1, r.To, func(rec *eventlog.Record) (bool, error) {
		if rec.Unreadable != nil {
			return false, rec.Unreadable
		}
		return true, visit(rec)
	})
}

// link is one log of those that a fork took over from, up to the position at which
// the next one was forked.
type link struct {
	log      string
	base, at int64
}

// chain returns the logs that a fork took over from, oldest first.
func chain(h *sessions.Header) []link {
	var out []link
	log, at := h.Origin.Log, h.Origin.Position
	for {
		next := sessions.Lineage{}
		for _, l := range h.Origin.Ancestors() {
			if l.Log == log {
				next = l
			}
		}
		out = append([]link{{log: log, base: next.Base, at: at}}, out...)
		if next.From == "" {
			return out
		}
		log, at = next.From, next.Position
	}
}

// hiddenAfter returns the delta that reverts the hidden events between a range that
// a fork took over and the next one: a rewind may have kept their changes of the
// state.
func (x *exporting) hiddenAfter(ctx context.Context, whole session.Timeline, i int) (session.Delta, error) {
	r, next := whole[i], whole[i+1] // the last is the fork's own
	undo := session.Delta{}
	passed := false
	for _, l := range chain(x.h) {
		gap := session.Range{Log: l.log, From: l.base + 1, To: l.at}
		switch {
		case l.log == r.Log:
			passed, gap.From = true, r.To+1
		case !passed:
			continue
		}
		if l.log == next.Log {
			gap.To = next.From - 1
		}
		if err := x.undoGap(ctx, gap, undo); err != nil {
			return nil, err
		}
		if l.log == next.Log {
			break
		}
	}
	return undo, nil
}

func (x *exporting) undoGap(ctx context.Context, gap session.Range, undo session.Delta) error {
	return x.s.records(ctx, gap, func(rec *eventlog.Record) error {
		for i, taken := range rec.Undo {
			if rec.Initial || !gap.Holds(rec.First+int64(i)) {
				continue
			}
			for key, v := range undoneBy(taken, false) {
				if _, earlier := undo[key]; !earlier {
					undo[key] = v
				}
			}
		}
		return nil
	})
}
