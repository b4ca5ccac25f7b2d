package dynamostore

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strconv"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"github.com/rethread/rethread/shared/fault"
	"github.com/rethread/rethread/shared/session"
)

// maxActions is how many actions a transaction holds.
const maxActions = 100

var _ session.Rewinder = (*Store)(nil)

// Rewind implements session.Rewinder. It is one transaction: the marker at the
// head of the log, the header's new timeline, and what is restored.
func (s *Store) Rewind(ctx context.Context, r session.Rewind) (session.Rewound, error) {
	for try := 0; ; try++ {
		out, err := s.rewind(ctx, r)
		if !errors.Is(err, errTaken) {
			if err != nil {
				err = fmt.Errorf("rewind session %s: %w", r.SessionID, s.unlessGone(ctx, r.UserID, r.SessionID, err))
			}
			return out, err
		}
		if err := backoff(ctx, try); err != nil {
			return session.Rewound{}, err
		}
	}
}

func (s *Store) rewind(ctx context.Context, r session.Rewind) (session.Rewound, error) {
	h, at, err := s.headerAndHead(ctx, r.UserID, r.SessionID)
	if err != nil {
		return session.Rewound{}, err
	}
	newest := s.watchNewest(ctx, h)
	if done, err := s.rewoundBefore(ctx, h, at, r); done != nil || err != nil {
		return derefOr(done), err
	}
	target, err := s.findInvocation(ctx, h, r.Before)
	if err != nil {
		return session.Rewound{}, err
	}
	if target == nil {
		return session.Rewound{}, fault.Missing("Invocation").With("invocation_id", r.Before)
	}
	timeline, err := s.timelineAt(ctx, h, target)
	if err != nil {
		return session.Rewound{}, err
	}
	plan, err := s.planRestore(ctx, h, at, target, r)
	if err != nil {
		return session.Rewound{}, err
	}
	m := &marker{s: s, h: h, at: at, plan: plan, timeline: timeline}
	if err := m.build(r); err != nil {
		return session.Rewound{}, err
	}
	if !r.DryRun {
		if err := m.write(ctx, newest); err != nil {
			return session.Rewound{}, err
		}
	}
	return m.result()
}

// rewoundBefore recognises a rewind that happened although its answer was
// lost, by the marker's invocation id.
func (s *Store) rewoundBefore(ctx context.Context, h *header, at head, r session.Rewind) (*session.Rewound, error) {
	if r.DryRun {
		return nil, nil
	}
	bound, err := s.claim(ctx, invocationKey(h.Log, r.Nonce), at.next)
	if err != nil || bound >= at.next {
		return nil, err
	}
	found, err := s.firstIn(ctx, session.Range{Log: h.Log, From: 1, Seq: 1}, bound, r.Nonce)
	if err != nil || found == nil || !found.rec.marks() {
		return nil, err
	}
	now, err := s.render(h, at)
	if err != nil {
		return nil, err
	}
	e := found.rec.events[0]
	e.SessionID = h.id()
	out := &session.Rewound{Event: e, Session: now, State: e.StateDelta, Artifacts: e.ArtifactDelta}
	for _, key := range found.rec.conflicts {
		out.Conflicts = append(out.Conflicts, session.Conflict{Key: key})
	}
	return out, nil
}

// restore is what a rewind changes besides the timeline.
type restore struct {
	change    *stateChange
	delta     session.Delta // of all that comes back
	conflicts []string
	artifacts map[string]int64
	puts      []types.TransactWriteItem
}

// planRestore compares the state with what it was before the target.
func (s *Store) planRestore(
	ctx context.Context, h *header, at head, target *place, r session.Rewind,
) (*restore, error) {
	then, err := s.undoneTo(ctx, h, at, target)
	if err != nil {
		return nil, err
	}
	plan := &restore{delta: session.Delta{}, artifacts: map[string]int64{}}
	if plan.change, err = s.loadStates(ctx, h, at, then); err != nil {
		return nil, err
	}
	for _, key := range slices.Sorted(maps.Keys(then)) {
		scope, name := session.ScopeOf(key)
		current, by := plan.change.current(scope, name)
		if !r.Has(scope) || sameValue(current, then[key]) {
			continue
		}
		if by != "" && by != h.id() && !r.Restore {
			plan.conflicts = append(plan.conflicts, shownKey(key))
			continue
		}
		plan.delta[key] = then[key]
	}
	return plan, s.planArtifacts(ctx, h, plan)
}

