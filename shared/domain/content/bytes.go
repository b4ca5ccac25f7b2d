package content

import (
	"encoding/base64"
	"strings"
)

// IsBase64 reports whether a text is bytes in base64 of either alphabet.
func IsBase64(text string) bool {
	_, err := base64.RawStdEncoding.DecodeString(StandardBase64(strings.TrimRight(text, "=")))
	return err == nil && text != ""
}

// StandardBase64 returns base64 of the URL-safe alphabet, in which ADK encodes bytes, in
// the standard one.
func StandardBase64(data string) string { return strings.NewReplacer("-", "+", "_", "/").Replace(data) }

// DataURL returns the data URL of bytes in base64.
func DataURL(mediaType, data string) string {
	return "data:" + mediaType + ";base64," + StandardBase64(data)
}
