package adk

import (
	"fmt"
	"mime"
	"strings"

	"google.golang.org/genai"

	"github.com/rethread/rethread/clients/go/adk/internal/remote"
)

const (
	plainText   = "text/plain"
	octetStream = "application/octet-stream"
	uriList     = "text/uri-list"

	maxMimeType = 255 // characters
)

// putOf converts a part to an artifact. The display names of bytes and files are
// not stored.
func putOf(part *genai.Part) (remote.Put, error) {
	switch {
	case part.InlineData != nil:
		mimeType := part.InlineData.MIMEType
		if mimeType == "" {
			mimeType = octetStream
		}
		return putBytes(mimeType, part.InlineData.Data)
	case part.FileData != nil:
		return putReference(part.FileData)
	}
	text := media{plain: plainText + "; charset=utf-8", part: textPart}
	return remote.Put{MimeType: text.String(), Body: []byte(part.Text)}, nil
}

// putReference stores a URI; the API resolves one of an artifact on reading.
func putReference(file *genai.FileData) (remote.Put, error) {
	mimeType := uriList
	if !isReference(file.FileURI) {
		mimeType = media{plain: uriList, part: filePart, fileType: file.MIMEType}.String()
	}
	return putBytes(mimeType, []byte(file.FileURI))
}

// putBytes stores bytes with a media type that is valid in an HTTP header and has
// at most 255 characters.
func putBytes(mimeType string, body []byte) (remote.Put, error) {
	kind, _, err := mime.ParseMediaType(mimeType)
	bad := err != nil || !strings.Contains(kind, "/") || len(mimeType) > maxMimeType ||
		strings.TrimSpace(mimeType) != mimeType ||
		strings.ContainsFunc(mimeType, func(r rune) bool { return r < ' ' || r > '~' })
	if bad {
		return remote.Put{}, fmt.Errorf("%w: %.100q is not a media type", ErrInvalid, mimeType)
	}
	return remote.Put{MimeType: mimeType, Body: body}, nil
}

// partOf converts an artifact, which any client may have stored, to a part.
func partOf(v remote.Version, body []byte) *genai.Part {
	switch m := parseMedia(v.MimeType); m.part {
	case textPart:
		return genai.NewPartFromText(string(body))
	case filePart:
		return genai.NewPartFromURI(string(body), m.fileType)
	default:
		return genai.NewPartFromBytes(body, m.plain)
	}
}