// planArtifacts turns versions to go back to into new versions that refer to
// them: numbers only grow.
func (s *Store) planArtifacts(ctx context.Context, h *header, plan *restore) error {
	for key, then := range plan.delta {
		name, ok := session.ArtifactOf(key)
		if !ok {
			continue
		}
		if len(plan.artifacts) == maxActions-10 {
			return fault.New(fault.Invalid, "more than %d artifacts would be restored at once", maxActions-10)
		}
		version := int64(-1)
		if !session.IsNull(then) {
			var err error
			if version, err = strconv.ParseInt(string(then), 10, 64); err != nil {
				return fmt.Errorf("version of artifact %s: %w", name, err)
			}
		}
		put, next, err := s.restoredVersion(ctx, h, name, version)
		if err != nil {
			return err
		}
		plan.artifacts[name] = next
		plan.puts = append(plan.puts, put)
		plan.delta[key] = json.RawMessage(strconv.FormatInt(next, 10))
	}
	return nil
}

// shownKey is a state key as callers know it; artifacts go by their name.
func shownKey(key string) string {
	if name, ok := session.ArtifactOf(key); ok {
		return name
	}
	return key
}

func sameValue(a, b json.RawMessage) bool {
	if session.IsNull(a) || session.IsNull(b) {
		return session.IsNull(a) && session.IsNull(b)
	}
	return bytes.Equal(a, b)
}

// marker is the entry that a rewind appends.
type marker struct {
	s        *Store
	h        *header
	at       head
	plan     *restore
	timeline session.Timeline

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
	actions, err := marshal(map[string]any{
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
			Timeline: m.timeline.Reopened(m.h.Log, first+1).Encode(),
		},
		first: first, time: e.CreatedTime, events: []session.Event{e},
	}
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
	if len(m.plan.delta) > 0 {
		m.s.checkpoint(ctx, m.h.Log, m.rec.first, m.plan.change.values)
	}
	return nil
}

func (m *marker) updateHeader(newest func() (bool, error)) (types.TransactWriteItem, error) {
	c := m.h.sameLog()
	c.expression += " AND (attribute_not_exists(#e) OR #e = :was)"
	maps.Copy(c.names, map[string]string{"#e": "e", "#mk": "mk", "#tl": "tl"})
	maps.Copy(c.values, attributes{
		":was": num(m.h.Epoch - 1), ":e": num(m.h.Epoch), ":mk": num(m.h.Marker), ":tl": bin(m.h.Timeline),
	})
	set := "SET #e = :e, #mk = :mk, #tl = :tl"
	onTop, err := newest()
	if err != nil {
		return types.TransactWriteItem{}, err
	}
	if !onTop {
		set += ", GSK = :g"
		c.values[":g"] = str(activitySK(m.rec.time, m.h.id()))
	}
	return types.TransactWriteItem{Update: &types.Update{
		TableName: &m.s.table, Key: sessionKey(m.h.id()).attributes(),
		UpdateExpression: &set, ConditionExpression: &c.expression,
		ExpressionAttributeNames: c.names, ExpressionAttributeValues: c.values,
	}}, nil
}

func (m *marker) result() (session.Rewound, error) {
	e := m.rec.events[0]
	now, err := m.s.render(m.h, m.at.after(m.rec))
	out := session.Rewound{Event: e, Session: now, State: e.StateDelta, Artifacts: e.ArtifactDelta}
	for _, key := range m.plan.conflicts {
		out.Conflicts = append(out.Conflicts, session.Conflict{Key: key})
	}
	return out, err
}
