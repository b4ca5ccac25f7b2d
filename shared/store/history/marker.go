package history

import (
	"context"
	"encoding/json"

	"github.com/rethread/rethread/shared/domain/session"
	"github.com/rethread/rethread/shared/store/eventlog"
	"github.com/rethread/rethread/shared/store/keys"
	"github.com/rethread/rethread/shared/store/sessions"
	"github.com/rethread/rethread/shared/store/table"
)

// Marker is the entry that a rewind appends.
type Marker struct {
	s     *Store
	h     *sessions.Header
	head  eventlog.Head
	Plan  *restore
	then  session.Before
	chain []string // the automations that led to it
	over  *Ending  // the run that ends with it, nil for none

	Rec     *eventlog.Record
	content eventlog.EntryBody
}

// build fills in the marker and applies its timeline to the header.
func (m *Marker) build(ctx context.Context, r session.Rewind) error {
	history, err := m.h.History()
	if err != nil {
		return err
	}
	first := m.head.Next
	made, err := r.Marker(session.MarkerAt{
		ID: session.PositionalID(first, m.s.Random()), Seq: first, Time: max(m.s.Millis(), m.head.Time),
		History: history, Then: m.then, Max: m.s.sessions.Parts, Read: m.s.sessions.Markers(ctx),
	}, m.Plan.delta)
	if err != nil {
		return err
	}
	e := made.Event
	m.content = eventlog.EntryBody{Time: e.CreatedTime, Events: []json.RawMessage{e.Own()}, Conflicts: m.Plan.conflicts}
	m.Rec = &eventlog.Record{
		Entry: eventlog.Entry{
			PK: keys.LogPK(m.h.Log), SK: keys.EntrySK(first), LastState: m.head.LastState,
			LastMarker: first, PrevMarker: m.h.Marker,
			Timeline: made.Outline.Encode(), RunMarks: m.head.Marks(), Attribution: m.attribution(),
		},
		First: first, When: e.CreatedTime, Events: []session.Event{e},
	}
	m.Rec.ToSeq, m.Rec.Back, m.Rec.Epoch = made.ToSeq, made.Back, m.h.Epoch+1
	if len(m.Plan.delta) > 0 {
		m.content.Undo = []session.Delta{m.Plan.Change.Apply(m.Plan.delta)}
		m.Rec.PrevState, m.Rec.LastState = m.head.LastState, first
	}
	m.h.Timeline, m.h.Marker, m.h.Epoch = m.Rec.Timeline, first, m.h.Epoch+1
	return nil
}

// Pack encodes the entry.
func (m *Marker) Pack(ctx context.Context) (err error) {
	if m.Rec.Body, err = m.s.content.Pack(ctx, m.Rec.PK, m.content, 0); err != nil {
		return err
	}
	m.s.logs.PendingBytes(&m.Rec.Entry, m.head, m.Rec.Size())
	return nil
}

// write stores the marker, the header and the restored values in one transaction.
func (m *Marker) write(ctx context.Context, newest func() (bool, error)) error {
	m.Rec.StartsNext = m.h.Queued > 0
	if err := m.Pack(ctx); err != nil {
		return err
	}
	shared, err := m.s.logs.SharedPuts(ctx, m.Plan.Change)
	if err != nil {
		return err
	}
	header, err := m.updateHeader(newest)
	if err != nil {
		return err
	}
	writes := append(append(shared, m.Plan.Puts...), table.Put(m.Rec.Entry, table.ItemNotExists()), header)
	if m.over != nil {
		ends, err := m.over.Writes(ctx)
		if err != nil {
			return err
		}
		writes = append(writes, ends...)
	}
	if err := m.s.DB.Transact(ctx, writes...); err != nil {
		return err
	}
	if m.over != nil {
		m.h.Run = ""
		m.over.After(ctx)
	}
	m.s.logs.CountEntry(ctx, m.h.OfLog(), m.Rec)
	if len(m.Plan.delta) > 0 {
		m.s.logs.Checkpoint(ctx, m.h.Log, m.Rec.First, m.Plan.Change.Values)
	}
	return nil
}

// attribution returns who made the rewind: its user, and the automations that led
// to it.
func (m *Marker) attribution() eventlog.Attribution { return m.h.Attribution().By(m.chain) }

func (m *Marker) result(ctx context.Context, r session.Rewind) (session.Rewound, error) {
	e := m.Rec.Events[0]
	now, err := m.s.sessions.Render(ctx, m.h, m.head.After(m.Rec))
	return r.Rewound(e, now, m.Plan.conflicts), err
}
