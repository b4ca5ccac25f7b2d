package sessions

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/rethread/rethread/shared/domain/session"
	"github.com/rethread/rethread/shared/store/eventlog"
	"github.com/rethread/rethread/shared/store/keys"
	"github.com/rethread/rethread/shared/store/table"
)

// OutlineParts is how many parts of each level an outline has at most. Those of 10,000
// rewinds take about 400 bytes, in the header and in each marker.
const OutlineParts = 16

// Inherited returns what a fork took over, whatever it has rewound since.
func (h *Header) Inherited() (session.Outline, error) {
	if h.Origin == nil {
		return nil, nil
	}
	return decodeOutline(h.Origin.Inherited)
}

// Whole returns everything in the session's log, rewound or not.
func (h *Header) Whole() (session.Outline, error) {
	inherited, err := h.Inherited()
	return session.History{Log: h.Log, Base: h.Base(), Inherited: inherited}.Whole(), err
}

// own is Whole without what a fork took over.
func (h *Header) own() (session.Outline, error) {
	return session.Outline(nil).Reopened(h.Log, h.Base()+1), nil
}

// History returns the timelines that the session has had.
func (h *Header) History() (out session.History, err error) {
	out = session.History{Log: h.Log, Base: h.Base(), Marker: h.Marker}
	if out.Inherited, err = h.Inherited(); err == nil && h.Timeline != nil {
		out.Rewound, err = decodeOutline(h.Timeline)
	}
	return out, err
}

// Shown returns what the session shows now.
func (h *Header) Shown() (session.Outline, error) {
	if h.Timeline == nil {
		return h.Whole()
	}
	return decodeOutline(h.Timeline)
}

func decodeOutline(b []byte) (session.Outline, error) {
	o, err := session.DecodeOutline(b)
	if err != nil {
		return nil, errors.Join(table.ErrUnreadable, err)
	}
	return o, nil
}

// Timeline reads all of what an outline of a session stands for.
func (s *reader) Timeline(ctx context.Context, outline func() (session.Outline, error)) (session.Timeline, error) {
	o, err := outline()
	if err != nil {
		return nil, err
	}
	return o.Ranges(s.Markers(ctx))
}

// Markers returns the reader of what markers have in their outlines.
func (s *reader) Markers(ctx context.Context) session.Markers {
	return func(parts []session.Part) ([]session.Outline, error) {
		var at []eventlog.MarkerAt
		for _, p := range parts {
			if p.From > 0 {
				at = append(at, eventlog.MarkerAt{Log: p.Log, Position: p.From})
			}
		}
		stored, err := s.logs.Timelines(ctx, at)
		if err != nil {
			return nil, err
		}
		out := make([]session.Outline, len(parts))
		for i, p := range parts {
			if p.From == 0 {
				out[i], err = s.tookOver(ctx, p.Log)
			} else {
				out[i], err = decodeOutline(stored[eventlog.MarkerAt{Log: p.Log, Position: p.From}])
			}
			if err != nil {
				return nil, fmt.Errorf("log %s at %d: %w", p.Log, p.From, err)
			}
		}
		return out, nil
	}
}

// TimelineAt returns what the session showed just before a position of its log.
func (s *reader) TimelineAt(ctx context.Context, h *Header, p *LogPosition) (session.Before, error) {
	history, err := h.History()
	if err != nil {
		return session.Before{}, err
	}
	then, marker := history.At(p.at())
	if marker != 0 && marker != h.Marker {
		held, err := s.Markers(ctx)([]session.Part{{Range: session.Range{Log: h.Log, From: marker}}})
		if err != nil {
			return session.Before{}, err
		}
		then = held[0]
	}
	then, err = then.Before(p.Seq, s.Markers(ctx))
	return session.Before{Outline: then, Marker: marker}, err
}

// LogPosition is a position in the log of a session. A fork's log begins with the
// inherited ranges of other logs.
type LogPosition struct {
	Log      string
	Position int64
	Seq      int64
	Rec      *eventlog.Record
}

// at returns the position as the session's history counts it.
func (p *LogPosition) at() session.LogPosition {
	out := session.LogPosition{Log: p.Log, Seq: p.Seq, Marker: p.Rec.LastMarker}
	if p.Rec.IsRewind() {
		out.Marker = p.Rec.PrevMarker
	}
	return out
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

// replicasLag is longer than a replica of the table lags behind.
const replicasLag = time.Minute

// sources returns the logs that a fork took over from, without repetitions. Those of parts
// that its markers have are those of its ancestors.
func (h *Header) sources(inherited session.Outline) []string {
	var out []string
	for _, p := range inherited {
		if p.Level > 0 {
			out = []string{h.Origin.Log}
			for _, l := range h.Origin.Ancestors() {
				out = append(out, l.From)
			}
			break
		}
		if len(out) == 0 || out[len(out)-1] != p.Log {
			out = append(out, p.Log)
		}
	}
	return out
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
