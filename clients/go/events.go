package rethread

import (
	"context"
	"errors"
	"net/url"
	"slices"
	"strconv"

	"github.com/rethread/rethread/clients/go/watch/view"
)

// Events has the calls about a session's log.
type Events struct{ resource }

// EventQuery chooses events.
type EventQuery struct {
	All    bool  // the whole log, instead of the events that the session shows
	Newest bool  // newest first, instead of oldest first
	After  int64 // only events at positions after this one
	Limit  int   // of a page, up to 1000; 0 means 100
	Cursor string
}

func (q EventQuery) values() url.Values {
	out := listQuery(q.Limit, q.Cursor)
	if q.All {
		out.Set("view", "all")
	}
	if q.Newest {
		out.Set("order", "desc")
	}
	if q.After > 0 {
		out.Set("after", strconv.FormatInt(q.After, 10))
	}
	return out
}

// List lists events.
func (e *Events) List(sessionID string, q EventQuery, opts ...Option) List[Event] {
	return EventsAs[Event](e, sessionID, q, opts...)
}

// EventsAs lists events as values of T instead of Event: a type of your own, or
// json.RawMessage for events as the server sent them.
func EventsAs[T any](e *Events, sessionID string, q EventQuery, opts ...Option) List[T] {
	return entries[T](e.resource, q.values(), opts, "/sessions/{}/events", sessionID)
}

// Append appends 1 to 100 events, all or none, and returns them as stored. It can be
// repeated: events that all have ids are recognised by them, other requests by their
// Idempotency-Key. Invocation makes ids that cost the least.
func (e *Events) Append(ctx context.Context, sessionID string, request AppendRequest, opts ...Option) ([]Event, error) {
	c := post(repeatKey, request, "/sessions/{}/events", sessionID)
	if request.recognisable() {
		c.repeat, c.keyed = repeatSafe, true
	}
	return data[[]Event](ctx, e.resource, c, opts)
}

// recognisable reports whether the server recognises a repeat by the events' ids alone. A
// key besides would have it store the answer, which costs more than the events.
func (r AppendRequest) recognisable() bool {
	return !slices.ContainsFunc(r.Events, func(e EventRequest) bool { return e.ID == "" })
}

// Threads has the call that reads what a session shows.
type Threads struct{ resource }

// ThreadQuery chooses a page of a thread.
type ThreadQuery struct {
	Newest bool // newest items first, instead of oldest first
	Limit  int  // up to 1000; 0 means 100
	Cursor string
}

func (q ThreadQuery) values() url.Values {
	out := listQuery(q.Limit, q.Cursor)
	if q.Newest {
		out.Set("order", "desc")
	}
	return out
}

// Get returns a page of a session's thread. ErrConflict with a Cursor means that the
// session was rewound since: begin with the first page.
func (t *Threads) Get(ctx context.Context, sessionID string, q ThreadQuery, opts ...Option) (Thread, error) {
	c := get("/sessions/{}/thread", sessionID)
	c.query = q.values()
	return thread(ctx, t.resource, c, opts)
}

// View returns the whole thread of a session in the form of package view, which keeps it
// up to date with the messages of a websocket.
func (t *Threads) View(ctx context.Context, sessionID string, opts ...Option) (view.Thread, error) {
	return wholeThread(ctx, t.t, sessionID, maxAttempts, opts)
}

// wholeThread reads all pages of a thread. It starts again if the session is rewound
// between two pages.
func wholeThread(ctx context.Context, t *transport, sessionID string, attempts int, opts []Option) (view.Thread, error) {
	var whole view.Thread
	for cursor := ""; ; {
		c := get("/sessions/{}/thread", sessionID)
		c.query, c.attempts = listQuery(1000, cursor), attempts
		got, err := t.do(ctx, c, opts)
		if cursor != "" && errors.Is(err, ErrConflict) {
			whole, cursor = view.Thread{}, ""
			continue
		}
		if err != nil {
			return view.Thread{}, err
		}
		page, next, err := view.ParseThread(got.body)
		if err != nil {
			return view.Thread{}, err
		}
		if whole, cursor = page.Behind(whole), next; cursor == "" {
			return whole, nil
		}
	}
}

// thread makes a call that is answered with a thread.
func thread(ctx context.Context, r resource, c call, opts []Option) (Thread, error) {
	got, err := body[struct {
		Data  Thread   `json:"data"`
		Meta  pageMeta `json:"meta"`
		RunID string   `json:"run_id"`
	}](ctx, r, c, opts)
	got.Data.NextCursor, got.Data.RunID = got.Meta.NextCursor, got.RunID
	return got.Data, err
}
