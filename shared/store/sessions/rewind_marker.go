package sessions

import (
	"context"
	"encoding/json"

	"github.com/rethread/rethread/shared/base/jsonx"
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
	chain    []string      // the automations that led to it
	over     *cancelledRun // the run that ends with it, nil for none

	rec     *record
	content entryBody
}

// build makes the marker as seed 003 has it.
func (m *marker) build(r session.Rewind) error {
	state := session.Delta{}
	for key, v := range m.plan.delta {
		if _, artifact := session.ArtifactOf(key); !artifact {
			state[key] = v
		}
	}
	actions, err := jsonx.Marshal(map[string]any{
		"rewind_before_invocation_id": r.Before, "state_delta": state, "artifact_delta": m.plan.artifacts,
	})
	if err != nil {
		return err
	}
	first := m.at.next
	e := session.Event{
		ID: session.PositionalID(first, m.s.random()), InvocationID: r.Nonce, Author: "system",
		SessionID: m.h.id(), Seq: first, Status: session.EventCompleted,
		CreatedTime: max(m.s.millis(), m.at.time), StateDelta: state, ArtifactDelta: m.plan.artifacts,
		Fields: map[string]json.RawMessage{
			"actions": actions, "content": json.RawMessage(`{"parts":[{"text":"Session rewound"}]}`),
		},
	}
	m.content = entryBody{Time: e.CreatedTime, Events: []json.RawMessage{e.Own()}, Conflicts: m.plan.conflicts}
	m.rec = &record{
		entry: entry{
			PK: logPK(m.h.Log), SK: entrySK(first), LastState: m.at.lastState,
			LastMarker: first, PrevMarker: m.h.Marker,
			Timeline: m.timeline.Reopened(m.h.Log, first+1).Encode(), runMarks: m.at.marks(), attribution: m.attribution(),
		},
		first: first, time: e.CreatedTime, events: []session.Event{e},
	}
	before, err := m.h.timeline()
	if err != nil {
		return err
	}
	toSeq, all := before.Common(m.timeline)
	m.rec.ToSeq, m.rec.Back, m.rec.Epoch = toSeq, !all, m.h.Epoch+1
	if len(m.plan.delta) > 0 {
		m.content.Undo = []session.Delta{m.plan.change.apply(m.plan.delta)}
		m.rec.PrevState, m.rec.LastState = m.at.lastState, first
	}
	m.h.Timeline, m.h.Marker, m.h.Epoch = m.rec.Timeline, first, m.h.Epoch+1
	return nil
}

// pack completes the entry.
func (m *marker) pack(ctx context.Context) (err error) {
	if m.rec.Body, err = m.s.content.Pack(ctx, m.rec.PK, m.content, 0); err != nil {
		return err
	}
	m.s.pendingBytes(&m.rec.entry, m.at, m.rec.size())
	return nil
}

// write stores the marker, the header and what is restored as one.
func (m *marker) write(ctx context.Context, newest func() (bool, error)) error {
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
	ends, err := m.ends(ctx)
	if err != nil {
		return err
	}
	if err := m.s.db.Transact(ctx, append(writes, ends...)...); err != nil {
		return err
	}
	m.ended(ctx)
	m.s.countEntry(ctx, m.h, m.rec)
	if len(m.plan.delta) > 0 {
		m.s.checkpoint(ctx, m.h.Log, m.rec.first, m.plan.change.values)
	}
	return nil
}

// ends are the writes that end the run which the rewind cancels.
func (m *marker) ends(ctx context.Context) ([]table.Write, error) {
	if m.over == nil {
		return nil, nil
	}
	writes, err := m.over.writes(ctx)
	return append(writes, table.Delete(runKey(m.h.Log), isRun(m.over.active))), err
}

// ended does what follows the end of a run, and may be missed.
func (m *marker) ended(ctx context.Context) {
	if m.over == nil {
		return
	}
	m.h.Run = ""
	m.s.countEntry(ctx, m.h, m.over.last)
	if a := m.over.active; a.Slot {
		m.s.releaseSlot(ctx, a.User, m.h.Log, a.ID)
	}
}

// attribution is that of the rewind.
func (m *marker) attribution() attribution { return m.h.attribution().by(m.chain) }

func (m *marker) result() (session.Rewound, error) {
	e := m.rec.events[0]
	now, err := m.s.render(m.h, m.at.after(m.rec))
	return rewound(e, now, m.plan.conflicts), err
}

// rewound is what a marker says that its rewind did.
func rewound(e session.Event, now session.Session, conflicts []string) session.Rewound {
	out := session.Rewound{Event: e, Session: now, State: e.StateDelta, Artifacts: e.ArtifactDelta}
	for _, key := range conflicts {
		out.Conflicts = append(out.Conflicts, session.Conflict{Key: key})
	}
	return out
}
