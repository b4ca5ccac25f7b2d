package adk

import (
	"context"
	"errors"
	"fmt"

	rethread "github.com/rethread/rethread/clients/go"
)

// maxPage is the maximum number of entries in a page of a list.
const maxPage = 1000

// users makes clients of the API, each for one user.
type users struct {
	client *rethread.Client
	token  func(ctx context.Context, userID string) (string, error)
	acts   bool // for each user, with one token
}

func newUsers(r Remote) (*users, error) {
	if (r.Token == nil) == (r.ServiceToken == nil) {
		return nil, errors.New("the HTTP API requires one token function")
	}
	u := &users{token: r.Token}
	if r.ServiceToken != nil {
		u.acts = true
		u.token = func(ctx context.Context, _ string) (string, error) { return r.ServiceToken(ctx) }
	}
	var err error
	u.client, err = rethread.New(rethread.Config{
		URL: r.URL, HTTP: r.Client, Token: u.source(""),
	})
	return u, err
}

// as returns the client of a user.
func (u *users) as(userID string) *rethread.Client {
	if u.acts {
		return u.client.WithUser(userID)
	}
	return u.client.WithToken(u.source(userID))
}

// source returns the token source of a user. After a rejected token the function for
// tokens is called again, and the request is repeated if it returns another one.
func (u *users) source(userID string) rethread.TokenSource {
	return func(ctx context.Context, _ string) (string, error) {
		token, err := u.token(ctx, userID)
		if err != nil {
			return "", fmt.Errorf("user %q: %w", userID, err)
		}
		return token, nil
	}
}
