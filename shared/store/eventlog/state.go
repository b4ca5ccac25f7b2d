package eventlog

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"

	"golang.org/x/sync/errgroup"

	"github.com/rethread/rethread/shared/base/jsonx"
	"github.com/rethread/rethread/shared/domain/session"
	"github.com/rethread/rethread/shared/store/keys"
	"github.com/rethread/rethread/shared/store/records"
	"github.com/rethread/rethread/shared/store/table"
)

// sharedState is the state of a user in an app, or of an app. Several logs change
// it, so it changes in one transaction with the entry that changes it.
type sharedState struct {
	PK      string `dynamodbav:"PK"`
	SK      string `dynamodbav:"SK"`
	Version int64  `dynamodbav:"v"`
	records.Body
}

// sharedVersion is the attribute of sharedState.Version.
const sharedVersion = "v"

// SharedValue is one key of a shared state. By is the session that changed it last;
// a deleted key stays, without a value, to record that.
type SharedValue struct {
	Value json.RawMessage `json:"v,omitempty"`
	By    string          `json:"s"`
}

// appItem records, with the first one stored, that a user has state or artifacts in
// an app; otherwise they could only be found by a caller that knows the app.
type appItem struct {
	PK string `dynamodbav:"PK"`
	SK string `dynamodbav:"SK"`
}

// UserApp returns the appItem for a partition of shared state.
func UserApp(pk string) appItem {
	app, user, _ := strings.Cut(strings.TrimPrefix(pk, "U#"), "/")
	return appItem{PK: keys.AppsPK(user), SK: app}
}

// StateChange is the state that a batch of events changes.
type StateChange struct {
	SessionID string
	Values    session.Values // of the session
	AsOf      int64          // position of the latest entry that values include
	Scopes    []*sharedChange
}

type sharedChange struct {
	Scope   session.Scope
	record  sharedState
	Values  map[string]SharedValue
	Changed bool
}

// Apply changes the states and returns the delta that reverts the change.
func (c *StateChange) Apply(d session.Delta) (undo session.Delta) {
	if len(d) == 0 {
		return nil
	}
	undo = c.Values.Apply(d.In(session.ScopeSession))
	for _, sc := range c.Scopes {
		for name, next := range d.In(sc.Scope) {
			key := sc.Scope.Prefix() + name
			undo[key] = json.RawMessage("null")
			if prev := sc.Values[name]; prev.Value != nil {
				undo[key] = prev.Value
			}
			if jsonx.IsNull(next) {
				next = nil
			}
			sc.Values[name] = SharedValue{Value: next, By: c.SessionID}
			sc.Changed = true
		}
	}
	return undo
}

// Current returns a key's value in a scope and, for a shared key, the session that
// changed it last.
func (c *StateChange) Current(scope session.Scope, name string) (v json.RawMessage, by string) {
	if scope == session.ScopeSession {
		return c.Values[name], ""
	}
	for _, sc := range c.Scopes {
		if sc.Scope == scope {
			return sc.Values[name].Value, sc.Values[name].By
		}
	}
	return nil, ""
}

func (c *StateChange) shared() bool {
	return slices.ContainsFunc(c.Scopes, func(sc *sharedChange) bool { return sc.Changed })
}

// Check refuses a state that has grown too large.
func (c *StateChange) Check() error {
	if err := c.Values.CheckSize(session.ScopeSession); err != nil {
		return err
	}
	for _, sc := range c.Scopes {
		if err := sc.current().CheckSize(sc.Scope); err != nil {
			return err
		}
	}
	return nil
}

// current returns the shared state without its deleted keys.
func (sc *sharedChange) current() session.Values {
	out := session.Values{}
	for name, v := range sc.Values {
		if v.Value != nil {
			out[name] = v.Value
		}
	}
	return out
}

// State returns the state in all scopes in its external form.
func (c *StateChange) State() session.State {
	state := session.State{Session: c.Values.Visible()}
	for _, sc := range c.Scopes {
		switch sc.Scope {
		case session.ScopeUser:
			state.User = sc.current().Visible()
		case session.ScopeApp:
			state.App = sc.current().Visible()
		case session.ScopeSession, session.ScopeTemp:
		}
	}
	state.Merge()
	return state
}

