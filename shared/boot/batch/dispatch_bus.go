package batch

import (
	"context"
	"log/slog"

	"github.com/aws/aws-lambda-go/events"

	"github.com/rethread/rethread/shared/domain/notification"
)

// published collects the events of records for a bus.
type published struct {
	events  []notification.Event
	records []int // of events
}

func (p *published) add(record int, read []notification.Event) {
	for _, e := range read {
		if e.Type.Public() {
			p.events, p.records = append(p.events, e), append(p.records, record)
		}
	}
}

// publish publishes the events, and stores each failure as the error of its record. An
// event that the bus will always refuse is skipped, so that it does not block others.
func (p *published) publish(
	ctx context.Context, bus notification.Bus, records []events.DynamoDBEventRecord, errs []error, log *slog.Logger,
) {
	if len(p.events) == 0 {
		return
	}
	for i, err := range bus.Publish(ctx, p.events) {
		record := p.records[i]
		switch {
		case err == nil:
		case !mayPass(err):
			skip(ctx, records[record], err, log)
		case errs[record] == nil:
			errs[record] = err
		}
	}
}
