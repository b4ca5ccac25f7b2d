package sessions

import (
	"context"
	"fmt"
	"slices"

	"github.com/rethread/rethread/shared/store/keys"

	"github.com/rethread/rethread/shared/domain/session"
	"github.com/rethread/rethread/shared/store/table"
)

// logPosition is a position in the log of a session. A fork's log begins with the
// inherited ranges of other logs.
type logPosition struct {
	log      string
	position int64
	seq      int64
	rec      *record
}

// findInvocation finds the first entry of a session's log with an invocation,
// hidden entries included; nil if there is none. The event with the initial state
// is never undone, so the position of its invocation is right after it.
func (s *Store) findInvocation(ctx context.Context, h *header, id string) (*logPosition, error) {
	bounds, err := s.lowerBounds(ctx, h, id)
	if err != nil || len(bounds) == 0 {
		return nil, err
	}
	whole, err := h.whole()
	if err != nil {
		return nil, err
	}
	for _, r := range whole {
		bound, ok := bounds[r.Log]
		if !ok || (!r.Open() && bound > r.To) {
			continue
		}
		found, err := s.firstInRange(ctx, r, max(bound, r.From), id)
		if err != nil || found != nil {
			return found, err
		}
	}
	return nil, nil
}

// findInvocationUpTo is findInvocation for callers that have read the log up to a
// head: it returns table.ErrConditionFailed if the invocation began after that.
func (s *Store) findInvocationUpTo(ctx context.Context, h *header, at head, id string) (*logPosition, error) {
	found, err := s.findInvocation(ctx, h, id)
	if err == nil && found != nil && found.log == h.Log && found.rec.first >= at.next {
		return nil, table.ErrConditionFailed
	}
	return found, err
}

// lowerBounds reads, for each log of a session, the position from which an
// invocation may begin.
func (s *Store) lowerBounds(ctx context.Context, h *header, id string) (map[string]int64, error) {
	out := map[string]int64{}
	var own lowerBound
	found, err := s.db.Get(ctx, keys.InvocationKey(h.Log, id), &own)
	if err != nil {
		return nil, err
	}
	if found {
		out[h.Log] = own.Position
	}
	inherited, err := h.inherited()
	if err != nil || len(inherited) == 0 {
		return out, err
	}
	var wanted []table.Key
	for _, r := range inherited {
		if k := keys.InvocationKey(r.Log, id); !slices.Contains(wanted, k) {
			wanted = append(wanted, k)
		}
	}
	// Inherited ranges were written before the fork, so eventual consistency at
	// half price is enough; only a lagging replica may not have them yet.
	items, err := s.db.BatchGet(ctx, wanted, false)
	if err == nil && len(items) == 0 && !found {
		items, err = s.db.BatchGet(ctx, wanted, true)
	}
	if err != nil {
		return nil, err
	}
	for _, item := range items {
		var c lowerBound
		if err := table.Decode(item, &c); err != nil {
			return nil, fmt.Errorf("unmarshal a bound: %w", err)
		}
		out[c.PK[len(keys.PrefixLog):]] = c.Position
	}
	return out, nil
}

// firstInRange finds the first entry of a range, from a position on, with an
// invocation.
func (s *Store) firstInRange(ctx context.Context, r session.Range, from int64, id string) (*logPosition, error) {
	var found *logPosition
	visit := func(rec *record) (bool, error) {
		for _, e := range rec.events {
			if e.InvocationID != id || e.Seq < from || !r.Holds(e.Seq) {
				continue
			}
			found = &logPosition{log: r.Log, position: e.Seq, seq: r.Seq + e.Seq - r.From, rec: rec}
			if rec.initial {
				found.position++
				found.seq++
			}
			return false, nil
		}
		return r.Holds(rec.last() + 1), nil
	}
	// The position may lie within an entry that begins before it.
	rec, err := s.entryAtOrBefore(ctx, r.Log, from)
	if err != nil || rec == nil {
		return nil, err
	}
	if more, err := visit(rec); err != nil || !more || rec.last() < from {
		return found, err
	}
	err = s.scan(ctx, r.Log, rec.last()+1, r.To, visit)
	return found, err
}

