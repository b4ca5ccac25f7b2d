package history

import (
	"context"

	"github.com/rethread/rethread/shared/base/fault"
	"github.com/rethread/rethread/shared/domain/session"
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

// Ending is the end of a run in the transaction of a marker.
type Ending struct {
	Writes func(context.Context) ([]table.Write, error)
	After  func(context.Context) // best-effort work that follows the transaction
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
