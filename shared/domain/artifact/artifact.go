// Package artifact is the domain of files that belong to a conversation: named,
// with immutable versions. It depends on neither a database nor a transport.
package artifact

import (
	"context"
	"mime"
	"strings"
)

// Limits of artifacts. Content larger than MaxSize is stored elsewhere and
// referenced by a URI.
const (
	MaxSize     = 10 << 20 // bytes
	MaxMimeType = 255      // characters
	MaxVersion  = 999_999_999
)

// UserPrefix begins the names of artifacts that a user's sessions of an app share;
// all others belong to one session.
const UserPrefix = "user:"

// Version is one version of an artifact. The first is 0. For a reference to another
// version, MimeType and Size are those of the other version.
type Version struct {
	Name        string `json:"name"`
	Version     int64  `json:"version"`
	MimeType    string `json:"mime_type"`
	Size        int64  `json:"size"` // bytes
	CreatedTime int64  `json:"created_time"`
	// Reference is the URI of the version that this one refers to.
	Reference string `json:"reference,omitempty"`
}

// Put is a request to add a version: bytes, or with Target a reference to another
// version.
type Put struct {
	SessionID string
	UserID    string
	Name      string
	MimeType  string
	Body      []byte
	Target    *Target
}

// Ref identifies a version; nil is the latest.
type Ref struct {
	SessionID string
	UserID    string
	Name      string
	Version   *int64
}

// Query selects the artifacts of a session, the user's shared ones last.
type Query struct {
	SessionID string
	UserID    string
	Limit     int
	After     string // position of an earlier page, from Page.Next
}

// VersionQuery selects the versions of an artifact, oldest first.
type VersionQuery struct {
	SessionID string
	UserID    string
	Name      string
	Limit     int
	After     string // position of an earlier page, from Page.Next
}

// Page is a page of versions; Next is "" at the end.
type Page struct {
	Versions []Version
	Next     string
}

// Store stores artifacts. Every method takes the id of the calling user and returns
// fault.NotFound if the session or artifact does not exist and fault.Forbidden for
// another user's session. Names have passed CheckName.
type Store interface {
	// PutArtifact adds the next version. It returns fault.Invalid if the target of
	// a reference does not exist or is not accessible.
	PutArtifact(ctx context.Context, p Put) (Version, error)
	// Artifact returns a version and its bytes; for a reference, those of its
	// target.
	Artifact(ctx context.Context, r Ref) (Version, []byte, error)
	// Artifacts lists the latest version of each artifact.
	Artifacts(ctx context.Context, q Query) (Page, error)
	ArtifactVersions(ctx context.Context, q VersionQuery) (Page, error)
	// DeleteArtifact deletes an artifact. Its versions stay readable by number,
	// since rewinds, forks and references may need them.
	DeleteArtifact(ctx context.Context, userID, sessionID, name string) error
}

// IsMimeType reports whether given is a media type that is valid in a Content-Type
// header, in which it is returned.
func IsMimeType(given string) bool {
	media, _, err := mime.ParseMediaType(given)
	ok := err == nil && strings.Contains(media, "/") && len(given) <= MaxMimeType
	for _, b := range []byte(given) {
		ok = ok && b >= ' ' && b <= '~'
	}
	return ok
}
