package watch

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"slices"

	rethread "github.com/rethread/rethread/clients/go"
	"github.com/rethread/rethread/clients/go/watch/view"
)

// errTransient marks failures that are worth a retry.
var errTransient = errors.New("temporary failure")

// newAPI returns the client of the HTTP API. It is given the token that this client's
// source returns, also after one was rejected.
func newAPI(c Config) (*rethread.Client, error) {
	if c.Token == nil {
		return nil, errors.New("the client requires a function for tokens")
	}
	if at, err := url.Parse(c.WSURL); c.WSURL != "" && (err != nil || at.Hostname() == "" || !slices.Contains(schemes(), at.Scheme)) {
		return nil, fmt.Errorf("%w: WSURL: it is not an address such as wss://live.example/v1", rethread.ErrInvalid)
	}
	return rethread.New(rethread.Config{URL: c.URL, Token: c.Token, User: c.User, HTTP: c.HTTP})
}

// schemes are those of addresses of a WebSocket.
func schemes() []string { return []string{"ws", "wss", "http", "https"} }

// readThread reads the whole thread of a session.
func (c *Client) readThread(ctx context.Context, sessionID string) (view.Thread, error) {
	thread, err := c.api.Thread.View(ctx, sessionID)
	var failed *rethread.Error
	switch {
	case err == nil:
		return thread, nil
	case ctx.Err() != nil:
		return view.Thread{}, context.Cause(ctx)
	case errors.As(err, &failed):
		return view.Thread{}, errorOf(failed.Status, failed.Detail)
	case errors.Is(err, rethread.ErrInvalid): // the id or the token is none
		return view.Thread{}, fmt.Errorf("%w: %w", ErrRefused, err)
	}
	return view.Thread{}, fmt.Errorf("%w: %w", errTransient, err)
}

// errorOf returns the error of a status, which is 0 without an answer.
func errorOf(status int, detail string) error {
	switch status {
	case http.StatusNotFound:
		return ErrNotFound
	case http.StatusForbidden:
		return ErrForbidden
	case http.StatusBadRequest, http.StatusUnprocessableEntity:
		return fmt.Errorf("%w: %d %s", ErrRefused, status, detail)
	default: // also for an expired token, since the next attempt gets another
		return fmt.Errorf("%w: %d %s", errTransient, status, detail)
	}
}

// withoutAddress removes the address, which may contain a token, from an error of
// a request.
func withoutAddress(err error) error {
	var of *url.Error
	if errors.As(err, &of) {
		return of.Err
	}
	return err
}
