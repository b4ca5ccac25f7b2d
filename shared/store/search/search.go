package search

import (
	"context"
	"errors"
	"fmt"
	"sync/atomic"
	"time"

	"golang.org/x/sync/errgroup"

	"github.com/rethread/rethread/shared/base/fault"
	"github.com/rethread/rethread/shared/domain/search"
	"github.com/rethread/rethread/shared/domain/session"
	"github.com/rethread/rethread/shared/store/keys"
	"github.com/rethread/rethread/shared/store/records"
	"github.com/rethread/rethread/shared/store/sessions"
	"github.com/rethread/rethread/shared/store/table"
)

// A search reads the sessions of a list in its order, some at a time. It reads the
// words of ranges of their logs (sets.go), and the log where the words may be
// or are not stored (search_session.go); docs/adr/0057-a-search-of-messages.md has the
// reasons.

const (
	// searchPage is how many sessions of a list are read at once.
	searchPage = 128
	// sessionBytes is what reading a session without its events counts for.
	sessionBytes = 2 << 10
	// listBytes is what reading a page of the list counts for.
	listBytes = searchPage << 8
)

// Search implements session.Store.
func (s *Store) Search(ctx context.Context, q session.ListQuery) (session.ListPage, error) {
	own := func(ctx context.Context, after string, limit int) ([]sessions.Candidate, string, error) {
		return s.sessions.ByActivity(ctx, session.ListQuery{UserID: q.UserID, Agent: q.Agent, Status: q.Status, After: after, Limit: limit})
	}
	return s.SearchAmong(ctx, q, own)
}

// SearchAmong is session.Store.Search in the sessions of a list.
func (s *Store) SearchAmong(ctx context.Context, q session.ListQuery, list sessions.Candidates) (session.ListPage, error) {
	words := search.Parse(q.Text)
	if words.Empty() {
		return session.ListPage{}, fault.Field(fault.Malformed, "q", "must contain a word to search for in messages")
	}
	at, err := parseSearchPosition(q.After)
	if err != nil {
		return session.ListPage{}, err
	}
	q.Text = "" // names need not have the words
	r := &searching{s: s, q: q, words: words, at: at, page: session.ListPage{Exact: true}, end: time.Now().Add(s.rules.Time)}
	r.left.Store(s.rules.Bytes)
	if err := r.read(ctx, list); err != nil {
		return session.ListPage{}, fmt.Errorf("search sessions: %w", err)
	}
	return r.page, nil
}

// searching is one request.
type searching struct {
	s     *Store
	q     session.ListQuery
	words search.Query
	at    searchPosition
	page  session.ListPage
	end   time.Time
	left  atomic.Int64 // bytes
}

func (r *searching) spend(bytes int64) { r.left.Add(-bytes) }

// spent reports whether the request has read enough.
func (r *searching) spent() bool { return r.left.Load() <= 0 || !time.Now().Before(r.end) }

// read fills the page.
func (r *searching) read(ctx context.Context, list sessions.Candidates) error {
	for {
		found, next, err := list(ctx, r.at.after, searchPage)
		if err != nil {
			return err
		}
		for len(found) > 0 {
			n, err := r.sessions(ctx, found[:min(records.Parallel, len(found))])
			if err != nil {
				return err
			}
			found = found[n:]
			full := r.at.log != "" || len(r.page.Sessions) == r.q.Limit || r.spent()
			if full && (len(found) > 0 || next != "") {
				r.page.Next = r.at.String()
				return nil
			}
		}
		r.at = searchPosition{after: next}
		if r.spend(listBytes); next == "" || r.spent() {
			if next != "" {
				r.page.Next = r.at.String()
			}
			return nil
		}
	}
}

// sessions searches some sessions at once, and adds those found to the page until it is
// full. It returns how many of the sessions the page includes; if it ends in the next
// one, r.at says where.
func (r *searching) sessions(ctx context.Context, some []sessions.Candidate) (n int, err error) {
	results := make([]searchResult, len(some))
	group, ctx := errgroup.WithContext(ctx)
	for i, c := range some {
		group.Go(func() (err error) {
			results[i], err = r.session(ctx, c)
			return err
		})
	}
	if err := group.Wait(); err != nil {
		return 0, err
	}
	for i, result := range results {
		if result.before > 0 {
			r.at = searchPosition{after: r.at.after, log: result.log, epoch: result.epoch, before: result.before}
			return i, nil
		}
		r.at = searchPosition{after: some[i].Position}
		if result.found.ID == "" {
			continue
		}
		result.found.Access = some[i].Access
		r.page.Sessions = append(r.page.Sessions, result.found)
		if len(r.page.Sessions) == r.q.Limit { // the next page searches the others again
			return i + 1, nil
		}
	}
	return len(some), nil
}

// searchResult is what a session has: found is empty if nothing, and before is where
// in its epoch the search continues if it has not ended.
type searchResult struct {
	found  session.Session
	log    string
	epoch  int64
	before int64
}

// session searches a session. One that was deleted, or cannot be read, has nothing.
func (r *searching) session(ctx context.Context, c sessions.Candidate) (searchResult, error) {
	read := r.s.sessions.EventualOnce()
	result, err := records.SettledValue(ctx, func() (searchResult, error) {
		h, head, err := r.s.sessions.HeaderAndHeadBy(ctx, read, c.Owner, c.ID)
		if err != nil || c.Log != "" && h.Log != c.Log || !r.q.Matches(h.Agent, h.Status, h.Name) {
			return searchResult{}, err
		}
		of := &sessionSearch{searching: r, h: h, head: head, sets: map[string]*wordSets{}}
		result, err := of.read(ctx)
		return result, r.s.sessions.NotFoundIfDeleted(ctx, h, err)
	})
	r.spend(sessionBytes)
	switch {
	case errors.Is(err, fault.Of(fault.NotFound)), errors.Is(err, fault.Of(fault.Forbidden)):
		return searchResult{}, nil
	case errors.Is(err, table.ErrUnreadable):
		r.s.LeftOut(ctx, keys.SessionKey(c.ID), err)
		return searchResult{}, nil
	case err != nil:
		return searchResult{}, fmt.Errorf("session %s: %w", c.ID, err)
	}
	return result, nil
}
