// Package adk stores the sessions and artifacts of agents built with the Agent
// Development Kit (google.golang.org/adk) in Rethread. It implements ADK's
// session.Service and artifact.Service, and adds rewind and fork.
//
// The services call the HTTP API. ADK's app, user and session ids are used
// unchanged. A session id is unique across all apps and users.
package adk

import (
	"context"
	"net/http"
)

// Services holds the services for a runner.Config.
type Services struct {
	Sessions  *SessionService
	Artifacts *ArtifactService
}

// Remote configures access to the HTTP API.
type Remote struct {
	// URL is the deployment's address, with or without /api/v1.
	URL string
	// Token returns the bearer token for requests of a user; its subject must
	// be that user. It is called before every attempt, so it should cache, and once
	// more after the API has rejected a token.
	Token func(ctx context.Context, userID string) (string, error)
	// ServiceToken returns the bearer token of a service, which then acts for each user,
	// instead of Token.
	ServiceToken func(ctx context.Context) (string, error)
	// Client sends the requests; nil means http.DefaultClient. An attempt has 30
	// seconds, a call with all its attempts 60.
	Client *http.Client
}

// NewRemote returns services that call the HTTP API. It returns an error if the
// URL is not an http or https URL, or unless one of Token and ServiceToken is set. It sends no request.
func NewRemote(r Remote, options ...Option) (*Services, error) {
	users, err := newUsers(r)
	if err != nil {
		return nil, err
	}
	sessions := &SessionService{users: users, codec: newCodec()}
	for _, o := range options {
		o(sessions)
	}
	return &Services{Sessions: sessions, Artifacts: &ArtifactService{users: users}}, nil
}

// Option configures the services.
type Option func(*SessionService)

// WithUsers sets the function that returns the users of an app. It is needed for
// a List without a user id, which fails with ErrInvalid otherwise, because the
// API lists sessions by user.
func WithUsers(users func(ctx context.Context, app string) ([]string, error)) Option {
	return func(s *SessionService) { s.usersOf = users }
}
