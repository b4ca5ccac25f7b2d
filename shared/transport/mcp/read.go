package mcp

import (
	"context"
	"encoding/json"
	"fmt"
	"strconv"

	"github.com/rethread/rethread/shared/base/jsonx"
	"github.com/rethread/rethread/shared/domain/access"
	"github.com/rethread/rethread/shared/domain/session"
	"github.com/rethread/rethread/shared/transport/cursor"
)

// Sizes of the pages of events: models read them, so they are smaller than those of the
// REST API. A result has its content twice, structured and as text, where a character
// may take 13 bytes: the largest page stays below the 6 MB of a function's answer.
const (
	maxEvents     = 100
	defaultEvents = 50
	minBytes      = 1 << 10
	maxBytes      = 256 << 10
	defaultBytes  = 64 << 10
)

type readArgs struct {
	SessionID string `json:"session_id" jsonschema:"id of the session"`
	View      string `json:"view,omitempty" jsonschema:"effective leaves out what was rewound, all is the whole log"`
	Order     string `json:"order,omitempty" jsonschema:"asc begins with the oldest event, desc with the newest"`
	After     int64  `json:"after,omitempty" jsonschema:"only events with a greater seq"`
	Limit     int    `json:"limit,omitempty" jsonschema:"most events in a page"`
	MaxBytes  int    `json:"max_bytes,omitempty" jsonschema:"most bytes of events in a page, as JSON"`
	Cursor    string `json:"cursor,omitempty" jsonschema:"next_cursor of the page before, with the same session_id, view, order and after"`
}

func readRules() rules {
	return sessionRules().
		with("view", oneOf(string(session.Effective), string(session.All))).
		with("order", oneOf("asc", "desc")).
		with("after", number(0, jsonx.MaxInteger, -1)).
		with("limit", number(1, maxEvents, defaultEvents)).
		with("max_bytes", number(minBytes, maxBytes, defaultBytes)).
		with("cursor", length(0, cursor.MaxLen))
}

// eventPage is a page of events.
type eventPage struct {
	Events     []json.RawMessage `json:"events"`
	NextCursor *string           `json:"next_cursor"`
}

// omitted is an event that is too large for a page.
type omitted struct {
	Seq          int64               `json:"seq"`
	SessionID    string              `json:"session_id"`
	ID           string              `json:"id"`
	InvocationID string              `json:"invocation_id"`
	Author       string              `json:"author"`
	Status       session.EventStatus `json:"status"`
	CreatedTime  int64               `json:"created_time"`
	OmittedBytes int                 `json:"omitted_bytes"`
}

func (s *server) readSession(ctx context.Context, in readArgs) (any, error) {
	q := session.EventQuery{View: session.Effective, Descending: in.Order == "desc", After: in.After, Limit: in.Limit}
	if in.View != "" {
		q.View = session.View(in.View)
	}
	list := cursor.List{access.CallerOf(ctx).UserID, "events", in.SessionID, string(q.View), in.Order, strconv.FormatInt(in.After, 10)}
	var err error
	if q.Resume, err = list.DecodeLog(in.Cursor); err != nil {
		return nil, err
	}
	var page session.EventPage
	err = s.do(ctx, in.SessionID, access.ReadSession, func(p access.Permission) error {
		var err error
		page, err = s.Sessions.Events(ctx, p.Owner, in.SessionID, q)
		page.Events = p.Events(page.Events)
		return err
	})
	if err != nil {
		return nil, err
	}
	return cut(page, list, in.MaxBytes)
}

// cut returns as much of a page as a number of bytes holds, at least one event.
func cut(page session.EventPage, list cursor.List, limit int) (eventPage, error) {
	out := eventPage{Events: []json.RawMessage{}}
	next, room := page.Next, limit
	for i, e := range page.Events {
		raw, err := shown(e, limit)
		if err != nil {
			return out, err
		}
		if room -= len(raw); room < 0 && i > 0 {
			next = &session.Resume{Seq: page.Events[i-1].Seq, Epoch: page.Epoch}
			break
		}
		out.Events = append(out.Events, raw)
	}
	if next == nil {
		return out, nil
	}
	encoded, err := list.EncodeLog(*next)
	out.NextCursor = &encoded
	return out, err
}

// shown returns an event as JSON, without its content if it has more bytes than limit.
func shown(e session.Event, limit int) (json.RawMessage, error) {
	raw, err := jsonx.Marshal(e)
	if err == nil && len(raw) > limit {
		raw, err = jsonx.Marshal(omitted{
			Seq: e.Seq, SessionID: e.SessionID, ID: e.ID, InvocationID: e.InvocationID, Author: e.Author, Status: e.Status,
			CreatedTime: e.CreatedTime, OmittedBytes: len(raw),
		})
	}
	if err != nil {
		return nil, fmt.Errorf("encode event %d: %w", e.Seq, err)
	}
	return raw, nil
}
