package dynamostore

import (
	"context"
	"errors"
	"fmt"

	"github.com/aws/aws-sdk-go-v2/feature/dynamodb/attributevalue"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"github.com/rethread/rethread/shared/fault"
	"github.com/rethread/rethread/shared/run"
	"github.com/rethread/rethread/shared/session"
)

// Start implements run.Store. What stands in the way is cleared first, by steps
// that can be repeated: a run to cancel, a failed one to discard. The start
// itself is one transaction.
func (s *Store) Start(ctx context.Context, start run.Start) (run.Run, error) {
	for try := 0; ; try++ {
		r, err := s.start(ctx, start)
		if !errors.Is(err, errTaken) {
			return r, err
		}
		if err := beforeNext(ctx, err, try); err != nil {
			return run.Run{}, err
		}
	}
}

func (s *Store) start(ctx context.Context, start run.Start) (run.Run, error) {
	h, _, a, err := s.settled(ctx, start.UserID, start.SessionID)
	if err != nil {
		return run.Run{}, err
	}
	if a != nil {
		if a.ID == start.RunID {
			return a.run(), nil // an earlier try
		}
		if start.OnActive != run.CancelAndMerge {
			return run.Run{}, fault.New(fault.Conflict, "a run is in progress").With("run_id", a.ID)
		}
		if _, err := s.cancel(ctx, a.ref(), start.RunID); err != nil && !errors.Is(err, fault.Of(fault.Conflict)) {
			return run.Run{}, err
		}
		return run.Run{}, errCleared
	}
	if past, err := s.pastRun(ctx, h, start.RunID); past != nil || err != nil {
		return derefOr(past), err
	}
	if h.Spent != "" {
		if h.Status == session.Failed && start.OnFailed == run.Block {
			return run.Run{}, fault.New(fault.Conflict, "the last run failed").With("run_id", h.Spent)
		}
		if err := s.discardRun(ctx, h, start); err != nil {
			return run.Run{}, err
		}
		return run.Run{}, errCleared
	}
	r, err := s.begin(ctx, h, start)
	return r, s.unlessGone(ctx, h, err)
}

// discardRun takes the session back to before its last run, as a rewind does.
func (s *Store) discardRun(ctx context.Context, h *header, start run.Start) error {
	_, err := s.rewind(ctx, session.Rewind{
		UserID: start.UserID, SessionID: start.SessionID, Before: h.Spent, Nonce: "discard-" + h.Spent,
	}, &discarding{chain: start.Chain})
	return err
}

// begin writes the start of a run.
func (s *Store) begin(ctx context.Context, h *header, start run.Start) (run.Run, error) {
	input, err := s.input(ctx, h, start)
	if err != nil {
		return run.Run{}, err
	}
	if err := s.admitBytes(ctx, h.User); err != nil {
		return run.Run{}, err
	}
	if err := s.takeSlot(ctx, h, start.RunID); err != nil {
		return run.Run{}, err
	}
	newest := s.watchNewest(ctx, h)
	w := s.newWriter(h, input)
	now := s.millis()
	k := runKey(h.Log)
	a := &activeRun{
		PK: k.pk, SK: k.sk, ID: start.RunID, User: h.User, Session: h.id(), Agent: start.Agent, Mode: start.Mode,
		Started: now, Lease: now + s.lease.Milliseconds(), Chain: start.Chain, GPK: runIndexPK(h.Log), GSK: activitySK(now, h.Log),
		Slot: s.quotas.Runs > 0,
	}
	if a.Agent == "" {
		a.Agent = h.Agent
	}
	if a.Mode == run.External {
		a.Worker = string(run.External)
	}
	w.marks = func(e *entry) { e.Began, e.told = start.RunID, a.tells() }
	w.check = func(ctx context.Context) error { return s.stillFree(ctx, h, start) }
	w.with = func() ([]types.TransactWriteItem, error) {
		a.At = w.at.next
		put, err := s.transactPut(a, condition{expression: ifAbsent})
		if err != nil {
			return nil, err
		}
		take, err := s.takeSession(h, a, newest)
		return []types.TransactWriteItem{put, take}, err
	}
	if _, err := w.run(ctx); err != nil {
		s.unstarted(ctx, h, start.RunID, err)
		return run.Run{}, fmt.Errorf("start run %s: %w", start.RunID, err)
	}
	return a.run(), nil
}

// stillFree tells whether a run may begin; errTaken where the session is not as
// it was read.
func (s *Store) stillFree(ctx context.Context, was *header, start run.Start) error {
	h, err := s.header(ctx, start.UserID, start.SessionID)
	if err != nil {
		return err
	}
	if h.Run != "" || h.Log != was.Log || h.Epoch != was.Epoch || h.Spent != was.Spent {
		return errTaken
	}
	return nil
}

// input is the events that a run begins with: those of the run that it
// cancelled, where it is to merge them, and its own.
func (s *Store) input(ctx context.Context, h *header, start run.Start) ([]session.Event, error) {
	var input []session.Event
	if h.MergeInto == start.RunID {
		rec, err := s.covering(ctx, h.Log, h.MergeAt)
		if err != nil {
			return nil, err
		}
		for _, e := range rec.events {
			input = append(input, session.Event{
				Author: e.Author, StateDelta: e.StateDelta, ArtifactDelta: e.ArtifactDelta, Fields: e.Fields,
			})
		}
	}
	input = append(input, start.Input...)
	for i := range input {
		input[i].InvocationID = start.RunID
	}
	return input, nil
}

// takeSession is the change of the header when a run begins.
func (s *Store) takeSession(
	h *header, a *activeRun, newest func() (bool, error),
) (take types.TransactWriteItem, err error) {
	c := h.sameLog()
	c.expression += " AND attribute_not_exists(#rn) AND attribute_not_exists(#rx)"
	for short, name := range map[string]string{
		"#rn": "rn", "#rx": "rx", "#mi": "mi", "#ma": "ma", "#status": "status", "#ca": "ca",
	} {
		c.names[short] = name
	}
	c.values[":rn"], c.values[":status"] = str(a.ID), str(string(session.InProgress))
	set, clear := "SET #rn = :rn, #status = :status", " REMOVE #mi, #ma, #ca"
	if len(a.Chain) > 0 {
		if c.values[":ca"], err = attributevalue.Marshal(a.Chain); err != nil {
			return types.TransactWriteItem{}, fmt.Errorf("marshal a chain: %w", err)
		}
		set, clear = set+", #ca = :ca", " REMOVE #mi, #ma"
	}
	if set, err = h.andMoveUp(set, &c, newest, a.Started); err != nil {
		return types.TransactWriteItem{}, err
	}
	return s.transactUpdate(sessionKey(h.id()), set+clear, c), nil
}
