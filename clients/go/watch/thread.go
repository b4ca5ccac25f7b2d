package watch

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"time"

	"github.com/rethread/rethread/clients/go/watch/view"
)

const (
	pageLimit   = "1000"           // items; the server also limits the bytes of a page
	maxPage     = 16 << 20         // bytes
	pageTimeout = 30 * time.Second // for one page
)

// errTransient marks failures that are worth a retry.
var errTransient = errors.New("temporary failure")

// errRewound is returned for a page whose cursor is from before a rewind.
var errRewound = errors.New("the session was rewound during the read")

// readThread reads all pages of a thread. It starts again if the session is
// rewound between two pages.
func (c *Client) readThread(ctx context.Context, sessionID string) (view.Thread, error) {
	var whole view.Thread
	for cursor := ""; ; {
		page, next, err := c.readPage(ctx, sessionID, cursor)
		switch {
		case errors.Is(err, errRewound) && cursor != "":
			cursor, whole = "", view.Thread{}
			continue
		case errors.Is(err, errRewound):
			return view.Thread{}, fmt.Errorf("%w: %w", errTransient, err)
		case err != nil:
			return view.Thread{}, err
		}
		if whole, cursor = page.Behind(whole), next; cursor == "" {
			return whole, nil
		}
	}
}

func (c *Client) readPage(ctx context.Context, sessionID, cursor string) (view.Thread, string, error) {
	query := url.Values{"limit": {pageLimit}}
	if cursor != "" {
		query.Set("cursor", cursor)
	}
	body, err := c.get(ctx, c.HTTPURL+"/sessions/"+url.PathEscape(sessionID)+"/thread?"+query.Encode())
	if err != nil {
		return view.Thread{}, "", err
	}
	page, next, err := view.ParseThread(body)
	if err != nil {
		return view.Thread{}, "", fmt.Errorf("%w: %w", errTransient, err)
	}
	return page, next, nil
}

func (c *Client) get(ctx context.Context, address string) ([]byte, error) {
	asking, cancel := context.WithTimeout(ctx, pageTimeout)
	defer cancel()
	body, status, err := c.fetch(asking, address)
	switch {
	case ctx.Err() != nil:
		return nil, context.Cause(ctx)
	case err != nil:
		return nil, fmt.Errorf("%w: %w", errTransient, withoutAddress(err))
	case status == http.StatusOK:
		return body, nil
	}
	return nil, errorOf(status, http.StatusText(status))
}

func (c *Client) fetch(ctx context.Context, address string) ([]byte, int, error) {
	token, err := c.Token(ctx)
	if err != nil {
		return nil, 0, fmt.Errorf("get a token: %w", err)
	}
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, address, http.NoBody)
	if err != nil {
		return nil, 0, err
	}
	req.Header.Set("Authorization", "Bearer "+token)
	resp, err := c.HTTP.Do(req)
	if err != nil {
		return nil, 0, err
	}
	defer resp.Body.Close() //nolint:errcheck // nothing depends on it
	body, err := io.ReadAll(io.LimitReader(resp.Body, maxPage))
	return body, resp.StatusCode, err
}

// errorOf returns the error of a response's status.
func errorOf(status int, detail string) error {
	switch status {
	case http.StatusNotFound:
		return ErrNotFound
	case http.StatusForbidden:
		return ErrForbidden
	case http.StatusConflict:
		return errRewound
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
