package endpoint

import (
	"cmp"
	"errors"
	"net/url"
	"strings"
)

// Redacted returns an error of the client without the address and the secret headers,
// since both may contain secrets.
func (e *Endpoint) Redacted(err error) error {
	var asked *url.Error
	if errors.As(err, &asked) {
		err = asked.Err
	}
	if text := err.Error(); e.Redact(text) != text {
		return errors.New(e.Redact(text))
	}
	return err
}

// path returns the path of the address, without what may be a secret.
func (e *Endpoint) path() string {
	u, err := url.Parse(e.URL)
	if err != nil {
		return ""
	}
	return e.Redact(cmp.Or(u.EscapedPath(), "/"))
}

// minSecret is the minimum length of a header's value to be redacted, in bytes.
const minSecret = 6

// Redact removes the values of headers and secrets, because an agent may repeat them.
func (e *Endpoint) Redact(text string) string {
	for _, values := range e.header {
		for _, v := range values {
			for _, secret := range []string{v, strings.TrimPrefix(v, "Bearer ")} {
				if len(secret) >= minSecret {
					text = strings.ReplaceAll(text, secret, "[redacted]")
				}
			}
		}
	}
	return e.sent.redact(text)
}
