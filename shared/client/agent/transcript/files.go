package transcript

import (
	"encoding/base64"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/rethread/rethread/shared/domain/content"
)

// Image returns the address of an image that a model can be sent, as a data URL or at
// a web server; "" for any other part.
func (p Part) Image() string {
	switch {
	case p.Inline != nil && strings.HasPrefix(p.Inline.MIMEType, "image/"):
		return content.DataURL(p.Inline.MIMEType, p.Inline.Data)
	case p.File != nil && strings.HasPrefix(p.File.MIMEType, "image/") && isWebAddress(p.File.URI):
		return p.File.URI
	}
	return ""
}

// Document returns the name and the data URL of a document of one of the types that
// models read; ok is false for any other part.
func (p Part) Document(types ...string) (name, data string, ok bool) {
	if p.Inline == nil || !isOfType(p.Inline.MIMEType, types) {
		return "", "", false
	}
	if name = p.Inline.Name; name == "" {
		name = "file"
		if p.Inline.MIMEType == PDF {
			name = "file.pdf"
		}
	}
	return name, content.DataURL(p.Inline.MIMEType, p.Inline.Data), true
}

// DocumentAddress returns the address of a document of one of the types, or of an
// unknown type, at a web server; "" for any other part.
func (p Part) DocumentAddress(types ...string) string {
	if p.File == nil || !isWebAddress(p.File.URI) {
		return ""
	}
	if kind := p.File.MIMEType; kind != "" && kind != "application/octet-stream" && !isOfType(kind, types) {
		return ""
	}
	return p.File.URI
}

// PDF is the media type of the documents that most models read.
const PDF = "application/pdf"

// Documents returns the media types of documents that the Responses API reads besides
// text; a type that ends with a dot stands for all that begin so.
func Documents() []string {
	return []string{
		PDF, "application/rtf", "application/msword", "application/vnd.ms-excel", "application/vnd.ms-powerpoint",
		"application/vnd.openxmlformats-officedocument.", "application/vnd.oasis.opendocument.",
	}
}

func isOfType(mediaType string, types []string) bool {
	return slices.ContainsFunc(types, func(t string) bool {
		return mediaType == t || strings.HasSuffix(t, ".") && strings.HasPrefix(mediaType, t)
	})
}

func isWebAddress(uri string) bool {
	return strings.HasPrefix(uri, "https://") || strings.HasPrefix(uri, "http://")
}

// attachedText returns the text of a file of text, which any model can be sent.
func (p Part) attachedText() (text string, ok bool) {
	if p.Inline == nil || !strings.HasPrefix(p.Inline.MIMEType, "text/") && p.Inline.MIMEType != "application/json" {
		return "", false
	}
	data := strings.TrimRight(content.StandardBase64(p.Inline.Data), "=")
	bytes, err := base64.RawStdEncoding.DecodeString(data)
	return string(bytes), err == nil && len(bytes) > 0 && utf8.Valid(bytes)
}
