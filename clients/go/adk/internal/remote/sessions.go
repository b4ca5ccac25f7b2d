package remote

import (
	"context"
	"encoding/json"
	"iter"
	"net/http"
)

// Session holds those members of a session that are needed here.
type Session struct {
	ID          string `json:"id"`
	UserID      string `json:"user_id"`
	AppName     string `json:"app_name"`
	Epoch       int64  `json:"epoch"`        // number of rewinds
	HeadSeq     int64  `json:"head_seq"`     // last position of the log
	UpdatedTime int64  `json:"updated_time"` // epoch milliseconds
	Fork        *struct {
		BoundaryFound bool `json:"boundary_found"`
	} `json:"fork"` // nil unless the session is a fork
}

// Values holds state by key; in a change of state null means a deleted key.
type Values map[string]json.RawMessage

// Create describes a session to create.
type Create struct {
	ID, UserID, AppName string
	State               Values // with prefixed keys
	// Key is the Idempotency-Key, which makes a repeated creation after a lost
	// response succeed.
	Key string
}

// Create creates a session. It fails with ErrConflict if the id is in use.
func (c *Client) Create(ctx context.Context, n Create) (Session, error) {
	body := map[string]any{"id": n.ID, "app_name": n.AppName}
	if len(n.State) > 0 {
		body["state"] = n.State
	}
	return data[Session](ctx, c, request{
		user: n.UserID, method: http.MethodPost, path: "/sessions", body: body, key: n.Key,
	})
}

// Get returns a session.
func (c *Client) Get(ctx context.Context, userID, id string) (Session, error) {
	return data[Session](ctx, c, get(userID, sessionPath(id)))
}

// Delete deletes a session.
func (c *Client) Delete(ctx context.Context, userID, id string) error {
	_, err := c.do(ctx, request{user: userID, method: http.MethodDelete, path: sessionPath(id)})
	return err
}

// State returns the merged state of a session by prefixed key.
func (c *Client) State(ctx context.Context, userID, id string) (Values, error) {
	type state struct {
		Merged Values `json:"merged"`
	}
	read, err := data[state](ctx, c, get(userID, sessionPath(id, "state")))
	return read.Merged, err
}

// AllSessions iterates over a user's sessions, latest activity first.
func (c *Client) AllSessions(ctx context.Context, userID string) iter.Seq2[Session, error] {
	return all[Session](ctx, c, get(userID, "/sessions"))
}
