package history

import (
	"context"
	"encoding/json"
	"maps"
	"slices"
	"strconv"

	"github.com/rethread/rethread/shared/base/fault"
	"github.com/rethread/rethread/shared/domain/session"
	"github.com/rethread/rethread/shared/store/artifacts"
	"github.com/rethread/rethread/shared/store/eventlog"
	"github.com/rethread/rethread/shared/store/keys"
	"github.com/rethread/rethread/shared/store/records"
	"github.com/rethread/rethread/shared/store/sessions"
	"github.com/rethread/rethread/shared/store/table"
)

// maxRestored limits how many artifacts a rewind restores. Its transaction also
// has up to 4 writes for entries and the header, 3 for shared state, and 5 for a
// run that is cancelled, one that begins, and the session's queue.
const maxRestored = table.MaxTransaction - 12

// Rewinding is a rewind of a session as it was read.
type Rewinding struct {
	S    *Store
	H    *sessions.Header
	Head eventlog.Head
	// End ends what must end before the marker, and returns the head after that; nil for
	// nothing.
	End  func(ctx context.Context, head eventlog.Head) (*Ending, eventlog.Head, error)
	over *Ending // what it returned
	// Chain is the automations that led to the rewind; also is the changes of
	// state that are written with it.
	Chain []string
	Also  []session.Delta
}

// Ending is the end of a run in the transaction of a marker.
type Ending struct {
	Writes func(context.Context) ([]table.Write, error)
	After  func(context.Context) // best-effort work that follows the transaction
}

// Run carries out a rewind, or plans it for a dry run.
func (w *Rewinding) Run(ctx context.Context, r session.Rewind) (session.Rewound, error) {
	var newest func() (bool, error)
	if !r.DryRun {
		newest = w.S.sessions.CheckOnTop(ctx, w.H)
	}
	// A refused rewind changes nothing: it neither cancels a run nor writes a
	// bound.
	target, err := w.Target(ctx, r)
	if err != nil {
		return session.Rewound{}, err
	}
	if done, err := w.S.rewoundBefore(ctx, w.H, w.Head, r); done != nil || err != nil {
		return records.Deref(done), err
	}
	if err := eventlog.ExpectHead(r.ExpectedSeq, w.Head); err != nil {
		return session.Rewound{}, err
	}
	if w.End != nil {
		if w.over, w.Head, err = w.End(ctx, w.Head); err != nil {
			return session.Rewound{}, err
		}
	}
	m, err := w.Marker(ctx, r, target)
	if err != nil {
		return session.Rewound{}, err
	}
	if r.DryRun && m.h.Status == session.Failed {
		m.h.Status = session.Idle
	}
	if !r.DryRun {
		if err := m.write(ctx, newest); err != nil {
			return session.Rewound{}, err
		}
	}
	return m.result(ctx, r)
}

// Target returns the position that the rewind goes back to: that of the first
// entry with the invocation.
func (w *Rewinding) Target(ctx context.Context, r session.Rewind) (*sessions.LogPosition, error) {
	target, err := w.S.sessions.FindInvocationUpTo(ctx, w.H, w.Head, r.Before)
	if err == nil && target == nil {
		err = fault.Missing("Invocation").With("invocation_id", r.Before)
	}
	if err == nil {
		err = session.CheckBoundary(r.AtSeq, r.Before, target.Seq)
	}
	return target, err
}

// rewoundBefore recognises, by the marker's invocation id, a rewind that happened
// although its answer was lost.
func (s *Store) rewoundBefore(ctx context.Context, h *sessions.Header, head eventlog.Head, r session.Rewind) (*session.Rewound, error) {
	if r.DryRun {
		return nil, nil
	}
	bound, err := s.logs.WriteLowerBound(ctx, keys.InvocationKey(h.Log, r.Nonce), head.Next)
	if err != nil || bound >= head.Next {
		return nil, err
	}
	found, err := s.sessions.FirstInRange(ctx, session.Range{Log: h.Log, From: 1, Seq: 1}, bound, r.Nonce)
	if err != nil || found == nil || !found.Rec.IsRewind() {
		return nil, err
	}
	now, err := s.sessions.Render(ctx, h, head)
	if err != nil {
		return nil, err
	}
	e := found.Rec.Events[0]
	e.SessionID = h.ID()
	out := r.Rewound(e, now, found.Rec.Conflicts)
	return &out, nil
}

// Marker builds the entry that the rewind would append.
func (w *Rewinding) Marker(ctx context.Context, r session.Rewind, target *sessions.LogPosition) (*Marker, error) {
	then, err := w.S.sessions.TimelineAt(ctx, w.H, target)
	if err != nil {
		return nil, err
	}
	plan, err := w.S.planRestore(ctx, w.H, w.Head, target, r, w.Also)
	if err != nil {
		return nil, err
	}
	m := &Marker{s: w.S, h: w.H, head: w.Head, Plan: plan, then: then, chain: w.Chain, over: w.over}
	return m, m.build(ctx, r)
}

