package sessions

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"

	"github.com/rethread/rethread/shared/base/fault"
	"github.com/rethread/rethread/shared/base/jsonx"
	"github.com/rethread/rethread/shared/domain/session"
	"github.com/rethread/rethread/shared/store/eventlog"
	"github.com/rethread/rethread/shared/store/keys"
	"github.com/rethread/rethread/shared/store/records"
	"github.com/rethread/rethread/shared/store/table"
)

// Create implements session.Store.
func (s *Store) Create(ctx context.Context, n session.New) (session.Session, error) {
	meta, err := s.content.Encode(n.Metadata)
	if err != nil {
		return session.Session{}, err
	}
	h := s.NewHeader(n, meta)
	return records.SettledValue(ctx, func() (session.Session, error) {
		if err := s.AdmitSession(ctx, n.UserID); err != nil {
			return s.CreatedOr(ctx, n, err)
		}
		head, err := s.create(ctx, h, n.State.Stored().Values(), n.CreatedBy)
		switch {
		case errors.Is(err, table.ErrConditionFailed):
			return s.CreatedOr(ctx, n, err)
		case err != nil:
			return session.Session{}, fmt.Errorf("create session %s: %w", n.ID, err)
		}
		return s.Render(ctx, h, head)
	})
}

// CreatedOr returns the session if this creation already happened, and otherwise
// the error that refused it.
func (s *Store) CreatedOr(ctx context.Context, n session.New, refused error) (session.Session, error) {
	existing, err := s.created(ctx, n)
	switch {
	case err != nil:
		return session.Session{}, err
	case existing != nil:
		return *existing, nil
	}
	return session.Session{}, refused
}

// NewHeader returns the header of a session that begins now, with a log of its own.
func (s *Store) NewHeader(n session.New, meta []byte) *Header {
	now, k := s.Millis(), keys.SessionKey(n.ID)
	h := &Header{
		PK: k.PK, SK: k.SK, GPK: keys.ActivityPK(n.UserID), GSK: keys.ActivitySK(now, n.ID),
		Identity: Identity{User: n.UserID, App: n.AppName, Log: s.NewLog(), Created: now, Nonce: n.Nonce, KeyedBy: n.KeyedBy},
		Settings: Settings{Agent: n.Agent, Name: n.Name, Version: 1, LastActivity: now},
		RunState: RunState{Status: session.Idle, CausedBy: n.Chain},
	}
	h.setRetention(session.RetainedFor(n.Retention, s.retention(n.Agent)))
	s.SetMetadata(h, meta)
	return h
}

