package outbound

import (
	"io"
	"net/http"
)

// guarded sends only requests that the guard allows.
type guarded struct {
	guard *Guard
	next  *http.Transport
}

// RoundTrip implements http.RoundTripper.
func (t *guarded) RoundTrip(r *http.Request) (*http.Response, error) {
	if err := t.guard.check(r.URL); err != nil {
		if r.Body != nil {
			_ = r.Body.Close() // a round tripper must, and nothing was read
		}
		return nil, err
	}
	response, err := t.next.RoundTrip(r)
	if err != nil {
		return nil, err
	}
	response.Body = &limitedBody{ReadCloser: response.Body, left: t.guard.opts.MaxResponseBytes}
	return response, nil
}

// CloseIdleConnections is called by http.Client.
func (t *guarded) CloseIdleConnections() { t.next.CloseIdleConnections() }

// limitedBody fails when a body exceeds its limit.
type limitedBody struct {
	io.ReadCloser
	left int64
}

// Read implements io.Reader.
func (b *limitedBody) Read(p []byte) (int, error) {
	if len(p) == 0 {
		return b.ReadCloser.Read(p)
	}
	if int64(len(p)) > b.left+1 { // one more, to detect a body that is too long
		p = p[:b.left+1]
	}
	n, err := b.ReadCloser.Read(p)
	if int64(n) > b.left {
		n = int(b.left)
		b.left = 0
		return n, ErrResponseTooLarge
	}
	b.left -= int64(n)
	return n, err
}
