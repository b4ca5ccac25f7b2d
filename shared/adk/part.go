package adk

import (
	"mime"
	"strings"

	"google.golang.org/genai"

	"github.com/rethread/rethread/shared/base/fault"
	"github.com/rethread/rethread/shared/domain/artifact"
)

const (
	plainText   = "text/plain"
	octetStream = "application/octet-stream"
)

// putOf makes an artifact of a part. Of bytes and files the display name is
// not kept.
func putOf(part *genai.Part) (artifact.Put, error) {
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
	return artifact.Put{MimeType: text.String(), Body: []byte(part.Text)}, nil
}

// putBytes keeps bytes. A list of URIs may be a reference in this form too.
func putBytes(mimeType string, body []byte) (artifact.Put, error) {
	p := artifact.Put{MimeType: mimeType, Body: body}
	kind, err := checkType(mimeType)
	if err == nil && kind == artifact.URIList {
		p.Target, err = artifact.ParseReference(body)
	}
	return p, err
}

// putReference keeps a URI. One of an artifact is followed when it is read.
func putReference(file *genai.FileData) (artifact.Put, error) {
	p := artifact.Put{MimeType: artifact.URIList, Body: []byte(file.FileURI)}
	var err error
	if p.Target, err = artifact.ParseReference(p.Body); err != nil || p.Target != nil {
		return p, err
	}
	p.MimeType = media{plain: artifact.URIList, part: filePart, fileType: file.MIMEType}.String()
	_, err = checkType(p.MimeType)
	return p, err
}

// checkType holds media types to what HTTP can carry, and gives the type
// without parameters.
func checkType(mimeType string) (string, error) {
	kind, _, err := mime.ParseMediaType(mimeType)
	bad := err != nil || !strings.Contains(kind, "/") || len(mimeType) > artifact.MaxMimeType ||
		strings.TrimSpace(mimeType) != mimeType ||
		strings.ContainsFunc(mimeType, func(r rune) bool { return r < ' ' || r > '~' })
	if bad {
		return "", fault.New(fault.Invalid, "%.100q is no media type", mimeType)
	}
	return kind, nil
}

// partOf makes a part of an artifact, whoever saved it.
func partOf(v artifact.Version, body []byte) *genai.Part {
	switch m := parseMedia(v.MimeType); m.part {
	case textPart:
		return genai.NewPartFromText(string(body))
	case filePart:
		return genai.NewPartFromURI(string(body), m.fileType)
	default:
		return genai.NewPartFromBytes(body, m.plain)
	}
}
