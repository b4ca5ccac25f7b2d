package rethread

import (
	"context"
	"fmt"
	"net/http"
	"net/url"
	"strconv"
)

// Artifacts has the calls about a session's files.
type Artifacts struct{ resource }

// Upload is a new version of an artifact.
type Upload struct {
	// Content has up to 10 MB. Content that is larger than a request must be
	// compressible.
	Content  []byte
	MIMEType string // by default application/octet-stream
	// InvocationID appends an event of this invocation that names the version, so that
	// rewinds include it.
	InvocationID string
}

// Artifact is the content of a version.
type Artifact struct {
	Content  []byte
	MIMEType string
	Version  int64 // from 0
}

// versionHeader is the header of an answer with the number of the version.
const versionHeader = "X-Artifact-Version"

// List lists the newest version of each artifact.
func (a *Artifacts) List(sessionID string, q ListQuery, opts ...Option) List[ArtifactVersion] {
	return entries[ArtifactVersion](a.resource, listQuery(q.Limit, q.Cursor), opts, "/sessions/{}/artifacts", sessionID)
}

// Versions lists the readable versions of an artifact, oldest first.
func (a *Artifacts) Versions(sessionID, name string, q ListQuery, opts ...Option) List[ArtifactVersion] {
	return entries[ArtifactVersion](a.resource, listQuery(q.Limit, q.Cursor), opts, "/sessions/{}/artifacts/{}/versions", sessionID, name)
}

// Get returns the newest version of an artifact.
func (a *Artifacts) Get(ctx context.Context, sessionID, name string, opts ...Option) (Artifact, error) {
	return a.read(ctx, get("/sessions/{}/artifacts/{}", sessionID, name), opts)
}

// GetVersion returns a version of an artifact, numbered from 0.
func (a *Artifacts) GetVersion(ctx context.Context, sessionID, name string, version int64, opts ...Option) (Artifact, error) {
	c := get("/sessions/{}/artifacts/{}", sessionID, name)
	c.query = url.Values{"version": {strconv.FormatInt(version, 10)}}
	return a.read(ctx, c, opts)
}

func (a *Artifacts) read(ctx context.Context, c call, opts []Option) (Artifact, error) {
	got, err := a.t.do(ctx, c, opts)
	if err != nil {
		return Artifact{}, err
	}
	version, err := strconv.ParseInt(got.header.Get(versionHeader), 10, 64)
	if err != nil {
		return Artifact{}, fmt.Errorf("%s %s: the answer has no number of the version: %w", c.method, c.path, err)
	}
	return Artifact{got.body, got.header.Get("Content-Type"), version}, nil
}

// Put stores a new version. A repeat would store another one, so it is repeated only if
// the server refused it; after ErrConnection, ErrTimeout or ErrUnavailable, Versions
// shows whether it was stored.
func (a *Artifacts) Put(ctx context.Context, sessionID, name string, upload Upload, opts ...Option) (ArtifactVersion, error) {
	if upload.MIMEType == "" {
		upload.MIMEType = "application/octet-stream"
	}
	c := call{
		method: http.MethodPut, path: "/sessions/{}/artifacts/{}", params: []string{sessionID, name},
		query: url.Values{}, bytes: upload.Content, header: http.Header{"Content-Type": {upload.MIMEType}}, repeat: repeatRefused,
	}
	set(c.query, "invocation_id", upload.InvocationID)
	return data[ArtifactVersion](ctx, a.resource, c, opts)
}

// Delete deletes all versions of an artifact.
func (a *Artifacts) Delete(ctx context.Context, sessionID, name string, opts ...Option) error {
	return a.done(ctx, remove("/sessions/{}/artifacts/{}", sessionID, name), opts)
}
