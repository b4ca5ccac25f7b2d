package mcp

import (
	"context"
	"errors"
	"fmt"
	"net/url"
	"slices"
	"strconv"
	"strings"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/rethread/rethread/shared/base/fault"
	"github.com/rethread/rethread/shared/domain/access"
	"github.com/rethread/rethread/shared/domain/session"
	"github.com/rethread/rethread/shared/transport/cursor"
)

const (
	// resourceSessions is how many sessions a page of resources covers at most, and
	// resourceLimit how many resources it has.
	resourceSessions = 10
	resourceLimit    = 100

	scheme   = "rethread"
	template = scheme + "://sessions/{session_id}/artifacts/{name}{?version}"
)

// uri is the URI of an artifact; without a version it is that of the latest one.
type uri struct {
	session, name string
	version       *int64
}

// String returns the URI as the template is expanded (RFC 6570).
func (u uri) String() string {
	text := scheme + "://sessions/" + escape(u.session) + "/artifacts/" + escape(u.name)
	if u.version != nil {
		text += "?version=" + strconv.FormatInt(*u.version, 10)
	}
	return text
}

func escape(text string) string { return strings.ReplaceAll(url.QueryEscape(text), "+", "%20") }

// parseURI reads a URI; ok is false for one that names nothing here.
func parseURI(text string) (u uri, ok bool) {
	parsed, err := url.Parse(text)
	if err != nil || parsed.Scheme != scheme || parsed.Host != "sessions" {
		return uri{}, false
	}
	parts := strings.Split(parsed.EscapedPath(), "/")
	if len(parts) != 4 || parts[2] != "artifacts" {
		return uri{}, false
	}
	if u.session, err = url.PathUnescape(parts[1]); err != nil {
		return uri{}, false
	}
	if u.name, err = url.PathUnescape(parts[3]); err != nil {
		return uri{}, false
	}
	if given := parsed.Query(); given.Has("version") {
		version, err := strconv.ParseInt(given.Get("version"), 10, 64)
		if err != nil || version < 0 {
			return uri{}, false
		}
		u.version = &version
	}
	return u, true
}

func (s *server) addResources(to *sdk.Server) {
	to.AddResourceTemplate(&sdk.ResourceTemplate{
		Name: "artifact", Title: "Artifact of a session", URITemplate: template,
		Description: "A file that belongs to a session: its latest version, or the one with a number.",
	}, func(ctx context.Context, r *sdk.ReadResourceRequest) (*sdk.ReadResourceResult, error) {
		at, ok := parseURI(r.Params.URI)
		if !ok {
			return nil, sdk.ResourceNotFoundError(r.Params.URI)
		}
		found, err := s.content(ctx, at)
		switch {
		case errors.Is(err, fault.Of(fault.NotFound)):
			return nil, sdk.ResourceNotFoundError(r.Params.URI)
		case err != nil:
			return nil, rpcError(s.fault(ctx, err))
		}
		found.URI = r.Params.URI
		return &sdk.ReadResourceResult{Contents: []*sdk.ResourceContents{found}}, nil
	})
}

// resourcePosition is where a list of resources continues: in the first of these
// sessions after an artifact, then in the others, then with the sessions after Next.
type resourcePosition struct {
	Sessions []string `json:"s,omitempty"`
	After    string   `json:"a,omitempty"`
	Next     string   `json:"n,omitempty"`
}

// check refuses a position that listResources does not write.
func (p resourcePosition) check() error {
	if len(p.Sessions) > resourceSessions || p.After != "" && (len(p.Sessions) == 0 || !cursor.IsPosition(p.After)) ||
		p.Next != "" && !cursor.IsPosition(p.Next) {
		return cursor.Malformed()
	}
	return nil
}

// listResources lists the artifacts of the caller's sessions, the sessions with the
// newest activity first.
func (s *server) listResources(ctx context.Context, next sdk.MethodHandler, r sdk.Request) (sdk.Result, error) {
	given, ok := r.(*sdk.ListResourcesRequest)
	if !ok {
		return nil, rpcError(s.fault(ctx, fmt.Errorf("a list of resources has the type %T", r)))
	}
	list := cursor.List{access.CallerOf(ctx).UserID, "resources"}
	var at resourcePosition
	text := ""
	if given.Params != nil {
		text = given.Params.Cursor
	}
	err := list.Decode(text, &at)
	if err == nil {
		err = at.check()
	}
	var found []*sdk.Resource
	if err == nil {
		found, at, err = s.resources(ctx, at, text == "")
	}
	if err != nil {
		return nil, rpcError(s.fault(ctx, err))
	}
	bare := *given
	bare.Params = &sdk.ListResourcesParams{} // the SDK's own list is empty, and completes the result
	if given.Params != nil {
		bare.Params.Meta = given.Params.Meta
	}
	result, err := next(ctx, methodListResources, &bare)
	if err != nil {
		return nil, err
	}
	out, ok := result.(*sdk.ListResourcesResult)
	if !ok {
		return nil, rpcError(s.fault(ctx, fmt.Errorf("a page of resources has the type %T", result)))
	}
	out.Resources = append(out.Resources, found...)
	if len(at.Sessions) > 0 || at.Next != "" {
		if out.NextCursor, err = list.Encode(at); err != nil {
			return nil, rpcError(s.fault(ctx, err))
		}
	}
	return out, nil
}

// resources reads a page from a position on, and returns the next position; the zero
// one at the end.
func (s *server) resources(ctx context.Context, at resourcePosition, first bool) ([]*sdk.Resource, resourcePosition, error) {
	if len(at.Sessions) == 0 && (first || at.Next != "") {
		page, err := s.Sessions.List(ctx, session.ListQuery{UserID: access.CallerOf(ctx).UserID, Limit: resourceSessions, After: at.Next})
		if err != nil {
			return nil, at, err
		}
		at = resourcePosition{Next: page.Next}
		for _, of := range page.Sessions {
			at.Sessions = append(at.Sessions, of.ID)
		}
	}
	var out []*sdk.Resource
	for len(at.Sessions) > 0 && len(out) < resourceLimit {
		id := at.Sessions[0]
		page, err := s.artifacts(ctx, id, at.After, resourceLimit-len(out))
		if err != nil && !errors.Is(err, fault.Of(fault.NotFound)) { // deleted since it was listed
			return nil, at, err
		}
		for _, v := range page.Versions {
			out = append(out, &sdk.Resource{
				URI: uri{session: id, name: v.Name}.String(), Name: v.Name, MIMEType: v.MimeType, Size: v.Size,
				Description: fmt.Sprintf("Version %d, of the session %s", v.Version, id),
			})
		}
		if at.After = page.Next; page.Next == "" {
			at.Sessions = slices.Clone(at.Sessions[1:])
		}
	}
	return out, at, nil
}
