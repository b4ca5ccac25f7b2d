package adk

import (
	"encoding/base64"
	"encoding/json"
	"net/url"
	"strings"
)

// The kinds of parts that are not plain bytes.
const (
	textPart = "text"
	filePart = "file"
)

// adkParameter begins the parameters that ADK's services add to media types.
const adkParameter = "; adk-"

// media is a media type as ADK's services keep artifacts under it, in Python
// the same: parameters of their own tell what kind of part it was, so that no
// type that somebody else chose is taken for one.
type media struct {
	plain    string         // what others see: the type without those parameters
	part     string         // textPart, filePart or "" for bytes
	fileType string         // the media type of a file elsewhere
	metadata map[string]any // given in Python
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

// parseMedia reads a media type, whoever made it. Parameters that cannot be
// read are as good as none.
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

// mimeType is what ADK shows: of text no charset, of a file the file's.
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
