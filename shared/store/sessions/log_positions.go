package sessions

import (
	"context"
	"fmt"
	"slices"
	"time"

	"github.com/rethread/rethread/shared/domain/session"
	"github.com/rethread/rethread/shared/store/eventlog"
	"github.com/rethread/rethread/shared/store/keys"
	"github.com/rethread/rethread/shared/store/table"
)

// replicasLag is longer than a replica of the table lags behind.
const replicasLag = time.Minute

// LogPosition is a position in the log of a session. A fork's log begins with the
// inherited ranges of other logs.
type LogPosition struct {
	Log      string
	Position int64
	Seq      int64
	Rec      *eventlog.Record
}

// FindInvocation finds the first entry of a session's log with an invocation,
// hidden entries included; nil if there is none. The event with the initial state
// is never undone, so the position of its invocation is right after it.
func (s *reader) FindInvocation(ctx context.Context, h *Header, id string) (*LogPosition, error) {
	bounds, err := s.lowerBounds(ctx, h, id)
	if err != nil || len(bounds) == 0 {
		return nil, err
	}
	whole := h.Whole
	if _, own := bounds[h.Log]; own && len(bounds) == 1 {
		whole = h.own
	}
	ranges, err := s.Timeline(ctx, whole)
	if err != nil {
		return nil, err
	}
	for _, r := range ranges {
		bound, ok := bounds[r.Log]
		if !ok || (!r.Open() && bound > r.To) {
			continue
		}
		found, err := s.FirstInRange(ctx, r, max(bound, r.From), id)
		if err != nil || found != nil {
			return found, err
		}
	}
	return nil, nil
}

// FindOwnInvocation is FindInvocation in what the session itself has appended.
func (s *reader) FindOwnInvocation(ctx context.Context, h *Header, id string) (*LogPosition, error) {
	var bound eventlog.LowerBound
	found, err := s.DB.Get(ctx, keys.InvocationKey(h.Log, id), &bound)
	if err != nil || !found {
		return nil, err
	}
	first := h.Base() + 1
	return s.FirstInRange(ctx, session.Range{Log: h.Log, From: first, Seq: first}, max(bound.Position, first), id)
}

// FindInvocationUpTo is FindInvocation for callers that have read the log up to a
// head: it returns table.ErrConditionFailed if the invocation began after that.
func (s *reader) FindInvocationUpTo(ctx context.Context, h *Header, head eventlog.Head, id string) (*LogPosition, error) {
	found, err := s.FindInvocation(ctx, h, id)
	if err == nil && found != nil && found.Log == h.Log && found.Rec.First >= head.Next {
		return nil, table.ErrConditionFailed
	}
	return found, err
}

// lowerBounds reads, for each log of a session, the position from which an
// invocation may begin.
func (s *reader) lowerBounds(ctx context.Context, h *Header, id string) (map[string]int64, error) {
	out := map[string]int64{}
	var own eventlog.LowerBound
	found, err := s.DB.Get(ctx, keys.InvocationKey(h.Log, id), &own)
	if err != nil {
		return nil, err
	}
	if found {
		out[h.Log] = own.Position
	}
	inherited, err := h.Inherited()
	if err != nil || len(inherited) == 0 {
		return out, err
	}
	var wanted []table.Key
	passed := map[string]bool{}
	for _, l := range h.Origin.Ancestors() {
		passed[l.Log] = !l.mayName(id)
	}
	for _, log := range h.sources(inherited) {
		if !passed[log] {
			passed[log] = true
			wanted = append(wanted, keys.InvocationKey(log, id))
		}
	}
	// Inherited ranges were written before the fork, so eventual consistency at
	// half price is enough; only a lagging replica may not have them yet.
	items, err := s.DB.BatchGet(ctx, wanted, false)
	if err == nil && len(items) == 0 && !found && h.Created > s.Millis()-replicasLag.Milliseconds() {
		items, err = s.DB.BatchGet(ctx, wanted, true)
	}
	if err != nil {
		return nil, err
	}
	for _, item := range items {
		var c eventlog.LowerBound
		if err := table.Decode(item, &c); err != nil {
			return nil, fmt.Errorf("unmarshal a bound: %w", err)
		}
		out[c.PK[len(keys.PrefixLog):]] = c.Position
	}
	return out, nil
}

