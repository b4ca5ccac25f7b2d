package rethread

import (
	"context"
	"net/http"
	"net/url"
	"strconv"
)

// Sessions has the calls about sessions.
type Sessions struct{ resource }

// SessionQuery filters a list of sessions. Empty members select all.
type SessionQuery struct {
	Shared bool   // those that others share with the user, instead of the user's own
	UserID string // another user's, for admins
	Agent  string
	Status Status
	Name   string // words of the name, in any order, ignoring case
	// Messages are words that were said in one message, which is then the session's
	// Match. Not with Name.
	Messages string
	// Exact gives each session its HeadSeq and the time of its latest activity.
	Exact  bool
	Limit  int    // of a page, up to 1000; 0 means 100
	Cursor string // of the page to begin with
}

func (q SessionQuery) values() url.Values {
	out := listQuery(q.Limit, q.Cursor)
	if q.Shared {
		out.Set("shared", "true")
	}
	if q.Exact {
		out.Set("exact", "true")
	}
	set(out, "user_id", q.UserID)
	set(out, "agent", q.Agent)
	set(out, "status", string(q.Status))
	set(out, "q", q.Name)
	if q.Messages != "" {
		out.Set("q", q.Messages)
		out.Set("in", "messages")
	}
	return out
}

// ListQuery chooses pages of a list.
type ListQuery struct {
	Limit  int    // of a page, up to 1000; 0 leaves it to the server
	Cursor string // of the page to begin with
}

func listQuery(limit int, cursor string) url.Values {
	out := url.Values{}
	if limit > 0 {
		out.Set("limit", strconv.Itoa(limit))
	}
	set(out, "cursor", cursor)
	return out
}

// set sets a parameter unless the value is empty.
func set(query url.Values, name, value string) {
	if value != "" {
		query.Set(name, value)
	}
}

// List lists sessions, newest activity first.
func (s *Sessions) List(q SessionQuery, opts ...Option) List[ListedSession] {
	return entries[ListedSession](s.resource, q.values(), opts, "/sessions")
}

// Create creates a session.
func (s *Sessions) Create(ctx context.Context, session SessionRequest, opts ...Option) (Session, error) {
	return data[Session](ctx, s.resource, post(repeatKey, session, "/sessions"), opts)
}

// Get returns a session. The header ETag of its response, which OnResponse shows, is
// for IfMatch.
func (s *Sessions) Get(ctx context.Context, id string, opts ...Option) (Session, error) {
	return data[Session](ctx, s.resource, get("/sessions/{}", id), opts)
}

// Update replaces members of a session.
func (s *Sessions) Update(ctx context.Context, id string, change SessionChange, opts ...Option) (Session, error) {
	return data[Session](ctx, s.resource, patch(change, "/sessions/{}", id), opts)
}

// Delete deletes a session with everything in it.
func (s *Sessions) Delete(ctx context.Context, id string, opts ...Option) error {
	return s.done(ctx, remove("/sessions/{}", id), opts)
}

// Fork creates a session that continues from an earlier point of this one, or from its
// end.
func (s *Sessions) Fork(ctx context.Context, id string, request ForkRequest, opts ...Option) (Session, error) {
	return data[Session](ctx, s.resource, post(unlessDry(request.DryRun), request, "/sessions/{}/fork", id), opts)
}

// Forks returns the tree of forks that a session belongs to, from its root. It reads all
// pages.
func (s *Sessions) Forks(ctx context.Context, id string, opts ...Option) (Branch, error) {
	var root Branch
	for cursor := ""; ; {
		c := get("/sessions/{}/forks", id)
		c.query = listQuery(0, cursor)
		page, err := body[struct {
			Data Branch   `json:"data"`
			Meta pageMeta `json:"meta"`
		}](ctx, s.resource, c, opts)
		if err != nil {
			return Branch{}, err
		}
		if cursor == "" {
			root = page.Data
		} else {
			root.add(page.Data)
		}
		if cursor = page.Meta.NextCursor; cursor == "" {
			return root, nil
		}
	}
}

// add adds the next page of a tree, which repeats the sessions that lead to its first new one.
func (b *Branch) add(next Branch) {
	for into := b; len(next.Children) > 0; {
		first, rest := next.Children[0], next.Children[1:]
		n := len(into.Children) - 1
		if n < 0 || into.Children[n].ID != first.ID || into.Children[n].CreatedTime != first.CreatedTime {
			into.Children = append(into.Children, next.Children...)
			return
		}
		into.Children = append(into.Children, rest...)
		into, next = &into.Children[n], first
	}
}

// Rewind restores a session as it was before an invocation.
func (s *Sessions) Rewind(ctx context.Context, id string, request RewindRequest, opts ...Option) (Rewound, error) {
	return data[Rewound](ctx, s.resource, post(unlessDry(request.DryRun), request, "/sessions/{}/rewind", id), opts)
}

// unlessDry returns how to repeat a request: a dry run changes nothing, and a key would
// have its answer stored.
func unlessDry(dry bool) repeat {
	if dry {
		return repeatSafe
	}
	return repeatKey
}

// Leave gives up access to a session that another user shares.
func (s *Sessions) Leave(ctx context.Context, id string, opts ...Option) error {
	return s.done(ctx, remove("/sessions/{}/access", id), opts)
}

// Export returns the response with the session as one document. The caller must close
// its body, which is read without a time limit until ctx ends. A document without
// "complete": true at its end is incomplete.
func (s *Sessions) Export(ctx context.Context, id string, opts ...Option) (*http.Response, error) {
	c := get("/sessions/{}/export", id)
	c.base = baseStream
	return s.t.open(ctx, c, opts)
}

// States has the call that reads the state.
type States struct{ resource }

// Get returns the state that results from a session's events.
func (s *States) Get(ctx context.Context, sessionID string, opts ...Option) (State, error) {
	return data[State](ctx, s.resource, get("/sessions/{}/state", sessionID), opts)
}
