package rethread

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/url"
	"strconv"
)

// Shares has the calls about access of other users.
type Shares struct{ resource }

// List lists the shares of a session.
func (s *Shares) List(sessionID string, q ListQuery, opts ...Option) List[Share] {
	return entries[Share](s.resource, listQuery(q.Limit, q.Cursor), opts, "/sessions/{}/shares", sessionID)
}

// Create shares a session. The answer to the first attempt has the token of a link; a
// repeat has none.
func (s *Shares) Create(ctx context.Context, sessionID string, share ShareRequest, opts ...Option) (Share, error) {
	return data[Share](ctx, s.resource, post(repeatKey, share, "/sessions/{}/shares", sessionID), opts)
}

// Revoke ends a share.
func (s *Shares) Revoke(ctx context.Context, sessionID, id string, opts ...Option) error {
	return s.done(ctx, remove("/sessions/{}/shares/{}", sessionID, id), opts)
}

// Accept accepts the token of a link. Accepting it twice changes nothing.
func (s *Shares) Accept(ctx context.Context, token string, opts ...Option) (Accepted, error) {
	return data[Accepted](ctx, s.resource, post(repeatSafe, map[string]string{"token": token}, "/shares/accept"), opts)
}

// Me has the calls about what belongs to the user.
type Me struct{ resource }

// Usage returns what the user has in use, and the limits.
func (m *Me) Usage(ctx context.Context, opts ...Option) (Usage, error) {
	return data[Usage](ctx, m.resource, get("/me/usage"), opts)
}

// Erasure returns the state of the newest deletion of all data.
func (m *Me) Erasure(ctx context.Context, opts ...Option) (Erasure, error) {
	return data[Erasure](ctx, m.resource, get("/me/data"), opts)
}

// Erase deletes all data of the user. The deletion may continue after the answer.
func (m *Me) Erase(ctx context.Context, opts ...Option) (Erasure, error) {
	c := remove("/me/data")
	c.repeat = repeatSafe
	return data[Erasure](ctx, m.resource, c, opts)
}

// Imports has the calls that import exported sessions.
type Imports struct{ resource }

// Imported is the result of a part of a document: the session with the last one, else
// the progress.
type Imported struct {
	Session  *Session // nil until the document is complete
	Kept     []string // shared values that were kept; only with Session
	Progress *ImportProgress
}

// Start imports a document, or its first part. sessionID replaces that of the document
// unless it is "".
func (i *Imports) Start(ctx context.Context, sessionID string, document json.RawMessage, opts ...Option) (Imported, error) {
	c := post(repeatKey, document, "/sessions/import")
	c.query = url.Values{}
	set(c.query, "id", sessionID)
	return imported(ctx, i.resource, c, opts)
}

// Part imports the part with a number, Progress.NextPart. Sending a part again changes
// nothing.
func (i *Imports) Part(ctx context.Context, id string, part int64, document json.RawMessage, opts ...Option) (Imported, error) {
	c := post(repeatSafe, document, "/sessions/import/{}/parts/{}", id, strconv.FormatInt(part, 10))
	return imported(ctx, i.resource, c, opts)
}

// Abandon cancels an import and removes its parts.
func (i *Imports) Abandon(ctx context.Context, id string, opts ...Option) error {
	return i.done(ctx, remove("/sessions/import/{}", id), opts)
}

func imported(ctx context.Context, r resource, c call, opts []Option) (Imported, error) {
	got, err := body[struct {
		Data json.RawMessage `json:"data"`
		Meta struct {
			Kept []string `json:"kept"`
		} `json:"meta"`
	}](ctx, r, c, opts)
	if err != nil {
		return Imported{}, err
	}
	var progress ImportProgress
	var session Session
	if err := errors.Join(json.Unmarshal(got.Data, &progress), json.Unmarshal(got.Data, &session)); err != nil {
		return Imported{}, fmt.Errorf("%s %s: decode the answer: %w", c.method, c.path, err)
	}
	if progress.ImportID != "" {
		return Imported{Progress: &progress}, nil
	}
	return Imported{Session: &session, Kept: got.Meta.Kept}, nil
}
