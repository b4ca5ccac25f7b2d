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
	pageLimit    = "1000"           // items; the server cuts pages by bytes too
	maxPage      = 16 << 20         // bytes
	threadWithin = 30 * time.Second // a page
)

// errTransient is what may go better another time.
var errTransient = errors.New("try again")

// errRewound is a page that does not fit to those before it any more.
var errRewound = errors.New("the session was rewound meanwhile")

// readThread reads all pages of a thread, from the start where a rewind comes
// between.
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
	asking, cancel := context.WithTimeout(ctx, threadWithin)
	defer cancel()
	body, status, err := c.ask(asking, address)
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

func (c *Client) ask(ctx context.Context, address string) ([]byte, int, error) {
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
	defer resp.Body.Close() //nolint:errcheck // read to its end
	body, err := io.ReadAll(io.LimitReader(resp.Body, maxPage))
	return body, resp.StatusCode, err
}

// errorOf is what a status of the server means for watching.
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
	default: // an expired token too: another is got next time
		return fmt.Errorf("%w: %d %s", errTransient, status, detail)
	}
}

// withoutAddress is an error of a request without its address, which may hold
// a token.
func withoutAddress(err error) error {
	var of *url.Error
	if errors.As(err, &of) {
		return of.Err
	}
	return err
}
