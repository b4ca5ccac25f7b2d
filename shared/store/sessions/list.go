package sessions

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"golang.org/x/sync/errgroup"

	"github.com/rethread/rethread/shared/base/fault"
	"github.com/rethread/rethread/shared/domain/session"
	"github.com/rethread/rethread/shared/store"
	"github.com/rethread/rethread/shared/store/eventlog"
	"github.com/rethread/rethread/shared/store/keys"
	"github.com/rethread/rethread/shared/store/records"
	"github.com/rethread/rethread/shared/store/table"
)

// ListScan limits how many sessions one call examines for matches: a rare name in
// a long list is returned in several pages instead of one slow one.
const ListScan = 2000

// List implements session.Store. The index provides the order and the filters; the
// sessions of the page are then read from the table, a hundred in a request. An exact
// list also reads the end of each log, so that it is as current as the sessions
// themselves.
func (s *Store) List(ctx context.Context, q session.ListQuery) (session.ListPage, error) {
	found, next, err := s.ByActivity(ctx, q)
	if err != nil {
		return session.ListPage{}, err
	}
	ids := make([]string, len(found))
	for i, c := range found {
		ids[i] = c.ID
	}
	page := session.ListPage{Next: next, Exact: q.Exact}
	page.Sessions, err = s.readSessions(ctx, q, ids)
	return page, err
}

// ByActivity reads a page of the index; next is where to continue, "" at the end.
func (s *Store) ByActivity(ctx context.Context, q session.ListQuery) (found []Candidate, next string, err error) {
	looked := 0
	err = s.DB.Pages(ctx, listQuery(q), func(items []table.Item) (bool, error) {
		for _, item := range items {
			var h Header
			if err := table.Decode(item, &h); err != nil {
				s.LeftOut(ctx, records.KeyOf(item), err)
				continue
			}
			looked++
			if q.Matches(h.Agent, h.Status, h.Name) {
				found = append(found, Candidate{ID: h.ID(), Owner: q.UserID, Position: h.GSK})
			}
			if len(found) == q.Limit || looked == ListScan {
				next = h.GSK
				return false, nil
			}
		}
		return true, nil
	})
	if err != nil {
		return nil, "", fmt.Errorf("list sessions: %w", err)
	}
	return found, next, nil
}

func listQuery(q session.ListQuery) table.Query {
	in := table.Query{Index: store.ActivityIndex, Partition: keys.ActivityPK(q.UserID), Descending: true}
	if q.After != "" {
		in.After = activityPosition(in.Partition, q.After)
	}
	if q.Agent == "" && q.Status == "" && q.Text == "" {
		in.Limit = q.Limit
	}
	return in
}

// activityPosition returns the index position of a session, whose id is part of
// the sort key. The session need not exist.
func activityPosition(gpk, gsk string) table.Position {
	_, id, _ := strings.Cut(gsk, "#")
	at := keys.SessionKey(id).Item()
	at[keys.AttrGPK], at[keys.AttrGSK] = keys.Str(gpk), keys.Str(gsk)
	return table.Position(at)
}

// readSessions reads sessions in the order of their ids and leaves out those
// deleted concurrently.
func (s *Store) readSessions(ctx context.Context, q session.ListQuery, ids []string) ([]session.Session, error) {
	wanted := make([]table.Key, len(ids))
	for i, id := range ids {
		wanted[i] = keys.SessionKey(id)
	}
	items, err := s.DB.BatchGet(ctx, wanted, q.Exact)
	if err != nil {
		return nil, err
	}
	out := make([]session.Session, len(ids))
	headers := make([]*Header, 0, len(items))
	for _, item := range items {
		var h Header
		if err := table.Decode(item, &h); err != nil {
			s.LeftOut(ctx, records.KeyOf(item), err)
			continue
		}
		if h.User == q.UserID {
			headers = append(headers, &h)
		}
	}
	if err := s.readMetadata(ctx, headers...); err != nil {
		return nil, err
	}
	group, ctx := errgroup.WithContext(ctx)
	group.SetLimit(records.Parallel)
	for _, h := range headers {
		group.Go(func() error {
			var err error
			out[slices.Index(ids, h.ID())], err = s.listed(ctx, h, q.Exact)
			return err
		})
	}
	err = group.Wait()
	return slices.DeleteFunc(out, func(v session.Session) bool { return v.ID == "" }), err
}

// listed returns a session as a list shows it; the zero value if it was deleted
// concurrently or is unreadable.
func (s *Store) listed(ctx context.Context, h *Header, exact bool) (session.Session, error) {
	read := s.row
	if exact {
		read = s.exactRow
	}
	shown, err := read(ctx, h)
	switch {
	case errors.Is(err, fault.Of(fault.NotFound)):
		return session.Session{}, nil
	case errors.Is(err, table.ErrUnreadable):
		s.LeftOut(ctx, table.NewKey(h.PK, h.SK), err)
		return session.Session{}, nil
	}
	return shown, err
}

// row returns what the header alone says of a session.
func (s *Store) row(ctx context.Context, h *Header) (session.Session, error) {
	millis, _, _ := strings.Cut(h.GSK, "#")
	onTop, err := strconv.ParseInt(millis, 10, 64)
	if err != nil {
		return session.Session{}, fmt.Errorf("position of session %s: %w: %w", h.ID(), table.ErrUnreadable, err)
	}
	return s.render(ctx, h, 0, onTop)
}

// exactRow also reads the newest entry of the log.
func (s *Store) exactRow(ctx context.Context, h *Header) (session.Session, error) {
	newest, err := s.logs.EntryAt(ctx, h.Log, 0)
	if err != nil {
		return session.Session{}, err
	}
	head := eventlog.Head{Next: h.Base() + 1}
	if newest != nil {
		head = eventlog.Head{}.After(newest)
	}
	return s.Render(ctx, h, head)
}

// Candidate is a session of a list that is searched.
type Candidate struct {
	ID, Owner string
	Log       string // the session's, "" for any
	Access    string // of the caller, as in session.Session
	Position  string // in the list
}

// Candidates reads a page of the sessions that a caller may search, without
// filters; next is where to continue, "" at the end.
type Candidates func(ctx context.Context, after string, limit int) (found []Candidate, next string, err error)
