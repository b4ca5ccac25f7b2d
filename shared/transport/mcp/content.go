package mcp

import (
	"context"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"mime"
	"strings"
	"unicode/utf8"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/rethread/rethread/shared/base/fault"
	"github.com/rethread/rethread/shared/domain/access"
	"github.com/rethread/rethread/shared/domain/artifact"
)

// maxContent is the most bytes that the content of an artifact may take in an answer,
// as a JSON string: 3 MiB of binary content. The answer may be encoded in base64 again,
// and has to stay below 6 MB.
const maxContent = 4 << 20

// content reads a version of an artifact.
func (s *server) content(ctx context.Context, at uri) (*sdk.ResourceContents, error) {
	if err := artifact.CheckName("name", at.name); err != nil {
		return nil, err
	}
	var version artifact.Version
	var body []byte
	err := s.do(ctx, at.session, access.ReadArtifacts, func(p access.Permission) error {
		if err := p.SeeArtifact(at.name); err != nil {
			return err
		}
		var err error
		version, body, err = s.Artifacts.Artifact(ctx, artifact.Ref{
			SessionID: at.session, UserID: p.Owner, Name: at.name, Version: at.version,
		})
		return err
	})
	if err != nil {
		return nil, err
	}
	out := &sdk.ResourceContents{URI: at.String(), MIMEType: version.MimeType}
	size := base64.StdEncoding.EncodedLen(len(body))
	if len(body) > 0 && isText(version.MimeType) && utf8.Valid(body) {
		out.Text = string(body)
		encoded, err := json.Marshal(out.Text)
		if err != nil {
			return nil, fmt.Errorf("encode an artifact: %w", err)
		}
		size = len(encoded)
	} else {
		out.Blob = append([]byte{}, body...) // never nil, which would be left out
	}
	if size > maxContent {
		return nil, fault.New(fault.AnswerTooLarge, "the artifact has %d bytes, of which an answer can hold 3 MiB in base64, or 4 MiB of text: "+
			"the REST API answers with larger ones", len(body))
	}
	return out, nil
}

// isText reports whether content of a media type is text.
func isText(mediaType string) bool {
	media, _, err := mime.ParseMediaType(mediaType)
	if err != nil {
		return false
	}
	switch media {
	case "application/json", "application/xml", "application/javascript", "application/yaml", "application/x-ndjson":
		return true
	}
	return strings.HasPrefix(media, "text/") || strings.HasSuffix(media, "+json") || strings.HasSuffix(media, "+xml")
}
