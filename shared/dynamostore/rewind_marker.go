package dynamostore

import (
	"context"
	"encoding/json"
	"maps"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"github.com/rethread/rethread/shared/plainjson"
	"github.com/rethread/rethread/shared/session"
)

// marker is the entry that a rewind appends.
type marker struct {
	s        *Store
	h        *header
	at       head
	plan     *restore
	timeline session.Timeline
	discard  *discarding

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
	actions, err := plainjson.Marshal(map[string]any{
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
			Timeline: m.timeline.Reopened(m.h.Log, first+1).Encode(), runMarks: m.at.marks(), told: m.tells(),
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

// write stores the marker, the header and what is restored as one.
func (m *marker) write(ctx context.Context, newest func() (bool, error)) error {
	var err error
	if m.rec.body, err = m.s.pack(ctx, m.rec.PK, m.content, 0); err != nil {
		return err
	}
	m.s.owing(&m.rec.entry, m.at, m.rec.size())
	put, err := m.s.transactPut(m.rec.entry, condition{expression: ifAbsent})
	if err != nil {
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
	writes := append(shared, m.plan.puts...)
	if err := m.s.transact(ctx, append(writes, put, header)...); err != nil {
		return err
	}
	m.s.countEntry(ctx, m.h, m.rec)
	if len(m.plan.delta) > 0 {
		m.s.checkpoint(ctx, m.h.Log, m.rec.first, m.plan.change.values)
	}
	return nil
}

func (m *marker) updateHeader(newest func() (bool, error)) (types.TransactWriteItem, error) {
	c := m.h.sameLog()
	c.expression += " AND attribute_not_exists(#rn) AND (attribute_not_exists(#e) OR #e = :was)"
	maps.Copy(c.names, map[string]string{"#e": "e", "#mk": "mk", "#tl": "tl", "#rn": "rn"})
	maps.Copy(c.values, attributes{
		":was": num(m.h.Epoch - 1), ":e": num(m.h.Epoch), ":mk": num(m.h.Marker), ":tl": bin(m.h.Timeline),
	})
	set, err := m.h.andMoveUp("SET #e = :e, #mk = :mk, #tl = :tl", &c, newest, m.rec.time)
	if err != nil {
		return types.TransactWriteItem{}, err
	}
	if m.h.Spent != "" { // what the rewind leaves is no failure
		m.h.Status = session.Idle
		c.names["#status"], c.names["#rx"] = "status", "rx"
		c.values[":status"] = str(string(session.Idle))
		set += ", #status = :status REMOVE #rx"
		if m.discard == nil {
			c.names["#mi"], c.names["#ma"] = "mi", "ma"
			set += ", #mi, #ma"
		}
	}
	return m.s.transactUpdate(sessionKey(m.h.id()), set, c), nil
}

// tells is what is told of the rewind.
func (m *marker) tells() told {
	if m.discard != nil {
		return m.h.tells().by(m.discard.chain)
	}
	return m.h.tells().by(nil)
}

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
