package tracing

import (
	"context"
	"errors"
	"net/url"

	semconv "go.opentelemetry.io/otel/semconv/v1.41.0"

	"github.com/rethread/rethread/shared/domain/delivery"
)

// Poster adds spans to the requests of a poster. They contain only the host of the
// address: paths and queries may contain secrets.
type Poster struct{ delivery.Poster }

// Post implements delivery.Poster.
func (p Poster) Post(ctx context.Context, m delivery.Message) (delivery.Answer, error) {
	host := ""
	if u, err := url.Parse(m.URL); err == nil {
		host = u.Hostname()
	}
	ctx, span := below(ctx, "POST", semconv.HTTPRequestMethodPost, semconv.ServerAddress(host))
	defer span.End()
	answer, err := p.Poster.Post(ctx, m)
	switch {
	case errors.Is(err, delivery.ErrRefused):
		fail(span, "refused")
	case err != nil:
		fail(span, "unanswered")
	default:
		span.SetAttributes(semconv.HTTPResponseStatusCode(answer.Status))
		if answer.Status >= 400 {
			fail(span, "status")
		}
	}
	return answer, err
}
