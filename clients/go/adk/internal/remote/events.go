package remote

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"iter"
	"net/http"
	"net/url"
	"strconv"
)

// InProgress is the status of an event that is still being produced.
const InProgress = "in_progress"

// Event is an event as returned by the API: the members needed here, and the
// whole JSON in Raw.
type Event struct {
	ID          string          `json:"id"`
	Seq         int64           `json:"seq"`
	Status      string          `json:"status"`
	CreatedTime int64           `json:"created_time"` // epoch milliseconds
	Author      string          `json:"author"`
	Content     json.RawMessage `json:"content"`
	Timestamp   json.RawMessage `json:"timestamp"` // nil if the client that appended the event sent none
	Actions     struct {
		StateDelta map[string]json.RawMessage `json:"state_delta"`
	} `json:"actions"`

	Raw json.RawMessage `json:"-"`
}

// UnmarshalJSON implements json.Unmarshaler.
func (e *Event) UnmarshalJSON(raw []byte) error {
	type members Event
	if err := json.Unmarshal(raw, (*members)(e)); err != nil {
		return fmt.Errorf("decode an event: %w", err)
	}
	e.Raw = bytes.Clone(raw)
	return nil
}

// Append is one event to add to a session's log.
type Append struct {
	SessionID, UserID string
	// Event must have an id, which makes repeating the request harmless.
	Event json.RawMessage
	// ExpectedSeq is the head of the log that the writer has read. The append
	// fails with ErrConflict if the head is another; nil accepts any head.
	ExpectedSeq *int64
}

// Append adds an event to a session's log and returns the stored event.
func (c *Client) Append(ctx context.Context, a Append) (Event, error) {
	body := map[string]any{"events": []json.RawMessage{a.Event}}
	if a.ExpectedSeq != nil {
		body["expected_seq"] = *a.ExpectedSeq
	}
	stored, err := data[[]Event](ctx, c, request{
		user: a.UserID, method: http.MethodPost, path: sessionPath(a.SessionID, "events"), body: body,
	})
	if err != nil {
		return Event{}, err
	}
	if len(stored) != 1 {
		return Event{}, fmt.Errorf("append to session %s: got %d stored events for one", a.SessionID, len(stored))
	}
	return stored[0], nil
}

// EventQuery selects effective events of a session.
type EventQuery struct {
	Descending bool
	After      int64 // a position of the log: only later events
	Limit      int   // events a page, at most MaxPage
}

// AllEvents iterates over the selected events. It ends with ErrConflict if the
// session is rewound between two pages.
func (c *Client) AllEvents(ctx context.Context, userID, id string, q EventQuery) iter.Seq2[Event, error] {
	r := get(userID, sessionPath(id, "events"))
	r.query = url.Values{"view": {"effective"}, "order": {"asc"}, "limit": {strconv.Itoa(q.Limit)}}
	if q.Descending {
		r.query.Set("order", "desc")
	}
	if q.After > 0 {
		r.query.Set("after", strconv.FormatInt(q.After, 10))
	}
	return all[Event](ctx, c, r)
}
