// Package artifact is the domain of files that belong to a conversation (seed
// 003): named, with versions that never change. It knows neither a database
// nor a transport.
package artifact

import (
	"context"
	"mime"
	"strings"
)

// Limits of artifacts. What is larger than MaxSize is kept elsewhere and
// referred to by a URI.
const (
	MaxSize     = 10 << 20 // bytes
	MaxMimeType = 255      // characters
	MaxVersion  = 999_999_999
)

// UserPrefix begins the names of artifacts that a user's sessions of an app
// share; all others belong to one session.
const UserPrefix = "user:"

// Version is one version of an artifact. The first is 0. Of a reference to
// another version, MimeType and Size are those of what it refers to.
type Version struct {
	Name        string `json:"name"`
	Version     int64  `json:"version"`
	MimeType    string `json:"mime_type"`
	Size        int64  `json:"size"` // bytes
	CreatedTime int64  `json:"created_time"`
	// Reference is the URI of the version that this one refers to.
	Reference string `json:"reference,omitempty"`
}

// Put is a new version as a caller gives it: bytes, or with Target a reference
// to another version.
type Put struct {
	SessionID string
	UserID    string
	Name      string
	MimeType  string
	Body      []byte
	Target    *Target
}

// Ref names a version; nil is the newest.
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

// Store keeps artifacts. Every method takes the id of the user who asks and
// answers fault.NotFound for a session or artifact that is not there and
// fault.Forbidden for another user's session. Names have passed CheckName.
type Store interface {
	// PutArtifact adds the next version. fault.Invalid where the target of a
	// reference is not there or out of reach.
	PutArtifact(ctx context.Context, p Put) (Version, error)
	// Artifact reads a version and its bytes; of a reference, those of what it
	// refers to.
	Artifact(ctx context.Context, r Ref) (Version, []byte, error)
	// Artifacts lists the newest version of each artifact.
	Artifacts(ctx context.Context, q Query) (Page, error)
	ArtifactVersions(ctx context.Context, q VersionQuery) (Page, error)
	// DeleteArtifact makes an artifact read as not there. Its versions stay
	// readable by number: rewinds, forks and references may need them.
	DeleteArtifact(ctx context.Context, userID, sessionID, name string) error
}

// IsMimeType reports whether a version's bytes may be said to be of a type: it is
// a media type, as Content-Type has it, since it comes back in that header.
func IsMimeType(given string) bool {
	media, _, err := mime.ParseMediaType(given)
	ok := err == nil && strings.Contains(media, "/") && len(given) <= MaxMimeType
	for _, b := range []byte(given) {
		ok = ok && b >= ' ' && b <= '~'
	}
	return ok
}
