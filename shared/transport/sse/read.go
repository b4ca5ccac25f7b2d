package sse

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"strconv"

	"github.com/rethread/rethread/shared/base/jsonx"
	"github.com/rethread/rethread/shared/domain/access"
	"github.com/rethread/rethread/shared/domain/session"
	"github.com/rethread/rethread/shared/domain/watch"
	"github.com/rethread/rethread/shared/transport/ws/subscription"
)

// maxAnswer is above the size of any answer of the HTTP API, in bytes.
const maxAnswer = 16 << 20

var errNoItem = errors.New("the item is missing or not in its final form")

// read returns the message with an item too large for a websocket, which it
// reads from the HTTP API with the caller's token.
func (s *stream) read(ctx context.Context, m subscription.Message) (subscription.Message, error) {
	item, err := s.readItem(ctx, m.Cursor.Seq)
	if err != nil {
		return m, err
	}
	var head struct {
		ID     string `json:"id"`
		Seq    int64  `json:"seq"`
		Status string `json:"status"`
	}
	if err := json.Unmarshal(item, &head); err != nil {
		return m, fmt.Errorf("read an item: %w", err)
	}
	if head.Seq != m.Cursor.Seq || head.Status == string(session.EventInProgress) {
		return m, errNoItem
	}
	out := subscription.Message{
		Type: string(watch.Snapshot), Cursor: m.Cursor, Prev: m.Prev, Subscription: m.Subscription,
	}
	out.Item.Status = head.Status
	if m.Prev.Seq == m.Cursor.Seq && m.Subscription == "" { // the end of a streamed item
		if out.Type = string(watch.ItemCompleted); head.Status == string(session.EventFailed) {
			out.Type = string(watch.ItemFailed)
		}
	}
	out.Text, err = jsonx.Marshal(map[string]any{
		"type": out.Type, "session_id": s.sessionID, "cursor": m.Cursor, "prev": m.Prev,
		"item": item, "item_id": head.ID, "offset": max(0, m.Cursor.Offset-1),
	})
	return out, err
}

// readItem reads the event at a position.
func (s *stream) readItem(ctx context.Context, seq int64) (json.RawMessage, error) {
	ctx, cancel := context.WithTimeout(ctx, s.Answer)
	defer cancel()
	query := url.Values{"after": {strconv.FormatInt(seq-1, 10)}, "limit": {"1"}}
	req, err := http.NewRequestWithContext(
		ctx, http.MethodGet, s.api+"/sessions/"+url.PathEscape(s.sessionID)+"/events?"+query.Encode(), http.NoBody)
	if err != nil {
		return nil, fmt.Errorf("request an item: %w", err)
	}
	req.Header.Set("Authorization", "Bearer "+s.caller.Token)
	if user := s.caller.Named(); user != "" {
		req.Header.Set(access.UserHeader, user)
	}
	res, err := s.Client.Do(req)
	if err != nil {
		return nil, fmt.Errorf("request an item: %w", err)
	}
	defer res.Body.Close() //nolint:errcheck // read to its end
	body, err := io.ReadAll(io.LimitReader(res.Body, maxAnswer))
	if err != nil {
		return nil, fmt.Errorf("request an item: %w", err)
	}
	var page struct {
		Data []json.RawMessage `json:"data"`
	}
	if err := json.Unmarshal(body, &page); err != nil || res.StatusCode != http.StatusOK || len(page.Data) != 1 {
		return nil, fmt.Errorf("%w: status %d, %d items", errNoItem, res.StatusCode, len(page.Data))
	}
	return page.Data[0], nil
}