// restore is what a rewind changes besides the timeline.
type restore struct {
	Change    *eventlog.StateChange
	delta     session.Delta // the restored values
	conflicts []string
	Puts      []table.Write
}

// planRestore compares the state with that before the target. also is the changes
// that will be made on top.
func (s *Store) planRestore(
	ctx context.Context, h *sessions.Header, head eventlog.Head, target *sessions.LogPosition, r session.Rewind, also []session.Delta,
) (*restore, error) {
	then, err := s.sessions.UndoTo(ctx, h, head, target)
	if err != nil {
		return nil, err
	}
	maps.DeleteFunc(then, func(key string, _ json.RawMessage) bool { return artifacts.Impossible(key) })
	plan := &restore{}
	if len(then) == 0 && !slices.ContainsFunc(also, func(d session.Delta) bool { return len(d) > 0 }) {
		plan.Change = &eventlog.StateChange{SessionID: h.ID()}
		return plan, nil
	}
	if plan.Change, err = s.logs.LoadStates(ctx, h.OfLog(), head, append([]session.Delta{then}, also...)...); err != nil {
		return nil, err
	}
	if head.OlderThan(h.OfLog(), plan.Change.AsOf) {
		return nil, table.ErrConditionFailed
	}
	plan.delta, plan.conflicts = r.Restored(then, plan.Change.Current)
	return plan, s.planArtifacts(ctx, h, plan)
}

// planArtifacts replaces the versions to be restored by new versions that refer
// to them, because version numbers only grow.
func (s *Store) planArtifacts(ctx context.Context, h *sessions.Header, plan *restore) error {
	versions, err := plan.delta.Versions(maxRestored)
	if err != nil {
		return err
	}
	for _, name := range slices.Sorted(maps.Keys(versions)) {
		put, next, err := s.artifacts.RestoredVersion(ctx, h, name, versions[name])
		if err != nil {
			return err
		}
		plan.Puts = append(plan.Puts, put)
		plan.delta[session.ArtifactKey(name)] = json.RawMessage(strconv.FormatInt(next, 10))
	}
	return nil
}

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

// attribution returns who made the rewind: its user, and the automations that led
// to it.
func (m *Marker) attribution() eventlog.Attribution { return m.h.Attribution().By(m.chain) }

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

// updateHeader returns the change of the header by a requested rewind: the
// session is no longer failed and has no pending input.
func (m *Marker) updateHeader(newest func() (bool, error)) (table.Write, error) {
	same := []table.Condition{
		m.h.SameLog(), records.Unchanged(sessions.HeaderRun, m.h.Run), records.Unchanged(sessions.HeaderQueueVersion, m.h.QueueVersion),
	}
	m.h.Status = session.Idle
	changes := []table.Change{
		table.Set(table.Path{sessions.HeaderStatus}, session.Idle),
		table.Remove(table.Path{sessions.HeaderUnfinishedRun}), table.Remove(table.Path{sessions.HeaderKeptRun}),
		table.Remove(table.Path{sessions.HeaderPendingAt}), table.Remove(table.Path{sessions.HeaderPendingEvents}),
	}
	if m.h.Run != "" {
		changes = append(changes, table.Remove(table.Path{sessions.HeaderRun}), table.Remove(table.Path{sessions.HeaderCausedBy}),
			table.Remove(table.Path{sessions.HeaderContinued}))
	}
	moves, unmoved := m.MoveOn()
	changes, same = append(changes, moves...), append(same, unmoved)
	up, err := m.h.ActivityChanges(newest, m.Rec.When)
	return table.Update(keys.SessionKey(m.h.ID()), append(changes, up...), same...), err
}

// MoveOn returns the changes of the header that make the marker's timeline the
// session's, and the condition that the session was not rewound since it was
// read.
func (m *Marker) MoveOn() (changes []table.Change, unmoved table.Condition) {
	return []table.Change{
		table.Set(table.Path{sessions.HeaderEpoch}, m.h.Epoch),
		table.Set(table.Path{sessions.HeaderMarker}, m.h.Marker),
		table.Set(table.Path{sessions.HeaderTimeline}, m.h.Timeline),
	}, records.Unchanged(sessions.HeaderEpoch, m.h.Epoch-1)
}

func (m *Marker) result(ctx context.Context, r session.Rewind) (session.Rewound, error) {
	e := m.Rec.Events[0]
	now, err := m.s.sessions.Render(ctx, m.h, m.head.After(m.Rec))
	return r.Rewound(e, now, m.Plan.conflicts), err
}
