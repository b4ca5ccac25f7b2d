// Package adk lets agents of the Agent Development Kit (google.golang.org/adk)
// keep their sessions and artifacts here. It offers ADK's session.Service and
// artifact.Service, and with them what ADK has no word for: rewind and fork.
//
// The services run beside the table (NewLocal) or speak to the HTTP API from
// anywhere (NewRemote); what they do is the same. ADK's app, user and session
// ids are the ones known here, so an id of a session names one session only,
// whatever its app and user.
package adk

import (
	"context"
	"net/http"

	"github.com/rethread/rethread/shared/adk/remote"
	"github.com/rethread/rethread/shared/domain/artifact"
	"github.com/rethread/rethread/shared/domain/session"
)

// Services are what a runner of ADK takes.
type Services struct {
	Sessions  *SessionService
	Artifacts *ArtifactService
}

// Stores are what services in process stand on; sessions.Store is all
// three. They trust the user ids that ADK gives them.
type Stores struct {
	Sessions  session.Store
	Rewinds   session.Rewinder
	Artifacts artifact.Store
}

// NewLocal makes services over the stores themselves.
func NewLocal(s Stores, options ...Option) *Services {
	return newServices(local{Store: s.Sessions, rewinds: s.Rewinds}, localArtifacts{s.Artifacts}, options)
}

// Remote says where the HTTP API is and who asks.
type Remote struct {
	// URL is the address before /api/v1.
	URL string
	// Token gives the token that a user's requests carry; its subject must be
	// the user. It is called for every request.
	Token func(ctx context.Context, userID string) (string, error)
	// Client sends the requests; nil is one with a timeout of 30 seconds.
	Client *http.Client
}

// NewRemote makes services over the HTTP API. It fails where the address is none.
func NewRemote(r Remote, options ...Option) (*Services, error) {
	client, err := remote.New(remote.Config(r))
	if err != nil {
		return nil, err
	}
	return newServices(client, client, options), nil
}

// Option changes what services do.
type Option func(*SessionService)

// WithUsers names the users of an app, for a List without a user id. Sessions
// are listed by user here, so without it such a List fails.
func WithUsers(users func(ctx context.Context, app string) ([]string, error)) Option {
	return func(s *SessionService) { s.users = users }
}

func newServices(s sessions, a artifacts, options []Option) *Services {
	service := &SessionService{backend: s, codec: newCodec()}
	for _, o := range options {
		o(service)
	}
	return &Services{Sessions: service, Artifacts: &ArtifactService{backend: a}}
}
