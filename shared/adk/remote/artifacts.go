package remote

import (
	"context"
	"fmt"
	"iter"
	"net/http"
	"net/url"
	"strconv"

	"github.com/rethread/rethread/shared/domain/artifact"
)

// versionHeader tells which version of an artifact an answer holds.
const versionHeader = "X-Artifact-Version"

// PutArtifact adds the next version. It is sent once: who sends it again makes
// another version. The API reads the target of a reference out of the body.
func (c *Client) PutArtifact(ctx context.Context, p artifact.Put) (artifact.Version, error) {
	return data[artifact.Version](ctx, c, request{
		user: p.UserID, method: http.MethodPut, path: sessionPath(p.SessionID, "artifacts", p.Name),
		bytes: p.Body, mimeType: p.MimeType, once: true,
	})
}

// Artifact reads a version and its bytes. Of the version it knows the name,
// the number, the media type and the size.
func (c *Client) Artifact(ctx context.Context, r artifact.Ref) (artifact.Version, []byte, error) {
	req := get(r.UserID, sessionPath(r.SessionID, "artifacts", r.Name))
	if r.Version != nil {
		req.query = url.Values{"version": {strconv.FormatInt(*r.Version, 10)}}
	}
	got, err := c.do(ctx, req)
	if err != nil {
		return artifact.Version{}, nil, err
	}
	v := artifact.Version{Name: r.Name, MimeType: got.header.Get("Content-Type"), Size: int64(len(got.body))}
	if v.Version, err = strconv.ParseInt(got.header.Get(versionHeader), 10, 64); err != nil {
		return artifact.Version{}, nil, fmt.Errorf("read artifact %q: the answer names no version: %w", r.Name, err)
	}
	return v, got.body, nil
}

// DeleteArtifact makes an artifact read as not there.
func (c *Client) DeleteArtifact(ctx context.Context, userID, sessionID, name string) error {
	_, err := c.do(ctx, request{
		user: userID, method: http.MethodDelete, path: sessionPath(sessionID, "artifacts", name),
	})
	return err
}

// AllArtifacts goes over the newest version of each artifact.
func (c *Client) AllArtifacts(ctx context.Context, userID, sessionID string) iter.Seq2[artifact.Version, error] {
	return all(ctx, c, get(userID, sessionPath(sessionID, "artifacts")), decodeInto[artifact.Version])
}

// AllVersions goes over the versions of an artifact, oldest first.
func (c *Client) AllVersions(
	ctx context.Context, userID, sessionID, name string,
) iter.Seq2[artifact.Version, error] {
	r := get(userID, sessionPath(sessionID, "artifacts", name, "versions"))
	return all(ctx, c, r, decodeInto[artifact.Version])
}
