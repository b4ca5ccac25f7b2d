package sessions

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/rethread/rethread/shared/store/keys"

	"golang.org/x/sync/errgroup"

	"github.com/rethread/rethread/shared/base/retry"
	"github.com/rethread/rethread/shared/domain/session"
	"github.com/rethread/rethread/shared/store/content"
	"github.com/rethread/rethread/shared/store/records"
	"github.com/rethread/rethread/shared/store/table"
)

// sharedState is the state of a user in an app, or of an app. Several logs change
// it, so it changes in one transaction with the entry that changes it.
type sharedState struct {
	PK      string `dynamodbav:"PK"`
	SK      string `dynamodbav:"SK"`
	Version int64  `dynamodbav:"v"`
	content.Body
}

// sharedVersion is the attribute of sharedState.Version.
const sharedVersion = "v"

// sharedValue is one key of a shared state. By is the session that changed it last;
// a deleted key stays, without a value, to record that.
type sharedValue struct {
	Value json.RawMessage `json:"v,omitempty"`
	By    string          `json:"s"`
}

// appItem records, with the first one stored, that a user has state or artifacts in
// an app; otherwise they could only be found by a caller that knows the app.
type appItem struct {
	PK string `dynamodbav:"PK"`
	SK string `dynamodbav:"SK"`
}

// userApp returns the appItem for a partition of shared state.
func userApp(pk string) appItem {
	app, user, _ := strings.Cut(strings.TrimPrefix(pk, "U#"), "/")
	return appItem{PK: keys.AppsPK(user), SK: app}
}

// stateChange is the state that a batch of events changes.
type stateChange struct {
	sessionID string
	values    session.Values // of the session
	asOf      int64          // position of the latest entry that values include
	scopes    []*sharedChange
}

type sharedChange struct {
	scope   session.Scope
	record  sharedState
	values  map[string]sharedValue
	changed bool
}

// apply changes the states and returns the delta that reverts the change.
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

// current returns a key's value in a scope and, for a shared key, the session that
// changed it last.
func (c *stateChange) current(scope session.Scope, name string) (v json.RawMessage, by string) {
	if scope == session.ScopeSession {
		return c.values[name], ""
	}
	for _, sc := range c.scopes {
		if sc.scope == scope {
			return sc.values[name].Value, sc.values[name].By
		}
	}
	return nil, ""
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

// current returns the shared state without its deleted keys.
func (sc *sharedChange) current() session.Values {
	out := session.Values{}
	for name, v := range sc.values {
		if v.Value != nil {
			out[name] = v.Value
		}
	}
	return out
}

// loadStates reads the session's own state as of its log's head, and the shared
// states that touch changes.
func (s *Store) loadStates(ctx context.Context, l Log, at head, touch ...session.Delta) (*stateChange, error) {
	c := &stateChange{sessionID: l.Session}
	for scope, k := range map[session.Scope]table.Key{
		session.ScopeUser: keys.UserStateKey(l.App, l.User), session.ScopeApp: keys.AppStateKey(l.App),
	} {
		if slices.ContainsFunc(touch, func(d session.Delta) bool { return len(d.In(scope)) > 0 }) {
			c.scopes = append(c.scopes, &sharedChange{scope: scope, record: sharedState{PK: k.PK, SK: k.SK}})
		}
	}
	group, ctx := errgroup.WithContext(ctx)
	group.Go(func() (err error) {
		c.values, c.asOf, err = s.sessionValues(ctx, l.Name, at.lastState)
		return err
	})
	for _, sc := range c.scopes {
		group.Go(func() error { return s.loadShared(ctx, sc) })
	}
	if err := group.Wait(); err != nil {
		return nil, fmt.Errorf("read the state of session %s: %w", l.Session, err)
	}
	return c, nil
}

func (s *Store) loadShared(ctx context.Context, sc *sharedChange) error {
	sc.values = map[string]sharedValue{}
	found, err := s.db.Get(ctx, table.NewKey(sc.record.PK, sc.record.SK), &sc.record)
	if err != nil || !found {
		return err
	}
	return s.content.Unpack(ctx, sc.record.PK, sc.record.Body, &sc.values)
}

// sharedPuts returns the writes of the changed shared states, if they are as they
// were read.
func (s *Store) sharedPuts(ctx context.Context, c *stateChange) ([]table.Write, error) {
	var writes []table.Write
	for _, sc := range c.scopes {
		if !sc.changed {
			continue
		}
		next := sharedState{PK: sc.record.PK, SK: sc.record.SK, Version: sc.record.Version + 1}
		var err error
		if next.Body, err = s.content.Pack(ctx, next.PK, sc.values, 0); err != nil {
			return nil, err
		}
		writes = append(writes, table.Put(next, table.Or(
			table.ItemNotExists(), table.Equal(table.At(sharedVersion), sc.record.Version),
		)))
		if sc.scope == session.ScopeUser && sc.record.Version == 0 {
			writes = append(writes, table.Put(userApp(next.PK)))
		}
	}
	return writes, nil
}

// stateTries is how often the state is read while it changes concurrently.
const stateTries = 10

// errStateChanged says that the state changed while it was read.
var errStateChanged = errors.New("the state changed while it was read")

// State implements session.Store.
func (s *Store) State(ctx context.Context, userID, id string) (session.State, error) {
	h, at, err := s.headerAndHead(ctx, userID, id)
	if err != nil {
		return session.State{}, s.notFoundIfDeleted(ctx, h, err)
	}
	unchanged := func(before, now head) bool { return before.lastState == now.lastState }
	c, _, err := s.settledState(ctx, h.ofLog(), at, unchanged)
	switch {
	case errors.Is(err, errStateChanged):
		return session.State{}, records.Busy("the state changes too fast to be read")
	case err != nil:
		return session.State{}, s.notFoundIfDeleted(ctx, h, err)
	}
	return c.state(), nil
}

// settledState reads the state in all scopes as of at. The scopes are read one by
// one, so the head is read again after them: a change in between would be visible
// only in part. If the head changed, the state is read again as of the new head; after
// stateTries attempts the error wraps errStateChanged. settledState also returns the
// head of the state.
func (s *Store) settledState(
	ctx context.Context, l Log, at head, unchanged func(before, now head) bool,
) (c *stateChange, now head, err error) {
	changed := func(err error) bool { return errors.Is(err, errStateChanged) }
	now = at
	err = retry.Do(ctx, retry.Policy{Tries: stateTries}, changed, func() (err error) {
		before := now
		if c, err = s.loadStates(ctx, l, before, session.Delta{"user:": nil, "app:": nil}); err != nil {
			return err
		}
		if now, err = s.readHead(ctx, l); err == nil && !unchanged(before, now) {
			return errStateChanged
		}
		return err
	})
	return c, now, err
}

// state returns the state in all scopes in its external form.
func (c *stateChange) state() session.State {
	state := session.State{Session: c.values.Visible()}
	for _, sc := range c.scopes {
		switch sc.scope {
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
