package adk

import (
	"context"
	"iter"

	"github.com/rethread/rethread/shared/domain/artifact"
	"github.com/rethread/rethread/shared/domain/session"
)

// sessions is what the session service needs of where sessions are kept. The
// methods are those of session.Store and session.Rewinder, but lists are whole:
// how they are paged differs. Errors are faults.
type sessions interface {
	Create(ctx context.Context, n session.New) (session.Session, error)
	Get(ctx context.Context, userID, id string) (session.Session, error)
	Delete(ctx context.Context, userID, id string) error
	State(ctx context.Context, userID, id string) (session.State, error)
	Append(ctx context.Context, a session.Append) (stored []session.Event, err error)
	Rewind(ctx context.Context, r session.Rewind) (session.Rewound, error)
	Fork(ctx context.Context, f session.ForkOf) (session.Session, error)

	// AllSessions goes over a user's sessions, newest activity first.
	AllSessions(ctx context.Context, userID string) iter.Seq2[session.Session, error]
	// AllEvents goes over the events that a query selects; its limit is the
	// size of the pages. It ends with fault.Conflict where the session is
	// rewound meanwhile.
	AllEvents(ctx context.Context, userID, id string, q session.EventQuery) iter.Seq2[session.Event, error]
}

// artifacts is what the artifact service needs of where artifacts are kept.
type artifacts interface {
	PutArtifact(ctx context.Context, p artifact.Put) (artifact.Version, error)
	Artifact(ctx context.Context, r artifact.Ref) (artifact.Version, []byte, error)
	DeleteArtifact(ctx context.Context, userID, sessionID, name string) error

	// AllArtifacts goes over the newest version of each artifact.
	AllArtifacts(ctx context.Context, userID, sessionID string) iter.Seq2[artifact.Version, error]
	// AllVersions goes over the versions of an artifact, oldest first.
	AllVersions(ctx context.Context, userID, sessionID, name string) iter.Seq2[artifact.Version, error]
}

// local is sessions in process.
type local struct {
	session.Store
	rewinds session.Rewinder
}

// Create also checks what came: nothing stands between ADK and the store.
func (l local) Create(ctx context.Context, n session.New) (session.Session, error) {
	if err := n.Validate(); err != nil {
		return session.Session{}, err
	}
	return l.Store.Create(ctx, n)
}

func (l local) Append(ctx context.Context, a session.Append) ([]session.Event, error) {
	stored, _, err := l.Store.Append(ctx, a)
	return stored, err
}

func (l local) Rewind(ctx context.Context, r session.Rewind) (session.Rewound, error) {
	return l.rewinds.Rewind(ctx, r)
}

func (l local) Fork(ctx context.Context, f session.ForkOf) (session.Session, error) {
	return l.rewinds.Fork(ctx, f)
}

func (l local) AllSessions(ctx context.Context, userID string) iter.Seq2[session.Session, error] {
	q := session.ListQuery{UserID: userID, Limit: session.MaxPage}
	return paged(func() ([]session.Session, bool, error) {
		page, err := l.List(ctx, q)
		q.After = page.Next
		return page.Sessions, page.Next != "", err
	})
}

func (l local) AllEvents(
	ctx context.Context, userID, id string, q session.EventQuery,
) iter.Seq2[session.Event, error] {
	return paged(func() ([]session.Event, bool, error) {
		page, err := l.Events(ctx, userID, id, q)
		if page.Next != nil {
			q.Resume = *page.Next
		}
		return page.Events, page.Next != nil, err
	})
}

// localArtifacts is artifacts in process.
type localArtifacts struct{ artifact.Store }

func (l localArtifacts) AllArtifacts(
	ctx context.Context, userID, sessionID string,
) iter.Seq2[artifact.Version, error] {
	q := artifact.Query{UserID: userID, SessionID: sessionID, Limit: session.MaxPage}
	return paged(func() ([]artifact.Version, bool, error) {
		page, err := l.Artifacts(ctx, q)
		q.After = page.Next
		return page.Versions, page.Next != "", err
	})
}

func (l localArtifacts) AllVersions(
	ctx context.Context, userID, sessionID, name string,
) iter.Seq2[artifact.Version, error] {
	q := artifact.VersionQuery{UserID: userID, SessionID: sessionID, Name: name, Limit: session.MaxPage}
	return paged(func() ([]artifact.Version, bool, error) {
		page, err := l.ArtifactVersions(ctx, q)
		q.After = page.Next
		return page.Versions, page.Next != "", err
	})
}

// paged goes over the items of pages; read gives the next page and whether
// there are more.
func paged[T any](read func() (items []T, more bool, err error)) iter.Seq2[T, error] {
	return func(yield func(T, error) bool) {
		for more := true; more; {
			var items []T
			var err error
			if items, more, err = read(); err != nil {
				var none T
				yield(none, err)
				return
			}
			for _, item := range items {
				if !yield(item, nil) {
					return
				}
			}
		}
	}
}
