package openresponses

import (
	"cmp"
	"context"
	"net/http"
	"slices"
	"strconv"

	"github.com/rethread/rethread/shared/base/fault"
	"github.com/rethread/rethread/shared/domain/access"
	"github.com/rethread/rethread/shared/domain/session"
	"github.com/rethread/rethread/shared/transport/frontend"
	"github.com/rethread/rethread/shared/transport/frontend/conversation"
	"github.com/rethread/rethread/shared/transport/openresponses/responsesconvert"
)

// maxItems is how many items can be added at once, as in OpenAI's API.
const maxItems = 20

func reversed(events []session.Event) []session.Event {
	out := slices.Clone(events)
	slices.Reverse(out)
	return out
}

// getItems lists the items of a conversation. Pages are read by position, so a page costs
// the same in a long conversation.
func (s *server) getItems(w http.ResponseWriter, r *http.Request) error {
	ctx := r.Context()
	q, err := parseListQuery(r)
	if err != nil {
		return err
	}
	of, err := s.ofPath(r, access.ReadSession)
	if err != nil {
		return err
	}
	events := session.EventQuery{View: session.Effective, Descending: !q.ascending, Limit: q.limit + 1}
	switch seq, ok := responsesconvert.SeqOf(q.after); {
	case q.after == "":
	case !ok:
		return errAfter()
	case q.ascending:
		events.After = seq - 1
	default:
		events.Before = seq + 1
	}
	var items []responsesconvert.Item
	more := false
	for page, err := range session.Pages(ctx, s.Sessions, of.UserID, of.ID, events) {
		if err != nil {
			return err
		}
		before, err := s.beginning(ctx, of, page.Events)
		if err != nil {
			return err
		}
		items = append(items, q.itemsOf(before, page.Events)...)
		if i := slices.IndexFunc(items, func(it responsesconvert.Item) bool { return it.ID() == q.after }); i >= 0 {
			items = items[i+1:]
		}
		if more = page.Next != nil; len(items) > q.limit {
			break
		}
	}
	return s.answer(ctx, w, of, q.first(items, more))
}

// itemsOf returns the items of a page of events in the order of the list.
func (q listQuery) itemsOf(before, events []session.Event) []responsesconvert.Item {
	if q.ascending {
		return responsesconvert.Items(before, events)
	}
	items := responsesconvert.Items(before, reversed(events))
	slices.Reverse(items)
	return items
}

// beginning returns the events of the earliest of these events' run before them: the
// input says which calls the client answers.
func (s *server) beginning(ctx context.Context, of session.Session, events []session.Event) ([]session.Event, error) {
	if len(events) == 0 {
		return nil, nil
	}
	first := slices.MinFunc(events, func(a, b session.Event) int { return cmp.Compare(a.Seq, b.Seq) })
	var out []session.Event
	q := session.EventQuery{View: session.All, Descending: true, Before: first.Seq, Limit: maxItems}
	for first.Author != "user" && q.Before > 1 {
		page, err := s.Sessions.Events(ctx, of.UserID, of.ID, q)
		if err != nil {
			return nil, err
		}
		for _, e := range page.Events {
			if e.InvocationID != first.InvocationID {
				return reversed(out), nil
			}
			out, q.Before = append(out, e), e.Seq
		}
		if page.Next == nil {
			break
		}
	}
	return reversed(out), nil
}

// getItem returns one item of a conversation.
func (s *server) getItem(w http.ResponseWriter, r *http.Request) error {
	of, item, err := s.itemOfPath(r)
	if err != nil {
		return err
	}
	return s.answer(r.Context(), w, of, item)
}

func (s *server) itemOfPath(r *http.Request) (session.Session, responsesconvert.Item, error) {
	of, err := s.ofPath(r, access.ReadSession)
	if err != nil {
		return of, nil, err
	}
	id := frontend.PathParameter(r, "item_id")
	seq, ok := responsesconvert.SeqOf(id)
	if ok {
		page, err := s.Sessions.Events(r.Context(), of.UserID, of.ID, session.EventQuery{
			View: session.All, After: seq - 1, Before: seq + 1, Limit: 1,
		})
		if err != nil {
			return of, nil, err
		}
		before, err := s.beginning(r.Context(), of, page.Events)
		if err != nil {
			return of, nil, err
		}
		for _, item := range responsesconvert.Items(before, page.Events) {
			if item.ID() == id {
				return of, item, nil
			}
		}
	}
	return of, nil, fault.New(fault.EventNotFound, "There is no item with this id: %s", id)
}

// deleteItem refuses: a log is only appended to.
func (s *server) deleteItem(_ http.ResponseWriter, r *http.Request) error {
	if _, _, err := s.itemOfPath(r); err != nil {
		return err
	}
	return fault.Field(fault.Invalid, "item_id",
		"cannot be deleted: an item is a part of its conversation's log. Continue from an earlier response instead.").
		With("code", responsesconvert.CodeUnsupported)
}

// postItems adds items to a conversation without a run.
func (s *server) postItems(w http.ResponseWriter, r *http.Request) error {
	o, err := body(w, r, "items")
	if err != nil {
		return err
	}
	items, err := responsesconvert.ParseItems(o, maxItems)
	if err != nil {
		return err
	}
	if len(items) == 0 {
		return fault.Field(fault.Malformed, "/items", "must have at least one item")
	}
	of, err := s.ofPath(r, access.AppendEvents)
	if err != nil {
		return err
	}
	newest, err := s.newest(r.Context(), of, 0)
	if err != nil {
		return err
	}
	added, err := responsesconvert.Append(items, responsesconvert.Calls(newest))
	if err != nil {
		return err
	}
	id := s.NewID()
	if key := r.Header.Get("Idempotency-Key"); key != "" {
		id = conversation.Digest(access.CallerOf(r.Context()).UserID, key)
	}
	stored, err := s.appendItems(r, of, added, "items-"+id)
	if err != nil {
		return err
	}
	q := listQuery{limit: len(stored) * maxPage, ascending: true}
	return frontend.WriteJSON(w, q.first(responsesconvert.Items(nil, stored), false))
}

// appendItems appends events to a session as one invocation. Ids make it safe to repeat.
func (s *server) appendItems(r *http.Request, of session.Session, events []session.Event, invocation string) ([]session.Event, error) {
	if len(events) == 0 {
		return nil, nil
	}
	for i := range events {
		events[i].InvocationID, events[i].ID = invocation, invocation+"."+strconv.Itoa(i+1)
	}
	access.CallerOf(r.Context()).StampAll(events)
	stored, _, err := s.Sessions.Append(r.Context(), session.Append{SessionID: of.ID, UserID: of.UserID, Events: events})
	return stored, err
}
