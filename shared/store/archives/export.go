package archives

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"slices"
	"sync/atomic"

	"github.com/rethread/rethread/shared/base/fault"
	"github.com/rethread/rethread/shared/domain/archive"
	"github.com/rethread/rethread/shared/domain/run"
	"github.com/rethread/rethread/shared/domain/session"
	"github.com/rethread/rethread/shared/store/eventlog"
	"github.com/rethread/rethread/shared/store/records"
	"github.com/rethread/rethread/shared/store/sessions"
	"github.com/rethread/rethread/shared/store/table"
)

// Export implements archive.Exporter. Entries never change, so the log up to a head
// is a snapshot; tasks and artifacts change in place, so at the end Export checks
// that the session is unchanged.
func (s *Store) Export(ctx context.Context, userID, id string, to archive.Sink) error {
	err := s.export(ctx, userID, id, to)
	if errors.Is(err, table.ErrUnreadable) {
		s.Log.ErrorContext(ctx, "an export met an item that cannot be read", "session_id", id, "error", err)
		return fault.New(fault.SessionUnreadable, "a part of the session cannot be read: its document would not be whole")
	}
	return err
}

func (s *Store) export(ctx context.Context, userID, id string, to archive.Sink) error {
	h, head, err := s.sessions.HeaderAndHead(ctx, userID, id)
	if err != nil {
		return err
	}
	if h.Run != "" {
		return fault.New(fault.RunActive, "a run is in progress: a session is exported when it is idle").
			With("run_id", h.Run)
	}
	if h.Queued > 0 {
		return fault.New(fault.InputsQueued, "inputs are queued: a session is exported when they are answered or cancelled").
			With("queued", h.Queued)
	}
	x := &exporting{s: s, h: h, head: head, to: to, outlines: newOutlines(s.sessions.Markers(ctx))}
	ctx, x.leftOut = records.CountingLeftOut(ctx)
	if err := x.run(ctx); err != nil {
		return fmt.Errorf("export session %s: %w", id, s.sessions.NotFoundIfDeleted(ctx, h, err))
	}
	return nil
}

// exporting is an export of a session as it was read.
type exporting struct {
	s    *Store
	h    *sessions.Header
	head eventlog.Head
	to   archive.Sink
	runs []run.Run
	// outlines knows those of the markers that were exported.
	outlines *outlines
	// leftOut counts the items that lists left out.
	leftOut *atomic.Int64
}

func (x *exporting) run(ctx context.Context) error {
	state, err := x.state(ctx) // may read a later head
	if err != nil {
		return err
	}
	before, err := x.s.sessions.Render(ctx, x.h, x.head)
	if err != nil {
		return err
	}
	timeline, err := x.s.sessions.Timeline(ctx, x.h.Shown)
	if err != nil {
		return err
	}
	if err := x.to.Begin(archive.Head{
		ExportedTime: x.s.Millis(), Session: before, TakenOver: x.h.Taken(),
		Branched: x.h.Origin != nil || x.h.Branched, SpentRun: x.h.UnfinishedRun, KeptRun: x.h.KeptRun,
		Timeline: inSeqs(timeline),
	}); err != nil {
		return err
	}
	for _, step := range []func(context.Context) error{x.events, x.tasks, x.feedback, x.artifacts, x.requests} {
		if err := step(ctx); err != nil {
			return err
		}
	}
	if err := x.unchanged(ctx, before); err != nil {
		return err
	}
	if n := x.leftOut.Load(); n > 0 {
		return fmt.Errorf("%d items were left out: %w", n, table.ErrUnreadable)
	}
	return x.to.End(*state, x.runs)
}

// requests exports what agents were sent, while it is kept. That a worker may still keep
// one does not change the session.
func (x *exporting) requests(ctx context.Context) error {
	return x.s.runs.EachSent(ctx, x.h, func(id string, r run.SentRequest) error {
		return x.to.Request(archive.Request{Run: id, SentRequest: r})
	})
}

// unchanged checks that the session is as it was when the export began.
func (x *exporting) unchanged(ctx context.Context, before session.Session) error {
	h, head, err := x.s.sessions.HeaderAndHead(ctx, x.h.User, x.h.ID())
	if err != nil {
		return err
	}
	now, err := x.s.sessions.Render(ctx, h, head)
	if err != nil {
		return err
	}
	if h.Log != x.h.Log || head.Next != x.head.Next || h.Epoch != x.h.Epoch || h.Run != x.h.Run || h.UnfinishedRun != x.h.UnfinishedRun ||
		now.UpdatedTime != before.UpdatedTime || h.Version != x.h.Version {
		return fault.New(fault.SessionChanged, "the session changed while it was exported")
	}
	return nil
}

// inSeqs returns a timeline in the session's own numbers.
func inSeqs(t session.Timeline) archive.Timeline {
	out := archive.Timeline{}
	for _, r := range t {
		next := archive.Range{From: r.Seq, To: r.Last()}
		if n := len(out); n > 0 && out[n-1].To+1 == next.From {
			out[n-1].To = next.To
			continue
		}
		out = append(out, next)
	}
	return out
}

// state returns the state in all scopes, with the parts that only rewinds need.
func (x *exporting) state(ctx context.Context) (*archive.State, error) {
	unchanged := func(before, now eventlog.Head) bool { return before.Next == now.Next }
	c, head, err := x.s.sessions.SettledState(ctx, x.h.OfLog(), x.head, unchanged)
	if errors.Is(err, sessions.ErrStateChanged) {
		return nil, fault.New(fault.SessionChanged, "the session changed while it was exported")
	}
	if err != nil {
		return nil, err
	}
	x.head = head
	return x.archived(c)
}

func (x *exporting) archived(c *eventlog.StateChange) (*archive.State, error) {
	out := &archive.State{State: c.State(), Artifacts: map[string]int64{}}
	all := maps.Clone(c.Values)
	for _, sc := range c.Scopes {
		for name, v := range sc.Values {
			key := sc.Scope.Prefix() + name
			if v.By != "" && v.By != x.h.ID() {
				out.Elsewhere = append(out.Elsewhere, key)
			}
			if v.Value != nil {
				all[key] = v.Value
			}
		}
	}
	slices.Sort(out.Elsewhere)
	for key, v := range all {
		if name, ok := session.ArtifactOf(key); ok {
			var version int64
			if err := json.Unmarshal(v, &version); err != nil {
				return nil, fmt.Errorf("version of artifact %s: %w", name, err)
			}
			out.Artifacts[name] = version
		}
	}
	return out, nil
}
