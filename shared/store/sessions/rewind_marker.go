package sessions

import (
	"context"
	"encoding/json"

	"github.com/rethread/rethread/shared/store/keys"

	"github.com/rethread/rethread/shared/domain/session"
	"github.com/rethread/rethread/shared/store/table"
)

// marker is the entry that a rewind appends.
type marker struct {
	s        *Store
	h        *header
	at       head
	plan     *restore
	timeline session.Timeline
	chain    []string // the automations that led to it
	over     *ending  // the run that ends with it, nil for none

	rec     *record
	content entryBody
}

// build fills in the marker and applies its timeline to the header.
func (m *marker) build(r session.Rewind) error {
	history, err := m.h.history()
	if err != nil {
		return err
	}
	first := m.at.next
	made, err := r.Marker(session.MarkerAt{
		ID: session.PositionalID(first, m.s.random()), Seq: first, Time: max(m.s.millis(), m.at.time),
		History: history, Then: m.timeline,
	}, m.plan.delta)
	if err != nil {
		return err
	}
	e := made.Event
	m.content = entryBody{Time: e.CreatedTime, Events: []json.RawMessage{e.Own()}, Conflicts: m.plan.conflicts}
	m.rec = &record{
		entry: entry{
			PK: keys.LogPK(m.h.Log), SK: keys.EntrySK(first), LastState: m.at.lastState,
			LastMarker: first, PrevMarker: m.h.Marker,
			Timeline: made.Timeline.Encode(), runMarks: m.at.marks(), attribution: m.attribution(),
		},
		first: first, time: e.CreatedTime, events: []session.Event{e},
	}
	m.rec.ToSeq, m.rec.Back, m.rec.Epoch = made.ToSeq, made.Back, m.h.Epoch+1
	if len(m.plan.delta) > 0 {
		m.content.Undo = []session.Delta{m.plan.change.apply(m.plan.delta)}
		m.rec.PrevState, m.rec.LastState = m.at.lastState, first
	}
	m.h.Timeline, m.h.Marker, m.h.Epoch = m.rec.Timeline, first, m.h.Epoch+1
	return nil
}

// pack encodes the entry.
func (m *marker) pack(ctx context.Context) (err error) {
	if m.rec.Body, err = m.s.content.Pack(ctx, m.rec.PK, m.content, 0); err != nil {
		return err
	}
	m.s.pendingBytes(&m.rec.entry, m.at, m.rec.size())
	return nil
}

// write stores the marker, the header and the restored values in one transaction.
func (m *marker) write(ctx context.Context, newest func() (bool, error)) error {
	m.rec.StartsNext = m.h.Queued > 0
	if err := m.pack(ctx); err != nil {
		return err
	}
	shared, err := m.s.sharedPuts(ctx, m.plan.change)
	if err != nil {
		return err
	}
	header, err := m.updateHeader(newest)
	if err != nil {
		return err
	}
	writes := append(append(shared, m.plan.puts...), table.Put(m.rec.entry, table.ItemNotExists()), header)
	if m.over != nil {
		ends, err := m.over.writes(ctx)
		if err != nil {
			return err
		}
		writes = append(writes, ends...)
	}
	if err := m.s.db.Transact(ctx, writes...); err != nil {
		return err
	}
	if m.over != nil {
		m.h.Run = ""
		m.over.after(ctx)
	}
	m.s.countEntry(ctx, m.h.ofLog(), m.rec)
	if len(m.plan.delta) > 0 {
		m.s.checkpoint(ctx, m.h.Log, m.rec.first, m.plan.change.values)
	}
	return nil
}

// attribution returns who made the rewind: its user, and the automations that led
// to it.
func (m *marker) attribution() attribution { return m.h.attribution().by(m.chain) }

func (m *marker) result(r session.Rewind) (session.Rewound, error) {
	e := m.rec.events[0]
	now, err := m.s.render(m.h, m.at.after(m.rec))
	return r.Rewound(e, now, m.plan.conflicts), err
}
