// Package artifacts serves artifacts and their versions over HTTP.
package artifacts

import (
	"fmt"
	"mime"
	"net/http"
	"net/url"
	"strconv"
	"strings"

	"github.com/rethread/rethread/shared/base/fault"
	"github.com/rethread/rethread/shared/base/jsonx"
	"github.com/rethread/rethread/shared/domain/access"
	"github.com/rethread/rethread/shared/domain/artifact"
	"github.com/rethread/rethread/shared/domain/ids"
	"github.com/rethread/rethread/shared/domain/session"
	"github.com/rethread/rethread/shared/transport/rest"
)

// api holds the handlers.
type api struct{ *rest.API }

const (
	artifactsPath = rest.Versioned + "/sessions/{session_id}/artifacts"
	versionHeader = "X-Artifact-Version"
	octetStream   = "application/octet-stream"
)

// New handles the artifacts of sessions.
func New(c rest.Config) http.Handler {
	a := &api{rest.NewAPI(c)}
	a.Handle(http.MethodGet, artifactsPath, a.On(access.ReadArtifacts, a.listArtifacts))
	a.Handle(http.MethodPut, artifactsPath+"/{name}", withBytes(artifact.MaxSize, a.On(access.PutArtifact, a.putArtifact)))
	a.Handle(http.MethodGet, artifactsPath+"/{name}", a.On(access.ReadArtifacts, a.getArtifact))
	a.Handle(http.MethodDelete, artifactsPath+"/{name}", a.On(access.DeleteArtifact, a.deleteArtifact))
	a.Handle(http.MethodGet, artifactsPath+"/{name}/versions", a.On(access.ReadArtifacts, a.listVersions))
	return a.Mux
}

// withBytes reads the body, of any type, before it calls the endpoint.
func withBytes(limit int, e rest.Endpoint) rest.Endpoint {
	return func(c *rest.Call) (*rest.Reply, error) {
		body, err := rest.ReadBody(c.Request, limit)
		if err != nil {
			return nil, err
		}
		c.JSON = body
		return e(c)
	}
}

// artifactName reads the session and the artifact from the path.
func artifactName(c *rest.Call) (id, name string, err error) {
	if id, err = c.SessionID(); err != nil {
		return "", "", err
	}
	if name, err = c.PathID("name"); err != nil {
		return "", "", err
	}
	return id, name, artifact.CheckName("name", name)
}

func (a *api) putArtifact(c *rest.Call) (*rest.Reply, error) {
	p, invocation, err := newArtifact(c)
	if err != nil {
		return nil, err
	}
	if err := c.Permission.CheckPut(p); err != nil {
		return nil, err
	}
	v, err := a.Artifacts.PutArtifact(c.Context(), p)
	if err != nil {
		return nil, err
	}
	if invocation != "" {
		if err := a.nameArtifact(c, p.SessionID, invocation, v); err != nil {
			return nil, err
		}
	}
	rep, err := rest.JSON(http.StatusCreated, rest.Data{Data: v})
	if err != nil {
		return nil, err
	}
	rep.Header.Set("Location", fmt.Sprintf("%s/sessions/%s/artifacts/%s?version=%d",
		rest.Versioned, url.PathEscape(p.SessionID), url.PathEscape(p.Name), v.Version))
	describe(rep.Header, v)
	return rep, nil
}

// newArtifact reads a new version and its invocation.
func newArtifact(c *rest.Call) (p artifact.Put, invocation string, err error) {
	p = artifact.Put{UserID: c.User, Body: c.JSON}
	if p.SessionID, p.Name, err = artifactName(c); err != nil {
		return p, "", err
	}
	if err := ids.CheckNew("name", p.Name); err != nil {
		return p, "", err
	}
	q, err := c.Query()
	if err != nil {
		return p, "", err
	}
	if invocation, err = q.ID("invocation_id"); err != nil {
		return p, "", err
	}
	if invocation != "" {
		if err := ids.CheckNew("invocation_id", invocation); err != nil {
			return p, "", err
		}
	}
	media := ""
	if p.MimeType, media, err = mimeType(c.Header); err != nil {
		return p, "", err
	}
	if media == artifact.URIList {
		p.Target, err = artifact.ParseReference(p.Body)
	}
	return p, invocation, err
}

// mimeType reads the body's type as sent, without parameters.
func mimeType(h http.Header) (given, media string, err error) {
	given = strings.TrimSpace(h.Get("Content-Type"))
	if given == "" {
		return octetStream, octetStream, nil
	}
	media, _, err = mime.ParseMediaType(given)
	if err != nil || !artifact.IsMimeType(given) {
		return "", "", fault.Field(fault.Malformed, "Content-Type",
			"must be a media type of at most %d characters", artifact.MaxMimeType)
	}
	return given, media, nil
}

// nameArtifact appends the event that makes a version part of the conversation.
// The version is stored first, so that an event never names a missing one.
func (a *api) nameArtifact(c *rest.Call, id, invocation string, v artifact.Version) error {
	raw, err := rest.JSON(0, map[string]any{
		"invocation_id": invocation, "author": "user",
		"actions": map[string]any{"artifact_delta": map[string]int64{v.Name: v.Version}},
	})
	if err != nil {
		return err
	}
	e, err := session.ParseEvent(raw.Body, "")
	if err != nil {
		return err
	}
	_, _, err = a.Sessions.Append(c.Context(), session.Append{
		SessionID: id, UserID: c.User, Events: []session.Event{c.Caller.Stamp(e)},
	})
	if err != nil {
		return fmt.Errorf("version %d of artifact %q is stored and no event names it: %w", v.Version, v.Name, err)
	}
	return nil
}

func (a *api) getArtifact(c *rest.Call) (*rest.Reply, error) {
	r := artifact.Ref{UserID: c.User}
	var err error
	if r.SessionID, r.Name, err = artifactName(c); err != nil {
		return nil, err
	}
	if err := c.Permission.SeeArtifact(r.Name); err != nil {
		return nil, err
	}
	q, err := c.Query()
	if err != nil {
		return nil, err
	}
	if q.Values.Has("version") {
		version, err := q.Integer("version", 0, jsonx.MaxInteger, 0)
		if err != nil {
			return nil, err
		}
		r.Version = &version
	}
	v, content, err := a.Artifacts.Artifact(c.Context(), r)
	if err != nil {
		return nil, err
	}
	rep := &rest.Reply{Status: http.StatusOK, Header: http.Header{}, Body: content}
	if rep.Body == nil {
		rep.Body = []byte{}
	}
	rep.Header.Set("Content-Type", v.MimeType)
	rep.Header.Set("X-Content-Type-Options", "nosniff")
	describe(rep.Header, v)
	return rep, nil
}

// describe adds the headers that identify a version. The tag contains its time,
// because a session that was deleted and created again numbers its versions
// from 0 again.
func describe(h http.Header, v artifact.Version) {
	h.Set(versionHeader, strconv.FormatInt(v.Version, 10))
	h.Set("ETag", fmt.Sprintf(`"%d-%d"`, v.Version, v.CreatedTime))
}

func (a *api) deleteArtifact(c *rest.Call) (*rest.Reply, error) {
	id, name, err := artifactName(c)
	if err != nil {
		return nil, err
	}
	if err := a.Artifacts.DeleteArtifact(c.Context(), c.User, id, name); err != nil {
		return nil, err
	}
	return rest.NoContent(), nil
}
