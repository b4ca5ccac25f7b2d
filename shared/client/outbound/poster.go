package outbound

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"strconv"
	"time"

	"github.com/rethread/rethread/shared/domain/delivery"
)

const (
	userAgent = "Rethread (+https://github.com/rethread/rethread)"
	// enough is how much of a response body is read so that its connection can be
	// reused; the body is ignored.
	enough = 4 << 10
	// bodyTime limits reading it, because a receiver may send it slowly.
	bodyTime = 200 * time.Millisecond
)

var _ delivery.Poster = (*Poster)(nil)

// Poster implements delivery.Poster with a guarded client: it posts deliveries to addresses that
// users configured.
type Poster struct {
	client *http.Client
	now    func() time.Time
}

// NewPoster returns a poster that uses a guarded client.
func NewPoster(client *http.Client, now func() time.Time) *Poster {
	return &Poster{client: client, now: now}
}

// Post implements delivery.Poster.
func (p *Poster) Post(ctx context.Context, m delivery.Message) (delivery.Answer, error) {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, m.URL, bytes.NewReader(m.Body))
	if err != nil {
		return delivery.Answer{}, fmt.Errorf("%w: its address is invalid", delivery.ErrRefused)
	}
	req.Header.Set("User-Agent", userAgent)
	for name, value := range m.Header {
		req.Header.Set(name, value)
	}
	res, err := p.client.Do(req)
	switch {
	case errors.Is(err, ErrForbiddenAddress), errors.Is(err, ErrInvalidURL):
		return delivery.Answer{}, fmt.Errorf("%w: its address is not a public one", delivery.ErrRefused)
	case err != nil:
		return delivery.Answer{}, fmt.Errorf("post: %w", err)
	}
	defer res.Body.Close() //nolint:errcheck // the body is ignored
	defer time.AfterFunc(bodyTime, cancel).Stop()
	_, _ = io.Copy(io.Discard, io.LimitReader(res.Body, enough)) // the status has arrived
	return delivery.Answer{Status: res.StatusCode, RetryAfter: p.retryAfter(res.Header.Get("Retry-After"))}, nil
}

// retryAfter parses seconds or a date (RFC 9110, section 10.2.3); 0 for neither.
func (p *Poster) retryAfter(value string) time.Duration {
	if seconds, err := strconv.ParseInt(value, 10, 32); err == nil {
		return time.Duration(max(0, seconds)) * time.Second
	}
	if date, err := http.ParseTime(value); err == nil {
		return max(0, date.Sub(p.now()))
	}
	return 0
}
