package dynamostore

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"
	"golang.org/x/sync/errgroup"

	"github.com/rethread/rethread/shared/session"
)

// checkpoint is the session state as of one log entry. The log is the truth:
// a checkpoint that was not written is made up for by the next reader, from
// the entries that came after the one it has.
type checkpoint struct {
	PK string `dynamodbav:"PK"`
	SK string `dynamodbav:"SK"`
	At int64  `dynamodbav:"at"` // position of the newest entry it includes
	body
}

// sharedState is the state of a user in an app, or of an app. Several logs
// change it, so it changes in one transaction with the entry that does.
type sharedState struct {
	PK      string `dynamodbav:"PK"`
	SK      string `dynamodbav:"SK"`
	Version int64  `dynamodbav:"v"`
	body
}

// sharedValue is one key of a shared state. By is the session that changed it
// last; a key that is deleted stays, without a value, to say so.
type sharedValue struct {
	Value json.RawMessage `json:"v,omitempty"`
	By    string          `json:"s"`
}

// stateChange is the state that a batch of events changes.
type stateChange struct {
	sessionID string
	values    session.Values // of the session
	scopes    []*sharedChange
}

type sharedChange struct {
	scope   session.Scope
	record  sharedState
	values  map[string]sharedValue
	changed bool
}

// apply changes the states and returns the delta that takes it back.
func (c *stateChange) apply(d session.Delta) (undo session.Delta) {
	if len(d) == 0 {
		return nil
	}
	undo = c.values.Apply(d.In(session.ScopeSession))
	for _, sc := range c.scopes {
		for name, next := range d.In(sc.scope) {
			key := sc.scope.Prefix() + name
			undo[key] = json.RawMessage("null")
			if prev := sc.values[name]; prev.Value != nil {
				undo[key] = prev.Value
			}
			if session.IsNull(next) {
				next = nil
			}
			sc.values[name] = sharedValue{Value: next, By: c.sessionID}
			sc.changed = true
		}
	}
	return undo
}

func (c *stateChange) shared() bool {
	return slices.ContainsFunc(c.scopes, func(sc *sharedChange) bool { return sc.changed })
}

// check refuses a state that has grown too large.
func (c *stateChange) check() error {
	if err := c.values.CheckSize(session.ScopeSession); err != nil {
		return err
	}
	for _, sc := range c.scopes {
		if err := sc.current().CheckSize(sc.scope); err != nil {
			return err
		}
	}
	return nil
}

// current is the shared state without its deleted keys.
func (sc *sharedChange) current() session.Values {
	out := session.Values{}
	for name, v := range sc.values {
		if v.Value != nil {
			out[name] = v.Value
		}
	}
	return out
}

// loadStates reads the state in all scopes as of a log's head.
func (s *Store) loadStates(ctx context.Context, h *header, at head) (*stateChange, error) {
	c := &stateChange{sessionID: h.id(), scopes: []*sharedChange{
		{scope: session.ScopeUser, record: sharedState{PK: userStateKey(h.App, h.User).pk, SK: skState}},
		{scope: session.ScopeApp, record: sharedState{PK: appStateKey(h.App).pk, SK: skState}},
	}}
	group, ctx := errgroup.WithContext(ctx)
	group.Go(func() (err error) {
		c.values, err = s.sessionValues(ctx, h.Log, at.lastState)
		return err
	})
	for _, sc := range c.scopes {
		group.Go(func() error { return s.loadShared(ctx, sc) })
	}
	if err := group.Wait(); err != nil {
		return nil, fmt.Errorf("read the state of session %s: %w", h.id(), err)
	}
	return c, nil
}

func (s *Store) loadShared(ctx context.Context, sc *sharedChange) error {
	sc.values = map[string]sharedValue{}
	found, err := s.get(ctx, key{sc.record.PK, sc.record.SK}, &sc.record)
	if err != nil || !found {
		return err
	}
	return s.unpack(ctx, sc.record.PK, sc.record.body, &sc.values)
}

