package adk

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"golang.org/x/sync/errgroup"
	"google.golang.org/adk/v2/platform"
	adk "google.golang.org/adk/v2/session"

	rethread "github.com/rethread/rethread/clients/go"
)

// parallel is how many sessions of a list have their state read concurrently.
const parallel = 8

// SessionService implements ADK's session.Service and adds Rewind and Fork. Its
// errors wrap the sentinel errors of this package, such as ErrNotFound for an
// unknown session. Requests that are safe to repeat are sent up to 5 times on
// network errors and statuses 429, 502, 503 and 504. It is safe for concurrent
// use.
type SessionService struct {
	users   *users
	codec   *codec
	usersOf func(ctx context.Context, app string) ([]string, error) // nil without WithUsers
}

var _ adk.Service = (*SessionService)(nil)

// Create implements ADK's session.Service. A request without a session id gets
// one. It fails with ErrConflict if the id is in use, in any app.
func (s *SessionService) Create(ctx context.Context, req *adk.CreateRequest) (*adk.CreateResponse, error) {
	if err := required("app name", req.AppName, "user id", req.UserID); err != nil {
		return nil, err
	}
	key := rethread.WithIdempotencyKey(platform.NewUUID(ctx))
	if isNoID(req.SessionID) {
		return nil, fmt.Errorf("create session %q: %w: it cannot be an id", req.SessionID, ErrInvalid)
	}
	n := rethread.SessionRequest{ID: req.SessionID, AppName: req.AppName, State: finiteMap(req.State)}
	if n.ID == "" {
		n.ID = platform.NewUUID(ctx)
	}
	made, err := s.users.as(req.UserID).Sessions.Create(ctx, n, key)
	if err == nil {
		err = checkOwner(made, req.AppName, req.UserID)
	}
	if err != nil {
		return nil, fmt.Errorf("create session %s: %w", n.ID, err)
	}
	values, err := s.state(ctx, made)
	if err != nil {
		return nil, err
	}
	for key, v := range req.State {
		if isTemporary(key) {
			values[key] = v
		}
	}
	return &adk.CreateResponse{Session: newHandle(made, values, nil)}, nil
}

// Get implements ADK's session.Service. It returns the session with its effective
// events, so without those that a rewind has undone and those still in progress.
// A session of another app is ErrNotFound, one of another user ErrForbidden.
func (s *SessionService) Get(ctx context.Context, req *adk.GetRequest) (*adk.GetResponse, error) {
	h, err := s.get(ctx, req)
	if err != nil {
		return nil, fmt.Errorf("get session %s: %w", req.SessionID, err)
	}
	return &adk.GetResponse{Session: h}, nil
}

func (s *SessionService) get(ctx context.Context, req *adk.GetRequest) (*handle, error) {
	if err := requireSession(req.AppName, req.UserID, req.SessionID); err != nil {
		return nil, err
	}
	const tries = 5
	for try := 1; ; try++ {
		h, err := s.read(ctx, req)
		// ErrConflict: the session was rewound between two pages.
		if try == tries || !errors.Is(err, ErrConflict) {
			return h, err
		}
	}
}

// read reads a session. The head is read first, so that an event appended while
// the rest is read makes the copy stale, which the next append through it detects.
func (s *SessionService) read(ctx context.Context, req *adk.GetRequest) (*handle, error) {
	found, err := s.find(ctx, req.AppName, req.UserID, req.SessionID)
	if err != nil {
		return nil, err
	}
	var values map[string]any
	var history []*adk.Event
	group, ctx := errgroup.WithContext(ctx)
	group.Go(func() (err error) {
		values, err = s.state(ctx, found)
		return err
	})
	group.Go(func() (err error) {
		history, err = s.history(ctx, found, req)
		return err
	})
	if err := group.Wait(); err != nil {
		return nil, err
	}
	return newHandle(found, values, history), nil
}

// find reads a session without events and state, and checks its app and user.
func (s *SessionService) find(ctx context.Context, app, user, id string) (rethread.Session, error) {
	if isNoID(id) {
		return rethread.Session{}, fmt.Errorf("session %q: %w", id, ErrNotFound)
	}
	found, err := s.users.as(user).Sessions.Get(ctx, id)
	switch {
	case errors.Is(err, ErrInvalid):
		return rethread.Session{}, errors.Join(ErrNotFound, err)
	case err != nil:
		return rethread.Session{}, err
	}
	return found, checkOwner(found, app, user)
}

func checkOwner(s rethread.Session, app, user string) error {
	switch {
	case s.UserID != user:
		return fmt.Errorf("%w: session %s is another user's", ErrForbidden, s.ID)
	case s.AppName != app:
		return fmt.Errorf("session %s: %w", s.ID, ErrNotFound)
	}
	return nil
}

