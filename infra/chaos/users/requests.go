package users

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"math/rand/v2"
	"net/http"
	"net/url"
	"time"

	"github.com/rethread/rethread/clients/go/watch/view"
	"github.com/rethread/rethread/infra/chaos/fold"
	"github.com/rethread/rethread/infra/chaos/ledger"
	"github.com/rethread/rethread/shared/base/retry"
)

// errAnswer means an unexpected answer.
var errAnswer = errors.New("unexpected answer")

// Get reads a resource, retrying as long as the system asks for it.
func (w *World) Get(ctx context.Context, as *Person, path string) (int, []byte, error) {
	random := rand.New(rand.NewPCG(1, 1)) //nolint:gosec // the pauses are not secret
	a := w.do(ctx, random, as, Call{Method: http.MethodGet, Path: path, Repeat: true})
	if a.Outcome == ledger.Unknown && !a.isFinal() {
		return a.Status, a.Body, fmt.Errorf("%w: GET %s: %d %.200s", errAnswer, path, a.Status, a.Body)
	}
	return a.Status, a.Body, nil
}

// Pages reads a list, page by page.
func (w *World) Pages(ctx context.Context, as *Person, path string, page func(body []byte) (next string, err error)) (status int, err error) {
	cursor := ""
	for {
		at := path
		if cursor != "" {
			at += "&cursor=" + url.QueryEscape(cursor)
		}
		status, body, err := w.Get(ctx, as, at)
		if err != nil || status != http.StatusOK {
			return status, err
		}
		if cursor, err = page(body); err != nil || cursor == "" {
			return status, err
		}
	}
}

type listed struct {
	Data []json.RawMessage `json:"data"`
	Meta struct {
		Next *string `json:"next_cursor"`
	} `json:"meta"`
}

func (l listed) next() string {
	if l.Meta.Next == nil {
		return ""
	}
	return *l.Meta.Next
}

// List reads a complete list with members data and meta; path has a query.
func (w *World) List(ctx context.Context, as *Person, path string) (all []json.RawMessage, status int, err error) {
	status, err = w.Pages(ctx, as, path, func(body []byte) (string, error) {
		var out listed
		if err := json.Unmarshal(body, &out); err != nil {
			return "", err
		}
		all = append(all, out.Data...)
		return out.next(), nil
	})
	return all, status, err
}

// Events reads a session's events; query has the view, the order and the limit.
func (w *World) Events(ctx context.Context, t *Session, query string) (events []fold.Entry, status int, err error) {
	all, status, err := w.List(ctx, t.Owner, t.path()+"/events?"+query)
	for _, raw := range all {
		e, err := fold.Parse(raw)
		if err != nil {
			return nil, status, err
		}
		events = append(events, e)
	}
	return events, status, err
}

// Thread reads a session's thread, all pages.
func (w *World) Thread(ctx context.Context, t *Session) (whole view.Thread, status int, err error) {
	status, err = w.Pages(ctx, t.Owner, t.path()+"/thread?limit=50", func(body []byte) (string, error) {
		page, next, err := view.ParseThread(body)
		page.Items = append(whole.Items, page.Items...)
		whole = page
		return next, err
	})
	if err == nil && status != http.StatusOK {
		err = fmt.Errorf("%w: %d", errAnswer, status)
	}
	return whole, status, err
}

// Finish repeats the requests with an unknown outcome: each must be answered in
// time, otherwise it was stuck.
func (w *World) Finish(ctx context.Context, within time.Duration) (asked int) {
	w.mu.Lock()
	left := w.undecided
	w.undecided = nil
	w.mu.Unlock()
	deadline := time.Now().Add(within)
	random := rand.New(rand.NewPCG(1, 2)) //nolint:gosec // as above
	for _, l := range left {
		if l.as == w.Leaver() {
			continue // a user who has left makes no requests
		}
		a := w.do(ctx, random, l.as, l.call)
		for a.Outcome == ledger.Unknown && !a.isFinal() && time.Now().Before(deadline) {
			if retry.Sleep(ctx, mostRest) != nil {
				return asked
			}
			a = w.do(ctx, random, l.as, l.call)
		}
		if a.Outcome == ledger.Unknown && !a.isFinal() {
			w.Violate("stuck", l.op.Session, fmt.Sprintf("a repeat by its key has no answer within %s: %v: %d %.200s", within, l.op, a.Status, a.Body))
		}
		if a.Outcome == ledger.Refused {
			a.Outcome = ledger.Unknown // the cause may be an earlier attempt that succeeded
		}
		w.record(l.op, a)
		if a.Outcome == ledger.Acked && l.then != nil {
			l.then(a)
		}
		asked++
	}
	return asked
}

// Do makes a request that may be repeated, independent of the seed.
func (w *World) Do(ctx context.Context, as *Person, c Call) Answer {
	return w.do(ctx, rand.New(rand.NewPCG(1, 3)), as, c) //nolint:gosec // as above
}

// Repeat repeats some answered requests by their keys: the answer must be the same
// if the resources still exist. A user whose share has been revoked may be refused,
// as access is checked before a stored answer is returned.
func (w *World) Repeat(ctx context.Context) (asked int) {
	gone, sessions := map[string]bool{}, map[string]*Session{}
	for _, t := range w.Sessions() {
		gone[t.ID], sessions[t.ID] = t.Deleting(), t
	}
	for _, r := range w.answered {
		var made struct{ Data struct{ ID string } }
		parse(r.body, &made)
		if gone[r.session] || gone[made.Data.ID] || r.as == w.Leaver() {
			continue
		}
		asked++
		a := w.Do(ctx, r.as, r.call)
		if t := sessions[r.session]; a.Status == http.StatusForbidden && t != nil && !t.isOpenTo(r.as) {
			continue
		}
		if a.Outcome != ledger.Acked || !bytes.Equal(a.Body, r.body) {
			w.Violate("repeats", r.session, fmt.Sprintf("%s %s with the key %s returned %.500s, but repeated %d %.500s",
				r.call.Method, r.call.Path, r.call.Key, r.body, a.Status, a.Body))
		}
	}
	return asked
}