// sessionValues is the session state as of lastState, the newest entry that
// changed any.
func (s *Store) sessionValues(ctx context.Context, log string, lastState int64) (session.Values, error) {
	values := session.Values{}
	var have checkpoint
	found, err := s.get(ctx, stateKey(log), &have)
	if err != nil {
		return nil, err
	}
	if found {
		if err := s.unpack(ctx, have.PK, have.body, &values); err != nil {
			return nil, err
		}
	}
	if have.At >= lastState {
		return values, nil
	}
	missed, err := s.stateEntries(ctx, log, lastState, have.At)
	if err != nil {
		return nil, err
	}
	for _, r := range slices.Backward(missed) {
		for _, e := range r.events {
			values.Apply(e.StateDelta.In(session.ScopeSession))
		}
	}
	s.checkpoint(ctx, log, lastState, values)
	return values, nil
}

// stateEntries follows the links from one entry that changes session state to
// the one before it, newest first, down to but without the position until.
func (s *Store) stateEntries(ctx context.Context, log string, from, until int64) ([]*record, error) {
	var out []*record
	for at := from; at > until; {
		r, err := s.entryAtOrBefore(ctx, log, at)
		if err != nil {
			return nil, err
		}
		if r == nil || r.first != at {
			return nil, fmt.Errorf("log %s has no state change at %d", log, at)
		}
		out = append(out, r)
		at = r.PrevState
	}
	return out, nil
}

// checkpoint stores the session state as of an entry, unless a newer one is
// stored. Failing costs the next reader some reads, and nobody anything else.
func (s *Store) checkpoint(ctx context.Context, log string, at int64, values session.Values) {
	c := checkpoint{PK: logPK(log), SK: skState, At: at}
	var err error
	if c.body, err = s.pack(ctx, c.PK, values, 0); err == nil {
		err = s.put(ctx, c, condition{
			expression: ifAbsent + " OR #at < :at",
			names:      map[string]string{"#at": "at"},
			values:     attributes{":at": num(at)},
		}, nil)
	}
	if err != nil && !errors.Is(err, errTaken) {
		s.log.WarnContext(ctx, "state checkpoint not written", "log", log, "at", at, "error", err)
	}
}

// putWithShared writes an entry and the shared states it changes as one.
func (s *Store) putWithShared(ctx context.Context, r *record, c *stateChange) error {
	put, err := s.transactPut(r.entry, condition{expression: ifAbsent})
	if err != nil {
		return err
	}
	writes, err := s.sharedPuts(ctx, c)
	if err != nil {
		return err
	}
	return s.transact(ctx, append(writes, put)...)
}

func (s *Store) sharedPuts(ctx context.Context, c *stateChange) ([]types.TransactWriteItem, error) {
	var writes []types.TransactWriteItem
	for _, sc := range c.scopes {
		if !sc.changed {
			continue
		}
		next := sharedState{PK: sc.record.PK, SK: sc.record.SK, Version: sc.record.Version + 1}
		var err error
		if next.body, err = s.pack(ctx, next.PK, sc.values, 0); err != nil {
			return nil, err
		}
		put, err := s.transactPut(next, condition{
			expression: ifAbsent + " OR #v = :v",
			names:      map[string]string{"#v": "v"},
			values:     attributes{":v": num(sc.record.Version)},
		})
		if err != nil {
			return nil, err
		}
		writes = append(writes, put)
	}
	return writes, nil
}

// State implements session.Store.
func (s *Store) State(ctx context.Context, userID, id string) (session.State, error) {
	h, err := s.header(ctx, userID, id)
	if err != nil {
		return session.State{}, err
	}
	at, err := s.readHead(ctx, h.Log)
	if err != nil {
		return session.State{}, err
	}
	c, err := s.loadStates(ctx, h, at)
	if err != nil {
		return session.State{}, err
	}
	state := session.State{Session: c.values}
	for _, sc := range c.scopes {
		switch sc.scope {
		case session.ScopeUser:
			state.User = sc.current()
		case session.ScopeApp:
			state.App = sc.current()
		case session.ScopeSession, session.ScopeTemp:
		}
	}
	state.Merge()
	return state, nil
}