// created finds out why a creation was refused: this very creation happened before
// and its answer was lost, or the id is taken. Nil means neither: a shared state
// changed concurrently, and the creation may be tried again.
func (s *Store) created(ctx context.Context, n session.New) (*session.Session, error) {
	h, err := s.AnyHeader(ctx, n.ID)
	switch {
	case errors.Is(err, fault.Of(fault.NotFound)):
		return nil, nil
	case err != nil:
		return nil, err
	case h.User != n.UserID || h.Nonce != n.Nonce:
		return nil, fault.New(fault.SessionExists, "a session with the id %q exists", n.ID).With("session_id", n.ID)
	}
	head, err := s.logs.ReadHead(ctx, h.OfLog())
	if errors.Is(err, fault.Of(fault.NotFound)) { // it was just deleted
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	existing, err := s.Render(ctx, h, head)
	return &existing, err
}

// create writes the header, with the initial state as the log's first event.
func (s *Store) create(ctx context.Context, h *Header, state session.Delta, by json.RawMessage) (eventlog.Head, error) {
	along := s.CreateWrites(h)
	if len(state) == 0 {
		return eventlog.Head{Next: 1}, s.DB.PutWith(ctx, table.Put(h, table.ItemNotExists()), along)
	}
	change, err := s.logs.LoadStates(ctx, h.OfLog(), eventlog.Head{Next: 1}, state)
	if err != nil {
		return eventlog.Head{}, err
	}
	r, err := s.firstEntry(ctx, h, state, by, change)
	if err != nil {
		return eventlog.Head{}, err
	}
	writes, err := s.logs.SharedPuts(ctx, change)
	if err != nil {
		return eventlog.Head{}, err
	}
	writes = append(writes, along...)
	for _, record := range []any{
		h, r.Entry, eventlog.LowerBound{PK: r.PK, SK: keys.PrefixInvocation + r.Events[0].InvocationID, Position: 1},
	} {
		writes = append(writes, table.Put(record, table.ItemNotExists()))
	}
	if err := s.DB.Transact(ctx, writes...); err != nil {
		return eventlog.Head{}, err
	}
	s.logs.Checkpoint(ctx, h.Log, 1, change.Values)
	return eventlog.Head{}.After(r), nil
}

// firstEntry is the event with a session's initial state: the state is in the log
// like any other change, so that a rewind can restore it.
func (s *Store) firstEntry(
	ctx context.Context, h *Header, state session.Delta, by json.RawMessage, change *eventlog.StateChange,
) (*eventlog.Record, error) {
	actions, err := jsonx.Marshal(session.Actions{StateDelta: state, ArtifactDelta: map[string]int64{}})
	if err != nil {
		return nil, err
	}
	e := session.Event{
		ID: session.PositionalID(1, s.Random()), InvocationID: s.Random().String(), Author: "system",
		StateDelta: state, Fields: map[string]json.RawMessage{"actions": actions},
	}
	if by != nil {
		e.Fields[session.CreatedBy] = by
	}
	content := eventlog.EntryBody{
		Time: h.Created, Events: []json.RawMessage{e.Own()}, Undo: []session.Delta{change.Apply(state)},
		Initial: true,
	}
	if err := change.Check(); err != nil {
		return nil, err
	}
	r := &eventlog.Record{
		Entry: eventlog.Entry{PK: keys.LogPK(h.Log), SK: keys.EntrySK(1), LastState: 1},
		First: 1, When: h.Created, Events: []session.Event{e},
	}
	r.Body, err = s.content.Pack(ctx, r.PK, content, 0)
	return r, err
}

// Update implements session.Store.
func (s *Store) Update(ctx context.Context, userID, id string, p session.Patch) (session.Session, error) {
	return records.ContendedValue(ctx, func() (session.Session, error) {
		h, err := s.Header(ctx, userID, id)
		if err != nil {
			return session.Session{}, err
		}
		if p.IfMatch != nil && *p.IfMatch != h.Version {
			return session.Session{}, fault.New(fault.Precondition, "the session has changed: its ETag is %q now",
				fmt.Sprint(h.Version))
		}
		if err := s.patch(ctx, h, p); err != nil {
			return session.Session{}, fmt.Errorf("update session %s: %w", id, err)
		}
		head, err := s.logs.ReadHead(ctx, h.OfLog())
		if err != nil {
			return session.Session{}, err
		}
		return s.Render(ctx, h, head)
	})
}

// patch writes the change if the header has the version that was read.
func (s *Store) patch(ctx context.Context, h *Header, p session.Patch) error {
	unchanged := table.And(h.SameLog(), table.Equal(table.Path{HeaderVersion}, h.Version))
	was, replaces := h.replaceable()
	replaces = replaces && p.Metadata != nil
	if replaces {
		unchanged = table.And(unchanged, h.Unforked())
	}
	h.Version++
	h.LastActivity = max(s.Millis(), h.LastActivity+1)
	h.GSK = keys.ActivitySK(h.LastActivity, h.ID())
	changes := []table.Change{
		table.Set(table.Path{HeaderVersion}, h.Version),
		table.Set(table.Path{HeaderLastActivity}, h.LastActivity),
		table.Set(table.Path{keys.AttrGSK}, h.GSK),
	}
	if p.Name != nil {
		h.Name = *p.Name
		changes = append(changes, table.Set(table.Path{headerName}, h.Name))
	}
	if p.Metadata != nil {
		meta, err := s.content.Encode(p.Metadata)
		if err != nil {
			return err
		}
		if item := s.SetMetadata(h, meta); item != nil {
			if err := s.DB.Put(ctx, item); err != nil {
				return err
			}
		}
		changes = append(changes, table.Set(table.Path{headerMeta}, h.Meta))
	}
	var err error
	if p.Retention != nil {
		kept, timer := s.retentionChange(h, *p.Retention)
		err = s.DB.Transact(ctx, table.Update(keys.SessionKey(h.ID()), append(changes, kept...), unchanged), timer)
	} else {
		err = s.DB.Update(ctx, keys.SessionKey(h.ID()), changes, unchanged)
	}
	switch {
	case err == nil && replaces:
		s.forgetMetadata(ctx, was)
	case errors.Is(err, table.ErrConditionFailed) && h.metadata != nil && p.Metadata != nil:
		k, _ := metadataKey(h.Meta)
		s.forgetMetadata(ctx, k)
	}
	return err
}

// forgetMetadata deletes an item that no header refers to. If that fails, it stays until the
// log is deleted.
func (s *Store) forgetMetadata(ctx context.Context, k table.Key) {
	if err := s.DB.BatchWrite(ctx, []table.Write{table.Delete(k)}); err != nil {
		s.Log.WarnContext(ctx, "metadata that were replaced stay until their log is deleted", "error", err)
	}
}

// CreateWrites returns the writes that belong to a new session's header, and
// completes the header: the item with large metadata, the retention timer, and the count of the user's sessions
// if it is limited. Without either a session costs no more.
func (s *Store) CreateWrites(h *Header) []table.Write {
	var writes []table.Write
	if k, ok := metadataKey(h.Meta); ok && h.metadata != nil {
		writes = append(writes, table.Put(metadataItem{PK: k.PK, SK: k.SK, Meta: h.metadata}))
	}
	if h.Retention > 0 {
		writes = append(writes, h.setTimer(max(h.Created, h.LastActivity)))
	}
	if count, counts := s.countCreated(h); counts {
		writes = append(writes, count)
	}
	return writes
}