// FirstInRange finds the first entry of a range, from a position on, with an
// invocation.
func (s *reader) FirstInRange(ctx context.Context, r session.Range, from int64, id string) (*LogPosition, error) {
	var found *LogPosition
	visit := func(rec *eventlog.Record) (bool, error) {
		for _, e := range rec.Events {
			if e.InvocationID != id || e.Seq < from || !r.Holds(e.Seq) {
				continue
			}
			found = &LogPosition{Log: r.Log, Position: e.Seq, Seq: r.Seq + e.Seq - r.From, Rec: rec}
			if rec.Initial {
				found.Position++
				found.Seq++
			}
			return false, nil
		}
		return r.Holds(rec.Last() + 1), nil
	}
	// The position may lie within an entry that begins before it.
	rec, err := s.logs.EntryAtOrBefore(ctx, r.Log, from)
	if err != nil || rec == nil {
		return nil, err
	}
	if more, err := visit(rec); err != nil || !more || rec.Last() < from {
		return found, err
	}
	err = s.logs.Scan(ctx, r.Log, rec.Last()+1, r.To, visit)
	return found, err
}

// at returns the position as the session's history counts it.
func (p *LogPosition) at() session.LogPosition {
	out := session.LogPosition{Log: p.Log, Seq: p.Seq, Marker: p.Rec.LastMarker}
	if p.Rec.IsRewind() {
		out.Marker = p.Rec.PrevMarker
	}
	return out
}

// UndoTo returns the delta that reverts all changes of state from the head of the
// session's log back to a position: for each key, its value just before the
// position. Only entries that change state are read.
func (s *reader) UndoTo(ctx context.Context, h *Header, head eventlog.Head, p *LogPosition) (session.Delta, error) {
	undo := session.Delta{}
	own := max(p.Seq, h.Base()+1)
	var known *eventlog.Record
	if p.Log == h.Log {
		known = p.Rec
	}
	err := s.logs.UndoLog(ctx, h.Log, head.LastState, own, 0, undo, nil, known)
	if err == nil && p.Log != h.Log {
		err = s.undoInherited(ctx, h, p, undo)
	}
	if p.Rec.Initial {
		p.Rec.RestoreInitial(undo)
	}
	return undo, err
}

// undoInherited adds to undo what reverts the changes in the inherited logs, from
// the fork's source back to the log of a position. Hidden entries count too: a
// rewind may have kept their changes of the state.
func (s *reader) undoInherited(ctx context.Context, h *Header, p *LogPosition, undo session.Delta) error {
	// A fork never reverts shared keys that its parent changed.
	mine := func(key string) bool { scope, _ := session.ScopeOf(key); return scope == session.ScopeSession }
	above := h.Origin.Ancestors()
	log, at, state := h.Origin.Log, h.Origin.Position, h.Origin.State
	for {
		base, next := int64(0), Lineage{}
		if i := slices.IndexFunc(above, func(l Lineage) bool { return l.Log == log }); i >= 0 {
			next = above[i]
			base = next.Base
		}
		until := base + 1
		if log == p.Log {
			until = p.Position
		}
		last := state - 1
		if at >= until && state == 0 {
			rec, err := s.logs.EntryCovering(ctx, log, at)
			if err != nil {
				return err
			}
			last = rec.LastState
		}
		// The last change has the position of its entry, which may reach behind until.
		if at >= until && (last >= until || log == p.Log) {
			if err := s.logs.UndoLog(ctx, log, last, until, at, undo, mine, nil); err != nil {
				return err
			}
		}
		if log == p.Log || next.From == "" {
			return nil
		}
		log, at, state = next.From, next.Position, next.State
	}
}
