package eventlog

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/rethread/rethread/shared/domain/session"
	"github.com/rethread/rethread/shared/store/keys"
	"github.com/rethread/rethread/shared/store/records"
	"github.com/rethread/rethread/shared/store/table"
)

// Checkpoint is the session state as of one log entry. The log is authoritative: if
// a checkpoint was not written, the next reader applies the entries after the one
// it has.
type Checkpoint struct {
	PK       string `dynamodbav:"PK"`
	SK       string `dynamodbav:"SK"`
	Position int64  `dynamodbav:"at"` // position of the latest entry it includes
	records.Body
}

// checkpointAt is the attribute of checkpoint.At.
const checkpointAt = "at"

// SessionValues returns the session state as of LastState, the latest entry that
// changed any, or as of a later one, and that entry's position.
func (s *Store) SessionValues(
	ctx context.Context, log string, lastState int64,
) (values session.Values, asOf int64, err error) {
	values = session.Values{}
	var have Checkpoint
	found, err := s.DB.Get(ctx, keys.StateKey(log), &have)
	if err != nil {
		return nil, 0, err
	}
	if found {
		if err := s.content.Unpack(ctx, have.PK, have.Body, &values); err != nil {
			return nil, 0, err
		}
	}
	if have.Position >= lastState {
		return values, have.Position, nil
	}
	missed, err := s.stateEntries(ctx, log, lastState, have.Position)
	if err != nil {
		return nil, 0, err
	}
	for _, r := range slices.Backward(missed) {
		for _, e := range r.Events {
			values.Apply(e.Change().In(session.ScopeSession))
		}
	}
	s.Checkpoint(ctx, log, lastState, values)
	return values, lastState, nil
}

// stateEntries follows the links from one entry that changes session state to the
// previous one, latest first, down to but excluding the position until.
func (s *reader) stateEntries(ctx context.Context, log string, from, until int64) ([]*Record, error) {
	var out []*Record
	back := backwards{s: s, log: log, until: until}
	for at := from; at > until; {
		r, err := back.covering(ctx, at)
		if err != nil {
			return nil, err
		}
		if r.First != at {
			return nil, fmt.Errorf("%w: log %s at state change %d", ErrMissingEntry, log, at)
		}
		out = append(out, r)
		at = r.PrevState
	}
	return out, nil
}

// Checkpoint stores the session state as of an entry, unless a later one is stored.
// A failure only costs the next reader some reads.
func (s *Store) Checkpoint(ctx context.Context, log string, at int64, values session.Values) {
	c := Checkpoint{PK: keys.LogPK(log), SK: keys.SkState, Position: at}
	var err error
	if c.Body, err = s.content.Pack(ctx, c.PK, values, 0); err == nil {
		err = s.DB.Put(ctx, c, table.Or(table.ItemNotExists(), table.Less(table.Path{checkpointAt}, at)))
	}
	if err != nil && !errors.Is(err, table.ErrConditionFailed) {
		s.Log.WarnContext(ctx, "state checkpoint not written", "log", log, "at", at, "error", err)
	}
}
