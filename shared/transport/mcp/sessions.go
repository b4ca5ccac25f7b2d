package mcp

import (
	"context"

	"github.com/rethread/rethread/shared/base/fault"
	"github.com/rethread/rethread/shared/domain/access"
	"github.com/rethread/rethread/shared/domain/ids"
	"github.com/rethread/rethread/shared/domain/search"
	"github.com/rethread/rethread/shared/domain/session"
	"github.com/rethread/rethread/shared/transport/cursor"
)

// Sizes of the pages of lists. An entry of a list may have some 18 KB.
const (
	maxList     = 50
	defaultList = 20
)

type listArgs struct {
	Shared bool   `json:"shared,omitempty" jsonschema:"list the sessions of others that are shared with the caller"`
	Agent  string `json:"agent,omitempty" jsonschema:"only sessions of this agent"`
	Status string `json:"status,omitempty" jsonschema:"only sessions with this status"`
	Limit  int    `json:"limit,omitempty" jsonschema:"sessions in a page"`
	Cursor string `json:"cursor,omitempty" jsonschema:"next_cursor of the page before, with the same other arguments"`
}

func listRules() rules {
	return rules{
		"agent": length(0, ids.MaxLength), "status": oneOf(string(session.Idle), string(session.InProgress), string(session.Failed)),
		"limit": number(1, maxList, defaultList), "cursor": length(0, cursor.MaxLen),
	}
}

type searchArgs struct {
	Query string `json:"query" jsonschema:"words, in any order"`
	In    string `json:"in,omitempty" jsonschema:"where they are: in the names of sessions, or in one message"`
	listArgs
}

// What of sessions is searched.
const (
	names    = "names"
	messages = "messages"
)

// sessionPage is a page of sessions.
type sessionPage struct {
	Sessions   []session.Row `json:"sessions"`
	NextCursor *string       `json:"next_cursor"`
}

func (s *server) listSessions(ctx context.Context, in listArgs) (any, error) {
	return s.sessions(ctx, in, names, "")
}

func (s *server) searchSessions(ctx context.Context, in searchArgs) (any, error) {
	if in.In == messages && search.Parse(in.Query).Empty() {
		return nil, fault.Field(fault.Malformed, "query", "must contain a word to search for in messages")
	}
	return s.sessions(ctx, in.listArgs, in.In, in.Query)
}

func (s *server) sessions(ctx context.Context, in listArgs, where, text string) (any, error) {
	user, kind := access.CallerOf(ctx).UserID, "own"
	own, shared := s.Sessions.List, s.Shares.SharedWith
	if where == messages {
		own, shared = s.Sessions.Search, s.Shares.SearchSharedWith
	}
	read := own
	if in.Shared {
		read, kind = shared, "shared"
	}
	list := cursor.List{user, "sessions", kind, in.Agent, in.Status, text}
	if where == messages {
		list = append(list, messages)
	}
	after, err := list.DecodeText(in.Cursor)
	if err != nil {
		return nil, err
	}
	page, err := read(ctx, session.ListQuery{
		UserID: user, Agent: in.Agent, Status: session.Status(in.Status), Text: text, Limit: in.Limit, After: after,
	})
	if err != nil {
		return nil, err
	}
	out := sessionPage{Sessions: page.Rows()}
	out.NextCursor, err = nextCursor(list, page.Next)
	return out, err
}

// nextCursor returns the cursor of a store's position, nil at the end.
func nextCursor(list cursor.List, position string) (*string, error) {
	if position == "" {
		return nil, nil
	}
	next, err := list.Encode(position)
	return &next, err
}

type sessionArgs struct {
	SessionID string `json:"session_id" jsonschema:"id of the session"`
}

func (s *server) getSession(ctx context.Context, in sessionArgs) (any, error) {
	var of session.Session
	err := s.do(ctx, in.SessionID, access.ReadSession, func(p access.Permission) error {
		var err error
		of, err = s.Sessions.Get(ctx, p.Owner, in.SessionID)
		of.Access = p.Label()
		return err
	})
	return map[string]any{"session": of}, err
}
