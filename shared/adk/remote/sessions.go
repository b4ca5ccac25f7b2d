package remote

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"iter"
	"net/http"
	"net/url"
	"strconv"

	"github.com/rethread/rethread/shared/base/fault"
	"github.com/rethread/rethread/shared/domain/session"
)

// Create makes a session. The nonce is the key by which a creation whose
// answer was lost is recognised.
func (c *Client) Create(ctx context.Context, n session.New) (session.Session, error) {
	body := map[string]any{"id": n.ID, "app_name": n.AppName}
	if len(n.State) > 0 {
		body["state"] = n.State
	}
	for name, value := range map[string]string{"agent": n.Agent, "name": n.Name} {
		if value != "" {
			body[name] = value
		}
	}
	if len(n.Metadata) > 0 {
		body["metadata"] = n.Metadata
	}
	return data[session.Session](ctx, c, request{
		user: n.UserID, method: http.MethodPost, path: "/sessions", body: body, key: n.Nonce,
	})
}

// Get reads a session.
func (c *Client) Get(ctx context.Context, userID, id string) (session.Session, error) {
	return data[session.Session](ctx, c, get(userID, sessionPath(id)))
}

// Delete removes a session.
func (c *Client) Delete(ctx context.Context, userID, id string) error {
	_, err := c.do(ctx, request{user: userID, method: http.MethodDelete, path: sessionPath(id)})
	return err
}

// State reads what a session's agents see.
func (c *Client) State(ctx context.Context, userID, id string) (session.State, error) {
	return data[session.State](ctx, c, get(userID, sessionPath(id, "state")))
}

// Rewind takes a session back. The nonce is its key.
func (c *Client) Rewind(ctx context.Context, r session.Rewind) (session.Rewound, error) {
	body := map[string]any{
		"rewind_before_invocation_id": r.Before, "dry_run": r.DryRun, "cancel_run": r.CancelRun,
	}
	if r.Restore {
		body["on_conflict"] = "restore"
	}
	if r.Scopes != nil {
		names, err := scopeNames(r.Scopes)
		if err != nil {
			return session.Rewound{}, err
		}
		body["scopes"] = names
	}
	type rewound struct {
		Event    json.RawMessage `json:"event"`
		Session  session.Session `json:"session"`
		Restored struct {
			State     session.Delta    `json:"state"`
			Artifacts map[string]int64 `json:"artifacts"`
		} `json:"restored"`
		Conflicts []session.Conflict `json:"conflicts"`
	}
	done, err := data[rewound](ctx, c, request{
		user: r.UserID, method: http.MethodPost, path: sessionPath(r.SessionID, "rewind"), body: body, key: r.Nonce,
	})
	if err != nil {
		return session.Rewound{}, err
	}
	marker, err := storedEvent(done.Event)
	return session.Rewound{
		Event: marker, Session: done.Session, State: done.Restored.State, Artifacts: done.Restored.Artifacts,
		Conflicts: done.Conflicts,
	}, err
}

func scopeNames(scopes []session.Scope) ([]string, error) {
	names := make([]string, len(scopes))
	for i, s := range scopes {
		switch s {
		case session.ScopeSession:
			names[i] = "session"
		case session.ScopeUser:
			names[i] = "user"
		case session.ScopeApp:
			names[i] = "app"
		case session.ScopeTemp:
			return nil, fault.New(fault.Invalid, "temporary state is not restored")
		}
	}
	return names, nil
}

// Fork branches a session. The API chooses the id of the new one.
func (c *Client) Fork(ctx context.Context, f session.ForkOf) (session.Session, error) {
	body := map[string]any{"dry_run": f.DryRun, "strict": f.Strict}
	if f.Before != nil {
		body["rewind_before_invocation_id"] = *f.Before
	}
	if f.Name != nil {
		body["name"] = *f.Name
	}
	return data[session.Session](ctx, c, request{
		user: f.UserID, method: http.MethodPost, path: sessionPath(f.SessionID, "fork"), body: body, key: f.Nonce,
	})
}

// AllSessions goes over a user's sessions, newest activity first.
func (c *Client) AllSessions(ctx context.Context, userID string) iter.Seq2[session.Session, error] {
	return all(ctx, c, get(userID, "/sessions"), decodeInto[session.Session])
}

// all goes over a list, page by page.
func all[T any](
	ctx context.Context, c *Client, r request, decode func(json.RawMessage) (T, error),
) iter.Seq2[T, error] {
	return func(yield func(T, error) bool) {
		query := url.Values{"limit": {strconv.Itoa(session.MaxPage)}}
		for name, values := range r.query {
			query[name] = values
		}
		r.query = query
		for {
			items, next, err := page(ctx, c, r)
			for _, raw := range items {
				var item T
				if item, err = decode(raw); err != nil {
					break
				}
				if !yield(item, nil) {
					return
				}
			}
			if err != nil {
				var none T
				yield(none, fmt.Errorf("%s: %w", r.path, err))
				return
			}
			if next == nil {
				return
			}
			query.Set("cursor", *next)
		}
	}
}

func page(ctx context.Context, c *Client, r request) (items []json.RawMessage, next *string, err error) {
	var body struct {
		Data []json.RawMessage `json:"data"`
		Meta struct {
			NextCursor *string `json:"next_cursor"`
		} `json:"meta"`
	}
	got, err := c.do(ctx, r)
	if err != nil {
		return nil, nil, err
	}
	err = json.Unmarshal(got.body, &body)
	return body.Data, body.Meta.NextCursor, err
}

func decodeInto[T any](raw json.RawMessage) (v T, err error) {
	if session.IsNull(raw) {
		return v, errors.New("an item of the list is null")
	}
	err = json.Unmarshal(raw, &v)
	return v, err
}
