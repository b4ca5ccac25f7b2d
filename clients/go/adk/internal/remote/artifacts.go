package remote

import (
	"context"
	"fmt"
	"iter"
	"net/http"
	"net/url"
	"strconv"
)

// versionHeader is the response header with the artifact's version.
const versionHeader = "X-Artifact-Version"

// Version is one version of an artifact; the first is 0.
type Version struct {
	Name        string `json:"name"`
	Version     int64  `json:"version"`
	MimeType    string `json:"mime_type"`
	CreatedTime int64  `json:"created_time"` // epoch milliseconds
}

// Put is a new version of an artifact. A body of type text/uri-list may be a
// reference to another version.
type Put struct {
	SessionID, UserID, Name string
	MimeType                string
	Body                    []byte
}

// Ref identifies a version of an artifact; a nil Version is the newest.
type Ref struct {
	SessionID, UserID, Name string
	Version                 *int64
}

// PutArtifact adds the next version. It does not repeat a request whose outcome is
// unknown, which could add another version.
func (c *Client) PutArtifact(ctx context.Context, p Put) (Version, error) {
	return data[Version](ctx, c, request{
		user: p.UserID, method: http.MethodPut, path: sessionPath(p.SessionID, "artifacts", p.Name),
		bytes: p.Body, mimeType: p.MimeType, once: true,
	})
}

// Artifact returns a version and its bytes. The version has only a name, a number
// and a media type.
func (c *Client) Artifact(ctx context.Context, r Ref) (Version, []byte, error) {
	req := get(r.UserID, sessionPath(r.SessionID, "artifacts", r.Name))
	if r.Version != nil {
		req.query = url.Values{"version": {strconv.FormatInt(*r.Version, 10)}}
	}
	got, err := c.do(ctx, req)
	if err != nil {
		return Version{}, nil, err
	}
	v := Version{Name: r.Name, MimeType: got.header.Get("Content-Type")}
	if v.Version, err = strconv.ParseInt(got.header.Get(versionHeader), 10, 64); err != nil {
		return Version{}, nil, fmt.Errorf("read artifact %q: the answer has no version: %w", r.Name, err)
	}
	return v, got.body, nil
}

// DeleteArtifact deletes an artifact; its versions remain for references.
func (c *Client) DeleteArtifact(ctx context.Context, userID, sessionID, name string) error {
	_, err := c.do(ctx, request{
		user: userID, method: http.MethodDelete, path: sessionPath(sessionID, "artifacts", name),
	})
	return err
}

// AllArtifacts iterates over the newest version of each artifact.
func (c *Client) AllArtifacts(ctx context.Context, userID, sessionID string) iter.Seq2[Version, error] {
	return all[Version](ctx, c, get(userID, sessionPath(sessionID, "artifacts")))
}

// AllVersions iterates over the versions of an artifact, oldest first.
func (c *Client) AllVersions(ctx context.Context, userID, sessionID, name string) iter.Seq2[Version, error] {
	return all[Version](ctx, c, get(userID, sessionPath(sessionID, "artifacts", name, "versions")))
}