// history returns the requested events in log order. It reads backwards if only
// recent ones are requested.
func (s *SessionService) history(ctx context.Context, of rethread.Session, req *adk.GetRequest) ([]*adk.Event, error) {
	recent := req.NumRecentEvents > 0 || !req.After.IsZero()
	q := rethread.EventQuery{Limit: maxPage, Newest: recent}
	if n := req.NumRecentEvents; n > 0 {
		q.Limit = min(n, maxPage)
	}
	history := []*adk.Event{}
	listed := rethread.EventsAs[storedEvent](s.users.as(of.UserID).Events, of.ID, q)
	for stored, err := range listed.All(ctx) {
		if err != nil {
			return nil, err
		}
		if stored.Status == inProgress || stored.isInitialState() {
			continue
		}
		e, err := s.codec.decode(stored)
		if err != nil {
			return nil, err
		}
		if recent && e.Timestamp.Before(req.After) {
			break
		}
		if history = append(history, e); len(history) == req.NumRecentEvents {
			break
		}
	}
	if recent {
		slices.Reverse(history)
	}
	return history, nil
}

// state returns the merged state of a session by prefixed key.
func (s *SessionService) state(ctx context.Context, of rethread.Session) (map[string]any, error) {
	stored, err := s.users.as(of.UserID).State.Get(ctx, of.ID)
	if err != nil {
		return nil, fmt.Errorf("read the state of session %s: %w", of.ID, err)
	}
	return mapOf(stored.Merged), nil
}

// List implements ADK's session.Service. It returns sessions with state but
// without events, those of a user by latest activity first. Without a user id it
// lists the sessions of all users that the function of WithUsers returns.
func (s *SessionService) List(ctx context.Context, req *adk.ListRequest) (*adk.ListResponse, error) {
	if err := required("app name", req.AppName); err != nil {
		return nil, err
	}
	users := []string{req.UserID}
	if req.UserID == "" {
		if s.usersOf == nil {
			return nil, fmt.Errorf("%w: sessions are listed by user: give a user id, or WithUsers", ErrInvalid)
		}
		var err error
		if users, err = s.usersOf(ctx, req.AppName); err != nil {
			return nil, fmt.Errorf("list the users of app %s: %w", req.AppName, err)
		}
	}
	out := []adk.Session{}
	for _, user := range users {
		listed, err := s.list(ctx, req.AppName, user)
		if err != nil {
			return nil, fmt.Errorf("list sessions of app %s: %w", req.AppName, err)
		}
		out = append(out, listed...)
	}
	return &adk.ListResponse{Sessions: out}, nil
}

func (s *SessionService) list(ctx context.Context, app, user string) ([]adk.Session, error) {
	var found []rethread.Session
	query := rethread.SessionQuery{Limit: maxPage, Exact: true}
	for listed, err := range s.users.as(user).Sessions.List(query).All(ctx) {
		if err != nil {
			return nil, err
		}
		one := listed.Session
		if listed.HeadSeq != nil {
			one.HeadSeq = *listed.HeadSeq
		}
		switch err := checkOwner(one, app, user); {
		case err == nil:
			found = append(found, one)
		case errors.Is(err, ErrForbidden): // the token is another user's
			return nil, err
		}
	}
	out := make([]adk.Session, len(found))
	group, ctx := errgroup.WithContext(ctx)
	group.SetLimit(parallel)
	for i, one := range found {
		group.Go(func() error {
			values, err := s.state(ctx, one)
			if errors.Is(err, ErrNotFound) { // deleted since it was listed
				return nil
			}
			out[i] = newHandle(one, values, nil)
			return err
		})
	}
	err := group.Wait()
	return slices.DeleteFunc(out, func(s adk.Session) bool { return s == nil }), err
}

// Delete implements ADK's session.Service. It deletes the session with its events,
// state and artifacts. Deleting a missing session is not an error.
func (s *SessionService) Delete(ctx context.Context, req *adk.DeleteRequest) error {
	err := requireSession(req.AppName, req.UserID, req.SessionID)
	if err != nil {
		return err
	}
	if _, err = s.find(ctx, req.AppName, req.UserID, req.SessionID); err == nil {
		err = s.users.as(req.UserID).Sessions.Delete(ctx, req.SessionID)
	}
	if err != nil && !errors.Is(err, ErrNotFound) {
		return fmt.Errorf("delete session %s: %w", req.SessionID, err)
	}
	return nil
}

func requireSession(app, user, id string) error {
	return required("app name", app, "user id", user, "session id", id)
}

// required takes pairs of a name and a value, and returns ErrMalformed with the
// names whose values are empty.
func required(pairs ...string) error {
	var missing []string
	for pair := range slices.Chunk(pairs, 2) {
		if pair[1] == "" {
			missing = append(missing, pair[0])
		}
	}
	if len(missing) == 0 {
		return nil
	}
	return fmt.Errorf("%w: required: %s", ErrMalformed, strings.Join(missing, ", "))
}

// mapOf returns m, which is empty instead of nil.
func mapOf[V any](m map[string]V) map[string]V {
	if m == nil {
		return map[string]V{}
	}
	return m
}
