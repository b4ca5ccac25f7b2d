package remote

import (
	"context"
	"encoding/json"
	"fmt"
	"iter"
	"net/http"
	"net/url"
	"strconv"

	"github.com/rethread/rethread/shared/domain/session"
)

// Append adds events, which must have ids, to a session's log: sent again they
// change nothing.
func (c *Client) Append(ctx context.Context, a session.Append) (stored []session.Event, err error) {
	events := make([]json.RawMessage, len(a.Events))
	for i, e := range a.Events {
		events[i] = e.Own()
	}
	body := map[string]any{"events": events}
	if a.ExpectedSeq != nil {
		body["expected_seq"] = *a.ExpectedSeq
	}
	raws, err := data[[]json.RawMessage](ctx, c, request{
		user: a.UserID, method: http.MethodPost, path: sessionPath(a.SessionID, "events"), body: body,
	})
	if err != nil {
		return nil, err
	}
	if len(raws) != len(a.Events) {
		return nil, fmt.Errorf("append to session %s: %d events of %d came back", a.SessionID, len(raws), len(a.Events))
	}
	for _, raw := range raws {
		e, err := storedEvent(raw)
		if err != nil {
			return nil, err
		}
		stored = append(stored, e)
	}
	return stored, nil
}

// AllEvents goes over the events that a query selects. It always begins at the
// beginning: the query's Resume is not for callers of the API.
func (c *Client) AllEvents(
	ctx context.Context, userID, id string, q session.EventQuery,
) iter.Seq2[session.Event, error] {
	r := get(userID, sessionPath(id, "events"))
	r.query = url.Values{"view": {string(q.View)}, "order": {"asc"}}
	if q.Descending {
		r.query.Set("order", "desc")
	}
	if q.After > 0 {
		r.query.Set("after", strconv.FormatInt(q.After, 10))
	}
	if q.Limit > 0 {
		r.query.Set("limit", strconv.Itoa(q.Limit))
	}
	return all(ctx, c, r, storedEvent)
}

// storedEvent reads an event as the API shows it.
func storedEvent(raw json.RawMessage) (session.Event, error) {
	var members struct {
		Seq         int64               `json:"seq"`
		SessionID   string              `json:"session_id"`
		Status      session.EventStatus `json:"status"`
		CreatedTime int64               `json:"created_time"`
	}
	if err := json.Unmarshal(raw, &members); err != nil {
		return session.Event{}, fmt.Errorf("decode an event: %w", err)
	}
	e, err := session.ParseEvent(raw, "")
	if err != nil {
		return session.Event{}, fmt.Errorf("decode an event: %w", err)
	}
	e.Seq, e.SessionID, e.Status, e.CreatedTime = members.Seq, members.SessionID, members.Status, members.CreatedTime
	return e, nil
}
