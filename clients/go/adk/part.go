package adk

import (
	"fmt"
	"mime"
	"strings"

	"google.golang.org/genai"

	rethread "github.com/rethread/rethread/clients/go"
)

const (
	plainText   = "text/plain"
	octetStream = "application/octet-stream"
	uriList     = "text/uri-list"

	maxMimeType = 255 // characters
)

// uploadOf converts a part to an artifact. The display names of bytes and files are
// not stored.
func uploadOf(part *genai.Part) (rethread.Upload, error) {
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
	return rethread.Upload{MIMEType: text.String(), Content: []byte(part.Text)}, nil
}

// putReference stores a URI; the API resolves one of an artifact on reading.
func putReference(file *genai.FileData) (rethread.Upload, error) {
	mimeType := uriList
	if !isReference(file.FileURI) {
		mimeType = media{plain: uriList, part: filePart, fileType: file.MIMEType}.String()
	}
	return putBytes(mimeType, []byte(file.FileURI))
}

// putBytes stores bytes with a media type that is valid in an HTTP header and has
// at most 255 characters.
func putBytes(mimeType string, body []byte) (rethread.Upload, error) {
	kind, _, err := mime.ParseMediaType(mimeType)
	bad := err != nil || !strings.Contains(kind, "/") || len(mimeType) > maxMimeType ||
		strings.TrimSpace(mimeType) != mimeType ||
		strings.ContainsFunc(mimeType, func(r rune) bool { return r < ' ' || r > '~' })
	if bad {
		return rethread.Upload{}, fmt.Errorf("%w: %.100q is not a media type", ErrInvalid, mimeType)
	}
	return rethread.Upload{MIMEType: mimeType, Content: body}, nil
}

// partOf converts an artifact, which any client may have stored, to a part.
func partOf(a rethread.Artifact) *genai.Part {
	switch m := parseMedia(a.MIMEType); m.part {
	case textPart:
		return genai.NewPartFromText(string(a.Content))
	case filePart:
		return genai.NewPartFromURI(string(a.Content), m.fileType)
	default:
		return genai.NewPartFromBytes(a.Content, m.plain)
	}
}
