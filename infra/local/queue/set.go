package queue

import (
	"context"
	"errors"
	"fmt"
	"log/slog"

	"github.com/rethread/rethread/infra/local/samtemplate"
)

// ErrUnknown means that the template has no queue with that ARN.
var ErrUnknown = errors.New("no such queue")

// Set is the queues of a template.
type Set struct {
	log    *slog.Logger
	byARN  map[string]*Queue
	byName map[string]*Queue
	queues []*Queue
}

// NewSet returns empty queues.
func NewSet(template *samtemplate.Template, log *slog.Logger) *Set {
	s := &Set{log: log, byARN: map[string]*Queue{}, byName: map[string]*Queue{}}
	byID := map[string]*Queue{}
	for _, settings := range template.Queues {
		q := New(settings)
		byID[settings.LogicalID] = q
		s.queues = append(s.queues, q)
		s.byARN[settings.ARN], s.byName[settings.Name], s.byName[settings.LogicalID] = q, q, q
	}
	for _, q := range s.queues {
		if redrive := q.settings.Redrive; redrive != nil {
			q.deadLetters = byID[redrive.Queue]
		}
	}
	return s
}

// SetLimit calls Queue.SetLimit for all queues; 0 does not change them.
func (s *Set) SetLimit(limit int) *Set {
	for _, q := range s.queues {
		if limit > 0 {
			q.SetLimit(limit)
		}
	}
	return s
}

// Queue returns a queue by its name or logical id.
func (s *Set) Queue(name string) (*Queue, bool) {
	q, ok := s.byName[name]
	return q, ok
}

// Queues lists the queues in the template's order.
func (s *Set) Queues() []*Queue { return s.queues }

// Deliver adds a message to the queue with that ARN and logs it. The error is
// ErrUnknown, or an Error of Queue.Send.
func (s *Set) Deliver(ctx context.Context, arn string, body []byte) error {
	q, ok := s.byARN[arn]
	if !ok {
		return fmt.Errorf("deliver to %s: %w", arn, ErrUnknown)
	}
	message, err := q.Send(Draft{Body: string(body)})
	if err != nil {
		return fmt.Errorf("deliver to %s: %w", arn, err)
	}
	s.log.InfoContext(ctx, "record of a failure arrived in its destination queue", "destination", arn, "id", message.ID, "body", message.Body)
	return nil
}
