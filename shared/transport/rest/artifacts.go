package rest

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
)

const (
	artifactsPath = versioned + "/sessions/{session_id}/artifacts"
	versionHeader = "X-Artifact-Version"
	octetStream   = "application/octet-stream"
)

// Artifacts handles the artifacts of sessions.
func Artifacts(c Config) http.Handler {
	a := newAPI(c)
	a.handle(http.MethodGet, artifactsPath, a.on(access.ReadArtifacts, a.listArtifacts))
	a.handle(http.MethodPut, artifactsPath+"/{name}", withBytes(artifact.MaxSize, a.on(access.PutArtifact, a.putArtifact)))
	a.handle(http.MethodGet, artifactsPath+"/{name}", a.on(access.ReadArtifacts, a.getArtifact))
	a.handle(http.MethodDelete, artifactsPath+"/{name}", a.on(access.DeleteArtifact, a.deleteArtifact))
	a.handle(http.MethodGet, artifactsPath+"/{name}/versions", a.on(access.ReadArtifacts, a.listVersions))
	return a.mux
}

// withBytes reads the body, of any type, before it calls the endpoint.
func withBytes(limit int, e endpoint) endpoint {
	return func(c *call) (*reply, error) {
		body, err := readBody(c.Request, limit)
		if err != nil {
			return nil, err
		}
		c.body = body
		return e(c)
	}
}

// artifactName reads the session and the artifact from the path.
func (c *call) artifactName() (id, name string, err error) {
	if id, err = c.sessionID(); err != nil {
		return "", "", err
	}
	if name, err = c.pathID("name"); err != nil {
		return "", "", err
	}
	return id, name, artifact.CheckName("name", name)
}

func (a *api) putArtifact(c *call) (*reply, error) {
	p, invocation, err := c.newArtifact()
	if err != nil {
		return nil, err
	}
	if err := c.permission.CheckPut(p); err != nil {
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
	rep, err := jsonReply(http.StatusCreated, data{v})
	if err != nil {
		return nil, err
	}
	rep.header.Set("Location", fmt.Sprintf("%s/sessions/%s/artifacts/%s?version=%d",
		versioned, url.PathEscape(p.SessionID), url.PathEscape(p.Name), v.Version))
	describe(rep.header, v)
	return rep, nil
}

// newArtifact reads a new version and its invocation.
func (c *call) newArtifact() (p artifact.Put, invocation string, err error) {
	p = artifact.Put{UserID: c.user, Body: c.body}
	if p.SessionID, p.Name, err = c.artifactName(); err != nil {
		return p, "", err
	}
	if err := ids.CheckNew("name", p.Name); err != nil {
		return p, "", err
	}
	q, err := c.query()
	if err != nil {
		return p, "", err
	}
	if invocation, err = q.id("invocation_id"); err != nil {
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
func (a *api) nameArtifact(c *call, id, invocation string, v artifact.Version) error {
	raw, err := jsonReply(0, map[string]any{
		"invocation_id": invocation, "author": "user",
		"actions": map[string]any{"artifact_delta": map[string]int64{v.Name: v.Version}},
	})
	if err != nil {
		return err
	}
	e, err := session.ParseEvent(raw.body, "")
	if err != nil {
		return err
	}
	_, _, err = a.Sessions.Append(c.Context(), session.Append{
		SessionID: id, UserID: c.user, Events: []session.Event{c.caller.Stamp(e)},
	})
	if err != nil {
		return fmt.Errorf("version %d of artifact %q is stored and no event names it: %w", v.Version, v.Name, err)
	}
	return nil
}

func (a *api) getArtifact(c *call) (*reply, error) {
	r := artifact.Ref{UserID: c.user}
	var err error
	if r.SessionID, r.Name, err = c.artifactName(); err != nil {
		return nil, err
	}
	if err := c.permission.SeeArtifact(r.Name); err != nil {
		return nil, err
	}
	q, err := c.query()
	if err != nil {
		return nil, err
	}
	if q.values.Has("version") {
		version, err := q.integer("version", 0, jsonx.MaxInteger, 0)
		if err != nil {
			return nil, err
		}
		r.Version = &version
	}
	v, content, err := a.Artifacts.Artifact(c.Context(), r)
	if err != nil {
		return nil, err
	}
	rep := &reply{status: http.StatusOK, header: http.Header{}, body: content}
	if rep.body == nil {
		rep.body = []byte{}
	}
	rep.header.Set("Content-Type", v.MimeType)
	rep.header.Set("X-Content-Type-Options", "nosniff")
	describe(rep.header, v)
	return rep, nil
}

// describe adds the headers that identify a version. The tag contains its time,
// because a session that was deleted and created again numbers its versions
// from 0 again.
func describe(h http.Header, v artifact.Version) {
	h.Set(versionHeader, strconv.FormatInt(v.Version, 10))
	h.Set("ETag", fmt.Sprintf(`"%d-%d"`, v.Version, v.CreatedTime))
}

func (a *api) deleteArtifact(c *call) (*reply, error) {
	id, name, err := c.artifactName()
	if err != nil {
		return nil, err
	}
	if err := a.Artifacts.DeleteArtifact(c.Context(), c.user, id, name); err != nil {
		return nil, err
	}
	return noContent(), nil
}
