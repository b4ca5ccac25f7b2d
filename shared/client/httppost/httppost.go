// Package httppost posts deliveries to the addresses that users gave.
package httppost

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"strconv"
	"time"

	"github.com/rethread/rethread/shared/client/outbound"
	"github.com/rethread/rethread/shared/domain/delivery"
)

const (
	userAgent = "Rethread (+https://github.com/rethread/rethread)"
	// enough is how much of an answer is read, so that its connection can be used
	// again; nobody looks at it.
	enough = 4 << 10
	// bodyTime is how long is waited for it, since a receiver may let it drip.
	bodyTime = 200 * time.Millisecond
)

var _ delivery.Poster = (*Poster)(nil)

// Poster implements delivery.Poster over a guarded client.
type Poster struct {
	client *http.Client
	now    func() time.Time
}

// New posts with a client of shared/client/outbound.
func New(client *http.Client, now func() time.Time) *Poster { return &Poster{client: client, now: now} }

// Post implements delivery.Poster.
func (p *Poster) Post(ctx context.Context, m delivery.Message) (delivery.Answer, error) {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, m.URL, bytes.NewReader(m.Body))
	if err != nil {
		return delivery.Answer{}, fmt.Errorf("%w: its address is none", delivery.ErrRefused)
	}
	req.Header.Set("User-Agent", userAgent)
	for name, value := range m.Header {
		req.Header.Set(name, value)
	}
	res, err := p.client.Do(req)
	switch {
	case errors.Is(err, outbound.ErrForbiddenAddress), errors.Is(err, outbound.ErrInvalidURL):
		return delivery.Answer{}, fmt.Errorf("%w: its address is not a public one", delivery.ErrRefused)
	case err != nil:
		return delivery.Answer{}, fmt.Errorf("post: %w", err)
	}
	defer res.Body.Close() //nolint:errcheck // nothing of it is needed
	defer time.AfterFunc(bodyTime, cancel).Stop()
	_, _ = io.Copy(io.Discard, io.LimitReader(res.Body, enough)) // the status has come
	return delivery.Answer{Status: res.StatusCode, RetryAfter: p.retryAfter(res.Header.Get("Retry-After"))}, nil
}

// retryAfter reads seconds or a date (RFC 9110, section 10.2.3); 0 for neither.
func (p *Poster) retryAfter(value string) time.Duration {
	if seconds, err := strconv.ParseInt(value, 10, 32); err == nil {
		return time.Duration(max(0, seconds)) * time.Second
	}
	if date, err := http.ParseTime(value); err == nil {
		return max(0, date.Sub(p.now()))
	}
	return 0
}
