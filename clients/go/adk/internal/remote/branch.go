package remote

import (
	"context"
	"net/http"
)

// Rewind asks to restore a session to just before an invocation.
type Rewind struct {
	SessionID, UserID string
	Before            string   // invocation id
	Scopes            []string // the scopes of state to restore; nil is all of them
	Restore           bool     // also shared values that another session has changed since
	CancelRun         bool     // otherwise a run in progress is ErrConflict
	Key               string   // the Idempotency-Key
}

// Rewound is the result of a rewind.
type Rewound struct {
	Restored struct {
		State     Values           `json:"state"`     // by prefixed key
		Artifacts map[string]int64 `json:"artifacts"` // the new version of each
	} `json:"restored"`
	Conflicts []struct {
		Key string `json:"key"`
	} `json:"conflicts"` // shared keys that were not restored
}

// Rewind rewinds a session. It fails with ErrNotFound for an unknown invocation.
func (c *Client) Rewind(ctx context.Context, r Rewind) (Rewound, error) {
	body := map[string]any{"rewind_before_invocation_id": r.Before, "dry_run": false, "cancel_run": r.CancelRun}
	if r.Restore {
		body["on_conflict"] = "restore"
	}
	if r.Scopes != nil {
		body["scopes"] = r.Scopes
	}
	return data[Rewound](ctx, c, request{
		user: r.UserID, method: http.MethodPost, path: sessionPath(r.SessionID, "rewind"), body: body, key: r.Key,
	})
}

// Fork asks for a new session with the history of another.
type Fork struct {
	SessionID, UserID string
	Before            string // the first invocation left out; "" forks the whole session
	Name              string // "" is the API's default
	Strict            bool   // an unknown invocation is ErrMalformed
	Key               string // the Idempotency-Key
}

// Fork forks a session. The API chooses the id of the new one.
func (c *Client) Fork(ctx context.Context, f Fork) (Session, error) {
	body := map[string]any{"dry_run": false, "strict": f.Strict}
	if f.Before != "" {
		body["rewind_before_invocation_id"] = f.Before
	}
	if f.Name != "" {
		body["name"] = f.Name
	}
	return data[Session](ctx, c, request{
		user: f.UserID, method: http.MethodPost, path: sessionPath(f.SessionID, "fork"), body: body, key: f.Key,
	})
}
