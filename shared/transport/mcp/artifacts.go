package mcp

import (
	"context"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/rethread/rethread/shared/domain/access"
	"github.com/rethread/rethread/shared/domain/artifact"
	"github.com/rethread/rethread/shared/transport/cursor"
)

type artifactsArgs struct {
	SessionID string `json:"session_id" jsonschema:"id of the session"`
	Limit     int    `json:"limit,omitempty" jsonschema:"most artifacts in a page"`
	Cursor    string `json:"cursor,omitempty" jsonschema:"next_cursor of the page before"`
}

// listed is an artifact in a list.
type listed struct {
	URI string `json:"uri"`
	artifact.Version
}

// artifactPage is a page of artifacts.
type artifactPage struct {
	Artifacts  []listed `json:"artifacts"`
	NextCursor *string  `json:"next_cursor"`
}

func (s *server) listArtifacts(ctx context.Context, in artifactsArgs) (any, error) {
	list := cursor.List{access.CallerOf(ctx).UserID, "artifacts", in.SessionID}
	after, err := list.DecodeText(in.Cursor)
	if err != nil {
		return nil, err
	}
	page, err := s.artifacts(ctx, in.SessionID, after, in.Limit)
	if err != nil {
		return nil, err
	}
	out := artifactPage{Artifacts: []listed{}}
	for _, v := range page.Versions {
		out.Artifacts = append(out.Artifacts, listed{URI: uri{session: in.SessionID, name: v.Name}.String(), Version: v})
	}
	out.NextCursor, err = nextCursor(list, page.Next)
	return out, err
}

// artifacts reads a page of a session's artifacts that the caller may see.
func (s *server) artifacts(ctx context.Context, id, after string, limit int) (page artifact.Page, err error) {
	err = s.do(ctx, id, access.ReadArtifacts, func(p access.Permission) error {
		var err error
		page, err = s.Artifacts.Artifacts(ctx, artifact.Query{SessionID: id, UserID: p.Owner, Limit: limit, After: after})
		page.Versions = p.Artifacts(page.Versions)
		return err
	})
	return page, err
}

type artifactArgs struct {
	SessionID string `json:"session_id" jsonschema:"id of the session"`
	Name      string `json:"name" jsonschema:"name of the artifact"`
	Version   *int64 `json:"version,omitempty" jsonschema:"number of a version; the latest if it is left out"`
}

func (s *server) readArtifact(ctx context.Context, in artifactArgs) (any, error) {
	found, err := s.content(ctx, uri{session: in.SessionID, name: in.Name, version: in.Version})
	if err != nil {
		return nil, err
	}
	return &sdk.CallToolResult{Content: []sdk.Content{&sdk.EmbeddedResource{Resource: found}}}, nil
}
