package sessions

import (
	"context"
	"encoding/json"
	"fmt"
	"strconv"
	"strings"

	"github.com/rethread/rethread/shared/domain/delivery"
	"github.com/rethread/rethread/shared/domain/run"
	"github.com/rethread/rethread/shared/domain/session"
	"github.com/rethread/rethread/shared/store/table"
)

const (
	attrStatus    = "st" // of runMarks.Status
	attrCancelled = "xt" // of linkItem.Cancelled
)

// Happened is what a change means to those who asked to be told: nothing, for
// most items. The events depend on the change alone, so a change read twice
// gives the same. Removals mean nothing: what is deleted leaves an item that says
// so.
func (s *Store) Happened(ctx context.Context, c Change) ([]delivery.Event, error) {
	if c.New == nil {
		return nil, nil
	}
	pk, sk := table.Text(c.New, attrPK), table.Text(c.New, attrSK)
	var events []delivery.Event
	var err error
	switch log, inLog := strings.CutPrefix(pk, prefixLog); {
	case inLog && sk == skGone:
		events, err = deletedSession(c, log)
	case inLog && strings.HasPrefix(sk, prefixEntry):
		events, err = s.happenedAt(ctx, c, log)
	case inLog && strings.HasPrefix(sk, prefixTask):
		events, err = savedTask(c, log)
	case strings.HasPrefix(sk, prefixArtifact):
		events, err = savedArtifact(c, pk)
	case strings.HasPrefix(pk, prefixSession) && sk == skHeader:
		events, err = newSession(c)
	case strings.HasPrefix(pk, prefixFeedback):
		events, err = givenFeedback(c)
	case strings.HasPrefix(pk, prefixLink):
		events, err = cancelledTask(c, strings.TrimPrefix(pk, prefixLink), sk)
	}
	if err != nil {
		return nil, fmt.Errorf("what happened in %s %s: %w", pk, sk, err)
	}
	return events, nil
}

// happenedAt is what an entry of a log means that is new, or whole now.
func (s *Store) happenedAt(ctx context.Context, c Change, log string) ([]delivery.Event, error) {
	if c.New[attrStub] != nil || c.Old != nil && table.Text(c.Old, attrStatus) != string(session.EventInProgress) {
		return nil, nil // it was told when it came
	}
	rec, err := s.decodeEntry(ctx, c.New)
	if err != nil {
		return nil, err
	}
	if c.Old == nil && rec.User != "" {
		return toldIn(log, rec)
	}
	if rec.inProgress() || c.Old == nil && !rec.OfRun {
		return nil, nil
	}
	var out []delivery.Event
	for _, e := range rec.events {
		out = append(out, rec.at(log, delivery.ItemCompleted, e.InvocationID, e.Seq))
	}
	return out, nil
}

// toldIn is what an entry means that begins or ends a run, or rewinds.
func toldIn(log string, rec *record) ([]delivery.Event, error) {
	switch {
	case rec.Began != "":
		return []delivery.Event{rec.at(log, delivery.RunStarted, rec.Began, rec.last())}, nil
	case rec.marks():
		var actions struct {
			Before string `json:"rewind_before_invocation_id"`
		}
		if err := json.Unmarshal(rec.events[0].Fields["actions"], &actions); err != nil {
			return nil, fmt.Errorf("decode a rewind: %w", err)
		}
		e := rec.at(log, delivery.SessionRewound, "", rec.first)
		e.Before = actions.Before
		return []delivery.Event{e}, nil
	case rec.Ended == "":
		return nil, nil
	}
	r, err := run.EndedBy(rec.events[0])
	if err != nil {
		return nil, err
	}
	ended := rec.at(log, endOf(r), rec.Ended, rec.first)
	if r.Error != nil {
		ended.Error = r.Error.Code
	}
	if rec.Open == 0 {
		return []delivery.Event{ended}, nil
	}
	// The transaction that ends a run may complete its item too, and the order
	// in which a stream has the two is not said: so the end tells of the item
	// first, which by its id is told once.
	item := rec.at(log, delivery.ItemCompleted, rec.Ended, rec.Open)
	return []delivery.Event{item, ended}, nil
}

// at is an event at a position of the log. That an item is whole is told from
// more than one change, and must be the same each time.
func (r *record) at(log string, typ delivery.Type, runID string, position int64) delivery.Event {
	of := r.told
	if typ == delivery.ItemCompleted {
		of = told{}
	}
	e := of.event(typ, log+"."+strconv.FormatInt(position, 10), r.time)
	e.Log, e.RunID, e.Seq = log, runID, position
	return e
}

// endOf is the type of the event that a run is over.
func endOf(r run.Run) delivery.Type {
	switch r.Status {
	case run.Failed:
		return delivery.RunFailed
	case run.Cancelled:
		return delivery.RunCancelled
	default:
		return delivery.RunCompleted
	}
}

// cancelledTask tells of an A2A task that was cancelled while it waited for its
// user: no log says so.
func cancelledTask(c Change, user, taskID string) ([]delivery.Event, error) {
	if c.New[attrCancelled] == nil || c.Old[attrCancelled] != nil {
		return nil, nil
	}
	var item linkItem
	if err := table.Decode(c.New, &item); err != nil {
		return nil, fmt.Errorf("unmarshal a link: %w", err)
	}
	return []delivery.Event{{
		ID: "cancelled." + item.Session + "." + taskID, Type: delivery.TaskCancelled, UserID: user, SessionID: item.Session,
		RunID: taskID, Time: item.Cancelled,
	}}, nil
}
