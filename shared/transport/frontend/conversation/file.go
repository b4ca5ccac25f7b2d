package conversation

import (
	"cmp"
	"net/url"
	"strings"

	"github.com/rethread/rethread/shared/base/fault"
	"github.com/rethread/rethread/shared/domain/content"
)

// File returns the file at an address, which may be a data URL. mediaType is "" if only
// that may name one. at is the JSON pointer of the address.
func File(at, address, mediaType, name string) (content.Part, error) {
	own, data, inline := dataURL(address)
	switch {
	case inline && isBase64(data):
		return content.Data(cmp.Or(mediaType, own), data, name), nil
	case !inline && isAddress(address):
		return content.Address(mediaType, address, ""), nil
	}
	return content.Part{}, fault.Field(fault.Invalid, at, "must be an address, or have its data in base64")
}

// Data returns the file whose bytes a request has in base64; at is their JSON pointer.
func Data(at, data, mediaType, name string) (content.Part, error) {
	if !isBase64(data) {
		return content.Part{}, fault.Field(fault.Invalid, at, "must be base64")
	}
	return content.Data(mediaType, data, name), nil
}

// MediaType returns the media type that a data URL names; "" without one, and for any
// other address.
func MediaType(address string) string {
	own, _, _ := dataURL(address)
	return own
}

// dataURL splits a data URL, whose data is "" if it is not in base64.
func dataURL(address string) (mediaType, data string, ok bool) {
	rest, ok := strings.CutPrefix(address, "data:")
	if !ok {
		return "", "", false
	}
	head, data, _ := strings.Cut(rest, ";base64,")
	mediaType, _, _ = strings.Cut(head, ";")
	if plain, err := url.PathUnescape(data); err == nil {
		data = plain
	}
	return mediaType, data, true
}

// isBase64 reports whether a text is bytes in base64, of the alphabet of addresses or the
// usual one, with or without padding.
func isBase64(text string) bool {
	return content.IsBase64(text) && (!strings.HasSuffix(text, "=") || len(text)%4 == 0)
}

// isAddress reports whether a text is an absolute address. One of http or https has a
// host.
func isAddress(text string) bool {
	u, err := url.Parse(text)
	if err != nil || u.Scheme == "" || strings.ContainsAny(text, " \t\r\n") {
		return false
	}
	if u.Scheme == "http" || u.Scheme == "https" {
		return u.Hostname() != ""
	}
	return u.Opaque != "" || u.Host != "" || len(u.Path) > 1
}
