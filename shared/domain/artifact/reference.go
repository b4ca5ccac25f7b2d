package artifact

import (
	"bytes"
	"net/url"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/rethread/rethread/shared/base/fault"
	"github.com/rethread/rethread/shared/domain/ids"
)

// References are lists of URIs (RFC 2483). A reference to a version in Rethread is
// followed when it is read; all others are stored unchanged.
const (
	URIList = "text/uri-list"

	scheme       = "artifact://"
	sessionScope = "session"
	userScope    = "user"
	maxURIs      = 1000
)

// Target is the version that a reference refers to: of an artifact of a session of
// the same user and app or, without a session, of the user.
type Target struct {
	SessionID string
	Name      string // with its prefix
	Version   int64
}

// ParseReference parses a list of URIs. It returns nil if none of them refers to
// Rethread; the list is then stored unchanged.
func ParseReference(list []byte) (*Target, error) {
	if !utf8.Valid(list) {
		return nil, bad("must be UTF-8")
	}
	var uris []string
	inside := false
	for line := range bytes.Lines(list) {
		uri := strings.TrimRight(string(line), "\r\n")
		if uri == "" || strings.HasPrefix(uri, "#") {
			continue
		}
		if u, err := url.Parse(uri); err != nil || !u.IsAbs() {
			return nil, bad("must be a list of absolute URIs, one a line: %.100q is none", uri)
		}
		inside = inside || isArtifact(uri)
		if uris = append(uris, uri); len(uris) > maxURIs {
			return nil, bad("must list at most %d URIs", maxURIs)
		}
	}
	switch {
	case len(uris) == 0:
		return nil, bad("must list a URI")
	case !inside:
		return nil, nil
	case len(uris) > 1:
		return nil, bad("must list nothing else beside a URI of an artifact")
	}
	return parseTarget(uris[0])
}

func isArtifact(uri string) bool {
	return len(uri) >= len(scheme) && strings.EqualFold(uri[:len(scheme)], scheme)
}

// parseTarget parses artifact://session/{session_id}/{name}/{version} or
// artifact://user/{name}/{version}.
func parseTarget(uri string) (*Target, error) {
	parts := strings.Split(uri[len(scheme):], "/")
	for i, part := range parts {
		decoded, err := url.PathUnescape(part)
		if err != nil || strings.ContainsAny(part, "?#") {
			return nil, badForm()
		}
		parts[i] = decoded
	}
	var t Target
	switch {
	case len(parts) == 4 && parts[0] == sessionScope:
		t.SessionID, t.Name = parts[1], parts[2]
		if err := ids.Check("it", t.SessionID); err != nil {
			return nil, bad("must name a session by its id: %v", err)
		}
	case len(parts) == 3 && parts[0] == userScope:
		t.Name = UserPrefix + strings.TrimPrefix(parts[1], UserPrefix)
	default:
		return nil, badForm()
	}
	if err := CheckName("it", t.Name); err != nil {
		return nil, bad("must name an artifact: %v", err)
	}
	version, err := strconv.ParseUint(parts[len(parts)-1], 10, 63)
	if err != nil || version > MaxVersion {
		return nil, bad("must end with the number of a version")
	}
	t.Version = int64(version)
	return &t, nil
}

// URI returns the reference to the target.
func (t Target) URI() string {
	scope := sessionScope + "/" + url.PathEscape(t.SessionID)
	name := t.Name
	if t.SessionID == "" {
		scope, name = userScope, strings.TrimPrefix(name, UserPrefix)
	}
	return scheme + scope + "/" + url.PathEscape(name) + "/" + strconv.FormatInt(t.Version, 10)
}

func badForm() error {
	return bad("must be artifact://session/{session_id}/{name}/{version} or artifact://user/{name}/{version}, " +
		"percent-encoded")
}

// bad returns the fault of a reference. It concerns the whole body, so its pointer
// is empty.
func bad(format string, args ...any) *fault.Error {
	f := fault.Field(fault.InvalidReference, "", format, args...)
	f.Detail = "the reference " + f.Violations[0].Detail
	return f
}
