// Package adk lets agents of the Agent Development Kit (google.golang.org/adk)
// keep their sessions and artifacts in Rethread. It offers ADK's session.Service
// and artifact.Service, and with them what ADK does not have: rewind and fork.
//
// The services speak to the HTTP API. ADK's app, user and session ids are those
// of the API, so an id of a session names one session only, whatever its app and
// user.
package adk

import (
	"context"
	"net/http"

	"github.com/rethread/rethread/clients/go/adk/internal/remote"
)

// Services are what a runner of ADK takes.
type Services struct {
	Sessions  *SessionService
	Artifacts *ArtifactService
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

// NewRemote makes services over the HTTP API. It fails where the address is no
// HTTP address or the function for tokens is missing.
func NewRemote(r Remote, options ...Option) (*Services, error) {
	client, err := remote.New(remote.Config(r))
	if err != nil {
		return nil, err
	}
	sessions := &SessionService{api: client, codec: newCodec()}
	for _, o := range options {
		o(sessions)
	}
	return &Services{Sessions: sessions, Artifacts: &ArtifactService{api: client}}, nil
}

// Option changes what services do.
type Option func(*SessionService)

// WithUsers names the users of an app, for a List without a user id. Sessions
// are listed by user here, so without it such a List fails.
func WithUsers(users func(ctx context.Context, app string) ([]string, error)) Option {
	return func(s *SessionService) { s.users = users }
}
