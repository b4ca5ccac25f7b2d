package dynamostore

import (
	"context"
	"fmt"
	"strconv"
	"strings"

	"github.com/aws/aws-sdk-go-v2/feature/dynamodb/attributevalue"

	"github.com/rethread/rethread/shared/delivery"
	"github.com/rethread/rethread/shared/run"
	"github.com/rethread/rethread/shared/session"
)

const (
	attrStatus    = "st" // of runMarks.Status
	attrCancelled = "xt" // of linkItem.Cancelled
)

// Happened is what a change means to those who asked to be told: nothing, for
// most items. The events depend on the change alone, so a change read twice
// gives the same.
func (s *Store) Happened(ctx context.Context, c Change) ([]delivery.Event, error) {
	if c.New == nil {
		return nil, nil
	}
	pk, sk := stringOf(c.New[attrPK]), stringOf(c.New[attrSK])
	if user, ok := strings.CutPrefix(pk, prefixLink); ok {
		return cancelledTask(c, user, sk)
	}
	log, ok := strings.CutPrefix(pk, prefixLog)
	if !ok || !strings.HasPrefix(sk, prefixEntry) || sk == skGone || c.New[attrStub] != nil {
		return nil, nil
	}
	if c.Old != nil && stringOf(c.Old[attrStatus]) != string(session.EventInProgress) {
		return nil, nil // it was told when it came
	}
	rec, err := s.decodeEntry(ctx, c.New)
	if err != nil {
		return nil, fmt.Errorf("what happened in %s %s: %w", pk, sk, err)
	}
	return happenedIn(log, rec, c.Old == nil)
}

func happenedIn(log string, rec *record, fresh bool) ([]delivery.Event, error) {
	at := func(typ delivery.Type, runID string, position int64) delivery.Event {
		return delivery.Event{
			ID: log + "." + strconv.FormatInt(position, 10), Type: typ, Log: log, RunID: runID, Seq: position, Time: rec.time,
		}
	}
	switch {
	case rec.inProgress():
		return nil, nil
	case rec.Began != "":
		return []delivery.Event{at(delivery.RunStarted, rec.Began, rec.last())}, nil
	case rec.Ended != "":
		r, err := rec.endedRun()
		if err != nil {
			return nil, err
		}
		ended := at(endOf(r), rec.Ended, rec.first)
		if rec.Open == 0 {
			return []delivery.Event{ended}, nil
		}
		// The transaction that ends a run may complete its item too, and the order
		// in which a stream has the two is not said: so the end tells of the item
		// first, which by its id is told once.
		return []delivery.Event{at(delivery.ItemCompleted, rec.Ended, rec.Open), ended}, nil
	case !fresh || rec.OfRun:
		var out []delivery.Event
		for _, e := range rec.events {
			out = append(out, at(delivery.ItemCompleted, e.InvocationID, e.Seq))
		}
		return out, nil
	}
	return nil, nil
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
	if err := attributevalue.UnmarshalMap(c.New, &item); err != nil {
		return nil, fmt.Errorf("unmarshal a link: %w", err)
	}
	return []delivery.Event{{
		ID: "cancelled." + item.Session + "." + taskID, Type: delivery.TaskCancelled, UserID: user, SessionID: item.Session,
		RunID: taskID, Time: item.Cancelled,
	}}, nil
}
