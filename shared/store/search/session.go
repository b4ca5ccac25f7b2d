package search

import (
	"context"
	"slices"

	"github.com/rethread/rethread/shared/domain/search"
	"github.com/rethread/rethread/shared/domain/session"
	"github.com/rethread/rethread/shared/store/eventlog"
	"github.com/rethread/rethread/shared/store/records"
	"github.com/rethread/rethread/shared/store/sessions"
)

const (
	// searchFirst is how many events of a range a search reads at first, and
	// searchMore from then on.
	searchFirst, searchMore = 32, 128
	// searchBytes limits them, so that few are in memory at a time.
	searchBytes = 512 << 10
)

// sessionSearch searches a session, from its newest event on.
type sessionSearch struct {
	*searching
	h     *sessions.Header
	head  eventlog.Head
	sets  map[string]*wordSets // by log
	steps int                  // parts of logs that were read
}

// read returns what the session has.
func (r *sessionSearch) read(ctx context.Context) (searchResult, error) {
	outline, err := r.h.Shown()
	if err != nil {
		return searchResult{}, err
	}
	before := r.head.Next
	if p := r.at; p.log == r.h.Log && p.epoch == r.h.Epoch {
		before = min(before, p.before)
	}
	walk := outline.Walk(0, before, true, r.s.sessions.Markers(ctx))
	for {
		ranges, err := walk.Next(searchFirst)
		if ranges == nil || err != nil {
			return searchResult{}, err
		}
		for _, shown := range slices.Backward(ranges) {
			match, rest, err := r.readRange(ctx, shown)
			switch {
			case err != nil:
				return searchResult{}, err
			case match != nil:
				found, err := r.found(ctx, match)
				return searchResult{found: found}, err
			case rest > 0:
				return searchResult{log: r.h.Log, epoch: r.h.Epoch, before: rest}, nil
			}
		}
	}
}

// found returns the session with a match, as of now: ErrRewound if it has been rewound
// since.
func (r *sessionSearch) found(ctx context.Context, match *session.Match) (session.Session, error) {
	now, err := r.s.sessions.Header(ctx, r.h.User, r.h.ID())
	if err != nil {
		return session.Session{}, err
	}
	if now.Log != r.h.Log || now.Epoch != r.h.Epoch {
		return session.Session{}, eventlog.ErrRewound
	}
	out, err := r.s.sessions.Render(ctx, now, r.head)
	out.Match = match
	return out, err
}

// enough reports whether the search must end here. It always reads at least one part
// of each session, so that each request gets on.
func (r *sessionSearch) enough() bool {
	r.steps++
	return r.steps > 1 && r.spent()
}

// readRange searches a closed range, from its end on. If the request has read enough,
// rest is the seq before which the search continues.
func (r *sessionSearch) readRange(ctx context.Context, shown session.Range) (match *session.Match, rest int64, err error) {
	sets := r.setsOf(shown)
	for to := shown.To; to >= shown.From; {
		if r.enough() {
			return nil, shown.Seq + to - shown.From + 1, nil
		}
		set, err := sets.covering(ctx, to)
		if err != nil {
			return nil, 0, err
		}
		g := &gap{r: r, shown: shown, from: shown.From, to: to, before: set}
		if set != nil {
			words, ok := set.words(ctx, r.s, to)
			g.from, g.known = max(shown.From, set.begin(to)), ok
			if ok && !r.words.MayMatch(words) {
				to = g.from - 1
				continue
			}
		}
		if match, rest, err = g.read(ctx); match != nil || rest > 0 || err != nil {
			return match, rest, err
		}
		to = g.from - 1
	}
	return nil, 0, nil
}

// gap is a part of a range whose events are read: their words are not stored, or may
// be what is searched for.
type gap struct {
	r        *sessionSearch
	shown    session.Range
	from, to int64
	known    bool     // a set of its words is stored
	before   *wordSet // the set before or at it, nil for none

	words  *search.Words
	bytes  int64 // of the events whose words were collected
	last   int64 // position of the last one of them
	lowest int64 // and of the first
}

// read searches the events of the gap, the newest first, and stores their words.
func (g *gap) read(ctx context.Context) (match *session.Match, rest int64, err error) {
	counting, unreadable := records.CountingLeftOut(ctx)
	g.restart(g.to)
	limit := searchFirst
	for to := g.to; to >= g.from; {
		if to < g.to && g.r.enough() {
			rest = g.shown.Seq + to - g.shown.From + 1
			break
		}
		p := &eventlog.Page{Show: g.r.h.Show, View: session.Effective, Limit: limit, MaxBytes: searchBytes}
		part := eventlog.Span{Ranges: session.Timeline{g.shown}, Log: g.shown.Log, From: g.from, To: to}
		if err := g.r.s.logs.ReadDown(counting, part, p); err != nil {
			return nil, 0, err
		}
		g.r.spend(int64(p.Bytes))
		if match = g.search(ctx, p.Events); match != nil {
			break
		}
		to = g.from - 1
		if p.Full {
			to = g.position(p.Events[len(p.Events)-1]) - 1
		}
		g.lowest, limit = to+1, searchMore
	}
	if unreadable.Load() == 0 {
		g.store(ctx)
	}
	return match, rest, nil
}

// position returns an event's position in the log.
func (g *gap) position(e session.Event) int64 { return g.shown.From + e.Seq - g.shown.Seq }

// search collects the words of events, the newest first, until one matches.
func (g *gap) search(ctx context.Context, events []session.Event) *session.Match {
	for _, e := range events {
		if e.Status == session.EventInProgress {
			g.restart(g.position(e) - 1) // what it says is not known yet
			continue
		}
		text := search.Text(e.Fields["content"])
		at, ok := g.r.words.Find(text)
		if ok {
			return &session.Match{
				EventID: e.ID, InvocationID: e.InvocationID, Seq: e.Seq, Author: e.Author, Text: search.Excerpt(text, at),
			}
		}
		g.collect(ctx, e, text)
	}
	return nil
}
