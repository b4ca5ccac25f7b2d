package remote

import (
	"context"
	"encoding/json"
	"iter"
	"net/http"
)

// Session is a session as the API shows it, as far as it is needed here.
type Session struct {
	ID          string `json:"id"`
	UserID      string `json:"user_id"`
	AppName     string `json:"app_name"`
	Epoch       int64  `json:"epoch"`        // how many rewinds there were
	HeadSeq     int64  `json:"head_seq"`     // last position of the log
	UpdatedTime int64  `json:"updated_time"` // epoch milliseconds
	Fork        *struct {
		BoundaryFound bool `json:"boundary_found"`
	} `json:"fork"` // nil of a session that is no fork
}

// Values are state by key; in a change of state null stands for a deleted key.
type Values map[string]json.RawMessage

// Create is a session to create.
type Create struct {
	ID, UserID, AppName string
	State               Values // with prefixed keys
	// Key is the Idempotency-Key: a creation whose answer was lost is
	// recognised by it.
	Key string
}

// Create makes a session. ErrConflict where the id is taken.
func (c *Client) Create(ctx context.Context, n Create) (Session, error) {
	body := map[string]any{"id": n.ID, "app_name": n.AppName}
	if len(n.State) > 0 {
		body["state"] = n.State
	}
	return data[Session](ctx, c, request{
		user: n.UserID, method: http.MethodPost, path: "/sessions", body: body, key: n.Key,
	})
}

// Get reads a session.
func (c *Client) Get(ctx context.Context, userID, id string) (Session, error) {
	return data[Session](ctx, c, get(userID, sessionPath(id)))
}

// Delete removes a session.
func (c *Client) Delete(ctx context.Context, userID, id string) error {
	_, err := c.do(ctx, request{user: userID, method: http.MethodDelete, path: sessionPath(id)})
	return err
}

// State reads what a session's agents see, with prefixed keys.
func (c *Client) State(ctx context.Context, userID, id string) (Values, error) {
	type state struct {
		Merged Values `json:"merged"`
	}
	read, err := data[state](ctx, c, get(userID, sessionPath(id, "state")))
	return read.Merged, err
}

// AllSessions goes over a user's sessions, newest activity first.
func (c *Client) AllSessions(ctx context.Context, userID string) iter.Seq2[Session, error] {
	return all[Session](ctx, c, get(userID, "/sessions"))
}