// LoadStates reads the session's own state as of its log's head, and the shared
// states that touch changes.
func (s *Store) LoadStates(ctx context.Context, l Log, head Head, touch ...session.Delta) (*StateChange, error) {
	c := &StateChange{SessionID: l.Session}
	for scope, k := range map[session.Scope]table.Key{
		session.ScopeUser: keys.UserStateKey(l.App, l.User), session.ScopeApp: keys.AppStateKey(l.App),
	} {
		if slices.ContainsFunc(touch, func(d session.Delta) bool { return len(d.In(scope)) > 0 }) {
			c.Scopes = append(c.Scopes, &sharedChange{Scope: scope, record: sharedState{PK: k.PK, SK: k.SK}})
		}
	}
	group, ctx := errgroup.WithContext(ctx)
	group.Go(func() (err error) {
		c.Values, c.AsOf, err = s.SessionValues(ctx, l.Name, head.LastState)
		return err
	})
	for _, sc := range c.Scopes {
		group.Go(func() error { return s.loadShared(ctx, sc) })
	}
	if err := group.Wait(); err != nil {
		return nil, fmt.Errorf("read the state of session %s: %w", l.Session, err)
	}
	return c, nil
}

func (s *Store) loadShared(ctx context.Context, sc *sharedChange) error {
	sc.Values = map[string]SharedValue{}
	found, err := s.DB.Get(ctx, table.NewKey(sc.record.PK, sc.record.SK), &sc.record)
	if err != nil || !found {
		return err
	}
	return s.content.Unpack(ctx, sc.record.PK, sc.record.Body, &sc.Values)
}

// SharedPuts returns the writes of the changed shared states, if they are as they
// were read.
func (s *Store) SharedPuts(ctx context.Context, c *StateChange) ([]table.Write, error) {
	var writes []table.Write
	for _, sc := range c.Scopes {
		if !sc.Changed {
			continue
		}
		next := sharedState{PK: sc.record.PK, SK: sc.record.SK, Version: sc.record.Version + 1}
		var err error
		if next.Body, err = s.content.Pack(ctx, next.PK, sc.Values, 0); err != nil {
			return nil, err
		}
		writes = append(writes, table.Put(next, table.Or(
			table.ItemNotExists(), table.Equal(table.Path{sharedVersion}, sc.record.Version),
		)))
		if sc.Scope == session.ScopeUser && sc.record.Version == 0 {
			writes = append(writes, table.Put(UserApp(next.PK)))
		}
	}
	return writes, nil
}

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

// RestoreInitial adds to undo the values set by the initial event. If an imported
// fork's source had hidden entries after that event, the event's own undo also
// reverts their changes, which no other entry does.
func (r *Record) RestoreInitial(undo session.Delta) {
	if len(r.Undo) == 0 {
		return
	}
	initial := r.Events[0].Change()
	for key, prev := range r.Undo[0].In(session.ScopeSession) {
		if undo[key] = prev; initial[key] != nil {
			undo[key] = initial[key]
		}
	}
}

// UndoLog adds to undo what reverts the changes of one log from the entry at
// position from back to the position until. It leaves out changes after position
// to (0: none) and those of keys for which keep returns false. known is the entry
// that covers until, if it has been read.
func (s *Store) UndoLog(
	ctx context.Context, log string, from, until, to int64, undo session.Delta, keep func(string) bool, known *Record,
) error {
	back := backwards{s: s.reader, log: log, until: until}
	for at := from; at > 0 && (known == nil || at >= known.First); {
		rec := known
		if known == nil || at > known.First {
			var err error
			if rec, err = back.covering(ctx, at); err != nil {
				return err
			}
		}
		if rec.Last() < until {
			return nil
		}
		for i := len(rec.Undo) - 1; i >= 0 && !rec.Initial; i-- {
			position := rec.First + int64(i)
			if position < until || (to > 0 && position > to) {
				continue
			}
			for key, prev := range rec.Undo[i] {
				if keep == nil || keep(key) {
					undo[key] = prev
				}
			}
		}
		at = rec.PrevState
	}
	return nil
}