// at returns the position as the session's history counts it.
func (p *logPosition) at() session.LogPosition {
	out := session.LogPosition{Log: p.log, Seq: p.seq, Marker: p.rec.LastMarker}
	if p.rec.marks() {
		out.Marker = p.rec.PrevMarker
	}
	return out
}

// timelineAt returns what the session showed just before a position of its log.
func (s *Store) timelineAt(ctx context.Context, h *header, p *logPosition) (session.Timeline, error) {
	history, err := h.history()
	if err != nil {
		return nil, err
	}
	then, older := history.Before(p.at())
	if older == 0 {
		return then, nil
	}
	m, err := s.entryCovering(ctx, h.Log, older)
	if err != nil {
		return nil, err
	}
	then, err = session.DecodeTimeline(m.Timeline)
	return then.Before(p.seq), err
}

// undoTo returns the delta that reverts all changes of state from the head of the
// session's log back to a position: for each key, its value just before the
// position. Only entries that change state are read.
func (s *Store) undoTo(ctx context.Context, h *header, at head, p *logPosition) (session.Delta, error) {
	undo := session.Delta{}
	own := max(p.seq, h.base()+1)
	var known *record
	if p.log == h.Log {
		known = p.rec
	}
	err := s.undoLog(ctx, h.Log, at.lastState, own, 0, undo, nil, known)
	if err == nil && p.log != h.Log {
		err = s.undoInherited(ctx, h, p, undo)
	}
	if p.rec.initial {
		p.rec.restoreInitial(undo)
	}
	return undo, err
}

// restoreInitial adds to undo the values set by the initial event. If an imported
// fork's source had hidden entries after that event, the event's own undo also
// reverts their changes, which no other entry does.
func (r *record) restoreInitial(undo session.Delta) {
	if len(r.undo) == 0 {
		return
	}
	initial := r.events[0].Change()
	for key, prev := range r.undo[0].In(session.ScopeSession) {
		if undo[key] = prev; initial[key] != nil {
			undo[key] = initial[key]
		}
	}
}

// undoInherited adds to undo what reverts the changes in the inherited logs, from
// the fork's source back to the log of a position. Hidden entries count too: a
// rewind may have kept their changes of the state.
func (s *Store) undoInherited(ctx context.Context, h *header, p *logPosition, undo session.Delta) error {
	// A fork never reverts shared keys that its parent changed.
	mine := func(key string) bool { scope, _ := session.ScopeOf(key); return scope == session.ScopeSession }
	log, at := h.Origin.Log, h.Origin.At
	for {
		base, next := int64(0), lineage{}
		if i := slices.IndexFunc(h.Origin.Lineage, func(l lineage) bool { return l.Log == log }); i >= 0 {
			next = h.Origin.Lineage[i]
			base = next.Base
		}
		until := base + 1
		if log == p.log {
			until = p.position
		}
		if at >= until {
			rec, err := s.entryCovering(ctx, log, at)
			if err != nil {
				return err
			}
			if err := s.undoLog(ctx, log, rec.LastState, until, at, undo, mine, nil); err != nil {
				return err
			}
		}
		if log == p.log || next.From == "" {
			return nil
		}
		log, at = next.From, next.At
	}
}

// undoLog adds to undo what reverts the changes of one log from the entry at
// position from back to the position until. It leaves out changes after position
// to (0: none) and those of keys for which keep returns false. known is the entry
// that covers until, if it has been read.
func (s *Store) undoLog(
	ctx context.Context, log string, from, until, to int64, undo session.Delta, keep func(string) bool, known *record,
) error {
	back := backwards{s: s, log: log}
	for at := from; at > 0 && (known == nil || at >= known.first); {
		rec := known
		if known == nil || at > known.first {
			var err error
			if rec, err = back.covering(ctx, at); err != nil {
				return err
			}
		}
		if rec.last() < until {
			return nil
		}
		for i := len(rec.undo) - 1; i >= 0 && !rec.initial; i-- {
			position := rec.first + int64(i)
			if position < until || (to > 0 && position > to) {
				continue
			}
			for key, prev := range rec.undo[i] {
				if keep == nil || keep(key) {
					undo[key] = prev
				}
			}
		}
		at = rec.PrevState
	}
	return nil
}
