package adk

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
	"github.com/rethread/rethread/shared/client/agent/endpoint"
	"github.com/rethread/rethread/shared/domain/session"
)

// client are the requests about sessions to ADK's API server, for one user of one
// app.
type client struct {
	endpoint  *endpoint.Endpoint
	app, user string
}

var (
	errNotFound = errors.New("not found")
	errExists   = errors.New("exists already")
)

// at returns the endpoint of a path below the server's address.
func (c client) at(path ...string) *endpoint.Endpoint {
	at := *c.endpoint
	for i, name := range path {
		path[i] = url.PathEscape(name)
	}
	base, query, _ := strings.Cut(at.URL, "?")
	at.URL = strings.TrimRight(base, "/") + "/" + strings.Join(path, "/")
	if query != "" {
		at.URL += "?" + query
	}
	at.Explain = func(status int, _ string) *endpoint.Error {
		switch status {
		case http.StatusNotFound:
			return endpoint.NewError(endpoint.CodeRefused, "the agent answered with status %d", status).Because(errNotFound)
		case http.StatusConflict:
			return endpoint.NewError(endpoint.CodeRefused, "the agent answered with status %d", status).Because(errExists)
		}
		return nil
	}
	return &at
}

func (c client) sessions(path ...string) *endpoint.Endpoint {
	return c.at(append([]string{"apps", c.app, "users", c.user, "sessions"}, path...)...)
}

// newSession is the request that creates a session.
type newSession struct {
	ID     string        `json:"sessionId"`
	State  session.Delta `json:"state,omitempty"`
	Events []event       `json:"events,omitempty"`
}

// create creates a session. One with that id is of an earlier call of the same run,
// and may lack events: it is replaced.
func (c client) create(ctx context.Context, s newSession) error {
	body, err := jsonx.Marshal(s)
	if err != nil {
		return fmt.Errorf("encode the session: %w", err)
	}
	_, err = c.sessions().Document(ctx, http.MethodPost, body)
	if !errors.Is(err, errExists) {
		return err
	}
	if _, err := c.sessions(s.ID).Document(ctx, http.MethodDelete, nil); err != nil {
		return err
	}
	_, err = c.sessions().Document(ctx, http.MethodPost, body)
	return err
}

// forget deletes a session, even after the end of the context. One that could not
// be deleted does no harm: no later call uses it.
func (c client) forget(ctx context.Context, id string) {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), cleanupTime)
	defer cancel()
	_, _ = c.sessions(id).Document(ctx, http.MethodDelete, nil)
}

// artifact returns a version of an artifact: a part, in JSON.
func (c client) artifact(ctx context.Context, id, name, version string) ([]byte, error) {
	if name == "" || name == "." || name == ".." { // it would be another address; a "/" is escaped
		return nil, errNotFound
	}
	return c.sessions(id, "artifacts", name, "versions", version).Document(ctx, http.MethodGet, nil)
}

// remoteSession is a session of ADK's.
type remoteSession struct {
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
func (c client) session(ctx context.Context, id string) (remoteSession, error) {
	var s remoteSession
	text, err := c.sessions(id).Document(ctx, http.MethodGet, nil)
	if errors.Is(err, errNotFound) {
		return s, nil
	}
	if err == nil && json.Unmarshal(text, &s) != nil {
		s = remoteSession{}
	}
	return s, err
}

// awaits reports whether the session waits for the answers to calls: they are in it,
// and the user has said nothing since.
func (s remoteSession) awaits(ids []string) bool {
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
func (s remoteSession) changed(want session.Values) map[string]any {
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

// runs returns the endpoint that runs an agent, which is asked only once.
func (c client) runs() *endpoint.Endpoint {
	at := c.at("run_sse")
	at.Once = true
	return at
}
