package adk

import (
	"encoding/base64"
	"encoding/json"
	"net/url"
	"strings"
)

// The kinds of parts other than plain bytes.
const (
	textPart = "text"
	filePart = "file"
)

// adkParameter is the prefix of the parameters that this package and its Python
// counterpart add to media types.
const adkParameter = "; adk-"

// media is the media type that an artifact is stored with; the Python package
// uses the same form. The added parameters record the kind of part, so that
// artifacts stored by other clients are not mistaken for such parts.
type media struct {
	plain    string         // the type without the added parameters, as other clients know it
	part     string         // textPart, filePart or "" for bytes
	fileType string         // the media type of the file that a URI names
	metadata map[string]any // custom metadata, set by the Python package
}

func (m media) String() string {
	text := m.plain
	if m.part != "" {
		text += adkParameter + `part="` + m.part + `"`
	}
	if m.fileType != "" {
		text += adkParameter + `type="` + url.PathEscape(m.fileType) + `"`
	}
	return text
}

// parseMedia parses a stored media type, which any client may have chosen. It
// ignores added parameters that are malformed.
func parseMedia(mimeType string) media {
	parts := strings.Split(mimeType, adkParameter)
	m := media{plain: parts[0]}
	for _, parameter := range parts[1:] {
		name, quoted, _ := strings.Cut(parameter, "=")
		switch value := strings.Trim(quoted, `"`); name {
		case "part":
			m.part = value
		case "type":
			if unescaped, err := url.PathUnescape(value); err == nil {
				m.fileType = unescaped
			}
		case "metadata":
			if raw, err := base64.URLEncoding.DecodeString(value); err == nil && json.Unmarshal(raw, &m.metadata) != nil {
				m.metadata = nil
			}
		}
	}
	return m
}

// mimeType returns the type that ADK sees: without charset for text, the file's
// own type for a file.
func (m media) mimeType() string {
	switch m.part {
	case textPart:
		return plainText
	case filePart:
		return m.fileType
	default:
		return m.plain
	}
}
