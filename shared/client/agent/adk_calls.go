package agent

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"reflect"
	"slices"
	"strings"

	"github.com/rethread/rethread/shared/base/jsonx"
	"github.com/rethread/rethread/shared/domain/session"
)

// adkCalls are the requests about sessions to ADK's API server, for one user of one
// app.
type adkCalls struct {
	endpoint  *endpoint
	app, user string
}

var (
	errNotFound = errors.New("not found")
	errExists   = errors.New("exists already")
)

// at returns the endpoint of a path below the server's address.
func (c adkCalls) at(path ...string) *endpoint {
	at := *c.endpoint
	for i, name := range path {
		path[i] = url.PathEscape(name)
	}
	base, query, _ := strings.Cut(at.url, "?")
	at.url = strings.TrimRight(base, "/") + "/" + strings.Join(path, "/")
	if query != "" {
		at.url += "?" + query
	}
	at.explain = func(status int, _ string) *Error {
		switch status {
		case http.StatusNotFound:
			return newError(CodeRefused, "the agent answered with status %d", status).because(errNotFound)
		case http.StatusConflict:
			return newError(CodeRefused, "the agent answered with status %d", status).because(errExists)
		}
		return nil
	}
	return &at
}

func (c adkCalls) sessions(path ...string) *endpoint {
	return c.at(append([]string{"apps", c.app, "users", c.user, "sessions"}, path...)...)
}

// asOnce returns the endpoint for a request that may not be repeated.
func (e *endpoint) asOnce() *endpoint {
	e.once = true
	return e
}

// document sends a request and returns the answer, which must be JSON.
func (e *endpoint) document(ctx context.Context, method string, body []byte) ([]byte, error) {
	e.method = method
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	answer, err := e.post(ctx, cancel, body)
	if err != nil {
		return nil, err
	}
	defer answer.body.Close() //nolint:errcheck // read, or abandoned
	if answer.mediaType != "application/json" {
		return nil, newError(CodeProtocol, "the agent answered with content type %q", clean(answer.mediaType, maxExcerpt))
	}
	text, err := readDocument(answer.body)
	return text, cancelled(ctx, err)
}

// adkNewSession is the request that creates a session.
type adkNewSession struct {
	ID     string        `json:"sessionId"`
	State  session.Delta `json:"state,omitempty"`
	Events []adkEvent    `json:"events,omitempty"`
}

// create creates a session. One with that id is of an earlier call of the same run,
// and may lack events: it is replaced.
func (c adkCalls) create(ctx context.Context, s adkNewSession) error {
	body, err := jsonx.Marshal(s)
	if err != nil {
		return fmt.Errorf("encode the session: %w", err)
	}
	_, err = c.sessions().document(ctx, http.MethodPost, body)
	if !errors.Is(err, errExists) {
		return err
	}
	if _, err := c.sessions(s.ID).document(ctx, http.MethodDelete, nil); err != nil {
		return err
	}
	_, err = c.sessions().document(ctx, http.MethodPost, body)
	return err
}

// forget deletes a session, even after the end of the context. One that could not
// be deleted does no harm: no later call uses it.
func (c adkCalls) forget(ctx context.Context, id string) {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), adkCleanup)
	defer cancel()
	_, _ = c.sessions(id).document(ctx, http.MethodDelete, nil)
}

// artifact returns a version of an artifact: a part, in JSON.
func (c adkCalls) artifact(ctx context.Context, id, name, version string) ([]byte, error) {
	return c.sessions(id, "artifacts", name, "versions", version).document(ctx, http.MethodGet, nil)
}

// adkSession is a session of ADK's.
type adkSession struct {
	State  session.Values `json:"state"`
	Events []struct {
		Author  string `json:"author"`
		Content struct {
			Parts []struct {
				Call struct {
					ID string `json:"id"`
				} `json:"functionCall"`
			} `json:"parts"`
		} `json:"content"`
	} `json:"events"`
}

// session reads a session; an empty one if it does not exist or cannot be used.
func (c adkCalls) session(ctx context.Context, id string) (adkSession, error) {
	var s adkSession
	text, err := c.sessions(id).document(ctx, http.MethodGet, nil)
	if errors.Is(err, errNotFound) {
		return s, nil
	}
	if err == nil && json.Unmarshal(text, &s) != nil {
		s = adkSession{}
	}
	return s, err
}

// awaits reports whether the session waits for the answers to calls: they are in it,
// and the user has said nothing since.
func (s adkSession) awaits(ids []string) bool {
	open := slices.Clone(ids)
	for _, e := range slices.Backward(s.Events) {
		if e.Author == "user" {
			break
		}
		for _, p := range e.Content.Parts {
			open = slices.DeleteFunc(open, func(id string) bool { return id == p.Call.ID })
		}
	}
	return len(ids) > 0 && len(open) == 0
}

// changed returns the change that makes the session's state the given one. Shared
// values that are only there stay, because they may be others'.
func (s adkSession) changed(want session.Values) map[string]any {
	delta := map[string]any{}
	for key, v := range session.Delta(want).Stored() {
		if have, ok := s.State[key]; !ok || !reflect.DeepEqual(jsonx.Canonical(have), jsonx.Canonical(v)) {
			delta[key] = v
		}
	}
	for key := range s.State {
		if _, ok := want[key]; !ok && !strings.Contains(key, ":") {
			delta[key] = nil
		}
	}
	return delta
}
